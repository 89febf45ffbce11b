"""How a user's record becomes rows: which records count, what their id is, what each candidate answered."""

import json
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from hashlib import sha256
from math import isfinite
from typing import Any, NamedTuple

from tasks.dataset.settings import Dataset, Params, ScoreMapping
from tasks.dataset.sources import DECODER, Record, Value, as_text
from tasks.errors import DataError

LABELS = {
    "true": True,
    "1": True,
    "1.0": True,
    "yes": True,
    "false": False,
    "0": False,
    "0.0": False,
    "no": False,
}
"""1.0 and 0.0: what pandas makes of 1 and 0 in a column with gaps."""
CANONICAL_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
SHOWN = 30

Numbering = Mapping[bytes, Mapping[bytes, int]]
"""Of inputs that stand in several records: hash of the input → hash of the references → number, from 1."""


class Unusable(Exception):  # noqa: N818 (caught within the stage: a reason, no error)
    """Why a record, or one candidate's answer to it, can't be used."""


class Shared(NamedTuple):
    """What all candidates of a record share."""

    input: str | None
    references: list[str]
    group: str | None
    slices: dict[str, str | None]
    phrases: list[str] | None


def require_columns(records: Iterable[Record], dataset: Dataset) -> None:
    """Raise DataError for a mapped column that no record has; a record without it has a null there."""
    wanted = dict(_mapped(dataset))
    there: dict[str, None] = {}
    missing = set(wanted)
    for record in records:
        missing -= record.values.keys()
        if not missing:
            return
        there.update(dict.fromkeys(record.values))
    if there:
        lines = [_no_column(place, column, list(there)) for column, place in wanted.items() if column in missing]
        shown = [_shown(column) for column in there][:SHOWN] + ["…"] * (len(there) > SHOWN)
        raise DataError("\n".join([*lines[:SHOWN], f"columns there are: {', '.join(shown)}"]))


def chosen(records: Iterable[Record], dataset: Dataset) -> Iterator[Record]:
    """The records that `exclude` leaves, up to `limit`."""
    number = 0
    for record in records:
        if not any(_equals(record.values.get(column), value) for column, value in dataset.exclude.items()):
            yield record
            number += 1
        if number == dataset.limit:
            return


def numbering(records: Iterable[Record], params: Params) -> Numbering:
    """Look through all records before the first row is made.

    Raises DataError when two have the same id (without ids: the same input and references), or none is left.
    """
    first: dict[bytes, bytes] = {}
    again: dict[bytes, set[bytes]] = {}
    any_left = False
    for record in chosen(records, params.dataset):
        any_left = True
        key = _key(record, params)
        if key is None:
            continue
        text, references = key
        if text not in first:
            first[text] = references
            continue
        others = again.setdefault(text, {first[text]})
        if references in others:
            earlier = next(each for each in chosen(records, params.dataset) if _key(each, params) == key)
            raise _twice(earlier, record, params.dataset)
        others.add(references)
    if not any_left:
        raise DataError(
            f"dataset: no record is left; dataset.exclude leaves out all: {params.dataset.exclude}"
            if params.dataset.exclude
            else "dataset: there is no record"
        )
    return {text: {key: number for number, key in enumerate(sorted(keys), 1)} for text, keys in again.items()}


def own_id(record: Record, params: Params) -> str:
    """The id the record brings; raises Unusable when it has none."""
    text = _text(record.values, params.dataset.id, params.load.max_chars)
    if text is None or not text.strip():
        raise Unusable(f"{params.dataset.id}: no id")
    return text


def hash_id(shared: Shared, numbers: Numbering) -> str:
    """The sha256 of the input; further records with this input get -2, -3, … by the order of their references' hash."""
    text, references = _hash_key(shared)
    number = numbers.get(text, {}).get(references, 1)
    return text.hex() if number == 1 else f"{text.hex()}-{number}"


def shared_by_candidates(record: Record, params: Params) -> Shared:
    """What all candidates of the record share; raises Unusable when it can't be used for any of them."""
    dataset, values, most = params.dataset, record.values, params.load.max_chars
    shared = Shared(
        _text(values, dataset.input, most),
        _references(values, dataset, most),
        _text(values, dataset.group, most),
        {column: _text(values, column, most) for column in dataset.slices},
        _phrases(values, dataset.phrases, most),
    )
    if dataset.id is None and (shared.input is None or not shared.input.strip()):
        raise Unusable(f"{dataset.input}: no input to make an id of")
    if params.load.require_references and not shared.references:
        raise Unusable(f"{dataset.references}: no reference that is not blank")
    return shared


def row(record: Record, row_id: str, shared: Shared, name: str, params: Params) -> dict[str, Any]:
    """The row of one candidate.

    Raises Unusable when its answer or a score can't be used, DataError when its label is none.
    """
    dataset = params.dataset
    candidate = dataset.candidates[name]
    label = _label(record, candidate.label, f"dataset.candidates.{name}.label")
    response = _text(record.values, candidate.response, params.load.max_chars)
    if response is None and dataset.missing_response == "wrong":
        response = ""
    return {
        "id": row_id,
        "candidate": name,
        **shared._asdict(),
        "response": response,
        "label": label,
        **{f"score_{key}": _number(record.values, score, name) for key, score in dataset.scores.items()},
        "content": _hash([shared.input, shared.references]).hex(),
    }


