"""Damaged and hostile data files: every record is loaded or rejected, or one sentence names the file."""

import csv
import io
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from openpyxl import Workbook
from pyarrow import feather

from benchmarks.torture.campaign import Campaign, Trial
from benchmarks.torture.limited import limited
from benchmarks.torture.mutations import HOSTILE, mutated
from tasks.dataset.settings import Params
from tasks.errors import GoldmeterError
from tasks.load import load, source

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


def _trials(seed: int, trials: int) -> Iterator[Trial]:
    logging.disable(logging.WARNING)
    try:
        with TemporaryDirectory() as folder:
            yield from limited(partial(_load, Path(folder)), (f"{seed}-{number}" for number in range(trials)))
    finally:
        logging.disable(logging.NOTSET)


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
CAMPAIGN = Campaign(
    "data files",
    "Every record of a damaged or hostile file is loaded or rejected, or one sentence names the file.",
    trials=20_000,
    few=150,
    run=_trials,
)
