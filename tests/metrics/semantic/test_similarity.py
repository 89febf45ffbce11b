"""Similarity 1 to 5: the scale, its threshold, and the input before both texts."""

import numpy as np
import pytest

from goldmeter.errors import ParamsError
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.pairs import Pairs


def embed(texts):
    directions = {"same": [1.0, 0.0], "half": [0.5, np.sqrt(0.75)], "other": [0.0, 1.0], "opposite": [-2.0, 0.0]}
    return np.array([directions[text.removeprefix("What?\n")] for text in texts])


def test_a_cosine_becomes_1_to_5():
    metric = configure("semantic", "similarity", {})
    pairs = Pairs.of(["same", "half", "other", "opposite", "", None], ["same"] * 6, embed=embed)

    scores = metric.score(metric.stats(pairs))

    assert scores.tolist()[:-1] == [5, 3, 1, 1, 1]
    assert metric.result(scores).tolist() == ["pass", "pass", "fail", "fail", "fail", "unmeasured"]


def test_the_input_stands_before_both_texts():
    metric = configure("semantic", "similarity", {"with_query": True})
    pairs = Pairs.of(["half", "half", " "], ["same", "same", "same"], inputs=["What?", None, "What?"], embed=embed)

    assert metric.texts(pairs) == ["What?\nhalf", "half", "What?\nsame", "same"]
    assert metric.score(metric.stats(pairs)).tolist() == [3, 3, 1]


def test_a_threshold_out_of_bounds_is_an_error():
    with pytest.raises(ParamsError, match=r"semantic\.similarity\.threshold: threshold 0.7 is outside .* 1 to 5"):
        configure("semantic", "similarity", {"threshold": 0.7})
