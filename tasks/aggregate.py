"""Estimates: one row per (candidate, metric, slice column, slice value); the row of all rows has no slice."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from math import isfinite
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import Field, field_validator

from tasks.comparison import candidate_pairs
from tasks.comparison.document import PairEntry
from tasks.comparison.gate import Gate
from tasks.comparison.named import check_measures
from tasks.comparison.pairing import distinct, pair
from tasks.errors import ParamsError
from tasks.metrics.base import NOT_SAMPLED, Floats
from tasks.pipeline.contract import Contract
from tasks.pipeline.files import to_json
from tasks.pipeline.progress import Progress, quiet
from tasks.pipeline.settings import Section, Share
from tasks.pipeline.stage import Stage
from tasks.pipeline.tables import Parts
from tasks.scores import estimates, failures, human_labels, metrics_report, repeated_answers
from tasks.scores.column_facts import VALUE
from tasks.scores.columns import QUESTION, Candidate, Mask, ScoreColumn, candidates, score_tables
from tasks.scores.dataset_counts import dataset_counts
from tasks.scores.estimate_entries import summary, tree
from tasks.scores.estimates import rounded
from tasks.scores.headline import headlines, leaders, rates
from tasks.scores.order import best_first, primary_first
from tasks.scores.primary import MEANING_MATCH, Primary, primary
from tasks.scores.targets import Targets, decided
from tasks.scores.verdict_source import VerdictSource
from tasks.scores.worst_slices import worst_slices

SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("candidate", "metric", "slice", "slice_value")),
        *((name, pa.float64()) for name in ("value", "low", "high")),
        *((name, pa.int64()) for name in ("rows", "n", "n_not_asked", "n_failed")),
        *((name, pa.float64()) for name in ("worst", "best", "lower_bound", "upper_bound", "failed_share")),
        *((name, pa.float64()) for name in ("pass_value", "pass_low", "pass_high", "threshold")),
        *((name, pa.string()) for name in ("method", "signature", "rate_signature")),
    ]
)

Row = dict[str, Any]
# The largest k of pass@k.
MOST_DRAWS = 10_000


class Aggregate(Section):
    """Confidence of the intervals, share of rows that may be unmeasured, and the k of pass@k and pass^k."""

    confidence: Annotated[float, Field(gt=0.5, lt=1)]
    guarantee: bool
    max_unmeasured: Share
    pass_at: tuple[Annotated[int, Field(ge=1, le=MOST_DRAWS)], ...]

    @field_validator("pass_at")
    @classmethod
    def _ascend(cls, pass_at: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(set(pass_at)))


class Params(Section):
    """The sections of params.yaml that this stage reads."""

    aggregate: Aggregate
    gate: Gate
    report: Targets = Targets()


def aggregate(
    tables: Mapping[str, Parts], params: Params, progress: Progress = quiet
) -> Iterator[dict[str, pa.Table | str]]:
    """Estimate every metric of every candidate: value, interval, counts, pass rate; over all rows and per slice."""
    load, judge = tables["load"], tables["judge"]
    as_configured = [*candidates(load, [tables[name] for name in score_tables(tables)])]
    thresholds = human_labels.thresholds(as_configured, params.aggregate.confidence)
    fitted = metrics_report.fitted_thresholds(thresholds)
    scored = [candidate.with_fitted(fitted) for candidate in as_configured]
    decides = primary(params.gate.primary, scored, random=load.about.get("labels") == "random")
    table = pa.Table.from_pylist([*_rows(scored, params.aggregate, progress)], SCHEMA)
    document: metrics_report.MetricsReport = {
        "schema": 1,
        "confidence": params.aggregate.confidence,
        "joint_confidence": params.gate.confidence,
        "dataset": dataset_counts(load, tables["load_rejected"], tables["embed"]),
        "candidates": _with_draws(
            _with_labels(tree(table), scored, fitted, load, judge, params.aggregate.confidence),
            scored,
            params.aggregate,
        ),
        "comparisons": _comparisons(scored, params, decides),
        "thresholds": {name: rounded(row) | {"learnt": row["learnt"]} for name, row in thresholds.items()},
        "correlations": _correlations(scored, decides.name),
    }
    if QUESTION in load.schema.names:
        document["pass_at"] = [*params.aggregate.pass_at]
    document = _first_screen(document, decides, scored, load, judge, params)
    yield {
        "aggregate": table,
        metrics_report.METRICS: to_json(document),
        "reports/summary.json": to_json(summary(table)),
    }


def expect(params: Params) -> Contract:
    """Expect intervals that contain their value, counts that add up to all rows, and few failed rows."""
    from great_expectations import expectations as gxe
    from great_expectations.expectations.row_conditions import Column

    ordered = [("high", "value"), ("value", "low"), ("upper_bound", "high"), ("low", "lower_bound")]
    ordered += [("pass_high", "pass_value"), ("pass_value", "pass_low"), ("value", "worst"), ("best", "value")]
    return Contract(
        rows=[
            *(
                gxe.ExpectColumnPairValuesAToBeGreaterThanB(
                    column_A=a, column_B=b, or_equal=True, ignore_row_if="either_value_is_missing"
                )
                for a, b in ordered
            ),
            *(
                gxe.ExpectColumnValuesToNotBeNull(column=limit, row_condition=Column(other).is_not_null())
                for limit, other in [("value", "pass_value"), ("low", "lower_bound"), ("high", "upper_bound")]
            ),
            gxe.ExpectColumnValuesToBeBetween(
                column="failed_share",
                max_value=params.aggregate.max_unmeasured,
                row_condition=Column("slice").is_null(),
                notes="Too many rows could not be measured; data/load and the details columns say why. For missing "
                "answers: dataset.missing_response: wrong counts them as wrong, dataset.exclude leaves records out. "
                "The limit is aggregate.max_unmeasured.",
            ),
        ],
        keys=[gxe.ExpectCompoundColumnsToBeUnique(column_list=["candidate", "metric", "slice", "slice_value"])],
        counts=[
            gxe.ExpectColumnPairValuesToBeEqual(
                column_A="rows_of_a_metric", column_B="rows_load", ignore_row_if="either_value_is_missing"
            )
        ],
    )


def advice(written: Mapping[str, Parts], params: Params) -> list[str]:
    """List the candidates and metrics of which too many rows failed."""
    limit = params.aggregate.max_unmeasured
    over: dict[tuple[str, int, int], list[str]] = {}
    for row in written["aggregate"].whole().to_pylist():
        if row["slice"] is None and row["failed_share"] > limit:
            failed, asked = row["n_failed"], row["n"] + row["n_failed"]
            over.setdefault((row["candidate"], failed, asked), []).append(row["metric"])
    return [
        f"  {candidate}/{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: "
        f"{failed / asked:.1%} of its rows failed ({failed:,} of {asked:,}), allowed {100 * limit:g}%"
        for (candidate, failed, asked), names in over.items()
    ]


def counts(tables: Mapping[str, pa.Table]) -> dict[str, float]:
    """Count the rows of a metric as measured, not asked or failed: the mean over the metrics, NaN without any."""
    headlines = tables["aggregate"].filter(pc.is_null(tables["aggregate"]["slice"]))
    metrics = len(headlines["metric"].unique())
    counted = sum(pc.sum(headlines[name]).as_py() or 0 for name in ("n", "n_not_asked", "n_failed"))
    return {"rows_of_a_metric": counted / metrics if metrics else float("nan")}


def _comparisons(scored: Sequence[Candidate], params: Params, decides: Primary) -> list[PairEntry]:
    """Compare every two candidates of the run; the comparisons by the primary measure are one family of tests."""
    pairs = [[pair(base, head)] for base, head in combinations(distinct(scored), 2)]
    families = candidate_pairs.compare(pairs, params.gate, decides.name, params.aggregate.pass_at)
    return candidate_pairs.entries(families, pairs)


def _first_screen(
    document: metrics_report.MetricsReport,
    decides: Primary,
    scored: Sequence[Candidate],
    load: Parts,
    judge: Parts,
    params: Params,
) -> metrics_report.MetricsReport:
    """The sections that conclude from the numbers: headlines, who leads, targets, failures and worst slices."""
    confidence, entries = params.aggregate.confidence, document["candidates"]
    by = _judge(judge, scored)
    shown = headlines(decides, scored, entries, by, confidence)
    shown = {name: shown[name] for name in best_first(shown, higher_is_better=_more_is_better(scored, decides.name))}
    best = leaders(decides, shown, document["comparisons"])
    found = failures.kinds(load, judge, _wrong(scored, decides.name, load.rows), offline=by.is_offline)
    shares = failures.frequencies(scored, decides.name, found, confidence, guarantee=params.aggregate.guarantee)
    worst = worst_slices(scored, decides.name, confidence, by_judge=by.is_offline and decides.name == MEANING_MATCH)
    return {
        **document,
        "candidates": {
            name: {metric: entries[name][metric] for metric in primary_first(entries[name], decides.name)}
            for name in shown
            if name in entries
        },
        "primary": {"measure": decides.name, "reason": decides.reason},
        "headlines": rounded(shown),
        "leaders": best,
        "targets": decided(params.report.targets, rates(decides, scored, shown, entries, by, confidence)),
        "failures": rounded(shares),
        "worst_slices": rounded(worst),
        "outside_domain": rounded({one.name: by.share_outside(one) for one in scored} if len(by.codes) else {}),
    }


def _more_is_better(scored: Sequence[Candidate], measure: str) -> bool:
    """Whether more is better of a measure; of a pass rate it is."""
    name = measure.removesuffix(VALUE)
    facts = [one.facts for candidate in scored for one in candidate.columns if one.name == name]
    is_rate = name == measure and any(one.has_pass_rate for one in facts)
    return is_rate or not facts or facts[0].higher_is_better


def _wrong(scored: Sequence[Candidate], measure: str, rows: int) -> Mask:
    """Which rows of the tables the primary measure calls wrong, shape (rows,)."""
    is_wrong = np.zeros(rows, np.bool_)
    for candidate in scored:
        column = failures.decisive(candidate.columns, measure)
        if column is not None:
            is_wrong[candidate.positions] = failures.wrong(column)
    return is_wrong


def _judge(judge: Parts, scored: Sequence[Candidate]) -> VerdictSource:
    """Who gave the verdicts, and which rows lie outside of its domain."""
    signatures = [c.facts.signature for one in scored for c in one.columns if c.name == MEANING_MATCH]
    known = "domain_reason" in judge.schema.names
    outside = judge.whole(["domain_reason"])["domain_reason"].combine_chunks() if known else ()
    return VerdictSource.of(signatures[0] if signatures else "", outside)


def _with_labels(
    tree: metrics_report.Candidates,
    scored: Sequence[Candidate],
    fitted: Mapping[str, float],
    load: Parts,
    judge: Parts,
    confidence: float,
) -> metrics_report.Candidates:
    """Add to the entries their agreement with human labels, and estimates from few labels or verdicts.

    Metrics whose threshold was fitted on these labels are skipped: their agreement would be optimistic; `thresholds`
    holds a cross-validated figure.
    """
    random = load.about.get("labels") == "random"
    offline, unsampled = _offline(judge)
    seen = _in_sample(load, judge, scored)
    for candidate in scored:
        guesses, not_sampled = offline[candidate.positions], unsampled[candidate.positions]
        for column in candidate.columns:
            entry = tree[candidate.name][column.name]
            if column.name not in fitted and (agreement := human_labels.agreement(candidate, column, confidence)):
                entry["agreement"] = rounded(agreement)
                if column.name == MEANING_MATCH and seen:
                    entry["agreement"]["in_sample"] = rounded(seen)
            ppi = None
            if column.name == human_labels.LABEL:
                ppi = human_labels.prediction_powered(candidate, guesses, confidence, random=random)
            elif column.facts.family == "judge":
                ppi = human_labels.prediction_powered_judge(candidate, column, guesses, not_sampled, confidence)
            if ppi:
                entry["ppi"] = rounded(ppi)
    return tree


def _with_draws(
    tree: metrics_report.Candidates, scored: Sequence[Candidate], params: Aggregate
) -> metrics_report.Candidates:
    """Add pass@k, pass^k and the variance split to the entries of candidates whose questions have several draws."""
    for candidate in scored:
        for column in candidate.columns:
            if found := repeated_answers.entry(candidate, column, params.pass_at, params.confidence):
                tree[candidate.name][column.name].update(rounded(found))
    return tree


def _in_sample(load: Parts, judge: Parts, scored: Sequence[Candidate]) -> metrics_report.InSampleEntry | None:
    """What to say of the offline judge's agreement if it was trained on inputs of these rows; None for other judges."""
    if "input" not in load.schema.names or not _judge(judge, scored).is_offline:
        return None
    return human_labels.in_sample(load.whole(["input"])["input"].unique().to_pylist())


