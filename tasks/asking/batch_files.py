"""What a batch sends and brings: the file of its requests, and that of its results."""

import json
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tasks.asking.batch_states import BatchState, new_token
from tasks.asking.budget import ExpectedTokens
from tasks.asking.replies import attempt_seed
from tasks.asking.requests import Request
from tasks.errors import ModelError
from tasks.models.chat.batch_client import MOST_BYTES, URL
from tasks.models.chat.client import Chat, Reply, no_reply


class Draft:
    """The requests of a batch, in a file of a temporary folder, which replaces the one of an earlier draft."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "goldmeter.jsonl"
        self.path.write_bytes(b"")
        self.requests: dict[str, tuple[str, int, int]] = {}
        self._prompts: dict[str, str] = {}
        self._earlier: dict[str, list[Reply]] = {}
        self._address, self._size, self._prompt, self._completion = "", 0, 0.0, 0.0

    @staticmethod
    def line(request: Request, chat: Chat, earlier: int) -> bytes:
        """Return the line of a request, with the body of a single call after so many replies that were no verdict."""
        body = chat.body(
            request.question.instructions,
            request.message,
            request.question.reply_schema,
            temperature=request.temperature,
            seed=attempt_seed(request.seed, request.draw, earlier),
            max_tokens=request.max_tokens,
        )
        return json.dumps({"custom_id": request.key, "method": "POST", "url": URL, "body": body}).encode() + b"\n"

    def takes(self, line: bytes, most: int) -> bool:
        """Return whether the batch stays within its limits with one more line; most: requests."""
        return not self.requests or (len(self.requests) < most and self._size + len(line) <= MOST_BYTES)

    def add(self, request: Request, line: bytes, expected: ExpectedTokens, earlier: Sequence[Reply]) -> None:
        """Add a request and its line. earlier: replies to it that were no verdict."""
        with self.path.open("ab") as file:
            file.write(line)
        self.requests[request.key] = (request.question.name, request.draw, len(request.question.criteria))
        self._prompts[request.question.name] = request.question.prompt_hash
        if earlier:
            self._earlier[request.key] = [*earlier]
        self._address = request.address
        self._size += len(line)
        self._prompt += expected.prompt
        self._completion += expected.completion

    def state(self, server: str, chat: Chat) -> BatchState:
        """Return the state of the batch before it is sent."""
        if chat.support is None:
            raise ModelError("what the server supports is not known yet")
        return BatchState(
            new_token(),
            server,
            self._address,
            self.requests,
            self._prompts,
            self._prompt,
            self._completion,
            chat.support,
            self._earlier,
        )


# How a reply is read: HTTP status and body of a result.
Read = Callable[[int, object], Reply]


@dataclass
class Results:
    """The results that files of a batch hold, and the number of their lines that hold none.

    wanted: keys of the requests. read: reads a reply. damaged: lines that are no result. unknown: results of other
    requests. repeated: further results of a request, of which the first counts.
    """

    wanted: Container[str]
    read: Read
    clean: Callable[[str], str] = str
    damaged: int = 0
    unknown: int = 0
    repeated: int = 0
    seen: set[str] = field(default_factory=set)

    def of(self, files: Iterable[Path]) -> Iterator[tuple[str, Reply]]:
        """Yield key and reply of each request that the files have a result of."""
        for path in files:
            with path.open("rb") as lines:
                for line in lines:
                    if not line.strip():
                        continue
                    try:
                        key, reply = self._result(line)
                    except (ValueError, TypeError, KeyError, RecursionError):
                        self.damaged += 1
                        continue
                    if key not in self.wanted:
                        self.unknown += 1
                    elif key in self.seen:
                        self.repeated += 1
                    else:
                        self.seen.add(key)
                        yield key, reply

    @property
    def ignored(self) -> str:
        """The lines that were ignored, in words; empty if there was none."""
        counts = {
            "damaged": self.damaged,
            "about no request of it": self.unknown,
            "about a request with an earlier result": self.repeated,
        }
        return ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)

    def _result(self, line: bytes) -> tuple[str, Reply]:
        content = json.loads(line)
        key, response, error = content["custom_id"], content.get("response"), content.get("error")
        if not isinstance(key, str):
            raise TypeError("custom_id")
        if isinstance(response, dict):
            status = response["status_code"]
            if type(status) is not int:
                raise TypeError("status_code")
            return key, self.read(status, response.get("body"))
        said: dict[str, Any] = error if isinstance(error, dict) else {}
        what = ": ".join(str(said[name]) for name in ("code", "message") if said.get(name))
        return key, no_reply(self.clean(what) or "a result without a response", down=True, billed=False)
