"""Estimates: one row per (candidate, metric, slice column, slice value); the row of all rows has no slice."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, field_validator

from tasks.comparison.document import PairEntry
from tasks.comparison.gate import Gate
from tasks.comparison.named import check_measures
from tasks.metrics.base import NOT_SAMPLED, Floats
from tasks.pipeline.contract import Contract
from tasks.pipeline.files import to_json
from tasks.pipeline.progress import Progress, quiet
from tasks.pipeline.settings import Section, Share
from tasks.pipeline.stage import Stage
from tasks.pipeline.tables import Parts
from tasks.pipeline.workers import Crew
from tasks.scores import estimates, failures, human_labels, metrics_report, raters, repeated_answers
from tasks.scores.column_facts import VALUE
from tasks.scores.columns import QUESTION, Candidate, Mask, score_tables
from tasks.scores.dataset_counts import dataset_counts
from tasks.scores.estimate_entries import summary, tree
from tasks.scores.estimates import rounded
from tasks.scores.failures import FailureSums
from tasks.scores.headline import headlines, leaders, rates
from tasks.scores.mix import (
    Mix,
    Name,
    ShareOf,
    add_weighted,
    by_mix,
    check_mix,
    checked_shares,
    checked_values,
    mix_entry,
    mix_of,
    weighted_candidates,
    with_plain,
)
from tasks.scores.order import best_first, primary_first
from tasks.scores.passes import Passes
from tasks.scores.primary import MEANING_MATCH, Primary, primary
from tasks.scores.score_parts import ScoreParts, SecondSums
from tasks.scores.sums import CandidateSums, ColumnSums
from tasks.scores.targets import Targets, decided
from tasks.scores.verdict_source import VerdictSource
from tasks.scores.worst_slices import slice_bands, worst_slices

if TYPE_CHECKING:  # importing scipy takes half a second, and every stage reads this module's params
    from tasks.statistics import Estimate
    from tasks.statistics.correlation import PairSums

Found = TypeVar("Found")
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
    """Confidence of the intervals, share of rows that may be unmeasured, the k of pass@k, and shares of slices."""

    confidence: Annotated[float, Field(gt=0.5, lt=1)]
    guarantee: bool
    max_unmeasured: Share
    pass_at: tuple[Annotated[int, Field(ge=1, le=MOST_DRAWS)], ...]
    mix: Mapping[Name, Mapping[Name, ShareOf]] = {}

    @property
    def chosen_mix(self) -> Mix | None:
        """The mix; None without one."""
        return mix_of(self.mix)

    @field_validator("mix", mode="before")
    @classmethod
    def _values_as_text(cls, mix: Any) -> Any:
        return checked_values(mix)

    @field_validator("mix")
    @classmethod
    def _one_whole(cls, mix: Mapping[str, Mapping[str, float]]) -> Mapping[str, Mapping[str, float]]:
        return checked_shares(mix)

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
    tables: Mapping[str, Parts],
    params: Params,
    progress: Progress = quiet,
    crew: Crew | None = None,
    scratch: Path | None = None,
) -> Iterator[dict[str, pa.Table | str]]:
    """Estimate every metric of every candidate: value, interval, counts, pass rate; over all rows and per slice.

    The rows are read part by part: first those with labels, which thresholds are fitted to; then all are added up;
    then what depends on the totals; then the candidates are compared.

    Args:
        tables: data/load, data/load_rejected, data/embed, and the tables with scores.
        params: The sections of params.yaml.
        progress: Shows the parts.
        crew: The processes among which parts are divided; None: this one.
        scratch: An empty folder for the rows that are compared; None: they are in memory.
    """
    load, confidence = tables["load"], params.aggregate.confidence
    scores = tuple(tables[name] for name in score_tables(tables))
    parts = ScoreParts(load, scores, tables["judge"])
    run = Passes(parts, crew or Crew(), progress, confidence, guarantee=params.aggregate.guarantee)
    labelled = run.labelled()
    # Of labels that a design chose, more are of rows on which the judge is unsure: what is counted over labelled rows
    # alone, such as agreement, would be that of difficult rows.
    designed = load.about.get("labels") == "designed"
    thresholds = {} if designed else human_labels.thresholds(labelled.candidates, confidence)
    fitted = metrics_report.fitted_thresholds(thresholds)
    labels = [] if designed else [candidate.with_fitted(fitted) for candidate in labelled.candidates]
    sums = run.sums(fitted, grouped=labelled.grouped)
    scored = [*sums.candidates.values()]
    decides = primary(params.gate.primary, scored, random=all(one.labels_random for one in scored))
    by = _judge(scored)
    second = run.second(sums, fitted, decides.name, grouped=labelled.grouped, offline=by.is_offline)
    whole = cache(lambda: run.parts.whole(fitted))
    rows = [*_rows(scored, second, params.aggregate)]
    if designed:
        rows = _with_designed(rows, whole(), tables["judge"], params.aggregate)
    table = pa.Table.from_pylist(rows, SCHEMA)
    entries = _with_labels(tree(table), labels, fitted, confidence, cache(run.in_sample) if by.has_offline else None)
    entries = _with_few(entries, scored, whole, tables["judge"], confidence)
    if mix := params.aggregate.chosen_mix:
        add_weighted(entries, rows, scored, mix, confidence)
        entries = rounded(entries)
    if QUESTION in load.schema.names:
        entries = _with_draws(entries, whole(), params.aggregate)
    document: metrics_report.MetricsReport = {
        "schema": 1,
        "confidence": confidence,
        "joint_confidence": params.gate.confidence,
        "dataset": dataset_counts(sums.counts, load, tables["load_rejected"], tables["embed"]),
        "candidates": entries,
        "comparisons": _comparisons(run, fitted, scored, decides, params, scratch, grouped=labelled.grouped),
        "thresholds": {name: rounded(row) | {"learnt": row["learnt"]} for name, row in thresholds.items()},
        "correlations": _correlations(scored, sums.pairs, decides.name),
    }
    if mix:
        document["mix"] = mix_entry(mix)
    if labelled.left_out:
        document["dataset"]["labels_left_out"] = labelled.left_out
    if QUESTION in load.schema.names:
        document["pass_at"] = [*params.aggregate.pass_at]
    if rated := {one.name: entry for one in labels if (entry := raters.entry(one, confidence))}:
        document["raters"] = rounded(rated)
    if by.has_offline and labels and (calibration := run.calibration(confidence)):
        document["calibration"] = rounded(calibration)
    document = _first_screen(document, decides, scored, by, second.failures, params)
    yield {
        "aggregate": table,
        metrics_report.METRICS: to_json(document),
        "reports/summary.json": to_json(summary(table)),
    }


def _comparisons(
    run: Passes,
    fitted: Mapping[str, float],
    scored: Sequence[CandidateSums],
    decides: Primary,
    params: Params,
    scratch: Path | None,
    *,
    grouped: bool,
) -> list[PairEntry]:
    """Compare every two candidates; the comparisons by the primary measure are one family of tests."""
    from tasks.comparison import candidate_pairs
    from tasks.comparison.run_blocks import pairs_of_run
    from tasks.comparison.version_blocks import Side

    if len(scored) < 2:  # noqa: PLR2004 (a pair)
        return []
    side = Side(run.parts.load, run.parts.scores, fitted, None, [one.name for one in scored], grouped)
    pairs = pairs_of_run(side, scratch and scratch / "pairs")
    families = candidate_pairs.compare(
        pairs, params.gate, decides.name, params.aggregate.pass_at, mix=params.aggregate.chosen_mix
    )
    return candidate_pairs.entries(families, pairs)


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


def _first_screen(
    document: metrics_report.MetricsReport,
    decides: Primary,
    scored: Sequence[CandidateSums],
    by: VerdictSource,
    found: Mapping[str, FailureSums],
    params: Params,
) -> metrics_report.MetricsReport:
    """The sections that conclude from the numbers: headlines, who leads, targets, failures and worst slices."""
    confidence, entries = params.aggregate.confidence, document["candidates"]
    shown, mixed, weighed = headlines(decides, scored, entries, by, confidence), entries, scored
    if mix := params.aggregate.chosen_mix:
        mixed, weighed = {name: by_mix(metrics) for name, metrics in entries.items()}, weighted_candidates(scored, mix)
        shown = with_plain(headlines(decides, weighed, mixed, by, confidence), shown, entries, mix)
    shown = {name: shown[name] for name in best_first(shown, higher_is_better=_more_is_better(scored, decides.name))}
    best = leaders(decides, shown, document["comparisons"])
    counted = [one for one in scored if not (one.labels_designed and decides.name == human_labels.LABEL)]
    shares = failures.frequencies(counted, decides.name, found, confidence, guarantee=params.aggregate.guarantee)
    worst = worst_slices(counted, decides.name, confidence, by_judge=by.is_offline and decides.name == MEANING_MATCH)
    outside = {one.name: one.share_outside for one in scored if by.is_offline and one.judged is not None}
    if by.is_cascade:
        document["by_offline_judge"] = rounded({one.name: one.share_by_offline for one in scored})
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
        "targets": decided(params.report.targets, rates(decides, weighed, shown, mixed, by, confidence)),
        "failures": rounded(shares),
        "worst_slices": rounded(worst),
        "slice_bands": rounded(slice_bands(counted, decides.name, confidence)),
        "outside_domain": rounded(outside),
    }


def _more_is_better(scored: Sequence[CandidateSums], measure: str) -> bool:
    """Whether more is better of a measure; of a pass rate it is."""
    name = measure.removesuffix(VALUE)
    facts = [one.facts for candidate in scored for one in candidate.columns if one.name == name]
    is_rate = name == measure and any(one.has_pass_rate for one in facts)
    return is_rate or not facts or facts[0].higher_is_better


def _judge(scored: Sequence[CandidateSums]) -> VerdictSource:
    """Who gave the verdicts."""
    signatures = [c.facts.signature for one in scored for c in one.columns if c.name == MEANING_MATCH]
    return VerdictSource.of(signatures[0] if signatures else "")


def _with_labels(
    tree: metrics_report.Candidates,
    labels: Sequence[Candidate],
    fitted: Mapping[str, float],
    confidence: float,
    in_sample: Callable[[], metrics_report.InSampleEntry | None] | None,
) -> metrics_report.Candidates:
    """Add to the entries their agreement with human labels; labels: the candidates' labelled rows.

    Metrics whose threshold was fitted on these labels are skipped: their agreement would be optimistic; `thresholds`
    holds a cross-validated figure. in_sample: returns what to say of the agreement of the offline judge.
    """
    for candidate in labels:
        for column in candidate.columns:
            if column.name in fitted or not (agreement := human_labels.agreement(candidate, column, confidence)):
                continue
            entry = tree[candidate.name][column.name]
            entry["agreement"] = rounded(agreement)
            if column.name == MEANING_MATCH and in_sample and (seen := in_sample()):
                entry["agreement"]["in_sample"] = rounded(seen)
    return tree


def _with_few(
    tree: metrics_report.Candidates,
    scored: Sequence[CandidateSums],
    whole: Callable[[], Sequence[Candidate]],
    judge: Parts,
    confidence: float,
) -> metrics_report.Candidates:
    """Add to the entries estimates from few labels or verdicts, and scores of all rows."""
    wanted = {
        (candidate.name, column.name)
        for candidate in scored
        for column in candidate.columns
        if (
            column.name == human_labels.LABEL
            and candidate.labels_random
            and (candidate.labels_designed or 0 < column.n_measured < column.n_rows)
        )
        or (column.facts.family == "judge" and column.n_measured and column.not_asked)
    }
    if not wanted:
        return tree
    offline, unsampled = _offline(judge)
    for candidate in whole():
        guesses, not_sampled = offline[candidate.positions], unsampled[candidate.positions]
        for column in candidate.columns:
            if (candidate.name, column.name) not in wanted:
                continue
            if column.name == human_labels.LABEL:
                ppi = human_labels.prediction_powered(candidate, guesses, confidence, random=candidate.labels_random)
            else:
                ppi = human_labels.prediction_powered_judge(candidate, column, guesses, not_sampled, confidence)
            if ppi:
                tree[candidate.name][column.name]["ppi"] = rounded(ppi)
    return tree


def _with_draws(
    tree: metrics_report.Candidates, scored: Sequence[Candidate], params: Aggregate
) -> metrics_report.Candidates:
    """Add pass@k, pass^k and the variance split to the entries of candidates whose questions have several draws."""
    for candidate in scored:
        for column in candidate.columns:
            if candidate.labels_designed and column.name == human_labels.LABEL:
                continue
            if found := repeated_answers.entry(candidate, column, params.pass_at, params.confidence):
                tree[candidate.name][column.name].update(rounded(found))
    return tree


def _offline(judge: Parts) -> tuple[Floats, Mask]:
    """The offline judge's probability of each row, and which rows are unmeasured because of sampling alone."""
    if "offline_match" not in judge.schema.names:
        return np.full(judge.rows, np.nan), np.zeros(judge.rows, dtype=np.bool_)
    rows = judge.whole(["offline_match", "judge_status"])
    unsampled = pc.equal(rows["judge_status"], NOT_SAMPLED).to_numpy(zero_copy_only=False)
    return rows["offline_match"].to_numpy(zero_copy_only=False), np.asarray(unsampled, dtype=np.bool_)


