"""The ledger of verdicts: the replies of judges, one entry per key (the SHA-256 of the request)."""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import methodcaller
from pathlib import Path
from typing import NamedTuple, NotRequired, Self, TypedDict, TypeVar

from tasks.errors import LedgerError
from tasks.ledger.journal import SUFFIX, Journal, journals, seal_abandoned
from tasks.ledger.segments import open_store, publish, unusable, verify
from tasks.pipeline.hashing import sha256

EVIDENCE_FILE = "verdicts.jsonl"
CHUNK = 50_000
Value = TypeVar("Value")
log = logging.getLogger(__name__)


class Entry(TypedDict):
    """One line of the ledger.

    key: 64 hex digits. metric, prompt (its hash), draw: part of the request, for readers; the key covers all of it.
    raw: the text of the last reply, None if there was none. verdict, reason: parsed from it, None if that failed.
    problem: why there is no verdict. model: the name that the server returned. asked: the reply format, and the options
    that the server does not support. tokens: of prompt and completion, as counted by the server. latency: seconds of
    all attempts. attempts: number of calls. server: address or name of the server, where the key holds one. carried: a
    copy of an entry from before keys held an address, which cost nothing.
    """

    key: str
    metric: str
    prompt: str
    draw: int
    raw: str | None
    verdict: float | None
    reason: str | None
    problem: str | None
    model: str | None
    asked: str | None
    tokens: dict[str, int] | None
    latency: float
    attempts: int
    server: NotRequired[str]
    carried: NotRequired[bool]


class Paid(NamedTuple):
    """The cost of one entry.

    calls: how many were made for it. prompt, completion: tokens, None where the server counted none.
    replied: an entry without a reply cost nothing. model: the name that the server returned.
    """

    calls: int
    replied: bool
    prompt: int | None
    completion: int | None
    model: str | None


class Place(NamedTuple):
    """The position of an entry: in a segment (offset, length), or in memory. Of two, the smaller one is preferred."""

    failed: bool
    sha256: bytes
    segment: Path | None
    offset: int
    length: int
    line: bytes = b""


