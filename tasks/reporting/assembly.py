"""Everything that the stage report writes, from the tables and documents of a version."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tasks.pipeline.files import to_json
from tasks.pipeline.tables import Parts
from tasks.reporting import dvc_plots
from tasks.reporting.cards import look
from tasks.reporting.checks import stages
from tasks.reporting.content import Content
from tasks.reporting.explorer import explorer, room
from tasks.reporting.histograms import Distribution, distribution
from tasks.reporting.notable_rows import Answers, blank, choose, kinds, worth_reading
from tasks.reporting.page import render
from tasks.reporting.provenance import Price, provenance
from tasks.reporting.score_tables import FAMILIES, Metric, metrics, slices
from tasks.reporting.settings import Report
from tasks.reporting.trends import Series
from tasks.scores import leading
from tasks.scores.columns import ScoreColumn, score_columns
from tasks.scores.metrics_report import (
    METRICS,
    AgreementEntry,
    Candidates,
    MetricsReport,
    PredictionPowered,
    fitted_thresholds,
)

if TYPE_CHECKING:
    from tasks.ledger.verdicts import Paid

BINS = 20
"""Of each histogram."""
Table = tuple[Parts, list[ScoreColumn]]


def report_files(
    load: Parts,
    lexical: Parts,
    semantic: Parts,
    judge: Parts,
    aggregate: Parts,
    options: Report,
    *,
    documents: Mapping[str, Any],
    ledger: Iterable["Paid"] | None = None,
    prices: Mapping[str, Price] | None = None,
    comparison: Mapping[str, Any] | None = None,
    history: Sequence[Series] | None = None,
) -> dict[str, str]:
    """The page and the tables of `dvc plots`: path → text.

    documents: parsed JSON by path: reports/metrics.json and reports/validation/<stage>.json.
    ledger: what the verdicts of the judge took, None where they are not at hand. prices: of the judge, by model.
    comparison: what `python -m flows.compare` found of another version and this one; then the page shows it.
    history: past runs, as tasks.monitoring.series arranges them; then the page shows them.
    """
    estimates = aggregate.whole()
    candidates = sorted(set(load.whole(["candidate"])["candidate"].to_pylist()))
    document: MetricsReport = documents[METRICS]
    fitted = fitted_thresholds(document["thresholds"])
    tables = {
        name: (parts, sorted(score_columns(parts, fitted), key=lambda column: parts.schema.names.index(column.name)))
        for name, parts in zip(FAMILIES, (load, lexical, semantic, judge), strict=True)
    }
    families = {name: metrics(parts, columns, estimates, candidates) for name, (parts, columns) in tables.items()}
    every = [metric for family in families.values() for metric in family]
    found = stages(documents)
    answers = _answers(tables, families)
    notable = kinds(answers)
    drawn, not_drawn = _distributions(every, tables)
    gated = [metric for metric in every if metric.gated and metric.rows]
    ranked = sorted(gated, key=lambda metric: leading.rank(metric.name))
    content = Content(
        candidates=candidates,
        lead=next(iter(ranked), None),
        families={FAMILIES[name]: family for name, family in families.items() if family},
        drawn=drawn,
        not_drawn=not_drawn,
        slices=slices(estimates, ranked, options.slice_values),
        small_n=options.small_n,
        look=look(
            choose(notable, answers, options.rows_to_look_at), notable, answers, [*tables.values()], options.max_chars
        ),
        stages=found,
        **_as_measured(document),
        comparison=comparison,
        history=history,
        explorer=None,
        provenance=provenance(found, every, ledger, prices or {}),
        max_chars=options.max_chars,
    )
    page = render(content)
    packed = explorer(
        worth_reading(notable, answers, options.answers),
        notable,
        answers,
        tables,
        next((metric.name for metric in ranked if metric.name != "label"), None),
        options.max_chars,
        room(page),
    )
    return {
        "reports/index.html": render(content._replace(explorer=packed)) if packed else page,
        "reports/plots/scores.json": to_json(dvc_plots.scores(estimates)),
        "reports/plots/pass_rates.json": to_json(dvc_plots.pass_rates(estimates)),
        "reports/plots/distributions.json": to_json(dvc_plots.distributions(drawn)),
    }


def _distributions(every: Sequence[Metric], tables: Mapping[str, Table]) -> tuple[list[Distribution], dict[str, str]]:
    """The distributions, and the metrics that have none with the reason."""
    columns = {column.name: (parts, column) for parts, those in tables.values() for column in those}
    drawn, not_drawn = [], {}
    for metric in every:
        parts, column = columns[metric.name]
        found = distribution(column, _rows_by_candidate(parts), BINS)
        if found is not None:
            drawn.append(found)
        elif metric.rows:
            not_drawn[metric.name] = "only the lowest and the highest score occur; the table above says it all"
        else:
            not_drawn[metric.name] = f"not measured: {', '.join(sorted(set(metric.missing.values())))}"
    return drawn, not_drawn


def _rows_by_candidate(parts: Parts) -> dict[str, Any]:
    names = parts.whole(["candidate"])["candidate"].to_numpy(zero_copy_only=False)
    return {name: np.flatnonzero(names == name) for name in sorted(set(names))}


def _answers(tables: Mapping[str, Table], families: Mapping[str, Sequence[Metric]]) -> Answers:
    """The numbers of all answers, to find those worth a look."""
    load, from_load = tables["load"]
    keys = load.whole(["id", "candidate"])
    columns = [column for _, those in tables.values() for column in those]
    gated = [column for column in columns if column.passed is not None and column.name != "label"]
    label = next((column.values for column in from_load if column.name == "label"), np.full(load.rows, np.nan))
    semantic = {metric.name for metric in families["semantic"]}
    usable = [column for column in gated if not np.isnan(column.values).all()]
    lead = next((column for column in usable if column.name in semantic), usable[0] if usable else None)
    return Answers(keys["id"], keys["candidate"], label, gated, blank(load), lead)


def _as_measured(document: MetricsReport) -> dict[str, Any]:
    """What the page takes from reports/metrics.json."""
    return {
        "dataset": document["dataset"],
        "confidence": document["confidence"],
        "agreement": _agreement(document["candidates"]),
        "thresholds": document["thresholds"],
        "powered": _powered(document["candidates"]),
        "correlations": document["correlations"],
        "compared": document["comparisons"],
        "joint": document["joint_confidence"],
    }


def _agreement(candidates: Candidates) -> dict[str, dict[str, AgreementEntry]]:
    """Candidate → metric → agreement with people, the best first; candidates without labels are left out."""
    found = {
        name: {metric: entry["agreement"] for metric, entry in by_metric.items() if "agreement" in entry}
        for name, by_metric in candidates.items()
    }
    return {
        name: dict(sorted(each.items(), key=lambda item: -(item[1]["accuracy"]["value"] or 0.0)))
        for name, each in found.items()
        if each
    }


def _powered(candidates: Candidates) -> dict[str, dict[str, PredictionPowered]]:
    """Metric → candidate → the estimate that a cheap score makes of few verdicts."""
    found: dict[str, dict[str, PredictionPowered]] = {}
    for name, by_metric in candidates.items():
        for metric, entry in by_metric.items():
            if "ppi" in entry:
                found.setdefault(metric, {})[name] = entry["ppi"]
    return found
