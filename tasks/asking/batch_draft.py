"""A batch that is being written: a file with a line of JSON per request."""

import json
from collections.abc import Sequence
from pathlib import Path

from tasks.asking.batch_states import BatchState, new_token
from tasks.asking.budget import ExpectedTokens
from tasks.asking.reply_entries import attempt_seed
from tasks.asking.requests import Request
from tasks.errors import ModelError
from tasks.models.chat.batch_client import MOST_BYTES, URL
from tasks.models.chat.client import Chat, Reply


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
