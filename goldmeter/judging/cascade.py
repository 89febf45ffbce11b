"""Verdicts of the offline judge: alone, or in a cascade with a language model where it is sure."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.estimates.column_facts import stated
from goldmeter.estimates.signature import JUDGED_BY, LANGUAGE_MODEL, OFFLINE_JUDGE
from goldmeter.estimates.tables import nullable
from goldmeter.estimates.verdict_columns import verdicts_column
from goldmeter.judging.other_names import accepted_columns, other_names
from goldmeter.judging.rows import Judged, columns_of, schema_of, table_of
from goldmeter.judging.settings import Band, Judge
from goldmeter.judging.statuses import ANSWERED, FAILED, STATUSES, Mask, sampled_rows, statuses, text_lists
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.metrics.base import DISABLED, EMPTY_RESPONSE, Floats
from goldmeter.metrics.judged import DETAILS
from goldmeter.models import offline
from goldmeter.pipeline.tables import Parts, about
from goldmeter.pipeline.workers import Crew

LABEL = "label"


def offline_table(part: pa.Table, options: Judge) -> pa.Table:
    """Build the table of one part of data/normalize, for the providers that ask no server."""
    return table_of_estimates(part, options, estimated(part, options))


def table_of_estimates(part: pa.Table, options: Judge, estimates: offline.Judged) -> pa.Table:
    """Build the table of some rows of data/normalize from the offline judge's verdicts of them."""
    codes = statuses(part, options)
    is_answered = codes == STATUSES.index(ANSWERED)
    verdicts = np.where(is_answered, estimates.probabilities >= offline.RIGHT, np.nan)
    said = pc.if_else(pa.array(is_answered), pa.array(estimates.reasons, pa.string()), pa.scalar(None, pa.string()))
    asked = {metric.name for metric in options.metrics}
    outside = [None] * part.num_rows if options.provider == "none" else estimates.outside
    columns = {
        "id": part["id"],
        "candidate": part["candidate"],
        "offline_match": nullable(estimates.probabilities),
        "judge_status": pa.array(STATUSES).take(pa.array(codes)),
        "judge_reason": pa.array([_PROBLEMS.get(status, status) for status in STATUSES]).take(pa.array(codes)),
        "judge_sampled": sampled_rows(part, options),
        "judge_draws": is_answered.astype(np.int32),
        "judge_agree": pa.nulls(part.num_rows, pa.bool_()),
        "in_domain": np.array([reason is None for reason in outside], np.bool_),
        "domain_reason": pa.array(outside, pa.string()),
    }
    for metric in options.in_table:
        scores, explained = np.full((part.num_rows, len(metric.columns)), np.nan), said
        p = scores[:, 0].copy()
        if metric.has_offline:
            is_empty = (codes == STATUSES.index(EMPTY_RESPONSE)) & (metric.name in asked)
            scores[:, 0] = verdicts
            scores[is_empty] = metric.bounds[0]
            p = np.where(is_answered, estimates.probabilities, np.where(is_empty, 0.0, np.nan))
        elif metric.explanation:
            text = Judged(DISABLED).details if metric.explanation == DETAILS else None
            explained = pa.repeat(pa.scalar(text, pa.string()), part.num_rows)
        columns |= columns_of(metric, scores, explained, probabilities=p)
    if options.asks_again:
        nothing = pa.nulls(part.num_rows, pa.list_(pa.float64()))
        columns |= dict.fromkeys((verdicts_column(metric.name) for metric in options.in_table), nothing)
    schema = schema_of(options.in_table, has_verdicts=options.asks_again)
    return pa.table({name: columns[name] for name in schema.names}, schema=schema)


def estimates(parts: Parts, options: Judge, crew: Crew) -> Iterator[offline.Judged]:
    """Yield the offline judge's verdicts of every part."""
    return crew.map(_estimated_part, repeat(parts), range(len(parts)), repeat(options))


def estimated(part: pa.Table, options: Judge) -> offline.Judged:
    """Return the offline judge's verdict of every row.

    Without a judge (provider none) its probabilities are of use only beside human labels: without any it is not run.
    """
    if options.provider == "none" and LABEL not in stated(about(part.schema)):
        return offline.Judged(np.full(part.num_rows, np.nan), [None] * part.num_rows, [None] * part.num_rows)
    names = options.variables
    inputs, outputs = (_joined(part[name].combine_chunks()) for name in (names.input, names.output))
    references = text_lists(part[names.ground_truth].combine_chunks())
    return offline.judge_columns(inputs, *accepted_columns(*references, other_names(options.aliases)), outputs)


def _estimated_part(parts: Parts, number: int, options: Judge) -> offline.Judged:
    return estimated(parts.part(number), options)


def _joined(column: pa.Array) -> pa.Array:
    """Return one text per row, of a column of texts or of lists of texts."""
    return pc.binary_join(column, " ") if pa.types.is_list(column.type) else column


# Status → what the table says instead of it as the reason for a missing verdict.
_PROBLEMS = {ANSWERED: None, DISABLED: "judge disabled"}


@dataclass(frozen=True)
class Division:
    """The rows of all parts, divided between the judges.

    parts: returns the parts of data/normalize, the same on each call. by_offline: returns of each part the verdicts of
    the offline judge, 1 or 0, NaN where the language model judges, shape (n,); None without a cascade: it judges all.
    is_upper_limit: whether the language model may judge fewer rows, because some answers are to come.
    """

    parts: Callable[[], Iterable[pa.Table]]
    by_offline: Callable[[], Iterable[Floats]] | None = None
    is_upper_limit: bool = False

    def by_language_model(self) -> Iterable[pa.Table]:
        """Yield the rows of each part that the language model judges."""
        if self.by_offline is None:
            return self.parts()
        return (part.filter(pa.array(np.isnan(verdicts))) for part, verdicts in self.with_verdicts())

    def by_offline_judge(self) -> Iterable[pa.Table]:
        """Yield the rows of each part that the offline judge decides."""
        return (part.filter(pa.array(~np.isnan(verdicts))) for part, verdicts in self.with_verdicts())

    def with_verdicts(self) -> Iterator[tuple[pa.Table, Floats]]:
        """Yield each part with the verdicts of the offline judge."""
        if self.by_offline is None:
            yield from ((part, np.full(part.num_rows, np.nan)) for part in self.parts())
        else:
            yield from zip(self.parts(), self.by_offline(), strict=True)

    def some(self, chosen: Callable[[pa.Table], Mask]) -> "Division":
        """Return some of the rows; chosen: which rows of a part, shape (n,)."""

        def parts() -> Iterator[pa.Table]:
            return (part.filter(pa.array(chosen(part))) for part in self.parts())

        def by_offline() -> Iterator[Floats]:
            return (verdicts[chosen(part)] for part, verdicts in self.with_verdicts())

        return Division(parts, None if self.by_offline is None else by_offline)


def decided(judged: offline.Judged, band: Band) -> Floats:
    """Return the verdict of each row that the offline judge decides, NaN of the others; shape (n,)."""
    return np.where(is_decided(judged, band), judged.probabilities >= offline.RIGHT, np.nan)


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