def _correlations(
    scored: Sequence[CandidateSums], pairs: "Mapping[tuple[int, int], PairSums]", measure: str
) -> metrics_report.Correlations:
    """Correlations between the metrics, over the rows of all candidates; measure: the primary one, which is first."""
    from tasks.statistics.correlation import correlation_matrix

    places = {column.name: i for i, column in enumerate(scored[0].columns)} if scored else {}
    measured = {name for one in scored for column in one.columns if column.n_measured for name in [column.name]}
    names = [name for name in primary_first(places, measure) if name in measured]
    values = correlation_matrix(pairs, [places[name] for name in names])
    return {"metrics": names, "values": rounded(values.tolist())}


def _rows(scored: Sequence[CandidateSums], second: SecondSums, params: Aggregate) -> Iterator[Row]:
    """Estimate every metric of every candidate, over all rows and over each slice."""
    for candidate in scored:
        for place, column in enumerate(candidate.columns):
            yield {"candidate": candidate.name} | _row(column, candidate.name, (None, None), second, params)
            for name, values in candidate.slices.items():
                for value, columns in values.items():
                    labels = {"candidate": candidate.name, "slice": name, "slice_value": value}
                    yield labels | _row(columns[place], candidate.name, (name, value), second, params)


def _with_designed(rows: Sequence[Row], whole: Sequence[Candidate], judge: Parts, params: Aggregate) -> list[Row]:
    """The rows with the estimates of human labels that a design chose, instead of the labels' plain means."""
    offline, _ = _offline(judge)
    known = {
        (candidate.name, name, value): estimate
        for candidate in whole
        for name, value, estimate in human_labels.designed_estimates(
            candidate, offline[candidate.positions], params.confidence
        )
    }
    guarantee = "; no guarantee" if params.guarantee else ""
    return [
        row | _designed(known[row["candidate"], row.get("slice"), row.get("slice_value")], guarantee)
        if row["metric"] == human_labels.LABEL
        else row
        for row in rows
    ]


