"""What the page says of all answers of a run and which of them it shows, from two passes over the parts."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import pyarrow as pa

from goldmeter.estimates import failures
from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import details_column, score_columns, score_tables
from goldmeter.estimates.metrics_report import Candidates, MetricsReport, fitted_thresholds
from goldmeter.estimates.primary import VERDICT
from goldmeter.pipeline.tables import Parts
from goldmeter.pipeline.workers import Crew
from goldmeter.reporting.chosen_rows import ChosenRows, Gathering, gathered, rows_of_ids, whole_chars
from goldmeter.reporting.histograms import Bins, BinValues, Distribution, distribution, quartile_bins
from goldmeter.reporting.notable_rows import (
    LABEL,
    NO_SUSPECTS,
    Answers,
    Kind,
    PrimaryColumn,
    RunColumns,
    Suspect,
    Suspects,
    in_order,
    notable_kinds,
)
from goldmeter.reporting.score_tables import FAMILIES, Row, measured_rows
from goldmeter.reporting.settings import Report
from goldmeter.reporting.survey import (
    Missing,
    MissingScores,
    Survey,
    Wanted,
    extremes,
    in_turns,
    present_candidates,
    survey,
)
from goldmeter.wording.release import source
from goldmeter.wording.suspects import if_references_are_wrong, why_suspicious

# Table → column → its facts, in the order of the table.
Facts = Mapping[str, Mapping[str, ColumnFacts]]
Measured = Mapping[tuple[str, str], Row]


class RunSummary(NamedTuple):
    """All answers of a run in numbers, and those that the page shows.

    measured: as of `measured_rows`. distributions: column → its distribution, None if there is none to draw. kinds: the
    numbers of the kinds of notable rows that the run has, in the order of the page. kind_of: id with a card → place in
    `kinds` of the kind that chose it. rows: of the ids that the page shows; explored: how many of the first ids the row
    explorer may show.
    """

    run: RunColumns
    facts: Facts
    measured: Measured
    survey: Survey
    distributions: Mapping[str, Distribution | None]
    kinds: list[int]
    kind_of: dict[str, int]
    rows: ChosenRows
    explored: int

    @property
    def totals(self) -> list[int]:
        """The answers of each of `kinds`."""
        return [self.survey.totals[kind] for kind in self.kinds]

    def kinds_of(self, answers: Answers) -> list[Kind]:
        """Return the kinds of the run over some answers."""
        every = notable_kinds(answers)
        return [every[kind] for kind in self.kinds]


def summarize(
    parts: Mapping[str, Parts], estimates: pa.Table, report: MetricsReport, options: Report, crew: Crew
) -> RunSummary:
    """Read a run part by part.

    Args:
        parts: The tables by name.
        estimates: data/aggregate.
        report: reports/metrics.json.
        options: How much the page shows.
        crew: The processes that read the parts.
    """
    measured = measured_rows(estimates, report.get("headlines"))
    return summary_of(*_run(parts, measured, report, crew), measured, options, crew)


def summary_of(run: RunColumns, facts: Facts, measured: Measured, options: Report, crew: Crew) -> RunSummary:
    """Survey a run, choose the ids that are most worth reading, and gather their rows.

    First come the ids that the kinds of notable rows choose in turns, then those with the worst scores of the graded
    metric, then the others by a hash of the id. The order of rows does not matter: answers that are equally bad are
    ordered by id.
    """
    bins = _bins(run, facts, measured, crew)
    most = max(options.answers, options.rows_to_look_at)
    found = survey(crew, run, Wanted(bins, _missing(run, facts, measured), most))
    kinds = in_order(found.totals, by_failure=run.primary is not None)
    turns = in_turns([found.queues[kind] for kind in kinds], most)
    kind_of = dict([*turns.items()][: options.rows_to_look_at])
    ids = pa.array([*turns, *(name for name in found.others if name not in turns)], pa.string())[:most]
    answers = rows_of_ids(crew, run, ids).cumsum()
    explored = int((answers <= options.answers).sum())
    explored_rows = int(answers[explored - 1]) if explored else 0
    ids = ids[: max(explored, len(kind_of))]
    quartiles = {name: (bins[name], quartile_bins(counts)) for name, counts in found.counts.items()}
    whole = whole_chars(options.max_chars, explored_rows)
    rows = gathered(crew, run, Gathering(ids, len(kind_of), whole, options.max_chars, quartiles))
    return RunSummary(
        run=run,
        facts=facts,
        measured=measured,
        survey=found,
        distributions=_distributions(facts, bins, found, rows.scores, run.names),
        kinds=kinds,
        kind_of=kind_of,
        rows=rows.rows,
        explored=min(explored, rows.fitting),
    )


def _run(parts: Mapping[str, Parts], measured: Measured, report: MetricsReport, crew: Crew) -> tuple[RunColumns, Facts]:
    """Return what the parts are read with, and what their columns mean."""
    tables = {name: parts[name] for name in dict.fromkeys([*FAMILIES, *score_tables(parts)])}
    fitted = fitted_thresholds(report["thresholds"])
    columns = {name: [*score_columns(table, fitted, 0)] for name, table in tables.items()}
    every = [column for own in columns.values() for column in own]
    with_scores = {name for name, _ in measured}
    gated = {one.name: one for one in every if one.passed is not None and one.name != LABEL}
    usable = {name: column for name, column in gated.items() if name in with_scores}
    nearest = [*_by_kappa(report["candidates"]), VERDICT, *(one.name for one in columns["semantic"]), *usable]
    closest = [usable[name] for name in dict.fromkeys(nearest) if name in usable]
    column = failures.decisive(every, report["primary"]["measure"])
    primary = None
    if column is not None:
        primary = PrimaryColumn(column.name, source(column.name, column.facts.signature))
    run = RunColumns(
        tables,
        fitted,
        [*report["candidates"]],
        primary,
        next((one.name for one in closest), None),
        next((one.name for one in closest if one.facts.has_graded_score), None),
        _suspects(report),
    )
    others = [name for name in present_candidates(crew, run) if name not in report["candidates"]]
    facts = {name: {column.name: column.facts for column in own} for name, own in columns.items()}
    return run._replace(names=[*run.names, *others]), facts


def _suspects(report: MetricsReport) -> Suspects:
    found = report.get("suspects")
    if not found:
        return NO_SUSPECTS
    by_id = {one["id"]: Suspect(one["candidate"], why_suspicious(one, found["measure"])) for one in found["rows"]}
    return Suspects(if_references_are_wrong(report), by_id)


def _by_kappa(candidates: Candidates) -> list[str]:
    """The metrics by their agreement with human labels beyond chance, the highest mean kappa first."""
    kappas: dict[str, list[float]] = {}
    for entries in candidates.values():
        for name, entry in entries.items():
            if "agreement" in entry and (kappa := entry["agreement"]["kappa"]["value"]) is not None:
                kappas.setdefault(name, []).append(kappa)
    return sorted(kappas, key=lambda name: (-fmean(kappas[name]), name))


def _bins(run: RunColumns, facts: Facts, measured: Measured, crew: Crew) -> dict[str, Bins]:
    """Return the bins of each column with scores: over its bounds, or over its scores where these are unknown."""
    with_scores = {name for name, _ in measured}
    used = {name: one for own in facts.values() for name, one in own.items() if name in with_scores}
    ends = extremes(crew, run, [name for name, one in used.items() if one.bounds is None])
    return {name: Bins(*(one.bounds or ends[name])) for name, one in used.items()}


def _missing(run: RunColumns, facts: Facts, measured: Measured) -> Missing:
    """Return the metrics that lack a score of some candidates; labels need no reason."""
    missing: dict[str, Sequence[MissingScores]] = {}
    for table, own in facts.items():
        names = run.tables[table].schema.names
        without = {
            metric: [name for name in run.names if (metric, name) not in measured] for metric in own if metric != LABEL
        }
        missing[table] = [
            MissingScores(metric, details_column(names, metric, own[metric]), candidates)
            for metric, candidates in without.items()
            if candidates
        ]
    return missing


def _distributions(
    facts: Facts, bins: Mapping[str, Bins], found: Survey, near: Mapping[str, BinValues], names: Sequence[str]
) -> dict[str, Distribution | None]:
    every = {name: one for own in facts.values() for name, one in own.items()}
    return {
        name: distribution(name, every[name], bins[name], counts, near[name], names)
        for name, counts in found.counts.items()
    }
