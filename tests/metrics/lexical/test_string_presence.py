import numpy as np
import pyarrow as pa
import pytest

from goldmeter.metrics import score
from goldmeter.metrics.lexical.string_presence import LONG, StringPresence
from goldmeter.metrics.pairs import Pairs


def rows(responses, references, **options):
    metric = StringPresence(**options)
    return metric.score(metric.stats(Pairs.of(responses, references)))


@pytest.mark.parametrize(
    ("response", "reference", "options", "expected"),
    [
        ("It is Paris.", "Paris", {}, 1.0),
        ("Paris", "It is Paris.", {}, 0.0),
        ("It is paris.", "Paris", {}, 0.0),
        ("It is paris.", "Paris", {"case_sensitive": False}, 1.0),
        ("about 1,000 people", "1000", {}, 0.0),
        ("about 1,000 people", "1000", {"normalize": True}, 1.0),
        ("It is the “New  York”!", "new york", {"normalize": True}, 1.0),
        ("minus -5 degrees", "5", {"normalize": True}, 1.0),
        ("wow!!!", "!!!", {}, 1.0),
        ("wow!!!", "!!!", {"normalize": True}, 0.0),  # nothing is left of the reference only
        ("!!!", "!!!", {"normalize": True}, 1.0),
        ("!!!", "???", {"normalize": True}, 0.0),
        ("Paris", "", {}, 0.0),
    ],
)
def test_presence(response, reference, options, expected):
    assert rows([response], [reference], **options).tolist() == [expected]


def test_any_reference_will_do():
    assert rows(["It is NYC"], [["New York", "NYC"]]).tolist() == [1.0]


def test_normalised_texts_of_the_pairs_are_used():
    pairs = Pairs(
        pa.array(["the Paris", None]),
        pa.array([["Rome", "A Paris"], ["x"]]),
        normalized=(pa.array(["paris", None], pa.string()), pa.array(["rome", "paris", "x"])),
    )
    metric = StringPresence(normalize=True)

    assert metric.score(metric.stats(pairs)).tolist() == pytest.approx([1.0, np.nan], nan_ok=True)


def test_takes_no_threshold():
    with pytest.raises(ValueError, match="binary"):
        StringPresence(threshold=0.5)


def test_references_longer_than_the_kernel_takes_are_found_too():
    long = "é" * LONG
    pairs = Pairs.of([f"x {long}!", f"x {long[1:]}!", long], [[long], [long], ["no", long]])

    scores = StringPresence().pair_scores(pairs)

    assert scores[:, 0].tolist() == [1.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("response", "reference", "literal", "normalised"),
    [("It is paris.", "Paris", 0.0, 1.0), ("about 1,000 people", "1000", 0.0, 1.0), ("Rome", "Paris", 0.0, 0.0)],
)
def test_the_normalised_form_stands_beside_the_literal_one(response, reference, literal, normalised):
    assert score("string_presence", [response], [reference]).tolist() == [literal]
    assert score("string_presence_normalized", [response], [reference]).tolist() == [normalised]
    assert score("string_presence", [response], [reference], normalize=True).tolist() == [normalised]
