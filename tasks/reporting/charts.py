"""Distributions as inline SVG: one small histogram per candidate, over the metric's bounds."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.console.format import number, visible
from tasks.metrics.base import Floats
from tasks.scores.columns import ScoreColumn

COLOURS = 8
"""Candidates beyond share the colours of the first; the page's style sheet says which they are."""
SHAPES = (
    "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",  # circle
    "M-3.2-3.2h6.4v6.4h-6.4z",  # square
    "M0-4.6L4.6 0L0 4.6L-4.6 0z",  # diamond
    "M0-4.3L4.3 3.3H-4.3z",  # triangle
    "M-4.3-3.3H4.3L0 4.3z",  # triangle that points down
)
"""What tells candidates apart where colours do not; with the colours, different for forty of them."""
WIDTH, HEIGHT = 260, 44
TAG = re.compile(r"<[^>]*>")
ROLE = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')


class Distribution(NamedTuple):
    """How often which score: shares of the measured rows of each candidate, per bin.

    edges: shape (bins + 1,). shares: candidate → shape (bins,).
    """

    metric: str
    edges: Floats
    shares: dict[str, Floats]
    threshold: float | None
    description: str


def distribution(column: ScoreColumn, rows: Mapping[str, NDArray[np.intp]], bins: int) -> Distribution | None:
    """The distribution of a column, candidate by candidate; None where every score is a bound, or none is there.

    rows: candidate → its rows.
    """
    measured = {name: values[~np.isnan(values)] for name, values in _by_candidate(column, rows)}
    measured = {name: values for name, values in measured.items() if values.size}
    every = np.concatenate([*measured.values(), np.empty(0)])
    low, high = column.about["bounds"] or (every.min(initial=np.inf), every.max(initial=-np.inf))
    if np.isin(every, [low, high]).all():
        return None
    edges = np.linspace(low, high, bins + 1)
    return Distribution(
        column.name,
        edges,
        {name: np.histogram(values, edges)[0] / values.size for name, values in measured.items()},
        column.about.get("threshold"),
        "; ".join(_described(name, values) for name, values in measured.items()),
    )


def _by_candidate(column: ScoreColumn, rows: Mapping[str, NDArray[np.intp]]) -> Iterator[tuple[str, Floats]]:
    for name, chosen in rows.items():
        yield name, column.values[chosen]


def _described(name: str, values: Floats) -> str:
    low, middle, high = (number(float(each)) for each in np.quantile(values, [0.25, 0.5, 0.75]))
    return f"{name}: median {middle}, middle half {low} to {high}"


def histogram(drawn: Distribution, candidates: Sequence[str]) -> str:
    """The distribution as an SVG whose colours the page's style sheet sets; the same input gives the same bytes.

    candidates: all of the run, so that each keeps its colour.
    """
    import altair as alt
    import vl_convert

    header = {"title": None, "labelOrient": "top", "labelAnchor": "start", "labelPadding": 2, "labelLimit": WIDTH}
    order = [visible(name) for name in candidates if name in drawn.shares]
    spec = {  # without Altair, whose checks take as long as the drawing
        "data": {"values": _bars(drawn)},
        "facet": {"row": {"field": "candidate", "type": "nominal", "sort": order, "header": header}},
        "spacing": 6,
        "spec": {"width": WIDTH, "height": HEIGHT, "layer": [*_layers(drawn, candidates)]},
        "config": style(),
    }
    return without_roles(vl_convert.vegalite_to_svg(spec, vl_version=vega_lite(alt), allowed_base_urls=[]))


def _layers(drawn: Distribution, candidates: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The bars, and a line at the threshold where there is one."""
    span = {"domain": [float(drawn.edges[0]), float(drawn.edges[-1])], "nice": False}
    colours = {"domain": [*map(visible, candidates)], "range": [colour(i) for i in range(len(candidates))]}
    across = {"title": None, "grid": False, "tickCount": 5}
    up = {"title": None, "format": "%", "tickCount": 2}
    yield {
        "mark": {"type": "bar"},
        "encoding": {
            "x": {"field": "from", "type": "quantitative", "scale": span, "axis": across},
            "x2": {"field": "to"},
            "y": {"field": "share", "type": "quantitative", "axis": up},
            "y2": {"datum": 0},
            "color": {"field": "candidate", "type": "nominal", "scale": colours, "legend": None},
        },
    }
    if drawn.threshold is not None:
        line = {"type": "rule", "strokeDash": [4, 3], "strokeWidth": 1.5, "color": "currentColor"}
        yield {"mark": line, "encoding": {"x": {"datum": drawn.threshold}}}


def _bars(drawn: Distribution) -> list[dict[str, object]]:
    gap = float(drawn.edges[1] - drawn.edges[0]) * 0.06
    return [
        {"candidate": visible(name), "from": float(low) + gap, "to": float(high) - gap, "share": float(share)}
        for name, shares in drawn.shares.items()
        for low, high, share in zip(drawn.edges, drawn.edges[1:], shares, strict=False)
        if share
    ]


def colour(index: int) -> str:
    """The colour of a candidate, as the style sheet names it."""
    return f"var(--c{index % COLOURS})"


def shape(index: int) -> str:
    """The mark of a candidate, as a path around the origin."""
    return SHAPES[index % len(SHAPES)]


def style() -> dict[str, Any]:
    """What every plot has in common: it takes its ink from the page."""
    ink = {"labelColor": "currentColor", "domainColor": "var(--line)", "tickColor": "var(--line)"}
    return {
        "background": "transparent",
        "font": "sans-serif",
        "view": {"stroke": None},
        "axis": {**ink, "gridColor": "var(--line)", "labelFontSize": 10},
        "header": {"labelColor": "currentColor", "labelFontSize": 11, "labelFontWeight": "bold"},
    }


def without_roles(svg: str) -> str:
    """A chart without what Vega says of its parts to screen readers: the page has one text for the whole of it."""
    return TAG.sub(lambda tag: ROLE.sub("", tag[0]), svg)


def vega_lite(alt: Any) -> str:
    """Major and minor version of Vega-Lite, from "v6.4.1"."""
    return ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
