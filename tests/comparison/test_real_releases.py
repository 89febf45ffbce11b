"""The decision on real answers with human labels: EVOUNA-NQ, five systems."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.coverage.halves import GUARDED, decided, systems
from benchmarks.offline_judge.labelled import human_labelled
from goldmeter.estimates.columns import Candidate
from goldmeter.estimates.headline import leaders
from goldmeter.estimates.primary import Primary
from goldmeter.wording.verdicts import Decision

QUESTIONS = 600


@pytest.fixture(scope="module")
def candidates(evouna: Path) -> dict[str, Candidate]:
    """The systems on the first 600 questions."""
    answers = [*human_labelled(evouna)]
    questions = {*[*dict.fromkeys(answer.question for answer in answers)][:QUESTIONS]}
    return systems([answer for answer in answers if answer.question in questions])


def verdicts(pair: Any) -> dict[str, str]:
    return {name: entry["verdict"] for name, entry in pair["measures"].items()}


def test_a_better_system_ships_although_it_writes_sentences(candidates: dict[str, Candidate]) -> None:
    pair, decision = decided(candidates["fid"], candidates["gpt4"])

    assert (decision["verdict"], decision["sentence"]) == (
        "ship",
        "Ship: better by human labels, +10.5 points [+6.6, +14.3].",
    )
    assert {"exact_match", "bleu", "f1"} <= {name for name, verdict in verdicts(pair).items() if verdict == "worse"}
    assert decision["reasons"][0].startswith("Significant improvement (human labels: +")


def test_the_way_back_does_not_ship_although_its_words_are_closer(candidates: dict[str, Candidate]) -> None:
    pair, decision = decided(candidates["gpt4"], candidates["fid"])

    assert decision["verdict"] == Decision.DO_NOT_SHIP
    assert verdicts(pair)["bleu"] == "better"
    crossed = pair["crossed"]
    assert crossed["lost"] > crossed["gained"]
    assert sum(crossed.values()) == pair["measures"]["label"]["n"]


def test_two_systems_alike_are_undecided_and_lead_together(candidates: dict[str, Candidate]) -> None:
    pair, decision = decided(candidates["gpt4"], candidates["newbing"])
    shown: Any = {name: {"measure": "label", "status": "measured", "value": 0.81} for name in ("gpt4", "newbing")}

    best = leaders(Primary("label", "human labels"), shown, [pair])

    assert decision["verdict"] == "undecided"
    assert best["names"] == ["gpt4", "newbing"]
    assert not best["decided"]


def test_measures_beside_the_labels_hide_no_improvement(candidates: dict[str, Candidate]) -> None:
    pair, decision = decided(candidates["chatgpt"], candidates["gpt4"], GUARDED.model_copy(update={"metrics": {}}))

    assert (decision["verdict"], verdicts(pair)["label"]) == ("ship", "better")
