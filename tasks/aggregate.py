"""Estimates: one row per (candidate, metric, slice column, slice value); the row of all rows has no slice."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ConfigDict, Field, field_validator

from tasks.comparison.gate import Gate
from tasks.comparison.measures import check_measures
from tasks.pipeline.contract import Contract
from tasks.pipeline.files import to_json
from tasks.pipeline.progress import Progress, quiet
from tasks.pipeline.settings import Section, Share
from tasks.pipeline.stage import Stage
from tasks.pipeline.tables import Parts
from tasks.pipeline.workers import Crew
from tasks.scores import (
    failures,
    human_labels,
    metrics_report,
    offline_calibration,
    panel_estimates,
    preferences,
    rater_agreement,
    repeated_answers,
    resources,
)
from tasks.scores.column_facts import VALUE
from tasks.scores.columns import QUESTION, Candidate, score_tables
from tasks.scores.criterion_rates import rubrics
from tasks.scores.dataset_counts import dataset_counts
from tasks.scores.estimate_rows import (
    estimate_rows,
    is_recalibrated,
    offline_probabilities,
    summary,
    tree,
    with_designed,
    with_few,
    with_labels,
)
from tasks.scores.estimates import rounded
from tasks.scores.failures import FailureSums
from tasks.scores.headline import headlines, leaders, rates
from tasks.scores.metrics_report import best_first, primary_first
from tasks.scores.passes import Passes
from tasks.scores.primary import VERDICT, Primary, primary
from tasks.scores.score_parts import ScoreParts
from tasks.scores.signature import VerdictSource
from tasks.scores.sums import CandidateSums
from tasks.scores.targets import Targets, decided
from tasks.scores.weighting import (
    Mixing,
    Weighted,
    Weighting,
    add_weighted,
    check_weighting,
    weight_exponent,
    weighted,
    weighting_entry,
    weighting_of,
    with_plain,
)
from tasks.scores.worst_slices import worst_slices
from tasks.wording.comparison_document import PairEntry

if TYPE_CHECKING:  # importing scipy takes half a second, and every stage reads this module's params
    from tasks.statistics.correlation import ColumnProducts

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


class Aggregate(Mixing):
    """Confidence of the intervals, share of rows that may be unmeasured, the k of pass@k, and shares of slices."""

    model_config = ConfigDict(extra="forbid")
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
        tables: data/load, data/load_rejected, data/embed, data/preference, and the tables with scores.
        params: The sections of params.yaml.
        progress: Shows the parts.
        crew: The processes among which parts are divided; None: this one.
        scratch: An empty folder for the rows that are compared; None: they are in memory.
    """
    load, confidence = tables["load"], params.aggregate.confidence
    scores = tuple(tables[name] for name in score_tables(tables))
    weighting = weighting_of(params.aggregate.chosen_mix, load)
    parts = ScoreParts(load, scores, tables["judge"], weight_exponent(load))
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
    second = run.second(sums, fitted, decides.name, grouped=labelled.grouped)
    whole = cache(lambda: run.parts.whole(fitted))
    guarantee, is_estimated = params.aggregate.guarantee, any(one.labels_random for one in scored)
    probable = run.labelled_probabilities() if labelled.candidates and (by.has_offline or is_estimated) else None
    recalibration = offline_calibration.recalibration(probable, confidence) if probable else None
    offline = cache(lambda: offline_probabilities(tables["judge"], recalibration))
    rows = [*estimate_rows(scored, second, confidence, guarantee=guarantee)]
    if designed:
        rows = with_designed(rows, whole(), offline(), confidence, guarantee=guarantee)
    rows, votes = panel_estimates.over_jurors(rows, tables["judge"], whole, confidence)
    table = pa.Table.from_pylist([row | {"method": str(row["method"])} for row in rows], SCHEMA)
    entries = with_labels(tree(table), labels, fitted, confidence, cache(run.in_sample) if by.has_offline else None)
    entries = with_few(entries, scored, whole, offline, confidence)
    if weighting:
        add_weighted(entries, rows, scored, weighting, confidence)
        entries = rounded(entries)
    if QUESTION in load.schema.names:
        entries = _with_draws(entries, whole(), params.aggregate)
    repeated = rater_agreement.self_agreement_entries(load, tables["judge"], confidence, grouped=labelled.grouped)
    noise = rater_agreement.noise(repeated, tables["judge"])
    document: metrics_report.MetricsReport = {
        "schema": 1,
        "confidence": confidence,
        "joint_confidence": params.gate.confidence,
        "dataset": dataset_counts(sums.counts, load, tables["load_rejected"], tables["embed"]),
        "candidates": entries,
        "comparisons": _comparisons(
            run, fitted, scored, decides, params, scratch, weighting, noise, grouped=labelled.grouped
        ),
        "thresholds": {name: rounded(row) | {"learnt": row["learnt"]} for name, row in thresholds.items()},
        "correlations": _correlations(scored, sums.products, decides.name),
    }
    if weighting:
        document["weighting"] = weighting_entry(weighting)
    document = _with_questions(document, run, tables, confidence, grouped=labelled.grouped)
    if labelled.left_out:
        document["dataset"]["labels_left_out"] = labelled.left_out
    if QUESTION in load.schema.names:
        document["pass_at"] = [*params.aggregate.pass_at]
    graded = {} if designed else rater_agreement.graded_entries(run.parts, scored, confidence, grouped=labelled.grouped)
    if taken := resources.entries(load, confidence, grouped=labelled.grouped):
        document["resources"] = taken
    document = _with_agreement(document, labels, graded, repeated, votes, confidence)
    document = _with_calibration(document, recalibration, None if designed else probable, by, confidence)
    document = _first_screen(document, decides, scored, by, second.failures, params, weighting)
    yield {
        "aggregate": table,
        metrics_report.METRICS: to_json(document),
        "reports/summary.json": to_json(summary(table, document.get("preference"))),
    }


