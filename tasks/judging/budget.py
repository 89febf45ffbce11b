"""The budget of one run: calls, tokens and money, checked before each call."""

import re
import threading
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tasks.pipeline.run import Limits, Price

# Bytes of UTF-8 per token, roughly: tokens are estimated before a call, and counted by the server after it.
BYTES_A_TOKEN = 4.0
# Tokens of a verdict with its reason, roughly; the reasoning tokens of a model come on top.
REPLY_TOKENS = 80
# The problem of a request that does not fit.
_USED_UP = re.compile(r"not asked: (run\.judge\.budget\.\w+) \(\S+\) is used up")


class Budget:
    """The calls, tokens and money used so far, and their limits; shared by threads.

    A call that was certainly not billed does not count. A reply is expected to be as long as the longest so far.
    """

    def __init__(self, limits: Limits, price: Price | None) -> None:
        self._limits, self._price = limits, price
        self._lock = threading.Lock()
        self.calls, self.prompt, self.completion = 0, 0.0, 0.0
        self._longest = REPLY_TOKENS

    def reserve(self, prompt: float) -> "ExpectedTokens | str":
        """Reserve a call, or return the problem if it does not fit; prompt: estimated tokens of the request."""
        with self._lock:
            call = ExpectedTokens(prompt, self._longest)
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

    def settle(self, call: "ExpectedTokens", used: Mapping[str, int] | None) -> None:
        """Replace the expected tokens of a call by those that the server counted; None: it did not count."""
        if used is not None:
            with self._lock:
                self.prompt += used["prompt"] - call.prompt
                self.completion += used["completion"] - call.completion
                self._longest = max(self._longest, used["completion"])

    def refund(self, call: "ExpectedTokens") -> None:
        """Release a call that was not billed."""
        with self._lock:
            self.calls -= 1
            self.prompt -= call.prompt
            self.completion -= call.completion

    @property
    def cost(self) -> float | None:
        """US dollars so far; None if the model has no price."""
        return None if self._price is None else self._cost(self.prompt, self.completion)

    def _cost(self, prompt: float, completion: float) -> float:
        return self._price.of(prompt, completion) if self._price else 0.0


def used_up(problems: Iterable[str]) -> str:
    """Return the paths of the limits that requests did not fit into; empty if that was nobody's problem."""
    return " and ".join(sorted({match[1] for problem in problems if (match := _USED_UP.fullmatch(problem))}))


class ExpectedTokens(NamedTuple):
    """Estimated tokens of a request and of its reply."""

    prompt: float
    completion: float


def expected_tokens(*texts: str) -> float:
    """Estimate the tokens of texts.

    >>> expected_tokens("What is the capital of France?")
    7.5
    """
    return sum(len(text.encode()) for text in texts) / BYTES_A_TOKEN
