"""What answers took, in words: a table of the page, and a line for each candidate."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from numpy import format_float_positional

from goldmeter.console.format import SMALLEST_SHOWN, number
from goldmeter.estimates.metrics_report import Limited, MetricsReport, ResourceEntry, ResourceStatistic

# Kind → the title of its table.
TITLES = {"latency": "Latency, seconds", "tokens": "Tokens", "cost": "Cost, US dollars"}
# Kind → what stands behind a number of it.
UNITS = {"latency": " s", "tokens": "", "cost": " US$"}


class ResourceCell(NamedTuple):
    """A statistic in words. limits: those of its interval, as far as there are any."""

    value: str
    limits: str


class ResourceRow(NamedTuple):
    """What the answers of one candidate took. missing: answers without a number."""

    candidate: str
    p50: ResourceCell
    p95: ResourceCell
    mean: ResourceCell
    total: str
    n: int
    missing: int


class ResourceTable(NamedTuple):
    """One kind: its rows, the candidates in their order. notes: why limits are missing."""

    title: str
    rows: list[ResourceRow]
    notes: list[str]


def resource_tables(document: MetricsReport, candidates: Sequence[str]) -> list[ResourceTable]:
    """The tables of the page; none where the data say nothing of what answers took."""
    entries = document.get("resources", {})
    return [
        ResourceTable(
            title,
            [_row(name, entries[name][kind]) for name in candidates if kind in entries.get(name, {})],
            sorted({note for own in entries.values() if kind in own for note in _notes(own[kind])}),
        )
        for kind, title in TITLES.items()
        if any(kind in own for own in entries.values())
    ]


def resource_lines(document: MetricsReport, names: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each candidate with numbers; names: candidate → its name in the line."""
    entries = document.get("resources", {})
    for name, short in names.items():
        if own := entries.get(name):
            yield f"{short}: {'; '.join(_words(kind, entry) for kind, entry in own.items())}"


def _row(name: str, entry: ResourceEntry) -> ResourceRow:
    p50, p95, mean = (_cell(entry["p50"]), _cell(entry["p95"]), _cell(entry["mean"]))
    return ResourceRow(name, p50, p95, mean, _number(entry["total"]), entry["n"], entry["n_missing"])


def _cell(statistic: ResourceStatistic) -> ResourceCell:
    return ResourceCell(_number(statistic["value"]), _limits(statistic))


def _limits(limits: Limited) -> str:
    """The limits in words.

    >>> _limits({"value": 2.0, "low": 1.5, "high": 3.0}), _limits({"value": 2.0, "low": 1.5, "high": None})
    ('1.50 to 3.00', '1.50 or more')
    """
    low, high = limits["low"], limits["high"]
    if low is None and high is None:
        return "no interval"
    if high is None:
        return f"{_number(low)} or more"
    return f"{_number(high)} or less" if low is None else f"{_number(low)} to {_number(high)}"


def _notes(entry: ResourceEntry) -> Iterator[str]:
    """Why limits are missing, and what warnings say."""
    names = {"p50": "median", "p95": "95th percentile", "mean": "mean"}
    for key, name in names.items():
        reasons = "; ".join(entry[key]["notes"])  # type: ignore[literal-required]
        yield from [f"{name}: {reasons}"] if reasons else []


def _number(value: float | None) -> str:
    """Format with three significant digits; what a cheap answer costs without an exponent.

    >>> _number(0.0000882), _number(1.2345), _number(None)
    ('0.0000882', '1.23', '–')
    """
    if value is None or not 0.0 < value < SMALLEST_SHOWN:
        return number(value)
    return format_float_positional(value, precision=3, fractional=False)


def _words(kind: str, entry: ResourceEntry) -> str:
    """What one kind took: the median and the 95th percentile; of costs the mean and the total."""
    p50, p95, mean = (f"{_number(entry[key]['value'])}{UNITS[kind]}" for key in ("p50", "p95", "mean"))
    if kind == "cost":
        return f"{kind} {mean} on average, {_number(entry['total'])} in all"
    return f"{kind} {p50} (median), {p95} (95th percentile, {_limits(entry['p95'])})"
