"""Assembly of the report: every file of the stage `report`, from the tables and documents of a version."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from tasks.comparison.document import ComparisonDocument, PairEntry, pairs_of_a_run
from tasks.comparison.release import source
from tasks.pipeline.files import to_json
from tasks.pipeline.run import Price
from tasks.pipeline.tables import Parts
from tasks.reporting import dvc_plots
from tasks.reporting.cards import card_groups
from tasks.reporting.checks import stage_checks
from tasks.reporting.conclusion import conclude
from tasks.reporting.content import Content
from tasks.reporting.draws import repeated_answers
from tasks.reporting.evidence import trust, worst_slices
from tasks.reporting.explorer import explorer, room
from tasks.reporting.fields import field_table
from tasks.reporting.histograms import Distribution, distribution
from tasks.reporting.notable_rows import Answers, Decisive, blank, choose, notable_kinds, worth_reading
from tasks.reporting.page import render
from tasks.reporting.provenance import provenance
from tasks.reporting.score_tables import FAMILIES, MetricScores, family_title, metrics, slices
from tasks.reporting.settings import Report
from tasks.reporting.trends import Series
from tasks.scores import failures
from tasks.scores.columns import ScoreColumn, score_columns, score_tables
from tasks.scores.metrics_report import METRICS, AgreementEntry, Candidates, MetricsReport, fitted_thresholds
from tasks.scores.order import primary_first
from tasks.scores.primary import MEANING_MATCH
from tasks.scores.verdict_source import VerdictSource

if TYPE_CHECKING:
    from tasks.ledger.entries import Usage

# Bins of a histogram.
BINS = 20
ScoreTable = tuple[Parts, list[ScoreColumn]]
Families = Mapping[str, Sequence[MetricScores]]


def report_files(
    parts: Mapping[str, Parts],
    options: Report,
    *,
    documents: Mapping[str, Any],
    usage: "Usage | None" = None,
    prices: Mapping[str, Price] | None = None,
    comparison: ComparisonDocument | None = None,
    history: Sequence[Series] | None = None,
    version: str | None = None,
) -> dict[str, str]:
    """Make the page and the tables of `dvc plots`.

    Args:
        parts: data/load, data/lexical, data/semantic, data/judge and data/aggregate by name.
        options: How much the page shows.
        documents: Path → parsed JSON: reports/metrics.json and reports/validation/<stage>.json.
        usage: What the verdicts in the tables took; None if the ledger is unavailable.
        prices: Model of the judge → its price.
        comparison: What `python -m flows.compare` found between another version and this one, if the page shows it.
        history: Past runs by schedule, from tasks.monitoring.series, if the page shows them.
        version: The commit of the tables, if it is known.

    Returns:
        Path → text.
    """
    estimates = parts["aggregate"].whole()
    measured: MetricsReport = documents[METRICS]
    present = sorted(set(parts["load"].whole(["candidate"])["candidate"].to_pylist()))
    candidates = [*measured["candidates"], *(name for name in present if name not in measured["candidates"])]
    tables = _tables(parts, fitted_thresholds(measured["thresholds"]))
    families = _primary_first(
        {name: metrics(*table, estimates, candidates) for name, table in tables.items()},
        measured["primary"]["measure"],
    )
    all_metrics = [metric for family in families.values() for metric in family]
    gated = [metric for metric in all_metrics if metric.gated and metric.rows]
    distributions, without_distribution = _distributions(all_metrics, tables, candidates)
    stages = stage_checks(documents)
    answers = _answers(tables, candidates, measured)
    kinds = notable_kinds(answers)
    chosen = choose(kinds, answers, options.rows_to_look_at)
    content = Content(
        measured=measured,
        conclusion=conclude(measured),
        worst_slices=worst_slices(measured),
        trust=trust(measured),
        version=version,
        candidates=candidates,
        agreement=_agreement(measured["candidates"]),
        candidate_pairs=_in_order(pairs_of_a_run(measured["comparisons"]), candidates),
        repeated=repeated_answers(measured, candidates),
        fields=field_table(tables["lexical"][0], candidates),
        lead=next(iter(gated), None),
        families={family_title(name): family for name, family in families.items() if family},
        distributions=distributions,
        without_distribution=without_distribution,
        slices=slices(estimates, gated, options.slice_values),
        small_n=options.small_n,
        card_groups=card_groups(chosen, kinds, answers, [*tables.values()], options.max_chars),
        stages=stages,
        comparison=comparison,
        history=history,
        explorer=None,
        provenance=provenance(stages, all_metrics, usage, prices or {}),
        max_chars=options.max_chars,
    )
    page = render(content)
    first = answers.closest.name if answers.closest else None
    rows = worth_reading(kinds, answers, options.answers)
    packed = explorer(rows, kinds, answers, tables, first, options.max_chars, room(page))
    return {
        "reports/index.html": render(content._replace(explorer=packed)) if packed else page,
        "reports/plots/scores.json": to_json(dvc_plots.intervals(estimates)),
        "reports/plots/pass_rates.json": to_json(dvc_plots.intervals(estimates, "pass_")),
        "reports/plots/distributions.json": to_json(dvc_plots.distributions(distributions)),
    }


def _tables(parts: Mapping[str, Parts], fitted: Mapping[str, float]) -> dict[str, ScoreTable]:
    """Return name → table with its score columns in the table's order; fitted: column → its fitted threshold."""
    return {
        name: (parts[name], [*score_columns(parts[name], fitted)])
        for name in dict.fromkeys([*FAMILIES, *score_tables(parts)])
    }


