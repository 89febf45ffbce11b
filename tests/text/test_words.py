from hypothesis import example, given
from hypothesis import strategies as st

from goldmeter.text.words import Words, porter_stems, stems

LISTS = st.lists(st.text(max_size=6) | st.sampled_from(["Cats", "cats", "CATS", "ΑΣ", "İ", "running", "naïvely", "is"]))


def looked_up(numbers, words):
    return [words.strings[number] for number in numbers]


def test_words_are_slices_of_their_bytes():
    words = Words.of(["a", "", "é東"]).followed_by(Words.of(["b"]))

    assert len(words) == 4
    assert words.strings == ["a", "", "é東", "b"]
    assert not words.data.flags.writeable


@given(LISTS)
@example([])
def test_equal_words_have_one_number_in_the_order_of_first_occurrence(texts):
    numbers, words = Words.of(texts).numbered()

    assert words.strings == list(dict.fromkeys(texts))
    assert looked_up(numbers, words) == texts


@given(LISTS)
@example([])
@example(["İ", "A", "\u212a", "K"])
def test_the_lower_case_of_words_is_pythons(texts):
    numbers, words = Words.of(texts).lowered()

    assert looked_up(numbers, words) == [text.lower() for text in texts]
    assert sorted(words.strings) == sorted({text.lower() for text in texts})


@given(LISTS)
@example([])
@example(["ing", "cats\n", "\0", "日日ed", "is"])
def test_the_stems_of_words_are_those_of_strings(texts):
    lowered = [text.lower() for text in texts]

    numbers, words = stems(Words.of(lowered))

    assert looked_up(numbers, words) == porter_stems(lowered)
    assert len(set(words.strings)) == len(words)
