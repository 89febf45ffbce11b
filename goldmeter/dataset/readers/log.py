"""What readers of other tools' logs share: JSON, messages, scores, flat records; the head that tells the tool."""

import csv
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, KeysView, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic_core import from_json

from goldmeter.dataset.formats.json_records import decode_whole, json_error
from goldmeter.dataset.formats.text_lines import BOM, head, inner_suffix, text_lines, whole_text
from goldmeter.dataset.record import Record, Value, file_name
from goldmeter.errors import DataError

Rows: TypeAlias = Callable[[Path], Iterable[tuple[int, dict[str, Value]]]]
"""Yields number and values of each record of a file."""

MISSING = "missing from the log"
# How columns begin: numbers of the tool, words of tools and models, and what people said.
SCORE, VERDICT, HUMAN = "score_", "verdict_", "human_"
# Between the name of what people said, and the rater.
RATER = " by "
# Tables of text, and their separators.
TABLES: Mapping[str, str] = {".csv": ",", ".tsv": "\t"}
# Samples of a log; a larger count is a damaged header, and as many missing samples would fill the memory.
LARGEST_COUNT = 10_000_000
# Bytes of memory that a byte of a JSON document takes while it is read; measured on promptfoo's output.
TIMES_OF_SIZE = 4


# Tools write NaN for a sample that has no score.
DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=lambda _: None)
# orjson reads larger integers as numbers that are not exact.
LARGEST_EXACT = float(1 << 63)


def as_texts(value: Any) -> Any:
    """Convert numbers and booleans in a JSON value that was just decoded, whose objects and lists are changed.

    Raises:
        ValueError: A number may not be what the text says.
    """
    kind = type(value)
    if kind is dict:
        for key, item in value.items():
            if type(item) is not str:
                value[key] = as_texts(item)
    elif kind is list:
        for number, item in enumerate(value):
            if type(item) is not str:
                value[number] = as_texts(item)
    elif kind is float and not -LARGEST_EXACT < value < LARGEST_EXACT:
        raise ValueError
    elif kind is not str and value is not None:
        return ("true" if value else "false") if kind is bool else repr(value)
    return value


