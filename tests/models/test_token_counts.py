"""Tokens counted by words are those that the tokenizer makes of the text."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.models.embedding.folders import BUNDLED
from tasks.models.embedding.local import model_files
from tasks.models.embedding.token_counts import TokenCounts
from tests import hostile_texts

PIECES = ["[SEP]", "[sep]", "[", "SEP", "]", "\x00", "\x0b", "\x7f", "\r\n", "\t", "_", "don't", "é", "Ⅷ", "東", "#"]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
ASCII = st.text(st.characters(max_codepoint=127), max_size=60)


@pytest.fixture(scope="module")
def counts():
    return TokenCounts(model_files(BUNDLED).folder / "tokenizer.json")


def tokenized(counts, texts):
    return [len(counts.tokenizer.encode(text).ids) for text in texts]


@given(st.lists(st.one_of(TEXT, ASCII, st.lists(st.one_of(st.sampled_from(PIECES), ASCII)).map("".join))))
@example(["", " ", "a" * 100, "a" * 101, "x" * 100_000, "1,000.50 $", "[MASK]ed", "[M ASK]", "a\x00b", "a\tb"])
def test_words_have_the_tokens_of_their_text(counts, texts):
    assert counts.of(texts) == tokenized(counts, texts)


def test_hostile_texts_have_the_tokens_of_their_tokenizer(counts):
    texts = [text for text in hostile_texts.TEXTS if len(text) < 10_000]

    assert counts.of(texts) == tokenized(counts, texts)


def test_words_are_forgotten_when_there_are_too_many(counts, monkeypatch):
    monkeypatch.setattr("tasks.models.embedding.token_counts.WORDS", 3)
    texts = [f"word{i} of {i * 7919}" for i in range(50)]

    assert [counts.of([text])[0] for text in texts] == tokenized(counts, texts)


def test_a_tokenizer_of_another_kind_counts_itself(tmp_path):
    described = json.loads((model_files(BUNDLED).folder / "tokenizer.json").read_text())
    described["pre_tokenizer"] = {"type": "WhitespaceSplit"}
    (tmp_path / "tokenizer.json").write_text(json.dumps(described))
    counts = TokenCounts(tmp_path / "tokenizer.json")

    long_word = "a" * 60 + "-" + "a" * 60

    assert counts.of([long_word]) == tokenized(counts, [long_word]) == [3]  # unknown, as one word
