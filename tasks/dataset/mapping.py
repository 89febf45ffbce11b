"""Turn a user's record into rows by the mapping in params.yaml."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from math import isfinite, nan
from typing import Any, NamedTuple

from tasks.dataset.settings import Dataset, Params, ScoreMapping
from tasks.dataset.sources import DECODER, Record, Value, as_text
from tasks.errors import DataError, did_you_mean
from tasks.pipeline.hashing import sha256
from tasks.scores.label_status import CONFIRMED, STALE

# pandas writes 1.0 and 0.0 for 1 and 0 in a column with missing values.
LABELS = dict.fromkeys(("true", "1", "1.0", "yes"), True) | dict.fromkeys(("false", "0", "0.0", "no"), False)
CANONICAL_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
# Columns that an error message lists.
COLUMNS_LISTED = 30
# Characters of a value that an error message quotes.
QUOTED_LENGTH = 60


class RecordIndex(NamedTuple):
    """What is known of all records before the first row is made; a position counts the selected records from 0.

    numbers: For inputs that several records share: hash of the input → hash of the references → number, from 1.
    repeated: Position of a record whose id an earlier record has → file and line of the earlier one.
    """

    numbers: Mapping[bytes, Mapping[bytes, int]]
    repeated: Mapping[int, tuple[str, int]]


class UnusableValueError(Exception):
    """A value of a record can't be used; the message is stored as the reason in data/load_rejected."""


class SharedValues(NamedTuple):
    """The values that all candidates of a record share."""

    input: str | None
    references: list[str]
    group: str | None
    slices: dict[str, str | None]
    phrases: list[str] | None


def require_columns(records: Iterable[Record], dataset: Dataset) -> None:
    """Check that each mapped column is in at least one record; in the other records it counts as null.

    Raises:
        DataError: A mapped column is in no record.
    """
    mapped = dict(_mapped_columns(dataset))
    present: dict[str, None] = {}
    missing = set(mapped)
    for record in records:
        missing -= record.values.keys()
        if not missing:
            return
        present.update(dict.fromkeys(record.values))
    if present:
        lines = [_missing_column(place, column, list(present)) for column, place in mapped.items() if column in missing]
        listed = [_quoted(column) for column in present][:COLUMNS_LISTED] + ["…"] * (len(present) > COLUMNS_LISTED)
        raise DataError("\n".join([*lines[:COLUMNS_LISTED], f"existing columns: {', '.join(listed)}"]))


def selected(records: Iterable[Record], dataset: Dataset) -> Iterator[Record]:
    """Yield the records that `exclude` does not match, at most `limit` of them."""
    number = 0
    for record in records:
        if not any(_equals(record.values.get(column), value) for column, value in dataset.exclude.items()):
            yield record
            number += 1
        if number == dataset.limit:
            return


def index_records(records: Iterable[Record], params: Params) -> RecordIndex:
    """Number the records that share an input, and find those whose id is taken, in one pass over all records.

    Without an id column the same input and references are the same id. A second pass finds the first record of each
    repeated id.

    Raises:
        DataError: No record is selected.
    """
    first: dict[bytes, bytes] = {}
    shared: dict[bytes, set[bytes]] = {}
    again: dict[int, tuple[bytes, bytes]] = {}
    position = -1
    for position, record in enumerate(selected(records, params.dataset)):
        key = _key(record, params)
        if key is None:
            continue
        text, references = key
        if text not in first:
            first[text] = references
            continue
        others = shared.setdefault(text, {first[text]})
        if references in others:
            again[position] = key
        others.add(references)
    if position < 0:
        raise DataError(
            f"dataset: no record is left; dataset.exclude leaves out all: {params.dataset.exclude}"
            if params.dataset.exclude
            else "dataset: there is no record"
        )
    numbers = {text: {key: number for number, key in enumerate(sorted(keys), 1)} for text, keys in shared.items()}
    return RecordIndex(numbers, _repeated(records, again, params))


def _repeated(
    records: Iterable[Record], again: Mapping[int, tuple[bytes, bytes]], params: Params
) -> dict[int, tuple[str, int]]:
    places: dict[tuple[bytes, bytes], tuple[str, int]] = {}
    wanted = set(again.values())
    for record in selected(records, params.dataset) if wanted else ():
        key = _key(record, params)
        if key in wanted and key is not None:
            places.setdefault(key, (record.file, record.line))
            if len(places) == len(wanted):
                break
    return {position: places[key] for position, key in again.items()}


