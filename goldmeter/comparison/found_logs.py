"""Logs of other tools below a folder: one `Run` for each task and system of a log, and every file that is none."""

import hashlib
import json
import os
import re
import stat
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.dataset import readers
from goldmeter.dataset.formats.text_lines import OPENERS
from goldmeter.dataset.readers import inspect, log, openai_evals, tables
from goldmeter.dataset.record import Value, file_name
from goldmeter.errors import DataError
from goldmeter.statistics.arrays import FloatArray

Hashes = NDArray[np.uint64]
MEGABYTE = 1_000_000
# What the values of a JSON log take in memory is about 8 times its text: 128 MB stay below 1 GB.
LARGEST = 128 * MEGABYTE
# Compressed text is about a tenth.
COMPRESSED = 10
# Of these tools, lines are read one by one, as the samples of Inspect's .eval are.
STREAMED = frozenset({"lm_eval", "oaieval", "promptfoo"})
# lm_eval states hashes of the document, while prompts and choices differ between models with chat templates.
HASHES = ("metadata.doc_hash", "metadata.target_hash")
# Members that hold when a run was, and the members of a log in which they may be.
DATES = ("created", "created_at", "createdAt", "timestamp", "date", "start_time", "startTime", "request_time")
AROUND = ("eval", "results", "spec", "info", "data")
NAMED_DATE = re.compile(r"(?<!\d)(20\d\d)-?(\d\d)-?(\d\d)(?:[T_ -]?(\d\d)[-:.]?(\d\d)(?:[-:.]?(\d\d))?)?(?!\d)")
# Seconds from 2001 on; larger numbers are milliseconds.
EPOCH = 1_000_000_000.0
NOT_A_LOG = "no log of a tool that is known; `goldmeter init FILE` reads tables of answers"


class NotRead(NamedTuple):
    """A file that gave no run, and why."""

    file: str
    reason: str


@dataclass(frozen=True)
class Run:
    """The answers of a system to the questions of a task, in one log; n questions.

    Attributes:
        tool: The reader's name.
        file: Path in the folder.
        system: The model or run that the log names.
        task: The task; empty if the log names none.
        date: When it ran.
        dated_by: "log", "name" of the file, or "file time", which copying changes.
        rows: Number of rows, with those that have no answer.
        keys: Hashes of the questions, ascending, shape (n,); rows whose question the log lacks have none.
        ids: Hashes of the ids of all rows, ascending.
        groups: Hashes of the clusters, shape (n,); None without.
        scores: Name → the mean over the draws of each question, shape (n,); NaN where unmeasured.
        sums: Name → number of measured rows, and the sum of their scores.
        lower_is_better: Scores of which less is better.
        labels: Number of verdicts by people, which are never scores of a tool.
        paths: The log, and the files that say more of it.
    """

    tool: str
    file: str
    system: str
    task: str
    date: datetime
    dated_by: str
    rows: int
    keys: Hashes
    ids: Hashes
    groups: Hashes | None
    scores: Mapping[str, FloatArray]
    sums: Mapping[str, tuple[int, float]]
    lower_is_better: frozenset[str]
    labels: int
    paths: tuple[Path, ...] = ()

    @property
    def content(self) -> str:
        """Digest of all that a comparison uses: copies of a log have the same."""
        # A run that was repeated may give the same scores; without questions, a copy can't be told from another run.
        apart = [self.date.isoformat() if self.dated_by == "log" else "", "" if self.keys.size else self.file]
        named = json.dumps([self.tool, self.system, self.task, self.rows, *apart, *sorted(self.scores)]).encode()
        parts = [self.keys.tobytes(), *(self.scores[name].tobytes() for name in sorted(self.scores))]
        return hashlib.sha256(b"".join([named, *parts])).hexdigest()


class Found(NamedTuple):
    """Every run below a folder by date, every file that gave none, and the number of all files."""

    runs: list[Run]
    not_read: list[NotRead]
    files: int


@dataclass
class _Rows:
    """What is collected of a run: key, group and scores of each row; of those without a question the scores."""

    rows: int = 0
    labels: int = 0
    found: list[tuple[int, int, dict[str, float]]] = field(default_factory=list)
    lost: list[dict[str, float]] = field(default_factory=list)
    ids: set[int] = field(default_factory=set)


