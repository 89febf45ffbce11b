"""The numbers of a run: the table of estimates, reports/metrics.json and reports/summary.json."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
from pydantic import ConfigDict, Field, field_validator

from goldmeter.comparison.gate import Gate
from goldmeter.estimates import (
    estimate_rows,
    failures,
    human_labels,
    judge_bias,
    judge_calibration,
    labelled_rate,
    metrics_report,
    panel_estimates,
    preferences,
    rater_agreement,
    repeated_answers,
    resources,
)
from goldmeter.estimates.column_facts import QUESTION, STOPPED, VALUE, is_stopped
from goldmeter.estimates.columns import STATED_PROBABILITY, Candidate, score_tables
from goldmeter.estimates.criterion_rates import rubrics
from goldmeter.estimates.dataset_counts import dataset_counts
from goldmeter.estimates.estimates import rounded
from goldmeter.estimates.headline import headlines, leaders, rates
from goldmeter.estimates.judge_calibration import Probabilities
from goldmeter.estimates.metrics_report import best_first, primary_first
from goldmeter.estimates.passes import Labelled, Passes
from goldmeter.estimates.primary import VERDICT, Primary, Reason, Targets, decided, primary
from goldmeter.estimates.score_parts import PartSums, ScoreParts, SecondSums
from goldmeter.estimates.signature import VerdictSource, sacrebleu_signatures
from goldmeter.estimates.sums import CandidateSums
from goldmeter.estimates.suspects import Reading, suspects, suspects_entry
from goldmeter.estimates.weighting import (
    Mix,
    Mixing,
    RowWeights,
    Weighted,
    add_weighted,
    weight_exponent,
    weighted,
    weighting_entry,
    weighting_of,
    with_plain,
)
from goldmeter.estimates.worst_slices import worst_slices
from goldmeter.pipeline.files import to_json
from goldmeter.pipeline.progress import Progress, quiet
from goldmeter.pipeline.settings import Section, Share
from goldmeter.pipeline.tables import Parts
from goldmeter.pipeline.workers import Crew
from goldmeter.statistics.correlation import ColumnProducts
from goldmeter.wording.comparison_document import PairEntry

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
    weighting = weighting_of(params.aggregate.chosen_mix, load)
    scores = tuple(tables[name] for name in score_tables(tables))
    parts = ScoreParts(load, scores, tables["judge"], weight_exponent(load))
    passes = Passes(parts, crew or Crew(), progress, confidence, guarantee=params.aggregate.guarantee)
    run = _Run(tables, params, passes, weighting)
    rows, votes = _rows(run)
    table = pa.Table.from_pylist([row | {"method": str(row["method"])} for row in rows], SCHEMA)
    document = _document(run, _entries(run, table, rows), scratch)
    document = _with_questions(document, run)
    document = _with_agreement(document, run, votes)
    document = _with_calibration(document, run)
    document = _with_suspects(_first_screen(document, run), run)
    yield {
        "aggregate": table,
        metrics_report.METRICS: to_json(document),
        "reports/summary.json": to_json(estimate_rows.summary(table, document.get("preference"))),
    }


@dataclass(frozen=True)
class _Run:
    """What the rows add up to; each pass over them is made once, when something needs it."""

    tables: Mapping[str, Parts]
    params: Params
    passes: Passes
    weighting: Mix | RowWeights | None

    @property
    def load(self) -> Parts:
        return self.tables["load"]

    @property
    def confidence(self) -> float:
        return self.passes.confidence

    @property
    def grouped(self) -> bool:
        return self.labelled.grouped

    @property
    def designed(self) -> bool:
        """Whether a design chose the labelled rows.

        More of them are then rows on which the judge is unsure: what is counted over labelled rows alone, such as
        agreement, would be that of difficult rows.
        """
        return bool(self.load.about.get("labels") == "designed")

    @cached_property
    def labelled(self) -> Labelled:
        return self.passes.labelled()

    @cached_property
    def thresholds(self) -> Mapping[str, metrics_report.ThresholdEntry]:
        return {} if self.designed else human_labels.thresholds(self.labelled.candidates, self.confidence)

    @cached_property
    def fitted(self) -> dict[str, float]:
        return metrics_report.fitted_thresholds(self.thresholds)

    @property
    def labels(self) -> list[Candidate]:
        """The labelled rows to measure agreement on; none if a design chose them."""
        return [] if self.designed else [one.with_fitted(self.fitted) for one in self.labelled.candidates]

    @cached_property
    def sums(self) -> PartSums:
        return self.passes.sums(self.fitted, grouped=self.grouped)

    @cached_property
    def selected(self) -> dict[str, metrics_report.SelectedLabels]:
        """The candidates whose labels are no random part of their rows, though params.yaml says so."""
        return labelled_rate.selected(self.labelled.candidates, self.sums.candidates.values())

    @cached_property
    def scored(self) -> list[CandidateSums]:
        return labelled_rate.without_random(self.sums.candidates.values(), self.selected)

    @cached_property
    def decides(self) -> Primary:
        return primary(self.params.gate.primary, self.scored, random=all(one.labels_random for one in self.scored))

    @cached_property
    def by(self) -> VerdictSource:
        """Who gave the verdicts."""
        signatures = [c.facts.signature for one in self.scored for c in one.columns if c.name == VERDICT]
        return VerdictSource.of(signatures[0] if signatures else "")

    @cached_property
    def second(self) -> SecondSums:
        return self.passes.second(self.sums, self.fitted, self.decides.name, grouped=self.grouped)

    @cached_property
    def whole(self) -> list[Candidate]:
        """All rows, in memory."""
        return self.passes.parts.whole(self.fitted)

    @cached_property
    def probable(self) -> judge_calibration.LabelledProbabilities | None:
        """The labelled rows with the probabilities that the verdicts come from, if there are any."""
        return self.passes.labelled_probabilities() if self.labelled.candidates and self.has_probabilities else None

    @property
    def has_probabilities(self) -> bool:
        """Whether the judge states probabilities: the offline one does, and others may."""
        return self.by.has_offline or STATED_PROBABILITY in self.tables["judge"].about

    @cached_property
    def recalibration(self) -> judge_calibration.Recalibration | None:
        return judge_calibration.recalibration(self.probable, self.confidence) if self.probable else None

    @property
    def stopped(self) -> metrics_report.StoppedEntry | None:
        """What a judge that may stop early states; None without one."""
        return self.tables["judge"].about.get(STOPPED)

    @cached_property
    def probabilities(self) -> Probabilities:
        return estimate_rows.probabilities_of(self.tables["judge"])

    @cached_property
    def repeated(self) -> Mapping[str, Mapping[str, metrics_report.SelfAgreementEntry]]:
        """How far a judge agrees with itself."""
        return rater_agreement.self_agreement_entries(
            self.load, self.tables["judge"], self.confidence, grouped=self.grouped
        )


def _rows(run: _Run) -> tuple[list[Row], panel_estimates.Stated]:
    """The rows of the table, and what is stated of a panel's votes."""
    guarantee = run.passes.guarantee
    rows = estimate_rows.with_stopped(
        [*estimate_rows.estimate_rows(run.scored, run.second, run.confidence, guarantee=guarantee)], run.stopped
    )
    if run.designed:
        rows = estimate_rows.with_designed(rows, run.whole, run.probabilities, run.confidence, guarantee=guarantee)
    rows, votes = panel_estimates.over_jurors(rows, run.tables["judge"], lambda: run.whole, run.confidence)
    return estimate_rows.with_stopped(
        rows, run.stopped
    ), votes  # jurors add no width: what they decide together is followed