def require_new_id(record: Record, earlier: tuple[str, int] | None, dataset: Dataset) -> None:
    """Reject a record whose id an earlier one has.

    Raises:
        UnusableValueError: There is an earlier record.
    """
    if earlier is None:
        return
    file, line = earlier
    if dataset.id:
        quoted = _quoted(record.values.get(dataset.id))
        raise UnusableValueError(f"the id {quoted} (dataset.id: {dataset.id}) is also in {file}, line {line}")
    raise UnusableValueError(
        f"{_quoted(record.values.get(dataset.input or ''))}: the same input and references as in {file}, line {line}; "
        "dataset.id can name a column of unique ids"
    )


def id_from_column(record: Record, params: Params) -> str:
    """Return the record's value in the id column.

    Raises:
        UnusableValueError: The value is missing or blank.
    """
    text = _text(record.values, params.dataset.id, params.load.max_chars)
    if text is None or not text.strip():
        raise UnusableValueError(f"{params.dataset.id}: no id")
    return text


def id_from_input(shared: SharedValues, index: RecordIndex) -> str:
    """Return the sha256 of the input; records that share it get -2, -3, … by the order of their references' hash."""
    text, references = _content_key(shared)
    number = index.numbers.get(text, {}).get(references, 1)
    return text.hex() if number == 1 else f"{text.hex()}-{number}"


def shared_values(record: Record, params: Params) -> SharedValues:
    """Return the values that all candidates of the record share.

    Raises:
        UnusableValueError: One of them can't be used, so that no candidate of the record gets a row.
    """
    dataset, values, max_chars = params.dataset, record.values, params.load.max_chars
    shared = SharedValues(
        _text(values, dataset.input, max_chars),
        _references(values, dataset, max_chars),
        _text(values, dataset.group, max_chars),
        {name: _text(values, name, max_chars) for name in dataset.slices},
        _phrases(values, dataset.phrases, max_chars),
    )
    if dataset.id is None and (shared.input is None or not shared.input.strip()):
        raise UnusableValueError(f"{dataset.input}: no input to make an id of")
    if params.load.require_references and not shared.references:
        raise UnusableValueError(f"{dataset.references or 'references'}: no reference that is not blank")
    return shared


def candidate_row(record: Record, row_id: str, shared: SharedValues, name: str, params: Params) -> dict[str, Any]:
    """Return the row of one candidate.

    Raises:
        UnusableValueError: The candidate's response or one of its scores can't be used.
        DataError: The label is neither true nor false.
    """
    dataset = params.dataset
    candidate = dataset.named[name]
    label = _label(record, candidate.label.column if candidate.label else None, f"dataset.candidates.{name}.label")
    response = _text(record.values, candidate.response, params.load.max_chars)
    status = _label_status(record.values, candidate.labelled, response) if label is not None else None
    if response is None and dataset.missing_response == "wrong":
        response = ""
    return {
        "id": row_id,
        "candidate": name,
        **shared._asdict(),
        "response": response,
        "label": None if status == STALE else label,
        "label_status": status,
        **{f"score_{key}": _number(record.values, score, name) for key, score in dataset.scores.items()},
        "content": _json_hash([shared.input, shared.references]).hex(),
    }