def _designed(estimate: "Estimate", guarantee: str) -> Row:
    value = _finite(estimate.value)
    return {
        **dict.fromkeys(("value", "worst", "best", "pass_value"), value),
        "low": estimate.low,
        "high": estimate.high,
        "method": f"{estimate.method}{guarantee}",
        "pass_low": estimate.low,
        "pass_high": estimate.high,
    }


def _row(
    column: ColumnSums, candidate: str, where: tuple[str | None, str | None], second: SecondSums, params: Aggregate
) -> Row:
    """Estimate one column of a candidate over some rows, given their sums; where: slice column and value, if any."""
    place = (*where, column.name)
    estimate = estimates.estimate(
        column,
        second.replicates[candidate].get(place),
        params.confidence,
        deviations=second.deviations[candidate].get(place),
        guarantee=params.guarantee,
    )
    low, high = column.facts.bounds or (None, None)
    n, failed = column.n_measured, column.n_rows - column.n_measured - column.not_asked
    return {
        "metric": column.name,
        **{name: _finite(getattr(estimate, name)) for name in ("value", "low", "high")},
        "method": estimate.method,
        "rows": column.n_rows,
        "n": n,
        "n_not_asked": column.not_asked,
        "n_failed": failed,
        "worst": _with_failed(estimate.value, n, low, failed, min),
        "best": _with_failed(estimate.value, n, high, failed, max),
        "lower_bound": low,
        "upper_bound": high,
        "failed_share": failed / (n + failed) if n + failed else 0.0,
        "signature": column.facts.signature,
        **_pass_rate(column, params),
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


def _pass_rate(column: ColumnSums, params: Aggregate) -> Row:
    if column.passed is None:
        return {}
    rate = estimates.pass_rate(column, params.confidence, guarantee=params.guarantee)
    return {
        "pass_value": _finite(rate.value),
        "pass_low": rate.low,
        "pass_high": rate.high,
        "threshold": column.facts.threshold,
        "rate_signature": column.facts.rate_signature,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def _check(sections: Mapping[str, Any]) -> None:
    check_measures(sections)
    check_mix(sections)


STAGE = Stage(
    params=Params,
    whole=lambda params, inputs: aggregate(inputs.tables, params, inputs.progress, inputs.crew, inputs.scratch),
    expect=expect,
    counts=counts,
    advice=advice,
    check=_check,
    preload=("tasks.statistics.correlation", "tasks.statistics.corpus", "tasks.statistics.warm_up"),
)