def _offline(judge: Parts) -> tuple[Floats, Mask]:
    """The offline judge's probability of each row, and which rows are unmeasured because of sampling alone."""
    if "offline_match" not in judge.schema.names:
        return np.full(judge.rows, np.nan), np.zeros(judge.rows, dtype=np.bool_)
    rows = judge.whole(["offline_match", "judge_status"])
    unsampled = pc.equal(rows["judge_status"], NOT_SAMPLED).to_numpy(zero_copy_only=False)
    return rows["offline_match"].to_numpy(zero_copy_only=False), np.asarray(unsampled, dtype=np.bool_)


def _correlations(scored: Sequence[Candidate], measure: str) -> metrics_report.Correlations:
    """Correlations between the metrics, over the rows of all candidates; measure: the primary one, which is first."""
    from tasks.statistics import correlations

    places = {column.name: i for i, column in enumerate(scored[0].columns)} if scored else {}
    names = primary_first(places, measure)
    columns = [np.concatenate([candidate.columns[places[name]].values for candidate in scored]) for name in names]
    measured = [i for i, column in enumerate(columns) if not np.isnan(column).all()]
    table = np.stack([columns[i] for i in measured]).T if measured else np.empty((0, 0))
    return {"metrics": [names[i] for i in measured], "values": rounded(correlations(table).tolist())}


