"""The plan of a run: missing calls, their tokens and their cost, before the first call."""

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Protocol, Self

from goldmeter.asking.budget import REPLY_TOKENS
from goldmeter.asking.requests import AskedModel, EarlierReplies, Request
from goldmeter.errors import ParamsError
from goldmeter.pipeline.run import Price, RunJudge


@dataclass(frozen=True)
class CallPlan:
    """Missing calls to one model, and their estimated tokens.

    prompt: tokens of all requests. key: name of the environment variable of the key, if it is not set. by_batch: the
    calls are made by batches, unless `single_calls` excepts them. waiting: further missing requests, which are in
    batches that were sent before. reply_tokens: expected tokens of a reply.
    """

    model: str
    base_url: str
    calls: int
    prompt: float
    price: Price | None
    key: str | None
    by_batch: bool = False
    waiting: int = 0
    reply_tokens: float = REPLY_TOKENS

    @classmethod
    def of(
        cls,
        requests: Iterable[Request],
        options: AskedModel,
        run: RunJudge,
        waiting: Container[str] = (),
        earlier: EarlierReplies | None = None,
    ) -> Self:
        """Plan these requests.

        Args:
            requests: The missing ones.
            options: The model.
            run: Section `run.judge`.
            waiting: Keys of those that are in batches.
            earlier: Of replies, complete once all requests are read.

        Raises:
            ParamsError: The budget is in money, and the model has no price.
        """
        calls, criteria, prompt, in_batches = Counter[str](), Counter[str](), 0.0, 0
        for request in requests:
            if request.key in waiting:
                in_batches += 1
                continue
            calls[request.question.name] += 1
            criteria[request.question.name] += len(request.question.criteria)
            prompt += request.tokens
        return cls(
            options.model,
            options.base_url,
            calls.total(),
            prompt,
            run.price(options.model),
            options.api_key.variable if options.api_key.is_unset else None,
            by_batch=run.batch,
            waiting=in_batches,
            reply_tokens=earlier.mean(calls, criteria) if earlier else REPLY_TOKENS,
        )

    def __str__(self) -> str:
        unpriced = "" if self.price else f" (run.judge.prices has no {self.model})"
        waiting = f"; {self.waiting:,} more requests are in batches at work" if self.waiting else ""
        kind = "calls by batch" if self.by_batch else "calls"
        parts = f"{self._of_these}{waiting}"
        return f"{self.calls:,} {kind} to {self.model} at {self.base_url}, {self.cost}{unpriced}{parts}"

    @property
    def _of_these(self) -> str:
        """What some of the calls are for, in words that begin with a semicolon."""
        return ""

    @property
    def single_calls(self) -> tuple[int, float]:
        """The calls that are never made by batches, and the tokens of their requests."""
        return 0, 0.0

    @property
    def cost(self) -> str:
        """The tokens and the cost of all calls, in words."""
        return amount(self.tokens, self.dollars)

    @property
    def tokens(self) -> float:
        """The tokens of all calls, with those of replies."""
        return self.prompt + self.calls * self.reply_tokens

    @property
    def dollars(self) -> float | None:
        """The price of all calls; None without a price."""
        calls, prompt = self.single_calls
        return self.price_of(self.calls, self.prompt, self.calls - calls, self.prompt - prompt)

    def price_of(self, calls: int, prompt: float, batch_calls: int, batch_prompt: float) -> float | None:
        """Return the price of calls, of which some are made by batches if the others are; None without a price."""
        if self.price is None:
            return None
        saved = self.price.saved(batch_prompt, batch_calls * self.reply_tokens) if self.by_batch else 0.0
        return self.price.of(prompt, calls * self.reply_tokens) - saved


class Counted(Protocol):
    """A plan that knows its calls."""

    @property
    def calls(self) -> int: ...


def require_confirmed(plan: Counted, run: RunJudge, otherwise: str = "") -> None:
    """Check that no more calls would be made than `run.judge.confirm_calls` allows.

    Args:
        plan: The calls.
        run: Section `run.judge`.
        otherwise: What to do other than to raise the limit.

    Raises:
        ParamsError: There are more.
    """
    if min(plan.calls, run.budget.max_calls or plan.calls) > run.confirm_calls:
        raise ParamsError(
            f"run.judge.confirm_calls: {run.confirm_calls:,}, but {plan.calls:,} calls are missing; "
            f"raise it to make them{otherwise}"
        )


def amount(tokens: float, dollars: float | None) -> str:
    """Return tokens and their price in words."""
    return f"about {tokens:,.0f} tokens" + ("" if dollars is None else f", ${dollars:,.2f}")
