"""`python -m tasks plan-study`: the pilot from rows, the refusals, and the picture."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import DataError, ParamsError
from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import Candidate, ScoreColumn
from goldmeter.ledger.entries import Usage
from goldmeter.pipeline.run import Price
from goldmeter.reporting import study_plan
from goldmeter.reporting.study_plan import TIMES, dollars_of_an_answer, picture, pilot_of, with_labels
from goldmeter.statistics.study import explained_share
from tasks.__main__ import main
from tests.small_project import edit


def system(name, draws=1, groups=None, **columns):
    """A system with pass or fail columns: name → values, NaN where unmeasured, by question and then by draw."""
    facts = ColumnFacts("f1", "lexical", "f1|v:1", (0.0, 1.0), rate_signature="f1|v:1|thr:0.5", threshold=0.5)
    n = len(next(iter(columns.values())))
    questions = np.repeat(np.arange(n // draws, dtype=np.uint64), draws)
    made = [
        ScoreColumn(column, np.asarray(values, float), np.zeros(n, bool), np.asarray(values) > 0.5, None, facts)
        for column, values in columns.items()
    ]
    rows = np.arange(n, dtype=np.uint64)
    return Candidate(name, rows, rows.astype(np.intp), made, groups, {}, questions=questions if draws > 1 else None)


def test_the_pilot_finds_the_variance_of_questions_and_of_draws_that_the_answers_have():
    rng = np.random.default_rng(1)
    rates = rng.choice([0.2, 0.8], (2, 20_000))
    sides = [system(name, 3, f1=np.repeat(own, 3) > rng.random(60_000)) for name, own in zip("ab", rates, strict=True)]

    pilot = pilot_of(sides, "f1")

    assert (pilot.questions, pilot.draws, pilot.binary) == (20_000, pytest.approx(3.0, abs=1e-12), True)
    assert pilot.between == pytest.approx(2 * 0.09, rel=0.05)
    assert pilot.within == pytest.approx(2 * 0.16, rel=0.05)


def test_systems_with_different_numbers_of_draws_keep_the_variance_that_was_observed():
    rng = np.random.default_rng(3)
    noisy = system("a", 2, f1=rng.random(8_000) < 0.5)
    steady = system("b", 8, f1=np.repeat(rng.random(4_000) < 0.5, 8) ^ (rng.random(32_000) < 0.02))
    means = [one.columns[0].values.reshape(4_000, -1).mean(axis=1) for one in (noisy, steady)]

    pilot = pilot_of([noisy, steady], "f1")

    assert pilot.variance(pilot.draws) == pytest.approx(np.var(means[0] - means[1], ddof=1))


def test_a_single_system_is_planned_as_if_the_other_were_independent():
    pilot = pilot_of([system("a", f1=[0.0, 1.0] * 50)], "f1")

    assert pilot.between == pytest.approx(2 * 25 / 99)
    assert pilot.within is None


def test_systems_that_never_differ_are_no_proof_that_they_never_will():
    same = system("a", f1=[1.0] * 100)

    assert pilot_of([same, same], "f1").between == 0.01


def test_labels_on_a_part_say_how_much_the_judge_explains():
    rng = np.random.default_rng(2)
    people = rng.integers(0, 2, (2, 400)).astype(float)
    judge = np.where(rng.random((2, 400)) < 0.9, people, 1 - people)
    explained = explained_share(people[0, :100] - people[1, :100], judge[0, :100] - judge[1, :100])
    people[:, 100:] = np.nan
    sides = [system(name, label=own, meaning_match=said) for name, own, said in zip("ab", people, judge, strict=True)]

    pilot = with_labels(pilot_of(sides, "label"), sides, "label")

    assert (pilot.questions, pilot.labels) == (400, 100)
    assert pilot.explained == pytest.approx(explained)
    assert pilot_of(sides, "meaning_match").explained is None


def test_an_unknown_measure_is_named_with_similar_ones():
    with pytest.raises(ParamsError, match=r"f1.valu: no such measure of a; did you mean f1.value\? name one by"):
        pilot_of([system("a", f1=[0.0, 1.0])], "f1.valu")


@given(st.lists(st.sampled_from([0.0, 1.0, np.nan]), min_size=1, max_size=9))
def test_whatever_is_measured_there_is_a_pilot_or_a_sentence(values):
    sides = [system("a", f1=values), system("b", f1=values[::-1])]
    shared = np.count_nonzero(~np.isnan(values) & ~np.isnan(values[::-1]))

    if shared < 2:
        with pytest.raises(DataError, match="fewer than two questions"):
            pilot_of(sides, "f1")
    else:
        assert 0.0 < pilot_of(sides, "f1").between <= 2.0


@pytest.mark.parametrize("points", ["0", "-1", "101", "nan", "inf"])
def test_a_difference_that_no_data_reach_is_refused(points, capsys):
    assert main(["plan-study", f"--difference={points}"]) == 2
    assert "name points above 0 and up to 100" in capsys.readouterr().err


@pytest.mark.parametrize("power", ["0", "0.05", "1", "nan"])
def test_a_power_that_no_study_has_is_refused(power, capsys):
    assert main(["plan-study", "--power", power]) == 2
    assert "expected a probability above 0.05 and below 1" in capsys.readouterr().err


@pytest.mark.usefixtures("project")
def test_without_a_run_it_says_how_to_make_one(capsys):
    Path("reports/metrics.json").unlink(missing_ok=True)

    assert main(["plan-study"]) == 2

    assert "no run yet: `dvc repro` makes one" in capsys.readouterr().err


@pytest.mark.usefixtures("project")
def test_an_answer_costs_what_the_data_and_the_price_of_the_judge_say(monkeypatch):
    usage = Usage(verdicts=40, calls=40, replies=40, prompt=40_000, completion=4_000)
    monkeypatch.setattr(study_plan, "usage_of", lambda *_: usage)
    document = {"dataset": {"rows": 40}, "resources": {"a": {"cost": {"mean": {"value": 0.002}}}}}

    assert dollars_of_an_answer(document, ["a", "b"], None) == 0.002
    edit(lambda content: content["judge"].update(provider="openai", model="m", base_url="http://127.0.0.1:1/v1"))
    edit(lambda content: content["run"]["judge"]["prices"].update({"m": {"input": 1.0, "output": 10.0}}))

    judged = Price(input=1.0, output=10.0).of(1_000, 100)
    assert dollars_of_an_answer(document, ["a", "b"], None) == pytest.approx(0.002 + judged)
    assert dollars_of_an_answer({"dataset": {"rows": 40}}, ["a"], None) == pytest.approx(judged)
    sampled = {"meaning_match": {"n": 3, "n_failed": 1, "n_not_asked": 36}}
    assert dollars_of_an_answer({"dataset": {"rows": 40}, "candidates": {"a": sampled}}, ["a"], None) == pytest.approx(
        10 * judged
    )
    monkeypatch.setattr(study_plan, "usage_of", lambda *_: None)
    assert dollars_of_an_answer({"dataset": {"rows": 40}}, ["a"], None) is None


def test_the_picture_has_a_line_for_each_spending_whose_names_do_not_overlap():
    falling = [0.1 / times for times in TIMES]

    drawn = ET.fromstring(picture({"questions": falling, "draws": falling, "labels": falling}, "f1 & co", 0.8))  # noqa: S314 (our own)

    of = "{http://www.w3.org/2000/svg}"
    names = [one for one in drawn.iter(f"{of}text") if one.text in {"questions", "draws", "labels"}]
    assert len([*drawn.iter(f"{of}path")]) == len(names) == 3
    assert np.diff([float(one.get("y", "")) for one in names]).min() >= 12
    first = "Smallest difference in f1 & co that is detected, points (80% power): now 10.0; with twice as much of one, "
    assert drawn.get("aria-label") == f"{first}questions 5.0, draws 5.0, labels 5.0"
