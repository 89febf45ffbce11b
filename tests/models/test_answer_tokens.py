"""The probability of a verdict from the log-probabilities of its token."""

import json
from math import exp, log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.models.chat.answer_tokens import Token, tokens_of, true_probability

REPLY = ['{"', "nonce", '": "', "ABC", '", "', "reason", '": "so', '", "', "verdict", '":']


def said(*last: str, likely: dict[str, float]) -> list[Token]:
    """A reply that ends with some tokens, the first of which has probabilities."""
    first, *others = last
    logs = {token: log(p) for token, p in likely.items()}
    return [*(Token(one, {}) for one in REPLY), Token(first, logs), *(Token(one, {}) for one in others)]


@pytest.mark.parametrize(
    ("last", "likely", "expected"),
    [
        ((" true", "}"), {" true": 0.8, " false": 0.2}, 0.8),
        ((" false", "}"), {" true": 0.25, " false": 0.75}, 0.25),
        ((" true", "}"), {" true": 0.5, "true": 0.1, " True": 0.1, " false": 0.2, " False": 0.1}, 0.7),
        ((' "', "yes", '"}'), {' "': 1.0}, None),  # without those of the next token
        ((' "yes', '"}'), {' "yes': 0.6, ' "no': 0.4}, 0.6),
        ((" t", "rue", "}"), {" t": 0.9, " f": 0.1}, 0.9),
        (("1", "}"), {"1": 0.3, "0": 0.7}, 0.3),
        ((" true}",), {" true}": 0.9, " false}": 0.1}, 0.9),
        ((" true", "}"), {" true": 0.9}, 0.9),  # what is not listed counts for false
        ((" false", "}"), {" false": 0.9}, 0.1),
        ((" true", "}"), {" true": 0.1, " maybe": 0.9}, None),
        ((" null", "}"), {" null": 0.9, " true": 0.1}, None),
    ],
)
def test_the_probability_is_read_at_the_verdict(last: Any, likely: Any, expected: float | None) -> None:
    found = true_probability(said(*last, likely=likely), "verdict")

    assert found == (None if expected is None else pytest.approx(expected))


def test_a_verdict_that_stands_twice_has_no_certain_place() -> None:
    tokens = said(" true", "}", likely={" true": 0.9, " false": 0.1})

    assert true_probability([*tokens, *tokens], "verdict") is None
    assert true_probability(tokens, "rating") is None
    assert true_probability([], "verdict") is None


@given(st.floats(0.001, 0.999), st.floats(0, 0.4))
def test_true_and_false_add_up_to_one(p: float, other: float) -> None:
    rest = 1.0 - other
    likely = {" true": p * rest, " false": (1 - p) * rest, " maybe": max(other, 1e-9)}

    of_true = true_probability(said(" true", "}", likely=likely), "verdict")
    of_swapped = true_probability(
        said(" true", "}", likely=likely | {" true": likely[" false"], " false": likely[" true"]}), "verdict"
    )

    assert of_true is not None
    assert of_swapped is not None
    assert of_true == pytest.approx(p, abs=1e-6)
    assert of_true + of_swapped == pytest.approx(1.0, abs=1e-6)


def choice(text: Any = "a", logprob: Any = -0.1, top: Any = ()) -> dict[str, Any]:
    return {"logprobs": {"content": [{"token": text, "logprob": logprob, "top_logprobs": [*top]}]}}


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"logprobs": None},
        {"logprobs": {"content": None}},
        {"logprobs": {"content": []}},
        {"logprobs": {"tokens": ["a"], "token_logprobs": [-0.1]}},
        choice(text=None),
        choice(logprob=float("nan")),
        choice(logprob=0.5),
        choice(logprob="-1"),
        choice(logprob=True),
        choice(logprob=-(10**400)),
        choice(top=[{"token": "b"}]),
        choice(top=["b"]),
    ],
)
def test_odd_log_probabilities_are_none(odd: dict[str, Any]) -> None:
    assert tokens_of(odd) is None


def test_tokens_of_openais_form_are_read() -> None:
    found = tokens_of(choice(logprob=-0.25, top=[{"token": "b", "logprob": -9999.0}]))

    assert found == [Token("a", {"a": -0.25, "b": -9999.0})]
    assert exp(found[0].likely["b"]) == 0.0


VALUES = st.recursive(
    st.none() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["logprobs", "content", "token", "logprob", "top_logprobs"]), inner)
    ),
)


@given(VALUES)
def test_any_json_is_tokens_or_none(value: Any) -> None:
    found = tokens_of({"logprobs": value}) if not isinstance(value, dict) else tokens_of(value)

    assert found is None or json.dumps([one.text for one in found])
