"""Which rows are chosen: as many as were asked for, none with a label, the same again, unsure ones more often."""

import json
from pathlib import Path

import numpy as np
import pytest

from goldmeter.errors import DataError
from goldmeter.labelling.choice import BY, By, Choice, Design, base_design, choose, read_name, widths
from goldmeter.labelling.run_rows import read_run
from tests.labelling.made_run import QUESTIONS, judge, load_again, make_run

pytestmark = pytest.mark.usefixtures("project")


def chosen(size: int, by: By, labelled: list[int] | None = None) -> tuple[Design, Choice]:
    run = read_run()
    before = base_design(np.isin(range(len(run.ids)), labelled or []), run.answered, "all")
    return before, choose(run, before, size, by, 0.95)


@pytest.mark.parametrize("by", [by for by in BY if by != "references"])
def test_as_many_rows_as_asked_for_each_once_none_with_a_label_and_the_same_again(by: By) -> None:
    make_run()

    _, choice = chosen(12, by, labelled=[*range(20)])

    assert sorted({*choice.rows.tolist()} - {*range(20)}) == sorted(choice.rows.tolist())
    assert len(choice.rows) == 12
    assert read_name(choice.name) == (by, 12, 20)
    assert chosen(12, by, labelled=[*range(20)])[1].rows.tolist() == choice.rows.tolist()


def test_an_answer_to_each_question_with_suspicious_references_is_chosen_the_most_suspicious_first() -> None:
    make_run()
    found = [{"id": key, "candidate": name} for key, name in (("q7", "b"), ("q2", "a"), ("gone", "a"), ("q5", "b"))]
    Path("reports").mkdir(exist_ok=True)
    Path("reports/metrics.json").write_text(json.dumps({"suspects": {"rows": found}}), encoding="utf-8")

    _, choice = chosen(2, "references", labelled=[*range(40)])

    assert [read_run().keys[row] for row in choice.rows] == [("q7", "b"), ("q2", "a")]
    assert read_name(choice.name) == ("references", 2, 3)
    with pytest.raises(DataError, match="--rows 4: only 3 references are to be looked at"):
        chosen(4, "references")


def test_probabilities_are_those_of_the_design_and_add_up_to_the_labels() -> None:
    make_run()
    spread = np.tile([np.sqrt(p * (1 - p)) for p in np.arange(0.05, 1, 0.1)], 4)

    _, choice = chosen(10, "active")

    assert choice.probabilities == pytest.approx(10 / 40 * (0.75 * spread / spread.mean() + 0.25))


def test_answers_without_a_response_are_not_chosen() -> None:
    make_run([{**one, "a": None} for one in QUESTIONS])

    _, choice = chosen(20, "active")

    assert {read_run().candidates[row] for row in choice.rows} == {"b"}


def test_more_rows_than_there_are_without_a_label_are_refused() -> None:
    make_run()

    with pytest.raises(DataError, match=r"--rows 41: only 40 answers of the present run have no label"):
        chosen(41, "random")


def test_without_probabilities_only_active_is_refused() -> None:
    make_run()
    judge(load_again(), [None] * 40)

    with pytest.raises(DataError, match=r"judge\.provider: offline"):
        chosen(4, "active")
    assert len(chosen(4, "random")[1].rows) == 4


def test_disagreement_begins_where_candidates_differ() -> None:
    make_run()
    judge(load_again(), [1.0, 0.0] * 3 + [1.0] * 34)  # of the first three questions only a is right

    _, choice = chosen(6, "disagreement")

    assert sorted(choice.rows.tolist()) == [*range(6)]
    assert np.isnan(choice.probabilities).all()


def test_tables_of_another_run_are_refused() -> None:
    make_run()
    judge([{"id": "x", "candidate": "a"}], [0.5])

    with pytest.raises(DataError, match="data/judge: other rows than data/load"):
        chosen(4, "active")