def _entries(run: _Run, table: pa.Table, rows: list[Row]) -> metrics_report.Candidates:
    """The entries of the candidates: the table as a tree, with what labels, weights and draws add."""
    in_sample = cache(run.passes.in_sample) if run.by.has_offline else None
    entries = estimate_rows.with_labels(estimate_rows.tree(table), run.labels, run.fitted, run.confidence, in_sample)
    entries = estimate_rows.with_few(entries, run.scored, lambda: run.whole, lambda: run.probabilities, run.confidence)
    if run.weighting:
        add_weighted(entries, rows, run.scored, run.weighting, run.confidence, run.stopped)
        entries = rounded(entries)
    if QUESTION in run.load.schema.names:
        entries = _with_draws(entries, run.whole, run.params.aggregate)
    return entries


def _document(run: _Run, entries: metrics_report.Candidates, scratch: Path | None) -> metrics_report.MetricsReport:
    """The sections that every run has; scratch: as of `aggregate`."""
    load = run.load
    document: metrics_report.MetricsReport = {
        "schema": 1,
        "confidence": run.confidence,
        "joint_confidence": run.params.gate.confidence,
        "dataset": dataset_counts(run.sums.counts, load, run.tables["load_rejected"], run.tables["embed"]),
        "candidates": entries,
        "comparisons": _comparisons(run, scratch),
        "thresholds": {name: rounded(row) | {"learnt": row["learnt"]} for name, row in run.thresholds.items()},
        "correlations": _correlations(run.scored, run.sums.products, run.decides.name),
    }
    columns = {column.name: column.facts for one in run.scored for column in one.columns}
    if signatures := sacrebleu_signatures(columns, load):
        document["sacrebleu"] = signatures
    if run.weighting:
        document["weighting"] = weighting_entry(run.weighting)
    if run.labelled.left_out:
        document["dataset"]["labels_left_out"] = run.labelled.left_out
    return document


