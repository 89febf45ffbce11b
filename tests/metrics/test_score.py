import subprocess
import sys

import numpy as np
import pytest

import tasks.metrics
from tasks.errors import ParamsError
from tasks.metrics import score


def test_scores_rows_with_one_reference_or_several():
    scores = score("bleu", ["New York", "London", None], ["New York", ["Paris", "London"], "Rome"])

    assert scores.dtype == np.float64
    assert scores.tolist() == pytest.approx([1.0, 1.0, np.nan], nan_ok=True)


def test_options_and_profiles():
    assert score("bleu", ["New York"], ["New York"], profile="azure")[0] == pytest.approx(0.2214, abs=5e-5)
    assert score("exact_match", ["Paris "], ["Paris"], strip=True).tolist() == [1.0]
    assert score("rouge", ["the cat"], ["the cat sat"]).tolist() == pytest.approx([0.8])  # F1 of 2/2 and 2/3


def test_wrong_calls_say_what_is_wrong():
    with pytest.raises(ParamsError, match="unknown metric 'blue'; did you mean bleu"):
        score("blue", ["a"], ["a"])
    with pytest.raises(ParamsError, match=r"lexical\.bleu\.smothing: unknown option"):
        score("bleu", ["a"], ["a"], smothing="exp")
    with pytest.raises(ValueError, match="1 responses, but 2 references"):
        score("bleu", ["a"], ["a", "b"])
    with pytest.raises(TypeError, match="one string"):
        score("bleu", "Paris", ["Paris"])


def test_accuracy_is_at_hand():
    assert tasks.metrics.accuracy(["Paris!"], ["paris"])["accuracy"] == 1.0
    with pytest.raises(AttributeError, match="no attribute 'precision'"):
        _ = tasks.metrics.precision


def test_importing_metrics_is_light():
    heavy = "'numpy', 'pyarrow', 'nltk', 'numba', 'torch'"
    code = f"import sys, tasks.metrics; print([module for module in ({heavy}) if module in sys.modules])"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
