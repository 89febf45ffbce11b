import re
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.text.json_values import MAX_PAIRS, Rules, fields, leaves, pattern, require_pattern, shown
from goldmeter.text.quantities import Tolerance
from tests.text.test_json_values import VALUES

UNORDERED = Rules({}, lists="unordered")


def outcomes(response, reference, rules=Rules({})):  # noqa: B008 (immutable)
    return {shown(field.path): field.outcome for field in fields(response, reference, rules)}


def right(response, reference, rules):
    return sum(field.outcome == "right" for field in fields(response, reference, rules))


def test_fields_of_objects():
    response = {"a": 1, "b": {"c": "x", "d": None}, "e": 5}
    reference = {"a": 1, "b": {"c": "y", "d": None, "f": []}, "g": {"h": 1}}

    assert outcomes(response, reference) == {
        "a": "right", "b.c": "wrong", "b.d": "right", "b.f": "missing", "g.h": "missing", "e": "extra",
    }  # fmt: skip


def test_lists_in_order():
    assert outcomes([1, 2, 3], [1, 3]) == {"[0]": "right", "[1]": "wrong", "[2]": "extra"}
    assert outcomes([1], [1, {"a": 3}]) == {"[0]": "right", "[1].a": "missing"}


def test_lists_by_best_matching():
    lines = [{"id": 1, "n": 2}, {"id": 2, "n": 3}, {"id": 3, "n": 4}]
    answered = [{"id": 3, "n": 4}, {"id": 2, "n": 9}, {"id": 8, "n": 8}]

    assert outcomes(answered, lines, UNORDERED) == {
        "[0].id": "missing", "[0].n": "missing", "[1].id": "right", "[1].n": "wrong", "[2].id": "right",
        "[2].n": "extra",
    } | {"[2].id": "extra", "[2].n": "extra"}  # fmt: skip


def test_a_different_kind_of_value_is_missing_and_extra():
    assert [*fields("none", {"x": 1, "y": 2}, Rules({}))] == [
        ("missing", ("x",)), ("missing", ("y",)), ("extra", ()),
    ]  # fmt: skip
    assert [field.outcome for field in fields([1, 2], 1, Rules({}))] == ["missing", "extra", "extra"]
    assert outcomes({}, []) == {"$": "wrong"}


@pytest.mark.parametrize(
    ("response", "reference", "comparer", "expected"),
    [
        (True, Decimal(1), "exact", "wrong"),
        (None, "", "exact", "wrong"),
        ("Acme", "acme", "exact", "wrong"),
        ("ACME  inc.", "Acme Inc", "text", "right"),
        ("ACME", "Acme Inc", "text", "wrong"),
        ("$1,200.50", Decimal("1200.5"), "number", "right"),
        (Decimal("1200.51"), "1200.50", "number", "right"),
        (Decimal(1201), Decimal("1200.5"), "number", "wrong"),
        ("1 or 2", "1 or 2", "number", "right"),
        ("1 or 2", Decimal(2), "number", "wrong"),
        (True, Decimal(1), "number", "wrong"),
        (["b", "a", "a"], ["a", "b"], "set", "right"),
        (["b"], ["a", "b"], "set", "wrong"),
        ([{"x": 1}, []], [[], {"x": 1}], "set", "right"),
        ("a", "a", "set", "right"),
        ({"x": [1]}, {"x": [1]}, "exact", "right"),
    ],
)
def test_comparers(response, reference, comparer, expected):
    rules = Rules({"v": comparer}, tolerance=Tolerance(absolute=Fraction("0.01")))

    assert outcomes({"v": response}, {"v": reference}, rules) == {"v": expected}