def _with_questions(
    document: metrics_report.MetricsReport,
    run: Passes,
    tables: Mapping[str, Parts],
    confidence: float,
    *,
    grouped: bool,
) -> metrics_report.MetricsReport:
    """Add how often each criterion of a rubric is met, and which candidates a judge prefers."""
    by_metric = {name: run.criteria(name, grouped=grouped) for name in rubrics(tables["judge"])}
    if criteria := {name: entry for name, entry in by_metric.items() if entry["different"]}:
        document["criteria"] = rounded(criteria)
    if "preference" in tables and (
        preferred := preferences.entry(tables["load"], tables["preference"], confidence, run.crew)
    ):
        document["preference"] = rounded(preferred)
    return document


def _with_calibration(
    document: metrics_report.MetricsReport,
    recalibration: offline_calibration.Recalibration | None,
    labelled: offline_calibration.LabelledProbabilities | None,
    by: VerdictSource,
    confidence: float,
) -> metrics_report.MetricsReport:
    """Add how far the offline judge's probabilities fit the labels."""
    used = is_recalibrated(document["candidates"])
    if recalibration and (by.has_offline or used):
        document["calibration"] = rounded(recalibration.entry) | {"used": used}
    if labelled and by.has_offline and (groups := offline_calibration.reliability(labelled, confidence)):
        document["reliability"] = rounded(groups)
    return document


def _with_agreement(
    document: metrics_report.MetricsReport,
    labels: Sequence[Candidate],
    graded: metrics_report.GradedAgreement,
    repeated: Mapping[str, Mapping[str, metrics_report.SelfAgreementEntry]],
    votes: panel_estimates.Stated,
    confidence: float,
) -> metrics_report.MetricsReport:
    """Add how far raters or judges of a panel agree with each other, and a judge with grades of people and itself."""
    rated = {one.name: entry for one in labels if (entry := rater_agreement.raters_entry(one, confidence))}
    sections = {"raters": rated, "graded": graded, "self_agreement": repeated, **votes}
    found: Any = {name: rounded(section) for name, section in sections.items() if section}
    return {**document, **found}


