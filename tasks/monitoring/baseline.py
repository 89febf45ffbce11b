"""The baseline of a schedule: a version by a name that does not move, and the looks at it, which share alpha."""

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tasks.comparison.gate import Gate
from tasks.errors import ParamsError
from tasks.pipeline import git
from tasks.pipeline.hashing import sha256
from tasks.pipeline.schedule import FIXED
from tasks.versions.experiments import NAMESPACE
from tasks.versions.version import commit_of

# The fewest digits that are taken for the id of a commit.
SHORTEST = 7
_EXPERIMENT = re.compile(NAMESPACE + r"/[0-9a-f]{2}/[0-9a-f]{38}/(?P<name>.+)")


def check_baseline(name: str, baseline: str) -> str:
    """Return the commit of a schedule's baseline: a tag, an experiment, or a commit by its id.

    A tag that is moved is a new baseline, with a new series of looks.

    Args:
        name: The schedule's name, for messages.
        baseline: The version.

    Raises:
        ParamsError: The version is unknown, or is a branch or another name that moves.
    """
    where = f"schedule.{name}.baseline: {baseline}"
    commit = commit_of(baseline)
    if commit is None:
        raise ParamsError(f"{where}: neither git nor DVC knows such a version; expected {FIXED}")
    is_id = len(baseline) >= SHORTEST and commit.startswith(baseline.lower())
    if not (is_id or _is_fixed_ref(baseline) or _is_experiment(baseline)):
        raise ParamsError(f"{where}: expected {FIXED}; this names a branch, or a version by its way from another")
    return commit


def _is_fixed_ref(baseline: str) -> bool:
    full = git.answer("rev-parse", "--verify", "--quiet", "--symbolic-full-name", "--end-of-options", baseline) or ""
    return full.startswith("refs/tags/") or _EXPERIMENT.fullmatch(full) is not None


def _is_experiment(baseline: str) -> bool:
    """Whether it names an experiment, and git resolves it to nothing else."""
    if git.answer("rev-parse", "--verify", "--quiet", "--end-of-options", baseline):
        return False
    refs = git.answer("for-each-ref", "--format=%(refname)", NAMESPACE) or ""
    return any(ref["name"] == baseline for ref in map(_EXPERIMENT.fullmatch, refs.splitlines()) if ref)


class BaselineLook(NamedTuple):
    """A look at a baseline. number: from 1. level: of its decision. content: hash of what it compares."""

    number: int
    level: float
    content: str

    def gate(self, gate: Gate) -> Gate:
        """The gate at this look's level: the probability that any of its differences is wrong.

        It fails on a loss alone: levels fall from look to look, so that most differences are undecided.
        """
        return gate.model_copy(update={"confidence": 1.0 - self.level, "fail_on": "worse"})


def content(tables: Mapping[str, str | None], gate: Gate, alpha: float) -> str:
    """Hash what a look compares and by which rules.

    Args:
        tables: Path → hash in dvc.lock, None for a table that is not there.
        gate: The release gate.
        alpha: What all looks may spend together.
    """
    compared = [sorted(tables.items()), gate.model_dump(mode="json"), alpha]
    return sha256(json.dumps(compared, sort_keys=True)).hex()[:32]


def next_look(past: pa.Table, schedule: str, commit: str, content: str, alpha: float) -> BaselineLook:
    """The look that a run of this schedule takes at its baseline.

    A look at the same content as an earlier one repeats its number and level, which spends nothing. A baseline that
    is set again continues with the number after its last look.

    Args:
        past: The history.
        schedule: The schedule's name.
        commit: The baseline.
        content: Hash of what is compared.
        alpha: Probability that any of all looks at the baseline is a false alarm.
    """
    from tasks.statistics import alpha_spending

    of_baseline = pc.and_(pc.equal(past["schedule"], schedule), pc.equal(past["baseline_commit"], commit))
    earlier = past.filter(pc.and_(of_baseline, pc.is_valid(past["look"])))
    same = earlier.filter(pc.equal(earlier["content"], content))
    number = pc.max(same["look"]).as_py() if len(same) else (pc.max(earlier["look"]).as_py() or 0) + 1
    return BaselineLook(number, alpha_spending(number, alpha), content)
