"""What is compared of a candidate."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goldmeter.comparison.measures import Measure, check_measures, measures
from goldmeter.comparison.of_versions import scores_of
from goldmeter.errors import ParamsError
from goldmeter.pipeline import params
from tests.comparison.sample import COST, LATENCY, answers, version
from tests.small_project import settings


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Measure]:
    rows = [each | {"score_ms": 3.0, "score_cost": 0.5} for each in answers("+.-+")]
    rows[0]["label"] = True
    scores = {"score_ms": LATENCY, "score_cost": COST}
    made = version(
        tmp_path_factory.mktemp("one"), rows, scores=scores, metrics={"f1": {}, "bleu": {"threshold": 0.5}, "rouge": {}}
    )
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


TWICE = {"accuracy_case": {"metric": "accuracy", "case_sensitive": True}, "rouge_2": {"metric": "rouge", "n": 2}}


def test_a_metric_twice_is_measured_by_its_names(tmp_path: Path) -> None:
    chosen = TWICE | {"accuracy": {}, "bleu_2": {"metric": "bleu", "max_order": 2, "threshold": 0.3}}
    rows = [each | {"response": each["response"] and each["response"].upper()} for each in answers("+.+")]
    made = version(tmp_path, rows, metrics=chosen)

    [candidate] = scores_of(made).candidates({}).values()

    found = measures(candidate)
    assert sorted(found["accuracy"].values.tolist()) == [0.0, 1.0, 1.0]
    assert found["accuracy_case"].values.tolist() == [0.0, 0.0, 0.0]
    assert (found["bleu_2"].kind, found["bleu_2.value"].kind) == ("rate", "corpus")
    assert found["bleu_2"].signature.startswith("bleu_2|metric:bleu|order:2|")
    assert "rouge_2_f1_score" in found


def sections(**lexical: dict[str, Any]) -> dict[str, Any]:
    content = settings()
    content["lexical"] |= lexical
    content["gate"]["primary"] = content["gate"]["primary"] or "accuracy"
    models = params.models()
    return {name: params.section(models[name], content, name) for name in content if name in models}


def test_gate_and_targets_know_the_names_of_a_metric_twice() -> None:
    chosen = sections(**TWICE)
    chosen["gate"] = chosen["gate"].model_copy(update={"primary": "accuracy_case", "metrics": {"rouge_2_recall": 0.0}})

    check_measures(chosen)


def test_a_name_of_the_users_that_is_another_metrics_column_is_refused() -> None:
    with pytest.raises(ParamsError, match=r"^lexical\.rouge_recall: lexical\.rouge has the column rouge_recall too"):
        check_measures(sections(rouge={}, rouge_recall={"metric": "accuracy"}))


def test_the_gate_refuses_what_has_no_better_direction() -> None:
    chosen = sections(length_ratio={}, f1={"threshold": 0.5})

    for changed in ({"primary": "length_ratio"}, {"metrics": {"length_ratio": 0.0}}):
        own = {**chosen, "gate": chosen["gate"].model_copy(update=changed)}
        with pytest.raises(ParamsError, match="gate: neither more nor less of length_ratio is better"):
            check_measures(own)


def test_the_gate_takes_the_pass_rate_of_what_has_no_better_direction() -> None:
    chosen = sections(length_ratio={"threshold": 0.8})

    check_measures({**chosen, "gate": chosen["gate"].model_copy(update={"primary": "length_ratio", "metrics": {}})})
