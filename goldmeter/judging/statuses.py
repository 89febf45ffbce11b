"""Why a row is judged or not: its status before any verdict, by column."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.estimates.column_facts import GROUP
from goldmeter.estimates.tables import pairs_of
from goldmeter.judging.sampling import sampled
from goldmeter.judging.settings import Judge
from goldmeter.metrics import base
from goldmeter.metrics.judged import DETAILS, JudgeMetric, Needs

Mask = NDArray[np.bool_]
Codes = NDArray[np.int8]

ANSWERED, FAILED = "answered", "failed"
BY_DESIGN = (base.NOT_SAMPLED, base.FILTERED, base.DISABLED, base.NO_REFERENCE, base.NOT_APPLICABLE, base.NOT_NEEDED)
STATUSES = (ANSWERED, FAILED, base.EMPTY_RESPONSE, base.NO_RESPONSE, *BY_DESIGN)


def statuses(part: pa.Table, options: Judge, metrics: Sequence[JudgeMetric] | None = None) -> Codes:
    """Return the status of each row of data/normalize, `answered` for those to judge, as an index of `STATUSES`.

    metrics: the metrics whose status it is, which need the same columns; None: those that have one status together.
    """
    if options.provider == "none":
        return np.full(part.num_rows, STATUSES.index(base.DISABLED), np.int8)
    chosen = together(options.metrics) if metrics is None else metrics
    needs = chosen[0].needs(options.variables.model_dump()) if chosen else Needs(None, None)
    response = None if needs.response is None else part[needs.response].combine_chunks()
    # The first that holds counts; the sample follows the filters because it represents the rows that they let through.
    reasons = {
        base.NOT_APPLICABLE: ~(_applies(part, chosen) & _given(part, needs.given)),
        base.FILTERED: ~filtered_rows(part, options),
        base.NOT_SAMPLED: ~sampled_rows(part, options),
        base.NOT_NEEDED: ~asked_rows(part, options, options.asked_share),
    }
    if response is not None:
        reasons[base.NO_RESPONSE] = np.asarray(response.is_null().to_numpy(zero_copy_only=False), np.bool_)
    if needs.references is not None:
        reasons[base.NO_REFERENCE] = ~has_text(part[needs.references].combine_chunks())
    if response is not None:
        reasons[base.EMPTY_RESPONSE] = ~has_text(response)
    return np.select([*reasons.values()], [np.int8(STATUSES.index(name)) for name in reasons], np.int8(0))


def together(metrics: Iterable[JudgeMetric]) -> list[JudgeMetric]:
    """Return the metrics whose status is `judge_status`; the details of each other one state its own."""
    return [metric for metric in metrics if metric.explanation != DETAILS]


def statuses_by_metric(part: pa.Table, options: Judge) -> dict[str, Codes]:
    """Return metric → the status of each row of data/normalize, as `statuses` does."""
    shared = statuses(part, options)
    alone = {metric.name for metric in options.metrics} - {metric.name for metric in together(options.metrics)}
    return {
        metric.name: statuses(part, options, [metric]) if metric.name in alone else shared for metric in options.metrics
    }


def sampled_rows(part: pa.Table, options: Judge) -> Mask:
    """Return which rows are in the sample; shape (n,)."""
    if options.provider == "none" or options.sampling_rate == 1:
        return np.full(part.num_rows, options.provider != "none")
    return np.array(sampled(part["id"].to_pylist(), options.sampling_seed, options.sampling_rate), np.bool_)


def asked_rows(part: pa.Table, options: Judge, share: float) -> Mask:
    """Return which rows are among the first so many in a random order of the groups, by a hash; shape (n,)."""
    if share == 1:
        return np.ones(part.num_rows, np.bool_)
    return np.array(sampled(groups_of(part), f"stop {options.sampling_seed}", share), np.bool_)


def groups_of(part: pa.Table) -> list[str]:
    """Return the group of each row of data/normalize, its id without one."""
    if GROUP not in part.column_names:
        return list(part["id"].to_pylist())
    return list(pc.coalesce(part[GROUP], part["id"]).to_pylist())


def retested_rows(part: pa.Table, options: Judge) -> Mask:
    """Return which rows are asked about twice if they are judged; independent of the sample; shape (n,)."""
    if not options.retest or not options.asks_server:
        return np.zeros(part.num_rows, np.bool_)
    return np.array(sampled(part["id"].to_pylist(), f"retest {options.sampling_seed}", options.retest), np.bool_)


def has_text(column: pa.Array) -> Mask:
    """Return which rows have a text that is not blank, of a column of texts or of lists of texts; shape (n,)."""
    texts, offsets = text_lists(column)
    rows = np.repeat(np.arange(len(column)), np.diff(offsets))
    distinct = pc.fill_null(texts.cast(pa.large_string()), "").dictionary_encode()
    has = np.array([bool(text.strip()) for text in distinct.dictionary.to_pylist()], np.bool_)
    counts = np.bincount(rows[has[distinct.indices.to_numpy()]], minlength=len(column))
    return np.asarray(counts > 0, np.bool_)


def text_lists(column: pa.Array) -> tuple[pa.Array, NDArray[np.int64]]:
    """Return the texts of a column of texts or of lists of texts, and the offset of each row's; shape (n + 1,)."""
    if not pa.types.is_list(column.type):
        return column, np.arange(len(column) + 1)
    counts = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    return column.flatten(), np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def _applies(part: pa.Table, metrics: Sequence[JudgeMetric]) -> Mask:
    pairs = pairs_of(part)
    applies = np.ones(len(pairs), np.bool_)
    for metric in metrics:
        applies &= metric.applies(pairs)
    return applies


