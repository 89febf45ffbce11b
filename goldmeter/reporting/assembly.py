"""Assembly of the report: every file of the stage `report`, and the page of a version compared with others."""

import json
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa

from goldmeter.comparison.render import several_to_markdown, to_markdown
from goldmeter.errors import VersionError
from goldmeter.estimates.metrics_report import METRICS, AgreementEntry, Candidates, MetricsReport, primary_first
from goldmeter.ledger.entries import Usage
from goldmeter.ledger.verdicts import VerdictEvidence
from goldmeter.pipeline import params
from goldmeter.pipeline.dvc_yaml import LEDGER, stages
from goldmeter.pipeline.files import to_json
from goldmeter.pipeline.run import Price
from goldmeter.pipeline.tables import Parts
from goldmeter.pipeline.workers import Crew
from goldmeter.reporting.cards import CardGroup, card_groups
from goldmeter.reporting.explorer import explorer, packing_of, room
from goldmeter.reporting.histograms import Distribution
from goldmeter.reporting.page import ComparedVersions, Content, render
from goldmeter.reporting.provenance import provenance, stage_checks
from goldmeter.reporting.run_summary import RunSummary, summarize
from goldmeter.reporting.score_tables import MetricScores, family_title, metrics, slices
from goldmeter.reporting.settings import Report
from goldmeter.reporting.summary import card_to_markdown
from goldmeter.reporting.survey import field_tables
from goldmeter.reporting.trends import Series
from goldmeter.versions.version import Version
from goldmeter.wording.classes import class_sections
from goldmeter.wording.comparison_document import ComparisonDocument, PairEntry, pairs_of_a_run
from goldmeter.wording.conclusion import Conclusion, conclude
from goldmeter.wording.evidence import trust, worst_slices
from goldmeter.wording.first_screen import FirstScreen, first_screen
from goldmeter.wording.preference import preference_section
from goldmeter.wording.repeated_answers import repeated_answers
from goldmeter.wording.resources import resource_tables

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
    several: ComparedVersions | None = None,
    version: str | None = None,
    crew: Crew | None = None,
) -> dict[str, str]:
    """Make the page and the tables of `dvc plots`.

    Args:
        parts: data/load, data/lexical, data/semantic, data/judge and data/aggregate by name.
        options: How much the page shows.
        documents: Path → parsed JSON: reports/metrics.json and reports/validation/<stage>.json.
        usage: What the verdicts in the tables took; None if the ledger is unavailable.
        prices: Model of the judge → its price.
        comparison: What `python -m flows.compare` found between another version and this one, if the page shows it.
        history: Past runs by schedule, from goldmeter.history.series, if the page shows them.
        several: Three or more versions compared, or the runs of the history with this version, if the page shows them.
        version: The commit of the tables, if it is known.
        crew: The processes that read the parts; None: this one.

    Returns:
        Path → text.
    """
    estimates = parts["aggregate"].whole()
    measured: MetricsReport = documents[METRICS]
    summary = summarize(parts, estimates, measured, options, crew or Crew())
    candidates = summary.run.names
    families = _families(summary, measured)
    all_metrics = [metric for family in families.values() for metric in family]
    gated = [metric for metric in all_metrics if metric.gated and metric.rows]
    distributions, without_distribution = _distributions(all_metrics, summary)
    stages = stage_checks(documents)
    conclusion = conclude(measured)
    content = Content(
        measured=measured,
        conclusion=conclusion,
        first_screen=(screen := first_screen(measured, conclusion) if conclusion else None),
        card=_card(conclusion, screen, comparison, several),
        worst_slices=worst_slices(measured),
        trust=trust(measured),
        version=version,
        candidates=[*candidates],
        agreement=_agreement(measured["candidates"]),
        candidate_pairs=_in_order(pairs_of_a_run(measured["comparisons"]), candidates),
        repeated=repeated_answers(measured, candidates),
        fields=field_tables(summary.survey.fields, candidates),
        lead=next(iter(gated), None),
        families={family_title(name): family for name, family in families.items() if family},
        distributions=distributions,
        without_distribution=without_distribution,
        slices=slices(estimates, gated, options.slice_values),
        small_n=options.small_n,
        card_groups=_card_groups(summary, options.max_chars),
        stages=stages,
        comparison=comparison,
        history=history,
        explorer=None,
        provenance=provenance(stages, all_metrics, usage, prices or {}, measured.get("stopped")),
        max_chars=options.max_chars,
        preference=preference_section(measured),
        resources=resource_tables(measured, candidates),
        classes=class_sections(measured, candidates),
        several=several,
    )
    page = render(content)
    packed = explorer(packing_of(summary, options.max_chars), room(page))
    return {
        "reports/index.html": render(content._replace(explorer=packed)) if packed else page,
        "reports/plots/scores.json": to_json(interval_rows(estimates)),
        "reports/plots/pass_rates.json": to_json(interval_rows(estimates, "pass_")),
        "reports/plots/distributions.json": to_json(distribution_rows(distributions)),
    }


def _families(summary: RunSummary, measured: MetricsReport) -> dict[str, list[MetricScores]]:
    """The metrics of each family, the primary one first."""
    reasons, candidates = summary.survey.reasons, summary.run.names
    found = {name: metrics(facts, summary.measured, candidates, reasons) for name, facts in summary.facts.items()}
    return _primary_first(found, measured["primary"]["measure"])


