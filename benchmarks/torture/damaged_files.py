"""Damage to the content of a file; damaged data files and params.yaml: taken, or refused in one sentence."""

import csv
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from openpyxl import Workbook
from pyarrow import feather

from benchmarks.data import PARAMS, ROOT
from benchmarks.torture.campaign import Campaign, Trial, limited
from goldmeter.dataset.settings import Params
from goldmeter.errors import GoldmeterError
from goldmeter.pipeline import params
from goldmeter.pipeline.settings import MOST_LINES
from tasks.load import load, source

# What breaks parsers: ends of strings, lines and files, numbers without end, other encodings, spreadsheets' formulas.
HOSTILE = (
    b"", b"\0", b"\n", b"\r", b"\r\n", b'"', b'""', b"\\", b"\\u0000", b"\\ud800", b"\xff\xfe", b"\xef\xbb\xbf",
    b"{", b"}", b"[", b"]", b"[" * 400, b'{"a":' * 400, b",", b":", b"- ", b"\t", b"&a [*a, *a]", b"*a", b"<<: *a",
    b"!!python/object:os.system x", b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"0x" + b"f" * 5000, b"null", b"true",
    b"no", b"2024-13-45", b"=1+1", b"\xe2\x80\xae", b"\xf0\x9f\x92\xa9", b"A" * 100_000, b"%YAML 1.1\n---\n", b"\x85",
    b"\xe2\x80\xa8",
)  # fmt: skip
MOST = 4


def mutated(content: bytes, rng: Random) -> bytes:
    """Return the content after one to MOST changes."""
    for _ in range(rng.randint(1, MOST)):
        content = rng.choice(CHANGES)(content, rng)
    return content


def flip(content: bytes, rng: Random) -> bytes:
    """Return the content with one bit changed."""
    changed = bytearray(content)
    if changed:
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _insert(content: bytes, rng: Random) -> bytes:
    place = rng.randint(0, len(content))
    return content[:place] + rng.choice(HOSTILE) + content[place:]


def _replace(content: bytes, rng: Random) -> bytes:
    start, end = _span(content, rng)
    return content[:start] + rng.choice(HOSTILE) + content[end:]


def _cut(content: bytes, rng: Random) -> bytes:
    return content[: rng.randint(0, len(content))]


def _repeat(content: bytes, rng: Random) -> bytes:
    start, end = _span(content, rng)
    return content[:end] + content[start:end] * rng.randint(1, 20) + content[end:]


def _swap_lines(content: bytes, rng: Random) -> bytes:
    lines = content.splitlines(keepends=True)
    if lines:
        lines.insert(rng.randrange(len(lines)), lines.pop(rng.randrange(len(lines))))
    return b"".join(lines)


def _span(content: bytes, rng: Random) -> tuple[int, int]:
    start = rng.randint(0, len(content))
    return start, min(len(content), start + rng.choice((1, 2, 8, 40)))


CHANGES: Sequence[Callable[[bytes, Random], bytes]] = (flip, _insert, _replace, _cut, _repeat, _swap_lines)


MAPPING: Mapping[str, Any] = {
    "path": "", "pattern": "*", "format": None, "limit": None, "exclude": {}, "missing_response": "unmeasured",
    "id": "id", "draw": None, "input": "question", "references": "references", "reference_separator": "|",
    "candidates": {"m": {"response": "answer"}}, "lists": None, "other_questions": "reject", "label_file": None,
    "labels": "all", "group": None, "slices": [], "phrases": None, "contexts": None, "relevant": None, "scores": {},
}  # fmt: skip
LOAD: Mapping[str, Any] = {"part_rows": 50, "max_chars": 1_000, "max_rejected": 1.0, "require_references": True}
NAMES = ("id", "question", "references", "answer")
MOST_RECORDS = 12
# One in so many files is not damaged after it was written: it has hostile texts only.
WHOLE = 4
# Characters of a message, which names the file, or the option of a column that the file lacks.
MOST_CHARS = 1_000

Record = Mapping[str, str]


def _data_files(seed: int, trials: int) -> Iterator[Trial]:
    with TemporaryDirectory() as folder:
        yield from limited(partial(_load, Path(folder)), (f"{seed}-{number}" for number in range(trials)))


