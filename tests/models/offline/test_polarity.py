import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.models.offline import judge
from goldmeter.models.offline.polarity import polarity_of, says


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ("Yes.", 1),
        ("Yes, it is.", 1),
        ("No doubt, yes.", 1),
        ("It certainly is.", 1),
        ("Correct.", 1),
        ("Ja.", 1),
        ("No.", -1),
        ("No, it is not.", -1),
        ("It is not.", -1),
        ("It isn't Paris.", -1),
        ("Nope", -1),
        ("Yes and no.", 0),
        ("Maybe.", 0),
        ("Paris", 0),
        ("", 0),
    ],
)
def test_what_a_response_says(response, said):
    assert says(response) == said


@pytest.mark.parametrize(
    ("references", "expected"), [(["Yes"], 1), (["yes.", "True"], 1), (["No"], -1), (["Yes", "No"], 0), (["Paris"], 0)]
)
def test_references_of_one_polarity(references, expected):
    assert polarity_of(references) == expected


def test_yes_and_no_decide():
    judged = judge(["Is it?"] * 3, [["Yes"]] * 3, ["It is.", "It is not.", "Maybe."])

    assert [p >= 0.5 for p in judged.probabilities] == [True, False, False]
    assert judged.reasons[:2] == [
        'The answer says the same as the reference "Yes".',
        'The answer says the opposite of the reference "Yes", or neither yes nor no.',
    ]


@given(st.text())
def test_any_text_says_something(text):
    assert says(text) in {-1, 0, 1}