def flat(
    *,
    id: str,  # noqa: A002 (the column's name)
    candidate: str,
    input: str | None = None,  # noqa: A002 (the column's name)
    references: Sequence[str | None] = (),
    response: str | None = None,
    error: str | None = None,
    draw: str | int | None = None,
    group: str | None = None,
    contexts: Sequence[str] | None = None,
    latency: str | None = None,
    tokens: str | None = None,
    cost: str | None = None,
    scores: Mapping[str, str | None] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> dict[str, Value]:
    """Return the values of a record under the names that all readers use; those from `draw` to `cost` may be absent.

    A record with an error has no response and no scores, although some tools write 0; nor what the answer took.

    Args:
        scores: Numbers, or words, of tools and models about the answer, by name.
    """
    taken = {"latency": latency, "tokens": tokens, "cost": cost}
    return {
        "id": id,
        "input": input,
        "references": list(references),
        "response": None if error else response,
        "candidate": candidate,
        "error": error,
        **({} if draw is None else {"draw": str(draw)}),
        **({} if group is None else {"group": group}),
        **({} if contexts is None else {"contexts": list(contexts)}),
        **({} if error else {name: value for name, value in taken.items() if value is not None}),
        **{
            f"{SCORE if number(value) is not None or value is None else VERDICT}{name}": None if error else value
            for name, value in (scores or {}).items()
        },
        **{f"metadata.{key}": text for key, text in (metadata or {}).items() if text is None or isinstance(text, str)},
    }


def missing(values: dict[str, Value], same_question: Mapping[str, Value] | None) -> dict[str, Value]:
    """Return the record of a sample that a log lacks; its question as in another record of it, if there is one."""
    asked = {
        key: value
        for key, value in (same_question or {}).items()
        if key in {"input", "references", "group"} or key.startswith("metadata.")
    }
    return {**values, **asked, "response": None, "error": MISSING}


def lacks_question(values: Mapping[str, Value]) -> bool:
    """Whether a record is of a missing sample, and of its question no more than the id is known."""
    return values["error"] == MISSING and values["input"] is None and not values["references"]


def document(path: Path, decoder: json.JSONDecoder = DECODER) -> dict[str, Any]:
    """Return a JSON file that holds one object; numbers are text, NaN is null.

    Raises:
        DataError: It is no such file, or too large for the free memory.
    """
    return parsed(whole_text(path, TIMES_OF_SIZE), file_name(path), decoder=decoder)


def objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line and object of each line of a .jsonl file.

    Raises:
        DataError: A line is not a JSON object.
    """
    name = file_name(path)
    return ((line, parsed(text, name, line)) for line, text in enumerate(text_lines(path), 1) if text.strip())


def values(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield line and value of each line of a .jsonl file, or the value of any other JSON file; numbers are text.

    Raises:
        DataError: It is no JSON.
    """
    if inner_suffix(path) == ".jsonl":
        yield from objects(path)
        return
    try:
        yield 1, decoded(whole_text(path, TIMES_OF_SIZE), DECODER)
    except json.JSONDecodeError as error:
        raise json_error(error, file_name(path), error.lineno) from None


def parsed(text: str, name: str, line: int | None = None, decoder: json.JSONDecoder = DECODER) -> dict[str, Any]:
    """Return the object that a text of JSON holds; by DECODER, numbers and booleans in it are text.

    Args:
        text: A file, or a line of it.
        name: The file, for messages.
        line: Number of the line; None: the text is the whole file.
        decoder: Reads the text.

    Raises:
        DataError: It holds none.
    """
    try:
        value = decoded(text, decoder)
    except json.JSONDecodeError as error:
        raise json_error(error, name, line or error.lineno) from None
    if not isinstance(value, dict):
        found = kind_of(value if isinstance(value, list) else json.loads(text, parse_int=float))
        raise DataError(f"{name}{f', line {line}' if line else ''}: expected an object, found {found}")
    return value


def decoded(text: str, decoder: json.JSONDecoder = DECODER) -> Any:
    """Return the value of a JSON text; by DECODER, numbers and booleans in it are text.

    Raises:
        json.JSONDecodeError: It is no JSON.
    """
    if decoder is not DECODER:
        return decode_whole(text, decoder)
    with suppress(ValueError, RecursionError):  # NaN, half of a surrogate pair, a long integer, no JSON
        return as_texts(orjson.loads(text))
    try:
        return as_texts(decode_whole(text, decoder))
    except RecursionError:  # from Python 3.12 on, the decoder reads deeper values than Python code
        raise json.JSONDecodeError("nested too deep", text, 0) from None


def part(value: Mapping[str, Any], key: str, kind: type, where: str) -> Any:
    """Return a part of a log that must be there.

    Raises:
        DataError: It is missing or of another kind.
    """
    found = value.get(key)
    if not isinstance(found, kind):
        problem = "is missing" if key not in value else f"is {kind_of(found)}, not {kind_of(kind())}"
        raise DataError(f"{where}: {key!r} {problem}; the log is incomplete or of a version that is not known")
    return found


def count(value: Any, where: str) -> int | None:
    """Return a count that a log states; None if it states none.

    Raises:
        DataError: It is no number.
    """
    if value is None:
        return None
    if not (isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < len(str(LARGEST_COUNT))):
        raise DataError(f"{where}: {str(value)[:40]!r} is not a count below {LARGEST_COUNT:,}")
    return int(value)


def number(value: Any) -> str | None:
    """Return a score as text: a number as it is written, true and false as 1 and 0; None for anything else."""
    if not isinstance(value, str):
        return None
    if value in {"true", "false"}:
        return "1" if value == "true" else "0"
    try:
        return value if isfinite(float(value)) else None
    except ValueError:
        return None


def amount(value: Any) -> str | None:
    """Return a number of 0 or more as it is written; None for anything else."""
    text = number(value)
    return text if text is not None and value not in {"true", "false"} and float(text) >= 0.0 else None


def text_of(content: Any) -> str | None:
    """Return the text of a message's content: a text, or the texts among its parts; None if there is none."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return text_of(content.get("text", content.get("content")))
    if isinstance(content, list):
        texts = [text for text in map(text_of, content) if text is not None]
        return "\n".join(texts) if texts else None
    return None


def conversation(messages: Iterable[Any]) -> str | None:
    """Return messages as one text: a single one as it is, several with their roles."""
    said = [(one.get("role"), text_of(one)) for one in messages if isinstance(one, dict)]
    texts = [(role, text) for role, text in said if text is not None]
    return texts[0][1] if len(texts) == 1 else "\n\n".join(f"{role}: {text}" for role, text in texts) or None


def listed(value: Any) -> list[str]:
    """Return references as a list of texts: a text, or a list of them."""
    values = value if isinstance(value, list) else [value]
    return [as_json(item) for item in values if item is not None]


def as_json(value: Any) -> str:
    """Return a text as it is, and any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def records(files: Iterable[Path], rows: Rows) -> Iterator[Record]:
    """Yield the numbered rows of files as records."""
    for file in files:
        name = file_name(file)
        for line, values in rows(file):
            yield Record(name, line, values)


def messages_of(value: Any) -> str | None:
    """Return the conversation in a list of messages, or the text of anything else."""
    return conversation(value) if isinstance(value, list) else text_of(value)


def members(value: Any) -> Mapping[str, Any]:
    """Return an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> Sequence[Any]:
    """Return a list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def numbered(values: Iterable[Any], where: str) -> Iterator[tuple[int, dict[str, Any], str]]:
    """Yield the number of each object, the object, and its place.

    Raises:
        DataError: A value is not a JSON object.
    """
    for number, value in enumerate(values, 1):
        if not isinstance(value, dict):
            raise DataError(f"{where} {number}: expected an object")
        yield number, value, f"{where} {number}"


def named_scores(scores: Any, key: str) -> dict[str, str | None]:
    """Return the scores of a list of objects, each with its name and, under a key, its value."""
    named = (score for score in items(scores) if isinstance(members(score).get("name"), str))
    return {score["name"]: number(score.get(key)) for score in named}


def draws(keys: Sequence[Hashable]) -> Iterator[int | None]:
    """Yield the number of each key among those that are equal, from 1; None for one that stands once."""
    counts, seen = Counter(keys), Counter[Hashable]()
    for key in keys:
        seen[key] += 1
        yield seen[key] if counts[key] > 1 else None


def require_one(earlier: dict[tuple[str, str], Path], task: str, model: str, file: Path) -> None:
    """Note the file of a run; task and model name it.

    Raises:
        DataError: Another file has the same run.
    """
    first = earlier.setdefault((task, model), file)
    if first != file:
        where = file_name(first)
        raise DataError(f"{file_name(file)}: {task} of {model} is also in {where}; choose one run with dataset.pattern")


def require_version(found: Any, known: Sequence[str], tool: str, where: str) -> None:
    """Check the version that a log states.

    Raises:
        DataError: The version is not known.
    """
    if found not in known:
        raise DataError(
            f"{where}: written by {tool} in version {str(found)[:40]!r} of its format, which can't be read; "
            f"known: {', '.join(known)}"
        )


def kind_of(value: Any) -> str:
    """Return what a JSON value is, in words."""
    kinds = {dict: "an object", list: "a list", str: "a text", type(None): "null", bool: "a boolean"}
    return kinds.get(type(value), "a number")


# Bytes of a file that are looked at.
HEAD_BYTES = 1 << 16
HALF_OF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


class Head(NamedTuple):
    """What the first bytes of a file hold.

    Attributes:
        value: Its JSON value as far as it goes, or its first line's; None if it is no JSON.
        members: Names in a zip file.
        header: Names of the columns of a CSV or Parquet file.
    """

    value: Any
    members: tuple[str, ...] = ()
    header: frozenset[str] = frozenset()

    @property
    def columns(self) -> AbstractSet[str]:
        """The columns of a table: of CSV and Parquet, of pandas' orient "split", or the keys of the first object."""
        first = self.value[0] if isinstance(self.value, list) and self.value else self.value
        names = members(first).get("columns") if {"columns", "data"} <= members(first).keys() else None
        return self.header or (set(map(str, names)) if isinstance(names, list) else members(first).keys())

    @property
    def keys(self) -> KeysView[str]:
        """The keys of the value."""
        return members(self.value).keys()


def head_of(path: Path) -> Head | None:
    """Return the head of a file; None if it can't be read."""
    try:
        if zipfile.is_zipfile(path) and path.suffix.lower() != ".zip":
            with zipfile.ZipFile(path) as archive:
                return Head(None, tuple(archive.namelist()))
    except (OSError, ValueError, zipfile.BadZipFile):
        return None
    text = head(path, HEAD_BYTES).removeprefix(BOM).decode(errors="replace")
    return Head(begun_json(text), header=_header(path, text))


def _header(path: Path, text: str) -> frozenset[str]:
    try:
        if inner_suffix(path) == ".parquet":
            return frozenset(pq.read_schema(path).names)
        if inner_suffix(path) in TABLES:
            return frozenset(next(csv.reader(text.splitlines(), delimiter=TABLES[inner_suffix(path)]), ()))
    except (OSError, ValueError, csv.Error, pa.ArrowException):  # Parquet: names that are not UTF-8
        pass
    return frozenset()


def begun_json(text: str) -> Any:
    """Return the first JSON value of a text that may be cut off anywhere, without what is incomplete; None without one.

    >>> begun_json('{"a": [1, {"b": 2, "c')
    {'a': [1, {'b': 2}]}
    """
    try:
        return from_json(HALF_OF_PAIR.sub(r"\\u00", text), allow_partial=True)
    except ValueError:
        return None
