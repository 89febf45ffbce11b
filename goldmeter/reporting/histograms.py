"""Histograms of scores as inline SVG: one for each candidate, over the bounds of the metric."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.console.format import abridged, number, visible
from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.metrics.base import Floats
from goldmeter.reporting.drawing import Span, Tick, bottom_axis, element, left_axis, round_ticks, svg, text

# Bins of a histogram.
BINS = 20
# Parts of a bin: the scores of those in which a quartile lies are read again, some rows / 1,280.
NARROW = 64
# All narrow bins, and those below and above the bounds.
ALL_BINS = BINS * NARROW + 2
QUARTILES = (0.25, 0.5, 0.75)
# Size of one histogram, in pixels.
WIDTH, HEIGHT = 260, 44
# Space around the plots: left for the shares, right for half a number, below for the axis.
MARGINS = 38, 10, 0, 20
# Height of a candidate's name, space below a histogram, and what a candidate takes of the height.
TITLE, GUTTER = 18, 6
PITCH = TITLE + HEIGHT + GUTTER
# Characters of a candidate's name that fit above its histogram.
NAME_CHARS = 40
# Space on either side of a bar, as a share of its bin.
GAP = 0.06


class Distribution(NamedTuple):
    """The scores of a metric by bin: for each candidate, the shares of its measured rows.

    edges: shape (bins + 1,). shares: candidate → shape (bins,). description: the quartiles in words.
    """

    metric: str
    edges: Floats
    shares: dict[str, Floats]
    threshold: float | None
    description: str


@dataclass(frozen=True)
class Counts:
    """Scores by candidate and narrow bin.

    by_bin: shape (candidates, BINS * NARROW + 2); the first and the last bin are below and above the bounds.
    at_bounds: how many scores are one of the bounds.
    """

    by_bin: NDArray[np.int64]
    at_bounds: int

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.by_bin + other.by_bin, self.at_bounds + other.at_bounds)


class BinValues(NamedTuple):
    """Distinct scores of some narrow bins, n scores.

    cells: shape (n,), candidate * bins + bin, ascending. values: shape (n,), ascending in a cell. rows: shape (n,), how
    many rows have the score.
    """

    cells: NDArray[np.intp]
    values: Floats
    rows: NDArray[np.int64]


class Bins(NamedTuple):
    """The bins of a metric: BINS of equal width that are drawn, each divided into NARROW, in which quartiles lie."""

    low: float
    high: float

    @property
    def drawn(self) -> Floats:
        """The edges of the bins that are drawn; shape (BINS + 1,)."""
        return np.linspace(self.low, self.high, BINS + 1)

    def counts(self, values: Floats, codes: NDArray[np.intp], candidates: int) -> Counts:
        """Count scores; codes: the number of each row's candidate, shape (n,); NaN is no score."""
        cells, values = self._cells(values, codes)
        by_bin = np.bincount(cells, minlength=candidates * ALL_BINS).reshape(candidates, ALL_BINS)
        return Counts(by_bin, int(np.isin(values, [self.low, self.high]).sum()))

    def values(self, values: Floats, codes: NDArray[np.intp], wanted: NDArray[np.bool_]) -> BinValues:
        """Return the scores in the wanted bins; wanted: shape (candidates, ALL_BINS)."""
        cells, values = self._cells(values, codes)
        inside = wanted.reshape(-1)[cells]
        return _distinct(cells[inside], values[inside], np.ones(int(inside.sum()), np.int64))

    def _cells(self, values: Floats, codes: NDArray[np.intp]) -> tuple[NDArray[np.intp], Floats]:
        """Return the cell of each score, and the scores."""
        measured = ~np.isnan(values)
        scores, edges, bins = values[measured], self._edges, BINS * NARROW
        width = (self.high - self.low) / bins or 1.0
        bin_of = np.clip((scores - self.low) / width, 0, bins - 1).astype(np.intp)
        bin_of -= scores < edges[bin_of]
        bin_of += (scores >= edges[bin_of + 1]) & (scores != self.high)
        return codes[measured] * ALL_BINS + bin_of + 1, scores

    @property
    def _edges(self) -> Floats:
        """The edges of the narrow bins, those of the drawn ones among them; shape (BINS * NARROW + 1,)."""
        inner = [np.linspace(low, high, NARROW, endpoint=False) for low, high in pairwise(self.drawn)]
        return np.concatenate([*inner, [self.high]])


def quartile_bins(counts: Counts) -> NDArray[np.bool_]:
    """Return the narrow bins in which the quartiles of the candidates lie; shape (candidates, ALL_BINS)."""
    wanted = np.zeros_like(counts.by_bin, np.bool_)
    for bins, row in zip(wanted, counts.by_bin, strict=True):
        total = int(row.sum())
        bins[[_bin(row, rank) for quartile in QUARTILES if total for rank in _ranks(total, quartile)]] = True
    return wanted


def joined(found: Sequence[BinValues]) -> BinValues:
    """Join the scores of several parts."""
    cells, values, rows = (np.concatenate(columns) for columns in zip(*found, strict=True))
    return _distinct(cells, values, rows)


