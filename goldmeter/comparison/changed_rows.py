"""Rows whose result changed from one version to the next: how many, and the worst of them with both answers."""

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from goldmeter.comparison.compared import ComparedRows
from goldmeter.comparison.pairing import Blocks, Pairing
from goldmeter.estimates.column_facts import VALUE
from goldmeter.estimates.columns import Hashes
from goldmeter.metrics.base import Floats
from goldmeter.wording.comparison_document import ChangedRow, ChangedRows, NamedRows


class Rows(Protocol):
    """The texts of a version by position: data/load, or a pandas table."""

    def take(self, columns: Sequence[str], positions: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Return position → row for the rows at `positions`."""
        ...


class _Changes(NamedTuple):
    """The rows with another result of some blocks.

    rows: how many. lost, gained: how many by measure, each of shape (k,). worst: changes of each measure in the worst
    m rows, the worst first, shape (m, k). keys, places: of these rows, and their positions in BASE and HEAD.
    """

    rows: int
    lost: NDArray[np.intp]
    gained: NDArray[np.intp]
    worst: Floats
    keys: Hashes
    places: NDArray[np.intp]

    def joined(self, other: "_Changes", decides: int | None, limit: int) -> "_Changes":
        """The rows of both, of which the worst `limit` are kept."""
        worst, keys, places = (np.concatenate(pair) for pair in zip(self[3:], other[3:], strict=True))
        counts = self.rows + other.rows, self.lost + other.lost, self.gained + other.gained
        return _Changes(*counts, worst, keys, places).first(decides, limit)

    def first(self, decides: int | None, limit: int) -> "_Changes":
        """The worst `limit` rows: first those that the measure of this number calls wrong, then by measures lost."""
        decisive = np.zeros(len(self.worst)) if decides is None else self.worst[:, decides]
        order = np.lexsort((self.keys, self.worst.sum(axis=1), decisive))[:limit]
        return self._replace(worst=self.worst[order], keys=self.keys[order], places=self.places[order])


def changed_rows(
    blocks: Blocks, rates: Sequence[str], primary: str, loads: tuple[Rows, Rows], limit: int
) -> ChangedRows:
    """Count the shared rows that lost or gained a pass, and show the worst `limit` of them in full.

    A row that passed and now can't be measured is lost. Rows that the primary measure calls wrong now come first, then
    those that lost most measures.

    Args:
        blocks: The shared rows.
        rates: The pass rates of both candidates.
        primary: The primary measure.
        loads: data/load of the older and of the newer version.
        limit: Rows in full.
    """
    primary = primary.removesuffix(VALUE)  # of a score the pass rate says which rows are wrong
    names = sorted(rates, key=lambda name: name != primary)
    decides = 0 if primary in names else None
    every = (_changes(pairing, names).first(decides, limit) for pairing in blocks)
    found = reduce(lambda mine, more: mine.joined(more, decides, limit), every)
    return {
        "rows": found.rows,
        "lost": _counts(names, found.lost),
        "gained": _counts(names, found.gained),
        "worst": _in_full(found, names, loads),
    }


def _changes(pairing: Pairing, names: Sequence[str]) -> _Changes:
    """The rows of one block with another result."""
    change = np.zeros((len(pairing.head_rows), len(names)))
    for number, name in enumerate(names):
        change[:, number] = _change(pairing, name)
    changed = np.flatnonzero(change.any(axis=1))
    old, new = pairing.base.positions[pairing.base_rows], pairing.head.positions[pairing.head_rows]
    places = np.column_stack([old, new])[changed]
    counts = (change < 0).sum(axis=0), (change > 0).sum(axis=0)
    return _Changes(len(changed), *counts, change[changed], pairing.keys[changed], places)


def _change(pairing: Pairing, name: str) -> Floats:
    """The change of a pass rate on each shared row, shape (n,)."""
    change, rate = np.zeros(len(pairing.head_rows)), ComparedRows.of(pairing, name)
    change[rate.measured] = rate.differences
    _, failed = rate.failed()
    change[failed & (rate.base.values[pairing.base_rows] == 1.0)] = -1.0
    return change


def named_rows(blocks: Blocks, rate: str | None, loads: tuple[Rows, Rows], limit: int) -> dict[str, list[str]]:
    """Kind of NamedRows → the ids of its first `limit` rows, sorted.

    Args:
        blocks: The shared rows.
        rate: The pass rate that says which rows are wrong; None: none does.
        loads: data/load of the older and of the newer version.
        limit: Ids of each kind.
    """
    found: dict[str, list[tuple[int, int]]] = {kind: [] for kind in NamedRows.__annotations__}
    for one in blocks:
        change = np.zeros(len(one.head_rows)) if rate is None else _change(one, rate)
        rows = [
            *((one.head, chosen) for chosen in (one.head_rows[change < 0], one.head_rows[change > 0])),
            *((one.base, one.only_base), (one.head, one.only_head), (one.head, one.changed)),
        ]
        for places, (side, chosen) in zip(found.values(), rows, strict=True):
            first = chosen[:limit]
            places.extend(zip(side.keys[first].tolist(), side.positions[first].tolist(), strict=True))
    firsts = {kind: [place for _, place in sorted(places)[:limit]] for kind, places in found.items()}
    rows_of = {kind: loads[kind != "only_base"].take(["id"], places) for kind, places in firsts.items()}
    return {kind: sorted(row["id"] for row in rows.values()) for kind, rows in rows_of.items()}


def _counts(names: Sequence[str], changed: NDArray[np.intp]) -> dict[str, int]:
    return {name: n for name, n in zip(names, changed.tolist(), strict=True) if n}


def _in_full(found: _Changes, names: Sequence[str], loads: tuple[Rows, Rows]) -> list[ChangedRow]:
    base = loads[0].take(["response"], found.places[:, 0].tolist())
    head = loads[1].take(["id", "input", "references", "response"], found.places[:, 1].tolist())
    return [
        {
            "id": head[new]["id"],
            "input": head[new]["input"],
            "references": head[new]["references"],
            "base": base[old]["response"],
            "head": head[new]["response"],
            "lost": [name for name, by in zip(names, change, strict=True) if by < 0],
            "gained": [name for name, by in zip(names, change, strict=True) if by > 0],
        }
        for change, (old, new) in zip(found.worst, found.places.tolist(), strict=True)
    ]
