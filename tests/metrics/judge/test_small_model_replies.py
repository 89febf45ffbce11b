"""Replies of two small models behind llama.cpp, as recorded; what each is was decided by reading it.

SmolLM2-135M-Instruct (Q4_1), a part of them with thoughts of its own in front, and gemma-3-270m (Q4_K_M, not tuned to
follow instructions); nonce, verdict and format are those of the request that each one answers.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from goldmeter.metrics.judge_replies import verdict_in
from goldmeter.metrics.verdict_types import Boolean, Labels, Scale, VerdictType
from goldmeter.models.chat.envelope import opened
from goldmeter.text.thoughts import spoken

LINES = Path(__file__).with_name("small_model_replies.jsonl").read_text(encoding="utf-8").splitlines()
REPLIES = [json.loads(line) for line in LINES]
KINDS: dict[str, VerdictType] = {
    "boolean": Boolean(),
    "integer": Scale(low=1, high=5),
    "rating": Scale("rating", 1, 5),
    "tone": Labels(labels=("formal", "casual", "rude"), passing=frozenset({"formal", "casual"})),
    "preference": Labels(labels=("A", "B", "tie")),
}


def reading(one: dict[str, Any]) -> float | str:
    """The verdict as a number, or the name of what is wrong with the reply."""
    letter = opened({"content": one["reply"]}, one["finish"], is_json=True)
    if letter.problem:
        return letter.problem
    try:
        return verdict_in(letter.text, one["nonce"], KINDS[one["kind"]]).score
    except ValueError as problem:
        return str(problem)


@pytest.mark.parametrize("one", [one for one in REPLIES if one["kind"] != "answer"], ids=lambda one: one["nonce"])
def test_a_reply_of_a_judge_is_read_as_a_person_reads_it(one: dict[str, Any]) -> None:
    value, kind = one["right"], KINDS[one["kind"]]

    right = value if str(value).startswith("the reply") else kind.read(value)

    assert reading(one) == right


@pytest.mark.parametrize("one", [one for one in REPLIES if one["kind"] == "answer"], ids=lambda one: one["reply"][:20])
def test_an_answer_is_taken_as_it_stands(one: dict[str, Any]) -> None:
    letter = opened({"content": one["reply"]}, one["finish"], is_json=False)

    assert letter == (one["reply"], None)
    assert spoken(letter.text).text == one["reply"]


def test_the_replies_are_of_all_kinds() -> None:
    kinds = Counter(one["kind"] for one in REPLIES)
    faults = Counter(one["right"] for one in REPLIES if str(one["right"]).startswith("the reply"))

    assert len(REPLIES) >= 100
    assert min(kinds[kind] for kind in (*KINDS, "answer")) >= 5
    assert len(faults) == 4
    assert sum("</think>" in one["reply"] for one in REPLIES) >= 20
