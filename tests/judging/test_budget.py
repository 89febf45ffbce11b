import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tasks.judging.budget import REPLY_TOKENS, Budget, ExpectedTokens
from tasks.pipeline.run import Limits, Price

PRICE = Price(input=1.0, output=10.0)


def limits(**given):
    return Limits(**{"max_calls": None, "max_tokens": None, "max_cost": None, **given})


@pytest.mark.parametrize(
    ("given", "calls"),
    [
        ({"max_calls": 3}, 3),
        ({"max_tokens": 2 * (100 + REPLY_TOKENS)}, 2),
        ({"max_cost": 2 * (100 + 10 * REPLY_TOKENS) / 1e6 + 1e-9}, 2),
        ({"max_calls": 5, "max_tokens": 1}, 0),
    ],
)
def test_a_call_that_does_not_fit_is_not_made(given, calls):
    budget = Budget(limits(**given), PRICE)

    refused = [budget.reserve(100) for _ in range(6)]

    assert all(isinstance(call, ExpectedTokens) for call in refused[:calls])
    assert all("run.judge.budget." in reason for reason in refused[calls:])


def test_a_call_that_is_refunded_costs_nothing():
    budget = Budget(limits(max_calls=1, max_tokens=1000), PRICE)

    for _ in range(5):
        budget.refund(budget.reserve(100))

    assert (budget.calls, budget.prompt, budget.completion, budget.cost) == (0, 0, 0, 0)


def test_what_the_server_counts_replaces_what_was_expected():
    budget = Budget(limits(), PRICE)

    budget.settle(budget.reserve(100), {"prompt": 1_000_000, "completion": 100_000})

    assert budget.cost == pytest.approx(2.0)


def test_a_reply_is_expected_to_be_as_long_as_the_longest_so_far():
    budget = Budget(limits(max_tokens=10_000), PRICE)

    budget.settle(budget.reserve(100), {"prompt": 100, "completion": 4_000})

    assert budget.reserve(100) == ExpectedTokens(100, 4_000)
    assert "max_tokens" in budget.reserve(100)


def test_what_the_server_does_not_count_stays_as_expected():
    budget = Budget(limits(max_tokens=2 * (100 + REPLY_TOKENS)), PRICE)

    for _ in range(2):
        budget.settle(budget.reserve(100), None)

    assert "max_tokens" in budget.reserve(100)


def test_without_a_price_there_is_no_cost():
    assert Budget(limits(), None).cost is None


@given(st.lists(st.floats(1, 1e6)), st.integers(1, 10), st.floats(1, 1e6))
def test_expected_use_never_passes_a_limit(prompts, calls, tokens):
    budget = Budget(limits(max_calls=calls, max_tokens=int(tokens)), None)

    for prompt in prompts:
        budget.reserve(prompt)

    assert budget.calls <= calls
    assert budget.prompt + budget.completion <= tokens


@pytest.mark.parametrize(
    "given", [{"max_calls": 0}, {"max_tokens": -1}, {"max_cost": float("nan")}, {"max_cost": True}]
)
def test_limits_are_positive_numbers(given):
    with pytest.raises(ValidationError):
        limits(**given)
