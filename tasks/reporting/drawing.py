"""What all drawings of the page share: candidates' colours and marks, and Vega-Lite charts as SVG."""

import re
from collections.abc import Mapping
from typing import Any

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
TAG = re.compile(r"<[^>]*>")
# The drawing program makes addresses within the page absolute. The page has other ways there for the keyboard.
LINK = re.compile(r'xlink:href="[^"#]*#')
ROLE = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')
INK = {"labelColor": "currentColor", "domainColor": "var(--line)", "tickColor": "var(--line)"}
CONFIG = {
    "background": "transparent",
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {**INK, "gridColor": "var(--line)", "labelFontSize": 10},
    "header": {"labelColor": "currentColor", "labelFontSize": 11, "labelFontWeight": "bold"},
}


def colour(index: int) -> str:
    """Return the colour of the candidate with this number, as a variable of the style sheet."""
    return f"var(--c{index % COLOURS})"


def shape(index: int) -> str:
    """Return the mark of the candidate with this number, as an SVG path around the origin.

    Every eight candidates the marks move on by one, so that 64 candidates differ in colour or mark.
    """
    return SHAPES[(index + index // COLOURS) % len(SHAPES)]


def svg(chart: Mapping[str, Any]) -> str:
    """Draw a Vega-Lite chart as an SVG with the colours of the page; the same chart gives the same bytes.

    The parts of the SVG have no ARIA roles, because the page describes each chart as a whole.
    """
    import vl_convert

    drawn = vl_convert.vegalite_to_svg({**chart, "config": CONFIG}, allowed_base_urls=[])
    return TAG.sub(lambda tag: LINK.sub('tabindex="-1" aria-label="its answers" href="#', ROLE.sub("", tag[0])), drawn)
