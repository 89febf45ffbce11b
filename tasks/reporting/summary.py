"""The last run in short, on a terminal and as Markdown: the leading measure, every metric, what to know beside them."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tasks.comparison.wording import cut, listed
from tasks.console import markdown
from tasks.console.format import NONE, abridged, counted, level, number, percent
from tasks.console.terminal import console, plain, width_of
from tasks.errors import ParamsError
from tasks.pipeline.yaml import load_yaml
from tasks.scores import leading
from tasks.scores.metrics_report import METRICS, Candidates, DatasetCounts, Entry, MetricsReport, reading

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

REPORT = Path("reports/index.html")
VALIDATION = Path("reports/validation")
LOCK, REPORTING = Path("dvc.lock"), "report"
OTHER_REPORT = f"{REPORT} is of another run: `dvc repro` makes it anew"
NO_RUN = "no numbers yet: `dvc repro` makes them"
LARGE = 10.0
"""From here on three significant digits say enough; below, three decimals stand under one another."""
SMALL = 0.001
"""Below, three decimals say nothing, and three significant digits stand instead."""
LONGEST_NAME = 40
NARROWEST = 8
"""Columns that the names of metrics need at least."""
REASONS = 3
"""Reasons of rejections that are listed."""


class Cell(NamedTuple):
    """A metric of a candidate. measured: how many of its rows have a score."""

    text: str
    measured: int
    rows: int

    @property
    def counts(self) -> str:
        """How many answers the number stands for."""
        return f"n {self.measured:,}" if self.measured == self.rows else f"n {self.measured:,} of {self.rows:,}"


class Rate(NamedTuple):
    """The share of a candidate's answers that pass, in words."""

    candidate: str
    share: str
    answers: str


class Summary(NamedTuple):
    """lead: the measure nearest to what people say, and how often each candidate passes it.

    cells: metric → candidate → cell. usual: of each candidate the counts that most of its metrics have.
    """

    lead: str | None
    confidence: str
    rates: list[Rate]
    cells: dict[str, dict[str, Cell]]
    usual: dict[str, str]
    warnings: list[str]


def last(metrics: Path = Path(METRICS), validation: Path = VALIDATION) -> Summary | None:
    """What the last run found; None when there was none yet.

    Raises DataError when its files are not what the stages write.
    """
    if not metrics.exists():
        return None
    with reading(metrics) as document:
        return _summary(document, [*_failed_checks(validation)])


def show(*, reported: bool = False) -> None:
    """Print the summary, and where its report is; reported: the report was just made from these numbers."""
    out, found = console(), last()
    if found is None:
        out.print(NO_RUN)
        return
    to_terminal(found, out)
    if REPORT.exists():
        out.print(f"report: {REPORT}" if reported or _is_reported() else OTHER_REPORT)


def to_terminal(summary: Summary, out: "Console") -> None:
    """Print the summary as wide as the terminal is: candidates that have no room beside the others stand below them."""
    if summary.lead:
        out.print(plain(f"{summary.lead}: share of answers that pass, {summary.confidence} interval"), style="bold")
        out.print(_rates(summary), "")
    names = [*summary.usual]
    for each in _blocks(summary, names, out):
        out.print(each, "")
    for warning in summary.warnings:
        out.print(plain(f"! {warning}"), style="yellow")


def to_markdown(summary: Summary) -> str:
    """The same for Prefect and pull requests."""
    return "\n".join(_markdown(summary)) + "\n"


def _is_reported() -> bool:
    """Whether the report was made from the numbers that there are, unless dvc.lock can't say."""
    try:
        deps = load_yaml(LOCK)["stages"][REPORTING]["deps"]
        seen = next(dep["md5"] for dep in deps if dep["path"] == METRICS)
    except (FileNotFoundError, ParamsError, LookupError, TypeError, StopIteration):
        return True
    return bool(seen == hashlib.md5(Path(METRICS).read_bytes(), usedforsecurity=False).hexdigest())


def _summary(document: MetricsReport, checks: Sequence[str]) -> Summary:
    candidates = document["candidates"]
    metrics = dict.fromkeys(metric for values in candidates.values() for metric in values)
    cells = {
        metric: {name: _cell(values[metric]) for name, values in candidates.items() if metric in values}
        for metric in metrics
    }
    lead = _lead(candidates)
    return Summary(
        lead,
        level(document["confidence"]),
        [_rate(name, values[lead]) for name, values in candidates.items() if lead in values] if lead else [],
        cells,
        {name: _usual([row[name] for row in cells.values() if name in row]) for name in candidates},
        [*checks, *_unmeasured(candidates), *_lost(document["dataset"])],
    )


def _lead(candidates: Candidates) -> str | None:
    """The leading metric of those that have a pass rate."""
    measured = (
        metric
        for values in candidates.values()
        for metric, entry in values.items()
        if "pass_rate" in entry and entry["pass_rate"]["value"] is not None
    )
    return min(measured, key=leading.rank, default=None)


