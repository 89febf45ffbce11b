"""Rows whose result changed from one version to the next: how many, and the worst of them with both answers."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from tasks.comparison.differences import Compared
from tasks.comparison.document import ChangedRow, ChangedRows
from tasks.comparison.pairing import Pairing
from tasks.metrics.base import Floats
from tasks.scores.column_facts import VALUE
from tasks.scores.columns import Mask


class Rows(Protocol):
    """The texts of a version by position: data/load, or a pandas table."""

    def take(self, columns: Sequence[str], positions: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Return position → row for the rows at `positions`."""
        ...


def changed_rows(
    pairing: Pairing, rates: Sequence[Compared], primary: str, loads: tuple[Rows, Rows], limit: int
) -> ChangedRows:
    """Count the shared rows that lost or gained a pass, and show the worst `limit` of them in full.

    A row that passed and now can't be measured is lost. Rows that the primary measure calls wrong now come first, then
    those that lost most measures.

    Args:
        pairing: The shared rows.
        rates: The pass rates of both candidates.
        primary: The primary measure.
        loads: data/load of the older and of the newer version.
        limit: Rows in full.
    """
    primary = primary.removesuffix(VALUE)  # of a score the pass rate says which rows are wrong
    rates = sorted(rates, key=lambda rate: rate.head.name != primary)
    names = [rate.head.name for rate in rates]
    change = np.zeros((len(pairing.head_rows), len(rates)))
    for number, rate in enumerate(rates):
        change[rate.measured, number] = rate.differences
        _, failed = rate.failed()
        change[failed & (rate.base.values[pairing.base_rows] == 1.0), number] = -1.0
    changed = np.flatnonzero(change.any(axis=1))
    worst = changed[_worst_first(change[changed], names, primary, pairing.keys[changed])][:limit]
    return {
        "rows": len(changed),
        "lost": _counts(names, change < 0),
        "gained": _counts(names, change > 0),
        "worst": _in_full(worst, change, names, pairing, loads),
    }


def ids(positions: Sequence[int], load: Rows, limit: int) -> list[str]:
    """The ids of the first `limit` rows at these positions of data/load, sorted."""
    return sorted(row["id"] for row in load.take(["id"], positions[:limit]).values())


def _counts(names: Sequence[str], changed: Mask) -> dict[str, int]:
    return {name: int(n) for name, n in zip(names, changed.sum(axis=0), strict=True) if n}


def _worst_first(change: Floats, names: Sequence[str], primary: str, keys: Any) -> Any:
    decisive = change[:, names.index(primary)] if primary in names else np.zeros(len(change))
    return np.lexsort((keys, change.sum(axis=1), decisive))


def _in_full(
    rows: Sequence[int], change: Floats, names: Sequence[str], pairing: Pairing, loads: tuple[Rows, Rows]
) -> list[ChangedRow]:
    base_positions = pairing.base.positions[pairing.base_rows[rows]].tolist()
    head_positions = pairing.head.positions[pairing.head_rows[rows]].tolist()
    base = loads[0].take(["response"], base_positions)
    head = loads[1].take(["id", "input", "references", "response"], head_positions)
    return [
        {
            "id": head[new]["id"],
            "input": head[new]["input"],
            "references": head[new]["references"],
            "base": base[old]["response"],
            "head": head[new]["response"],
            "lost": [name for name, by in zip(names, change[row], strict=True) if by < 0],
            "gained": [name for name, by in zip(names, change[row], strict=True) if by > 0],
        }
        for row, old, new in zip(rows, base_positions, head_positions, strict=True)
    ]