def _comparisons(
    run: Passes,
    fitted: Mapping[str, float],
    scored: Sequence[CandidateSums],
    decides: Primary,
    params: Params,
    scratch: Path | None,
    weighting: Weighting | None,
    noise: Mapping[tuple[str, str], float],
    *,
    grouped: bool,
) -> list[PairEntry]:
    """Compare every two candidates; the comparisons by the primary measure are one family of tests."""
    from tasks.comparison import candidate_pairs
    from tasks.comparison.blocks import Side, pairs_of_run
    from tasks.comparison.resources import without_guards

    if len(scored) < 2:  # noqa: PLR2004 (a pair)
        return []
    names = [one.name for one in scored]
    side = Side(run.parts.load, run.parts.scores, fitted, None, names, grouped, run.parts.weight_exponent)
    pairs = pairs_of_run(side, scratch and scratch / "pairs")
    gate = without_guards(params.gate, run.parts.load)
    families = candidate_pairs.compare(pairs, gate, decides.name, params.aggregate.pass_at, weighting=weighting)
    return candidate_pairs.entries(families, pairs, noise)


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
    kinds: Mapping[str, FailureSums],
    params: Params,
    weighting: Weighting | None,
) -> metrics_report.MetricsReport:
    """The sections that conclude from the numbers: headlines, who leads, targets, failures and worst slices."""
    confidence, entries = params.aggregate.confidence, document["candidates"]
    shown, own = headlines(decides, scored, entries, by, confidence), Weighted(scored, entries)
    if weighting:
        own = weighted(scored, entries, weighting)
        shown = with_plain(headlines(decides, *own, by, confidence), shown, entries, weighting)
    shown = {name: shown[name] for name in best_first(shown, higher_is_better=_more_is_better(scored, decides.name))}
    best = leaders(decides, shown, document["comparisons"])
    counted = [one for one in scored if not (one.labels_designed and decides.name == human_labels.LABEL)]
    shares = failures.frequencies(counted, decides.name, kinds, confidence, guarantee=params.aggregate.guarantee)
    worst = worst_slices(counted, decides.name, confidence, by_judge=by.is_offline and decides.name == VERDICT)
    outside = {one.name: one.share_outside for one in scored if by.is_offline and one.judged is not None}
    limits = rates(decides, own.scored, shown, own.entries, by, confidence)
    for name, found in preferences.win_rates(document.get("preference")).items():
        limits.setdefault(name, {}).update(found)
    for name, statistics in resources.limits(document.get("resources", {})).items():
        limits.setdefault(name, {}).update(statistics)
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
        "targets": decided(params.report.targets, limits),
        "failures": rounded(shares),
        "worst_slices": rounded(worst),
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
    signatures = [c.facts.signature for one in scored for c in one.columns if c.name == VERDICT]
    return VerdictSource.of(signatures[0] if signatures else "")


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


def _correlations(
    scored: Sequence[CandidateSums], products: "ColumnProducts", measure: str
) -> metrics_report.Correlations:
    """Correlations between the metrics, over the rows of all candidates; measure: the primary one, which is first."""
    places = {column.name: i for i, column in enumerate(scored[0].columns)} if scored else {}
    measured = {name for one in scored for column in one.columns if column.n_measured for name in [column.name]}
    names = [name for name in primary_first(places, measure) if name in measured]
    chosen = np.array([places[name] for name in names], np.intp)
    values = products.correlations[np.ix_(chosen, chosen)]
    return {"metrics": names, "values": rounded(values.tolist())}


def _check(sections: Mapping[str, Any]) -> None:
    check_measures(sections)
    check_weighting(sections)


STAGE = Stage(
    params=Params,
    whole=lambda params, inputs: aggregate(inputs.tables, params, inputs.progress, inputs.crew, inputs.scratch),
    expect=expect,
    counts=counts,
    advice=advice,
    check=_check,
    preload=("tasks.statistics.correlation", "tasks.statistics.corpus"),
)
