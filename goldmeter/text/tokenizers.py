"""Tokenizers by name: a text in, its tokens as a list of strings out."""

import re
import string
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

from pydantic import AfterValidator

Cut = Literal["blanks", "ends", "stops"]


@dataclass(frozen=True)
class Tokenizer:
    """A function that splits a text into tokens, and the properties that allow to apply it to chunks of text.

    Attributes:
        split: Returns the tokens of a text.
        cut: Chunks of a text whose tokens, taken together, are the tokens of the text. blanks: what is between blanks
            (0x20). ends: the same, but chunks at the ends of the text differ. stops: what is between blanks, with a
            final full stop or comma after an ASCII letter or digit as a chunk of its own.
        joins: Texts joined by a word of lower-case letters between blanks give their tokens with that word between.
        rule: The rule in `goldmeter.text.kernels.splitting` for chunks of visible ASCII characters; chunks that it does
            not cover are left to `split`.
        lowers: The rule lowers the case first, as `split` does.
        keeps_articles: The rule keeps tokens that are a, an or the.
    """

    split: Callable[[str], list[str]]
    cut: Cut = "stops"
    joins: bool = True
    rule: str | None = None
    lowers: bool = False
    keeps_articles: bool = True


def tokenizer(name: str) -> Tokenizer:
    """Return the tokenizer of this name.

    >>> tokenizer("13a+cjk").split("It is Paris. 東京タワー, 3.5%")
    ['It', 'is', 'Paris', '.', '東', '京', 'タ', 'ワ', 'ー', ',', '3.5', '%']
    """
    return TOKENIZERS[checked_tokenizer_name(name)]


def checked_tokenizer_name(name: str) -> str:
    """Return the name of a tokenizer; raise ValueError if there is none of that name."""
    if name not in TOKENIZERS:
        raise ValueError(f"unknown tokenizer {name!r}; allowed: {', '.join(TOKENIZERS)}")
    return name


# Type of a metric's option `tokenizer`.
TokenizerName = Annotated[str, AfterValidator(checked_tokenizer_name)]


def mteval_13a(text: str) -> list[str]:
    """NIST's mteval-v13a without its language-dependent entities.

    Source: mteval-v13a.pl; sacrebleu `tokenizers/tokenizer_13a.py`, whose output it equals on any text.
    """
    for old, new in _MTEVAL_REPLACEMENTS:
        text = text.replace(old, new)
    text = f" {text} "
    for pattern, padded in _MTEVAL_SPLITS:
        text = _padded(text, pattern, padded)
    return text.split()


def _padded(text: str, pattern: re.Pattern[str], group: int) -> str:
    """Put blanks around that group of each match, four times as fast as `re.sub` with a template."""
    pieces = pattern.split(text)
    every = 1 + pattern.groups
    pieces[group::every] = [f" {piece} " for piece in pieces[group::every]]
    return "".join(pieces)


def mteval_13a_cjk(text: str) -> list[str]:
    """`mteval_13a`, then every Han, Hiragana and Katakana character by itself."""
    tokens = mteval_13a(text)
    return _padded(" ".join(tokens), _CJK, 1).split() if _CJK.search(text) else tokens


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


def squad(text: str) -> list[str]:
    """Lower-case words without ASCII punctuation, a, an and the.

    Source: SQuAD's evaluate-v1.1.py, `normalize_answer`.
    """
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def squad_with_articles(text: str) -> list[str]:
    """`squad`, but a, an and the stay."""
    return text.lower().translate(_NO_PUNCTUATION).split()


def squad_cjk(text: str) -> list[str]:
    """`squad`, but words with Han, Hiragana or Katakana are split into these characters, and lose all punctuation.

    Source: Lewis et al. 2020, "MLQA", mlqa_evaluation_v1.py: `mixed_segmentation` of Chinese.

    >>> squad_cjk("The “東京タワー”、 and Tokyo!")
    ['東', '京', 'タ', 'ワ', 'ー', 'and', 'tokyo']
    """
    return _ARTICLES.sub(" ", _split_cjk_words(text)).split()


def squad_cjk_with_articles(text: str) -> list[str]:
    """`squad_cjk`, but a, an and the stay."""
    return _split_cjk_words(text).split()


def _split_cjk_words(text: str) -> str:
    text = text.lower().translate(_NO_PUNCTUATION)
    if not _CJK.search(text):
        return text
    words = (_CJK.sub(r" \1 ", word.translate(_WITHOUT_P)) if _CJK.search(word) else word for word in text.split())
    return " ".join(words)


def rouge_score(text: str) -> list[str]:
    """[a-z0-9]+ of the lower-cased text.

    Source: rouge-score 0.1.2, `tokenize.tokenize` without stemmer.
    """
    return _ASCII_WORD.findall(text.lower())


def chrf_words(text: str) -> list[str]:
    """Split at white space, then one ASCII punctuation mark off the end of a word, else off its beginning.

    Source: sacrebleu 2.6 `metrics/chrf.py`, which takes it from chrF++.py.

    >>> chrf_words("(hi) a.b ?!")
    ['(hi', ')', 'a.b', '?', '!']
    """
    return [part for word in text.split() for part in _split_punctuation(word)]


def _split_punctuation(word: str) -> tuple[str, ...]:
    if len(word) == 1:
        return (word,)
    if word[-1] in string.punctuation:
        return word[:-1], word[-1]
    return (word[0], word[1:]) if word[0] in string.punctuation else (word,)