def find(folder: Path, *, by_id: bool = False, largest: int = LARGEST) -> Found:
    """Read every log below a folder. No link is followed, and nothing is written.

    Args:
        folder: Where to look.
        by_id: Questions of one id and equal references are the same, although their texts differ.
        largest: Bytes of a log that is read whole, at most.

    Raises:
        DataError: It is no folder.
    """
    if not folder.is_dir():
        raise DataError(f"{file_name(folder)}: no folder; name the folder of the logs")
    files, not_read = _walk(folder)
    heads: dict[Path, tuple[str, log.Head]] = {}
    for path in files:
        try:
            heads[path] = _recognised(path)
        except (DataError, OSError) as error:
            not_read.append(NotRead(_name(path, folder), str(error)))
    beside = {path for path, (tool, head) in heads.items() if _is_beside(path, tool, head)}
    runs: list[Run] = []
    for path, (tool, head) in heads.items():
        own = [other for other in sorted(beside) if other.parent == path.parent and heads[other][0] == tool]
        if path in beside:
            if not any(other.parent == path.parent and heads[other][0] == tool for other in heads.keys() - beside):
                not_read.append(NotRead(_name(path, folder), f"{tool}: what a run says of itself, without its samples"))
            continue
        try:
            runs += _runs([path, *own], tool, head, folder, by_id=by_id, largest=largest)
        except (DataError, OSError) as error:
            not_read.append(NotRead(_name(path, folder), f"{tool}: {error}".replace(f"{folder.as_posix()}/", "")))
    runs.sort(key=lambda run: (run.date, run.file, run.task, run.system))
    return Found(*_without_copies(runs, not_read), len(files))


def _walk(folder: Path) -> tuple[list[Path], list[NotRead]]:
    """Return the regular files, and what else there is: links, hidden folders, pipes, folders without permission."""
    files: list[Path] = []
    other: list[NotRead] = []

    def refuse(error: OSError) -> None:
        other.append(NotRead(_name(Path(str(error.filename)), folder), f"can't be opened: {error.strerror}"))

    for place, folders, names in os.walk(folder, onerror=refuse):
        for name in sorted(folders):
            if (path := Path(place, name)).is_symlink() or name[0] == ".":
                reason = "a link to a folder, not followed" if path.is_symlink() else "a hidden folder, not opened"
                other.append(NotRead(_name(path, folder), reason))
        folders[:] = sorted(name for name in folders if name[0] != "." and not Path(place, name).is_symlink())
        for path in (Path(place, name) for name in sorted(names)):
            if path.is_symlink():
                other.append(NotRead(_name(path, folder), "a link, not followed"))
            elif not stat.S_ISREG(path.lstat().st_mode):
                other.append(NotRead(_name(path, folder), "neither a file nor a folder"))
            else:
                files.append(path)
    return files, other


def _recognised(path: Path) -> tuple[str, log.Head]:
    """Return the tool of a log, and its head.

    Raises:
        DataError: It is none, or can't be opened.
    """
    if not os.access(path, os.R_OK):
        raise DataError("can't be opened: no permission")
    if path.stat().st_size == 0:
        raise DataError("empty")
    head = log.head_of(path)
    tools = (tool for tool, reader in readers.READERS.items() if head is not None and reader.recognises(head))
    if head is None or (tool := next(tools, None)) is None:
        raise DataError("an archive, not opened; unpack it" if zipfile.is_zipfile(path) else NOT_A_LOG)
    return tool, head


def _is_beside(path: Path, tool: str, head: log.Head) -> bool:
    """Whether a file only says more of logs beside it."""
    if tool == "openai_evals":
        first = tables.first(log.items(log.members(head.value).get("data")) or head.value)
        return log.members(first).get("object") != openai_evals.ITEM
    if tool == "openai_batch":
        return "custom_id" in head.keys and "response" not in head.keys
    if tool == "helm":
        return "request_states" not in head.keys
    return tool == "lm_eval" and ".jsonl" not in path.suffixes


def _runs(
    files: Sequence[Path], tool: str, head: log.Head, folder: Path, *, by_id: bool, largest: int
) -> Iterator[Run]:
    """Read a log, with the files that say more of it.

    Raises:
        DataError: It can't be read, is cut off, or is too large to be read whole.
    """
    path, size = files[0], files[0].stat().st_size
    is_streamed = head.members or (tool in STREAMED and ".jsonl" in path.suffixes)
    limit = largest // COMPRESSED if path.suffix.lower() in OPENERS else largest
    if size > limit and not is_streamed:
        whole, most = (f"{number / MEGABYTE:,.0f} MB" for number in (size, limit))
        raise DataError(f"{whole}; it would be read whole, and at most {most} are: --largest MB allows more")
    found: dict[tuple[str, str], _Rows] = {}
    for record in readers.read(files, tool):
        values = record.values
        key = str(values.get("metadata.task") or ""), str(values["candidate"])
        _add(found.setdefault(key, _Rows()), values, by_id=by_id)
    lower = frozenset(readers.READERS[tool].lower_is_better([path]))
    date, dated_by = date_of(path, inspect.header_of(path) if head.members else head.value)
    name = _name(path, folder)
    for (task, system), rows in found.items():
        run = _run(rows, tool, name, system, task, date, dated_by, lower)
        yield replace(run, paths=tuple(files))


