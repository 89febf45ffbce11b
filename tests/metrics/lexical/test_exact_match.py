import pytest

from goldmeter.metrics.lexical.exact_match import ExactMatch
from goldmeter.metrics.pairs import Pairs


def rows(responses, references, **options):
    metric = ExactMatch(**options)
    return metric.score(metric.stats(Pairs.of(responses, references)))


@pytest.mark.parametrize(
    ("response", "reference", "as_is", "stripped"),
    [
        ("Paris", "Paris", 1.0, 1.0),
        ("Paris", "paris", 0.0, 0.0),
        ("Paris.", "Paris", 0.0, 0.0),
        ("Paris\n", " Paris", 0.0, 1.0),
        ("New  York", "New York", 0.0, 0.0),
        ("é", "e\u0301", 0.0, 0.0),  # equal to the eye, not character by character
    ],
)
def test_matches(response, reference, as_is, stripped):
    assert rows([response], [reference]).tolist() == [as_is]
    assert rows([response], [reference], strip=True).tolist() == [stripped]


def test_any_reference_will_do():
    assert rows(["NYC"], [["New York", "NYC"]]).tolist() == [1.0]


def test_the_corpus_score_is_the_mean_of_what_was_measured():
    metric = ExactMatch()

    stats = metric.stats(Pairs.of(["a", "b", None], ["a", "c", "d"]))

    assert stats.tolist() == [[1, 1], [0, 1], [0, 0]]
    assert metric.score(stats.sum(axis=0)) == 0.5