TOKENIZERS: Mapping[str, Tokenizer] = {
    "13a+cjk": Tokenizer(mteval_13a_cjk, rule="mteval"),
    "13a": Tokenizer(mteval_13a, rule="mteval"),
    "treebank": Tokenizer(treebank, cut="ends", rule="treebank"),
    "wordpunct": Tokenizer(wordpunct, rule="wordpunct"),
    "whitespace": Tokenizer(whitespace, cut="blanks", rule="chunk"),
    "char": Tokenizer(char, joins=False),
    "words": Tokenizer(words, rule="runs", lowers=True),
    "rouge_score": Tokenizer(rouge_score, rule="runs", lowers=True),
}

# For the metric chrf only.
CHRF = Tokenizer(chrf_words, cut="blanks", rule="chrf")


@cache
def tercom(*, normalized: bool, punctuation: bool, asian: bool) -> Tokenizer:
    """Return the tokenizer of the metric ter.

    Source: sacrebleu 2.6 `tokenizers/tokenizer_ter.py`, which repeats Tercom's Normalizer.java.

    Args:
        normalized: Entities are read, and punctuation marks are tokens.
        punctuation: False: punctuation marks are deleted.
        asian: The same for marks of Chinese and Japanese; with `normalized`, their characters are tokens too.
    """

    def split(text: str) -> list[str]:
        if normalized:
            for old, new in _TERCOM_REPLACEMENTS:
                text = text.replace(old, new)
            text = _padded(f" {text} ", *_MTEVAL_SPLITS[0]).replace("'s ", " 's ")
            for pattern, padded in _MTEVAL_SPLITS[1:]:
                text = _padded(text, pattern, padded)
            if asian:
                text = _padded(text, _TERCOM_ASIAN, 1)
        if not punctuation:
            text = _TERCOM_PUNCTUATION.sub("", text)
            text = _TERCOM_ASIAN_PUNCTUATION.sub("", text) if asian else text
        return text.split()

    return Tokenizer(split, cut="blanks") if normalized or not punctuation else TOKENIZERS["whitespace"]


# For the metric f1 only.
SQUAD = Tokenizer(squad, rule="letters", lowers=True, keeps_articles=False)
SQUAD_WITH_ARTICLES = Tokenizer(squad_with_articles, rule="letters", lowers=True)
SQUAD_CJK = Tokenizer(squad_cjk, rule="letters", lowers=True, keeps_articles=False)
SQUAD_CJK_WITH_ARTICLES = Tokenizer(squad_cjk_with_articles, rule="letters", lowers=True)

_MTEVAL_REPLACEMENTS = (
    ("<skipped>", ""), ("-\n", ""), ("\n", " "), ("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"),
)  # fmt: skip
# Patterns, and the group of each that gets blanks around it.
_MTEVAL_SPLITS = (
    (re.compile(r"([{-~\[-`!-&(-+:-@/])"), 1),  # ASCII punctuation except ' , - .
    (re.compile(r"([^0-9])([.,])"), 2),  # period and comma, unless after a digit
    (re.compile(r"([.,])([^0-9])"), 1),  # period and comma, unless before a digit
    (re.compile(r"([0-9])(-)"), 2),  # dash after a digit
)
_TERCOM_REPLACEMENTS = (("\n-", ""), ("\n", " "), *_MTEVAL_REPLACEMENTS[3:])
_TERCOM_PUNCTUATION = re.compile(r"[.,?:;!\"()]")
_TERCOM_MARKS = (
    r"\u3001\u3002\u3008-\u3011\u3014-\u301f\u30fb\uff01\uff02\uff08\uff09\uff0c\uff0e\uff1a\uff1b\uff1f\uff61-\uff65"
)
_TERCOM_ASIAN_PUNCTUATION = re.compile(f"[{_TERCOM_MARKS}]")
# 3200 to 3f22 is sacrebleu's range for enclosed letters.
_TERCOM_ASIAN = re.compile(
    rf"([\u2e80-\u2eff\u31c0-\u31ef\u3200-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f{_TERCOM_MARKS}])"
)
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_ASCII_WORD = re.compile(r"[a-z0-9]+")

# The scripts Han, Hiragana and Katakana, and the marks used only with these; not Hangul, not Bopomofo.
# Source: Unicode 17, Scripts.txt, ScriptExtensions.txt and Blocks.txt (UAX #24).
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
_CJK = re.compile("([" + "".join(f"{chr(first)}-{chr(last)}" for first, last in _CJK_RANGES) + "])")


class _WordCharacters(dict[int, str]):
    """A table for str.translate, filled on demand: a blank for characters that are not part of words."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if unicodedata.category(character)[0] not in "LMN":
            self[code] = " "
        else:
            self[code] = f" {character} " if _CJK.match(character) else character
        return self[code]


class _NoPunctuation(dict[int, int | None]):
    """A table for str.translate, filled on demand, that deletes the characters of Unicode category P."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.category(chr(code))[0] == "P" else code
        return self[code]


_WORD_CHARACTERS = _WordCharacters()
_WITHOUT_P = _NoPunctuation()


@cache
def _nltk_tokenizer(class_name: str) -> Callable[[str], list[str]]:
    import nltk.tokenize  # takes seconds

    tokenize: Callable[[str], list[str]] = getattr(nltk.tokenize, class_name)().tokenize
    return tokenize
