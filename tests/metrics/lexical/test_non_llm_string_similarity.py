import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import distance

from goldmeter.metrics.lexical.non_llm_string_similarity import NonLlmStringSimilarity
from goldmeter.metrics.pairs import Pairs

ORACLES = {
    "levenshtein": distance.Levenshtein,
    "hamming": distance.Hamming,
    "jaro": distance.Jaro,
    "jaro_winkler": distance.JaroWinkler,
    "indel": distance.Indel,
    "osa": distance.OSA,
}


def rows(responses, references, **options):
    metric = NonLlmStringSimilarity(**options)
    return metric.score(metric.stats(Pairs.of(responses, references)))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("levenshtein", 1 - 2 / 4),  # two substitutions
        ("osa", 1 - 1 / 4),  # one transposition
        ("indel", 1 - 2 / 8),  # one deletion, one insertion
        ("hamming", 1 - 2 / 4),
        ("jaro", (4 / 4 + 4 / 4 + 3 / 4) / 3),
        ("jaro_winkler", 1 - (1 - (1 + 1 + 3 / 4) / 3) * (1 - 0.1)),  # one letter of common prefix
    ],
)
def test_each_distance(name, expected):
    assert rows(["abcd"], ["acbd"], distance=name)[0] == pytest.approx(expected, rel=1e-14)


def test_known_value():
    scores = rows(["Marie Curie was birthed in Warsaw."], ["Marie Curie was born in Warsaw."])

    assert scores[0] == pytest.approx(0.8529, abs=5e-5)


def test_hamming_pads():
    assert rows(["abc"], ["abcd"], distance="hamming").tolist() == [0.75]


def test_case():
    assert rows(["PARIS", "STRASSE"], ["paris", "straße"], case_sensitive=False).tolist() == [1.0, 1.0]
    assert rows(["PARIS"], ["paris"]).tolist() == [0.0]


def test_the_best_reference_counts():
    assert rows(["abcd"], [["x", "abcx", "abxx"]]).tolist() == [0.75]


@given(
    st.sampled_from(list(ORACLES)),
    st.lists(st.tuples(st.text(max_size=12), st.text(max_size=12)), min_size=1),
)
def test_agrees_with_rapidfuzz(name, pairs):
    pairs = [(response or "x", reference) for response, reference in pairs if response.strip() or not response]
    expected = [ORACLES[name].normalized_similarity(*pair) for pair in pairs]

    scores = rows([h for h, _ in pairs], [r for _, r in pairs], distance=name)

    assert scores.tolist() == pytest.approx(expected, abs=1e-12)


def test_real_rows_agree_with_rapidfuzz(real_rows):
    pairs = [(h, r) for h, r in zip(*real_rows, strict=True) if h is not None]
    responses, references = zip(*pairs, strict=True)

    assert len(pairs) > 2000
    for name, oracle in ORACLES.items():
        expected = [max(oracle.normalized_similarity(h, text) for text in r) for h, r in pairs]
        assert rows(responses, references, distance=name).tolist() == pytest.approx(expected, abs=1e-12)
