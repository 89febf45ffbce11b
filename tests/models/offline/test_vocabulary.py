import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.models.offline.stream import stream
from goldmeter.models.offline.vocabulary import LONGEST, fold, read, split


def numbers(text):
    values = stream(read([text])).values
    return values[~np.isnan(values)].tolist()


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("forty-two", [42]),
        ("42", [42]),
        ("1,500.5", [1500.5]),
        ("$1.5 million", [1_500_000]),
        ("two and a half million", [2, 1_000_000]),
        ("one thousand four hundred and forty", [1440]),
        ("two hundred and six", [206]),
        ("three million two hundred thousand and five", [3_200_005]),
        ("nineteen eighty-four", [1984]),
        ("twenty ten", [2010]),
        ("two dozen", [24]),
        ("a hundred", [100]),
        ("the twenty-first", [21]),
        ("the 21st", [21]),
        ("the 1990s", [1990]),
        ("Henry VIII", [8]),
        ("World War II", [2]),
        ("I did it", []),
        ("one, two, three", [1, 2, 3]),
        ("-5 degrees", [-5]),
        ("1939-1945", [1939, 1945]),
        ("9" * 400, []),
        ("٣", [3]),
    ],
)
def test_numbers_are_read_in_digits_and_in_words(text, values):
    assert numbers(text) == values


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Paris, France.", ["Paris", ",", "France", "."]),
        ("J. R. R. Tolkien", ["J. R. R.", "Tolkien"]),
        ("l’été", ["l'ete"]),
        ("東京タワー", ["東", "京", "タ", "ワ", "ー"]),
        ("नमस्ते", ["नमस्ते"]),
        ("!!!", [" !!!"]),
        ("🎉", [" 🎉"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_texts_are_split_into_words(text, words):
    assert list(split(text)) == words


def test_words_that_mean_the_same_have_one_form():
    assert [fold(word) for word in ("U.S.A.", "USA", "usa", "USA's")] == ["usa"] * 4
    assert fold("km") == fold("Kilometre")


def test_what_stands_behind_the_longest_text_is_not_read():
    assert split("a " * LONGEST + "Paris")[-1] == "a"


def test_articles_go_unless_nothing_else_is_there():
    words = read(["the Nile", "The", "vitamin A", "A river"])
    streamed = stream(words)
    texts = [streamed.types[a:b] for a, b in zip(streamed.offsets, streamed.offsets[1:], strict=False)]

    assert [[words.forms[each] for each in text] for text in texts] == [["nile"], ["the"], ["vitamin", "a"], ["river"]]


@given(st.text())
def test_any_text_is_read(text):
    assert bool(read([text]).ids.size) == bool(text.strip())
