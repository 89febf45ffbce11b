"""The reply of a model to one request, or the reason why there is none."""

import time
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from goldmeter.models.chat.answer_tokens import Token
from goldmeter.models.chat.envelope import CONTENT_FILTER, CUT_OFF, REFUSAL
from goldmeter.models.chat.limits import Support
from goldmeter.text.thoughts import CUT_THOUGHT

UNEXPECTED: Final = "the server's answer has not the expected form"
EVENT_STREAM: Final = "the server's answer is an event stream, which was not asked for"
TIMEOUT: Final = "timeout"
REFUSED = frozenset({400, 422})
# Larger counts are none: a budget could not add them up.
MOST_TOKENS = 10**9
# How the problem of a request begins that a server refused; with the status of HTTP.
STATUS: Final = "HTTP {}: "


class Reply(NamedTuple):
    """The reply to one request, or the reason why there is none.

    Attributes:
        text: None if there was no reply.
        problem: Why the text can't be a verdict, such as a refusal or a timeout.
        model: The model that the server says it used.
        tokens: Tokens of prompt and completion.
        latency: Seconds of the last call, without those before it and the pauses between them.
        attempts: Number of calls.
        support: The capabilities assumed in the request; None if nothing came back.
        down: The server, and not the request, is the cause.
        billed: The calls may have cost something.
        more_room: Asked again, the reply may be longer: the model thinks, and the limit left no room for thoughts.
        probabilities: Of each statement by name, of a decision model.
        tokens_said: The tokens of the text with those that were as likely, where the server tells them.
    """

    text: str | None
    problem: str | None
    model: str | None
    tokens: dict[str, int] | None
    latency: float
    attempts: int
    support: Support | None
    down: bool = False
    billed: bool = True
    more_room: bool = False
    probabilities: Mapping[str, float] | None = None
    tokens_said: Sequence[Token] | None = None

    @property
    def worth_another(self) -> bool:
        """Whether asking again may bring a verdict: not after silence, and not if the reply would be the same."""
        garbled = self.text is not None or (self.problem or "").startswith(UNEXPECTED)
        ends = {REFUSAL, CONTENT_FILTER, CUT_OFF, CUT_THOUGHT}
        return self.more_room or (garbled and self.problem not in ends)


def is_about_content(problem: str) -> bool:
    """Return whether a problem says that the server does not process the texts of the request."""
    return problem == CONTENT_FILTER or any(problem.startswith(STATUS.format(status)) for status in REFUSED)


def no_reply(
    problem: str, start: float | None = None, attempts: int = 1, *, down: bool = False, billed: bool = True
) -> Reply:
    """Return that there is no reply; start: seconds of `time.monotonic`, None where nothing was timed."""
    return Reply(None, problem, None, None, since(start), attempts, None, down=down, billed=billed)


def usage_in(usage: object) -> dict[str, int] | None:
    """Return the tokens that the server counted, reasoning included; None without valid counts.

    Servers that leave reasoning out of `completion_tokens` count it in `total_tokens`.
    """
    if not isinstance(usage, dict):
        return None
    counted = token_counts(usage, "prompt", "completion")
    total = _count(usage.get("total_tokens")) or 0
    return counted and counted | {"completion": max(counted["completion"], total - counted["prompt"])}


def token_counts(usage: object, prompt: str, completion: str) -> dict[str, int] | None:
    """Return the tokens that the server counted under these names; None without valid counts."""
    if not isinstance(usage, dict):
        return None
    read, said = (_count(usage.get(f"{name}_tokens")) for name in (prompt, completion))
    return None if read is None or said is None else {"prompt": read, "completion": said}


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


def printable(text: str) -> str:
    """Replace characters that UTF-8 can't encode."""
    return text.encode("utf-8", "replace").decode()


def since(start: float | None) -> float:
    return 0.0 if start is None else round(time.monotonic() - start, 3)
