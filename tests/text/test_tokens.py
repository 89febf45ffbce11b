import re
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goldmeter.metrics.pairs import Pairs
from goldmeter.text.columns import utf8
from goldmeter.text.kernels.splitting import CONTRACTIONS
from goldmeter.text.tokenizers import SQUAD, SQUAD_WITH_ARTICLES, TOKENIZERS, Tokenizer
from goldmeter.text.tokens import JOINED, MARK, chunked

ALL = [pytest.param(tokenizer, id=name) for name, tokenizer in TOKENIZERS.items()]
ALL += [pytest.param(SQUAD, id="squad"), pytest.param(SQUAD_WITH_ARTICLES, id="squad_with_articles")]
TREEBANK, WHITESPACE = TOKENIZERS["treebank"], TOKENIZERS["whitespace"]
# Pieces that the rules speak of, between arbitrary Unicode.
# fmt: off
PIECES = [
    "<skipped>", "-\n", "\n", "&quot;", "&amp;", "&lt;", ".", ",", "-", "1", "23", "a", " ", "  ", "東", "か", "タ",
    "한", "é", "e\u0301", "\u200d", "\x85", "\u3000", "\x1f", "İ", "Σ", "ς", "'s", "can't", "cannot", "gimme",
    "wanna", "'tis", "'twas", "d'ye", "more'n", "$", "''", "'", "``", "`", '"', "--", "...", "—", "“", "”", "’",
    "‘", "«", "»", ")", "]", "}", "(", "[", "<", ">", ":", ";", "?", "!", "%", "*", MARK, "\t", "n't", "'ll", "U.S.",
    "the", "An",
]
EXAMPLES = [
    '""', "0'D'", MARK, f"a {MARK}-b {MARK.upper()} {MARK}.", "a\n.", "...", "'tis", "foo. ) »", "x )", "cannot", ". )",
    "", " ", "  a  b ", "'a' b'", " ) '", "a.. b...", "ΑΣ ΑΣ. ΑΣ'",
]
# fmt: on
TEXTS = st.one_of(
    st.text(max_size=8), st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=2)), max_size=10).map("".join)
)


def rows(tokens, side):
    """The tokens of every text as strings."""
    ids, offsets = side.ids.tolist(), side.offsets.tolist()
    return [[tokens.vocabulary[each] for each in ids[offsets[i] : offsets[i + 1]]] for i in range(len(offsets) - 1)]


def tokens_of(texts, tokenizer, *, lowercase=False):
    """The tokens of every text, as responses that stand before references."""
    tokens = Pairs.of(texts, texts).tokens(tokenizer, lowercase=lowercase)
    assert rows(tokens, tokens.responses) == rows(tokens, tokens.references)
    return rows(tokens, tokens.responses)


def split(texts, tokenizer, *, lowercase=False):
    return [tokenizer.split(text.lower() if lowercase else text) for text in texts]


@given(texts=st.lists(TEXTS, min_size=1, max_size=3), lowercase=st.booleans())
@example(texts=EXAMPLES, lowercase=False)
@example(texts=EXAMPLES, lowercase=True)
@pytest.mark.parametrize("tokenizer", ALL)
def test_tokens_of_a_text_are_what_its_tokenizer_gives(tokenizer, texts, lowercase):
    assert tokens_of(texts, tokenizer, lowercase=lowercase) == split(texts, tokenizer, lowercase=lowercase)


def test_treebank_tokens_of_every_short_text_of_its_own_characters():
    texts = ["".join(text) for length in range(5) for text in product("a .'\")»", repeat=length)]

    assert tokens_of(texts, TREEBANK) == split(texts, TREEBANK)


def test_treebank_leaves_every_contraction_to_nltk():
    from nltk.tokenize.destructive import MacIntyreContractions as Contractions

    patterns = [re.compile(each) for each in (*Contractions.CONTRACTIONS2, *Contractions.CONTRACTIONS3)]
    for pattern in patterns:
        word = re.sub(r"\(\?[i#=][^)]*\)|\\[bs]|[()]", "", pattern.pattern).strip()
        assert pattern.search(f" {word} "), word
        assert not word.isalnum() or word in CONTRACTIONS
    assert all(len(TREEBANK.split(word)) == 2 for word in CONTRACTIONS)


@pytest.mark.parametrize("tokenizer", ALL)
def test_tokens_of_every_two_pieces(tokenizer):
    texts = [first + blank + second for first, blank, second in product(PIECES[::4], ["", " "], PIECES[1::2])]

    assert tokens_of(texts, tokenizer) == split(texts, tokenizer)


