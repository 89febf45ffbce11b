"""Every candidate against every other: both ways round, the best first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.comparison.gate import verdict
from tasks.reporting.pairwise import against, lead_measure, matrix

LEFT = {"not_asked": 0, "failed_base": 0, "failed_head": 0, "worst": None, "best": None}


def measure(base, head, low, high, *, margin=0.0, higher_is_better=True):
    says = verdict(low, high, margin, higher_is_better=higher_is_better, unchanged=False)
    return {
        "base": base,
        "head": head,
        "difference": {"value": head - base, "low": low, "high": high, "p_value": 0.1, "method": "m"},
        "verdict": says,
        "margin": margin,
        "higher_is_better": higher_is_better,
        "unmeasured": LEFT,
    }


def pair(base, head, **measures):
    return {"base": base, "head": head, "measures": measures}


PAIRS = [
    pair("a", "b", label=measure(0.5, 0.75, 0.125, 0.375)),
    pair("a", "c", label=measure(0.5, 0.625, -0.125, 0.375)),
    pair("b", "c", label=measure(0.75, 0.625, -0.25, -0.0625)),
]


def test_the_best_stands_first_and_each_pair_both_ways_round():
    found = matrix(PAIRS)

    assert found.measure == "label"
    assert found.candidates == ["b", "c", "a"]
    assert {key: cell.verdict for key, cell in found.cells.items()} == {
        ("b", "a"): "better",
        ("a", "b"): "worse",
        ("c", "a"): "cannot tell",
        ("a", "c"): "cannot tell",
        ("c", "b"): "worse",
        ("b", "c"): "better",
    }
    assert found.cells["a", "b"].difference == {"value": -0.25, "low": -0.375, "high": -0.125}
    assert found.cells["b", "a"].difference == {"value": 0.25, "low": 0.125, "high": 0.375}


def test_what_one_candidate_is_beside_the_others():
    assert against(matrix(PAIRS), "c") == {"worse": ["b"], "cannot tell": ["a"]}
    assert against(matrix(PAIRS), "b") == {"better": ["c", "a"]}


def test_where_less_is_better_the_least_stands_first():
    pairs = [
        pair("a", "b", f1=measure(4.0, 3.0, -1.5, -0.5, higher_is_better=False)),
        pair("a", "c", f1=measure(4.0, 5.0, 0.5, 1.5, higher_is_better=False)),
    ]

    assert matrix(pairs).candidates == ["b", "a", "c"]
    assert matrix(pairs).cells["a", "b"].verdict == "worse"


def test_no_worse_one_way_may_be_undecided_the_other():
    pairs = [pair("a", name, f1=measure(0.5, 0.53, -0.01, 0.07, margin=0.02)) for name in "bc"]

    assert matrix(pairs).cells["b", "a"].verdict == "no worse"
    assert matrix(pairs).cells["a", "b"].verdict == "cannot tell"


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 0.5), st.booleans())
def test_better_one_way_is_worse_the_other(middle, reach, margin, higher):
    one = measure(0.0, middle, middle - reach, middle + reach, margin=margin, higher_is_better=higher)
    found = matrix([pair("a", "b", f1=one), pair("a", "c", f1=one)]).cells

    there, back = found["b", "a"].verdict, found["a", "b"].verdict
    opposite = {"better": "worse", "worse": "better"}
    assert opposite.get(there, there) == back or {there, back} <= {"no worse", "cannot tell"}


def test_unknown_limits_and_values_stay_unknown():
    hollow = measure(0.0, 0.0, 0.0, 0.0) | {"base": None, "head": None, "verdict": "cannot tell"}
    hollow["difference"] = {"value": None, "low": None, "high": None}
    found = matrix([pair("a", "b", label=hollow), PAIRS[1]])

    assert found.candidates == ["c", "a", "b"]
    assert found.cells["a", "b"] == ("cannot tell", {"value": None, "low": None, "high": None})


@pytest.mark.parametrize("pairs", [[], PAIRS[:1], [pair("a", "b"), pair("a", "c")]])
def test_one_pair_or_no_measure_has_no_matrix(pairs):
    assert matrix(pairs) is None


@pytest.mark.parametrize(
    ("names", "wanted", "lead"),
    [
        (["f1", "label", "bleu"], "bleu", "label"),
        (["f1", "bleu.value"], "bleu", "bleu.value"),
        (["f1", "bleu"], "bleu", "bleu"),
        (["f1", "bleu"], None, "f1"),
        ([], "bleu", None),
    ],
)
def test_labels_lead_then_the_metric_of_the_first_lines(names, wanted, lead):
    assert lead_measure(pair("a", "b", **{name: {} for name in names}), wanted) == lead
