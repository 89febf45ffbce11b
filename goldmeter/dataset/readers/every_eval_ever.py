"""Instance-level records of Every Eval Ever: <uuid>_samples.jsonl. Written for its schema 0.3.0.

One record for each line, and for each response if a line has several. The number of lines is compared with
`total_rows` of <uuid>.json, if that file is beside it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from goldmeter.dataset.readers import log
from goldmeter.dataset.record import Record, Value, file_name
from goldmeter.errors import DataError

KNOWN_VERSIONS = re.compile(r"0\.3\.\d+")
KEYS = {"schema_version", "evaluation_id", "model_id", "sample_id", "input"}


def recognises(head: log.Head) -> bool:
    """Tell whether a file holds instance-level records."""
    return head.keys >= KEYS


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records of all *_samples.jsonl.

    Raises:
        DataError: There is none, a line can't be read, or there are fewer than the other file says.
    """
    samples = [file for file in files if ".jsonl" in file.suffixes]
    if not samples:
        raise DataError(f"{file_name(files[0])}: no file *_samples.jsonl")
    yield from log.records(samples, _rows)


def _rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    read = 0
    for line, sample in log.objects(file):
        read += 1
        for values in _answers(sample, f"{file_name(file)}, line {line}"):
            yield line, values
    expected = _stated(file)
    if expected is not None and read != expected:
        raise DataError(f"{file_name(file)}: {read} lines, but total_rows is {expected}; the file is incomplete")


def _stated(file: Path) -> int | None:
    aggregate = file.parent / f"{file.name.split('_samples')[0]}.json"
    if not aggregate.is_file():
        return None
    details = log.members(log.document(aggregate).get("detailed_evaluation_results"))
    return log.count(details.get("total_rows"), file_name(aggregate))


def _answers(sample: Mapping[str, Any], where: str) -> Iterator[dict[str, Value]]:
    version = log.part(sample, "schema_version", str, where)
    if not KNOWN_VERSIONS.fullmatch(version):
        raise DataError(f"{where}: schema version {version[:40]!r} can't be read; known: 0.3")
    asked = log.part(sample, "input", dict, where)
    evaluated = log.part(sample, "evaluation", dict, where)
    name = log.part(sample, "evaluation_name", str, where)
    responses = _responses(sample)
    for draw, response in enumerate(responses or [None], 1):
        yield log.flat(
            id=f"{name}/{log.part(sample, 'sample_id', str, where)}",
            input=log.text_of(asked.get("raw")),
            references=log.listed(asked.get("reference")),
            response=response,
            candidate=log.part(sample, "model_id", str, where),
            error=log.text_of(sample.get("error")) or (None if response is not None else "no output"),
            draw=draw if len(responses) > 1 else None,
            scores={key: log.number(evaluated.get(key)) for key in ("score", "is_correct")},
            metadata={**log.members(sample.get("metadata")), "task": name, "sample": sample["sample_id"]},
        )


def _responses(sample: Mapping[str, Any]) -> list[str | None]:
    """Return the responses of a single turn, or the last message of the assistant."""
    output = sample.get("output")
    if isinstance(output, dict):
        return [log.text_of(item) for item in log.listed(output.get("raw"))]
    said = [one for one in log.items(sample.get("messages")) if log.members(one).get("role") == "assistant"]
    return [log.conversation(said[-1:])] if said else []
