"""What asking may cost in one run: calls, tokens and money, checked before a call is made."""

import threading
from collections.abc import Mapping
from typing import NamedTuple

from tasks.pipeline.run import Limits, Price

BYTES_A_TOKEN = 4.0
"""Of UTF-8, about; tokens are estimated before a call, and counted by the server after it."""
REPLY_TOKENS = 80
"""What a verdict with its reason takes, about; what a model thinks before it comes on top."""


class Budget:
    """What is left of the limits; shared by threads.

    A call that was surely not billed does not count. A reply is expected to be as long as the longest so far.
    """

    def __init__(self, limits: Limits, price: Price | None) -> None:
        self._limits, self._price = limits, price
        self._lock = threading.Lock()
        self.calls, self.prompt, self.completion = 0, 0.0, 0.0
        self._longest = REPLY_TOKENS

    def reserve(self, prompt: float) -> "Expected | str":
        """Take an expected call off the budget, or say why there is none: it does not fit.

        prompt: expected tokens of the request.
        """
        with self._lock:
            call = Expected(prompt, self._longest)
            expected = {
                "max_calls": self.calls + 1,
                "max_tokens": self.prompt + prompt + self.completion + call.completion,
                "max_cost": self._cost(self.prompt + prompt, self.completion + call.completion),
            }
            for name, limit in self._limits.model_dump().items():
                if limit is not None and expected[name] > limit:
                    return f"not asked: run.judge.budget.{name} ({limit:g}) is used up"
            self.calls += 1
            self.prompt += call.prompt
            self.completion += call.completion
        return call

    def settle(self, call: "Expected", used: Mapping[str, int] | None) -> None:
        """Put what the server counted in the place of what was expected, if it did."""
        if used is not None:
            with self._lock:
                self.prompt += used["prompt"] - call.prompt
                self.completion += used["completion"] - call.completion
                self._longest = max(self._longest, used["completion"])

    def refund(self, call: "Expected") -> None:
        """Give back what was expected of a call that was not billed."""
        with self._lock:
            self.calls -= 1
            self.prompt -= call.prompt
            self.completion -= call.completion

    @property
    def cost(self) -> float | None:
        """US dollars so far; None where the model has no price."""
        return None if self._price is None else self._cost(self.prompt, self.completion)

    def _cost(self, prompt: float, completion: float) -> float:
        return self._price.of(prompt, completion) if self._price else 0.0


class Expected(NamedTuple):
    """Tokens of a request and its reply, about."""

    prompt: float
    completion: float


def expected_tokens(*texts: str) -> float:
    """Tokens of texts, about.

    >>> expected_tokens("What is the capital of France?")
    7.5
    """
    return sum(len(text.encode()) for text in texts) / BYTES_A_TOKEN
