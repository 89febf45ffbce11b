"""The chart of limits over looks: it says what was decided, and nothing is drawn outside of it."""

import re
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from goldmeter.estimates.metrics_report import StoppedEntry
from goldmeter.reporting.looks import HEIGHT, WIDTH, decided, described, looks_chart

SHARE = st.floats(0.0, 1.0)
LIMITS = st.tuples(SHARE, SHARE).map(sorted)


def stopped(target: float, *looks: tuple[int, dict[str, list[float]]]) -> StoppedEntry:
    return {
        "measure": "meaning_match",
        "target": target,
        "decided": True,
        "rows": 900,
        "rows_left": 0,
        "calls_left": 0,
        "tokens_left": {},
        "limits": {},
        "looks": [{"rows": rows, "limits": limits} for rows, limits in looks],
    }


THREE = stopped(
    0.8,
    (50, {"a": [0.7, 1.0], "b": [0.2, 0.9], "c<i>": [0.5, 1.0]}),
    (100, {"a": [0.81, 1.0], "b": [0.3, 0.79], "c<i>": [0.6, 0.9]}),
)


def test_it_says_which_system_is_decided_after_how_many_answers() -> None:
    assert decided(THREE) == (
        "Target 80.0 % (dashed), after 100 of 900 answers and 2 looks: a is certain to reach it; "
        "b is certain to miss it; c<i> is not decided."
    )
    assert described(THREE).startswith("a from 70.0 % to 100 % after 50 answers to 81.0 % to 100 % after 100; b from ")


def test_of_differences_it_says_which_are_decided_in_points() -> None:
    one = stopped(0.0, (50, {"b − a": [-0.4, 0.1], "c − a": [0.1, 0.4]}))
    of_differences = cast("StoppedEntry", {name: value for name, value in one.items() if name != "target"})

    assert decided(of_differences) == (
        "No difference (dashed), after 50 of 900 answers and 1 look: b − a is not decided; c − a is above it for "
        "certain."
    )
    assert described(of_differences).startswith("b − a from −40.0 to +10.0 points after 50 answers to ")
    assert re.findall(">(−?[0-9]+)<", looks_chart(of_differences, {}, ["c − a"])) == [
        "0",
        "20",
        "40",
        "−40",
        "−20",
        "0",
        "20",
        "40",
    ]


@given(SHARE, st.lists(st.tuples(st.integers(1, 9), LIMITS, LIMITS), min_size=1, max_size=9))
def test_nothing_is_drawn_outside_of_the_plot(target: float, known: list[tuple[int, list[float], list[float]]]) -> None:
    rows = [sum(step for step, *_ in known[: place + 1]) for place in range(len(known))]
    looks = [(asked, {"a": own[0], "b": own[1]}) for asked, (_, *own) in zip(rows, known, strict=True)]

    drawn = looks_chart(stopped(target, *looks), {"a": "var(--c0)", "b": "var(--c1)"}, ["a", "b"])

    paths = re.findall(r'<path d="([^"]*)"', drawn)
    assert len(paths) == 2 + 4 + 1
    for path in paths:
        for x, y in re.findall(r"([-\d.e]+),([-\d.e]+)", path):
            assert -0.01 <= float(x) <= WIDTH + 0.01
            assert -0.01 <= float(y) <= HEIGHT + 0.01
