"""Distributions as inline SVG: one small histogram per candidate, over the metric's bounds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.columns import ScoreColumn
from tasks.metrics.base import Floats
from tasks.reporting.words import number

COLOURS = 8
"""Candidates beyond share the colours of the first; the page's style sheet says which they are."""
WIDTH, HEIGHT = 260, 44


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

    bars, rule = _layers(alt, drawn, candidates)
    layers = [bars] if drawn.threshold is None else [bars, rule]
    order = [name for name in candidates if name in drawn.shares]
    header = alt.Header(title=None, labelOrient="top", labelAnchor="start", labelPadding=2, labelLimit=WIDTH)
    chart = (
        alt.layer(*layers, data=alt.InlineData(values=_bars(drawn)))
        .properties(width=WIDTH, height=HEIGHT)
        .facet(row=alt.Row("candidate:N", sort=order, header=header), spacing=6)
        .configure(**style())
    )
    svg: str = vl_convert.vegalite_to_svg(chart.to_dict(), vl_version=vega_lite(alt), allowed_base_urls=[])
    return svg


def _layers(alt: Any, drawn: Distribution, candidates: Sequence[str]) -> tuple[Any, Any]:
    span = alt.Scale(domain=[float(drawn.edges[0]), float(drawn.edges[-1])], nice=False)
    colours = alt.Scale(domain=[*candidates], range=[colour(i) for i in range(len(candidates))])
    bars = (
        alt.Chart()
        .mark_bar()
        .encode(
            x=alt.X("from:Q", scale=span, axis=alt.Axis(title=None, grid=False, tickCount=5)),
            x2="to:Q",
            y2=alt.datum(0),
            y=alt.Y("share:Q", axis=alt.Axis(title=None, format="%", tickCount=2)),
            color=alt.Color("candidate:N", scale=colours, legend=None),
        )
    )
    rule = alt.Chart().mark_rule(strokeDash=[4, 3], strokeWidth=1.5, color="currentColor")
    return bars, rule.encode(x=alt.datum(drawn.threshold))


def _bars(drawn: Distribution) -> list[dict[str, object]]:
    gap = float(drawn.edges[1] - drawn.edges[0]) * 0.06
    return [
        {"candidate": name, "from": float(low) + gap, "to": float(high) - gap, "share": float(share)}
        for name, shares in drawn.shares.items()
        for low, high, share in zip(drawn.edges, drawn.edges[1:], shares, strict=False)
        if share
    ]


def colour(index: int) -> str:
    """The colour of a candidate, as the style sheet names it."""
    return f"var(--c{index % COLOURS})"


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


def vega_lite(alt: Any) -> str:
    """Major and minor version of Vega-Lite, from "v6.4.1"."""
    return ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
