import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.text.normalization import normalize
from goldmeter.text.signs import SIGNS, same_signs
from tests.hostile_texts import TEXTS as HOSTILE

TEXTS = st.text(st.sampled_from("abX19 .,!?*_#+-−–<>=≤≠×^%$€£|&→"), max_size=8) | st.text(max_size=8)

DIFFERENT = [
    ("C++", "C#"), ("C#", "C"), ("F#", "F"), ("O-", "O+"), ("O−", "O"), ("Rh+", "Rh-"), ("A+", "A"), ("a*", "a+"),
    ("<5", ">5"), ("≤5", "<5"), ("x>y", "x<y"), ("x==y", "x!=y"), ("x == y", "x = y"), ("2^10", "210"), ("2×3", "23"),
    ("5%", "5"), ("5 ‰", "5 %"), ("1,5", "15"), ("$5", "€5"), ("£5", "5 $"), ("-v", "--v"), ("a + b", "a - b"),
    ("x && y", "x || y"), ("x→y", "x←y"), ("C++ and C#", "C# and C++"),
]  # fmt: skip
SAME = [
    ("**C++**!", "c++"), ("*Paris*", "Paris"), ("__Paris__", "Paris"), ("# Paris", "Paris"), ("> Paris", "Paris"),
    ("- Paris", "Paris"), ("Paris – France", "Paris - France"), ("x ≤ y", "x<=y"), ("x≠y", "x != y"), ("2·3", "2 * 3"),
    ("O−", "O-"), ("5 %", "5%"), ("1,000", "1000"), ("1,00,000", "100000"), ("$5", "5"), ("-v", "v"),
    ("Rock & Roll", "Rock Roll"), ("well-known", "wellknown"), ("Wow!", "wow"), ("snake_case", "snakecase"),
    ('"C#".', "C#"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "other"), DIFFERENT)
def test_signs_that_tell_texts_apart(text, other):
    assert not same_signs(text, other)


@pytest.mark.parametrize(("text", "other"), SAME)
def test_signs_that_say_nothing(text, other):
    assert same_signs(text, other)


@given(TEXTS, TEXTS)
def test_the_order_of_the_texts_does_not_matter_and_a_text_is_like_itself(text, other):
    assert same_signs(text, other) == same_signs(other, text)
    assert same_signs(text, text)


@given(TEXTS, TEXTS)
def test_texts_without_signs_are_never_told_apart(text, other):
    if not (re.search(_in_python(SIGNS), text) or re.search(_in_python(SIGNS), other)):
        assert same_signs(text, other)


@given(TEXTS)
def test_white_space_around_a_text_does_not_matter(text):
    assert same_signs(text.strip(), f"  {text}\n")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts(text):
    assert same_signs(text, normalize(text)) in {True, False}


def _in_python(pattern):
    """A pattern of RE2 for Python, which has no classes of Unicode categories."""
    return pattern.replace(r"\p{Sc}", "$¢£¤¥€₩₹₽₿﷼฿＄￡￥￦￠")