def _card(
    conclusion: Conclusion | None,
    screen: FirstScreen | None,
    comparison: ComparisonDocument | None,
    several: ComparedVersions | None,
) -> str:
    """What the page says first, as Markdown."""
    if comparison:
        return to_markdown(comparison)
    if several:
        return several_to_markdown(several.document)
    return card_to_markdown(conclusion, screen.reasons) if conclusion and screen else ""


def _card_groups(summary: RunSummary, max_chars: int) -> list[CardGroup]:
    rows = summary.rows.first_ids(len(summary.kind_of))
    return card_groups(rows, summary.kind_of, summary.kinds_of(rows.answers(summary.run)), summary.totals, max_chars)


def _distributions(
    all_metrics: Sequence[MetricScores], summary: RunSummary
) -> tuple[list[Distribution], dict[str, str]]:
    """Return the distributions, and the metrics without one with the reason."""
    distributions, without = [], {}
    for metric in all_metrics:
        scores = summary.distributions.get(metric.name)
        if scores is not None:
            distributions.append(scores)
        elif metric.rows:
            without[metric.name] = "only the lowest and the highest score occur; the table above says everything"
        else:
            without[metric.name] = f"not measured: {', '.join(sorted(set(metric.missing.values())))}"
    return distributions, without


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


def _agreement(candidates: Candidates) -> dict[str, dict[str, AgreementEntry]]:
    """Return candidate → metric → agreement with the human labels, the highest first; only labelled candidates."""
    agreement = {}
    for name, by_metric in candidates.items():
        labelled = [(metric, entry["agreement"]) for metric, entry in by_metric.items() if "agreement" in entry]
        if labelled:
            agreement[name] = dict(sorted(labelled, key=lambda item: -(item[1]["accuracy"]["value"] or 0.0)))
    return agreement


Row = dict[str, Any]
# Decimals of every number.
DECIMALS = 6


def interval_rows(estimates: pa.Table, prefix: str = "") -> list[Row]:
    """Return one row per candidate and metric with its interval: the scores, or the pass rates with prefix `pass_`."""
    return [
        {"metric": row["metric"], "candidate": row["candidate"]}
        | {name: _rounded(row[f"{prefix}{name}"]) for name in ("value", "low", "high")}
        for row in estimates.to_pylist()
        if row["slice"] is None and row[f"{prefix}value"] is not None
    ]


def _rounded(number: float | None) -> float | None:
    """Round a number; one row with an unbounded score has a value without an interval."""
    return None if number is None else round(number, DECIMALS)


def distribution_rows(histograms: Sequence[Distribution]) -> list[Row]:
    """Return one row per candidate, metric and edge of a bin: the share of scores below the edge."""
    return [
        {
            "metric": scores.metric,
            "candidate": name,
            "score": round(float(edge), DECIMALS),
            "share below": round(share, DECIMALS),
        }
        for scores in histograms
        for name, shares in scores.shares.items()
        for edge, share in zip(scores.edges, [0.0, *accumulate(map(float, shares))], strict=True)
    ]


REPORT = "report"
PAGE = "reports/index.html"
# Characters of a commit's hash that are shown.
COMMIT_CHARS = 7


def write_page(
    head: Version,
    path: Path,
    *,
    comparison: ComparisonDocument | None = None,
    history: Sequence[Series] | None = None,
    several: ComparedVersions | None = None,
) -> None:
    """Write the page of a version by section `report` of params.yaml, with comparisons or past runs.

    Args:
        head: The version whose tables and documents the page shows.
        path: Where to write the page.
        comparison: Its comparison with another version, if the page shows it.
        history: Past runs by schedule, if the page shows them.
        several: Several versions compared, if the page shows them.

    Raises:
        VersionError: The version lacks a table or a document of the page.
    """
    stage = stages()[REPORT]
    sources = {source: head.path(source) for source in stage.documents_read}
    documents = {source: json.loads(file.read_text(encoding="utf-8")) for source, file in sources.items()}
    options = params.section(Report, params.raw(), REPORT)
    tables = {table: head.parts(table) for table in stage.tables_read}
    try:
        written = report_files(
            tables,
            options,
            documents=documents,
            usage=usage_of(head, str(stage.ledger_read)),
            prices=params.run_params().judge.prices,
            comparison=comparison,
            history=history,
            several=several,
            version=_named(head),
        )
    except KeyError as error:
        raise VersionError(
            f"{head.name}: its reports are of an older format, without {error}; `dvc repro` there updates them"
        ) from error
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written[PAGE], encoding="utf-8")


def _named(version: Version) -> str:
    """Return the name of a version, and its commit if the name does not say it."""
    commit = (version.commit or "")[:COMMIT_CHARS]
    return version.name if not commit or version.name.startswith(commit) else f"{version.name} ({commit})"


def usage_of(version: Version, kind: str) -> Usage | None:
    """Return what the verdicts of a version took; None if its evidence is unavailable, which the page then says."""
    folder = f"{LEDGER}{kind}"
    try:
        return VerdictEvidence(version.path(folder)).usage() if version.has(folder) else None
    except VersionError:
        return None
