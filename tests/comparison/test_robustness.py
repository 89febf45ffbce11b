"""A conclusion under other readings and without parts: what holds, what reverses it, and what is called robust."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.comparison.of_versions import scores_of
from goldmeter.comparison.readings import Reading, of_other_version, readings, shared
from goldmeter.comparison.robustness import Asked, robustness
from goldmeter.errors import DataError
from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import NOT_RATED, Candidate, ScoreColumn, Slices
from goldmeter.estimates.verdict_columns import Votes
from goldmeter.pipeline.tables import Parts, describe, write_part
from goldmeter.statistics.weighted import WeightedSums, weighted_difference
from goldmeter.wording import robustness as wording
from tests.comparison.sample import answers, row, version

N = 200


def system(name, n=N, **slices):
    rows = np.arange(n, dtype=np.uint64)
    coded = {
        column: Slices(sorted(set(values)), np.unique(values, return_inverse=True)[1])
        for column, values in slices.items()
    }
    return Candidate(name, rows, rows.astype(np.intp), [], None, coded)


def right(share, n=N):
    """The first answers are right."""
    return np.where(np.arange(n) < round(share * n), 1.0, 0.0)


def found(**each):
    """Name → readings by the judge that the name begins with; those by label and judge are verdicts."""
    return {
        name: [
            Reading(name, name.split("__")[0], "s", np.asarray(side, float), name.startswith(("label", "judge")))
            for side in sides
        ]
        for name, sides in each.items()
    }


def check(sides=None, asked=None, without=None, groups=(), **each):
    n = len(next(iter(each.values()))[0])
    sides = sides or [system(name, n) for name in "ab"[: len(next(iter(each.values())))]]
    return robustness(sides, found(**each), asked or Asked("label"), without, groups)


def flipped(values, rows):
    changed = values.copy()
    changed[rows] = 1.0 - changed[rows]
    return changed


def test_what_every_judge_says_is_robust():
    sides = right(0.8), right(0.5)

    result = check(label=sides, judge=[flipped(one, [3, 190]) for one in sides])

    assert (result.answer, result.holds, result.holds_without) == ("robust", 1.0, None)
    assert [(one.name, one.verdict, one.outcome) for one in result.checks] == [
        ("label", "better", "holds"),
        ("judge", "better", "holds"),
    ]
    assert wording.sentence(as_json(result)) == "Robust: a is better than b by label, and by 2 of 2 readings."


def test_a_reading_of_the_other_sign_reverses_the_conclusion():
    other = right(0.7)

    result = check(label=(right(0.8), other), judge=(flipped(right(0.8), range(100, 125)), other))

    assert [one.outcome for one in result.checks] == ["holds", "reverses"]
    assert result.answer == "fragile"
    assert wording.sentence(as_json(result)).endswith("by label, but not by 1 of 2 readings.")


def test_a_measure_that_agrees_too_little_on_one_system_stands_for_nothing():
    nothing = np.zeros(N)

    result = check(label=(right(0.8), right(0.5)), exact_match=(nothing, right(0.5)))

    assert result.ignored == {"exact_match": pytest.approx(0.0)}
    assert (result.answer, result.holds) == ("untested", None)
    assert "no other judge is at hand, and no metric agrees" in wording.sentence(as_json(result))
    assert any("exact_match (0.00)" in note for note in wording.notes(as_json(result)))


def test_a_measure_that_stands_for_nothing_concludes_nothing_however_many_are_like_it():
    long, short = flipped(right(0.2), range(60)), right(0.5)
    judge = right(0.8), right(0.5)

    result = check(f1=(long, short), rouge=(flipped(long, [199]), short), judge=judge, asked=Asked("f1"))

    assert (result.conclusion.verdict, result.answer, result.anchor) == ("worse", "fragile", "judge")
    assert "by f1, which agrees too little with judge on the answers" in wording.sentence(as_json(result))


def test_measures_of_texts_alone_are_no_check():
    sides = right(0.8), right(0.5)

    assert check(f1=sides, rouge=[flipped(one, [3]) for one in sides], asked=Asked("f1")).answer == "untested"


def test_people_count_however_little_a_judge_agrees_with_them():
    sides = right(0.8), right(0.5)
    people = np.tile([0.0, 1.0], N // 2)

    result = robustness(
        [system(name) for name in "ab"],
        {"judge": found(judge=sides)["judge"], "label": [Reading("label", "people", "s", people, is_verdict=True)] * 2},
        Asked("judge"),
    )

    assert result.ignored == {}
    assert result.answer == "fragile"


def test_ten_thresholds_of_one_judge_do_not_outvote_another():
    sides, other = (right(0.8), right(0.72)), (right(0.8), right(0.78))
    settings = {f"label__{number}": [flipped(one, [number]) for one in sides] for number in range(9)}

    result = check(label=sides, **settings, judge=other)

    assert result.holds == 0.5
    assert result.answer == "fragile"


def test_a_reading_of_few_rows_that_decides_nothing_is_not_counted():
    few = [np.where(np.arange(N) % 20 == 0, one, np.nan) for one in (right(0.8), right(0.6))]

    result = check(label=(right(0.8), right(0.6)), judge=few)

    assert [one.outcome for one in result.checks] == ["holds", "few rows"]


def test_an_undecided_comparison_is_open_and_says_what_would_decide_it():
    result = check(label=(right(0.8), right(0.79)), judge=(right(0.82), right(0.76)))

    assert (result.answer, [one.outcome for one in result.checks]) == ("open", ["holds", "decides"])
    assert wording.sentence(as_json(result)).endswith("from b by label; 1 other reading would decide.")


def test_slices_groups_and_suspected_references_are_left_out():
    topics = ["x" if number < 160 and number >= 100 else "y" for number in range(N)]
    sides = [system("a", topic=topics), system("b")]
    groups = [f"g{number // 50}" for number in range(N)]
    without = np.arange(100, 200, dtype=np.uint64)

    result = check(sides, without=without, groups=groups, label=(right(0.8), right(0.5)))

    outcomes = {one.name: (one.n, one.outcome) for one in result.checks if one.kind != "measure"}
    assert outcomes == {
        "topic: x": (140, "undecided"),
        "topic: y": (60, "holds"),
        "group: g2": (150, "holds"),
        "group: g3": (150, "holds"),
        "group: g0": (150, "holds"),
        "group: g1": (150, "holds"),
        "100 questions with references under suspicion": (100, "undecided"),
    }
    assert result.answer == "fragile"
    assert "without 1 of 2 slices and without 1 of 1 list of references" in wording.sentence(as_json(result))


def test_one_rate_is_compared_with_its_target():
    result = check(asked=Asked("label", target=0.7), label=[right(0.8)], judge=[flipped(right(0.8), [0])])

    assert result.conclusion.value == pytest.approx(0.1)
    assert result.answer == "robust"
    assert wording.sentence(as_json(result)).startswith("Robust: a is above the target of 70.0 % by label")


@pytest.mark.parametrize(("margin", "answer"), [(0.2, "robust"), (0.0, "open")])
def test_a_loss_within_the_margin_is_no_worse(margin, answer):
    sides = right(0.79), right(0.8)

    assert check(asked=Asked("label", margin), label=sides, judge=[flipped(one, [3]) for one in sides]).answer == answer


@pytest.mark.parametrize("target", [None, 0.5])
def test_questions_count_by_their_weights(target):
    heavy = [replace(system(name), weights=np.where(np.arange(N) < 100, 3.0, 0.0)) for name in "ab"]
    sides = [np.where(np.arange(N) < 90, 1.0, 0.0), np.where(np.arange(N) < 60, 1.0, 0.0)][: 1 if target else 2]

    result = check(heavy[: len(sides)], asked=Asked("label", target=target), label=sides)

    assert (result.conclusion.n, result.conclusion.value) == (100, pytest.approx(0.4 if target else 0.3))


def test_unequal_weights_give_the_weighted_difference():
    weights = np.where(np.arange(N) < 100, 1.0, 0.5)
    sides = right(0.8), right(0.5)

    result = check([replace(system(name), weights=weights) for name in "ab"], label=sides)

    expected = weighted_difference(WeightedSums.of(sides[0] - sides[1], weights))
    assert result.conclusion[3:6] == pytest.approx(expected[:3])
    assert result.conclusion.value == pytest.approx(0.2)


def test_draws_are_averaged_and_their_variance_is_told_apart():
    rng, questions = np.random.default_rng(1), np.repeat(np.arange(300, dtype=np.uint64), 4)
    rates = [np.repeat(rng.choice([0.1, 0.9], 300, p=p), 4) for p in ((0.2, 0.8), (0.6, 0.4))]
    sides = [replace(system(name, 1200), questions=questions) for name in "ab"]

    result = check(sides, label=[(rng.random(1200) < one).astype(float) for one in rates])

    assert result.conclusion.n == 300
    assert result.sources.draws == pytest.approx((2 * 0.09 / 4 / 300) ** 0.5, rel=0.1)


def test_a_single_question_concludes_nothing():
    with pytest.raises(DataError, match="fewer than two questions"):
        check(label=([1.0, np.nan], [0.0, np.nan]))


values = st.lists(st.sampled_from([0.0, 1.0, np.nan]), min_size=12, max_size=12).map(np.array)


@given(st.lists(values, min_size=6, max_size=6))
def test_exchanged_systems_have_the_opposite_conclusion_and_the_same_answer(columns):
    each = dict(zip(("label", "one", "two"), zip(columns[::2], columns[1::2], strict=True), strict=True))
    try:
        result = check(**each)
    except DataError:
        return

    other = check(**{name: sides[::-1] for name, sides in each.items()})

    assert other.answer == result.answer
    assert [one.outcome for one in other.checks] == [one.outcome for one in result.checks]
    assert other.conclusion.value == pytest.approx(-result.conclusion.value)


def as_json(result):
    fields = result._asdict()
    named = {"conclusion": result.conclusion._asdict(), "checks": [one._asdict() for one in result.checks]}
    return fields | named | {"sources": {"rows": 0.01, "judges": None}}


def test_a_threshold_is_moved_both_ways_within_the_bounds(tmp_path):
    scores = scores_of(version(tmp_path, answers("+." * 5), metrics={"f1": {"threshold": 0.9}, "exact_match": {}}))

    own = {one.name: one for one in readings(scores.candidates({})["aurora"], None)}

    assert {"f1", "f1 from 0.7", "exact_match"} == set(own)
    assert {one.judge for one in own.values()} == {"f1", "exact_match"}
    assert sorted(own["f1 from 0.7"].values) == [0.0] * 5 + [1.0] * 5


def test_labels_of_a_design_are_no_reading_and_raters_are_one_each(tmp_path):
    rows = [row(number, "right", label=number % 2 == 0) for number in range(4)]
    side = scores_of(version(tmp_path, rows, metrics={"exact_match": {}})).candidates({})["aurora"]
    rated = replace(side, ratings=np.array([[1, 0], [1, NOT_RATED], [0, 1], [1, 1]], np.int8))

    names = {one.name: one.values.tolist() for one in readings(rated, None)}

    assert names["label by rater 2"] == pytest.approx([0.0, np.nan, 1.0, 1.0], nan_ok=True)
    designed = replace(side, label_probability=np.ones(4))
    assert [one.name for one in readings(designed, None)] == ["exact_match"]


def test_verdicts_of_a_judge_that_stopped_early_are_no_reading(tmp_path):
    side = scores_of(version(tmp_path, answers("+."), metrics={"exact_match": {}})).candidates({})["aurora"]
    stopped = [replace(one, facts=replace(one.facts, stopped=True)) for one in side.columns]

    assert [one.name for one in readings(side, None)] == ["exact_match"]
    assert [*readings(replace(side, columns=stopped), None)] == []


def test_readings_that_are_made_differently_are_not_shared():
    one = found(f1=[right(0.5)], label=[right(0.5)])
    other = [one["label"][0], one["f1"][0]._replace(signature="another")]

    assert [*shared([[one["label"][0], one["f1"][0]], other])] == ["label"]


def test_another_versions_verdicts_are_taken_for_equal_answers_alone(tmp_path, monkeypatch):
    here = scores_of(version(tmp_path / "here", answers("++..")))
    there = scores_of(version(tmp_path / "there", answers("+-.+")))
    side = here.candidates({})["aurora"]
    facts = ColumnFacts(
        "meaning_match", "judge", "meaning_match|model:m|v:1", (0.0, 1.0), rate_signature="meaning_match|model:m|v:1"
    )
    other = there.candidates({})["aurora"]
    verdicts = pd.Series([1.0, 1.0, 0.0, 0.0], range(4))[other.positions].to_numpy()
    judged = replace(
        other, columns=[ScoreColumn("meaning_match", verdicts, np.zeros(4, bool), verdicts > 0, None, facts)]
    )
    monkeypatch.setattr(type(there), "candidates", lambda *_: {"aurora": judged})

    [reading] = of_other_version(side, here.load, there)

    assert (reading.name, reading.judge) == ("meaning_match of there", "m")
    by_row = dict(zip(side.positions.tolist(), reading.values.tolist(), strict=True))
    assert by_row[0] == 1.0
    assert by_row[2] == 0.0
    assert np.isnan([by_row[1], by_row[3]]).all()


def test_each_juror_of_a_panel_is_a_judge(tmp_path):
    votes = pa.array([[1.0, 0.0], [1.0, None], None, [0.0, 0.0]], pa.list_(pa.float64(), 2))
    meaning = Votes({"meaning_match": None}, is_majority=True, is_correctness=True)
    facts = {"jurors": ["m1", "m2"], "votes": {"meaning_match": meaning.to_json()}}
    (tmp_path / "judge").mkdir()
    write_part(describe(pa.table({"meaning_match_votes": votes}), facts), tmp_path / "judge", 0)
    side = replace(system("a", 4), positions=np.array([3, 2, 1, 0]))

    found = {one.judge: one.values.tolist() for one in readings(side, Parts(tmp_path / "judge"))}

    assert found == {
        "m1": pytest.approx([0.0, np.nan, 1.0, 1.0], nan_ok=True),
        "m2": pytest.approx([0.0, np.nan, np.nan, 0.0], nan_ok=True),
    }