def _with_questions(document: metrics_report.MetricsReport, run: _Run) -> metrics_report.MetricsReport:
    """Add criteria of rubrics, classes, the candidates that a judge prefers, the k of pass@k, and resources."""
    tables, confidence = run.tables, run.confidence
    by_metric = {name: run.passes.criteria(name, grouped=run.grouped) for name in rubrics(tables["judge"])}
    if criteria := {name: entry for name, entry in by_metric.items() if entry["different"]}:
        document["criteria"] = rounded(criteria)
    if not is_stopped(run.load.about) and (classes := run.passes.classes(grouped=run.grouped)):
        document["classes"] = rounded(classes)
    if "preference" in tables and (
        preferred := preferences.entry(run.load, tables["preference"], confidence, run.passes.crew)
    ):
        document["preference"] = rounded(preferred)
    if QUESTION in run.load.schema.names:
        document["pass_at"] = [*run.params.aggregate.pass_at]
    if taken := resources.entries(run.load, confidence, grouped=run.grouped):
        document["resources"] = taken
    return document


def _with_agreement(
    document: metrics_report.MetricsReport, run: _Run, votes: panel_estimates.Stated
) -> metrics_report.MetricsReport:
    """Add how far raters or judges of a panel agree with each other, and a judge with grades of people and itself."""
    parts, confidence = run.passes.parts, run.confidence
    rated = {one.name: entry for one in run.labels if (entry := rater_agreement.raters_entry(one, confidence))}
    graded = {} if run.designed else rater_agreement.graded_entries(parts, run.scored, confidence, grouped=run.grouped)
    biases = {
        "judge_bias": judge_bias.judge_bias(run.labels, confidence),
        "length_bias": judge_bias.length_bias(run.labels, confidence),
        "reference_length_bias": judge_bias.length_bias(run.labels, confidence, of_references=True),
    }
    sections = {"raters": rated, "graded": graded, "self_agreement": run.repeated, **biases, **votes}
    found: Any = {name: rounded(section) for name, section in sections.items() if section}
    return {**document, **found}


def _with_calibration(document: metrics_report.MetricsReport, run: _Run) -> metrics_report.MetricsReport:
    """Add how far the judge's probabilities fit the labels."""
    if not run.has_probabilities:
        return document
    if run.recalibration:
        document["calibration"] = rounded(run.recalibration.entry)
    labelled = None if run.designed else run.probable
    if labelled and (groups := judge_calibration.reliability(labelled, run.confidence)):
        document["reliability"] = rounded(groups)
    return document


def _comparisons(run: _Run, scratch: Path | None) -> list[PairEntry]:
    """Compare every two candidates; the comparisons by the primary measure are one family of tests."""
    from goldmeter.comparison import candidate_pairs
    from goldmeter.comparison.blocks import Side, pairs_of_run
    from goldmeter.comparison.resources import without_guards

    if len(run.scored) < 2:  # noqa: PLR2004 (a pair)
        return []
    names, parts = [one.name for one in run.scored], run.passes.parts
    side = Side(
        parts.load, parts.scores, run.fitted, None, names, run.grouped, parts.weight_exponent, frozenset(run.selected)
    )
    pairs = pairs_of_run(side, scratch and scratch / "pairs")
    gate, pass_at = without_guards(run.params.gate, parts.load), run.params.aggregate.pass_at
    families = candidate_pairs.compare(
        pairs,
        gate,
        run.decides.name,
        pass_at,
        weighting=run.weighting,
        labels_where_both=run.decides.reason is Reason.SOME_LABELS,
    )
    return candidate_pairs.entries(families, pairs, rater_agreement.noise(run.repeated, run.tables["judge"]))


