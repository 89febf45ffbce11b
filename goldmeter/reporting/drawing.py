"""What all drawings of the page share: candidates' colours and marks, and the elements and axes of an SVG."""

from collections.abc import Iterable, Sequence
from html import escape
from math import ceil, floor, log10, sqrt
from typing import NamedTuple

# Candidates after the eighth reuse the colours of the first ones. The style sheet defines them.
COLOURS = 8
# As many marks as colours: the first eight candidates differ in both, so that a mark alone tells them apart.
SHAPES = (
    "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",  # circle
    "M-3.2-3.2h6.4v6.4h-6.4z",  # square
    "M0-4.6L4.6 0L0 4.6L-4.6 0z",  # diamond
    "M0-4.3L4.3 3.3H-4.3z",  # triangle
    "M-4.3-3.3H4.3L0 4.3z",  # triangle that points down
    "M-1.5-4.4h3v2.9h2.9v3h-2.9v2.9h-3v-2.9h-2.9v-3h2.9z",  # plus
    "M0-4.6L1.3-1.5L4.6-1.4L2 .7L2.9 4L0 2.1L-2.9 4L-2 .7L-4.6-1.4L-1.3-1.5z",  # star
    "M-2-4h4l2.3 4l-2.3 4h-4l-2.3-4z",  # hexagon
)
# Length of the lines at ticks, and the font size of the numbers beside them, in pixels.
TICK, FONT = 5, 10
# Width of a letter, as a share of the font size.
LETTER = 0.6
# Space around a plot, in pixels: left, right, above and below.
Margins = tuple[float, float, float, float]
# Space between two labels, in pixels.
SEPARATION = 5
# The line of an axis and of its ticks.
LINE = "var(--line)"


def colour(index: int) -> str:
    """Return the colour of the candidate with this number, as a variable of the style sheet."""
    return f"var(--c{index % COLOURS})"


def shape(index: int) -> str:
    """Return the mark of the candidate with this number, as an SVG path around the origin.

    Every eight candidates the marks move on by one, so that 64 candidates differ in colour or mark.
    """
    return SHAPES[(index + index // COLOURS) % len(SHAPES)]


class Span(NamedTuple):
    """The ends of an axis: values, and where they are drawn, in pixels."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """Where a value is drawn."""
        return self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)


class Tick(NamedTuple):
    """A tick of an axis: where it is drawn, in pixels, and its label."""

    place: float
    label: str


def round_ticks(low: float, high: float, count: float) -> list[float]:
    """Round numbers from low to high, about so many: 1, 2 or 5 times a power of ten apart.

    >>> round_ticks(0.0, 1.0, 5), round_ticks(0.62, 0.9, 4)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.65, 0.7, 0.75, 0.8, 0.85, 0.9])
    """
    step = (high - low) / count
    power = 10.0 ** floor(log10(step))
    step = power * next(factor for factor, most in STEPS if step / power < most)
    numbers = range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)
    return [float(f"{number * step:.12g}") for number in numbers]


# Factor of a power of ten → the steps that it stands for, up to the geometric mean with the next factor.
STEPS = ((1, sqrt(2)), (2, sqrt(10)), (5, sqrt(50)), (10, 11))


def element(name: str, *inside: str, **attributes: str | float | None) -> str:
    """An element of an SVG.

    Args:
        name: Of the element.
        inside: The elements in it.
        attributes: By name, `_` for `-`; one that is None is left out. Numbers have two decimals, texts are escaped.
    """
    stated = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{pixels(value) if isinstance(value, float | int) else escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{stated}>{''.join(inside)}</{name}>" if inside else f"<{name}{stated}/>"


def pixels(value: float) -> str:
    """A coordinate in hundredths of a pixel.

    >>> pixels(12.0), pixels(0.125), pixels(-0.001)
    ('12', '0.12', '0')
    """
    return f"{round(value, 2) + 0.0:.10g}"


def text(content: str, x: float, y: float, size: float = FONT, **attributes: str | float | None) -> str:
    """A text that begins at a place, or has it as the `text_anchor` says."""
    given = {"fill": "currentColor", "font_family": "sans-serif", "font_size": f"{size:g}px"} | attributes
    return element("text", escape(content), x=x, y=y, **given)


def marks(kind: str, drawn: Iterable[str]) -> str:
    """A group of marks of one kind: line, area, rule, symbol or text; empty without any."""
    inside = [*drawn]
    return element("g", *inside, class_=f"mark-{kind}") if inside else ""


def line(places: Sequence[tuple[float, float]]) -> str:
    """The path of a line through places."""
    return "M" + "L".join(f"{pixels(x)},{pixels(y)}" for x, y in places)


def bottom_axis(ticks: Sequence[Tick], width: float, y: float, margins: Margins, size: float = FONT) -> str:
    """The horizontal axis below a plot.

    Labels stay within the margins left and right of the plot. One that would overlap the first, the last or an earlier
    label is left out.
    """
    drawn = [element("line", x1=0, x2=width, y1=y, y2=y, stroke=LINE)]
    drawn += [element("line", x1=x, x2=x, y1=y, y2=y + TICK, stroke=LINE) for x, _ in ticks]
    labels: dict[float, str] = {}
    for x, label in [*ticks[:1], *ticks[:0:-1][:1], *ticks[1:-1]]:
        long = LETTER * size * len(label)
        middle = min(max(x, long / 2 - margins[0]), width + margins[1] - long / 2)
        needed = {other: (long + LETTER * size * len(said)) / 2 + SEPARATION for other, said in labels.items()}
        if all(abs(middle - other) >= room for other, room in needed.items()):
            labels[middle] = label
    texts = (text(labels[x], x, y + TICK + size, size, text_anchor="middle") for x in sorted(labels))
    return element("g", *drawn, *texts, class_="axis-x")


def left_axis(ticks: Sequence[Tick], height: float, size: float = FONT, grid: float | None = None) -> str:
    """The vertical axis left of a plot; grid: the width of lines across the plot instead of ticks, without a domain."""
    if grid is None:
        lines = [element("line", x1=-TICK, x2=0, y1=y, y2=y, stroke=LINE) for y, _ in ticks]
        lines.append(element("line", x1=0, x2=0, y1=0, y2=height, stroke=LINE))
    else:
        lines = [element("line", x1=0, x2=grid, y1=y, y2=y, stroke=LINE, opacity=0.6) for y, _ in ticks]
    labels = [text(label, -TICK - 2, y + 0.35 * size, size, text_anchor="end") for y, label in ticks]
    return element("g", *lines, *labels, class_="axis-y")


def svg(plot: tuple[float, float], margins: Margins, *inside: str, says: str | None = None) -> str:
    """A drawing around a plot of a width and a height, whose upper left corner has the coordinates 0, 0.

    The style sheet of the page colours it. says: in words what it shows, for readers who can't see it; None where the
    page says it next to the drawing.
    """
    left, right, above, below = margins
    drawn = element("g", *inside, fill="none", transform=f"translate({pixels(left)},{pixels(above)})")
    width, height = left + plot[0] + right, above + plot[1] + below
    box = f"0 0 {pixels(width)} {pixels(height)}"
    size: dict[str, str | float | None] = {"width": width, "height": height, "viewBox": box}
    return element("svg", drawn, xmlns="http://www.w3.org/2000/svg", **size, role=says and "img", aria_label=says)