def _rows(scored: Sequence[Candidate], params: Aggregate, progress: Progress) -> Iterator[Row]:
    """Estimate every metric of every candidate, over all rows and over each slice."""
    total, done = sum(len(candidate.columns) for candidate in scored), 0
    for candidate in scored:
        if params.guarantee and candidate.groups is not None:
            raise ParamsError(
                "aggregate.guarantee: no interval guarantees its coverage for grouped rows; set it to false"
            )
        parts = [({}, np.arange(len(candidate.keys))), *_slices(candidate)]
        for column in candidate.columns:
            progress("metrics", done, total)
            for labels, positions in parts:
                groups = None if candidate.groups is None else candidate.groups[positions]
                rows = column.rows(positions) if labels else column
                yield {"candidate": candidate.name} | labels | _row(rows, groups, params)
            done += 1
    progress("metrics", done, total)


def _slices(candidate: Candidate) -> Iterator[tuple[Row, NDArray[np.intp]]]:
    """Yield every value of every slice column, and the positions of its rows."""
    for name, slices in candidate.slices.items():
        for code in np.unique(slices.codes):
            yield {"slice": name, "slice_value": slices.values[code]}, np.flatnonzero(slices.codes == code)


def _row(column: ScoreColumn, groups: Any, params: Aggregate) -> Row:
    """Estimate one column over the given rows."""
    measured = ~np.isnan(column.values)
    scores, clusters = column, groups
    if not measured.all():
        positions = np.flatnonzero(measured)
        scores, clusters = column.rows(positions), None if groups is None else groups[positions]
    estimate = estimates.estimate(scores, clusters, params.confidence, guarantee=params.guarantee)
    low, high = column.facts.bounds or (None, None)
    n, not_asked = int(measured.sum()), int(column.not_asked.sum())
    failed = int((~measured & ~column.not_asked).sum())
    return {
        "metric": column.name,
        **{name: _finite(getattr(estimate, name)) for name in ("value", "low", "high")},
        "method": estimate.method,
        "rows": len(measured),
        "n": n,
        "n_not_asked": not_asked,
        "n_failed": failed,
        "worst": _with_failed(estimate.value, n, low, failed, min),
        "best": _with_failed(estimate.value, n, high, failed, max),
        "lower_bound": low,
        "upper_bound": high,
        "failed_share": failed / (n + failed) if n + failed else 0.0,
        "signature": column.facts.signature,
        **_pass_rate(scores, clusters, params),
    }


def _with_failed(
    value: float, n: int, score: float | None, failed: int, outermost: Callable[[float, float], float]
) -> float | None:
    """The value if every failed row had the score `score`; None without asked rows, or without bounds."""
    if n == 0:
        return score if failed else None
    if failed == 0:
        return _finite(value)
    return None if score is None else outermost(value, (value * n + score * failed) / (n + failed))


def _pass_rate(column: ScoreColumn, clusters: Any, params: Aggregate) -> Row:
    if column.passed is None:
        return {}
    passed = column.passed.astype(np.float64)
    rate = estimates.mean(passed, clusters, (0.0, 1.0), params.confidence, guarantee=params.guarantee)
    return {
        "pass_value": _finite(rate.value),
        "pass_low": rate.low,
        "pass_high": rate.high,
        "threshold": column.facts.threshold,
        "rate_signature": column.facts.rate_signature,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


STAGE = Stage(
    params=Params,
    whole=lambda params, inputs: aggregate(inputs.tables, params, inputs.progress),
    expect=expect,
    counts=counts,
    advice=advice,
    check=check_measures,
)
