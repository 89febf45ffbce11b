"""Limits over looks: how those of a judge that may stop early narrow towards its target (`judge.stop`)."""

from collections.abc import Mapping

from goldmeter.console.format import count, counted, rate, visible
from goldmeter.estimates.metrics_report import StoppedEntry
from goldmeter.estimates.primary import TargetVerdict, target_verdict
from goldmeter.reporting.drawing import Span, Tick, bottom_axis, element, left_axis, line, marks, round_ticks, svg, text

# Width and height of the plot, in pixels, and the space around it.
WIDTH, HEIGHT = 420, 170
LEFT, RIGHT, ABOVE, BELOW = 52, 18, 10, 38
_WORDS = {TargetVerdict.MET: "certain to reach it", TargetVerdict.NOT_MET: "certain to miss it"}
_DIFFERENCE_WORDS = {TargetVerdict.MET: "above it for certain", TargetVerdict.NOT_MET: "below it for certain"}


def looks_chart(stopped: StoppedEntry, swatches: Mapping[str, str]) -> str:
    """Draw the limits of each system against the answers that were asked about, as an SVG; swatches: their colours."""
    looks, target = stopped["looks"], stopped.get("target", 0.0)
    ends = [limit for look in looks for limits in look["limits"].values() for limit in limits]
    least = 0.0 if "target" in stopped else -1.0
    low, high = max(least, min(*ends, target) - 0.02), min(1.0, max(*ends, target) + 0.02)
    across, up = Span(0.0, looks[-1]["rows"], 0.0, WIDTH), Span(low, high, HEIGHT, 0.0)
    x = [Tick(across.place(rows), count(round(rows))) for rows in round_ticks(0.0, across.high, 5)]
    y = [Tick(up.place(share), f"{share:.0%}") for share in round_ticks(low, high, 5)]
    areas, edges = list[str](), list[str]()
    for name in looks[-1]["limits"]:
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
        LEFT + WIDTH + RIGHT,
        ABOVE + HEIGHT + BELOW,
        (LEFT, ABOVE),
        bottom_axis(x, WIDTH, HEIGHT, (LEFT, RIGHT)),
        left_axis(y, HEIGHT),
        text("answers asked about", WIDTH / 2, HEIGHT + 32, 11, text_anchor="middle", font_weight="bold"),
        marks("area", areas),
        marks("line", edges),
        element("path", d=line([(0.0, at), (WIDTH, at)]), stroke="currentColor", stroke_dasharray="4 3"),
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
    return f"{line} (dashed), after {after}: {said}."


def described(stopped: StoppedEntry) -> str:
    """The chart in words, for screen readers."""
    first, last = stopped["looks"][0], stopped["looks"][-1]

    def between(limits: list[float]) -> str:
        return f"{rate(limits[0])} to {rate(limits[1])}"

    return "; ".join(
        f"{visible(name)} from {between(first['limits'][name])} after {counted(first['rows'], 'answer')} to "
        f"{between(limits)} after {count(last['rows'])}"
        for name, limits in last["limits"].items()
    )
