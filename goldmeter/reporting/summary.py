"""Summary of the last run for a terminal and as Markdown: the conclusion, all metrics, and warnings."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from goldmeter.console import markdown
from goldmeter.console.format import NONE, abridged_apart, counted, cut, listed, number, rate, rate_interval
from goldmeter.console.terminal import linked, plain, width_of
from goldmeter.errors import ParamsError
from goldmeter.estimates import metrics_report
from goldmeter.estimates.headline import as_headlined
from goldmeter.estimates.primary import VERDICT
from goldmeter.pipeline.files import read_json
from goldmeter.pipeline.yaml import load_yaml
from goldmeter.wording.conclusion import CandidateRate, Conclusion, compares_texts, conclude
from goldmeter.wording.evidence import (
    agreement_lines,
    graded,
    lost_votes,
    most_frequent_failures,
    panel,
    raters,
    recalibration,
    self_agreement,
    worst_slices,
)
from goldmeter.wording.preference import preference_section
from goldmeter.wording.repeated_answers import repeated_answers
from goldmeter.wording.resources import resource_lines
from goldmeter.wording.suspects import if_references_are_wrong, stale_corrections

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

REPORT = Path("reports/index.html")
VALIDATION = Path("reports/validation")
LOCK, STAGE = Path("dvc.lock"), "report"
OTHER_REPORT = f"{REPORT} is from another run: `dvc repro` updates it"
NO_RUN = "no numbers yet: `dvc repro` computes them"
# Numbers from SMALL up to LARGE have three decimals, so that they align; others have three significant digits.
SMALL, LARGE = 0.001, 10.0
MAX_NAME_CHARS = 40
# Width of the column of metric names at least.
MIN_METRIC_WIDTH = 8
# Reasons of rejections that are listed.
REASONS = 3
# Candidates whose rates stand below the conclusion.
RATES = 5
# Measures that are shown first.
MOST = 6


class MetricCell(NamedTuple):
    """A measure of a candidate: value with interval; measured: how many of its rows have a score."""

    text: str
    measured: int
    rows: int

    @property
    def counts(self) -> str:
        """The number of measured answers in words."""
        return f"n {self.measured:,}" if self.measured == self.rows else f"n {self.measured:,} of {self.rows:,}"


class Summary(NamedTuple):
    """The numbers of a run.

    conclusion: None if the run wrote no headlines. evidence: lines below it.
    cells: measure → candidate → cell; a metric's name stands for its pass rate, as in comparisons, and .value for its
    score. first: the measures to look at first. usual_counts: candidate → the counts that most of its metrics have.
    """

    conclusion: Conclusion | None
    evidence: list[str]
    cells: dict[str, dict[str, MetricCell]]
    first: list[str]
    usual_counts: dict[str, str]
    warnings: list[str]


def of_last_run(metrics: Path = Path(metrics_report.METRICS), validation: Path = VALIDATION) -> Summary | None:
    """Return the summary of the last run, or None if there was no run yet.

    Args:
        metrics: Path of metrics.json.
        validation: Folder of the validation reports.

    Raises:
        DataError: A file is not what the stages write.
    """
    if not metrics.exists():
        return None
    with metrics_report.reading(metrics) as document:
        return _summary(document, [*_failed_checks(validation)])


def show(out: "Console", *, reported: bool = False, every: bool = False) -> None:
    """Print the summary and the path of the report.

    Args:
        out: Where to print.
        reported: The report was just made from these numbers.
        every: Every measure, not only those to look at first.
    """
    summary = of_last_run()
    if summary is None:
        out.print(NO_RUN)
        return
    to_terminal(summary, out, every=every)
    if REPORT.exists():
        out.print(plain("report: ") + linked(REPORT, out) if reported or _is_reported() else OTHER_REPORT)


def to_terminal(summary: Summary, out: "Console", *, every: bool = False) -> None:
    """Print the summary within the width of the terminal, in several tables if there are many candidates.

    Args:
        summary: What to print.
        out: Where.
        every: Every measure, not only those to look at first.
    """
    if summary.conclusion:
        out.print(plain(summary.conclusion.sentence), style="bold")
        if summary.conclusion.more:
            out.print(plain(summary.conclusion.more))
        out.print(_rates(summary.conclusion.rates[:RATES]))
        for line in summary.evidence:
            out.print(plain(line))
        out.print()
    left = 0 if every else len(summary.cells) - len(summary.first)
    shown = summary if every else summary._replace(cells={name: summary.cells[name] for name in summary.first})
    for table in _tables(shown, out):
        out.print(table, "")
    if left:
        out.print(plain(f"{_what_decides(summary)}{left} more: python -m tasks summary --all"), "")
    for warning in summary.warnings:
        out.print(plain(f"! {warning}"), style="yellow")


def to_markdown(summary: Summary) -> str:
    """Return the summary as Markdown, for Prefect and pull requests."""
    return "\n".join(_markdown(summary)) + "\n"


def _is_reported() -> bool:
    """Return whether the report was made from the current metrics.json; also True if dvc.lock does not say."""
    try:
        deps = load_yaml(LOCK)["stages"][STAGE]["deps"]
        recorded = next(dep["md5"] for dep in deps if dep["path"] == metrics_report.METRICS)
    except (FileNotFoundError, ParamsError, LookupError, TypeError, StopIteration):
        return True
    return bool(recorded == hashlib.md5(Path(metrics_report.METRICS).read_bytes(), usedforsecurity=False).hexdigest())


def _summary(document: metrics_report.MetricsReport, failed_checks: Sequence[str]) -> Summary:
    candidates = document["candidates"]
    headlines = document.get("headlines", {})
    metrics = [metric for metric, entries in _by_metric(candidates).items() if not _not_asked(entries)]
    shown = [measure for metric in metrics for measure in _measures(metric, candidates, headlines)]
    cells = {measure.name: measure.cells for measure in shown}
    conclusion = conclude(document)
    return Summary(
        conclusion,
        [*_evidence(conclusion, document)],
        cells,
        _first(shown, conclusion.measure if conclusion else ""),
        {name: _usual_counts([row[name] for row in cells.values() if name in row]) for name in candidates},
        [*failed_checks, *lost_votes(document), *_unmeasured(candidates), *_rejected(document["dataset"])],
    )


def _what_decides(summary: Summary) -> str:
    """Say that the other measures compare wording only; empty if none of those that are shown first does."""
    if summary.conclusion is None or not any(map(compares_texts, summary.first[1:])):
        return ""
    return f"Only {summary.conclusion.measure} decides; others compare wording. "


def _evidence(conclusion: Conclusion | None, document: metrics_report.MetricsReport) -> Iterator[str]:
    """Yield what stands below the conclusion, a line each."""
    if conclusion is None:
        return
    if conclusion.reason:
        yield conclusion.reason
    if weighting := document.get("weighting"):
        shares = listed([f"{value} {rate(share)}" for value, share in weighting.get("shares", {}).items()])
        column = f"{weighting['column']}{f': {shares}' if shares else ''}"
        yield f"By {weighting['option']}, {column}; the metrics below are of the rows as they are"
    short = _short(name for target in conclusion.targets for names in target.verdicts.values() for name in names)
    for target in conclusion.targets:
        verdicts = (f"{says}: {listed([short[name] for name in names])}" for says, names in target.verdicts.items())
        yield f"Target {target.text}: {'; '.join(verdicts)}"
    if repeated := repeated_answers(document, [*document["candidates"]]):
        yield from (f"{name}: {sentence}" for name, sentence in repeated.sentences.items())
        by_error = sorted(repeated.spreads.items(), key=lambda item: -item[1]["error"])
        yield from [f"{name}: {spread['advice']}" for name, spread in by_error[:1]]
    if preferred := preference_section(document):
        yield from [preferred.sentence, *preferred.lines]
    worst = worst_slices(document)
    if conclusion.is_known and worst.are_significant:
        yield f"Worst slice: {worst.lines[0]}"
    if kinds := most_frequent_failures(document):
        yield f"{conclusion.failures_title}: {kinds}"
    suspects = [if_references_are_wrong(document)] if "suspects" in document else []
    yield from (f"{says} The page lists them: Rows to look at, References to look at first." for says in suspects)
    if not conclusion.reason:
        yield from agreement_lines(document)[:1]
        yield from raters(document)
        yield from recalibration(document)
    yield from (*panel(document), *graded(document), *self_agreement(document), *_left_out(document["candidates"]))
    yield from resource_lines(document, _short([*document["candidates"]][:RATES]))


def _left_out(candidates: metrics_report.Candidates) -> list[str]:
    """The metrics without a measured row, by design, in one line."""
    names = [metric for metric, entries in _by_metric(candidates).items() if _not_asked(entries)]
    return [f"Not asked: {listed(names)}"] if names else []


def _by_metric(candidates: metrics_report.Candidates) -> dict[str, list[metrics_report.MetricEntry]]:
    found: dict[str, list[metrics_report.MetricEntry]] = {}
    for values in candidates.values():
        for metric, entry in values.items():
            found.setdefault(metric, []).append(entry)
    return found


def _not_asked(entries: Sequence[metrics_report.MetricEntry]) -> bool:
    """Whether no row was measured, by design."""
    return not any(entry["n"] or entry["n_failed"] for entry in entries)


class _Measure(NamedTuple):
    """A pass rate or a score of each candidate, as numbers and as they are shown."""

    name: str
    limited: list[metrics_report.Limited]
    cells: dict[str, MetricCell]


def _measures(
    metric: str, candidates: metrics_report.Candidates, headlines: Mapping[str, metrics_report.HeadlineEntry]
) -> Iterator[_Measure]:
    """Yield the pass rate of a metric, and its score, unless that is the same."""
    entries = {name: values[metric] for name, values in candidates.items() if metric in values}
    rates = {
        name: as_headlined(headlines, name, metric, entry["pass_rate"])
        for name, entry in entries.items()
        if entry.get("pass_rate")
    }
    if rates:
        cells = {name: _cell(entries[name], rate_interval(*_three(one))) for name, one in rates.items()}
        yield _Measure(metric, [*rates.values()], cells)
    is_score = any(entry.get("pass_rate", {}).get("value") != entry["value"] for entry in entries.values())
    if not rates or is_score:
        scores = {name: as_headlined(headlines, name, f"{metric}.value", entry) for name, entry in entries.items()}
        cells = {name: _cell(entries[name], _interval(*_three(one))) for name, one in scores.items()}
        yield _Measure(f"{metric}.value", [*scores.values()], cells)


def _first(measures: Sequence[_Measure], primary: str) -> list[str]:
    """The names of the measures to look at first: the primary one, the judge's, then where candidates differ most.

    None is like another, and of a metric that has a pass rate and a mean there is one.
    """
    order = sorted(measures, key=lambda one: -_spread(one.limited))
    start = sorted((one for one in order if one.name in {primary, f"{primary}.value"}), key=lambda one: one.name)[:1]
    start += [one for one in order if one.name == VERDICT]
    first: dict[str, _Measure] = {}
    for one in [*start, *order]:
        metric = one.name.removesuffix(".value")
        if metric not in first and all(one.cells != other.cells for other in first.values()):
            first[metric] = one
    return [one.name for one in first.values()][:MOST]


def _spread(limited: Sequence[metrics_report.Limited]) -> float:
    """How far apart the candidates are, in widths of the widest interval; without limits 0."""
    values = [one["value"] for one in limited if one["value"] is not None]
    widths = [one["high"] - one["low"] for one in limited if one["low"] is not None and one["high"] is not None]
    return (max(values) - min(values)) / max(widths) if values and max(widths, default=0.0) > 0 else 0.0


def _three(limited: metrics_report.Limited) -> tuple[float | None, float | None, float | None]:
    return limited["value"], limited["low"], limited["high"]


def _cell(entry: metrics_report.MetricEntry, text: str) -> MetricCell:
    rows = entry["n"] + entry["n_not_asked"] + entry["n_failed"]
    return MetricCell(text, entry["n"], rows)


def _interval(value: float | None, low: float | None, high: float | None) -> str:
    """Format a value with its limits.

    >>> _interval(0.5, 0.25, 0.75), _interval(None, None, None), _interval(12.25, None, None)
    ('0.500 [0.250, 0.750]', '–', '12.2')
    >>> _interval(0.001, 0.0000402, 0.25)
    '0.001 [4.02e−05, 0.250]'
    """
    return _figure(value) + ("" if low is None or high is None else f" [{_figure(low)}, {_figure(high)}]")


def _figure(value: float | None) -> str:
    if value is None or abs(value) >= LARGE or 0 < abs(value) < SMALL:
        return number(value)
    return f"{value:.3f}".replace("-", "−")


def _usual_counts(cells: Sequence[MetricCell]) -> str:
    """Return the counts that most of a candidate's metrics have."""
    return Counter(cell.counts for cell in cells).most_common(1)[0][0]