def _mapped(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Each column of the mapping, and its place in params.yaml."""
    for place in ("id", "input", "references", "group", "phrases"):
        if column := getattr(dataset, place):
            yield column, f"dataset.{place}"
    yield from ((column, "dataset.slices") for column in dataset.slices)
    yield from ((column, "dataset.exclude") for column in dataset.exclude)
    for name, candidate in dataset.candidates.items():
        yield candidate.response, f"dataset.candidates.{name}.response"
        if candidate.label:
            yield candidate.label, f"dataset.candidates.{name}.label"
        yield from ((score.of(name), f"dataset.scores.{key}") for key, score in dataset.scores.items())


def _no_column(place: str, column: str, there: list[str]) -> str:
    near = " or ".join(map(_shown, get_close_matches(column, there, n=3)))
    return f"{place}: no record has a column {column!r}{f'; did you mean {near}?' if near else ''}"


def _equals(value: Value, wanted: object) -> bool:
    """Whether the source text is the wanted one; for true and false, any word that a label may have for it."""
    if isinstance(wanted, bool) and isinstance(value, str):
        return LABELS.get(value.strip().lower()) is wanted
    return value == as_text(wanted)


def _key(record: Record, params: Params) -> tuple[bytes, bytes] | None:
    """What must not stand twice; None for a record that will be rejected."""
    try:
        if params.dataset.id:
            return _hash(own_id(record, params)), b""
        return _hash_key(shared_by_candidates(record, params))
    except Unusable:
        return None


def _hash_key(shared: Shared) -> tuple[bytes, bytes]:
    return sha256((shared.input or "").encode()).digest(), _hash(shared.references)


def _hash(value: object) -> bytes:
    return sha256(CANONICAL_JSON.encode(value).encode()).digest()


def _twice(earlier: Record, record: Record, dataset: Dataset) -> DataError:
    what = (
        f"the id {_shown(record.values.get(dataset.id))} (dataset.id: {dataset.id}) stands here and in"
        if dataset.id
        else f"{_shown(record.values.get(dataset.input or ''))}: the same input and references, so the same "
        "candidates, as in"
    )
    help_ = "make ids unique" if dataset.id else "remove one, or name a column of unique ids in dataset.id"
    return DataError(f"{record.file}, line {record.line}: {what} {earlier.file}, line {earlier.line}; {help_}")


def _text(values: Mapping[str, Value], column: str | None, most: int) -> str | None:
    return None if column is None else _checked(values.get(column), column, most)


def _checked(value: Value, column: str, most: int) -> str | None:
    """The value if it is null or text that can be used; raises Unusable otherwise."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise Unusable(f"{column}: {'a list' if isinstance(value, list) else 'an object'} where text is expected")
    if len(value) > most:
        raise Unusable(f"{column}: {len(value):,} characters; load.max_chars is {most:,}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise Unusable(f"{column}: character {error.start + 1} is half of a surrogate pair") from None
    return value


def _texts(items: Iterable[Value], column: str, most: int) -> list[str]:
    """Those of the items that are not blank."""
    checked = [_checked(item, column, most) for item in items]
    return [text for text in checked if text is not None and text.strip()]


def _references(values: Mapping[str, Value], dataset: Dataset, most: int) -> list[str]:
    if dataset.references is None:
        return []
    value = values.get(dataset.references)
    if isinstance(value, str) and dataset.reference_separator:
        value = [part.strip() for part in value.split(dataset.reference_separator)]
    return _texts(value if isinstance(value, list) else [value], dataset.references, most)


def _phrases(values: Mapping[str, Value], column: str | None, most: int) -> list[str] | None:
    """A list, a JSON list in a string, or one string; no column is null, no phrase in it an empty list."""
    if column is None:
        return None
    value = values.get(column)
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _json_list(value)
    return _texts(value if isinstance(value, list) else [value], column, most)


def _json_list(text: str) -> Value:
    try:
        value = as_text(DECODER.decode(text.strip()))
    except (ValueError, RecursionError):
        return text
    return value


def _label(record: Record, column: str | None, place: str) -> bool | None:
    value = record.values.get(column) if column else None
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    label = LABELS.get(value.strip().lower()) if isinstance(value, str) else None
    if label is None:
        raise DataError(
            f"{record.file}, line {record.line}: {column} is {_shown(value)}, which is no label ({place}); "
            "allowed: true and false, 1 and 0, yes and no, or nothing"
        )
    return label


def _number(values: Mapping[str, Value], score: ScoreMapping, candidate: str) -> float | None:
    column = score.of(candidate)
    value = values.get(column)
    if value is None:
        return None
    try:
        number = float(value) if isinstance(value, str) and "_" not in value else float("nan")
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise Unusable(f"{column}: {_shown(value)} is no number")
    low, high = score.bounds or (number, number)
    if not low <= number <= high:
        raise Unusable(f"{column}: {number:g} is outside the bounds {low:g} to {high:g}")
    return number


def _shown(value: Value) -> str:
    text = repr(value)
    return text if len(text) <= 2 * SHOWN else f"{text[: 2 * SHOWN]}…"
