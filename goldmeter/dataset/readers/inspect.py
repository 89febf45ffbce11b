"""Logs of the UK AI Security Institute's Inspect: .json and .eval. Written for inspect_ai 0.3.285, log format 2.

One record for each sample and epoch, and one for each that the header expects and the log lacks.
"""

import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from goldmeter.dataset.readers import log
from goldmeter.dataset.record import Value, file_name
from goldmeter.errors import DataError

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


class Header(NamedTuple):
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


def recognises(head: log.Head) -> bool:
    """Tell whether a file is an Inspect log."""
    return not {HEADER, START}.isdisjoint(head.members) or {"version", "status", "eval"} <= head.keys


def rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    """Yield the rows of a log.

    Raises:
        DataError: It can't be read, lacks samples whose ids are not known, or has more than its results are of.
    """
    return _zip_rows(file) if zipfile.is_zipfile(file) else _json_rows(file)


def _json_rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    where, whole = file_name(file), log.document(file)
    stated = _header(whole, where)
    samples = whole.get("samples")
    if samples is None and not stated.expected:
        raise DataError(f"{where}: no samples in it; was the log written with log_samples=False, or its header only?")
    yield from _rows(log.part({"samples": [] if samples is None else samples}, "samples", list, where), stated, where)


def _zip_rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    where = file_name(file)
    try:
        with zipfile.ZipFile(file) as archive:
            # A member that is written again supersedes the earlier one of its name.
            members = {info.filename: info for info in archive.infolist()}
            stated = _header(_stated(archive, members, where), where)
            samples = (info for name, info in members.items() if SAMPLE.fullmatch(name))
            read = (log.parsed(member(archive, info, where), f"{where}, {info.filename}") for info in samples)
            yield from _rows(read, stated, where)
    except (zipfile.BadZipFile, NotImplementedError) as error:  # the latter: a zip version that Python lacks
        raise DataError(f"{where}: can't be read as .eval: {error}; is the file complete?") from None


def header_of(file: Path) -> Mapping[str, Any]:
    """Return the header of a .eval file; empty if it can't be read."""
    with suppress(OSError, zipfile.BadZipFile, NotImplementedError, DataError), zipfile.ZipFile(file) as archive:
        return _stated(archive, {info.filename: info for info in archive.infolist()}, file_name(file))
    return {}


def _stated(archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo], where: str) -> dict[str, Any]:
    header = next((members[name] for name in (HEADER, START) if name in members), None)
    if header is None:
        raise DataError(f"{where}: neither {HEADER} nor {START} is in it; the log is incomplete")
    return log.parsed(member(archive, header, where), f"{where}, {header.filename}")


def _header(header: Mapping[str, Any], where: str) -> Header:
    log.require_version(header.get("version"), KNOWN_VERSIONS, "inspect_ai", where)
    evaluated = log.part(header, "eval", dict, where)
    dataset = log.part(evaluated, "dataset", dict, where)
    epochs = log.count(log.members(evaluated.get("config")).get("epochs"), f"{where}, epochs") or 1
    ids = log.part({"sample_ids": dataset.get("sample_ids") or []}, "sample_ids", list, where)
    stated = log.count(log.members(header.get("results")).get("total_samples"), f"{where}, total_samples")
    if len(ids) * epochs > log.LARGEST_COUNT:
        raise DataError(f"{where}: {len(ids)} samples in {epochs} epochs are more than {log.LARGEST_COUNT:,}")
    size = log.count(dataset.get("samples"), f"{where}, samples")
    return Header(
        task=log.part(evaluated, "task", str, where),
        model=log.part(evaluated, "model", str, where),
        expected=[(str(sample), str(epoch)) for epoch in range(1, epochs + 1) for sample in ids],
        number=stated if stated is not None or size is None else size * epochs,
        stated=stated,
        epochs=epochs,
    )


