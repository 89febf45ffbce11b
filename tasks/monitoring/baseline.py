"""The baseline of a schedule: a version by a name that does not move."""

import re

from tasks.errors import ParamsError
from tasks.pipeline import git
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
