"""What is compared of a candidate."""

import numpy as np
import pytest

from goldmeter.comparison.measures import Measure, measures
from goldmeter.comparison.of_versions import scores_of
from tests.comparison.sample import COST, LATENCY, answers, version


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Measure]:
    rows = [each | {"score_ms": 3.0, "score_cost": 0.5} for each in answers("+.-+")]
    rows[0]["label"] = True
    scores = {"score_ms": LATENCY, "score_cost": COST}
    made = version(tmp_path_factory.mktemp("one"), rows, scores=scores, metrics={"f1": {}, "bleu": {}, "rouge": {}})
    [candidate] = scores_of(made).candidates({}).values()
    return measures(candidate)


def test_a_metric_with_a_pass_rate_is_two_measures_and_its_name_is_the_rate(found: dict[str, Measure]) -> None:
    kinds = {name: found[name].kind for name in ("f1", "f1.value", "bleu", "bleu.value", "rouge_recall", "score_ms")}

    assert kinds == {
        "f1": "rate", "f1.value": "mean", "bleu": "rate", "bleu.value": "corpus", "rouge_recall": "mean",
        "score_ms": "mean",
    }  # fmt: skip


def test_a_rate_is_1_or_0_and_missing_where_the_score_is(found: dict[str, Measure]) -> None:
    values = found["f1"].values

    assert sorted(values[~np.isnan(values)].tolist()) == [0.0, 1.0, 1.0]
    assert np.isnan(values).tolist() == np.isnan(found["f1.value"].values).tolist()


def test_rate_and_value_have_signatures_of_their_own(found: dict[str, Measure]) -> None:
    assert found["f1"].signature == f"{found['f1.value'].signature}|thr:0.5"


@pytest.mark.parametrize(
    ("name", "bounds", "scale", "higher_is_better"),
    [
        ("f1", (0.0, 1.0), 1.0, True),
        ("label", (0.0, 1.0), 1.0, True),
        ("score_cost", (0.0, 2.0), 2.0, False),
        ("score_ms", None, 1.0, False),
    ],
)
def test_the_scale_of_a_measure(
    found: dict[str, Measure], name: str, bounds: object, scale: float, higher_is_better: bool
) -> None:
    measure = found[name]

    assert (measure.bounds, measure.scale, measure.higher_is_better) == (bounds, scale, higher_is_better)
