"""The budget of one run: calls, tokens and money, checked before each call."""

import json
import os
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from goldmeter.pipeline.run import Limits, Price

# Bytes of UTF-8 per token, roughly: tokens are estimated before a call, and counted by the server after it.
BYTES_A_TOKEN = 4.0
# Tokens of a verdict with its reason, roughly, where the ledger has no reply; a model's reasoning comes on top.
REPLY_TOKENS = 80
# Tokens of {"criterion": 12, "met": false} in a reply about a rubric, roughly.
CRITERION_TOKENS = 12
# How the name of the file ends in which a stage keeps what it has used in a run; numbers may follow.
SPENT_FILE = "-spent.json"
# The problem of a request that does not fit.
_USED_UP = re.compile(r"not asked: (run\.judge\.budget\.\w+) \(\S+\) is used up")


class Budget:
    """The calls, tokens and money used so far, and their limits; shared by threads.

    A call that was certainly not billed does not count. A reply is expected to be as long as the longest so far.
    Tokens of batches count in full, and cost what `Price.batch` says.

    Args:
        limits: Of one run.
        price: Of the model.
        longest: Tokens that the first replies are expected to have.
        spent: File in which attempts of one run keep what they have used; None: there is one attempt. What the files of
            other stages beside it say counts, too.
    """

    def __init__(
        self, limits: Limits, price: Price | None, longest: float = REPLY_TOKENS, spent: Path | None = None
    ) -> None:
        self._limits, self._price = limits, price
        self._lock, self._file = threading.Lock(), SpentFile(spent) if spent else None
        used = self._file.read() if self._file else Used()
        self.calls, self.prompt, self.completion = used.calls, used.prompt, used.completion
        self._batch_prompt, self._batch_completion = used.batch_prompt, used.batch_completion
        self._batches, self._longest = {*used.batches}, longest
        self._before = Used.of_other_stages(spent) if spent else Used()
        self._others: Sequence[Budget] = ()

    def share(self, budgets: "Iterable[Budget]") -> None:
        """Count what other models of this run use within the same limits; one model is asked at a time."""
        self._others = [one for one in budgets if one is not self]

    def reserve(self, prompt: float, *, by_batch: bool = False) -> "ExpectedTokens | str":
        """Reserve a call, or return the problem if it does not fit; prompt: estimated tokens of the request."""
        with self._lock:
            call, together = ExpectedTokens(prompt, self._longest, by_batch), (self, *self._others)
            before = self._before
            expected = {
                "max_calls": 1 + before.calls + sum(one.calls for one in together),
                "max_tokens": prompt + call.completion + before.tokens + sum(one.tokens for one in together),
                "max_cost": before.cost + self._all_cost + self._cost(prompt, call.completion, by_batch=by_batch),
            }
            for name, limit in self._limits.model_dump().items():
                if limit is not None and expected[name] > limit:
                    return f"not asked: run.judge.budget.{name} ({limit:g}) is used up"
            self._add(call, 1)
            self._save()
        return call

    def started(self, batch: str) -> None:
        """Note a batch whose calls this run has reserved."""
        with self._lock:
            self._batches.add(batch)
            self._save()

    def resume(self, batch: str, calls: "Sequence[ExpectedTokens]") -> None:
        """Count the calls of a batch that an earlier run has started, and whose replies this run takes in."""
        with self._lock:
            if batch in self._batches:
                return
            self._batches.add(batch)
            for call in calls:
                self._add(call, 1)
            self._save()

    def settle(self, call: "ExpectedTokens", used: Mapping[str, int] | None) -> None:
        """Replace the expected tokens of a call by those that the server counted; None: it did not count."""
        if used is not None:
            with self._lock:
                self._add(call, -1)
                self._add(ExpectedTokens(used["prompt"], used["completion"], call.by_batch), 1)
                self._longest = max(self._longest, used["completion"])
                self._save()

    def refund(self, call: "ExpectedTokens") -> None:
        """Release a call that was not billed."""
        with self._lock:
            self._add(call, -1)
            self._save()

    @property
    def tokens(self) -> float:
        """The tokens of requests and replies of this model so far."""
        return self.prompt + self.completion

    @property
    def is_priced(self) -> bool:
        """Whether the model has a price."""
        return self._price is not None

    @property
    def cost(self) -> float | None:
        """US dollars so far, of all models that share the limits; None if one of them has no price."""
        together = [one for one in (self, *self._others) if one is self or one.calls]
        return None if any(not one.is_priced for one in together) else self._all_cost

    @property
    def _all_cost(self) -> float:
        return self.own_cost + sum(one.own_cost for one in self._others)

    def _add(self, call: "ExpectedTokens", sign: int) -> None:
        self.calls += sign
        self.prompt += sign * call.prompt
        self.completion += sign * call.completion
        if call.by_batch:
            self._batch_prompt += sign * call.prompt
            self._batch_completion += sign * call.completion

    def _save(self) -> None:
        if self._file:
            tokens = (self.prompt, self.completion, self._batch_prompt, self._batch_completion)
            self._file.write(Used(self.calls, *tokens, sorted(self._batches), self.own_cost))

    @property
    def own_cost(self) -> float:
        """US dollars of this model so far; 0 without a price."""
        saved = self._price.saved(self._batch_prompt, self._batch_completion) if self._price else 0.0
        return self._cost(self.prompt, self.completion, by_batch=False) - saved

    def _cost(self, prompt: float, completion: float, *, by_batch: bool) -> float:
        if self._price is None:
            return 0.0
        return self._price.of(prompt, completion) - (self._price.saved(prompt, completion) if by_batch else 0.0)


