"""The plan of a judge's run: missing calls, their tokens and their cost, before the first call."""

import os
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import Self

from tasks.judging import canaries
from tasks.judging.budget import REPLY_TOKENS
from tasks.judging.requests import Request
from tasks.judging.settings import Judge
from tasks.pipeline.run import Price, RunJudge


@dataclass(frozen=True)
class Plan:
    """Missing calls and their estimated tokens.

    prompt: tokens of all requests. key: name of the environment variable of the key, if it is not set. canaries,
    canary_prompt: those of the calls that are about canaries. savings: of a cascade.
    """

    model: str
    base_url: str
    calls: int
    prompt: float
    price: Price | None
    key: str | None
    canaries: int = 0
    canary_prompt: float = 0.0
    savings: "Savings | None" = None

    @classmethod
    def of(cls, requests: Iterable[Request], options: Judge, run: RunJudge) -> Self:
        """Plan these requests.

        Raises:
            ParamsError: The budget is in money, and the model has no price.
        """
        invented = {request.key for request in canaries.requests(options)}
        calls, prompt, about_canaries = 0, 0.0, list[float]()
        for request in requests:
            calls, prompt = calls + 1, prompt + request.tokens
            if request.key in invented:
                about_canaries.append(request.tokens)
        variable = options.api_key_env
        unset = variable is not None and not os.environ.get(variable, "").strip()
        key = variable if unset else None
        price, few = run.price(options.model), (len(about_canaries), sum(about_canaries))
        return cls(options.model, options.base_url, calls, prompt, price, key, *few)

    def __str__(self) -> str:
        unpriced = "" if self.price else f" (run.judge.prices has no {self.model})"
        few = self._cost(self.canaries, self.canary_prompt)
        invented = f"; {self.canaries:,} of these calls, {few}, are canaries (judge.canaries)" if self.canaries else ""
        return f"{self.calls:,} calls to {self.model} at {self.base_url}, {self.cost}{unpriced}{invented}"

    @property
    def cost(self) -> str:
        """The tokens and the cost of all calls, in words."""
        return self._cost(self.calls, self.prompt)

    def _cost(self, calls: int, prompt: float) -> str:
        replies = calls * REPLY_TOKENS
        money = f", ${self.price.of(prompt, replies):,.2f}" if self.price else ""
        return f"about {prompt + replies:,.0f} tokens{money}"


@dataclass(frozen=True)
class Savings:
    """What the offline judge of a cascade saves.

    rows: rows to judge. decided: those that the offline judge decides. calls: the missing calls that the language model
    would need for these.
    """

    rows: int
    decided: "Decided"
    calls: Plan

    def __str__(self) -> str:
        n, calls = self.decided.rows, self.calls
        return (
            f"the offline judge decides {n:,} of {self.rows:,} rows (judge.band), {calls.model} judges "
            f"{self.rows - n:,}; this saves {calls.calls:,} calls, {calls.cost}{self.decided.agreement}"
        )


@dataclass(frozen=True)
class Decided:
    """The rows that the offline judge decides, and how many of those with a human label it passes and fails.

    right_passes, right_fails: how many of these have the same label.
    """

    rows: int = 0
    passes: int = 0
    right_passes: int = 0
    fails: int = 0
    right_fails: int = 0

    def __add__(self, other: object) -> "Decided":
        """The rows of both."""
        if not isinstance(other, Decided):
            return NotImplemented
        return Decided(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    @property
    def agreement(self) -> str:
        """How often it agrees with the labels, in words; empty without labels."""
        if not self.passes + self.fails:
            return ""
        return (
            f"; by human labels, {self.right_passes:,} of the {self.passes:,} that it passes are right, and "
            f"{self.right_fails:,} of the {self.fails:,} that it fails are wrong"
        )