def test_comparers_of_all_items_ignored_fields_and_the_root():
    rules = Rules({"lines[].note": "ignore", "lines[].name": "text", "lines": "unordered"})
    reference = {"lines": [{"name": "A", "note": "x"}, {"name": "B", "note": "y"}]}

    assert outcomes({"lines": [{"name": "b"}, {"name": "a", "note": 3}]}, reference, rules) == {
        "lines[0].name": "right",
        "lines[1].name": "right",
    }
    assert outcomes(["b", "a"], ["a", "b"], Rules({"$": "set"})) == {"$": "right"}


def test_names_with_dots_are_quoted():
    assert shown(("a.b", 0, "c")) == "['a.b'][0].c"
    assert pattern(("a.b", 0, "c")) == "['a.b'][].c"
    assert outcomes({"a.b": "X"}, {"a.b": "x"}, Rules({"['a.b']": "text"})) == {"['a.b']": "right"}


@pytest.mark.parametrize(
    ("where", "problem"),
    [
        ("lines[0].price", " is no path, from '[0].price' on"),
        ("lines[*].price", " is no path, from '[*].price' on"),
        ("lines[]price", " is no path, from 'price' on"),
        ("a..b", " is no path, from '..b' on"),
        ("a.", " is no path, from '.' on"),
        ("", " is no path"),
        ("['a.b", ' is no path, from "[\'a.b" on'),
        ("['\\N{x}.']", " is no path"),
        ("['a']", ": write a"),
        ('["a.b"]', ": write ['a.b']"),
        ("$.a", ": leave out the $"),
        ("$[]", ": leave out the $"),
    ],
)
def test_patterns_that_no_path_has_are_refused(where, problem):
    with pytest.raises(ValueError, match=re.escape(f"{where!r}{problem}")):
        require_pattern(where)


@given(st.lists(st.text(max_size=4) | st.text(".[]'\"$\\\n", max_size=3) | st.just(0), max_size=4))
def test_the_pattern_of_every_path_is_one(path):
    require_pattern(pattern(tuple(path)))


def test_long_lists_are_matched_by_equality_then_in_order():
    n = int(MAX_PAIRS**0.5) + 1
    reference = [{"id": i, "v": 0} for i in range(n)]

    assert right(reference[::-1], reference, UNORDERED) == 2 * n
    assert right([{"id": i, "v": 1} for i in range(n)], reference, UNORDERED) == n


@pytest.mark.parametrize(("width", "depth"), [(30, 2), (2, 10), (4, 5), (90, 2)])
def test_nested_lists_are_matched_in_time(width, depth):
    def nested(offset, levels):
        return [nested(offset + i, levels - 1) if levels > 1 else {"a": offset + i, "b": 0} for i in range(width)]

    leaves_of_both = 2 * width**depth
    found = fields(nested(0, depth), nested(1000, depth), UNORDERED)

    assert sum(field.outcome == "right" for field in found) == leaves_of_both / 2


@given(VALUES)
def test_equal_values_have_every_field_right(value):
    for rules in (Rules({}), UNORDERED):
        assert fields(value, value, rules) == leaves(value, "right", rules)


@given(VALUES, VALUES)
def test_every_field_of_both_values_counts_once(response, reference):
    for rules in (Rules({}), UNORDERED):
        counts = Counter(field.outcome for field in fields(response, reference, rules))

        both = counts["right"] + counts["wrong"]
        assert both + counts["missing"] == len(leaves(reference, "missing", rules))
        assert both + counts["extra"] == len(leaves(response, "extra", rules))


ITEMS = st.lists(st.fixed_dictionaries({"a": st.integers(0, 2), "b": st.integers(0, 2)}), min_size=1, max_size=4)


@given(ITEMS, ITEMS)
def test_no_other_pairing_has_more_fields_right(response, reference):
    long, short = sorted([response, reference], key=len, reverse=True)

    best = max(
        sum(one["a"] == other["a"] for one, other in zip(some, short, strict=False))
        + sum(one["b"] == other["b"] for one, other in zip(some, short, strict=False))
        for some in permutations(long, len(short))
    )

    assert right(response, reference, UNORDERED) == best
