"""Grades that people gave: agreement of a judge with them, and their mean from a part of the rows."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score

from tasks.aggregate import Aggregate, Params, aggregate
from tasks.comparison.gate import Gate
from tasks.dataset.description import _score_description
from tasks.dataset.settings import ScoreMapping
from tasks.metrics.prompted import prompted
from tasks.pipeline.tables import Parts, describe, write_part
from tasks.scores.column_facts import statement
from tasks.scores.tables import facts_of
from tasks.wording import evidence
from tests.own_judge import METRICS, write_prompt

N = 400
GATE = Gate(primary="politeness.value", metrics={}, margin=0, confidence=0.95, fail_on="worse", max_unmeasured=0.05)
OPTIONS = Params(aggregate=Aggregate(confidence=0.95, guarantee=False, max_unmeasured=0.05, pass_at=()), gate=GATE)


@pytest.fixture(autouse=True)
def _prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_prompt()


def graded(tmp_path: Path, grades: list[float | None], ratings: list[float], labels: str = "random") -> Any:
    """reports/metrics.json of one candidate with human grades and a judge's ratings, both from 1 to 5."""
    n = len(grades)
    keys = {"id": [f"q{i}" for i in range(n)], "candidate": ["a"] * n}
    human = _score_description("quality", ScoreMapping(column="q", bounds=(1, 5), human=True))
    load = {
        **keys,
        "group": pa.nulls(n, pa.string()),
        "score_quality": pa.array(grades, pa.float64()),
        "content": [f"{i:064x}" for i in range(n)],
    }
    metric = prompted("politeness", METRICS["politeness"], "judge.metrics")
    judge = {
        **keys,
        "politeness": ratings,
        "politeness_result": metric.result(np.array(ratings)).tolist(),
        "judge_status": ["answered"] * n,
    }
    nothing = pa.table({"id": pa.array([], pa.string()), "reason": pa.array([], pa.string())})
    tables = {
        "load": describe(pa.table(load), statement({"score_quality": human}) | {"labels": labels}),
        "judge": describe(pa.table(judge), statement(facts_of(metric, {"provider": "openai"}))),
        "load_rejected": nothing,
        "embed": nothing,
        "lexical": pa.table(keys),
        "semantic": pa.table(keys),
    }
    parts = {}
    for name, table in tables.items():
        (tmp_path / name).mkdir()
        for number, start in enumerate((0, n // 2)):  # two parts
            write_part(table.slice(start, n - n // 2 if number else n // 2), tmp_path / name, number)
        parts[name] = Parts(tmp_path / name)
    [written] = aggregate(parts, OPTIONS)
    return json.loads(written["reports/metrics.json"])


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    quality = random.normal(3.2, 1.0, N)
    grades, ratings = (np.clip(np.rint(quality + random.normal(0, 0.6, N)), 1, 5) for _ in range(2))
    return grades, ratings


def test_a_judge_is_compared_with_the_grades_of_people(tmp_path: Path) -> None:
    grades, ratings = drawn(1)
    known = np.arange(N) % 4 == 0

    document = graded(tmp_path, [float(g) if k else None for g, k in zip(grades, known, strict=True)], ratings.tolist())

    entry = document["graded"]["a"]["score_quality"]["politeness"]
    kappa = cohen_kappa_score(grades[known], ratings[known], weights="quadratic")
    assert entry["n"] == N / 4
    assert entry["kappa"]["value"] == pytest.approx(kappa, abs=1e-6)
    assert entry["spearman"]["value"] == pytest.approx(spearmanr(grades[known], ratings[known]).statistic, abs=1e-6)
    assert entry["kappa"]["low"] < kappa < entry["kappa"]["high"]
    [line] = evidence.graded(document)
    assert line.startswith(
        "politeness against the human grades score_quality: kappa 0.66 [0.47, 0.79], Spearman 0.65 ["
    )
    assert line.endswith("] (100 answers).")


def test_the_mean_grade_comes_from_few_grades_and_a_judge_of_all_rows(tmp_path: Path) -> None:
    grades, ratings = drawn(2)
    known = np.arange(N) % 4 == 0

    document = graded(tmp_path, [float(g) if k else None for g, k in zip(grades, known, strict=True)], ratings.tolist())

    entry = document["candidates"]["a"]["score_quality"]
    assert (entry["n"], entry["n_not_asked"], entry["n_failed"]) == (N / 4, 3 * N / 4, 0)
    powered = entry["ppi"]
    assert powered["high"] - powered["low"] < 0.85 * (entry["high"] - entry["low"])
    assert powered["low"] < grades.mean() < powered["high"]
    assert abs(powered["value"] - grades.mean()) < abs(entry["value"] - grades.mean()) + 0.05
    assert powered["worth"] > N / 4


def test_grades_of_chosen_rows_make_no_estimate_of_all(tmp_path: Path) -> None:
    grades, ratings = drawn(3)

    document = graded(tmp_path, [*grades[:100].tolist(), *[None] * (N - 100)], ratings.tolist(), labels="other")

    assert "ppi" not in document["candidates"]["a"]["score_quality"]
    assert document["graded"]["a"]["score_quality"]["politeness"]["n"] == 100


def test_few_grades_say_nothing(tmp_path: Path) -> None:
    grades, ratings = drawn(4)

    assert "graded" not in graded(tmp_path, [*grades[:9].tolist(), *[None] * (N - 9)], ratings.tolist())


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"column": "q", "human": True}, "grades need bounds"),
        ({"columns": ["q", "r"], "bounds": [1, 5]}, "with human: true"),
        ({"bounds": [1, 5]}, "name either column"),
        ({"columns": ["q", "q"], "bounds": [1, 5], "human": True}, "appears twice"),
    ],
)
def test_a_mapping_of_grades_that_makes_no_sense_is_refused(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        ScoreMapping.model_validate(given)