def distribution(
    metric: str, facts: ColumnFacts, bins: Bins, counts: Counts, values: BinValues, names: Sequence[str]
) -> Distribution | None:
    """Return the distribution of a metric.

    Args:
        metric: Its name.
        facts: What its scores mean.
        bins: Its bins.
        counts: Its scores by candidate and bin.
        values: The scores in `quartile_bins(counts)`.
        names: The candidates.

    Returns:
        The distribution, or None if no row is measured or every score is one of the bounds.
    """
    if counts.at_bounds == counts.by_bin.sum():
        return None
    measured = {name: number for number, name in enumerate(names) if counts.by_bin[number].any()}
    inside = counts.by_bin[:, 1:-1].reshape(len(names), BINS, NARROW).sum(2)
    return Distribution(
        metric,
        bins.drawn,
        {name: inside[number] / counts.by_bin[number].sum() for name, number in measured.items()},
        facts.threshold,
        "; ".join(_quartiles(name, counts.by_bin[number], number, values) for name, number in measured.items()),
    )


def _distinct(cells: NDArray[np.intp], values: Floats, rows: NDArray[np.int64]) -> BinValues:
    order = np.lexsort((values, cells))
    cells, values = cells[order], values[order]
    starts = np.flatnonzero(np.append(True, (np.diff(cells) != 0) | (np.diff(values) != 0))) if len(cells) else order
    return BinValues(cells[starts], values[starts], np.add.reduceat(rows[order], starts) if len(cells) else rows)


def _quartiles(name: str, counts: NDArray[np.int64], candidate: int, values: BinValues) -> str:
    total = int(counts.sum())
    low, middle, high = (
        number(_between([_value(counts, candidate, values, rank) for rank in _ranks(total, share)], total, share))
        for share in QUARTILES
    )
    return f"{name}: median {middle}, middle half {low} to {high}"


def _ranks(total: int, quartile: float) -> list[int]:
    """Return the ranks of the scores between which a quartile lies, from 0."""
    place = (total - 1) * quartile
    return [floor(place), ceil(place)]


def _between(scores: Sequence[float], total: int, quartile: float) -> float:
    """Interpolate between the scores of both ranks as numpy.quantile does by default."""
    return float(np.quantile(scores, (total - 1) * quartile % 1))


def _bin(counts: NDArray[np.int64], rank: int) -> int:
    return int(np.searchsorted(counts.cumsum(), rank, side="right"))


def _value(counts: NDArray[np.int64], candidate: int, values: BinValues, rank: int) -> float:
    """Return the score of a rank, from the distinct scores of its bin."""
    bin_of = _bin(counts, rank)
    start, stop = np.searchsorted(values.cells, [candidate * ALL_BINS + bin_of, candidate * ALL_BINS + bin_of + 1])
    inside = rank - int(counts[:bin_of].sum())
    place = int(np.searchsorted(values.rows[start:stop].cumsum(), inside, side="right"))
    return float(values.values[start + place])


def histogram(scores: Distribution, swatches: Mapping[str, str], address: Callable[..., str] | None = None) -> str:
    """Draw the distribution as an SVG with one row for each candidate.

    Args:
        scores: The distribution to draw.
        swatches: Candidate → its colour, in the order of the rows.
        address: metric, candidate, from, to → where the answers of a bar are; None: bars lead nowhere.

    Returns:
        The SVG. The style sheet of the page sets its colours.
    """
    across = Span(float(scores.edges[0]), float(scores.edges[-1]), 0.0, WIDTH)
    names = [name for name in swatches if name in scores.shares]
    share_ticks = round_ticks(0.0, max(float(shares.max()) for shares in scores.shares.values()), 2)
    up = Span(0.0, max(share_ticks[-1], *(float(shares.max()) for shares in scores.shares.values())), HEIGHT, 0.0)
    rows = [
        element("g", *_row(scores, name, swatches[name], across, up, share_ticks, address), transform=_moved(number))
        for number, name in enumerate(names)
    ]
    bottom = len(names) * PITCH - GUTTER
    ticks = [
        Tick(across.place(tick), f"{tick:g}".replace("-", "−")) for tick in round_ticks(across.low, across.high, 5)
    ]
    return svg((WIDTH, bottom), MARGINS, *rows, bottom_axis(ticks, WIDTH, bottom, MARGINS))


def _moved(number: int) -> str:
    return f"translate(0,{number * PITCH + TITLE})"


def _row(
    scores: Distribution,
    name: str,
    swatch: str,
    across: Span,
    up: Span,
    share_ticks: Sequence[float],
    address: Callable[..., str] | None,
) -> Iterator[str]:
    """Yield the name, the axis and the bars of a candidate, then the line at the threshold if there is one."""
    yield text(abridged(visible(name), NAME_CHARS), 0.0, -5.0, 11, font_weight="bold")
    yield left_axis([Tick(up.place(tick), f"{100 * tick:g}%") for tick in share_ticks], HEIGHT)
    gap = GAP * (across.place(float(scores.edges[1])) - across.place(float(scores.edges[0])))
    for low, high, share in zip(scores.edges, scores.edges[1:], scores.shares[name].tolist(), strict=False):
        if share:
            left, top = across.place(float(low)) + gap, up.place(share)
            width = across.place(float(high)) - gap - left
            bar = element("rect", x=left, y=top, width=width, height=HEIGHT - top, fill=swatch)
            if address is not None:
                ends = {"from": f"{low:.6g}", "to": f"{high:.6g}"}
                href = address(metric=scores.metric, candidate=name, **ends)
                bar = element("a", bar, href=href, tabindex="-1", aria_label="its answers")
            yield bar
    if scores.threshold is not None:
        x = across.place(scores.threshold)
        yield element(
            "line", x1=x, x2=x, y1=0, y2=HEIGHT, stroke="currentColor", stroke_width=1.5, stroke_dasharray="4 3"
        )