@given(texts=st.lists(TEXTS, min_size=1, max_size=4), others=st.lists(TEXTS, max_size=4))
@example(texts=['""', "can't stop."], others=[MARK, "''", "stop. x"])
@pytest.mark.parametrize("tokenizer", ALL)
def test_tokens_of_a_text_do_not_depend_on_other_texts(tokenizer, texts, others):
    together = tokens_of([*others, *texts], tokenizer)

    assert together[len(others) :] == tokens_of(texts, tokenizer)


@pytest.mark.parametrize("tokenizer", ALL)
def test_more_chunks_than_are_tokenised_together(tokenizer):
    words = [f"w{i}" for i in range(2 * JOINED + 1)] + [f"{i},x'y-" for i in range(2 * JOINED + 1)]
    texts = [" ".join(words[i : i + 7]) for i in range(0, len(words), 5)]

    assert tokens_of(texts, tokenizer) == split(texts, tokenizer)


@pytest.mark.parametrize("tokenizer", ALL)
def test_long_texts_without_blanks(tokenizer):
    texts = [*(piece * (50_000 // len(piece)) for piece in ("a", "東", "é.", "x-1,'")), "a b"]

    assert tokens_of(texts, tokenizer) == split(texts, tokenizer)


def test_both_sides_share_one_vocabulary_of_distinct_tokens():
    tokens = Pairs.of(["b a b", "c."], [["a", "c"], ["c."]]).tokens(TREEBANK)

    assert sorted(tokens.vocabulary) == [".", "a", "b", "c"]
    assert tokens.responses.ids.dtype == np.int32
    assert rows(tokens, tokens.responses) == [["b", "a", "b"], ["c", "."]]
    assert rows(tokens, tokens.references) == [["a"], ["c"], ["c", "."]]


def test_cases_are_apart_unless_lowered():
    pairs = Pairs.of(["The the"], ["THE"])

    assert pairs.tokens(WHITESPACE).vocabulary == ["The", "the", "THE"]
    assert pairs.tokens(WHITESPACE, lowercase=True).vocabulary == ["the"]
    assert pairs.tokens(WHITESPACE).vocabulary == ["The", "the", "THE"]


def test_each_chunk_is_tokenised_once():
    seen = []
    counting = Tokenizer(lambda text: seen.append(text) or text.split(), joins=False)
    pairs = Pairs.of(["a b a", "b"], ["a", "b c"])

    pairs.tokens(counting)
    pairs.tokens(counting)

    assert sorted(seen) == ["a", "b", "c"]


@pytest.mark.parametrize("tokenizer", ALL)
def test_a_missing_response_has_no_tokens_and_a_row_may_have_no_reference(tokenizer):
    tokens = Pairs.of([None, "x", ""], [["y"], [], ["", "z w"]]).tokens(tokenizer)

    assert rows(tokens, tokens.responses) == [[], ["x"], []]
    assert rows(tokens, tokens.references) == [["y"], [], tokenizer.split("z w")]


@pytest.mark.parametrize("tokenizer", ALL)
def test_nothing_to_tokenise(tokenizer):
    for responses in ([], [None], [""], [None, ""], ["  "]):
        tokens = Pairs.of(responses, [[]] * len(responses)).tokens(tokenizer)

        assert tokens.responses.lengths.tolist() == [0] * len(responses)
        assert tokens.references.lengths.tolist() == []
        assert tokens.vocabulary == []


@pytest.mark.parametrize(("text", "of"), [(pa.string(), pa.list_), (pa.large_string(), pa.large_list)])
@pytest.mark.parametrize(("start", "length"), [(0, 9), (3, 5), (8, 1), (9, 0)])
def test_arrow_arrays_may_be_large_and_slices(text, of, start, length):
    responses = ["zero. x", "é", None, '"three"', "", None, "six six.", "東 7", "eight"]
    references = [["r."], [], ["s", "t u"], [], ["4"], ["5 '5'", "é"], [], ["'7'"], ["8."]]
    arrays = pa.array(responses, text), pa.array(references, of(text))

    tokens = Pairs(*(array.slice(start, length) for array in arrays)).tokens(TREEBANK)

    kept = slice(start, start + length)
    assert rows(tokens, tokens.responses) == split([each or "" for each in responses[kept]], TREEBANK)
    assert rows(tokens, tokens.references) == split([each for texts in references[kept] for each in texts], TREEBANK)


@pytest.mark.parametrize("text", [pa.string(), pa.large_string()])
def test_chunks_of_a_slice_are_of_no_other_text(text):
    texts = chunked(*utf8(pa.array(["zero", "one", "é two", "two", "", "three"], text).slice(2, 3)), "ends")

    assert [texts[k] for k in range(len(texts))] == ["é", "two"]
    assert texts.texts.ids.tolist() == [0, 1, 1]
    assert texts.texts.offsets.tolist() == [0, 2, 3, 3]
