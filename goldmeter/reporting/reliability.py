"""Reliability diagram of the offline judge: how often answers are right, by the probability that it gives them."""

from collections.abc import Sequence
from typing import Any

from goldmeter.console.format import rate
from goldmeter.estimates.metrics_report import ReliabilityEntry
from goldmeter.reporting.drawing import Span, Tick, bottom_axis, element, left_axis, line, marks, svg, text

# Width and height of the plot, in pixels, and the space around it.
SIDE = 220
MARGINS = 52, 8, 10, 38
# The ticks of both axes.
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
# The line of an interval.
RANGE: dict[str, Any] = {"stroke": "currentColor", "stroke_width": 1.5}


def reliability_diagram(groups: Sequence[ReliabilityEntry]) -> str:
    """Draw the share of right answers of each group against its mean probability, as an SVG."""
    across, up = Span(0.0, 1.0, 0.0, SIDE), Span(0.0, 1.0, SIDE, 0.0)
    x, y = ([Tick(span.place(share), f"{share:.0%}") for share in SHARES] for span in (across, up))
    at = [(across.place(one["expected"]), one["right"]) for one in groups]
    ranges = [
        element("line", x1=x, x2=x, y1=up.place(right["low"]), y2=up.place(right["high"]), **RANGE)
        for x, right in at
        if right["low"] is not None and right["high"] is not None
    ]
    values = [(x, up.place(right["value"])) for x, right in at if right["value"] is not None]
    title = {"text_anchor": "middle", "font_weight": "bold"}
    middle = SIDE / 2
    return svg(
        (SIDE, SIDE),
        MARGINS,
        bottom_axis(x, SIDE, SIDE, MARGINS),
        left_axis(y, SIDE),
        text("the judge's probability", middle, SIDE + 32, 11, **title),
        text("right by the labels", -middle, -MARGINS[0] + 11, 11, transform="rotate(-90)", **title),
        element("path", d=line([(0.0, SIDE), (SIDE, 0.0)]), stroke="currentColor", stroke_dasharray="4 3"),
        marks("rule", ranges),
        marks("symbol", (element("circle", cx=x, cy=y, r=3.2, fill="currentColor") for x, y in values)),
    )


def described(groups: Sequence[ReliabilityEntry]) -> str:
    """The diagram in words, for screen readers."""
    return "; ".join(f"{rate(one['expected'])} expected, {rate(one['right']['value'])} right" for one in groups)


def misses(groups: Sequence[ReliabilityEntry]) -> list[ReliabilityEntry]:
    """The groups whose interval excludes the mean probability."""
    return [one for one in groups if one["right"]["low"] is not None and not _covers(one)]


def _covers(one: ReliabilityEntry) -> bool:
    low, high = one["right"]["low"], one["right"]["high"]
    return low is None or high is None or low <= one["expected"] <= high
