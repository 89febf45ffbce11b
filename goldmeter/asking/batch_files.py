"""Files of a batch: its state in the ledger's store, the requests that it sends, and the results that it brings."""

import json
import secrets
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from goldmeter.asking.budget import ExpectedTokens
from goldmeter.asking.requests import Question, Request, arguments, nonce_of
from goldmeter.errors import LedgerError, ModelError
from goldmeter.ledger.sqlite_file import unusable
from goldmeter.metrics.verdict_types import Criterion
from goldmeter.models.chat.batch_client import MOST_BYTES, URL
from goldmeter.models.chat.client import Chat
from goldmeter.models.chat.limits import FORMATS, Support
from goldmeter.models.chat.replies import Reply, no_reply
from goldmeter.pipeline.files import replacing, sync, to_json

FOLDER, LOCK = "batches", "lock"
SUFFIX = ".json"


@dataclass(frozen=True)
class AskedByBatch:
    """What the state of a batch keeps of one of its requests; see `requests.Asked`."""

    key: str
    question: Question
    draw: int
    address: str

    @cached_property
    def nonce(self) -> str:
        """The code that the reply must repeat."""
        return nonce_of(self.key)


@dataclass(frozen=True)
class BatchState:
    """One batch.

    Attributes:
        token: Names the file, and the batch at the server.
        server: The server and the model.
        address: Part of the keys, see `Request`.
        requests: Key → metric, draw, and number of criteria that the reply must have.
        prompts: Metric → hash of its prompt.
        prompt_tokens: Expected tokens of all requests.
        completion_tokens: Expected tokens of all replies.
        support: What the requests assume that the server supports.
        earlier: Key → replies of earlier batches that were no verdict.
        file: Id of the file of requests.
        creating: Seconds of `time.time` at which the batch was started; None before.
        batch: Its id; None until the server has said it.
    """

    token: str
    server: str
    address: str
    requests: Mapping[str, tuple[str, int, int]]
    prompts: Mapping[str, str]
    prompt_tokens: float
    completion_tokens: float
    support: Support
    earlier: Mapping[str, Sequence[Reply]] = field(default_factory=dict)
    file: str | None = None
    creating: float | None = None
    batch: str | None = None

    def unsent(self) -> Self:
        """Return the state of a batch that was certainly not started."""
        return replace(self, file=None, creating=None)

    def sent(self, file: str) -> Self:
        """Return the state just before the batch is started."""
        return replace(self, file=file, creating=time.time())

    def started(self, batch: str) -> Self:
        """Return the state of the batch with this id."""
        return replace(self, batch=batch)

    def asked(self, metrics: Mapping[str, Question]) -> Iterator[AskedByBatch]:
        """Yield the requests; metrics: by name."""
        for key, (metric, draw, criteria) in self.requests.items():
            numbered = metrics[metric].with_criteria([Criterion("", 1.0)] * criteria)
            yield AskedByBatch(key, numbered, draw, self.address)

    def is_readable(self, metrics: Mapping[str, Question]) -> bool:
        """Return whether the replies can be parsed by these metrics."""
        hashes = {name: metric.prompt_hash for name, metric in metrics.items()}
        return all(hashes.get(name) == prompt for name, prompt in self.prompts.items())


def new_token() -> str:
    """Return the token of a new batch."""
    return secrets.token_hex(16)


class BatchStates:
    """The folder of state files. A change is on the disk when the call returns.

    Raises:
        LedgerError: The folder can't be used, or a file in it is damaged.
    """

    def __init__(self, store: Path) -> None:
        self.folder = store / FOLDER

    @property
    def lock(self) -> Path:
        """The lock of the process that sends batches and takes them in."""
        return self.folder / LOCK

    def create(self) -> None:
        """Create the folder."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            sync(self.folder.parent)
        except OSError as error:
            raise unusable(self.folder, error) from error

    def all(self) -> list[BatchState]:
        """Return the states of all batches, of any server."""
        return [self._read(path) for path in sorted(self.folder.glob(f"[0-9a-f]*{SUFFIX}"))]

    def of(self, server: str, metrics: Mapping[str, Question]) -> list[BatchState]:
        """Return the states of a server's batches whose replies these metrics can parse; others wait for their run."""
        return [state for state in self.all() if state.server == server and state.is_readable(metrics)]

    def path(self, state: BatchState) -> Path:
        """The file of a state."""
        return self.folder / f"{state.token}{SUFFIX}"

    def save(self, state: BatchState) -> None:
        """Write a state."""
        try:
            with replacing(self.path(state), locked=True) as temporary:
                temporary.write_text(to_json(asdict(state), ascii_only=True), encoding="ascii")
        except OSError as error:
            raise unusable(self.folder, error) from error

    def remove(self, states: Iterable[BatchState]) -> None:
        """Remove the files of batches whose results are in the ledger, or that were never started."""
        try:
            paths = [self.path(state) for state in states]
            for path in paths:
                path.unlink(missing_ok=True)
            if paths:
                sync(self.folder)
        except OSError as error:
            raise unusable(self.folder, error) from error

    def _read(self, path: Path) -> BatchState:
        try:
            return _state(json.loads(path.read_bytes()))
        except OSError as error:
            raise unusable(self.folder, error) from error
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise LedgerError(
                f"{path}: damaged ({error!r}). It is about a batch whose results are not in the ledger yet; the "
                f"server lists it with the metadata goldmeter: {path.stem}. Remove the file to ask its requests again."
            ) from None


def _state(content: dict[str, Any]) -> BatchState:
    support = content["support"]
    if support["format"] not in FORMATS:
        raise ValueError(f"format {support['format']!r}")
    return BatchState(
        **content
        | {
            "requests": {
                key: (str(metric), int(draw), sum(map(int, criteria)))  # older states have no number of criteria
                for key, (metric, draw, *criteria) in content["requests"].items()
            },
            "support": _support(support),
            "earlier": {key: [_reply(reply) for reply in replies] for key, replies in content["earlier"].items()},
        }
    )


def _support(content: Mapping[str, Any]) -> Support:
    return Support(content["format"], tuple(content["dropped"]))


def _reply(content: Sequence[Any]) -> Reply:
    """A reply as `asdict` leaves it: a list in the order of its fields."""
    reply = Reply(*content)
    support: Any = reply.support
    return reply._replace(support=_support(support) if support else None)


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
    def line(request: Request, chat: Chat, earlier: Sequence[Reply]) -> bytes:
        """Return the line of a request, with the body of a single call after these replies that were no verdict."""
        body = chat.body(**arguments(request, earlier))
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
