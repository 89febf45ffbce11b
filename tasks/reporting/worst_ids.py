"""The worst ids of a run by a number, found part by part: memory holds some multiple of as many as are wanted."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tasks.metrics.base import Floats
from tasks.scores.columns import hashed

# Ids → their order, shape (n,), where the numbers of several ids are equal.
Ties = Callable[[pa.Array], NDArray[np.intp]]


class RankedIds(NamedTuple):
    """Ids with a number each, n ids.

    ids: shape (n,). ranks: shape (n,), the smaller the worse; NaN is last.
    """

    ids: pa.Array
    ranks: Floats


def by_name(ids: pa.Array) -> NDArray[np.intp]:
    """Order ids as texts."""
    return np.asarray(pc.sort_indices(ids).to_numpy(), np.intp)


def by_hash(ids: pa.Array) -> NDArray[np.intp]:
    """Order ids by a hash, so that ids with a common beginning do not stand together."""
    return np.argsort(hashed(ids), kind="stable")


def worst(found: RankedIds, most: int, ties: Ties) -> RankedIds:
    """Return the worst ids, each once with its smallest rank: at most `most`, in any order."""
    encoded = found.ids.dictionary_encode()
    ids, ranks = encoded.dictionary, np.full(len(encoded.dictionary), np.inf)
    np.fmin.at(ranks, encoded.indices.to_numpy(), found.ranks)
    if len(ids) <= most:
        return RankedIds(ids, ranks)
    last = np.partition(ranks, most - 1)[most - 1] if most else -np.inf
    better, equal = np.flatnonzero(ranks < last), np.flatnonzero(ranks == last)
    equal = equal[ties(ids.take(pa.array(equal)))[: most - len(better)]]
    rows = np.concatenate([better, equal])
    return RankedIds(ids.take(pa.array(rows)), ranks[rows])


def ordered(found: RankedIds, ties: Ties) -> list[str]:
    """Return distinct ids, the worst first."""
    places = np.empty(len(found.ids), np.intp)
    places[ties(found.ids)] = np.arange(len(found.ids))
    names: list[str] = found.ids.take(pa.array(np.lexsort((places, found.ranks)))).to_pylist()
    return names


class WorstIds:
    """Collects the worst ids of all parts; the result depends neither on the parts nor on their order."""

    def __init__(self, most: int, ties: Ties) -> None:
        self._most, self._ties = most, ties
        self._pieces: list[RankedIds] = []

    def add(self, found: RankedIds) -> None:
        """Add the worst ids of a part; an id may be in several parts."""
        self._pieces.append(found)
        if sum(len(piece.ids) for piece in self._pieces) > 4 * self._most:
            self._pieces = [self._worst()]

    def names(self) -> list[str]:
        """Return the ids, the worst first."""
        return ordered(self._worst(), self._ties)

    def _worst(self) -> RankedIds:
        ids = pa.concat_arrays([pa.array([], pa.string()), *(piece.ids for piece in self._pieces)])
        ranks = np.concatenate([np.empty(0), *(piece.ranks for piece in self._pieces)])
        return worst(RankedIds(ids, ranks), self._most, self._ties)


def in_turns(queues: Sequence[Sequence[str]], limit: int) -> dict[str, int]:
    """Let queues of ids choose in turns, each its first id that is not chosen yet.

    Returns:
        Id → number of the queue that chose it, at most `limit`, in the order of the choice.
    """
    left: list[Iterator[str]] = [iter(queue) for queue in queues]
    chosen: dict[str, int] = {}
    while len(chosen) < limit:
        before = len(chosen)
        for number, queue in enumerate(left):
            new = next((name for name in queue if name not in chosen), None)
            if new is not None and len(chosen) < limit:
                chosen[new] = number
        if len(chosen) == before:
            break
    return chosen