def test_the_width_is_said_of_each_candidate_and_is_smaller_than_by_random_labels() -> None:
    make_run()
    judge(load_again(), [0.99, 0.5] * 5 + [0.99, 0.01] * 15)
    run = read_run()

    before, choice = chosen(10, "active")
    a, b, _ = widths(run, before, choice, 0.95)

    assert a.startswith(
        "a: about 4 labels will give its rate of right answers, 99.0 % by the offline judge, to about ±"
    )
    assert b.startswith("b: about 6 labels")
    active, random = (float(part.split("±")[1].split()[0].rstrip(";")) for part in b.split(";"))
    assert active < random


def test_labels_that_reject_the_judge_change_chances_and_widths_and_it_is_said() -> None:
    # A judge that is as sure as it is wrong: of both kinds of answers three in five are right.
    questions = [{**QUESTIONS[0], "id": f"q{i}", "ya": i % 5 < 3, "yb": i % 5 < 3} for i in range(120)]
    for one in questions[60:]:
        one["ya"] = one["yb"] = None
    candidates = {name: {"response": name, "label": f"y{name}"} for name in ("a", "b")}
    make_run(questions, candidates=candidates)
    judge(load_again(), [0.98, 0.5] * 120)
    run = read_run()
    labelled = ~np.isnan(run.labels)
    random, selected = (base_design(labelled, run.answered, labels) for labels in ("random", "all"))

    choice, as_it_is = (choose(run, before, 40, "active", 0.95) for before in (random, selected))

    assert labelled.sum() == 120
    assert (choice.labels, as_it_is.labels) == (120, 0)
    sure, unsure = (choice.p[[name == other for other in run.candidates]] for name in ("a", "b"))
    assert [sure.mean(), unsure.mean()] == pytest.approx([0.6, 0.6], abs=0.05)
    chances = [one.probabilities[~labelled].reshape(-1, 2).mean(axis=0) for one in (choice, as_it_is)]
    assert chances[0][0] / chances[0][1] == pytest.approx(1.0, abs=0.05)
    assert chances[1][0] / chances[1][1] < 0.5
    first, _, last = widths(run, random, choice, 0.95)
    assert "% by the offline judge, recalibrated, to about ±" in first
    assert last == (
        "at 95 % confidence; 120 labels reject the offline judge's probabilities, which are recalibrated on them"
    )
    *_, last = widths(run, selected, as_it_is, 0.95)
    assert last == "at 95 % confidence, where the offline judge's probabilities are right; wider elsewhere"


@pytest.mark.parametrize(("share", "by"), [(1.0, "the judge"), (0.5, "the offline judge")])
def test_rows_are_chosen_by_the_probability_of_the_judge_that_judged_nearly_all(share: float, by: str) -> None:
    make_run()
    rows = load_again()
    stated = [0.5 if row["candidate"] == "a" else 1.0 for row in rows]
    judge(rows, [0.5] * len(rows), [p if i < share * len(rows) else None for i, p in enumerate(stated)])
    run = read_run()

    choice = choose(run, base_design(np.zeros(len(rows), np.bool_), run.answered, "all"), 10, "active", 0.95)

    a, b = (choice.probabilities[[name == other for other in run.candidates]].mean() for name in "ab")
    assert a == pytest.approx(7 * b if by == "the judge" else b)
    no_labels = base_design(run.labels > 1, run.answered, "all")
    assert f"by {by}, to about" in next(iter(widths(run, no_labels, choice, 0.95)))


def test_no_width_is_said_of_what_is_no_sample() -> None:
    make_run()
    before, choice = chosen(10, "disagreement")

    assert [*widths(read_run(), before, choice, 0.95)] == [
        "Rows chosen by disagreement show what to improve; no rate can be estimated from their labels."
    ]


@pytest.mark.parametrize("name", ["", "active", "active-0-of-5-00000000", "other-1-of-5-00000000", "a" * 10_000])
def test_other_names_are_no_sheets(name: str) -> None:
    with pytest.raises(DataError, match="not the name of a sheet"):
        read_name(name)
