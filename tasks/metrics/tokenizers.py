"""Tokenizers by name: a text in, its tokens as a list of strings out."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated

from pydantic import AfterValidator

Tokenizer = Callable[[str], list[str]]


def tokenizer(name: str) -> Tokenizer:
    """The tokenizer `name`.

    >>> tokenizer("13a+cjk")("It is Paris. 東京タワー, 3.5%")
    ['It', 'is', 'Paris', '.', '東', '京', 'タ', 'ワ', 'ー', ',', '3.5', '%']
    """
    return TOKENIZERS[known_tokenizer(name)]


def known_tokenizer(name: str) -> str:
    """The name itself; ValueError for one that no tokenizer has."""
    if name not in TOKENIZERS:
        raise ValueError(f"unknown tokenizer {name!r}; allowed: {', '.join(TOKENIZERS)}")
    return name


TokenizerName = Annotated[str, AfterValidator(known_tokenizer)]
"""Type of a metric's option `tokenizer`."""


def mteval_13a(text: str) -> list[str]:
    """NIST's mteval-v13a without its language-dependent entities.

    Source: mteval-v13a.pl; sacrebleu `tokenizers/tokenizer_13a.py`, whose output it equals on any text.
    """
    for old, new in _MTEVAL_REPLACEMENTS:
        text = text.replace(old, new)
    text = f" {text} "
    for pattern, replacement in _MTEVAL_SPLITS:
        text = pattern.sub(replacement, text)
    return text.split()


def mteval_13a_cjk(text: str) -> list[str]:
    """`mteval_13a`, then every Han, Hiragana and Katakana character by itself."""
    tokens = mteval_13a(text)
    return tokens if text.isascii() else _CJK.sub(r" \g<0> ", " ".join(tokens)).split()


def treebank(text: str) -> list[str]:
    """NLTK's Penn Treebank tokenizer over the whole text, not sentence by sentence."""
    return _nltk_tokenizer("NLTKWordTokenizer")(text)


def wordpunct(text: str) -> list[str]:
    """NLTK's WordPunctTokenizer: runs of word characters, runs of other visible characters."""
    return _nltk_tokenizer("WordPunctTokenizer")(text)


def whitespace(text: str) -> list[str]:
    """Split at white space."""
    return text.split()


def char(text: str) -> list[str]:
    """Every character that is not white space, as sacrebleu's `char`."""
    return list("".join(text.split()))


def words(text: str) -> list[str]:
    """Lower-case runs of letters, marks and digits (Unicode L, M, N), CJK characters by themselves.

    >>> words("Zürich's 2 cafés, 東京!")
    ['zürich', 's', '2', 'cafés', '東', '京']
    """
    return text.lower().translate(_WORD_CHARACTERS).split()


def rouge_score(text: str) -> list[str]:
    """[a-z0-9]+ of the lower-cased text.

    Source: rouge-score 0.1.2, `tokenize.tokenize` without stemmer.
    """
    return _ASCII_WORD.findall(text.lower())


TOKENIZERS: Mapping[str, Tokenizer] = {
    "13a+cjk": mteval_13a_cjk,
    "13a": mteval_13a,
    "treebank": treebank,
    "wordpunct": wordpunct,
    "whitespace": whitespace,
    "char": char,
    "words": words,
    "rouge_score": rouge_score,
}

_MTEVAL_REPLACEMENTS = (
    ("<skipped>", ""),
    ("-\n", ""),
    ("\n", " "),
    ("&quot;", '"'),
    ("&amp;", "&"),
    ("&lt;", "<"),
    ("&gt;", ">"),
)
_MTEVAL_SPLITS = (
    (re.compile(r"([{-~\[-` -&(-+:-@/])"), r" \1 "),  # ASCII punctuation but ' , - .
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),  # period and comma, unless a digit stands before
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),  # period and comma, unless a digit follows
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),  # dash after a digit
)
_ASCII_WORD = re.compile(r"[a-z0-9]+")

_CJK_RANGES = (
    (0x2E80, 0x2FDF),  # CJK Radicals Supplement, Kangxi Radicals
    (0x3005, 0x3007),  # iteration mark 々, closing mark 〆, ideographic zero
    (0x3021, 0x3029),  # Hangzhou numerals
    (0x3031, 0x3035),  # vertical kana repeat marks
    (0x3038, 0x303C),  # Hangzhou numerals, vertical iteration mark, masu mark
    (0x3040, 0x30FF),  # Hiragana, Katakana, with their voicing marks, ゝ ヽ, prolonged sound mark ー
    (0x31F0, 0x31FF),  # Katakana Phonetic Extensions
    (0x32D0, 0x32FE),  # circled Katakana
    (0x3300, 0x3357),  # squared Katakana words
    (0x3400, 0x4DBF),  # CJK Unified Ideographs Extension A
    (0x4E00, 0x9FFF),  # CJK Unified Ideographs
    (0xF900, 0xFAFF),  # CJK Compatibility Ideographs
    (0xFF66, 0xFF9F),  # halfwidth Katakana, with prolonged sound and voicing marks
    (0x16FE2, 0x16FE3),  # Old Chinese hook mark and iteration mark
    (0x16FF0, 0x16FF6),  # Vietnamese alternate reading marks, Chinese small numerals
    (0x1AFF0, 0x1B16F),  # Kana Extended-B, Kana Supplement, Kana Extended-A, Small Kana Extension
    (0x1F200, 0x1F200),  # square Hiragana hoka
    (0x20000, 0x3FFFD),  # planes 2 and 3: Extensions B to J, Compatibility Ideographs Supplement
)
"""The scripts Han, Hiragana and Katakana, and the marks used only with these; not Hangul, not Bopomofo.

Source: Unicode 17, Scripts.txt, ScriptExtensions.txt and Blocks.txt (UAX #24).
"""
_CJK = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in _CJK_RANGES) + "]")


class _WordCharacters(dict[int, str]):
    """A table for str.translate, filled as characters are met: a blank for what is not in a word."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if unicodedata.category(character)[0] not in "LMN":
            self[code] = " "
        else:
            self[code] = f" {character} " if _CJK.match(character) else character
        return self[code]


_WORD_CHARACTERS = _WordCharacters()


@cache
def _nltk_tokenizer(class_name: str) -> Tokenizer:
    import nltk.tokenize  # takes seconds

    tokenize: Tokenizer = getattr(nltk.tokenize, class_name)().tokenize
    return tokenize