def _mapped_columns(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield each column of the mapping with its path in params.yaml."""
    for place in ("id", "input"):
        if column := getattr(dataset, place):
            yield column, f"dataset.{place}"
    yield from ((column, "dataset.references") for column in (dataset.references and dataset.references.columns) or ())
    for place in ("group", "phrases"):
        if column := getattr(dataset, place):
            yield column, f"dataset.{place}"
    yield from ((column, "dataset.slices") for column in dataset.slices)
    yield from ((column, "dataset.exclude") for column in dataset.exclude)
    for name, candidate in dataset.named.items():
        yield candidate.response, f"dataset.candidates.{name}.response"
        if candidate.label and candidate.label.column:
            yield candidate.label.column, f"dataset.candidates.{name}.label"
        if candidate.labelled:
            yield candidate.labelled, f"dataset.candidates.{name}.labelled"
        yield from ((score.column_of(name), f"dataset.scores.{key}") for key, score in dataset.scores.items())


def _missing_column(place: str, column: str, present: list[str]) -> str:
    return f"{place}: no record has a column {column!r}{did_you_mean(column, present, _quoted)}"


def _equals(value: Value, wanted: object) -> bool:
    """Compare the source text with a value of params.yaml; a boolean matches any word allowed in a label for it."""
    if isinstance(wanted, bool) and isinstance(value, str):
        return LABELS.get(value.strip().lower()) is wanted
    return value == as_text(wanted)


def _key(record: Record, params: Params) -> tuple[bytes, bytes] | None:
    """Return what must be unique among the records; None for a record that will be rejected."""
    try:
        if params.dataset.id:
            return _json_hash(id_from_column(record, params)), b""
        return _content_key(shared_values(record, params))
    except UnusableValueError:
        return None


def _content_key(shared: SharedValues) -> tuple[bytes, bytes]:
    return sha256(shared.input or ""), _json_hash(shared.references)


def _json_hash(value: object) -> bytes:
    return sha256(CANONICAL_JSON.encode(value))


def _text(values: Mapping[str, Value], column: str | None, max_chars: int) -> str | None:
    return None if column is None else _checked_text(values.get(column), column, max_chars)


def _checked_text(value: Value, column: str, max_chars: int) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        kind = "a list" if isinstance(value, list) else "an object"
        raise UnusableValueError(f"{column}: {kind} where text is expected")
    if len(value) > max_chars:
        raise UnusableValueError(f"{column}: {len(value):,} characters; load.max_chars is {max_chars:,}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise UnusableValueError(f"{column}: character {error.start + 1} is half of a surrogate pair") from None
    return value


def _texts(value: Value, column: str, max_chars: int) -> list[str]:
    """Return the items of a list, or one value as a list, without those that are blank."""
    checked = [_checked_text(item, column, max_chars) for item in (value if isinstance(value, list) else [value])]
    return [text for text in checked if text is not None and text.strip()]


def _references(values: Mapping[str, Value], dataset: Dataset, max_chars: int) -> list[str]:
    if dataset.references is None:
        return []
    [column] = dataset.references.columns
    value = values.get(column)
    if isinstance(value, str) and dataset.reference_separator:
        value = [part.strip() for part in value.split(dataset.reference_separator)]
    return _texts(value, column, max_chars)


def _phrases(values: Mapping[str, Value], column: str | None, max_chars: int) -> list[str] | None:
    """Read a list, a JSON list in a string, or one string; no column gives None, no phrase in it an empty list."""
    if column is None:
        return None
    value = values.get(column)
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):  # not JSON: one phrase that begins with a bracket
            value = as_text(DECODER.decode(value.strip()))
    return _texts(value, column, max_chars)


def _label(record: Record, column: str | None, place: str) -> bool | None:
    value = record.values.get(column) if column else None
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    label = LABELS.get(value.strip().lower()) if isinstance(value, str) else None
    if label is None:
        raise DataError(
            f"{record.file}, line {record.line}: {column} is {_quoted(value)}, which is not a label ({place}); "
            "allowed: true and false, 1 and 0, yes and no, or nothing"
        )
    return label


def _label_status(values: Mapping[str, Value], column: str | None, response: str | None) -> str | None:
    """Return whether a label is of the response, by the column with the labelled answer or its sha256; None without."""
    if column is None:
        return None
    labelled, answer = values.get(column) or "", response or ""
    same = labelled == answer or (isinstance(labelled, str) and labelled.strip().lower() == sha256(answer).hex())
    return CONFIRMED if same else STALE


def _number(values: Mapping[str, Value], score: ScoreMapping, candidate: str) -> float | None:
    column = score.column_of(candidate)
    value = values.get(column)
    if value is None:
        return None
    try:
        # float() alone would read 1_000 as a number.
        number = float(value) if isinstance(value, str) and "_" not in value else nan
    except ValueError:
        number = nan
    if not isfinite(number):
        raise UnusableValueError(f"{column}: {_quoted(value)} is no number")
    low, high = score.bounds or (number, number)
    if not low <= number <= high:
        raise UnusableValueError(f"{column}: {number:g} is outside the bounds {low:g} to {high:g}")
    return number


def _quoted(value: Value) -> str:
    text = repr(value)
    return text if len(text) <= QUOTED_LENGTH else f"{text[:QUOTED_LENGTH]}…"
