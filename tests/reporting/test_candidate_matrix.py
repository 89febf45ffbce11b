"""Every candidate against every other: both ways round, the best first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.comparison.gate import verdict
from goldmeter.reporting.score_tables import (
    MOST_IN_FULL,
    against,
    all_compared,
    in_full,
    lead_measure,
    leads,
    left_out,
    matrix,
)

LEFT = {"not_asked": 0, "failed_base": 0, "failed_head": 0, "worst": None, "best": None}


def measure(base, head, low, high, *, margin=0.0, higher_is_better=True):
    says = verdict(low, high, margin, higher_is_better=higher_is_better, unchanged=False)
    return {
        "role": "primary",
        "unit": "points",
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
    found = matrix(PAIRS, "label", {"label": {"a": 0.5, "b": 0.75, "c": 0.625}})

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


def test_candidates_of_a_refused_pair_are_not_all_compared():
    assert all_compared(matrix(PAIRS, "label"), ["a", "b", "c"])
    assert not all_compared(matrix(PAIRS[:2], "label"), ["a", "b", "c"])
    assert all_compared(matrix(PAIRS[:2], "label"), ["a", "b"])


def test_what_one_candidate_is_beside_the_others():
    assert against(matrix(PAIRS, "label"), "c") == {"worse": ["b"], "cannot tell": ["a"]}
    assert against(matrix(PAIRS, "label"), "b") == {"better": ["a", "c"]}


def test_of_very_many_pairs_as_many_as_fit_the_leading_candidates_first():
    names = [f"c{n:02}" for n in range(30)]
    rates = {name: n / 30 for n, name in enumerate(names)}
    pairs = [
        pair(a, b, label=measure(rates[a], rates[b], rates[b] - rates[a] - 0.01, rates[b] - rates[a] + 0.01))
        for n, a in enumerate(names)
        for b in names[n + 1 :]
    ]

    shown = in_full(pairs, matrix(pairs, "label", {"label": rates}))

    assert len(shown) == MOST_IN_FULL < len(pairs)
    assert all("c29" in (each["base"], each["head"]) for each in shown[:29])
    assert in_full(pairs, None) == pairs[:MOST_IN_FULL]
    assert in_full(PAIRS, None) == PAIRS


def test_where_less_is_better_the_least_stands_first():
    pairs = [
        pair("a", "b", f1=measure(4.0, 3.0, -1.5, -0.5, higher_is_better=False)),
        pair("a", "c", f1=measure(4.0, 5.0, 0.5, 1.5, higher_is_better=False)),
    ]

    assert matrix(pairs, "f1").candidates == ["b", "a", "c"]
    assert matrix(pairs, "f1").cells["a", "b"].verdict == "worse"


def test_no_worse_one_way_may_be_undecided_the_other():
    pairs = [pair("a", name, f1=measure(0.5, 0.53, -0.01, 0.07, margin=0.02)) for name in "bc"]

    assert matrix(pairs, "f1").cells["b", "a"].verdict == "no worse"
    assert matrix(pairs, "f1").cells["a", "b"].verdict == "cannot tell"


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 0.5), st.booleans())
def test_better_one_way_is_worse_the_other(middle, reach, margin, higher):
    one = measure(0.0, middle, middle - reach, middle + reach, margin=margin, higher_is_better=higher)
    found = matrix([pair("a", "b", f1=one), pair("a", "c", f1=one)], "f1").cells

    there, back = found["b", "a"].verdict, found["a", "b"].verdict
    opposite = {"better": "worse", "worse": "better"}
    assert opposite.get(there, there) == back or {there, back} <= {"no worse", "cannot tell"}


def test_unknown_limits_and_values_stay_unknown():
    hollow = measure(0.0, 0.0, 0.0, 0.0) | {"base": None, "head": None, "verdict": "cannot tell"}
    hollow["difference"] = {"value": None, "low": None, "high": None}
    found = matrix([pair("a", "b", label=hollow), PAIRS[1]], "label", {"label": {"a": 0.5, "c": 0.625}})

    assert found.candidates == ["c", "a", "b"]
    assert found.cells["a", "b"] == ("cannot tell", {"value": None, "low": None, "high": None})


@pytest.mark.parametrize("pairs", [[], PAIRS[:1], [pair("a", "b"), pair("a", "c")]])
def test_one_pair_or_no_measure_has_no_matrix(pairs):
    assert matrix(pairs, lead_measure(pairs)) is None


@pytest.mark.parametrize(
    ("names", "wanted", "lead"),
    [
        (["f1", "label primary", "bleu"], "bleu", "label"),
        (["f1", "bleu.value"], "bleu", "bleu.value"),
        (["f1", "bleu"], "bleu", "bleu"),
        (["f1", "bleu"], None, "f1"),
        ([], "bleu", None),
    ],
)
def test_the_primary_measure_leads_then_the_metric_of_the_first_lines(names, wanted, lead):
    roles = {name.split()[0]: {"role": "primary" if " " in name else "secondary"} for name in names}

    assert lead_measure([pair("a", "b", **roles)], wanted) == lead
    assert (
        lead_measure([pair("a", "c"), *[pair("a", "b", **{name: role}) for name, role in roles.items()]], wanted)
        == lead
    )


BETTER, WORSE, OPEN = (0.05, 0.15), (-0.15, -0.05), (-0.05, 0.15)


def among(*pairs):
    """Pairs of (base, head, limits of the difference); every value is of other rows, so it says nothing."""
    return [pair(base, head, label=measure(1 - n / 10, 0.9, *limits)) for n, (base, head, limits) in enumerate(pairs)]


def test_values_over_different_rows_are_not_ranked_together():
    pairs = [
        pair("a", "b", label=measure(1.0, 0.9, -0.15, -0.05)),  # on easy rows
        pair("a", "c", label=measure(0.43, 0.5, 0.02, 0.12)),  # on hard ones
    ]
    found = matrix(pairs, "label", {"label": {"a": 0.6, "b": 0.9, "c": 0.5}})

    assert found.candidates == ["c", "a", "b"]
    assert not leads(found)  # nobody compared it with b


def test_pairs_won_come_before_the_headline_and_that_before_the_name():
    pairs = among(("a", "b", OPEN), ("a", "c", OPEN), ("b", "c", BETTER))

    assert matrix(pairs, "label", {"label": {"a": 0.9, "b": 0.8, "c": 0.5}}).candidates == ["c", "a", "b"]
    assert matrix(pairs[:2], "label", {"label": {"b": 0.8, "c": 0.9}}).candidates == ["c", "b", "a"]
    assert matrix(pairs[:2], "label").candidates == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("pairs", "leader"),
    [
        (among(("a", "b", WORSE), ("a", "c", WORSE), ("b", "c", OPEN)), True),
        (among(("a", "b", WORSE), ("a", "c", OPEN), ("b", "c", OPEN)), True),
        (among(("a", "b", WORSE), ("a", "c", WORSE)), True),
        (among(("a", "b", WORSE), ("b", "c", OPEN)), False),  # a and c never met
        (among(("a", "b", OPEN), ("a", "c", OPEN), ("b", "c", OPEN)), False),  # nobody is better
        (among(("a", "b", WORSE), ("b", "c", WORSE), ("a", "c", BETTER)), False),  # each is worse than one
    ],
)
def test_who_leads_met_all_others_is_better_than_one_and_worse_than_none(pairs, leader):
    assert leads(matrix(pairs, "label")) == leader


@given(st.lists(st.sampled_from([BETTER, WORSE, OPEN, None]), min_size=6, max_size=6))
def test_a_leader_is_worse_than_nobody(drawn):
    met = [*zip([("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")], drawn, strict=True)]
    found = matrix(among(*((*names, limits) for names, limits in met if limits)), "label")

    if found and leads(found):
        said = against(found, found.candidates[0])
        assert "worse" not in said
        assert said["better"]
        assert {name for names in said.values() for name in names} == {*found.candidates[1:]}


def test_candidates_that_the_measure_says_nothing_of_are_named_with_the_reason():
    f1 = measure(0.5, 0.75, 0.125, 0.375)
    pairs = [PAIRS[0], *[pair("a", each, f1=f1) for each in "ecd"], pair("b", "c", f1=f1)]

    assert left_out(pairs, "label", {"label": {"a": 0.5, "b": 0.75, "e": 1.0}}) == {
        "no labels": ["c", "d"],
        "not compared": ["e"],
    }
    assert left_out(pairs[1:], "f1", {}) == {}
    assert left_out([pair("a", "b"), *pairs[1:4]], "f1", {}) == {"not measured": ["b"]}
