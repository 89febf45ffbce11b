import pytest

from tasks.metrics.stemmer import porter_stem


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("ties", "tie"),  # NLTK's extension; Porter's own rules give "ti"
        ("flies", "fli"),
        ("dying", "die"),  # irregular, in NLTK's list
        ("Running", "run"),
        ("forty-two", "forty-two"),
        ("東京", "東京"),
        ("", ""),
    ],
)
def test_the_stem_of_a_word(word, stem):
    assert porter_stem(word) == stem


def test_a_word_as_long_as_a_text_is_stemmed_too():
    assert porter_stem("y" * 100_000) == "y" * 99_999 + "i"
