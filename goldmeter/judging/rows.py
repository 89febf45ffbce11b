"""Builds the requests about each row, and the table of their verdicts: one row per (id, candidate)."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, Self, TypeAlias, cast

import numpy as np
import pyarrow as pa

from goldmeter.asking.requests import EarlierReplies, Request, replies, unanswered
from goldmeter.estimates.tables import nullable
from goldmeter.estimates.verdict_columns import verdicts_column, votes_column
from goldmeter.judging.other_names import accepted, other_names
from goldmeter.judging.settings import Judge
from goldmeter.judging.statuses import (
    ANSWERED,
    FAILED,
    STATUSES,
    retested_rows,
    sampled_rows,
    statuses_by_metric,
    together,
)
from goldmeter.ledger.entries import Entry
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.metrics.base import EMPTY_RESPONSE, Floats
from goldmeter.metrics.judged import DETAILS, JudgeMetric
from goldmeter.models import offline

KEYS = pa.schema([("id", pa.string()), ("candidate", pa.string())])
STATUS = pa.schema(
    [
        ("offline_match", pa.float64()),
        ("judge_status", pa.string()),
        ("judge_reason", pa.string()),
        ("judge_sampled", pa.bool_()),
        ("judge_draws", pa.int32()),
        ("judge_agree", pa.bool_()),
        ("in_domain", pa.bool_()),
        ("domain_reason", pa.string()),
    ]
)
VOTE_LIST = MET = pa.list_(pa.float64())
BLOCK_ROWS = 10_000
# The problem of a request that was not made because its server was down.
NOT_REACHED = "not asked: its server was down"
# Metric → the request of each draw.
Requests: TypeAlias = dict[str, list[Request]]


class RowRequests(NamedTuple):
    """The requests about one row.

    statuses: metric → `answered` if it is to be asked, else why not. problems: metric → why it can't be asked.
    """

    statuses: dict[str, str]
    requests: Requests
    problems: dict[str, str]

    @property
    def all(self) -> Iterator[Request]:
        """The requests of all metrics."""
        return (request for draws in self.requests.values() for request in draws)


class Judged(NamedTuple):
    """What was judged of one row by one metric.

    verdicts: of the draws, or jurors, that have one. stated: the probability of true that each of them comes with, None
    without one. reason: of the first draw whose verdict agrees with the score.
    facts: what else a person reads of that verdict. problem: why a row that was to be judged has none. met: of each
    criterion, the share of draws that call it met. again: the verdict of a second question, which is no part of the
    score. Of a panel alone: pooled: the scores. votes: of each juror, None without one. without_vote: juror and reason.
    """

    status: str
    verdicts: Sequence[float] = ()
    reason: str | None = None
    facts: Mapping[str, Any] = {}
    problem: str | None = None
    met: Sequence[float] | None = None
    again: Sequence[float] = ()
    pooled: Sequence[float] = ()
    votes: Sequence[float | None] | None = None
    without_vote: Sequence[tuple[str, str]] = ()
    stated: Sequence[float | None] = ()

    @property
    def all_verdicts(self) -> list[float]:
        """All verdicts of the row, part of the score or not."""
        return [*self.verdicts, *self.again]

    def scores(self, metric: JudgeMetric) -> list[float]:
        """The scores of the metric's columns, NaN without a verdict."""
        if self.status == EMPTY_RESPONSE:
            return [metric.bounds[0]] * len(metric.columns)
        if self.pooled:
            return [*self.pooled]
        return metric.verdict.scores(self.verdicts) if self.verdicts else [np.nan] * len(metric.columns)

    def probability(self, metric: JudgeMetric) -> float:
        """The probability that the verdict is true, NaN without a verdict.

        It is the mean of what the draws state; a draw without a probability counts as its verdict, 0 or 1.
        """
        known = [stated for stated in self.stated if stated is not None]
        if not known:
            return self.scores(metric)[0]
        return float(np.mean([v if p is None else p for v, p in zip(self.verdicts, self.stated, strict=True)]))

    @property
    def details(self) -> str:
        """The reason for the score, or for the missing one, as JSON."""
        if self.status == EMPTY_RESPONSE:
            told: dict[str, Any] = {"note": EMPTY_RESPONSE}
        elif self.verdicts:
            short = {name: fact for name, fact in self.facts.items() if isinstance(fact, str)}
            told = {**short, "reason": self.reason, **self.facts}
        else:
            told = {"unmeasured": self.problem or self.status}
        return json.dumps(told, ensure_ascii=False)


