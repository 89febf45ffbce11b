"""Logs of the UK AI Security Institute's Inspect: .json and .eval. Written for inspect_ai 0.3.285, log format 2.

One record for each sample and epoch, and one for each that the header expects and the log lacks.
"""

import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from tasks.dataset.readers.log import (
    LARGEST_COUNT,
    Head,
    amount,
    as_records,
    conversation,
    count,
    document,
    flat,
    listed,
    missing,
    number,
    parsed,
    part,
    require_version,
    text_of,
)
from tasks.dataset.record import Record, Value, file_name
from tasks.errors import DataError

KNOWN_VERSIONS = ("2",)
HEADER, START = "header.json", "_journal/start.json"
SAMPLE = re.compile(r"samples/.*\.json")
NO_ATTACHMENT = "its attachment is missing from the log"
ATTACHMENT = re.compile(r"attachment://([0-9a-f]+)")
# What a grade counts in Inspect's `value_to_float`: correct, incorrect, partial, no answer; words in any case.
GRADES: Mapping[str, str] = {"C": "1", "I": "0", "P": "0.5", "N": "0"}
WORDS: Mapping[str, str] = {"yes": "1", "true": "1", "no": "0", "false": "0"}

Key = tuple[str, str]
"""Id and epoch of a sample."""


class Log(NamedTuple):
    """What the header says.

    Attributes:
        task: The task's name.
        model: The model's name.
        expected: Id and epoch of each sample, in order; empty if the header does not list the ids.
        number: How many samples there should be; None if that is not stated.
        stated: How many samples the results are of; None if that is not stated.
        epochs: How often each sample was run.
    """

    task: str
    model: str
    expected: list[Key]
    number: int | None
    stated: int | None
    epochs: int


def recognises(head: Head) -> bool:
    """Tell whether a file is an Inspect log."""
    keys = head.value.keys() if isinstance(head.value, dict) else set()
    return {HEADER, START}.intersection(head.members) != set() or {"version", "status", "eval"} <= keys


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records of all logs.

    Raises:
        DataError: A log can't be read, lacks samples whose ids are not known, or has more than its results are of.
    """
    for file in files:
        yield from as_records(file, _zip_rows(file) if zipfile.is_zipfile(file) else _json_rows(file))


def _json_rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    where, whole = file_name(file), document(file)
    log = _log(whole, where)
    samples = whole.get("samples")
    if samples is None and not log.expected:
        raise DataError(f"{where}: no samples in it; was the log written with log_samples=False, or its header only?")
    yield from _rows(part({"samples": [] if samples is None else samples}, "samples", list, where), log, where)


def _zip_rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    where = file_name(file)
    try:
        with zipfile.ZipFile(file) as archive:
            # A member that is written again supersedes the earlier one of its name.
            members = {info.filename: info for info in archive.infolist()}
            header = next((members[name] for name in (HEADER, START) if name in members), None)
            if header is None:
                raise DataError(f"{where}: neither {HEADER} nor {START} is in it; the log is incomplete")
            log = _log(parsed(member(archive, header, where), f"{where}, {header.filename}"), where)
            samples = (info for name, info in members.items() if SAMPLE.fullmatch(name))
            read = (parsed(member(archive, info, where), f"{where}, {info.filename}") for info in samples)
            yield from _rows(read, log, where)
    except zipfile.BadZipFile as error:
        raise DataError(f"{where}: can't be read as .eval: {error}; is the file complete?") from None


def _log(header: Mapping[str, Any], where: str) -> Log:
    require_version(header.get("version"), KNOWN_VERSIONS, "inspect_ai", where)
    evaluated = part(header, "eval", dict, where)
    dataset = part(evaluated, "dataset", dict, where)
    config = evaluated.get("config") or {}
    epochs = count(config.get("epochs") if isinstance(config, dict) else None, f"{where}, epochs") or 1
    ids = part({"sample_ids": dataset.get("sample_ids") or []}, "sample_ids", list, where)
    results = header.get("results") or {}
    stated = count(results.get("total_samples") if isinstance(results, dict) else None, f"{where}, total_samples")
    if len(ids) * epochs > LARGEST_COUNT:
        raise DataError(f"{where}: {len(ids)} samples in {epochs} epochs are more than {LARGEST_COUNT:,}")
    size = count(dataset.get("samples"), f"{where}, samples")
    return Log(
        task=part(evaluated, "task", str, where),
        model=part(evaluated, "model", str, where),
        expected=[(str(sample), str(epoch)) for epoch in range(1, epochs + 1) for sample in ids],
        number=stated if stated is not None or size is None else size * epochs,
        stated=stated,
        epochs=epochs,
    )


def _rows(samples: Iterable[Any], log: Log, where: str) -> Iterator[tuple[int, dict[str, Value]]]:
    present: set[Key] = set()
    asked: dict[str, dict[str, Value]] = {}
    line = 0
    for line, sample in enumerate(samples, 1):
        if not isinstance(sample, dict):
            raise DataError(f"{where}, sample {line}: expected an object")
        place = f"{where}, sample {line}"
        key = part(sample, "id", str, place), part(sample, "epoch", str, place)
        present.add(key)
        values = _values(sample, log, place)
        asked.setdefault(key[0], values)
        yield line, values
    absent = [key for key in log.expected if key not in present]
    if log.number is not None and len(present) + len(absent) < log.number:
        raise DataError(
            f"{where}: {len(present)} samples, but its header says {log.number}, and not which are missing; "
            "the log is incomplete"
        )
    if log.stated is not None and line > log.stated:
        raise DataError(f"{where}: {line} samples, but its header says {log.stated}; they are not of one run")
    for sample_id, epoch in absent:
        yield line + 1, _missing_sample(sample_id, epoch, log, asked.get(sample_id))


def _missing_sample(sample_id: str, epoch: str, log: Log, other_epoch: Mapping[str, Value] | None) -> dict[str, Value]:
    return missing(
        flat(
            id=f"{log.task}/{sample_id}",
            candidate=log.model,
            draw=epoch if log.epochs > 1 else None,
            metadata={"task": log.task, "sample": sample_id},
        ),
        other_epoch,
    )


def _values(sample: Mapping[str, Any], log: Log, where: str) -> dict[str, Value]:
    attachments = sample.get("attachments")
    texts = attachments if isinstance(attachments, dict) else {}
    response, error = _response(sample, texts)
    metadata = sample.get("metadata")
    asked = sample.get("input")
    target = part(sample, "target", (str if isinstance(sample.get("target"), str) else list), where)
    references = [_attached(reference, texts) for reference in listed(target)]
    is_incomplete = any(ATTACHMENT.search(text) for text in (response, *references) if text)
    return flat(
        id=f"{log.task}/{sample['id']}",
        input=_attached(conversation(asked) if isinstance(asked, list) else text_of(asked), texts),
        references=references,
        response=response,
        candidate=log.model,
        error=error or (NO_ATTACHMENT if is_incomplete else None),
        draw=sample["epoch"] if log.epochs > 1 else None,
        # Without the time that a sample waited for retries and rate limits.
        latency=amount(sample.get("working_time")),
        tokens=_tokens(sample, log.model),
        scores=dict(_scores(sample.get("scores"))),
        metadata={**(metadata if isinstance(metadata, dict) else {}), "task": log.task, "sample": sample["id"]},
    )


def _response(sample: Mapping[str, Any], texts: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the response, and the error that there is none."""
    error = sample.get("error")
    if error:
        return None, (text_of(error.get("message")) if isinstance(error, dict) else text_of(error)) or "error"
    if sample.get("invalidation"):
        return None, "invalidated"
    output = sample.get("output")
    choices = output.get("choices") if isinstance(output, dict) else None
    if not (isinstance(output, dict) and isinstance(choices, list) and choices and isinstance(choices[0], dict)):
        return None, "no output"
    completion = output.get("completion")
    text = completion if isinstance(completion, str) else text_of(choices[0].get("message"))
    return (_attached(text, texts), None) if text is not None else (None, "no output")