class VerdictEvidence:
    """The verdicts that the tables of a version use (data/ledger/judge), read-only."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / EVIDENCE_FILE

    def __iter__(self) -> Iterator[Paid]:
        """Yield the cost of each entry, in key order. Raises LedgerError when the file is damaged."""
        return _read_evidence(self._path, _paid)


class Verdicts:
    """The store of verdicts, overlaid by the evidence of the checked-out version; for one thread.

    Of two entries with one key, the one with a verdict is used, else that of the evidence, else that with the smaller
    SHA-256. An entry without a reply cost nothing: it belongs to the evidence of its version and is not stored, so that
    the next run asks again.

    asked_at: base_url in dvc.lock, at which the evidence was asked for; None if it is unknown. carried: entries from
    before keys held an address that were copied to a new key.
    """

    def __init__(self, store: Path, asked_at: str | None = None) -> None:
        self.asked_at, self.carried = asked_at, 0
        self.disagreements = 0
        self._old_evidence: set[str] = set()
        self.folder = store
        self._places: dict[str, Place] = {}
        self._rivals: dict[str, set[bytes]] = {}
        self._evidence: dict[str, Place] = {}
        self._used: set[str] = set()
        self._journal: Journal | None = None
        open_store(store)
        try:
            seal_abandoned(store)
            for key, line in journals(store):  # before the segments, so that a journal sealed in between is not missed
                self._learn(key, _in_memory(line))
            for segment in sorted(store.glob(f"[0-9a-f]*{SUFFIX}")):
                self._index(segment)
        except OSError as error:
            raise unusable(store, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, keys: Iterable[str]) -> dict[str, Entry]:
        """Return the stored entries of these keys."""
        return {key: json.loads(line) for key, line in self._lines(keys)}

    def add(self, entries: Sequence[Entry]) -> None:
        """Add entries, and wait until those with a reply are on the disk."""
        lines = [*map(_line, entries)]
        if paid := [line for _, line, replied in lines if replied]:
            self._journal = self._journal or Journal(self.folder)
            self._journal.append(paid)
        for key, line, replied in lines:
            if replied:
                self._learn(key, _in_memory(line))
            if not replied or key in self._evidence:
                self._evidence[key] = _in_memory(line)

    def take_in(self, folder: Path) -> int:
        """Add the entries of the evidence in a folder that the store lacks; return their number.

        Where the two differ, this object uses the evidence, and `disagreements` counts the entry.

        Raises:
            LedgerError: The evidence is damaged.
        """
        path = folder / EVIDENCE_FILE
        if not path.exists():
            return 0
        before, added, unknown = self.disagreements, 0, self._unknown(path)
        while new := sorted(islice(unknown, CHUNK)):
            content = b"".join(line for _, line in new)
            self._index(publish(self.folder, SUFFIX, methodcaller("write_bytes", content)))
            added += len(new)
        if self.disagreements > before:
            count = self.disagreements - before
            log.warning("%s: %d verdicts differ from those in %s; the evidence's are used", path, count, self.folder)
        return added

    def is_old_evidence(self, key: str) -> bool:
        """Return whether the evidence that was taken in holds this key without the address of a server."""
        return key in self._old_evidence

    def use(self, keys: Iterable[str]) -> None:
        """Mark keys as used by the current tables."""
        self._used.update(keys)

    def write_evidence(self, folder: Path) -> None:
        """Write exactly the used entries, in key order. Raises LedgerError when one of them is missing."""
        folder.mkdir(parents=True, exist_ok=True)
        keys = sorted(self._used)
        with (folder / EVIDENCE_FILE).open("wb") as file:
            for start in range(0, len(keys), CHUNK):
                lines = dict(self._lines(keys[start : start + CHUNK]))
                for key in keys[start : start + CHUNK]:
                    if key not in lines:
                        raise LedgerError(
                            f"the verdict {key} is used, but it is not in {self.folder}; run the stage again"
                        )
                    file.write(lines[key])

    def close(self) -> None:
        """Seal the journal of this process; if the process is killed before, the next one does."""
        if self._journal:
            self._journal.seal()
            self._journal = None

    def _lines(self, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        by_segment: dict[Path, list[tuple[str, Place]]] = {}
        for key in keys:
            place = self._evidence.get(key) or self._places.get(key)
            if place and place.segment:
                by_segment.setdefault(place.segment, []).append((key, place))
            elif place:
                yield key, place.line
        for segment, places in by_segment.items():
            with segment.open("rb") as file:
                for key, place in places:
                    file.seek(place.offset)
                    yield key, file.read(place.length)

    def _index(self, segment: Path) -> None:
        verify(segment)
        offset = 0
        with segment.open("rb") as file:
            for line in file:
                entry: Entry = json.loads(line)
                place = Place(entry.get("verdict") is None, sha256(line), segment, offset, len(line))
                self._learn(entry["key"], place)
                offset += len(line)

    def _learn(self, key: str, place: Place) -> None:
        known = self._places.setdefault(key, place)
        if known.sha256 != place.sha256:
            self._rivals.setdefault(key, {known.sha256}).add(place.sha256)
            self._places[key] = min(known, place, key=lambda each: each[:2])

    def _unknown(self, path: Path) -> Iterator[tuple[str, bytes]]:
        for key, line, replied, old in _read_evidence(path, _evidence_line):
            if old:
                self._old_evidence.add(key)
            place, known = _in_memory(line), self._places.get(key)
            if not replied:
                if not known or known.failed:
                    self._evidence[key] = place
                continue
            self._evidence.pop(key, None)
            if known and known.sha256 != place.sha256 and not (place.failed and not known.failed):
                self.disagreements += 1
                self._evidence[key] = place
            if not known or place.sha256 not in self._rivals.get(key, {known.sha256}):
                yield key, line


def canonical(value: Mapping[str, object] | Entry) -> bytes:
    r"""Return the JSON that is hashed and stored: sorted keys, no spaces, ASCII.

    >>> canonical({"b": "é", "a": 1})
    b'{"a":1,"b":"\\u00e9"}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def _in_memory(line: bytes) -> Place:
    return Place(json.loads(line).get("verdict") is None, sha256(line), None, 0, len(line), line)


def _read_evidence(path: Path, convert: Callable[[Entry], Value]) -> Iterator[Value]:
    """Yield what `convert` returns for each entry. Raises LedgerError when the file is damaged."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                value = convert(json.loads(line))
            except (ValueError, TypeError, KeyError) as error:
                raise LedgerError(
                    f"{path}, line {number}: not an entry of the ledger ({error!r}).\n"
                    "Restore the file, for example with `dvc checkout -f`."
                ) from error
            yield value


def _line(entry: Entry) -> tuple[str, bytes, bool]:
    """Return the key, the line in the store, and whether there was a reply."""
    return str(entry["key"]), canonical(entry) + b"\n", entry["raw"] is not None


def _evidence_line(entry: Entry) -> tuple[str, bytes, bool, bool]:
    """Return what `_line` returns, and whether the key holds no address of a server."""
    return *_line(entry), "server" not in entry


def _paid(entry: Entry) -> Paid:
    tokens: Mapping[str, int | None] = entry["tokens"] or {"prompt": None, "completion": None}
    prompt, completion = tokens["prompt"], tokens["completion"]
    return Paid(int(entry["attempts"]), entry["raw"] is not None, prompt, completion, entry["model"])