class RowVerdicts(NamedTuple):
    """What was judged of one row, by metric. status: of the metrics that have one together, or else of all."""

    status: str
    judged: dict[str, Judged]

    @classmethod
    def of(cls, judged: dict[str, Judged], options: Judge) -> Self:
        """The verdicts on a row with their status."""
        of_row = [judged[metric.name].status for metric in together(options.metrics) or options.metrics]
        return cls(next((status for status in (FAILED, ANSWERED) if status in of_row), of_row[0]), judged)

    @property
    def problem(self) -> str | None:
        """The first problem of a metric; else the status of a row that is not judged."""
        problems = (one.problem for one in self.judged.values() if one.problem)
        return next(problems, None if self.status == ANSWERED else self.status)

    @property
    def draws(self) -> int:
        """The largest number of verdicts of a metric."""
        return max((len(one.verdicts) for one in self.judged.values()), default=0)

    @property
    def agree(self) -> bool | None:
        """Whether all draws gave the same verdict; None if no metric has two."""
        several = [one.all_verdicts for one in self.judged.values() if len(one.all_verdicts) > 1]
        return all(len(set(verdicts)) == 1 for verdicts in several) if several else None


def schema_of(metrics: Iterable[JudgeMetric], *, has_verdicts: bool = False, votes: Iterable[str] = ()) -> pa.Schema:
    """Return the schema of data/judge with the columns of these metrics.

    has_verdicts: and the verdicts of each row. votes: the columns of a panel's votes.
    """
    metrics = [*metrics]
    verdicts = [pa.field(verdicts_column(metric.name), pa.list_(pa.float64())) for metric in metrics if has_verdicts]
    of_votes = [pa.field(name, VOTE_LIST) for name in votes]
    of_metrics = [field for metric in metrics for field in _fields(metric)]
    return pa.schema([*KEYS, *of_metrics, *verdicts, *STATUS, *of_votes])


def _fields(metric: JudgeMetric) -> Iterator[pa.Field]:
    for name in metric.table_columns:
        kind = pa.float64() if name in (*metric.columns, metric.probability_column) else pa.string()
        yield pa.field(name, MET if name == metric.met_column else kind)


def rows_of(part: pa.Table, options: Judge) -> Iterator[RowRequests]:
    """Yield the requests about each row of data/normalize."""
    codes = {name: found.tolist() for name, found in statuses_by_metric(part, options).items()}
    retested = retested_rows(part, options).tolist()
    for number, row in enumerate(part.to_pylist()):
        statuses = {name: STATUSES[found[number]] for name, found in codes.items()}
        yield _requests(row, statuses, options, again=retested[number])


def _requests(row: Mapping[str, Any], statuses: dict[str, str], options: Judge, *, again: bool) -> RowRequests:
    variables, accept = options.variables.model_dump(), partial(accepted, names=other_names(options.aliases))
    found = RowRequests(statuses, {}, {})
    for metric in options.metrics:
        if statuses[metric.name] == ANSWERED:
            try:
                fields = metric.fields(row, variables, accept)
                found.requests[metric.name] = requests_of(metric.of_row(row), fields, options, again=again)
            except ValueError as problem:
                found.problems[metric.name] = str(problem)
    return found


