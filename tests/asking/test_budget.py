import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from goldmeter.asking.budget import REPLY_TOKENS, Budget, ExpectedTokens
from goldmeter.pipeline.run import Limits, Price

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


def test_a_second_attempt_goes_on_where_the_first_one_ended(tmp_path):
    given, price = limits(max_calls=4), PRICE
    first = Budget(given, price, spent=tmp_path / "spent.json")
    first.settle(first.reserve(100), {"prompt": 1_000_000, "completion": 100_000})
    first.refund(first.reserve(100))
    first.started("new")
    first.resume("old", [ExpectedTokens(10, 20, by_batch=True)])

    second = Budget(given, price, spent=tmp_path / "spent.json")
    for batch in ("new", "old"):
        second.resume(batch, [ExpectedTokens(10, 20, by_batch=True)])

    assert (second.calls, second.prompt, second.completion) == (2, 1_000_010, 100_020)
    assert second.cost == first.cost
    assert [isinstance(second.reserve(1), ExpectedTokens) for _ in range(3)] == [True, True, False]


def test_the_stages_of_a_run_share_its_limits_and_models_of_a_stage_count_once(tmp_path):
    for name in ("answer-spent.json", "answer-spent.json-1"):
        asked = Budget(limits(), PRICE, spent=tmp_path / name)
        asked.settle(asked.reserve(100), {"prompt": 1_000_000, "completion": 100_000})
    paid = 2 * asked.cost

    def fits(name, **given):
        return isinstance(Budget(limits(**given), PRICE, spent=tmp_path / name).reserve(0), ExpectedTokens)

    assert fits("answer-spent.json-2", max_calls=1)  # models of one stage share their budgets by `share`
    (tmp_path / "answer-spent.json-2").unlink()
    assert [fits("judge-spent.json", max_calls=most) for most in (2, 3)] == [False, True]
    assert [fits("judge-spent.json-2", max_tokens=most) for most in (2_200_000, 2_201_000)] == [False, True]
    assert [fits("judge-spent.json-3", max_cost=most) for most in (paid, paid + 0.01)] == [False, True]


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


def test_models_of_a_panel_share_the_limits_at_their_own_prices() -> None:
    limits = Limits(max_calls=None, max_tokens=None, max_cost=10.0)
    cheap, dear = (Budget(limits, Price(input=price, output=0.0)) for price in (1.0, 5.0))
    for one in (cheap, dear):
        one.share([cheap, dear])

    assert not isinstance(cheap.reserve(4e6), str)
    assert not isinstance(dear.reserve(1e6), str)
    assert cheap.cost == dear.cost == pytest.approx(9.0)
    assert isinstance(dear.reserve(0.5e6), str)
    assert not isinstance(cheap.reserve(1e6), str)


def test_a_model_without_a_price_hides_the_cost_of_all() -> None:
    limits = Limits(max_calls=3, max_tokens=None, max_cost=None)
    known, unknown = Budget(limits, Price(input=1.0, output=0.0)), Budget(limits, None)
    for one in (known, unknown):
        one.share([known, unknown])

    known.reserve(1e6)
    assert known.cost == pytest.approx(1.0)
    unknown.reserve(1e6)
    assert known.cost is None
    known.reserve(1.0)
    assert isinstance(unknown.reserve(1.0), str)