def _rows(samples: Iterable[Any], stated: Header, where: str) -> Iterator[tuple[int, dict[str, Value]]]:
    present: set[Key] = set()
    asked: dict[str, dict[str, Value]] = {}
    line = 0
    for line, sample, place in log.numbered(samples, f"{where}, sample"):
        key = log.part(sample, "id", str, place), log.part(sample, "epoch", str, place)
        present.add(key)
        values = _values(sample, stated, place)
        if stated.epochs > 1:  # of a single one, no other epoch has a question that is missing
            asked.setdefault(key[0], values)
        yield line, values
    absent = [key for key in stated.expected if key not in present]
    if stated.number is not None and len(present) + len(absent) < stated.number:
        raise DataError(
            f"{where}: {len(present)} samples, but its header says {stated.number}, and not which are missing; "
            "the log is incomplete"
        )
    if stated.stated is not None and line > stated.stated:
        raise DataError(f"{where}: {line} samples, but its header says {stated.stated}; they are not of one run")
    for sample_id, epoch in absent:
        yield line + 1, _missing_sample(sample_id, epoch, stated, asked.get(sample_id))


def _missing_sample(
    sample_id: str, epoch: str, stated: Header, other_epoch: Mapping[str, Value] | None
) -> dict[str, Value]:
    return log.missing(
        log.flat(
            id=f"{stated.task}/{sample_id}",
            candidate=stated.model,
            draw=epoch if stated.epochs > 1 else None,
            metadata={"task": stated.task, "sample": sample_id},
        ),
        other_epoch,
    )


def _values(sample: Mapping[str, Any], stated: Header, where: str) -> dict[str, Value]:
    texts = log.members(sample.get("attachments"))
    response, error = _response(sample, texts)
    target = log.part(sample, "target", (str if isinstance(sample.get("target"), str) else list), where)
    references = [_attached(reference, texts) for reference in log.listed(target)]
    is_incomplete = any(ATTACHMENT.search(text) for text in (response, *references) if text)
    return log.flat(
        id=f"{stated.task}/{sample['id']}",
        input=_attached(log.messages_of(sample.get("input")), texts),
        references=references,
        response=response,
        candidate=stated.model,
        error=error or (NO_ATTACHMENT if is_incomplete else None),
        draw=sample["epoch"] if stated.epochs > 1 else None,
        # Without the time that a sample waited for retries and rate limits.
        latency=log.amount(sample.get("working_time")),
        tokens=_tokens(sample, stated.model),
        scores=dict(_scores(sample.get("scores"))),
        metadata={**log.members(sample.get("metadata")), "task": stated.task, "sample": sample["id"]},
    )


def _response(sample: Mapping[str, Any], texts: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the response, and the error that there is none."""
    error = sample.get("error")
    if error:
        return None, (log.text_of(error.get("message")) if isinstance(error, dict) else log.text_of(error)) or "error"
    if sample.get("invalidation"):
        return None, "invalidated"
    output = log.members(sample.get("output"))
    choices = log.items(output.get("choices"))
    if not (choices and isinstance(choices[0], dict)):
        return None, "no output"
    completion = output.get("completion")
    text = completion if isinstance(completion, str) else log.text_of(choices[0].get("message"))
    return (_attached(text, texts), None) if text is not None else (None, "no output")


def _tokens(sample: Mapping[str, Any], model: str) -> str | None:
    """Return the tokens of the model's calls, without those of models that grade."""
    own = log.members(sample.get("model_usage")).get(model)
    return log.amount(log.members(own or log.members(sample.get("output")).get("usage")).get("total_tokens"))


def _attached(text: str | None, attachments: Mapping[str, Any]) -> str | None:
    """Put in the long texts that a log keeps apart from the messages."""
    if text is None:
        return None
    return ATTACHMENT.sub(lambda match: log.text_of(attachments.get(match[1])) or match[0], text)


def _scores(scores: Any) -> Iterator[tuple[str, str | None]]:
    """Yield the scores as numbers; a score with several values has a name for each; null is an unscored sample."""
    for name, score in log.members(scores).items():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            yield from ((f"{name}_{key}", _graded(item)) for key, item in value.items())
        elif not isinstance(value, list):
            yield name, _graded(value)


def _graded(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    return GRADES.get(value) or WORDS.get(value.lower(), log.number(value))


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