def requests_of(metric: JudgeMetric, fields: str, options: Judge, *, again: bool = False) -> list[Request]:
    """Return the request of each draw about one row.

    Args:
        metric: What is asked.
        fields: What the metric says of the row.
        options: Section `judge`.
        again: Whether there is one more draw, which is no part of the score.
    """
    server, address = options.server_key
    temperature: float | None = options.temperature if options.draws == 1 else options.draw_temperature
    seed: int | None = options.seed
    if options.is_decision_model:
        temperature = seed = None
    has_tokens = options.logprobs == "auto"
    return [
        Request(
            *(server, address, options.model, metric, fields, temperature, seed, draw),
            by_decision=options.is_decision_model,
            logprobs=has_tokens,
        )
        for draw in range(options.draws + again)
    ]


def missing(
    parts: Iterable[pa.Table],
    options: Judge,
    ledger: Verdicts,
    *,
    others: Iterable[Request],
    more: Iterable[Iterable[Request]] = (),
    retry_failed: bool,
    earlier: EarlierReplies | None = None,
) -> Iterator[Request]:
    """Yield each request that the ledger has no reply to, once: of `others` first, then of the rows, then of `more`.

    retry_failed: also requests whose reply is no verdict. earlier: of replies, to which those of the ledger are added.
    """
    about_rows = (requests_about(block, options) for part in parts for block in _blocks(part))
    return unanswered(chain([others], about_rows, more), ledger, retry_failed=retry_failed, earlier=earlier)


def table_of(part: pa.Table, options: Judge, ledger: Verdicts, estimates: offline.Judged) -> pa.Table:
    """Build the table of one part from the ledger; estimates: the offline judge's verdicts of its rows."""
    return table_of_verdicts(part, options, verdicts_of(part, options, ledger), estimates)


def verdicts_of(part: pa.Table, options: Judge, ledger: Verdicts) -> list[RowVerdicts]:
    """Return the verdicts of one judge on the rows of a part."""
    return [verdicts for block in _blocks(part) for verdicts in _judged(block, options, ledger)]


def table_of_verdicts(
    part: pa.Table, options: Judge, judged: Sequence[RowVerdicts], estimates: offline.Judged
) -> pa.Table:
    """Build the table of one part from the verdicts on its rows; estimates: as of `table_of`."""
    columns: dict[str, Any] = {"id": part["id"], "candidate": part["candidate"]}
    for metric in options.in_table:
        columns |= metric_columns(metric, [row.judged.get(metric.name, _NOT_ASKED) for row in judged])
    columns["offline_match"] = nullable(estimates.probabilities)
    columns["judge_status"] = [row.status for row in judged]
    columns["judge_reason"] = [row.problem for row in judged]
    columns["judge_sampled"] = sampled_rows(part, options)
    columns["judge_draws"] = [row.draws for row in judged]
    columns["judge_agree"] = [row.agree for row in judged]
    # A language model has no known domain; in a cascade, the offline judge's says who judges.
    outside = estimates.outside if options.provider == "cascade" else [None] * len(part)
    columns["in_domain"] = np.array([reason is None for reason in outside], np.bool_)
    columns["domain_reason"] = pa.array(outside, pa.string())
    if options.asks_again:
        for metric in options.in_table:
            verdicts = [row.judged.get(metric.name, _NOT_ASKED).all_verdicts or None for row in judged]
            columns[verdicts_column(metric.name)] = verdicts
    votes = {votes_column(metric.name): metric.name for metric in options.metrics if options.panel}
    columns |= {name: pa.array([row.judged[of].votes for row in judged], VOTE_LIST) for name, of in votes.items()}
    schema = schema_of(options.in_table, has_verdicts=options.asks_again, votes=votes)
    return pa.table({name: columns[name] for name in schema.names}, schema=schema)


def metric_columns(metric: JudgeMetric, judged: Sequence[Judged]) -> dict[str, Any]:
    """Return the columns of a metric from what was judged of each row."""
    scores = np.array([one.scores(metric) for one in judged], np.float64).reshape(-1, len(metric.columns))
    explained = [one.details if metric.explanation == DETAILS else one.reason for one in judged]
    met = pa.array([one.met for one in judged], MET)
    p = np.array([one.probability(metric) for one in judged]) if metric.probability_column else None
    return columns_of(metric, scores, pa.array(explained, pa.string()), met, p)


