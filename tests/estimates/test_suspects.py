"""References to look at first: which questions are listed, why, and what wrong ones would change."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldmeter.estimates.primary import Primary
from goldmeter.estimates.suspects import (
    Asked,
    Change,
    Given,
    Reading,
    changes,
    contains,
    if_wrong,
    ruled_out,
    suspect,
    suspects,
)
from goldmeter.pipeline.workers import Crew
from goldmeter.reporting.metrics_document import VERDICT
from goldmeter.wording.suspects import if_references_are_wrong, why_suspicious
from tests.reporting.made import parts_of, row, tables, written

NAN = float("nan")


def asked(question, references, answers, passed, labels=None):
    labels = labels or [NAN] * len(answers)
    return Asked("q", question, references, [*map(Given, map(str, range(len(answers))), answers, passed, labels)])


def lake(answers, passed, **more):
    return suspect(asked("largest man made lake in the us", ["Lake Oahe"], answers, passed, **more))


def test_systems_that_agree_on_another_answer_make_a_reference_suspicious():
    agree = lake(["Lake Mead", "It is Lake Mead.", "Lake Mead, in Nevada"], [0, 0, 0])
    differ = lake(["Lake Mead", "It is Lake Powell.", "Fort Peck"], [0, 0, 0])

    assert agree.is_listed
    assert agree.entry["agree"] == 3
    assert not differ.is_listed
    assert agree.score > differ.score


def test_answers_that_pass_or_contain_a_reference_make_it_less_suspicious():
    both = lake(["Lake Mead", "Lake Mead"], [0, 0])
    third = lake(["Lake Mead", "Lake Mead", "Lake Oahe"], [0, 0, 1])
    hedged = lake(["Lake Oahe or Lake Mead", "Lake Oahe or Lake Mead"], [0, 0])

    assert both.score > third.score
    assert not hedged.is_listed


def test_words_of_the_question_and_function_words_are_no_agreement():
    found = lake(["the largest lake in the us", "the largest lake of the us"], [0, 0])

    assert "agree" not in found.entry


def test_labels_count_where_the_measure_fails_what_people_call_right():
    one = lake(["Mead", "Lake Oahe"], [0, 1], labels=[1, 1])
    both = lake(["Mead", "Hoover's"], [0, 0], labels=[1, 1])

    assert not one.is_listed
    assert both.is_listed
    assert both.entry["labelled_right"] == 2


def test_one_system_has_labels_and_the_question_to_go_by():
    assert lake(["Lake Mead"], [0], labels=[1]).is_listed
    assert not lake(["Lake Mead"], [0]).is_listed
    assert suspect(asked("how many joined", ["Brazil"], ["three"], [0])).entry["ruled_out"] == "a number"


@pytest.mark.parametrize(
    ("question", "references", "asks"),
    [
        ("how many states are there", ["Texas", "Ohio"], "a number"),
        ("how many states are there", ["Texas", "about fifty"], None),
        ("how many died", ["none"], None),
        ("what year did it open", ["Rome"], "a year"),
        ("what year did it open", ["in the nineteenth century"], None),
        ("which year was it", ["MCMLXX"], None),
        ("when did it open", ["season two"], None),
        ("who wrote it", ["1944"], "a name"),
        ("who wrote it", ["U2"], None),
        ("how much is it", ["a lot"], None),
        ("how many", [], None),
        ("", ["Rome"], None),
    ],
)
def test_only_what_a_question_certainly_rules_out(question, references, asks):
    assert ruled_out(question, references) == asks


@given(st.text(), st.lists(st.text(), max_size=3), st.lists(st.text() | st.none(), max_size=4))
@settings(max_examples=200)
def test_any_text_has_a_finite_score(question, references, answers):
    found = suspect(asked(question, references, answers, [0.0] * len(answers), [1.0] * len(answers)), "other")

    assert np.isfinite(found.score)
    assert found.entry.get("agree", 0) <= len(answers)


@given(st.lists(st.text("abc 中文", min_size=1), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_systems_does_not_matter(answers, random):
    mixed = random.sample(answers, len(answers))

    one, other = (lake(some, [0] * len(some)) for some in (answers, mixed))

    assert one.score == pytest.approx(other.score)
    assert one.entry.get("agree") == other.entry.get("agree")


def test_a_reference_is_contained_word_by_word():
    assert contains("It is in Rome.", ["rome"])
    assert contains("我住在北京市", ["北京"])
    assert not contains("Romeo", ["Rome"])
    assert not contains(None, ["Rome"])
    assert not contains("Rome", ["", "?!"])


def rows_of(answers, *, reference="Oahe", labels=None, key="q1", **more):
    found = zip(answers, labels or [None] * len(answers), strict=True)
    return [
        row(key, f"s{number}", text, label, 0.0, 0.5, references=(reference,), **more)
        for number, (text, label) in enumerate(found)
    ]


def listed(rows, folder, part_rows=100):
    made = parts_of(tables(rows), folder / f"parts-{part_rows}", part_rows)
    return suspects(Reading((made["load"], made["lexical"]), "f1", {}), Crew())


SHARED = ["Lake Mead", "the Lake Mead", "Lake Mead, Nevada"]


def test_answers_of_a_question_in_several_parts_are_put_together(tmp_path):
    rows = [*rows_of(SHARED), *rows_of(["Rome", "Oslo", "Kyiv"], key="q2")]

    whole, split = listed(rows, tmp_path), listed(rows, tmp_path, part_rows=1)

    assert [one.entry for one in whole] == [one.entry for one in split]
    assert [(one.asked.id, one.entry["agree"]) for one in whole] == [("q1", 3)]


def test_the_same_question_with_other_references_is_named_unless_all_rows_share_it(tmp_path):
    twins = [
        *rows_of(["Rome"], key="q1", input="Capital?", reference="Oslo"),
        *rows_of(["Rome"], key="q2", input="capital", reference="Kyiv"),
    ]
    prompts = [one for number in range(5) for one in rows_of(["x"], key=f"q{number}", reference=f"r{number}")]

    assert {one.asked.id: one.entry["duplicate"] for one in listed(twins, tmp_path / "a")} == {"q1": "q2", "q2": "q1"}
    assert listed(prompts, tmp_path / "b") == []


def test_what_wrong_references_would_change():
    found = [lake(["Lake Mead", "Lake Mead", "Lake Oahe", "Mono"], [0, 0, 1, 0])]
    entry = {"measure": VERDICT, "value": 0.5, "low": 0.4, "high": 0.6, "n": 10, "status": "measured"}
    document = {
        "headlines": dict.fromkeys("0123", entry),
        "comparisons": [],
        "targets": {"0": {VERDICT: {"target": 0.3, "verdict": "met"}}},
    }

    would = if_wrong(changes(found), document, Primary(VERDICT, ""))

    assert changes(found) == {"0": Change(1, 0), "1": Change(1, 0), "2": Change(-1, -1), "3": Change(0, 0)}
    assert (would["rates"]["0"]["low"], would["rates"]["0"]["high"]) == (0.5, 0.6)
    assert (would["rates"]["2"]["low"], would["rates"]["2"]["high"]) == (0.4, 0.4)


def pair(low, high):
    difference = {"value": (low + high) / 2, "low": low, "high": high, "p_value": 0.01}
    measured = {VERDICT: {"role": "primary", "difference": difference, "higher_is_better": True}}
    return {"base": "a", "head": "b", "measures": measured, "refused": []}


@pytest.mark.parametrize(("low", "holds"), [(0.25, True), (0.05, False)])
def test_a_conclusion_holds_if_the_difference_stays_on_its_side(low, holds):
    entry = {"measure": VERDICT, "value": 0.5, "low": 0.4, "high": 0.6, "n": 10, "status": "measured"}
    document = {"headlines": {"a": entry, "b": entry}, "comparisons": [pair(low, 0.4)]}

    would = if_wrong({"a": Change(1, 0), "b": Change(-1, -1)}, document, Primary(VERDICT, ""))

    assert would["holds"] is holds


def test_each_reason_is_a_sentence():
    entry = {"id": "q", "score": 1.0, "systems": 5, "agree": 4, "labelled_right": 1, "ruled_out": "a number"}

    assert why_suspicious(entry | {"duplicate": "q\u202e2"}, "meaning_match") == (
        "The reference may be wrong. 4 of 5 systems agree on another answer. 1 answer that meaning_match fails is "
        "labelled right. The question asks for a number, and no reference has one. q⟨U+202E⟩2 has the same "
        "question and none of these references."
    )


def test_what_it_would_change_is_said_in_words():
    entry = {"id": "q", "score": 1.0, "systems": 1, "ruled_out": "a year"}
    change = {"rates": {"a": {"value": 0.5, "low": 0.5, "high": 0.61}}, "holds": False}
    document = {"suspects": {"measure": "f1", "rows": [entry], "if_wrong": change}}

    assert if_references_are_wrong({}) == ""
    assert if_references_are_wrong(document) == (
        "1 reference to look at first. If it is wrong: a 50.0 % to 61.0 % (now 50.0 %); the conclusion may turn. With "
        "one system there is no agreement to go by, so others may be wrong too."
    )


def test_the_page_shows_them_with_the_reason(tmp_path):
    extra = {"lexical": tables(rows_of(SHARED))["lexical"]}
    page = written(rows_of(SHARED), tmp_path, extra=extra)["reports/index.html"]

    assert "References to look at first" in page
    assert page.count("3 of 3 systems agree on another answer.</p>") == 2, "in the card's line, and below the answer"
    assert '<a href="#references">1 reference to look at first</a>' in page
    assert '<h3 id="references">References to look at first <span class="total">1 question</span></h3>' in page
