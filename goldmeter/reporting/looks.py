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


def looks_chart(stopped: StoppedEntry, swatches: Mapping[str, str]) -> str:
    """Draw the limits of each system against the answers that were asked about, as an SVG; swatches: their colours."""
    looks, target = stopped["looks"], stopped["target"]
    ends = [limit for look in looks for limits in look["limits"].values() for limit in limits]
    low, high = max(0.0, min(*ends, target) - 0.02), min(1.0, max(*ends, target) + 0.02)
    across, up = Span(0.0, looks[-1]["rows"], 0.0, WIDTH), Span(low, high, HEIGHT, 0.0)
    x = [Tick(across.place(rows), count(round(rows))) for rows in round_ticks(0.0, across.high, 5)]
    y = [Tick(up.place(share), f"{share:.0%}") for share in round_ticks(low, high, 5)]
    areas, edges = list[str](), list[str]()
    for name in looks[-1]["limits"]:
        lower, upper = (
            [(across.place(look["rows"]), up.place(look["limits"][name][side])) for look in looks] for side in (0, 1)
        )
        areas.append(element("path", d=line([*lower, *reversed(upper)]) + "Z", fill=swatches[name], opacity=0.12))
        for edge in (lower, upper):
            edges.append(element("path", d=line(edge), stroke=swatches[name], stroke_width=1.5))
            edges += [element("circle", cx=cx, cy=cy, r=1.8, fill=swatches[name]) for cx, cy in edge]
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
    last = stopped["looks"][-1]
    found = {name: _WORDS.get(target_verdict(stopped["target"], *limits)) for name, limits in last["limits"].items()}
    said = "; ".join(f"{visible(name)} is {words or 'not decided'}" for name, words in found.items())
    after = (
        f"{count(last['rows'])} of {counted(stopped['rows'], 'answer')} and {counted(len(stopped['looks']), 'look')}"
    )
    return f"Target {rate(stopped['target'])} (dashed), after {after}: {said}."


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