def columns_of(
    metric: JudgeMetric,
    scores: Floats,
    explained: pa.Array,
    met: pa.Array | None = None,
    probabilities: Floats | None = None,
) -> dict[str, Any]:
    """Return the columns of a metric.

    Args:
        metric: The metric.
        scores: Of each row and column, shape (n, columns); NaN without a verdict.
        explained: What explains the score of each row.
        met: Of each row the share of draws that call each criterion met; None: of no row.
        probabilities: Of each row that the verdict is true, shape (n,), NaN without a verdict; None: of no row.
    """
    columns = {name: nullable(scores[:, place]) for place, name in enumerate(metric.columns)}
    columns[f"{metric.column}_result"] = metric.result(scores[:, 0]).tolist()
    if metric.probability_column:
        columns[metric.probability_column] = nullable(scores[:, 0] if probabilities is None else probabilities)
    if metric.met_column:
        columns[metric.met_column] = pa.nulls(len(scores), MET) if met is None else met
    return columns | ({f"{metric.name}_{metric.explanation}": explained} if metric.explanation else {})


def entries_of(part: pa.Table, options: Judge, ledger: Verdicts) -> Iterator[dict[str, Entry]]:
    """Yield the ledger's entries for the rows of a part, by key, block by block."""
    return (replies(requests_about(block, options), ledger) for block in _blocks(part))


def requests_about(part: pa.Table, options: Judge) -> Iterator[Request]:
    """Yield every request about the rows of a part."""
    return (request for row in rows_of(part, options) for request in row.all)


def _blocks(part: pa.Table) -> Iterator[pa.Table]:
    """Yield the rows of a part in blocks: the requests and replies of one block are in memory at once."""
    return (part.slice(start, BLOCK_ROWS) for start in range(0, part.num_rows, BLOCK_ROWS))


def _judged(block: pa.Table, options: Judge, ledger: Verdicts) -> list[RowVerdicts]:
    rows = [*rows_of(block, options)]
    entries = replies((request for row in rows for request in row.all), ledger)
    return [_verdicts(row, entries, options) for row in rows]


def _verdicts(row: RowRequests, entries: Mapping[str, Entry], options: Judge) -> RowVerdicts:
    judged = {metric.name: _judged_by(metric, row, entries, options.draws) for metric in options.metrics}
    return RowVerdicts.of(judged, options)


def _judged_by(metric: JudgeMetric, row: RowRequests, ledger_entries: Mapping[str, Entry], draws: int) -> Judged:
    status = row.statuses[metric.name]
    if status != ANSWERED:
        return Judged(status)
    if metric.name in row.problems:
        return Judged(FAILED, problem=row.problems[metric.name])
    requests = row.requests[metric.name]
    kind = cast("JudgeMetric", requests[0].question).verdict

    def scored(some: Sequence[Request]) -> list[tuple[Entry, float]]:
        # Of a juror whose server was down the ledger lacks entries.
        of_some = [entry for request in some if (entry := ledger_entries.get(request.key))]
        verdicts = [(entry, entry["verdict"]) for entry in of_some]
        return [(entry, kind.score_of(one, entry.get("met", ""))) for entry, one in verdicts if one is not None]

    answered, again = scored(requests[:draws]), scored(requests[draws:])
    if not answered:
        first = ledger_entries.get(requests[0].key)
        return Judged(FAILED, problem=first["problem"] if first else NOT_REACHED)
    verdicts = [verdict for _, verdict in answered]
    typical = kind.typical(verdicts)
    chosen, _ = answered[verdicts.index(typical)]
    facts = kind.facts(typical, chosen.get("met", ""))
    met = kind.shares_met([entry.get("met", "") for entry, _ in answered])
    stated = [entry.get("probability") for entry, _ in answered]
    of_again = [verdict for _, verdict in again]
    return Judged(ANSWERED, verdicts, chosen["reason"], facts, met=met, again=of_again, stated=stated)


# Of a metric with a module that is not asked for.
_NOT_ASKED = Judged("")
