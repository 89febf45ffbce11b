"""The rows that changed result between two sides, worst first, with both answers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tasks.comparison.differences import Compared
from tasks.comparison.measures import LABEL
from tasks.comparison.pairing import Pairing
from tasks.metrics.base import Floats
from tasks.pipeline.tables import Parts
from tasks.scores.columns import Mask

TEXTS = ("id", "input", "references")


def flips(pairing: Pairing, rates: Sequence[Compared], base: Parts, head: Parts, limit: int) -> dict[str, Any]:
    """How many shared rows some pass rate lost or gained, metric by metric, and the worst `limit` of them in full.

    A row that passed and now can't be measured is lost. base, head: data/load of either side.
    First come those that people call wrong now, then those that lost most.
    """
    names = [each.head.name for each in rates]
    change = np.zeros((len(pairing.head_rows), len(rates)))
    for number, each in enumerate(rates):
        change[each.measured, number] = each.differences
        _, failed = each.failed()
        change[failed & (each.base.values[pairing.base_rows] == 1.0), number] = -1.0
    changed = np.flatnonzero(change.any(axis=1))
    worst = changed[_worst_first(change[changed], names, pairing.keys[changed])][:limit]
    return {
        "rows": len(changed),
        "lost": _counted(names, change < 0),
        "gained": _counted(names, change > 0),
        "worst": _shown(worst, change, names, pairing, (base, head)),
    }


def ids(positions: Sequence[int], load: Parts, limit: int) -> list[str]:
    """The ids of the first `limit` rows at these positions of data/load, sorted."""
    return sorted(row["id"] for row in load.take(["id"], positions[:limit]).values())


def _counted(names: Sequence[str], changed: Mask) -> dict[str, int]:
    return {name: int(n) for name, n in zip(names, changed.sum(axis=0), strict=True) if n}


def _worst_first(change: Floats, names: Sequence[str], keys: Any) -> Any:
    people = change[:, names.index(LABEL)] if LABEL in names else np.zeros(len(change))
    return np.lexsort((keys, change.sum(axis=1), people))


def _shown(
    rows: Sequence[int], change: Floats, names: Sequence[str], pairing: Pairing, loads: tuple[Parts, Parts]
) -> list[dict[str, Any]]:
    there = pairing.base.positions[pairing.base_rows[rows]].tolist()
    here = pairing.head.positions[pairing.head_rows[rows]].tolist()
    before = loads[0].take(["response"], there)
    after = loads[1].take([*TEXTS, "response"], here)
    return [
        {name: after[new][name] for name in TEXTS}
        | {"base": before[old]["response"], "head": after[new]["response"]}
        | {
            "lost": [name for name, by in zip(names, change[row], strict=True) if by < 0],
            "gained": [name for name, by in zip(names, change[row], strict=True) if by > 0],
        }
        for row, old, new in zip(rows, there, here, strict=True)
    ]
