import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer

from goldmeter.text.kernels.stems import STEPS
from goldmeter.text.wordnet import wordnet
from goldmeter.text.words import porter_stems

SUFFIXES = sorted(
    {
        rule.split("→")[0].replace("|", "")
        for step, rules in STEPS.items()
        if step != "irregular"
        for text in rules.values()
        for rule in text.split()
    }
)
ENDINGS = [*SUFFIXES, "", "e", "s", "y", "ly", "ingly", "edly", "ations", "ibility", "nesses", "izers", "*ded"]
LETTERS = st.text("abcdefghijklmnopqrstuvwxyz", max_size=20)
SYLLABLES = st.lists(st.sampled_from([*ENDINGS, *"aeiouybdlst"]), max_size=6).map("".join)


def nltk_stems(words):
    return [PorterStemmer().stem(word) for word in words]


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("ties", "tie"),  # NLTK's extension; Porter's own rules give "ti"
        ("flies", "fli"),
        ("dying", "die"),  # irregular, in NLTK's list
        ("Running", "run"),
        ("conflated", "conflat"),
        ("hopping", "hop"),
        ("filing", "file"),
        ("falling", "fall"),
        ("feed", "feed"),
        ("agreed", "agre"),
        ("died", "die"),
        ("tried", "tri"),
        ("fly", "fli"),
        ("enjoy", "enjoy"),
        ("nationally", "nation"),
        ("geology", "geolog"),
        ("adoption", "adopt"),
        ("controlling", "control"),
        ("forty-two", "forty-two"),
        ("3rds", "3rd"),
        ("été", "été"),
        ("égalités", "égalité"),
        ("naïvely", "naïv"),
        ("东京s", "东京"),
        ("a日日ed", "a日"),
        ("a*ded", "ad"),  # NLTK takes Porter's sign for a double consonant as written
        ("İs", "i\u0307s"),  # two letters before lower-casing
        ("東京", "東京"),
        ("", ""),
    ],
)
def test_the_stem_of_a_word(word, stem):
    assert porter_stems([word]) == nltk_stems([word]) == [stem]


def test_no_words_have_no_stems():
    assert porter_stems([]) == []


def test_a_word_as_long_as_a_text_is_stemmed_too():
    assert porter_stems(["y" * 100_000]) == ["y" * 99_999 + "i"]


def test_any_character_may_stand_in_a_word():
    words = ["cats\0", "\0", "a\nb", "\x80s", "\ud800ing", "".join(map(chr, range(1000))) + "ponies", "cats"]

    assert porter_stems(words) == nltk_stems(words)


@pytest.mark.exhaustive
def test_equals_nltk_on_every_lemma_of_wordnet():
    words = wordnet().words

    assert len(words) == 168_897
    assert porter_stems(words) == nltk_stems(words)


def test_equals_nltk_on_inflected_words():
    lemmas = wordnet().words[::1200]
    words = [lemma[: len(lemma) - cut] + ending for lemma in lemmas for ending in ENDINGS for cut in (0, 1)]

    assert len(words) > 12_000
    assert porter_stems(words) == nltk_stems(words)


@given(st.lists(st.one_of(SYLLABLES, LETTERS, st.builds(str.__add__, LETTERS, st.sampled_from(ENDINGS)))))
def test_equals_nltk_on_words_made_of_suffixes(words):
    assert porter_stems(words) == nltk_stems(words)


@given(st.lists(st.builds(str.__add__, st.text(st.characters()), SYLLABLES)))
@example(["İ", "İy", "ΑΣ", "Ks", "\u212aing"])
def test_equals_nltk_on_any_text(words):
    assert porter_stems(words) == nltk_stems(words)
