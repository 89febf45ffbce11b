"""Reliability diagram of the offline judge: how often answers are right, by the probability that it gives them."""

from collections.abc import Sequence

from tasks.console.format import rate
from tasks.reporting.drawing import svg
from tasks.scores.metrics_report import ReliabilityEntry

# Width and height of the plot, in pixels.
SIDE = 220


def reliability_diagram(groups: Sequence[ReliabilityEntry]) -> str:
    """Draw the share of right answers of each group against its mean probability, as an SVG."""
    rows = [{"p": one["expected"], "n": one["n"], **one["right"]} for one in groups]
    limited = [row for row in rows if row["low"] is not None]
    axis = {"format": "%", "values": [0, 0.25, 0.5, 0.75, 1], "grid": False, "titleColor": "currentColor"}
    span = {"domain": [0, 1], "nice": False}
    x = {"field": "p", "type": "quantitative", "scale": span, "axis": axis | {"title": "the judge's probability"}}
    y = {"type": "quantitative", "scale": span, "axis": axis | {"title": "right by the labels"}}
    return svg(
        {
            "width": SIDE,
            "height": SIDE,
            "layer": [
                {
                    "data": {"values": [{"p": 0, "value": 0}, {"p": 1, "value": 1}]},
                    "mark": {"type": "line", "strokeDash": [4, 3], "strokeWidth": 1, "color": "currentColor"},
                    "encoding": {"x": x, "y": y | {"field": "value"}},
                },
                {
                    "data": {"values": limited},
                    "mark": {"type": "rule", "strokeWidth": 1.5, "color": "currentColor"},
                    "encoding": {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}},
                },
                {
                    "data": {"values": rows},
                    "mark": {"type": "point", "filled": True, "opacity": 1, "color": "currentColor", "size": 40},
                    "encoding": {"x": x, "y": y | {"field": "value"}},
                },
            ],
        }
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
