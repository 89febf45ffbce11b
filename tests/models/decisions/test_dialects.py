"""What is taken from the replies of decision models, and what is not."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types import Decision

from goldmeter.models.chat.envelope import REFUSAL
from goldmeter.models.decisions.client import (
    DECISIONS,
    NO_ANSWERS,
    NO_PROBABILITY,
    NOT_ANSWERED,
    NOT_ASKED,
    OTHER_TYPE,
    SYSTEM_ONE,
    TWICE,
    decided,
    usage_of,
)
from tests.decisions import answered

STATEMENTS = {"a": "It is right.", "b": "It is polite."}
NAMES = st.lists(st.text(max_size=4), min_size=1, max_size=5, unique=True)
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "name", "probability", "noul", "a", "b"]), inner | st.sampled_from([*"ab", "noul"])
        )
    ),
    max_leaves=12,
)


def predicate(name: Any, p: Any, **more: Any) -> dict[str, Any]:
    return {"type": "predicate", "name": name, "probability": p} | more


@pytest.mark.parametrize("dialect", [DECISIONS, SYSTEM_ONE])
@given(names=NAMES, data=st.data())
def test_the_probabilities_of_all_statements_are_read_in_both_forms(dialect: Any, names: list[str], data: Any) -> None:
    given_p = {name: data.draw(st.floats(0, 1)) for name in names}
    body = dialect.body("m", "text", dict.fromkeys(names, "It is so."))

    _, reply = answered(body, lambda name, _: given_p[name])

    found = decided(json.loads(json.dumps(reply))["answers"], dict.fromkeys(names, ""))
    assert (found.problem, found.probabilities) == (None, given_p)


def test_a_server_with_the_types_of_the_openai_client_is_read() -> None:
    body = DECISIONS.body("m", "text", STATEMENTS)
    _, reply = answered(body, lambda *_: 0.25)

    typed = Decision.model_validate(reply).model_dump(mode="json")

    assert decided(typed["answers"], STATEMENTS).probabilities == {"a": 0.25, "b": 0.25}


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        (None, NO_ANSWERS),
        ("yes", NO_ANSWERS),
        ([], NOT_ANSWERED),
        ([predicate("a", 0.5)], NOT_ANSWERED),
        ([predicate(None, 0.5)], NOT_ASKED),
        ([predicate("a", 0.5), predicate("c", 0.5)], NOT_ASKED),
        ([predicate("a", 0.5), predicate("b", 0.5), predicate("c", 0.5)], NOT_ASKED),
        ([predicate("a", 0.5), predicate(["b"], 0.5)], NOT_ASKED),
        ([predicate("a", 0.5), predicate("a", 0.9)], TWICE),
        ([predicate("a", 0.5), "b"], OTHER_TYPE),
        ([predicate("a", 0.5), predicate("b", 0.5, type="score")], OTHER_TYPE),
        ([predicate("a", 0.5), predicate("b", 0.5, type=["predicate"])], OTHER_TYPE),
        *(([predicate("a", 0.5), predicate("b", p)], NO_PROBABILITY) for p in (1.01, -0.1, math.nan, math.inf)),
        *(([predicate("a", 0.5), predicate("b", p)], NO_PROBABILITY) for p in (None, "0.5", True, [0.5], 10**400)),
        ([predicate("a", 0.5), {"type": "refusal", "name": "b"}], REFUSAL),
        ({"a": {"type": "noul", "noul": 0.5}}, NOT_ANSWERED),
        ({"a": {"type": "noul", "noul": 0.5}, "b": {"type": "noul", "probability": 0.5}}, NO_PROBABILITY),
    ],
)
def test_an_odd_reply_is_named_and_has_no_probability(answers: Any, problem: str) -> None:
    assert decided(answers, STATEMENTS) == (problem, {})


def test_answers_without_names_are_in_order() -> None:
    answers = [predicate(None, 0.25), predicate(None, 0.75)]

    assert decided(answers, STATEMENTS).probabilities == {"a": 0.25, "b": 0.75}


@given(VALUES)
def test_any_json_is_an_answer_or_a_problem(value: Any) -> None:
    found = decided(value, STATEMENTS)

    assert (found.problem is None) == (found.probabilities.keys() == STATEMENTS.keys())
    assert all(0 <= p <= 1 for p in found.probabilities.values())


@given(VALUES)
def test_any_json_is_a_count_of_tokens_or_none(value: Any) -> None:
    counted = usage_of(value)

    assert counted is None or counted.keys() == {"prompt", "completion"}


def test_answers_that_are_named_by_id_may_come_in_any_order() -> None:
    answers = [{"type": "predicate", "id": name, "probability": p} for name, p in (("b", 0.9), ("a", 0.1))]

    assert decided(answers, STATEMENTS).probabilities == {"a": 0.1, "b": 0.9}
