"""The offline judge's verdicts of a part, by column: one row per (id, candidate)."""

from collections.abc import Iterator
from itertools import repeat

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.judging.other_names import accepted_columns, other_names
from tasks.judging.rows import Judged, columns_of, schema_of
from tasks.judging.settings import Judge
from tasks.judging.statuses import ANSWERED, STATUSES, sampled_rows, statuses, text_lists
from tasks.metrics.base import DISABLED, EMPTY_RESPONSE
from tasks.metrics.judged import DETAILS
from tasks.models import offline
from tasks.pipeline.tables import Parts, about
from tasks.pipeline.workers import Crew
from tasks.scores.column_facts import stated
from tasks.scores.repeated_verdicts import verdicts_column
from tasks.scores.tables import nullable

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
        if metric.has_offline:
            scores[:, 0] = verdicts
            scores[(codes == STATUSES.index(EMPTY_RESPONSE)) & (metric.name in asked)] = metric.bounds[0]
        elif metric.explanation:
            text = Judged(DISABLED).details if metric.explanation == DETAILS else None
            explained = pa.repeat(pa.scalar(text, pa.string()), part.num_rows)
        columns |= columns_of(metric, scores, explained)
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