def _given(part: pa.Table, columns: Sequence[str]) -> Mask:
    given = np.ones(part.num_rows, np.bool_)
    for name in columns:
        given &= name in part.column_names and part[name].is_valid().to_numpy()
    return given


def filtered_rows(part: pa.Table, options: Judge) -> Mask:
    """Return which rows meet all filters; shape (n,)."""
    holds = np.ones(part.num_rows, np.bool_)
    for condition in options.filters:
        field = condition.field
        holds &= np.array([condition.holds({field: cell}) for cell in part[field].to_pylist()], np.bool_)
    return holds


# Reasons for a missing verdict that are no failure of the judge.
NO_FAILURE = frozenset({*BY_DESIGN, base.NO_RESPONSE})


def asked_and_failed(table: pa.Table) -> tuple[int, int]:
    """Count the rows of data/judge that the judge was asked about, and those of them that lack a verdict."""
    failed = np.zeros(table.num_rows, np.bool_)
    failed[[row for row, _ in _problems(table)]] = True
    draws = table["judge_draws"].to_numpy()
    return int(np.count_nonzero(failed | (draws > 0))), int(np.count_nonzero(failed))


def problems_of(table: pa.Table) -> Counter[str]:
    """Count the rows that lack a verdict by the first problem."""
    first: dict[int, str] = {}
    for row, problem in _problems(table):
        first.setdefault(row, problem)
    return Counter(first.values())


def read_columns(schema: pa.Schema) -> list[str]:
    """Return the columns of data/judge that the functions of this module read."""
    return ["judge_status", "judge_reason", "judge_draws", *_details(schema)]


def _problems(table: pa.Table) -> Iterator[tuple[int, str]]:
    """Yield the number of a row and the problem of a metric."""
    for row in _true(pc.equal(table["judge_status"], FAILED)):
        yield row, str(table["judge_reason"][row].as_py())
    for name in _details(table.schema):
        for row in _true(pc.match_substring(table[name], '"unmeasured"')):
            reason = json.loads(table[name][row].as_py()).get("unmeasured")
            if reason is not None and reason not in NO_FAILURE:
                yield row, str(reason)


def _true(chosen: pa.ChunkedArray) -> list[int]:
    rows: list[int] = np.flatnonzero(chosen.fill_null(False).to_numpy()).tolist()  # noqa: FBT003 (pyarrow)
    return rows


def _details(schema: pa.Schema) -> list[str]:
    return [name for name in schema.names if name.endswith(f"_{DETAILS}")]
