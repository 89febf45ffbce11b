"""Looks at a baseline: the same rows are compared again and again, at levels that together spend alpha."""

import json
from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tasks.comparison.gate import Gate
from tasks.pipeline.hashing import sha256


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
