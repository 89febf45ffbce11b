import re
import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.metrics.lexical.f1 import F1
from goldmeter.metrics.pairs import Pairs

TEXTS = st.one_of(
    st.text(max_size=20),
    st.lists(st.sampled_from(["a", "The", "an,", "cat", "cats", "Été", "!!", "the.", "42"]), max_size=8).map(" ".join),
)


def rows(responses, references, **options):
    metric = F1(**options)
    return metric.score(metric.stats(Pairs.of(responses, references)))


def squad_v11(response, reference):
    """SQuAD's evaluate-v1.1.py: its definition, step by step."""

    def tokens(text):
        text = "".join(c for c in text.lower() if c not in set(string.punctuation))
        return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split()).split()

    common = Counter(tokens(response)) & Counter(tokens(reference))
    same = sum(common.values())
    if same == 0:
        return 0.0
    precision, recall = same / len(tokens(response)), same / len(tokens(reference))
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize(
    ("response", "reference", "expected"),
    [
        ("Paris", "Paris", 1.0),
        ("New York", "New York", 1.0),
        ("London", "Paris", 0.0),
        ("Marie Curie was birthed in Warsaw.", "Marie Curie was born in Warsaw.", 0.8333),
        (
            "According to wikipedia, Marie Curie was not born in Paris but in Warsaw.",
            "Marie Curie was born in Warsaw.",
            0.6316,
        ),
        ("42", "forty-two", 0.0),
        ("The Eiffel-Tower!", "an eiffeltower", 1.0),
        ("yes yes yes", "yes", 0.5),
    ],
)
def test_known_values(response, reference, expected):
    assert rows([response], [reference])[0] == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("response", "reference", "expected"),
    [
        ("东京塔", "东京", 0.8),
        ("首都是北京。", "北京", 4 / 7),
        ("答案是“北京”。", "北京", 4 / 7),
        ("上海", "北京", 0.0),
        ("東京タワーです", "東京タワー", 10 / 12),
        ("Tokyo（東京）", "東京", 0.8),
        ("The Beatles", "the beatles", 1.0),
        ("서울특별시", "서울", 0.0),  # Korean has blanks between words
    ],
)
def test_characters_are_the_tokens_of_chinese_and_japanese(response, reference, expected):
    assert rows([response], [reference])[0] == pytest.approx(expected)
    if expected < 1:
        assert rows([response], [reference], profile="squad").tolist() == [0.0]


def test_right_and_wrong_chinese_answers_are_told_apart():
    references = ["珠穆朗玛峰", "长江", "一九四九年", "鲁迅"]
    right = [f"答案是{text}。" for text in references]
    wrong = [f"答案是{text}。" for text in ("乔戈里", "黄河", "二零零八", "老舍")]

    scores = rows([*right, *wrong], [*references, *references])

    assert scores[:4].min() > scores[4:].max()


@given(st.text(st.characters(codec="ascii") | st.sampled_from("é“”…—ß한"), max_size=30))
def test_texts_without_chinese_and_japanese_score_as_before(text):
    reference = f"{text} and the rest"

    assert rows([text], [reference]).tolist() == rows([text], [reference], tokenizer="squad").tolist()


def test_the_signature_states_tokenizer_and_version():
    assert F1().signature() == "f1|articles:yes|tokenizer:squad+cjk|fallback:yes|v:2"
    assert F1(profile="squad").signature() == F1(profile="azure").signature()
    assert "tokenizer:squad|" in F1(profile="squad").signature()


def test_the_best_reference_counts():
    assert rows(["the red fox"], [["blue", "red", "red fox"]]).tolist() == [1.0]


def test_articles():
    assert rows(["the fox"], ["fox"]).tolist() == [1.0]
    assert rows(["the fox"], ["fox"], articles=False)[0] == pytest.approx(2 / 3)


def test_texts_without_tokens_are_compared_as_they_are():
    responses, references = ["The", "!!!", "!!!", "The"], ["the", "!!!", "???", "cat"]

    assert rows(responses, references).tolist() == [1.0, 1.0, 0.0, 0.0]
    assert rows(responses, references, profile="azure").tolist() == [0.0] * 4


@given(TEXTS.filter(str.strip), TEXTS)
def test_agrees_with_squad(response, reference):
    assert rows([response], [reference], profile="azure")[0] == pytest.approx(squad_v11(response, reference), abs=1e-12)


def test_real_rows_agree_with_squad(real_rows):
    pairs = [(h, r) for h, r in zip(*real_rows, strict=True) if h is not None]
    responses, references = zip(*pairs, strict=True)

    expected = [max(squad_v11(h, text) for text in r) for h, r in pairs]

    assert len(pairs) > 2000
    assert rows(responses, references, profile="azure").tolist() == pytest.approx(expected, abs=1e-12)
