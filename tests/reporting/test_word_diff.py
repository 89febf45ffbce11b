"""Words that only one of two texts has: nothing lost, nothing marked without need, in bounded time."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goldmeter.reporting.row_texts import MAX_WORDS, pieces, word_diff

TEXTS = st.text() | st.lists(
    st.sampled_from(["the", "Paris", "is", " ", "\n", ",", "東", "京", "é", "👩‍🚀", "नि"])
).map("".join)


def changed(spans):
    return [span.text for span in spans if span.changed]


@given(TEXTS, TEXTS)
@example("e\u0301", "\u0301")
@example("", "a")
def test_the_runs_of_each_side_are_its_text(before, after):
    found = word_diff(before, after)

    assert "".join(span.text for span in found.before) == before
    assert "".join(span.text for span in found.after) == after
    assert all(run.text for side in found for run in side)


@given(TEXTS, TEXTS)
def test_what_is_not_marked_is_the_same_on_both_sides(before, after):
    kept = [["".join(span.text for span in side if not span.changed)] for side in word_diff(before, after)]

    assert kept[0] == kept[1]


@given(TEXTS)
def test_equal_texts_have_no_mark(text):
    assert changed(word_diff(text, text).before) == changed(word_diff(text, text).after) == []


@given(TEXTS, TEXTS)
def test_unequal_texts_have_one(before, after):
    found = word_diff(before, after)

    assert (before == after) == (not changed(found.before) and not changed(found.after))


@given(TEXTS)
def test_no_piece_begins_with_a_mark_that_belongs_to_the_one_before(text):
    found = pieces(text)

    assert "".join(found) == text
    assert not [piece for piece in found[1:] if piece[0] in "\u0301\u200d\ufe0f"]


@pytest.mark.parametrize(
    ("before", "after", "lost", "gained"),
    [
        ("It was in 1889.", "It was in 1887.", ["1889"], ["1887"]),
        ("東京は首都です", "京都は首都です", ["東"], ["都"]),
        ("one two three", "uno dos three", ["one two"], ["uno dos"]),
        ("don't know", "do know", ["don't"], ["do"]),
        ("a  b", "a b", ["  "], [" "]),
        ("", "all new", [], ["all new"]),
        ("cafe\u0301", "cafe", ["cafe\u0301"], ["cafe"]),
        ("हिन्दी में", "हिन्दी है", ["में"], ["है"]),
        ("<b>x</b>", "<b>y</b>", ["x"], ["y"]),
        ("서울은 수도", "부산은 수도", ["서울은"], ["부산은"]),
    ],
)
def test_words_and_characters_without_spaces(before, after, lost, gained):
    found = word_diff(before, after)

    assert changed(found.before) == lost
    assert changed(found.after) == gained


def test_blanks_and_signs_between_two_changes_do_not_tear_the_mark_apart():
    assert changed(word_diff("red, green, blue sky", "ocre, jade, lime sky").after) == ["ocre, jade, lime"]


def test_a_middle_that_is_too_long_is_marked_whole():
    before, after = (" ".join(["same", *[word] * MAX_WORDS, "end"]) for word in ("a", "b c"))

    found = word_diff(before, after)

    assert [span.changed for span in found.before] == [False, True, False]
    assert found.before[0].text == "same "
    assert found.after[-1].text == " end"


@pytest.mark.parametrize(
    ("before", "after", "alike"),
    [("Paris", "Rome", False), ("", "Rome", False), ("Paris, I think", "Rome, I think", True), ("a, b", "c, d", False)],
)
def test_texts_without_a_word_in_common_are_told_from_those_that_changed(before, after, alike):
    assert word_diff(before, after).alike == alike