def _failed_checks(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*.json")):
        if not read_json(path).get("success"):
            yield f"validation of the stage {path.stem} failed: {path}"


def _unmeasured(candidates: metrics_report.Candidates) -> Iterator[str]:
    """Yield how many answers of each candidate could not be measured, and by which metrics."""
    short = _short(candidates)
    for name, values in candidates.items():
        metrics: dict[tuple[int, int], list[str]] = {}
        for metric, entry in values.items():
            if entry["n_failed"]:
                metrics.setdefault((entry["n_failed"], entry["n"] + entry["n_failed"]), []).append(metric)
        for (failed, asked), names in metrics.items():
            yield f"{short[name]}: {failed:,} of {asked:,} answers could not be measured: {listed(names)}"


def _rejected(dataset: metrics_report.DatasetCounts) -> Iterator[str]:
    """Yield how many answers were rejected, and how many texts the embedding model read only in part."""
    if rejected := dataset["rejected"]:
        reasons = Counter(dataset["rejected_reasons"]).most_common()
        listing = listed([f"{cut(reason)} ({count:,})" for reason, count in reasons], REASONS)
        yield f"{rejected:,} of {rejected + dataset['rows']:,} answers rejected: {listing}; all in data/load_rejected"
    if left_out := dataset.get("left_out"):
        listing = listed([f"{cut(path)} ({count:,})" for path, count in left_out.items()], REASONS)
        records = counted(sum(left_out.values()), "record")
        yield f"{records} of joined files left out, which belong to no answer in the data: {listing}"
    if unanswered := dataset.get("unanswered"):
        listing = listed([f"{cut(name)} ({count:,})" for name, count in unanswered.items()], REASONS)
        yield f"questions without a record of a candidate, so its rates are over the rest: {listing}"
    if failed := dataset.get("failed_answers"):
        reasons = [(f"{cut(name)}: {cut(why)}", n) for name, whys in failed.items() for why, n in whys.items()]
        listing = listed([f"{reason} ({count:,})" for reason, count in reasons], REASONS)
        yield f"{counted(sum(n for _, n in reasons), 'question')} without an answer of the model: {listing}"
    if thoughts := dataset.get("thoughts"):
        listing = listed([f"{cut(name)} ({count:,})" for name, count in thoughts.items()], REASONS)
        yield f"answers scored without the thought before them (dataset.thoughts): {listing}"
    if conflicts := dataset.get("label_conflicts"):
        yield f"{counted(sum(conflicts.values()), 'answer has', 'answers have')} contradicting labels: as if none"
    if stale := dataset.get("stale_labels", 0):
        yield f"{counted(stale, 'label is', 'labels are')} of another answer (stale): as if there were none"
    if corrections := dataset.get("stale_corrections"):
        yield stale_corrections(corrections)
    if cut_texts := dataset["truncated_texts"]:
        longer = counted(cut_texts, "text is longer", "texts are longer")
        yield f"{longer} than the embedding model reads: only the beginning counts (embed.long)"


def _rates(rates: Sequence[CandidateRate]) -> "Table":
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for justify in ("left", "right", "left", "left"):
        table.add_column(justify=justify, overflow="fold")
    short = _short([one.candidate for one in rates])
    for one in rates:
        table.add_row(plain(f"  {short[one.candidate]}"), *map(plain, (one.value, one.limits, one.basis)))
    return table


def _tables(summary: Summary, out: "Console") -> list["Table"]:
    """Return the fewest tables that fit, with about the same number of candidates each."""
    names = [*summary.usual_counts]
    tables: list[Table] = []
    for count in range(1, len(names) + 1):
        size = ceil(len(names) / count)
        tables = [_table(summary, names[start : start + size]) for start in range(0, len(names), size)]
        if all(width_of(table, out) <= out.width for table in tables):
            return tables
    longest = max(map(len, summary.cells), default=0)
    for table in tables:  # with one candidate each: names of metrics are folded, numbers are not
        excess = max(0, width_of(table, out) - out.width)
        table.columns[0].max_width = max(MIN_METRIC_WIDTH, longest - excess)
    return tables


def _table(summary: Summary, names: Sequence[str]) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 0, 0, 1))
    table.add_column("metric", overflow="fold", vertical="top")
    short = _short(summary.usual_counts)
    for name in names:
        widest = max(len(row[name].text) for row in summary.cells.values() if name in row)
        head = plain(f"{short[name]}\n{summary.usual_counts[name]}")
        table.add_column(head, justify="right", overflow="fold", min_width=widest)
    for metric, cells in summary.cells.items():
        row = (_with_counts(cells.get(name), summary.usual_counts[name], "\n") for name in names)
        table.add_row(plain(metric), *map(plain, row))
    return table


