"""What all drawings of the page share: candidates' colours and marks, and Vega-Lite charts as SVG."""

import re
from collections.abc import Mapping
from typing import Any

# Candidates after the eighth reuse the colours of the first ones. The style sheet defines them.
COLOURS = 8
# Marks distinguish candidates whose colours are alike. Five marks and eight colours: forty combinations.
SHAPES = (
    "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",  # circle
    "M-3.2-3.2h6.4v6.4h-6.4z",  # square
    "M0-4.6L4.6 0L0 4.6L-4.6 0z",  # diamond
    "M0-4.3L4.3 3.3H-4.3z",  # triangle
    "M-4.3-3.3H4.3L0 4.3z",  # triangle that points down
)
TAG = re.compile(r"<[^>]*>")
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
    """Return the mark of the candidate with this number, as an SVG path around the origin."""
    return SHAPES[index % len(SHAPES)]


def svg(chart: Mapping[str, Any]) -> str:
    """Draw a Vega-Lite chart as an SVG with the colours of the page; the same chart gives the same bytes.

    The parts of the SVG have no ARIA roles, because the page describes each chart as a whole.
    """
    import vl_convert

    drawn = vl_convert.vegalite_to_svg({**chart, "config": CONFIG}, allowed_base_urls=[])
    return TAG.sub(lambda tag: ROLE.sub("", tag[0]), drawn)
