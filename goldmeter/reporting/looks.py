"""Limits over looks: how those of a judge that may stop early narrow towards its target (`judge.stop`)."""

from collections.abc import Collection, Mapping

from goldmeter.console.format import count, counted, points, rate, visible
from goldmeter.estimates.metrics_report import StoppedEntry
from goldmeter.estimates.primary import TargetVerdict, target_verdict
from goldmeter.reporting.axes import Scale
from goldmeter.reporting.drawing import Span, Tick, bottom_axis, element, left_axis, line, marks, round_ticks, svg, text

# Width and height of the plot, in pixels, its width beside others, and the space around it.
WIDTH, HEIGHT, NARROW = 420, 170, 210
MARGINS = 52, 18, 10, 38
_WORDS = {TargetVerdict.MET: "certain to reach it", TargetVerdict.NOT_MET: "certain to miss it"}
_DIFFERENCE_WORDS = {TargetVerdict.MET: "above it for certain", TargetVerdict.NOT_MET: "below it for certain"}
# Differences that are drawn at most, those of four systems.
MOST_DRAWN = 6


def looks_chart(stopped: StoppedEntry, swatches: Mapping[str, str], names: Collection[str]) -> str:
    """Draw the limits of systems, or differences, against the answers that were asked about, as an SVG.

    swatches: colours of systems. names: those that are drawn; the axes are those of all.
    """
    width = WIDTH if len(names) == len(stopped["looks"][-1]["limits"]) else NARROW
    looks, target = stopped["looks"], stopped.get("target", 0.0)
    ends = [limit for look in looks for limits in look["limits"].values() for limit in limits]
    least = 0.0 if "target" in stopped else -1.0
    low, high = max(least, min(*ends, target) - 0.02), min(1.0, max(*ends, target) + 0.02)
    scale = Scale(low, high, (), share="target" in stopped, points=True)
    across, up = Span(0.0, looks[-1]["rows"], 0.0, width), Span(low, high, HEIGHT, 0.0)
    x = [Tick(across.place(rows), count(round(rows))) for rows in round_ticks(0.0, across.high, width / 84)]
    y = [Tick(up.place(share), scale.text(share)) for share in round_ticks(low, high, 5)]
    areas, edges = list[str](), list[str]()
    for name in names:
        colour = swatches.get(name, "currentColor")
        lower, upper = (
            [(across.place(look["rows"]), up.place(look["limits"][name][side])) for look in looks] for side in (0, 1)
        )
        areas.append(element("path", d=line([*lower, *reversed(upper)]) + "Z", fill=colour, opacity=0.12))
        for edge in (lower, upper):
            edges.append(element("path", d=line(edge), stroke=colour, stroke_width=1.5))
            edges += [element("circle", cx=cx, cy=cy, r=1.8, fill=colour) for cx, cy in edge]
    at = up.place(target)
    return svg(
        (width, HEIGHT),
        MARGINS,
        bottom_axis(x, width, HEIGHT, MARGINS),
        left_axis(y, HEIGHT),
        text("answers asked about", width / 2, HEIGHT + 32, 11, text_anchor="middle", font_weight="bold"),
        marks("area", areas),
        marks("line", edges),
        element("path", d=line([(0.0, at), (width, at)]), stroke="currentColor", stroke_dasharray="4 3"),
    )


def decided(stopped: StoppedEntry) -> str:
    """What was decided after how many answers."""
    last, target = stopped["looks"][-1], stopped.get("target")
    words = _DIFFERENCE_WORDS if target is None else _WORDS
    found = {name: words.get(target_verdict(target or 0.0, *limits)) for name, limits in last["limits"].items()}
    said = "; ".join(f"{visible(name)} is {says or 'not decided'}" for name, says in found.items())
    after = (
        f"{count(last['rows'])} of {counted(stopped['rows'], 'answer')} and {counted(len(stopped['looks']), 'look')}"
    )
    line = "No difference" if target is None else f"Target {rate(target)}"
    dashed = " (dashed)" if target is not None or len(found) <= MOST_DRAWN else ""
    return f"{line}{dashed}, after {after}: {said}."


def described(stopped: StoppedEntry) -> str:
    """The chart in words, for screen readers."""
    first, last = stopped["looks"][0], stopped["looks"][-1]
    form, unit = (rate, "") if "target" in stopped else (points, " points")

    def between(limits: list[float]) -> str:
        return f"{form(limits[0])} to {form(limits[1])}{unit}"

    return "; ".join(
        f"{visible(name)} from {between(first['limits'][name])} after {counted(first['rows'], 'answer')} to "
        f"{between(limits)} after {count(last['rows'])}"
        for name, limits in last["limits"].items()
    )
