"""The first screen in words: a target, who gave the rates, and three reasons."""

from typing import Any

from goldmeter.wording.conclusion import conclude
from goldmeter.wording.first_screen import FirstScreen, first_screen
from tests.wording.test_conclusion import document, headline, labelled, pair


def screen(headlines: dict[str, Any], *pairs: Any, leaders: Any = None, **more: Any) -> FirstScreen:
    found = document(headlines, [*pairs], leaders or [*headlines], **more)
    conclusion = conclude(found)
    assert conclusion is not None
    return first_screen(found, conclusion)


def test_without_a_target_one_is_proposed_that_the_best_meets() -> None:
    shown = screen({"a": headline(0.9), "b": headline(0.6)}, pair("b", "a", 0.2, 0.4), leaders=["a"])

    assert shown.target == "No target: a meets 85 % (report.targets.label)."


def test_where_nothing_is_known_no_target_is_proposed() -> None:
    unknown = headline(0.8, by="the offline judge", status="unknown", note="no claim.")

    shown = screen({"a": unknown})

    assert shown.target == ""
    assert shown.reasons[0] == "No claim."


def test_one_source_is_said_once_and_several_with_each_rate() -> None:
    people = headline(0.9) | {"n": 40}
    same = screen({"a": people, "b": headline(0.6)}, pair("b", "a", 0.2, 0.4), leaders=["a"])
    judged = headline(0.6, by="the offline judge", status="estimated") | {"measure": "meaning_match"}

    several = screen({"a": headline(0.9), "b": judged}, pair("b", "a", 0.2, 0.4), leaders=["a"])

    assert same.basis == "Right by human labels, 40 to 200 answers, 95 % intervals"
    assert same.is_same
    assert several.basis == "Right, 95 % intervals"
    assert not several.is_same


def test_six_rates_stand_there_and_the_number_of_the_others() -> None:
    names = [f"c{n}" for n in range(9)]

    shown = screen({name: headline(0.5 + 0.01 * place) for place, name in enumerate(names)})

    assert [one.candidate for one in shown.rates] == [*reversed(names[3:])]
    assert shown.left_out == 3


def test_who_gave_the_rates_is_said_of_those_that_stand_there() -> None:
    judged = headline(0.1, by="the offline judge", status="estimated") | {"measure": "meaning_match"}

    shown = screen({"judged": judged} | {f"c{n}": headline(0.5 + 0.01 * n) for n in range(6)})

    assert shown.basis == "Right by human labels, 200 answers, 95 % intervals"


def test_there_are_three_reasons_at_most_the_conclusions_first() -> None:
    failed = {"a": {"label": labelled(190, 0) | {"n_failed": 10}}, "b": {"label": labelled(200, 0)}}
    kinds = {"failures": {"a": {"n": 190, "wrong": 19, "kinds": [{"kind": "hedge", "n": 12}]}}}
    undecided = pair("b", "a", -0.1, 0.2, needed=900)

    shown = screen({"a": headline(0.9), "b": headline(0.85)}, undecided, candidates=failed, **kinds)

    assert shown.reasons == [
        "900 to 1,800 more labelled rows could detect a difference of 2 points.",
        "10 of 200 answers by a could not be measured.",
        "Wrong answers by kind: hedge 12.",
    ]


def test_an_interval_that_says_nothing_is_too_few_rows() -> None:
    few = headline(0.5) | {"low": 0.1, "high": 0.9, "n": 5}

    [shown] = screen({"a": few}).rates

    assert shown.limits == "too few rows: 36 would do"


def test_a_measure_of_words_is_not_taken_for_peoples_verdict() -> None:
    of_words = headline(0.7, by="chrf") | {"measure": "chrf"}

    shown = screen({"a": of_words})

    assert shown.reasons[0] == "chrf compares texts; human labels or a judge would say which answers are right."
