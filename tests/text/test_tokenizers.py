import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer, WordPunctTokenizer
from rouge_score.tokenize import tokenize as rouge_tokenize
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_char import TokenizerChar

from goldmeter.text.tokenizers import TOKENIZERS, tokenizer

# Pieces that the rules speak of, between arbitrary Unicode.
# fmt: off
PIECES = st.sampled_from([
    "<skipped>", "-\n", "\n", "&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", ".", ",", "-", "1", "23", "a", " ",
    "東", "京", "か", "タ", "ー", "々", "한", "é", "e", "\u0301", "\u200d", "\x85", "\u3000", "\x1f", "İ", "ẞ", "٣",
    "ς", "Σ", "'s", "can't", "$", "''", "``", '"', "--", "...", "—", "नि",
])
# fmt: on
TEXTS = st.one_of(st.text(), st.lists(st.one_of(PIECES, st.text(max_size=3)), max_size=12).map("".join))


def test_an_unknown_name_is_refused_with_the_names_that_exist():
    with pytest.raises(ValueError, match=r"unknown tokenizer 'zh'; allowed: 13a\+cjk, 13a, treebank, wordpunct, "):
        tokenizer("zh")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("13a+cjk", "It's $ 3.50,2019 - 20 in 東 京 タ ワ ー 한국 Paris ."),
        ("13a", "It's $ 3.50,2019 - 20 in 東京タワー 한국 Paris ."),  # a comma between digits does not split
        ("treebank", "It 's $ 3.50,2019-20 in 東京タワー 한국 Paris ."),
        ("wordpunct", "It ' s $ 3 . 50 , 2019 - 20 in 東京タワー 한국 Paris ."),
        ("whitespace", "It's $3.50,2019-20 in 東京タワー 한국 Paris."),
        ("char", " ".join("It's$3.50,2019-20in東京タワー한국Paris.")),
        ("words", "it s 3 50 2019 20 in 東 京 タ ワ ー 한국 paris"),
        ("rouge_score", "it s 3 50 2019 20 in paris"),
    ],
)
def test_each_tokenizer_on_one_text(name, expected):
    assert tokenizer(name).split("It's $3.50,2019-20 in 東京タワー 한국 Paris.") == expected.split()


def test_every_tokenizer_is_in_the_table_above():
    assert " ".join(TOKENIZERS) == "13a+cjk 13a treebank wordpunct whitespace char words rouge_score"


def test_13a_splits_sentences_inside_a_text():
    assert tokenizer("13a+cjk").split("It is Paris. It is big.") == ["It", "is", "Paris", ".", "It", "is", "big", "."]


@given(TEXTS)
def test_13a_equals_sacrebleu(text):
    assert tokenizer("13a").split(text) == Tokenizer13a()(text).split()


@given(TEXTS)
def test_char_equals_sacrebleu(text):
    assert tokenizer("char").split(text) == TokenizerChar()(text).split()


@given(TEXTS)
def test_13a_cjk_only_splits_what_13a_leaves_together(text):
    tokens = tokenizer("13a+cjk").split(text)

    assert "".join(tokens) == "".join(tokenizer("13a").split(text))
    assert all(len(token) == 1 for token in tokens if regex.search(r"[\p{Han}\p{Hiragana}\p{Katakana}]", token))


@given(TEXTS)
def test_wordpunct_and_treebank_equal_nltk(text):
    assert tokenizer("wordpunct").split(text) == WordPunctTokenizer().tokenize(text)
    assert tokenizer("treebank").split(text) == NLTKWordTokenizer().tokenize(text)


@given(TEXTS)
def test_rouge_score_equals_its_namesake(text):
    assert tokenizer("rouge_score").split(text) == rouge_tokenize(text, None)


@given(TEXTS)
def test_words_are_runs_of_letters_marks_and_digits(text):
    runs = regex.findall(r"[\p{L}\p{M}\p{N}]+", text.lower())

    # regex may know characters that this Python's unicodedata does not: those are compared by neither
    if not regex.search(r"\p{Cn}", text) and all(map(str.isprintable, "".join(runs))):
        assert "".join(tokenizer("words").split(text)) == "".join(runs)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),  # vowel signs are marks: they don't split a word
        ("cafe\u0301 naïve", ["cafe\u0301", "naïve"]),
        ("الحَمْد", ["الحَمْد"]),
        ("Straße, ½ Ⅷ x²", ["straße", "½", "ⅷ", "x²"]),
        ("人々は・ｶﾞ𠮷豈〇", ["人", "々", "は", "ｶ", "ﾞ", "𠮷", "豈", "〇"]),
        ("서울은 크다", ["서울은", "크다"]),
        ("😀 !!! —", []),
    ],
)
def test_words_in_many_scripts(text, expected):
    assert tokenizer("words").split(text) == expected


def test_cjk_is_every_character_of_three_scripts_and_their_own_marks():
    scripts = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
    allowed = regex.compile(r"[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Cn}]")
    characters = [chr(c) for c in [*range(0x1100, 0xD800), *range(0xE000, 0x1F300), *range(0x20000, 0x33480)]]
    visible = [c for c in characters if not c.isspace()]

    whole = set(tokenizer("13a+cjk").split(" ".join(f"가{c}가" for c in visible)))
    split = {c for c in visible if f"가{c}가" not in whole}

    assert {c for c in visible if scripts.match(c)} <= split
    assert all(allowed.match(c) for c in split)
    assert len(split) > 90_000
