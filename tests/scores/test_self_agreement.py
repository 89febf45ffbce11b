"""A judge that was asked twice: what aggregate says of it, and what that means for the rows that a comparison needs."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tasks.aggregate import Aggregate, Params, aggregate
from tasks.comparison.gate import Gate
from tasks.judging.settings import default_metric
from tasks.pipeline.tables import Parts, describe, write_part
from tasks.scores import rater_agreement, verdict_columns
from tasks.scores.column_facts import statement
from tasks.scores.tables import facts_of
from tasks.wording import evidence

SCALE = verdict_columns.facts("politeness", "politeness", (1.0, 5.0), 1, has_rate=True, is_binary=False)


def table(folder: Path, parts: list[dict[str, list[Any]]], facts: dict[str, Any]) -> Parts:
    folder.mkdir()
    for number, columns in enumerate(parts):
        write_part(describe(pa.table(columns), facts), folder, number)
    return Parts(folder)


def judged(tmp_path: Path, verdicts: list[list[float] | None], groups: list[str | None] | None = None) -> Any:
    """Entries of one candidate's rows in two parts, and of another candidate's single ones."""
    half = len(verdicts) // 2
    ids = [f"q{i}" for i in range(len(verdicts))]
    groups = groups or [None] * len(ids)
    slices = [slice(0, half), slice(half, None)]
    rows = [{"id": ids[s] + ids[s], "candidate": ["b"] * len(ids[s]) + ["a"] * len(ids[s])} for s in slices]
    load = [
        {**columns, "group": pa.array(groups[s] + groups[s], pa.string())}
        for columns, s in zip(rows, slices, strict=True)
    ]
    single: list[list[float]] = [[3.0]] * len(ids)
    numbers = pa.list_(pa.float64())
    judge = [
        {**columns, f"{name}_verdicts": pa.array(single[s] + verdicts[s], numbers)}
        for columns, s in zip(rows, slices, strict=True)
        for name in ["politeness"]
    ]
    given = table(tmp_path / "judge", judge, {verdict_columns.REPEATED: SCALE})
    found = rater_agreement.self_agreement_entries(table(tmp_path / "load", load, {}), given, 0.95, grouped=any(groups))
    return found, rater_agreement.noise(found, given)


def test_rows_with_two_verdicts_are_told_by_candidate(tmp_path: Path) -> None:
    found, noise = judged(tmp_path, [[1.0, 3.0], None, [5.0, 5.0], [4.0]] * 6)

    entry = found["a"]["politeness"]
    assert found.keys() == {"a"}
    assert (entry["n"], entry["pairs"], entry["equal"]["value"], entry["distance"]["value"]) == (12, 12, 0.5, 1.0)
    assert entry["noise"] == pytest.approx(1.0)  # squares 2 and 0 around the means, by turns
    # The means 2 and 5, by turns, vary by 9·12/(4·11); of that 1/2 is the judge's.
    assert entry["share"] == pytest.approx(1.0 / (27 / 11 + 1.0 / 2.0))
    assert noise == {("a", "politeness.value"): pytest.approx(1.0)}


def test_rows_of_a_group_are_one_cluster(tmp_path: Path) -> None:
    verdicts: list[list[float] | None] = [[1.0, 3.0]] * 12 + [[5.0, 5.0]] * 12
    (tmp_path / "alone").mkdir()

    alone, _ = judged(tmp_path / "alone", verdicts)
    grouped, _ = judged(tmp_path, verdicts, [f"g{i // 3}" for i in range(24)])

    one, other = (found["a"]["politeness"]["equal"] for found in (alone, grouped))
    assert one["value"] == other["value"] == 0.5
    assert other["high"] - other["low"] > 1.3 * (one["high"] - one["low"])


def test_too_few_rows_say_nothing(tmp_path: Path) -> None:
    assert judged(tmp_path, [[1.0, 3.0]] * 9) == ({}, {})


def test_noise_beyond_all_variance_promises_no_number_of_rows(tmp_path: Path) -> None:
    n = 200
    right = {"a": [i % 10 < 9 for i in range(n)], "b": [i % 10 < 9 or i == 9 for i in range(n)]}

    measure = compared(tmp_path, n, right)["comparisons"][0]["measures"]["meaning_match"]

    assert measure["rows_needed"] > n
    assert measure["judge_noise"] == {"share": 1.0, "rows_needed": None}


@pytest.mark.parametrize(
    ("is_binary", "draws", "has_rate", "measures"),
    [
        (True, 1, True, ["m", "m.value"]),
        (True, 3, True, ["m.value"]),
        (False, 1, True, ["m.value"]),
        (False, 1, False, ["m"]),
    ],
)
def test_noise_is_that_of_measures_that_are_the_mean_verdict(
    is_binary: bool, draws: int, has_rate: bool, measures: list[str]
) -> None:
    stated = verdict_columns.facts("m", "m", (0.0, 1.0), draws, has_rate=has_rate, is_binary=is_binary)

    assert stated["m"]["measures"] == measures


def answers(n: int, right: dict[str, list[bool]]) -> dict[str, pa.Table]:
    """Tables of a run of two candidates whose first 40 answers were judged twice, every fourth one in two ways."""
    keys = {"id": [f"q{i}" for i in range(n)] * 2, "candidate": ["a"] * n + ["b"] * n}
    load = {
        **keys,
        "group": pa.nulls(2 * n, pa.string()),
        "content": [f"{i % n:064x}" for i in range(2 * n)],
    }
    said = [*right["a"], *right["b"]]
    again = [[float(one), float(one != (i % 4 == 0))] if i % n < 40 else [float(one)] for i, one in enumerate(said)]
    verdicts = pa.array(again, pa.list_(pa.float64()))
    judge = {
        **keys,
        "meaning_match": [float(one) for one in said],
        "meaning_match_result": ["pass" if one else "fail" for one in said],
        "judge_status": ["answered"] * (2 * n),
        "meaning_match_verdicts": verdicts,
    }
    metric = default_metric("meaning_match")
    facts = facts_of(metric, {"provider": "openai"})
    repeated = verdict_columns.facts("meaning_match", "meaning_match", (0.0, 1.0), 1, has_rate=True, is_binary=True)
    return {
        "load": describe(pa.table(load), statement({})),
        "judge": describe(pa.table(judge), statement(facts) | {verdict_columns.REPEATED: repeated}),
    }


def compared(tmp_path: Path, n: int, right: dict[str, list[bool]]) -> Any:
    """reports/metrics.json of `answers`."""
    made = answers(n, right)
    nothing = pa.table({"id": pa.array([], pa.string()), "reason": pa.array([], pa.string())})
    unscored = made["judge"].select(["id", "candidate"]).replace_schema_metadata()
    tables = made | {"load_rejected": nothing, "embed": nothing, "lexical": unscored, "semantic": unscored}
    parts = {}
    for name, one in tables.items():
        (tmp_path / name).mkdir()
        write_part(one, tmp_path / name, 0)
        parts[name] = Parts(tmp_path / name)
    gate = Gate(primary="meaning_match", metrics={}, margin=0, confidence=0.95, fail_on="worse", max_unmeasured=0.05)
    options = Aggregate(confidence=0.95, guarantee=False, max_unmeasured=0.05, pass_at=())

    [written] = aggregate(parts, Params(aggregate=options, gate=gate))

    return json.loads(written["reports/metrics.json"])


def test_of_the_rows_that_a_comparison_needs_it_is_said_how_many_are_the_judge_s(tmp_path: Path) -> None:
    n = 200
    right = {"a": [i % 10 < 7 for i in range(n)], "b": [i % 9 < 6 for i in range(n)]}

    document = compared(tmp_path, n, right)

    entry = document["self_agreement"]["a"]["meaning_match"]
    assert (entry["n"], entry["equal"]["value"], entry["distance"], entry["noise"]) == (40, 0.75, None, 0.125)
    [pair] = document["comparisons"]
    measure = pair["measures"]["meaning_match"]
    d = np.subtract(right["b"], right["a"], dtype=np.float64)
    assert measure["judge_noise"]["share"] == pytest.approx(2 * 0.125 / d.var(ddof=1), abs=1e-6)
    assert measure["rows_needed"] > n
    assert measure["judge_noise"]["rows_needed"] == math.ceil((1 - 2 * 0.125 / d.var(ddof=1)) * measure["rows_needed"])
    [line] = evidence.self_agreement(document)
    assert line == (
        "The judge against itself, meaning_match: a 75.0 % [59.8, 85.8] the same, 52.3 % of the variance; "
        "b 75.0 % [59.8, 85.8] the same, 53.9 % of the variance (80 answers judged more than once)."
    )
