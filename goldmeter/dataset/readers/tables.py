"""What readers of tables and of free records share: cells that hold JSON, the names of members, ids by content."""

import ast
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from goldmeter.dataset.formats.arrow import parquet
from goldmeter.dataset.formats.delimited import delimited
from goldmeter.dataset.formats.json_records import json_list
from goldmeter.dataset.formats.text_lines import inner_suffix
from goldmeter.dataset.printed_lists import printed_list
from goldmeter.dataset.proposal import names
from goldmeter.dataset.readers import log
from goldmeter.dataset.record import Record, Value, as_text
from goldmeter.dataset.texts import UnusableValueError
from goldmeter.errors import DataError

# Members of free records that hold what a right answer says, as people and tools name them.
REFERENCES = (
    *("reference", "references", "reference_answer", "reference_output", "expected", "expected_output"),
    *("expected_response", "expected_answer", "ground_truth", "ground_truths", "ideal", "target", "targets", "label"),
    *("correct_label", "correct_answer", "gold", "answer"),
)
# Members of free records that hold the question, and the answer.
QUESTIONS = ("input", "inputs", "question", "query", "prompt", "user_input", "request", "instruction", "messages")
ANSWERS = ("output", "outputs", "answer", "response", "prediction", "predictions", "completion", "text", "content")
# Hexadecimal digits of an id by content.
ID_DIGITS = 16


def rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield number and values of each row of a table: CSV, Parquet, JSON lines, a list of objects, orient "split".

    Numbers are text. Cells of CSV that hold JSON are as they are written: see `unpacked`.

    Raises:
        DataError: A row can't be read.
    """
    suffix = inner_suffix(path)
    if suffix in log.TABLES:
        found: Iterable[tuple[int, Mapping[str, Any]]] = delimited(path, log.TABLES[suffix])
    elif suffix == ".parquet":
        found = parquet(path)
    else:
        found = log.objects(path) if suffix == ".jsonl" else json_list(path)
    for line, row in found:
        yield line, {name: as_text(cell) for name, cell in row.items()}


def unpacked(cell: Any) -> Any:
    """Return the list or object that a text holds, as JSON or as Python or numpy prints it; else the cell."""
    if not isinstance(cell, str) or cell.lstrip()[:1] not in {"[", "{"}:
        return cell
    with suppress(ValueError):
        return log.decoded(cell)
    with suppress(UnusableValueError):
        if (listed := printed_list(cell)) is not None:
            return listed
    if cell.lstrip()[0] == "{":
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            return as_text(ast.literal_eval(cell.strip()))
    return cell


def said(value: Any, names: Sequence[str] = ()) -> str | None:
    """Return the text of a free value: a text, the conversation in messages, the member of one of the names, JSON.

    A text that holds such an object or messages, as a cell of CSV does, is read as they are; any other stays.

    >>> said({"question": "Why?", "topic": "x"}, QUESTIONS), said('{"a": "b"}'), said({"a": "b", "c": "d"})
    ('Why?', 'b', '{"a": "b", "c": "d"}')
    >>> said('{"a": 1}'), said("[sic] yes")
    ('{"a": 1}', '[sic] yes')
    """
    if value is None:
        return None
    inner = unpacked(value)
    if isinstance(inner, dict):
        member = first_of(inner, ("messages", *names))
        texts = [item for item in inner.values() if isinstance(item, str) and log.number(item) is None]
        alone = texts[0] if len(inner) == len(texts) == 1 else log.text_of(inner)
        found = said(member, names) if member is not None else alone
    else:
        found = inner if isinstance(inner, str) else log.messages_of(inner)
    return found if found is not None else log.as_json(value)


def references(values: Mapping[str, Any], names: Sequence[str] = REFERENCES) -> list[str]:
    """Return the references in the first of the names that has any: a text, a list, or an object with one of them."""
    value = first_of(values, names)
    inner = unpacked(value)
    if isinstance(inner, list):
        return log.listed(inner)
    return log.listed(said(value, (*REFERENCES, *ANSWERS)))


def first_of(values: Mapping[str, Any], names: Iterable[str]) -> Any:
    """Return the value of the first of the names that has one; None without any."""
    return next((values[name] for name in names if values.get(name) is not None), None)


def records(files: Sequence[Path], rows: log.Rows) -> Iterator[Record]:
    """Yield the numbered rows of files as records; see `keyed`."""
    yield from keyed(lambda: log.records(files, rows))


def keyed(read: Callable[[], Iterable[Record]]) -> Iterator[Record]:
    """Give records without an id one of their question and references, so that runs pair; equal ones are draws.

    They are read twice, so that only their ids are in memory.
    """
    keys = [(str(one.values["candidate"]), str(one.values["id"]) or content_id(one.values)) for one in read()]
    for one, (_, key), draw in zip(read(), keys, log.draws(keys), strict=True):
        yield one._replace(values={**one.values, "id": key, **({"draw": str(draw)} if draw else {})})


def content_id(values: Mapping[str, Value]) -> str:
    """Return an id of the question and the references."""
    content = orjson.dumps([values["input"], values["references"]])
    return hashlib.sha256(content).hexdigest()[:ID_DIGITS]


def with_people(values: dict[str, Value], said: Mapping[str, str | None]) -> dict[str, Value]:
    """Return the values of a record with what people said of the answer, by name, or by name and rater.

    Only for logs that say that people did.
    """
    return {**values, **{f"{log.HUMAN}{name}": None if values["error"] else value for name, value in said.items()}}


def judged(values: Mapping[str, Any]) -> dict[str, str | None]:
    """Return what a tool says of an answer for `flat`: numbers, and words; of anything else, null.

    >>> judged({"exact": "True", "f1": "0.5", "tone": "kind", "why": ["a"]})
    {'exact': '1', 'f1': '0.5', 'tone': 'kind', 'why': None}
    """
    texts = {name: value if isinstance(value, str) else None for name, value in values.items()}
    return {name: text and (log.number(text.lower()) or text) for name, text in texts.items()}


def first(value: Any) -> Any:
    """Return the first item of a list, or the value itself."""
    return value[0] if isinstance(value, list) and value else value


def stem(path: Path) -> str:
    """Return the name of a file without its suffixes, as the name of a system that a log does not name."""
    return path.name.split(".")[0] or path.name


def by_names(data: Mapping[str, Any], key: str, file: Path, where: str) -> dict[str, Value]:
    """Return the values of a record whose question, answer, references and system are found by their names.

    Args:
        data: The free members.
        key: The id; empty: it is made of the content.

    Raises:
        DataError: None is named like a question or like an answer, or several are named like answers.
    """
    given = {name: value for name, value in data.items() if value is not None}
    question = _best(given, names.as_input)
    references = [name for name in (_best(given, names.as_references),) if name not in {None, question}]
    left = [name for name in data if name not in {question, *references}]
    answers = [name for name in left if names.as_response(name)] or [name for name in left if names.as_answers(name)]
    if question is None or len(answers) != 1:
        raise DataError(
            f"{where}: which of {', '.join(data)[:200]} is the question, and which one the answer that was judged? "
            "To read the file without what people said: --input COLUMN --candidate COLUMN --references COLUMN"
        )
    system = next((name for name in left if name not in answers and names.as_system(name)), None)
    response = log.text_of(data[answers[0]])
    used = {question, *references, *answers, system}
    return log.flat(
        id=key,
        input=said(data[question], QUESTIONS),
        references=[text for name in references if name for text in log.listed(unpacked(data[name]))],
        response=response,
        candidate=log.text_of(data[system]) or stem(file) if system else stem(file),
        error=None if response is not None else "no output",
        metadata={name: value for name, value in data.items() if name not in used},
    )


def _best(data: Mapping[str, Any], fits: Callable[[str], names.Fit | None]) -> str | None:
    """Return the name that fits best; None if none does."""
    found = [(fit, name) for name in data if (fit := fits(name)) is not None]
    return min(found)[1] if found else None


def verdicts(values: Mapping[str, Value], given: Mapping[str, Any]) -> dict[str, Value]:
    """Return what tools said of a record that was made without it, under the names that all readers use."""
    scores = log.flat(id="", candidate="", error=str(values["error"] or "") or None, scores=judged(given))
    return {name: value for name, value in scores.items() if name.startswith((log.SCORE, log.VERDICT))}
