from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goldmeter.text.kernels.pieces import FIRST, INSIDE, LAST
from goldmeter.text.kernels.splitting import CONTRACTIONS, RULES, split
from goldmeter.text.normalization import normalize
from goldmeter.text.tokenizers import CHRF, SQUAD, SQUAD_WITH_ARTICLES, TOKENIZERS, Tokenizer

NORMAL = Tokenizer(lambda text: normalize(text).split(), rule="normal", lowers=True)
ALL = [tokenizer for tokenizer in [*TOKENIZERS.values(), CHRF, SQUAD, SQUAD_WITH_ARTICLES, NORMAL] if tokenizer.rule]
VISIBLE = "".join(map(chr, range(0x21, 0x7F)))
MARKS = [
    "'s",
    "n't",
    "N'T",
    "'ll",
    "'RE",
    "--",
    "...",
    "can",
    "not",
    "the",
    "An",
    "a",
    "I",
    "d'ye",
    "&amp;",
    "<skipped>",
]
CHUNKS = st.text(VISIBLE, min_size=1, max_size=6)
CHUNKS |= st.lists(st.sampled_from([*MARKS, *VISIBLE, *CONTRACTIONS]), min_size=1, max_size=6).map("".join)
by_rule = pytest.mark.parametrize("tokenizer", ALL, ids=lambda each: each.split.__name__)


def tokens(chunks, tokenizer, *, kind=INSIDE, lower=False):
    """The tokens of each chunk, None of one that the rule does not cover."""
    data = [chunk.encode() for chunk in chunks]
    lengths = np.array([*map(len, data)], np.int64)
    stops, kinds = np.cumsum(lengths), np.full(len(data), kind, np.uint8)
    buffer = np.frombuffer(b"".join(data), np.uint8)
    whole, ends, counts = split(
        buffer,
        stops - lengths,
        stops,
        kinds,
        RULES[tokenizer.rule],
        lower or tokenizer.lowers,
        tokenizer.keeps_articles,
    )
    assert (ends[-1] if len(ends) else 0) == len(whole)
    words = iter([each.tobytes().decode() for each in np.split(whole, ends[:-1])] if len(ends) else [])
    found = [None if count < 0 else [next(words) for _ in range(count)] for count in counts]
    assert next(words, None) is None
    return found


def inside(chunk, tokenizer):
    """What the tokenizer gives for the chunk between other words."""
    return tokenizer.split(f"qzx {chunk} qzx")[1:-1]


@by_rule
@given(st.lists(CHUNKS, min_size=1, max_size=5))
@example(["(Paris),", "U.S.", "3.5%", "1,000.5", "don't", "Ohio's", "'tis", "a--b", "1..2", ".5", "5-4", "--", "a::b"])
@example(["a.,1", "1...5", "1-2-3", "x,,", "(the)", "AN", "<b>", "AT&T", '("a"', "dogs'.", "x't", "n't", "(n't", "_'s"])
@example(["cannotn't", "cannots"])
def test_a_chunk_has_the_tokens_of_its_tokenizer_or_is_left_to_it(tokenizer, chunks):
    for chunk, found in zip(chunks, tokens(chunks, tokenizer), strict=True):
        assert found in (None, inside(chunk, tokenizer)), chunk


@by_rule
@given(CHUNKS)
@example("Can't")
def test_the_case_is_lowered_first(tokenizer, chunk):
    assert tokens([chunk], tokenizer, lower=True)[0] in (None, inside(chunk.lower(), tokenizer))


@by_rule
def test_every_short_chunk_of_the_marks_that_rules_speak_of(tokenizer):
    chunks = ["".join(each) for length in (1, 2, 3) for each in product("a1.,-':\"($+/", repeat=length)]

    found = tokens(chunks, tokenizer)

    expected = inside(" qzx ".join(chunks), tokenizer)
    ends = [i for i, word in enumerate(expected) if word == "qzx"]
    apart = [expected[start + 1 : end] for start, end in zip([-1, *ends], [*ends, None], strict=True)]
    assert len(apart) == len(chunks)
    for chunk, each, one in zip(chunks, found, apart, strict=True):
        assert each in (None, one), chunk


@given(CHUNKS)
@example("dogs.")
@example("U.S.")
@example("a..")
@example(".")
def test_a_full_stop_that_ends_the_text_is_a_treebank_token(chunk):
    treebank = TOKENIZERS["treebank"]

    found = tokens([chunk], treebank, kind=LAST)[0]

    assert found is None or (chunk[-1] == "." and found == treebank.split(f"qzx {chunk}")[1:])
    assert tokens([chunk], treebank, kind=FIRST) == tokens([chunk], treebank, kind=FIRST + LAST) == [None]


@by_rule
def test_common_chunks_are_covered(tokenizer):
    chunks = ["It", "(Paris),", "Ohio's", "well-known", "U.S.", "won't", "1990s;", '"the', "who?", "$5"]

    assert None not in tokens(chunks, tokenizer)


@by_rule
@pytest.mark.parametrize("chunk", ["é", "a\n", "a b", "\x7f", "\0", "東.", "a\x1fb"])
def test_other_characters_than_visible_ascii_are_left_to_the_tokenizer(tokenizer, chunk):
    assert tokens(["a", chunk, "b"], tokenizer)[1] is None


@by_rule
def test_nothing_to_split(tokenizer):
    assert tokens([], tokenizer) == []
