from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goldmeter.models.offline import judge
from goldmeter.models.offline.symbols import LONGEST, is_another
from tests.hostile_texts import TEXTS
from tests.models.offline.minimal_pairs import drawn


@pytest.mark.parametrize(
    ("reference", "response", "differs"),
    [
        ("C#", "C++", True),
        ("C", "C#", True),
        ("C#", "It is c#.", False),
        ("O+", "O−", True),
        ("Rh-", "Rh+", True),
        ("A-", "The grade is A-.", False),
        ("x<y", "x>y", True),
        ("x!=y", "x==y", True),
        ("a+", "a*", True),
        ("--v", "-v", True),
        ("👎", "👍", True),
        ("H2O", "H2O2", True),
        ("12B Mill Lane", "14B Mill Lane", True),
        ("cats chase dogs", "dogs chase cats", True),
        ("from A to B", "from B to A", True),
        ("Nodejs", "Node.js", False),
        ("Spider-Man", "Spider Man", False),
        ("Paris", "Paris!", False),
        ("Paris", "**Paris**", False),
        ("R&B", "R & B", False),
        ("4", "x = 4", False),
        ("Lee Harper", "Harper Lee", False),
        ("Paris", "x" * LONGEST + " Paris+", False),
    ],
)
def test_a_symbol_or_the_order_of_parts_makes_another_value(reference, response, differs):
    assert is_another([reference], response) is differs


def test_a_response_that_one_of_the_references_fits_is_no_other():
    assert not is_another(["C#", "C++"], "C++")


def test_the_reason_names_symbols():
    assert judge(["Language?"], [["C#"]], ["C++"]).reasons == [
        'The answer has other symbols or another order than the reference "C#".'
    ]


def test_minimal_pairs_are_not_right_with_confidence():
    pairs = drawn(2000)
    probabilities = judge([None] * len(pairs), [[r] for _, r, _ in pairs], [a for *_, a in pairs]).probabilities
    sure = Counter(kind for (kind, *_), p in zip(pairs, probabilities, strict=True) if p >= 0.8)

    assert sum(sure.values()) <= 0.01 * len(pairs), sure


@example(["", "<"], "")
@given(st.lists(st.text() | st.sampled_from(TEXTS), min_size=1, max_size=3), st.text())
def test_any_texts_are_compared_and_a_reference_equals_itself(references, response):
    assert is_another(references, response) in {True, False}
    assert not is_another(references, references[0])
