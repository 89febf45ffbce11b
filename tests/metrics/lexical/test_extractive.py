import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter import scores
from goldmeter.estimates.tables import facts_of
from goldmeter.metrics.lexical.extractive import Extractive
from goldmeter.metrics.pairs import Pairs

SOURCE = "the cat sat on the mat and the dog slept"
WORDS = st.lists(st.sampled_from(["the", "cat", "sat", "on", "dog", "!"]), max_size=9)


def columns(responses, inputs):
    metric = Extractive()
    pairs = Pairs.of(responses, ["x"] * len(responses), inputs=inputs)
    return np.stack([*metric.column_scores(metric.row_stats(pairs)).values()], axis=-1)


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("The cat sat.", (1.0, 3.0, 10 / 3)),
        ("cat dog", (1.0, 1.0, 5.0)),
        ("the cat barked", (2 / 3, 4 / 3, 10 / 3)),
        ("nothing here", (0.0, 0.0, 5.0)),
        ("", (0.0, 0.0, 0.0)),
    ],
)
def test_known_values(response, expected):
    assert columns([response], [SOURCE])[0].tolist() == pytest.approx(expected)


def test_rows_without_a_source_or_a_response():
    found = columns(["a", "a", None, "a"], ["a", " \n", "a", None])

    assert np.isnan(found).all(axis=1).tolist() == [False, True, True, True]
    assert np.isnan(scores(["extractive"], ["a"], ["b"])["extractive_density"]).all()
    metric = Extractive()
    assert metric.applies(Pairs.of(["a", "a"], ["x", "x"], inputs=["a", None])).tolist() == [True, False]


def test_only_coverage_has_an_upper_bound():
    facts = facts_of(Extractive(), {})

    assert [facts[name].bounds for name in Extractive().columns] == [(0.0, 1.0), None, None]
    assert not any(one.has_pass_rate for one in facts.values())


@given(WORDS.filter(bool), WORDS.filter(lambda words: "".join(words).strip("!")))
def test_the_greedy_fragments_of_the_paper(summary, source):
    words, article = ([word for word in text if word != "!"] for text in (summary, source))
    lengths = greedy(words, article)

    [(coverage, density, compression)] = columns([" ".join(summary)], [" ".join(source)])

    assert coverage == pytest.approx(sum(lengths) / max(len(words), 1))
    assert density == pytest.approx(sum(length**2 for length in lengths) / max(len(words), 1))
    assert compression == pytest.approx(len(article) / len(words) if words else 0.0)


def greedy(summary, article):
    """Figure 3 of Grusky et al. 2018."""
    lengths, i = [], 0
    while i < len(summary):
        longest = j = 0
        while j < len(article):
            if summary[i] == article[j]:
                a, b = i, j
                while a < len(summary) and b < len(article) and summary[a] == article[b]:
                    a, b = a + 1, b + 1
                longest, j = max(longest, a - i), b
            else:
                j += 1
        lengths.append(longest)
        i += max(longest, 1)
    return lengths