def _distributions(
    all_metrics: Sequence[MetricScores], tables: Mapping[str, ScoreTable], candidates: Sequence[str]
) -> tuple[list[Distribution], dict[str, str]]:
    """Return the distributions, and the metrics without one with the reason."""
    rows_by_table = {name: _rows_by_candidate(table, candidates) for name, (table, _) in tables.items()}
    columns = {column.name: (name, column) for name, (_, columns) in tables.items() for column in columns}
    distributions, without = [], {}
    for metric in all_metrics:
        name, column = columns[metric.name]
        scores = distribution(column, rows_by_table[name], BINS)
        if scores is not None:
            distributions.append(scores)
        elif metric.rows:
            without[metric.name] = "only the lowest and the highest score occur; the table above says everything"
        else:
            without[metric.name] = f"not measured: {', '.join(sorted(set(metric.missing.values())))}"
    return distributions, without


def _rows_by_candidate(table: Parts, candidates: Sequence[str]) -> dict[str, Any]:
    names = table.whole(["candidate"])["candidate"].to_numpy(zero_copy_only=False)
    return {name: np.flatnonzero(names == name) for name in candidates}


def _in_order(pairs: Sequence[PairEntry], candidates: Sequence[str]) -> list[PairEntry]:
    """The pairs of the first candidate first, then those of the second one."""
    place = {name: number for number, name in enumerate(candidates)}
    return sorted(pairs, key=lambda pair: sorted((place[pair["base"]], place[pair["head"]])))


def _primary_first(families: Families, primary: str) -> dict[str, list[MetricScores]]:
    """Put the primary measure first, and its family."""
    names = [metric.name for family in families.values() for metric in family]
    place = {name: number for number, name in enumerate(primary_first(names, primary))}
    ordered = [(name, sorted(family, key=lambda one: place[one.name])) for name, family in families.items()]
    return dict(sorted(ordered, key=lambda item: min((place[one.name] for one in item[1]), default=len(place))))


def _answers(tables: Mapping[str, ScoreTable], candidates: Sequence[str], measured: MetricsReport) -> Answers:
    """Return the numbers of all answers, from which the rows to look at are chosen."""
    load, load_columns = tables["load"]
    keys = load.whole(["id", "candidate"])
    every = [column for _, columns in tables.values() for column in columns]
    gated = [column for column in every if column.passed is not None and column.name != "label"]
    label = next((column.values for column in load_columns if column.name == "label"), np.full(load.rows, np.nan))
    usable = {column.name: column for column in gated if not np.isnan(column.values).all()}
    semantic = [column.name for column in tables["semantic"][1]]
    nearest = [*_by_kappa(measured["candidates"]), MEANING_MATCH, *semantic, *usable]
    closest = [usable[name] for name in dict.fromkeys(nearest) if name in usable]
    return Answers(
        ids=keys["id"],
        candidates=keys["candidate"],
        names=candidates,
        label=label,
        gated=gated,
        blank=blank(load),
        primary=_decisive(every, measured, load, tables["judge"][0]),
        closest=next(iter(closest), None),
        graded=next((column for column in closest if column.facts.has_graded_score), None),
    )


def _decisive(columns: Sequence[ScoreColumn], measured: MetricsReport, load: Parts, judge: Parts) -> Decisive | None:
    """The primary measure with the kind of failure of each answer; None if it has no pass rate."""
    column = failures.decisive(columns, measured["primary"]["measure"])
    if column is None:
        return None
    verdicts = next((each.facts.signature for each in columns if each.name == MEANING_MATCH), "")
    kinds = failures.kinds(load, judge, failures.wrong(column), offline=VerdictSource.of(verdicts).is_offline)
    return Decisive(column, source(column.name, column.facts.signature), kinds)


def _by_kappa(candidates: Candidates) -> list[str]:
    """The metrics by their agreement with human labels beyond chance, the highest mean kappa first."""
    kappas: dict[str, list[float]] = {}
    for entries in candidates.values():
        for name, entry in entries.items():
            if "agreement" in entry and (kappa := entry["agreement"]["kappa"]["value"]) is not None:
                kappas.setdefault(name, []).append(kappa)
    return sorted(kappas, key=lambda name: (-fmean(kappas[name]), name))


def _agreement(candidates: Candidates) -> dict[str, dict[str, AgreementEntry]]:
    """Return candidate → metric → agreement with the human labels, the highest first; only labelled candidates."""
    agreement = {}
    for name, by_metric in candidates.items():
        labelled = [(metric, entry["agreement"]) for metric, entry in by_metric.items() if "agreement" in entry]
        if labelled:
            agreement[name] = dict(sorted(labelled, key=lambda item: -(item[1]["accuracy"]["value"] or 0.0)))
    return agreement
