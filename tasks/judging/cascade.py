"""Cascade: the offline judge decides the rows that it is sure of, and a language model judges the others."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tasks.judging.offline_rows import table_of_estimates
from tasks.judging.rows import table_of
from tasks.judging.settings import Band, Judge
from tasks.judging.statuses import ANSWERED, FAILED, Mask
from tasks.ledger.verdicts import Verdicts
from tasks.models import offline
from tasks.scores.verdict_source import JUDGED_BY, LANGUAGE_MODEL, OFFLINE_JUDGE


@dataclass(frozen=True)
class Division:
    """The rows of all parts, divided between the judges.

    parts: returns the parts of data/normalize, the same on each call. decided: which rows of each part the offline
    judge decides, shape (n,); None without a cascade: the language model judges all.
    """

    parts: Callable[[], Iterable[pa.Table]]
    decided: Sequence[Mask] | None

    def by_language_model(self) -> Iterable[pa.Table]:
        """Yield the rows of each part that the language model judges."""
        return self.parts() if self.decided is None else self._rows(~mask for mask in self.decided)

    def by_offline_judge(self) -> Iterable[pa.Table]:
        """Yield the rows of each part that the offline judge decides."""
        return self._rows(self.decided or [])

    def _rows(self, masks: Iterable[Mask]) -> Iterator[pa.Table]:
        return (part.filter(pa.array(mask)) for part, mask in zip(self.parts(), masks, strict=True))


def is_decided(judged: offline.Judged, band: Band) -> Mask:
    """Return which rows the offline judge decides: in its domain, with a probability outside of the band; shape (n,).

    A row without a probability is not decided.
    """
    low, high = band
    in_domain = np.array([reason is None for reason in judged.outside], np.bool_)
    return in_domain & ((judged.probabilities < low) | (judged.probabilities > high))


def cascade_table(part: pa.Table, options: Judge, ledger: Verdicts, estimates: offline.Judged) -> pa.Table:
    """Build the table of one part, and say of each row who judged it.

    estimates: the offline judge's verdicts of the rows.
    """
    decided = is_decided(estimates, options.band)
    sure, others = np.flatnonzero(decided), np.flatnonzero(~decided)
    tables = [
        table_of_estimates(part.take(sure), options, _some(estimates, sure)),
        table_of(part.take(others), options, ledger, _some(estimates, others)),
    ]
    table = pa.concat_tables(tables).take(np.argsort(np.concatenate([sure, others])))
    judge = pc.if_else(pa.array(decided), OFFLINE_JUDGE, LANGUAGE_MODEL)
    is_judged = pc.is_in(table["judge_status"], pa.array([ANSWERED, FAILED]))
    return table.append_column(JUDGED_BY, pc.if_else(is_judged, judge, pa.scalar(None, pa.string())))


def _some(estimates: offline.Judged, rows: NDArray[np.intp]) -> offline.Judged:
    reasons, outside = ([texts[row] for row in rows] for texts in (estimates.reasons, estimates.outside))
    return offline.Judged(estimates.probabilities[rows], reasons, outside)