def _cell(entry: Entry) -> Cell:
    rows = entry["n"] + entry["n_not_asked"] + entry["n_failed"]
    return Cell(_interval(entry["value"], entry["low"], entry["high"]), entry["n"], rows)


def _interval(value: float | None, low: float | None, high: float | None) -> str:
    """A value with its limits.

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


def _rate(candidate: str, entry: Entry) -> Rate:
    rate = entry.get("pass_rate", {"value": None, "low": None, "high": None})
    limits = "" if rate["low"] is None else f" [{percent(rate['low'])}, {percent(rate['high'])}]"
    return Rate(_short(candidate), f"{percent(rate['value'])}{limits}", _cell(entry).counts)


def _usual(cells: Sequence[Cell]) -> str:
    """The counts that most of a candidate's metrics have."""
    return Counter(cell.counts for cell in cells).most_common(1)[0][0]


def _failed_checks(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*.json")):
        if not json.loads(path.read_text(encoding="utf-8"))["success"]:
            yield f"checks of the stage {path.stem} failed: {path}"


def _unmeasured(candidates: Candidates) -> Iterator[str]:
    """How many answers of each candidate could not be measured, and by what."""
    for name, values in candidates.items():
        metrics: dict[tuple[int, int], list[str]] = {}
        for metric, entry in values.items():
            if entry["n_failed"]:
                metrics.setdefault((entry["n_failed"], entry["n"] + entry["n_failed"]), []).append(metric)
        for (failed, asked), some in metrics.items():
            yield f"{_short(name)}: {failed:,} of {asked:,} answers could not be measured: {listed(some)}"


def _lost(dataset: DatasetCounts) -> Iterator[str]:
    """Answers that were rejected, and texts that were read in part."""
    if rejected := dataset["rejected"]:
        reasons = Counter(dataset["rejected_reasons"]).most_common()
        told = listed([f"{cut(reason)} ({count:,})" for reason, count in reasons], REASONS)
        yield f"{rejected:,} of {rejected + dataset['rows']:,} answers rejected: {told}; all in data/load_rejected"
    if cut_texts := dataset["truncated_texts"]:
        longer = counted(cut_texts, "text is longer", "texts are longer")
        yield f"{longer} than the embedding model reads: only the beginning counts (embed.long)"


def _rates(summary: Summary) -> "Table":
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for justify in ("left", "left", "right"):
        table.add_column(justify=justify, overflow="fold")
    for rate in summary.rates:
        table.add_row(plain(f"  {rate.candidate}"), *map(plain, rate[1:]))
    return table


def _blocks(summary: Summary, names: Sequence[str], out: "Console") -> Iterator["Table"]:
    """Tables of as many candidates each as there is room for, about the same number in all."""
    for least in range(1, len(names) + 1):
        size = ceil(len(names) / least)
        tables = [_table(summary, names[start : start + size]) for start in range(0, len(names), size)]
        too_wide = [table for table in tables if width_of(table, out) > out.width]
        if not too_wide or least == len(names):
            for table in too_wide:  # the numbers stay whole
                table.columns[0].max_width = max(
                    NARROWEST, max(map(len, summary.cells)) - width_of(table, out) + out.width
                )
            yield from tables
            return


def _table(summary: Summary, names: Sequence[str]) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 0, 0, 1))
    table.add_column("metric", overflow="fold", vertical="top")
    for name in names:
        least = max(len(row[name].text) for row in summary.cells.values() if name in row)
        head = plain(f"{_short(name)}\n{summary.usual[name]}")
        table.add_column(head, justify="right", overflow="fold", min_width=least)
    for metric, cells in summary.cells.items():
        row = (_with_counts(cells.get(name), summary.usual[name], "\n") for name in names)
        table.add_row(plain(metric), *map(plain, row))
    return table


def _with_counts(cell: Cell | None, usual: str, between: str) -> str:
    """The cell, and its counts where they are not those of the candidate's other metrics."""
    if cell is None:
        return NONE
    return cell.text if cell.counts == usual else f"{cell.text}{between}{cell.counts}"


def _markdown(summary: Summary) -> Iterator[str]:
    if summary.lead:
        yield f"**{markdown.escaped(summary.lead)}**: share of answers that pass, {summary.confidence} interval\n"
        yield from markdown.table(["candidate", "pass", "answers"], summary.rates)
        yield ""
    names = [*summary.usual]
    heads = [f"{_short(name)} ({summary.usual[name]})" for name in names]
    yield from markdown.table(
        ["metric", *heads],
        (
            [metric, *(_with_counts(cells.get(name), summary.usual[name], ", ") for name in names)]
            for metric, cells in summary.cells.items()
        ),
    )
    yield ""
    yield from (f"- {markdown.escaped(warning)}" for warning in summary.warnings)


def _short(name: str) -> str:
    return abridged(" ".join(name.split()), LONGEST_NAME)
