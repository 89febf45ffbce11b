import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.reporting.words import UNSEEN, count, counted, number, percent, rule, shown, visible


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.71349, "0.713"),
        (0.0431, "0.0431"),
        (0.9996, "1.00"),
        (1, "1.00"),
        (0, "0"),
        (3.456, "3.46"),
        (-0.25, "−0.250"),
        (1234567, "1,230,000"),
        (1.5e-9, "1.5e−09"),
        (None, "–"),
        (float("nan"), "–"),
    ],
)
def test_number(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.71349, "71.3%"), (0, "0%"), (1, "100%"), (0.99999, ">99.9%"), (0.00001, "<0.1%"), (None, "–")],
)
def test_percent_keeps_none_and_all_apart_from_nearly(share, text):
    assert percent(share) == text


def test_counts():
    assert (count(1234567), count(0), count(0.5)) == ("1,234,567", "0", "0.500")
    assert [counted(n, "answer") for n in (1, 0, 1000)] == ["1 answer", "0 answers", "1,000 answers"]


def test_rule_of_a_metric_that_is_better_when_lower():
    assert rule({"threshold": 0.25, "higher_is_better": False}) == "up to 0.25"


@given(st.floats(-1e9, 1e9))
def test_number_is_within_half_a_percent(value):
    text = number(value).replace(",", "").replace("−", "-")

    assert float(text) == pytest.approx(value, rel=0.005, abs=1e-300)


@given(st.text())
def test_visible_leaves_nothing_unseen(text):
    assert not UNSEEN.search(visible(text))


def test_line_breaks_and_joiners_stay():
    assert visible("a\r\nb\rc\td 👩\u200d🔬 می\u200cخواهم") == "a\nb\nc\td 👩\u200d🔬 می\u200cخواهم"


def test_shown_cuts_and_says_so():
    assert shown("abcdef", 6) == ("abcdef", "")
    assert shown("abcdef", 4) == ("abcd…", "cut: the first 4 of 6 characters")