def _load(folder: Path, drawn: str) -> Trial:
    """Load one file; drawn: the seed of its content, its format and its damage."""
    rng = Random(drawn)  # noqa: S311 (a seed repeats the trial)
    suffix, written = rng.choice([*FORMATS.items()])
    content = written([_record(number, rng) for number in range(rng.randint(1, MOST_RECORDS))])
    path = folder / f"data{suffix}"
    path.write_bytes(mutated(content, rng) if rng.randrange(WHOLE) else content)
    given = Params.model_validate({"dataset": {**MAPPING, "path": str(path)}, "load": LOAD})
    try:
        records = source(given)
        read = sum(1 for _ in records)
        parts = [*load(records, given)]
    except GoldmeterError as error:
        message = str(error)
        is_told = len(message) <= MOST_CHARS and (path.name in message or message.startswith("dataset."))
        return Trial("refused", None if is_told else f"{drawn} {suffix}: {message[:2000]!r}")
    except MemoryError:
        return Trial("memory", f"{drawn} {suffix}: out of memory")
    found = sum(table.num_rows for part in parts for table in part.values())
    return Trial("loaded", None if found == read else f"{drawn} {suffix}: {read} records, {found} loaded or rejected")


def _record(number: int, rng: Random) -> Record:
    return {name: _text(name, number, rng) for name in NAMES}


def _text(name: str, number: int, rng: Random) -> str:
    plain = f"{name} {number}"
    return plain if rng.randrange(3) else plain + rng.choice(HOSTILE).decode("utf-8", "replace")


def _json_lines(records: list[Record]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def _json(records: list[Record]) -> bytes:
    return json.dumps(records).encode()


def _delimited(dialect: str, records: list[Record]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, NAMES, dialect=dialect)
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().encode()


def _parquet(records: list[Record]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([*map(dict, records)]), file)
    return file.getvalue()


def _arrow(records: list[Record]) -> bytes:
    file = io.BytesIO()
    feather.write_feather(pa.Table.from_pylist([*map(dict, records)]), file, compression="uncompressed")
    return file.getvalue()


def _excel(records: list[Record]) -> bytes:
    book, file = Workbook(), io.BytesIO()
    sheet = book.active
    for row in [NAMES, *(tuple(record.values()) for record in records)]:
        sheet.append(["".join(c for c in text if c.isprintable())[:30_000] for text in row])
    book.save(file)
    return file.getvalue()


FORMATS: Mapping[str, Callable[[list[Record]], bytes]] = {
    ".jsonl": _json_lines, ".json": _json, ".parquet": _parquet, ".arrow": _arrow, ".xlsx": _excel,
    ".csv": partial(_delimited, "excel"), ".tsv": partial(_delimited, "excel-tab"),
}  # fmt: skip
DATA_FILES = Campaign(
    "data files",
    "Every record of a damaged or hostile file is loaded or rejected, or one sentence names the file.",
    trials=20_000,
    few=150,
    run=_data_files,
)


def _params_files(seed: int, trials: int) -> Iterator[Trial]:
    with TemporaryDirectory() as folder:
        shutil.copyfile(ROOT / "dvc.yaml", Path(folder, "dvc.yaml"))
        yield from limited(partial(_check, Path(folder)), (f"{seed}-{number}" for number in range(trials)))


def _check(folder: Path, drawn: str) -> Trial:
    """Check one damaged file; drawn: the seed of its damage."""
    os.chdir(folder)
    Path("params.yaml").write_bytes(mutated(PARAMS.read_bytes(), Random(drawn)))  # noqa: S311 (a seed repeats the trial)
    try:
        params.check()
    except GoldmeterError as error:
        message = str(error)
        is_short = message and len(message.splitlines()) <= MOST_LINES + 1  # and how many more
        return Trial("refused", None if is_short else f"{drawn}: {message[:1000]!r}")
    return Trial("accepted")


PARAMS_FILES = Campaign(
    "params",
    "A damaged params.yaml is accepted, or refused in one message, at once.",
    trials=2_000,
    few=80,
    run=_params_files,
)