def _add(rows: _Rows, values: Mapping[str, Value], *, by_id: bool) -> None:
    scores = {
        name.removeprefix(log.SCORE): float(value)
        for name, value in values.items()
        if name.startswith(log.SCORE) and isinstance(value, str)
    }
    rows.rows += 1
    rows.labels += sum(name.startswith(log.HUMAN) and value is not None for name, value in values.items())
    rows.ids.add(_hash(values["id"]))
    hashed = [values.get(name) for name in HASHES]
    # References alone say no question: many have the answer "yes".
    if log.lacks_question(values) or not (by_id or all(hashed) or values["input"]):
        rows.lost.append(scores)
        return
    question = hashed if all(hashed) else [values["input"], values["references"]]
    key = [values["id"], values["references"]] if by_id else question
    rows.found.append((_hash(key), _hash(values.get("group")), scores))


def _run(
    rows: _Rows, tool: str, file: str, system: str, task: str, date: datetime, dated_by: str, lower: frozenset[str]
) -> Run:
    keys, first, place = np.unique(
        np.array([row[0] for row in rows.found], np.uint64), return_index=True, return_inverse=True
    )
    groups = np.array([row[1] for row in rows.found], np.uint64)[first]
    ids, every = np.array(sorted(rows.ids), np.uint64), [row[2] for row in rows.found]
    names = dict.fromkeys(name for scores in (*every, *rows.lost) for name in scores)
    by_question: dict[str, FloatArray] = {}
    for name in names:
        values = np.array([scores.get(name, np.nan) for scores in every])
        there = ~np.isnan(values)
        counts = np.bincount(place[there], minlength=len(keys))
        totals = np.bincount(place[there], values[there], minlength=len(keys))
        by_question[name] = np.divide(totals, counts, out=np.full(len(keys), np.nan), where=counts > 0)
    stated = {name: [scores[name] for scores in (*every, *rows.lost) if name in scores] for name in names}
    sums = {name: (len(values), float(np.sum(values))) for name, values in stated.items()}
    clusters = groups if 1 < len(np.unique(groups)) < len(keys) else None
    return Run(tool, file, system, task, date, dated_by, rows.rows, keys, ids, clusters, by_question, sums, lower,
               rows.labels)  # fmt: skip


def date_of(path: Path, value: Any) -> tuple[datetime, str]:
    """Return when a log was written, and what says so: the log, its name or its folder's, or the file's time."""
    first = log.members(tables.first(value))
    for one in (first, *(log.members(tables.first(first.get(name))) for name in AROUND)):
        for found in filter(None, (_as_date(one.get(name)) for name in DATES)):
            return found, "log"
    for name in (path.name, path.parent.name):
        for match in NAMED_DATE.finditer(name):
            try:
                return datetime(*(int(part or 0) for part in match.groups()), tzinfo=UTC), "name"  # type: ignore[arg-type, misc]
            except ValueError:
                continue
    return datetime.fromtimestamp(path.stat().st_mtime, UTC), "file time"


def _as_date(value: Any) -> datetime | None:
    try:
        if isinstance(value, str) and not value.replace(".", "", 1).isdigit():
            date = datetime.fromisoformat(value.strip())
            return date if date.tzinfo else date.replace(tzinfo=UTC)
        seconds = float(value)
        seconds /= 1000.0 if seconds > EPOCH * 100 else 1.0
        return datetime.fromtimestamp(seconds, UTC) if seconds >= EPOCH else None
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _without_copies(runs: Sequence[Run], not_read: list[NotRead]) -> tuple[list[Run], list[NotRead]]:
    """Leave out the copies of a run, and name them."""
    first: dict[str, Run] = {}
    copies = [(run, original) for run in runs if (original := first.setdefault(run.content, run)) is not run]
    said = [NotRead(one.file, f"{one.tool}: {one.system[:60]}, a copy of the run in {of.file}") for one, of in copies]
    return list(first.values()), sorted([*not_read, *said])


def _hash(value: Any) -> int:
    content = json.dumps(value, sort_keys=True).encode()
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")


def _name(path: Path, folder: Path) -> str:
    """The path in the folder, on one line whatever characters it has."""
    name = file_name(path.relative_to(folder)) if path.is_relative_to(folder) else file_name(path)
    return "⟨line break⟩".join(name.splitlines())