class Used(NamedTuple):
    """Calls and tokens that attempts of one run have used, as `Budget` counts them.

    batches: tokens of its batches. cost: US dollars; 0 without a price.
    """

    calls: int = 0
    prompt: float = 0.0
    completion: float = 0.0
    batch_prompt: float = 0.0
    batch_completion: float = 0.0
    batches: Sequence[str] = ()
    cost: float = 0.0

    @property
    def tokens(self) -> float:
        """The tokens of requests and replies."""
        return self.prompt + self.completion

    @classmethod
    def of_other_stages(cls, spent: Path) -> Self:
        """Add up what other stages of this run have used, by the files beside the one of a stage."""
        stage, files = spent.name.partition(SPENT_FILE)[0], sorted(spent.parent.glob(f"*{SPENT_FILE}*"))
        used = [cls.read(path) for path in files if path.name.partition(SPENT_FILE)[0] != stage]
        calls, prompt, completion, cost = (
            sum(getattr(one, name) for one in used) for name in ("calls", "prompt", "completion", "cost")
        )
        return cls(calls, prompt, completion, cost=cost)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return what a file says; nothing if it is new."""
        content = path.read_bytes().partition(b"\n")[0]
        return cls(*json.loads(content)) if content else cls()


class SpentFile:
    """The file of what one run has used; one process at a time writes it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def read(self) -> Used:
        """Return what was used; nothing if the file is new."""
        return Used.read(self._path)

    def write(self, used: Used) -> None:
        """Replace the content by one write, which is whole even if the process is killed; an older rest may follow."""
        os.pwrite(self._file, json.dumps(used).encode() + b"\n", 0)


def used_up(problems: Iterable[str]) -> str:
    """Return the paths of the limits that requests did not fit into; empty if that was nobody's problem."""
    return " and ".join(sorted({match[1] for problem in problems if (match := _USED_UP.fullmatch(problem))}))


class ExpectedTokens(NamedTuple):
    """Estimated tokens of a request and of its reply. by_batch: it is part of a batch."""

    prompt: float
    completion: float
    by_batch: bool = False


def expected_tokens(*texts: str) -> float:
    """Estimate the tokens of texts.

    >>> expected_tokens("What is the capital of France?")
    7.5
    """
    return sum(len(text.encode()) for text in texts) / BYTES_A_TOKEN
