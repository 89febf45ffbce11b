"""Probabilities of labels: read beside the label, for dataset.labels: designed; what can't be used is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.dataset.labels import probability_of
from goldmeter.dataset.settings import LabelMapping
from goldmeter.dataset.table import schema
from goldmeter.errors import DataError, ParamsError
from tests.dataset.test_joined import loaded, write
from tests.test_load import PARIS
from tests.test_load import loaded as loaded_plain
from tests.test_load import params as plain_params

__all__ = ["write"]

DESIGNED: dict[str, Any] = {
    "candidates": {"m": {"response": "a", "label": {"column": "ok", "probability": "pi"}}},
    "labels": "designed",
}
FILE = {"path": "labels.jsonl", "id": "id", "label": {"column": "ok", "probability": "pi"}}


def row(number: int, **values: Any) -> dict[str, Any]:
    return PARIS | {"id": str(number), "q": f"Capital of {number}?"} | values


def test_probabilities_stand_beside_the_labels_and_of_chosen_rows_without_one() -> None:
    rows, _ = loaded_plain([row(1, ok="yes", pi="0.25"), row(2, ok=None, pi="1"), row(3)], **DESIGNED)

    assert [(one["label"], one["label_probability"]) for one in rows] == [(True, 0.25), (None, 1.0), (None, None)]


def test_other_data_have_no_such_column() -> None:
    assert "label_probability" not in schema(plain_params()).names


def test_long_form() -> None:
    long = {"column": "system", "response": "a", "label": {"column": "ok", "probability": "pi"}}
    rows, _ = loaded_plain([row(1, system="m", ok="no", pi="0.5")], candidates=long, labels="designed")

    assert [(one["label"], one["label_probability"]) for one in rows] == [(False, 0.5)]


def test_of_a_file_of_labels_several_raters_have_one_probability(write: Any) -> None:
    write(
        m=[{"id": i, "prediction": "x"} for i in "12"],
        labels=[{"id": "1", "ok": ok, "pi": "0.5"} for ok in ("yes", "yes", "no")],
    )

    rows, _ = loaded(label_file=FILE, labels="designed")

    assert [(one["label"], one["label_probability"]) for one in rows] == [(True, 0.5), (None, None)]


def test_a_file_of_labels_that_contradicts_itself_is_refused(write: Any) -> None:
    write(
        m=[{"id": i, "prediction": "x"} for i in "12"],
        labels=[{"id": "1", "ok": "yes", "pi": pi} for pi in ("0.5", "0.6")],
    )

    with pytest.raises(
        DataError, match=r"labels.jsonl, line 2: pi is 0.6, but an earlier label of this answer has 0.5"
    ):
        loaded(label_file=FILE, labels="designed")


@pytest.mark.parametrize("value", ["0", "-0.5", "1.01", "nan", "inf", "1e-400", "half", "1_0", ["0.5"], {"p": "0.5"}])
def test_what_is_no_probability_is_refused(value: Any) -> None:
    with pytest.raises(DataError, match=r"answers.jsonl, line 1: pi is .* \(dataset.candidates.m.label.probability\)"):
        loaded_plain([row(1, ok="yes", pi=value)], **DESIGNED)


@given(st.floats() | st.integers())
def test_exactly_the_numbers_above_0_and_up_to_1_are_read(number: float) -> None:
    mapping = LabelMapping(column="ok", probability="pi")
    if 0 < number <= 1:
        assert probability_of({"pi": repr(number)}, mapping, "x", 1, "label") == number
    else:
        with pytest.raises(DataError):
            probability_of({"pi": repr(number)}, mapping, "x", 1, "label")


def test_a_label_without_a_probability_is_refused() -> None:
    with pytest.raises(DataError, match=r"line 2: the answer has a label, but no pi .*above 0 and at most 1"):
        loaded_plain([row(1, ok="yes", pi="0.5"), row(2, ok="no", pi=" ")], **DESIGNED)


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"labels": "designed"}, "dataset.labels: designed, but no labels are mapped"),
        ({"labels": "random"}, "dataset.labels: random, but no labels are mapped; name their column"),
        (
            {"labels": "designed", "candidates": {"m": {"response": "a", "label": "ok"}}},
            r"dataset.candidates.m.label: dataset.labels is designed, .* name its column: .*label.probability",
        ),
        (
            DESIGNED | {"labels": "random"},
            r"m.label.probability: only used with dataset.labels: designed, .* is random",
        ),
        ({"label_file": FILE}, r"dataset.label_file.label.probability: only used with dataset.labels: designed"),
    ],
)
def test_designs_without_probabilities_and_probabilities_without_a_design_are_refused(
    mapping: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParamsError, match=message):
        plain_params(**mapping).check()
