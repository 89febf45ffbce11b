"""The same rows against a baseline: which look it is, and what it may spend of the false alarms that are allowed."""

import json
from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tasks.comparison.gate import Gate
from tasks.pipeline.hashing import sha256


class Look(NamedTuple):
    """A look at a baseline: its number from 1, the level of its decision, and the hash of what it saw."""

    number: int
    level: float
    content: str

    def gate(self, gate: Gate) -> Gate:
        """The gate at this look's level: all its differences together are wrong that often at most.

        It fails on a loss alone: at levels that fall night after night, what can't be told says nothing.
        """
        return gate.model_copy(update={"confidence": 1.0 - self.level, "fail_on": "worse"})


def content(tables: Mapping[str, str | None], gate: Gate, alpha: float) -> str:
    """A hash of what a look sees and asks.

    tables: path → hash in dvc.lock, None for one that is not there. alpha: the share that all looks may spend.
    """
    seen = [sorted(tables.items()), gate.model_dump(mode="json"), alpha]
    return sha256(json.dumps(seen, sort_keys=True)).hex()[:32]


def look(past: pa.Table, schedule: str, commit: str, content: str, alpha: float) -> Look:
    """The look that a night of this schedule takes at the baseline of this commit.

    past: the history. alpha: how often any of all looks at a baseline may be a false alarm.
    Who sees what an earlier look saw decides as it did, at its level: that spends nothing. A baseline that comes back
    goes on where it stopped.
    """
    from tasks.statistics import alpha_spending

    mine = pc.and_(pc.equal(past["schedule"], schedule), pc.equal(past["baseline_commit"], commit))
    earlier = past.filter(pc.and_(mine, pc.is_valid(past["look"])))
    same = earlier.filter(pc.equal(earlier["content"], content))
    number = pc.max(same["look"]).as_py() if len(same) else (pc.max(earlier["look"]).as_py() or 0) + 1
    return Look(number, alpha_spending(number, alpha), content)
