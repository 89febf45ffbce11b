import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.console.format import FLAG, UNSEEN, abridged_apart, count, counted, level, number, rate, shown, visible


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
        (9.994e-5, "9.99e−05"),
        (9.996e-5, "0.000100"),
        (9.99e14, "999,000,000,000,000"),
        (1e300, "1e+300"),
        (None, "–"),
        (float("nan"), "–"),
    ],
)
def test_number(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.71349, "71.3 %"), (0, "0 %"), (1, "100 %"), (0.99999, ">99.9 %"), (0.00001, "<0.1 %"), (None, "–")],
)
def test_percent_keeps_none_and_all_apart_from_nearly(share, text):
    assert rate(share) == text


@pytest.mark.parametrize(
    ("confidence", "text"), [(0.95, "95 %"), (0.999, "99.9 %"), (0.29, "29 %"), (0.999999, "99.9999 %")]
)
def test_a_confidence_has_the_digits_that_it_was_set_with(confidence, text):
    assert level(confidence) == text


def test_counts():
    assert (count(1234567), count(0), count(0.5)) == ("1,234,567", "0", "0.500")
    assert [counted(n, "answer") for n in (1, 0, 1000)] == ["1 answer", "0 answers", "1,000 answers"]


@given(st.floats(-1e9, 1e9))
def test_number_is_within_half_a_percent(value):
    text = number(value).replace(",", "").replace("−", "-")

    assert float(text) == pytest.approx(value, rel=0.005, abs=1e-300)


ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
NOTHING_TO_SEE = "\x00\x1b\u202e\u2066\ufeff\u200b\u2060\xad\u180e\u034f\U000e0001\U000e0067\U000e007f"


@given(st.text() | st.text(st.sampled_from(f"ab{NOTHING_TO_SEE}{ENGLAND}")))
def test_visible_leaves_nothing_unseen_but_the_flag_of_a_region(text):
    assert not UNSEEN.search(FLAG.sub("", visible(text)))
    assert visible(visible(text)) == visible(text)


@pytest.mark.parametrize("each", NOTHING_TO_SEE)
def test_two_texts_that_differ_in_what_cannot_be_seen_are_shown_apart(each):
    assert visible(f"Par{each}is") == f"Par⟨U+{ord(each):04X}⟩is"


def test_line_breaks_joiners_and_selectors_stay():
    assert visible("a\r\nb\rc\td") == "a\nb\nc\td"
    for written in ("👩\u200d🔬", "می\u200cخواهم", "❤\ufe0f", "\u200eabc\u200f", "\u061c", f"{ENGLAND} wins"):
        assert visible(written) == written


@pytest.mark.parametrize("spelled", ["x\U000e0067", "\U0001f3f4\U000e0067", f"{ENGLAND}\U000e0067", ENGLAND[1:]])
def test_tags_that_spell_no_flag_are_seen(spelled):
    assert "⟨U+E0067⟩" in visible(spelled)


def test_shown_cuts_and_says_so():
    assert shown("abcdef", 6) == ("abcdef", "")
    assert shown("abcdef", 4) == ("abcd…", "cut: the first 4 of 6 characters")


def test_long_names_that_differ_only_in_the_middle_are_not_cut_to_the_same_text():
    names = [f"{'prompt ' * 20}v{number}{' of the last quarter' * 20}" for number in (13, 14)]

    assert len(set(abridged_apart([*names, "c" * 100], 80).values())) == 3
    assert len(abridged_apart([*names, "c" * 100], 80)["c" * 100]) == 80