def _with_counts(cell: MetricCell | None, usual_counts: str, separator: str) -> str:
    """Return the text of a cell, and its counts if they differ from the usual ones of the candidate."""
    if cell is None:
        return NONE
    return cell.text if cell.counts == usual_counts else f"{cell.text}{separator}{cell.counts}"


def card_to_markdown(conclusion: Conclusion, lines: Iterable[str]) -> str:
    """Return the conclusion, the rates and some lines below them as Markdown."""
    short = _short(one.candidate for one in conclusion.rates)
    rows = ([short[one.candidate], one.value, one.limits, one.basis] for one in conclusion.rates)
    return "\n".join(
        [
            f"**{markdown.escaped(conclusion.sentence)}**\n",
            *([f"{markdown.escaped(conclusion.more)}\n"] if conclusion.more else []),
            *markdown.table(["candidate", conclusion.measure, "interval", "by"], rows),
            "",
            *(f"- {markdown.escaped(line)}" for line in lines),
        ]
    )


def _markdown(summary: Summary) -> Iterator[str]:
    if summary.conclusion:
        yield card_to_markdown(summary.conclusion, summary.evidence)
        yield ""
    names, short = [*summary.usual_counts], _short(summary.usual_counts)
    heads = [f"{short[name]} ({summary.usual_counts[name]})" for name in names]
    yield from markdown.table(
        ["metric", *heads],
        (
            [metric, *(_with_counts(cells.get(name), summary.usual_counts[name], ", ") for name in names)]
            for metric, cells in summary.cells.items()
        ),
    )
    yield ""
    yield from (f"- {markdown.escaped(warning)}" for warning in summary.warnings)


def _short(names: Iterable[str]) -> dict[str, str]:
    """Names of candidates → the same on one line, shortened, but not to equal ones."""
    return {name: " ".join(text.split()) for name, text in abridged_apart(names, MAX_NAME_CHARS).items()}
