"""What asking may cost in one run: calls, tokens and money, checked before a call is made."""

import threading
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, PositiveFloat, PositiveInt

from tasks.section import Section

CHARACTERS_A_TOKEN = 4.0
"""Of English text, about; tokens are estimated before a call, and counted by the server after it."""
REPLY_TOKENS = 80
"""What a verdict with its reason takes, about."""
MILLION = 1_000_000


class Price(Section):
    """US dollars for a million tokens."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]

    def of(self, prompt: float, completion: float) -> float:
        """US dollars for so many tokens."""
        return (prompt * self.input + completion * self.output) / MILLION


class Limits(Section):
    """What one run may use; None is no limit. max_cost: US dollars."""

    max_calls: PositiveInt | None
    max_tokens: PositiveInt | None
    max_cost: PositiveFloat | None


class Budget:
    """What is left of the limits; shared by threads. A call that failed and is made again counts once."""

    def __init__(self, limits: Limits, price: Price | None) -> None:
        self._limits, self._price = limits, price
        self._lock = threading.Lock()
        self.calls, self.prompt, self.completion = 0, 0.0, 0.0

    def reserve(self, prompt: float) -> str | None:
        """Take an expected call off the budget; why there is none, if it does not fit.

        prompt: expected tokens of the request.
        """
        with self._lock:
            expected = {
                "max_calls": self.calls + 1,
                "max_tokens": self.prompt + prompt + self.completion + REPLY_TOKENS,
                "max_cost": self._cost(self.prompt + prompt, self.completion + REPLY_TOKENS),
            }
            for name, limit in self._limits.model_dump().items():
                if limit is not None and expected[name] > limit:
                    return f"not asked: run.judge.budget.{name} ({limit:g}) is used up"
            self.calls += 1
            self.prompt += prompt
            self.completion += REPLY_TOKENS
        return None

    def settle(self, prompt: float, used: Mapping[str, int] | None) -> None:
        """Put what was used in the place of what was expected; nothing, if there was no reply."""
        with self._lock:
            self.calls -= used is None
            self.prompt += (used["prompt"] if used else 0) - prompt
            self.completion += (used["completion"] if used else 0) - REPLY_TOKENS

    @property
    def cost(self) -> float | None:
        """US dollars so far; None where the model has no price."""
        return None if self._price is None else self._cost(self.prompt, self.completion)

    def _cost(self, prompt: float, completion: float) -> float:
        return self._price.of(prompt, completion) if self._price else 0.0


def expected_tokens(*texts: str) -> float:
    """Tokens of texts, about.

    >>> expected_tokens("What is the capital of France?")
    7.5
    """
    return sum(map(len, texts)) / CHARACTERS_A_TOKEN