def _first_screen(document: metrics_report.MetricsReport, run: _Run) -> metrics_report.MetricsReport:
    """The sections that conclude from the numbers: headlines, who leads, targets, failures and worst slices."""
    confidence, entries = run.confidence, document["candidates"]
    scored, decides, by, weighting, params = run.scored, run.decides, run.by, run.weighting, run.params
    shown, own = headlines(decides, scored, entries, by, confidence), Weighted(scored, entries)
    if weighting:
        own = weighted(scored, entries, weighting)
        shown = with_plain(headlines(decides, *own, by, confidence), shown, entries, weighting)
    shown = {name: shown[name] for name in best_first(shown, higher_is_better=_more_is_better(scored, decides.name))}
    best = leaders(decides, shown, document["comparisons"])
    stopped, targets = run.stopped, {**params.report.targets}
    counted = [one for one in scored if not (one.labels_designed and decides.name == human_labels.LABEL)]
    if stopped:
        document["stopped"] = stopped
        if "target" in stopped:
            targets.setdefault(stopped["measure"], stopped["target"])
        # The intervals of failures and slices are those of a fixed number of rows.
        counted = [] if stopped["rows_left"] else counted
    shares = failures.frequencies(
        counted, decides.name, run.second.failures, confidence, guarantee=params.aggregate.guarantee
    )
    worst = worst_slices(counted, decides.name, confidence, by_judge=by.is_offline and decides.name == VERDICT)
    outside = {one.name: one.share_outside for one in scored if by.is_offline and one.judged is not None}
    limits = rates(decides, own.scored, shown, own.entries, by, confidence)
    for name, found in preferences.win_rates(document.get("preference")).items():
        limits.setdefault(name, {}).update(found)
    for name, statistics in resources.limits(document.get("resources", {})).items():
        limits.setdefault(name, {}).update(statistics)
    if run.selected:
        document["selected_labels"] = rounded(run.selected)
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
        "targets": decided(targets, limits),
        "failures": rounded(shares),
        "worst_slices": rounded(worst),
        "outside_domain": rounded(outside),
    }


def _with_suspects(document: metrics_report.MetricsReport, run: _Run) -> metrics_report.MetricsReport:
    """Add the references to look at first; human labels do not compare answers with references, the judge does."""
    parts, decides = run.passes.parts, run.decides
    gated = [column for one in run.scored for column in one.columns if column.facts.has_pass_rate and column.n_measured]
    wanted = VERDICT if decides.name == human_labels.LABEL else decides.name
    measure = wanted if any(column.name == wanted for column in gated) else None
    found = suspects(Reading((parts.load, *parts.scores), measure, run.fitted), run.passes.crew)
    return {**document, "suspects": rounded(suspects_entry(found, document, decides, measure))} if found else document


def _more_is_better(scored: Sequence[CandidateSums], measure: str) -> bool:
    """Whether more is better of a measure; of a pass rate it is."""
    name = measure.removesuffix(VALUE)
    facts = [one.facts for candidate in scored for one in candidate.columns if one.name == name]
    is_rate = name == measure and any(one.has_pass_rate for one in facts)
    return is_rate or not facts or facts[0].higher_is_better


def _with_draws(
    entries: metrics_report.Candidates, scored: Sequence[Candidate], params: Aggregate
) -> metrics_report.Candidates:
    """Add pass@k, pass^k and the variance split to the entries of candidates whose questions have several draws."""
    for candidate in scored:
        for column in candidate.columns:
            if candidate.labels_designed and column.name == human_labels.LABEL:
                continue
            if found := repeated_answers.entry(candidate, column, params.pass_at, params.confidence):
                entries[candidate.name][column.name].update(rounded(found))
    return entries


def _correlations(
    scored: Sequence[CandidateSums], products: ColumnProducts, measure: str
) -> metrics_report.Correlations:
    """Correlations between the metrics, over the rows of all candidates; measure: the primary one, which is first."""
    places = {column.name: i for i, column in enumerate(scored[0].columns)} if scored else {}
    measured = {name for one in scored for column in one.columns if column.n_measured for name in [column.name]}
    names = [name for name in primary_first(places, measure) if name in measured]
    chosen = np.array([places[name] for name in names], np.intp)
    values = products.correlations[np.ix_(chosen, chosen)]
    return {"metrics": names, "values": rounded(values.tolist())}
