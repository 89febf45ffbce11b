"""The plan of a judge's run: missing calls, their tokens and their cost, before the first call."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from tasks.judging.budget import REPLY_TOKENS
from tasks.judging.requests import Request
from tasks.judging.settings import Judge
from tasks.pipeline.run import Price, RunJudge


@dataclass(frozen=True)
class Plan:
    """Missing calls and their estimated tokens. key: name of the environment variable of the key, if it is not set."""

    model: str
    base_url: str
    calls: int
    prompt: float
    price: Price | None
    key: str | None

    @classmethod
    def of(cls, requests: Iterable[Request], options: Judge, run: RunJudge) -> Self:
        """Plan these requests.

        Raises:
            ParamsError: The budget is in money, and the model has no price.
        """
        calls, prompt = 0, 0.0
        for request in requests:
            calls, prompt = calls + 1, prompt + request.tokens
        variable = options.api_key_env
        unset = variable is not None and not os.environ.get(variable, "").strip()
        key = variable if unset else None
        return cls(options.model, options.base_url, calls, prompt, run.price(options.model), key)

    @property
    def tokens(self) -> float:
        """Estimated tokens of all calls and their replies."""
        return self.prompt + self.calls * REPLY_TOKENS

    def __str__(self) -> str:
        if self.price:
            cost = f", ${self.price.of(self.prompt, self.calls * REPLY_TOKENS):,.2f}"
        else:
            cost = f" (run.judge.prices has no {self.model})"
        return f"{self.calls:,} calls to {self.model} at {self.base_url}, about {self.tokens:,.0f} tokens{cost}"
