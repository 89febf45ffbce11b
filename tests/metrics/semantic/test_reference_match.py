"""Reference match: maximum and mean, references from params, duplicates."""

import numpy as np
import pytest

from goldmeter.errors import ParamsError
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.pairs import Pairs

DIRECTIONS = {"east": [1.0, 0.0], "north": [0.0, 1.0], "west": [-1.0, 0.0], "3/4": [3.0, 4.0]}


def scores(responses, references, /, **options):
    metric = configure("semantic", "reference_match", options)
    pairs = Pairs.of(responses, references, embed=lambda texts: np.array([DIRECTIONS[text] for text in texts]))
    return metric.score(metric.stats(pairs)).tolist()


def test_the_maximum_counts():
    assert scores(["3/4", "west"], [["east", "north", "west"], ["east"]]) == [0.8, 0]


def test_the_mean_is_of_cosines_clipped_one_by_one():
    assert scores(["3/4", "west"], [["east", "north", "west"], ["east"]], aggregation="mean") == [0.466667, 0]


def test_duplicates_count_unless_told_otherwise():
    references = [["east", "east", "north"]]

    assert scores(["east"], references, aggregation="mean") == [0.666667]
    assert scores(["east"], references, aggregation="mean", deduplicate=True) == [0.5]


def test_references_in_params_stand_for_every_row():
    options = {"references": ["north", "east", "east"]}

    assert scores(["3/4", "west", ""], [["west"], [], ["west"]], **options) == [0.8, 0, 0]
    assert scores(["3/4"], [[]], **options, aggregation="mean") == [0.666667]
    assert scores(["3/4"], [[]], **options, aggregation="mean", deduplicate=True) == [0.7]


def test_with_references_in_params_a_row_needs_none():
    metric = configure("semantic", "reference_match", {"references": ["east"]})

    details = metric.details(Pairs.of(["east", "", None], [[], [], []]))

    assert details == [None, '{"note": "empty response"}', '{"unmeasured": "no response"}']


def test_a_row_without_references_or_response_is_not_measured():
    found = scores(["east", None], [[], ["east"]], aggregation="mean")

    assert np.isnan(found).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"aggregation": "median"}, r"aggregation: should be 'max' or 'mean' .given: 'median'"),
        ({"references": []}, r"references"),
        ({"references": ["x", " "]}, r"references: a reference is blank"),
    ],
)
def test_wrong_options_are_errors(options, message):
    with pytest.raises(ParamsError, match=rf"semantic\.reference_match\.{message}"):
        configure("semantic", "reference_match", options)


def test_signatures_differ_with_the_references():
    lines = {
        configure("semantic", "reference_match", options).signature()
        for options in ({}, {"references": ["a", "b"]}, {"references": ["b", "a"]}, {"aggregation": "mean"})
    }

    assert len(lines) == 4
    assert "reference_match|references:row|aggregation:max|deduplicate:no|v:1" in lines
