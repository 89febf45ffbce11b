"""A judge's probabilities beside the human labels of a run."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from goldmeter.estimates.columns import STATED_PROBABILITY
from goldmeter.estimates.judge_calibration import (
    FEWEST_IN_GROUP,
    LabelledProbabilities,
    Recalibration,
    joined,
    labelled_probabilities,
    recalibration,
    reliability,
)
from goldmeter.estimates.score_parts import ScoreParts
from goldmeter.pipeline.tables import Parts, describe, write_part

RNG = np.random.default_rng(8)
QUESTIONS = 120
P = RNG.beta(2.0, 1.0, 2 * QUESTIONS)
IDS, CANDIDATES = [f"q{i // 2}" for i in range(2 * QUESTIONS)], ["a", "b"] * QUESTIONS
GOOD, OVERCONFIDENT = RNG.random(P.size) < P, RNG.random(P.size) < 0.5


def entry(folder: Path, labels: Any, **options: Any) -> Any:
    found = scaled(folder, labels, **options)
    return None if found is None else found.entry


def scaled(folder: Path, labels: Any, **options: Any) -> Recalibration | None:
    return recalibration(of_parts(folder, labels, **options), 0.95)


def of_parts(
    folder: Path, labels: Any, *, order: Any = None, parts: int = 1, stated: Any = None, **columns: Any
) -> LabelledProbabilities:
    order = np.arange(P.size) if order is None else order
    load = {"id": IDS, "candidate": CANDIDATES, "group": [None] * P.size, "label": list(labels)}
    rows = pa.table(
        {**load, **columns}, pa.schema([(name, pa.string()) for name in [*load][:3]] + [("label", pa.bool_())])
    )
    judge = pa.table({"offline_match": pa.array(P, mask=np.isnan(P))})
    if stated is not None:
        judge = describe(judge.append_column("q_probability", pa.array(stated)), {STATED_PROBABILITY: "q_probability"})
    tables = {"load": rows, "judge": judge}
    for name, table in tables.items():
        (folder / name).mkdir(parents=True)
        for number, chosen in enumerate(np.array_split(order, parts)):
            write_part(table.take(chosen), folder / name, number)
    load_parts, judge = Parts(folder / "load"), Parts(folder / "judge")
    found = ScoreParts(load_parts, (judge,), judge)
    return joined(labelled_probabilities(found, number) for number in range(parts))


def test_probabilities_that_fit_and_few_labels_need_no_word(tmp_path: Path) -> None:
    few = [bool(right) if i < 2 * 49 else None for i, right in enumerate(OVERCONFIDENT)]

    assert entry(tmp_path / "good", GOOD) is None
    assert entry(tmp_path / "few", few) is None
    assert entry(tmp_path / "none", [None] * P.size) is None


def test_probabilities_that_labels_reject_are_recalibrated(tmp_path: Path) -> None:
    found = entry(tmp_path, OVERCONFIDENT)

    assert (found["n"], found["tested"], found["p_value"]) == (240, 120, 0.001)
    assert found["expected"] == pytest.approx(P.mean())
    assert found["right"] == OVERCONFIDENT.mean()
    assert found["error"] == pytest.approx(np.mean((P - OVERCONFIDENT) ** 2))
    assert 0.24 < found["error_recalibrated"] < 0.26 < found["error"]
    assert abs(found["slope"]) < 0.3  # the labels are those of a coin


def test_a_judge_that_states_probabilities_is_tested_by_its_own(tmp_path: Path) -> None:
    stated = np.clip(1.0 - P, 0.01, 0.99)

    assert entry(tmp_path / "offline", GOOD) is None
    found = entry(tmp_path / "stated", GOOD, stated=stated)

    assert found["expected"] == pytest.approx(stated.mean())
    assert found["slope"] < 0
    assert entry(tmp_path / "same", GOOD, stated=P) is None


def test_the_rows_of_all_parts_are_recalibrated_each_without_its_own_label(tmp_path: Path) -> None:
    some = [bool(right) if i % 3 else None for i, right in enumerate(OVERCONFIDENT)]
    order = np.random.default_rng(2).permutation(P.size)
    p = P[order].copy()
    unlabelled = np.flatnonzero(order % 3 == 0)
    p[unlabelled[0]] = np.nan

    found = scaled(tmp_path, some, order=order, parts=3)

    assert found is not None
    recalibrated = found.of(p)
    assert np.isnan(recalibrated).nonzero()[0].tolist() == [unlabelled[0]]
    assert recalibrated[unlabelled[1:]] == pytest.approx(found.calibration.of(p[unlabelled[1:]]))
    labelled = np.flatnonzero(order % 3)
    assert found.places.size == labelled.size
    assert set(found.places.tolist()) == set(labelled.tolist())
    curves = found.calibration.curves
    logits = np.log(p[labelled] / (1 - p[labelled]))
    by_curve = 1 / (1 + np.exp(-curves[:, :1] - curves[:, 1:] * logits))
    assert (np.abs(by_curve - recalibrated[labelled]) < 1e-9).any(axis=0).all()


def test_rows_in_another_order_and_in_parts_give_the_same(tmp_path: Path) -> None:
    order = np.random.default_rng(2).permutation(P.size)

    assert entry(tmp_path / "parts", OVERCONFIDENT, order=order, parts=3) == entry(tmp_path / "one", OVERCONFIDENT)


def test_rows_of_a_group_count_as_one_in_the_test(tmp_path: Path) -> None:
    groups = [f"g{i // 4}" for i in range(P.size)]

    assert entry(tmp_path / "g", OVERCONFIDENT, group=groups)["tested"] == 60
    assert entry(tmp_path / "few", OVERCONFIDENT, group=[f"g{i // 5}" for i in range(P.size)]) is None


def test_groups_of_equal_probabilities_have_the_share_of_right_answers(tmp_path: Path) -> None:
    order = np.random.default_rng(2).permutation(P.size)

    groups = reliability(of_parts(tmp_path / "one", GOOD), 0.95)

    assert reliability(of_parts(tmp_path / "parts", GOOD, order=order, parts=3), 0.95) == groups
    assert sum(one["n"] for one in groups) == P.size
    assert len(groups) == 10
    for one, above in pairwise(groups):
        assert one["high"] < above["low"]
    for one in groups:
        own = (one["low"] <= P) & (one["high"] >= P)
        assert one["n"] == own.sum() >= FEWEST_IN_GROUP
        assert one["expected"] == pytest.approx(P[own].mean())
        assert one["right"]["value"] == pytest.approx(GOOD[own].mean())
        assert one["right"]["low"] < one["right"]["value"] <= one["right"]["high"]
    assert sum(one["right"]["low"] <= one["expected"] <= one["right"]["high"] for one in groups) >= 8


@pytest.mark.parametrize("n", [0, 1, FEWEST_IN_GROUP * 2 - 1])
def test_few_labels_make_no_groups(n: int, tmp_path: Path) -> None:
    few = [bool(right) if i < n else None for i, right in enumerate(GOOD)]

    assert reliability(of_parts(tmp_path, few), 0.95) == []


def test_rows_of_one_group_have_no_interval(tmp_path: Path) -> None:
    groups = reliability(of_parts(tmp_path, GOOD, group=["g"] * P.size), 0.95)

    assert {(one["right"]["low"], one["right"]["high"]) for one in groups} == {(None, None)}


def test_equal_probabilities_are_one_group() -> None:
    n = 100
    same = LabelledProbabilities(
        np.arange(n, dtype=np.uint64),
        np.arange(n, dtype=np.uint64),
        np.arange(n),
        np.arange(n) % 2 == 0,
        np.repeat([0.2, 0.9], n // 2),
        n,
    )

    assert [one["expected"] for one in reliability(same, 0.95)] == pytest.approx([0.2, 0.9])
