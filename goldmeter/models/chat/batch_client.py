"""Client of the batches of a server with OpenAI's protocol: many chat requests in a file, at a lower price.

Source: OpenAI's API reference, `/v1/files` and `/v1/batches`.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from goldmeter.errors import ModelError
from goldmeter.models.bounded_client import connection_problem
from goldmeter.models.chat.exchange import QUOTED_LENGTH, Endpoint
from goldmeter.models.chat.replies import printable
from goldmeter.models.servers import open_client

if TYPE_CHECKING:
    from openai import OpenAI

    from goldmeter.models.bounded_client import BoundedClient

TRANSIENT, UNAUTHORISED = frozenset({408, 409, 429}), frozenset({401, 403})
SERVER_ERRORS = 500
URL, WINDOW = "/v1/chat/completions", "24h"
# Requests and bytes of one file; OpenAI takes 50,000 and 200 MB.
MOST_REQUESTS, MOST_BYTES = 50_000, 100_000_000
# Bytes of a file of results, whose replies may be long; seconds to send or receive a file.
MOST_RESULT_BYTES, FILE_SECONDS = 1 << 31, 1_800.0
# Batches per page of the list; the key of their metadata that holds our token.
PAGE, TOKEN = 100, "goldmeter"
# Seconds by which the clocks of the server and of this machine may differ.
CLOCKS = 86_400.0
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
OK, TOO_MANY_REQUESTS = 200, 429


class PassingError(Exception):
    """An exchange failed for a reason that may pass.

    is_refusal: the server certainly did not do what it was asked to.
    """

    def __init__(self, problem: str, *, is_refusal: bool = False) -> None:
        super().__init__(problem)
        self.is_refusal = is_refusal


class RefusedError(Exception):
    """The server refused an exchange; status: of HTTP."""

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(f"HTTP {status}: {problem}")
        self.status = status


class Batch(NamedTuple):
    """A batch as the server describes it.

    status: validating, failed, in_progress, finalizing, completed, expired, cancelling or cancelled. files: of results
    and of errors, as far as there are any. done, total: requests. problems: (code, message) of a failed one.
    """

    id: str
    status: str
    files: tuple[str, ...]
    done: int
    total: int
    problems: tuple[tuple[str, str], ...]


class BatchClient:
    """Sends files of requests, and gets files of results; for one thread."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._key = endpoint.api_key.value

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        for name in ("_client", "_file_client"):
            if name in self.__dict__:
                getattr(self, name).close()

    def upload(self, path: Path) -> str:
        """Send a file of requests, and return its id. Raises PassingError or RefusedError."""
        file = (path.name, path.read_bytes(), "application/jsonl")
        answer = self._answer(lambda: self._file_client.files.with_raw_response.create(file=file, purpose="batch"))
        return str(answer["id"])

    def create(self, file: str, token: str) -> Batch:
        """Start the batch of a file; the call is made once.

        Raises:
            PassingError: Unless it `is_refusal`, the batch may have been started.
            RefusedError: It was not started.
        """
        fields: dict[str, Any] = {"input_file_id": file, "endpoint": URL, "completion_window": WINDOW}
        create = self._client.with_options(max_retries=0).batches.with_raw_response.create
        try:
            answer = self._answer(lambda: create(**fields, metadata={TOKEN: token}))
        except RefusedError as error:
            if "metadata" not in str(error):
                raise
            answer = self._answer(lambda: create(**fields))  # the file alone identifies the batch
        return _batch(answer)

    def find(self, file: str, token: str, since: float) -> Batch | None:
        """Return the batch of a file, or of a token; None if the server lists none.

        since: seconds of `time.time`, before which it was not started.

        Raises:
            PassingError: The server did not answer.
            RefusedError: It has no list of batches.
        """
        for content in self._listed(since):
            metadata = content.get("metadata")
            if content.get("input_file_id") == file or (isinstance(metadata, dict) and metadata.get(TOKEN) == token):
                return _batch(content)
        return None

    def get(self, batch: str) -> Batch:
        """Return the state of a batch. Raises PassingError or RefusedError."""
        return _batch(self._answer(lambda: self._client.batches.with_raw_response.retrieve(batch)))

    def save(self, file: str, path: Path) -> None:
        """Write a file of results to a path. Raises PassingError or RefusedError."""
        with path.open("w+b") as saved, self._file_http.saving(saved):
            self._exchange(lambda: self._file_client.files.with_raw_response.content(file))

    def clean(self, text: str) -> str:
        """Return the beginning of a server's text, without our key."""
        return printable(self._endpoint.api_key.removed_from(text))[:QUOTED_LENGTH]

    def _listed(self, since: float) -> Iterator[Mapping[str, Any]]:
        """Yield batches, the newest first, until they are too old; RefusedError for a list that repeats a page."""
        after: dict[str, Any] = {}
        pages = set[str]()
        while True:
            answer = self._answer(partial(self._client.batches.with_raw_response.list, limit=PAGE, **after))
            data = answer.get("data")
            if not isinstance(data, list):
                raise PassingError("no list of batches")
            batches = [content for content in data if isinstance(content, dict)]
            yield from batches
            created = [content.get("created_at") for content in batches]
            is_old = any(isinstance(at, int | float) and at < since - CLOCKS for at in created)
            if not answer.get("has_more") or not batches or is_old:
                return
            last = str(batches[-1].get("id"))
            if last in pages:
                raise RefusedError(OK, "its list of batches has no end")
            pages.add(last)
            after = {"after": last}

    def _answer(self, call: Callable[[], Any]) -> dict[str, Any]:
        """Return the JSON object of a reply."""
        text = self._exchange(call).http_response.text
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict):
            raise PassingError(f"the server's answer is no JSON object: {self.clean(text)}")
        return content

    def _exchange(self, call: Callable[[], Any]) -> Any:
        import openai

        try:
            return call()
        except openai.APIStatusError as error:
            status, message = (
                error.status_code,
                self.clean(error.message).removeprefix(f"Error code: {error.status_code} - "),
            )
            if status in UNAUTHORISED:
                variable = self._endpoint.api_key.variable
                key = f"set {variable} to a key that may use files and batches" if variable else "it wants a key"
                raise ModelError(f"{self._endpoint.base_url}: HTTP {status}: {message}; {key}.") from None
            if status in TRANSIENT or status >= SERVER_ERRORS:
                raise PassingError(f"HTTP {status}", is_refusal=status == TOO_MANY_REQUESTS) from None
            raise RefusedError(status, message) from None
        except openai.APIConnectionError as error:
            setting = f"{self._endpoint.place}.base_url"
            if unreachable := connection_problem(error, self._endpoint.base_url, setting):
                raise PassingError(f"no connection: {unreachable.sentence}", is_refusal=True) from None
            lost = "timeout" if isinstance(error, openai.APITimeoutError) else "connection lost"
            raise PassingError(lost) from None

    @cached_property
    def _client(self) -> "OpenAI":
        from goldmeter.models.bounded_client import BoundedClient

        http = BoundedClient(self._endpoint.timeout)
        return open_client(self._endpoint.base_url, self._key, self._endpoint.retries, http)

    @cached_property
    def _file_client(self) -> "OpenAI":
        return open_client(self._endpoint.base_url, self._key, self._endpoint.retries, self._file_http)

    @cached_property
    def _file_http(self) -> "BoundedClient":
        from goldmeter.models.bounded_client import BoundedClient

        return BoundedClient(FILE_SECONDS, MOST_RESULT_BYTES)


def _batch(content: Mapping[str, Any]) -> Batch:
    """Read a server's description of a batch. Raises PassingError if it is none."""
    name, status = content.get("id"), content.get("status")
    if not (isinstance(name, str) and name and isinstance(status, str)):
        raise PassingError("the server's answer describes no batch")
    files = (content.get("output_file_id"), content.get("error_file_id"))
    counts, errors = content.get("request_counts"), content.get("errors")
    done, failed, total = (_count(counts, key) for key in ("completed", "failed", "total"))
    listed = errors.get("data") if isinstance(errors, dict) else None
    problems = [error for error in (listed if isinstance(listed, list) else []) if isinstance(error, dict)]
    return Batch(
        name,
        status,
        tuple(file for file in files if isinstance(file, str) and file),
        done + failed,
        total,
        tuple((str(error.get("code")), str(error.get("message"))) for error in problems),
    )


def _count(counts: object, name: str) -> int:
    value = counts.get(name) if isinstance(counts, dict) else None
    return value if type(value) is int and value > 0 else 0
