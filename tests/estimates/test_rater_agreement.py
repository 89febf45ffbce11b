"""Several raters, grades of people, and a judge that was asked twice: what aggregate says of their agreement."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score

from goldmeter.comparison.gate import Gate
from goldmeter.dataset.description import _score_description
from goldmeter.dataset.settings import ScoreMapping
from goldmeter.estimates import human_labels, rater_agreement, verdict_columns
from goldmeter.estimates.column_facts import statement
from goldmeter.estimates.columns import NOT_RATED, ratings_of
from goldmeter.estimates.tables import facts_of
from goldmeter.judging.settings import default_metric
from goldmeter.metrics.prompted import prompted
from goldmeter.pipeline.tables import Parts, describe, write_part
from goldmeter.reporting.metrics_document import Aggregate, Params, aggregate
from goldmeter.wording import evidence
from tests.estimates.test_human_labels import BINARY, LABEL, NAN, candidate, column
from tests.own_judge import METRICS, write_prompt
from tests.reporting.made import parts_of

# Ten answers: two people agree on eight; a third is asked about the two others.
FIRST = [1, 1, 1, 1, 1, 0, 0, 0, 1, 0]
SECOND = [1, 1, 1, 1, 1, 0, 0, 0, 0, 1]
THIRD = [NOT_RATED] * 8 + [1, 0]
VERDICTS = [1, 1, 1, 1, 0, 0, 0, 1, 1, 1]


def rated(*ratings, groups=None, verdicts=VERDICTS):
    label = column("label", [1, 1, 1, 1, 1, 0, 0, 0, NAN, NAN], LABEL)
    one = candidate(label, column("exact_match", verdicts, BINARY), groups=groups)
    return replace(one, ratings=np.array(ratings, np.int8).T)


def test_two_people_and_a_metric_are_compared_with_one_person():
    found = rater_agreement.raters_entry(rated(FIRST, SECOND), 0.95)

    assert (found["n"], found["n_rated"], found["adjudicators"]) == (10, 10, [])
    assert found["pair"]["value"] == 0.8
    assert found["alpha"]["value"] == pytest.approx(1 - 19 * 2 / (12 * 8))  # 2 pairs differ; 12 of 20 say right
    assert found["mean_label"]["value"] == 0.6
    same = found["metrics"]["exact_match"]
    assert same["value"]["value"] == 0.7  # six of the eight that agree, and half of the two others
    assert same["difference"]["value"] == pytest.approx(-0.1)
    assert same["difference"]["low"] < -0.1 < same["difference"]["high"]
    assert "label" not in found["metrics"]


def test_who_is_asked_only_where_others_differ_says_nothing_of_agreement():
    with_third, without = (rater_agreement.raters_entry(rated(FIRST, SECOND, *more), 0.95) for more in ([THIRD], []))

    assert with_third["adjudicators"] == [3]
    assert {**with_third, "adjudicators": []} == without


def test_raters_of_a_random_part_all_count():
    third = [1, NOT_RATED] * 5

    assert rater_agreement.raters_entry(rated(FIRST, SECOND, third), 0.95)["adjudicators"] == []


def test_rows_with_one_rating_count_for_the_mean_label_alone():
    wide = rated([*FIRST], [*SECOND[:9], NOT_RATED], [NOT_RATED] * 10)

    assert rater_agreement.raters_entry(wide, 0.95) is None  # nine pairs are too few

    label = column("label", [1.0] * 12, LABEL)
    ratings = np.array([[1, 1]] * 10 + [[0, NOT_RATED], [NOT_RATED, NOT_RATED]], np.int8)
    found = rater_agreement.raters_entry(replace(candidate(label), ratings=ratings), 0.95)

    assert (found["n"], found["n_rated"]) == (10, 11)
    assert found["mean_label"]["value"] == pytest.approx(10 / 11)
    assert (found["alpha"]["value"], found["alpha"]["method"]) == (None, "one category of ratings")


def test_unmeasured_verdicts_are_left_out_and_few_say_nothing():
    assert rater_agreement.raters_entry(rated(FIRST, SECOND, verdicts=[*VERDICTS[:9], NAN]), 0.95)["metrics"] == {}


def test_groups_widen_the_intervals_and_one_group_says_nothing():
    alone = rater_agreement.raters_entry(rated(FIRST, SECOND), 0.95)["pair"]
    grouped = rater_agreement.raters_entry(rated(FIRST, SECOND, groups=[0, 1, 2, 3, 4, 5, 6, 7, 8, 8]), 0.95)["pair"]

    assert grouped["low"] < alone["low"]
    assert rater_agreement.raters_entry(rated(FIRST, SECOND, groups=[0] * 10), 0.95) is None


def test_without_ratings_there_is_nothing():
    assert rater_agreement.raters_entry(candidate(column("label", FIRST, LABEL)), 0.95) is None


def test_rows_on_which_raters_differ_count_although_they_have_no_label():
    few = human_labels.with_few_labelled(rated(FIRST, SECOND), None)

    assert len(few.keys) == 10


def test_ratings_of_parts_of_different_width_are_one_table():
    two, three = rated(FIRST, SECOND), rated(FIRST, SECOND, THIRD)

    [both] = human_labels.joined([[two], [three]])

    assert both.ratings.shape == (20, 3)
    assert (both.ratings[:, 2] == NOT_RATED).sum() == 18


LISTS = st.lists(st.none() | st.lists(st.none() | st.booleans(), max_size=4), max_size=9)


@given(LISTS)
def test_lists_of_ratings_become_a_table(lists):
    found = ratings_of(pa.chunked_array([pa.array(lists, pa.list_(pa.bool_()))]))

    for row, given_ratings in zip(found.tolist(), lists, strict=True):
        expected = [NOT_RATED if one is None else int(one) for one in given_ratings or []]
        assert row == expected + [NOT_RATED] * (found.shape[1] - len(expected))


@given(st.lists(st.lists(st.sampled_from([-1, 0, 1]), min_size=3, max_size=3), min_size=1, max_size=12))
def test_any_ratings_have_an_entry_or_none(rows):
    n = len(rows)
    one = candidate(column("label", [NAN] * n, LABEL), column("exact_match", [1, 0] * n, BINARY).rows(np.arange(n)))

    found = rater_agreement.raters_entry(replace(one, ratings=np.array(rows, np.int8)), 0.95)

    if found:
        assert 0 <= found["pair"]["low"] <= found["pair"]["value"] <= found["pair"]["high"] <= 1


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
    [written] = aggregate(parts_of(tables, tmp_path, part_rows=n // 2), OPTIONS)
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


def test_noise_beyond_all_variance_is_all_of_it(tmp_path: Path) -> None:
    n = 200
    right = {"a": [i % 10 < 9 for i in range(n)], "b": [i % 10 < 9 or i == 9 for i in range(n)]}

    measure = compared(tmp_path, n, right)["comparisons"][0]["measures"]["meaning_match"]

    assert measure["judge_noise"] == {"share": 1.0}


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
    gate = Gate(primary="meaning_match", metrics={}, margin=0, confidence=0.95, fail_on="worse", max_unmeasured=0.05)
    options = Aggregate(confidence=0.95, guarantee=False, max_unmeasured=0.05, pass_at=())

    [written] = aggregate(parts_of(tables, tmp_path, part_rows=2 * n), Params(aggregate=options, gate=gate))

    return json.loads(written["reports/metrics.json"])


def test_of_a_judge_alone_it_is_said_how_far_it_differs_from_itself_and_that_labels_decide(tmp_path: Path) -> None:
    n = 200
    right = {"a": [i % 10 < 7 for i in range(n)], "b": [i % 9 < 6 for i in range(n)]}

    document = compared(tmp_path, n, right)

    entry = document["self_agreement"]["a"]["meaning_match"]
    assert (entry["n"], entry["equal"]["value"], entry["distance"], entry["noise"]) == (40, 0.75, None, 0.125)
    [pair] = document["comparisons"]
    measure = pair["measures"]["meaning_match"]
    d = np.subtract(right["b"], right["a"], dtype=np.float64)
    assert measure["judge_noise"]["share"] == pytest.approx(2 * 0.125 / d.var(ddof=1), abs=1e-6)
    assert (measure["needed"]["unit"], measure["needed"]["lacking"]) == ("label", n)
    [line] = evidence.self_agreement(document)
    assert line == (
        "The judge against itself, meaning_match: a 75.0 % [59.8, 85.8] the same, 52.3 % of the variance; "
        "b 75.0 % [59.8, 85.8] the same, 53.9 % of the variance (80 answers judged more than once)."
    )
