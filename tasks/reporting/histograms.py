"""Histograms of scores as inline SVG: one for each candidate, over the bounds of the metric."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.console.format import number, visible
from tasks.metrics.base import Floats
from tasks.reporting.drawing import svg
from tasks.scores.columns import ScoreColumn

# Size of one histogram, in pixels.
WIDTH, HEIGHT = 260, 44
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


def distribution(column: ScoreColumn, rows: Mapping[str, NDArray[np.intp]], bins: int) -> Distribution | None:
    """Count the scores of a column by candidate and bin.

    Args:
        column: The scores of all candidates.
        rows: Candidate → the numbers of its rows.
        bins: How many bins of equal width there are.

    Returns:
        The distribution, or None if no row is measured or every score is one of the bounds.
    """
    measured_rows = {name: chosen[~np.isnan(column.values[chosen])] for name, chosen in rows.items()}
    measured = {name: column.values[chosen] for name, chosen in measured_rows.items() if chosen.size}
    scores = np.concatenate([*measured.values(), np.empty(0)])
    low, high = column.facts.bounds or (scores.min(initial=np.inf), scores.max(initial=-np.inf))
    if np.isin(scores, [low, high]).all():
        return None
    edges = np.linspace(low, high, bins + 1)
    return Distribution(
        column.name,
        edges,
        {name: np.histogram(values, edges)[0] / values.size for name, values in measured.items()},
        column.facts.threshold,
        "; ".join(_quartiles(name, values) for name, values in measured.items()),
    )


def _quartiles(name: str, values: Floats) -> str:
    low, middle, high = (number(float(quartile)) for quartile in np.quantile(values, [0.25, 0.5, 0.75]))
    return f"{name}: median {middle}, middle half {low} to {high}"


def histogram(scores: Distribution, swatches: Mapping[str, str]) -> str:
    """Draw the distribution as an SVG with one row for each candidate.

    Args:
        scores: The distribution to draw.
        swatches: Candidate → its colour, in the order of the rows.

    Returns:
        The SVG. The style sheet of the page sets its colours.
    """
    header = {"title": None, "labelOrient": "top", "labelAnchor": "start", "labelPadding": 2, "labelLimit": WIDTH}
    order = [visible(name) for name in swatches if name in scores.shares]
    return svg(
        {
            "data": {"values": _bars(scores)},
            "facet": {"row": {"field": "candidate", "type": "nominal", "sort": order, "header": header}},
            "spacing": 6,
            "spec": {"width": WIDTH, "height": HEIGHT, "layer": [*_layers(scores, swatches)]},
        }
    )


def _layers(scores: Distribution, swatches: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the bars, then the line at the threshold if there is one."""
    span = {"domain": [float(scores.edges[0]), float(scores.edges[-1])], "nice": False}
    colours = {"domain": [*map(visible, swatches)], "range": [*swatches.values()]}
    score_axis = {"title": None, "grid": False, "tickCount": 5}
    share_axis = {"title": None, "format": "%", "tickCount": 2}
    yield {
        "mark": {"type": "bar"},
        "encoding": {
            "x": {"field": "from", "type": "quantitative", "scale": span, "axis": score_axis},
            "x2": {"field": "to"},
            "y": {"field": "share", "type": "quantitative", "axis": share_axis},
            "y2": {"datum": 0},
            "color": {"field": "candidate", "type": "nominal", "scale": colours, "legend": None},
        },
    }
    if scores.threshold is not None:
        line = {"type": "rule", "strokeDash": [4, 3], "strokeWidth": 1.5, "color": "currentColor"}
        yield {"mark": line, "encoding": {"x": {"datum": scores.threshold}}}


def _bars(scores: Distribution) -> list[dict[str, object]]:
    gap = GAP * float(scores.edges[1] - scores.edges[0])
    return [
        {"candidate": visible(name), "from": float(low) + gap, "to": float(high) - gap, "share": float(share)}
        for name, shares in scores.shares.items()
        for low, high, share in zip(scores.edges, scores.edges[1:], shares, strict=False)
        if share
    ]