def _tokens(sample: Mapping[str, Any], model: str) -> str | None:
    """Return the tokens of the model's calls, without those of models that grade."""
    by_model, output = sample.get("model_usage"), sample.get("output")
    own = by_model.get(model) if isinstance(by_model, dict) else None
    usage = own or (output.get("usage") if isinstance(output, dict) else None)
    return amount(usage.get("total_tokens")) if isinstance(usage, dict) else None


def _attached(text: str | None, attachments: Mapping[str, Any]) -> str | None:
    """Put in the long texts that a log keeps apart from the messages."""
    if text is None:
        return None
    return ATTACHMENT.sub(lambda match: text_of(attachments.get(match[1])) or match[0], text)


def _scores(scores: Any) -> Iterator[tuple[str, str | None]]:
    """Yield the scores as numbers; a score with several values has a name for each; null is an unscored sample."""
    for name, score in scores.items() if isinstance(scores, dict) else ():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            yield from ((f"{name}_{key}", _graded(item)) for key, item in value.items())
        elif not isinstance(value, list):
            yield name, _graded(value)


def _graded(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    return GRADES.get(value) or WORDS.get(value.lower(), number(value))


# Bytes; a member is read at once, and a few kilobytes can be compressed text of any length.
LARGEST_MEMBER = 1 << 29
# Bytes that are decompressed at once.
BLOCK = 1 << 20
ZSTANDARD = 93
LOCAL_HEADER_BYTES = 30
# Where the local header holds the lengths of name and extra field, 2 bytes each (APPNOTE.TXT, 4.3.7).
LENGTHS_AT = 26


def member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, where: str) -> str:
    """Return a member as text.

    Raises:
        DataError: It is damaged, not UTF-8, or larger than LARGEST_MEMBER.
    """
    place = f"{where}, {info.filename}"
    if info.file_size > LARGEST_MEMBER:
        raise DataError(f"{place}: {info.file_size:,} bytes; at most {LARGEST_MEMBER:,} are read")
    try:
        content = _zstandard(archive, info) if info.compress_type == ZSTANDARD else _content(archive, info)
        return content.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{place}: byte offset {error.start} is not UTF-8") from None
    except (OSError, EOFError, NotImplementedError, RuntimeError, ValueError, zlib.error, zipfile.BadZipFile) as error:
        raise DataError(f"{place}: can't be decompressed: {error or type(error).__name__}") from None


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Decompress a member in blocks, so that one larger than its header says takes no more memory."""
    with archive.open(info) as file:
        return b"".join(iter(partial(file.read, BLOCK), b""))


def _zstandard(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Decompress what `zipfile` of Python before 3.14 can't; the content may be in several frames."""
    file = archive.fp
    if file is None:
        raise OSError("the archive is closed")
    file.seek(info.header_offset)
    header = file.read(LOCAL_HEADER_BYTES)
    lengths = header[LENGTHS_AT:LOCAL_HEADER_BYTES]
    if header[:4] != b"PK\x03\x04" or len(lengths) < LOCAL_HEADER_BYTES - LENGTHS_AT:
        raise zipfile.BadZipFile("no local header")
    file.seek(int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little"), 1)
    compressed = file.read(info.compress_size)
    content: bytes = pa.CompressedInputStream(pa.BufferReader(compressed), "zstd").read(info.file_size + 1)
    if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
        raise zipfile.BadZipFile("the checksum differs")
    return content
