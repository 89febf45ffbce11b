"""The offline judge's probabilities beside the human labels of a run."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tasks.pipeline.tables import Parts, write_part
from tasks.scores.offline_calibration import calibration_entry, labelled_probabilities
from tasks.scores.score_parts import ScoreParts

RNG = np.random.default_rng(8)
QUESTIONS = 120
P = RNG.beta(2.0, 1.0, 2 * QUESTIONS)
IDS, CANDIDATES = [f"q{i // 2}" for i in range(2 * QUESTIONS)], ["a", "b"] * QUESTIONS
GOOD, OVERCONFIDENT = RNG.random(P.size) < P, RNG.random(P.size) < 0.5


def entry(folder: Path, labels: Any, *, order: Any = None, parts: int = 1, **columns: Any) -> Any:
    order = np.arange(P.size) if order is None else order
    load = {"id": IDS, "candidate": CANDIDATES, "group": [None] * P.size, "label": list(labels)}
    rows = pa.table(
        {**load, **columns}, pa.schema([(name, pa.string()) for name in [*load][:3]] + [("label", pa.bool_())])
    )
    tables = {"load": rows, "judge": pa.table({"offline_match": pa.array(P, mask=np.isnan(P))})}
    for name, table in tables.items():
        (folder / name).mkdir(parents=True)
        for number, chosen in enumerate(np.array_split(order, parts)):
            write_part(table.take(chosen), folder / name, number)
    load_parts, judge = Parts(folder / "load"), Parts(folder / "judge")
    found = ScoreParts(load_parts, (judge,), judge)
    return calibration_entry((labelled_probabilities(found, number) for number in range(parts)), 0.95)


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


def test_rows_in_another_order_and_in_parts_give_the_same(tmp_path: Path) -> None:
    order = np.random.default_rng(2).permutation(P.size)

    assert entry(tmp_path / "parts", OVERCONFIDENT, order=order, parts=3) == entry(tmp_path / "one", OVERCONFIDENT)


def test_rows_of_a_group_count_as_one_in_the_test(tmp_path: Path) -> None:
    groups = [f"g{i // 4}" for i in range(P.size)]

    assert entry(tmp_path / "g", OVERCONFIDENT, group=groups)["tested"] == 60
    assert entry(tmp_path / "few", OVERCONFIDENT, group=[f"g{i // 5}" for i in range(P.size)]) is None
