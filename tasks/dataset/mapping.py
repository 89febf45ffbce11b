"""Turn a user's record into rows by the mapping in params.yaml."""

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import isfinite
from typing import Any, NamedTuple

from tasks.dataset.answers import Answer, Source, candidate_name, raw_draw
from tasks.dataset.criteria import StatedCriterion, criteria
from tasks.dataset.joined import Entry, bare_text, row_keys, same_text
from tasks.dataset.labels import LABELS, majority, probability_of, ratings_of
from tasks.dataset.paths import quoted
from tasks.dataset.settings import AskedCandidate, Dataset, LabelFile, LabelMapping, Params, ScoreMapping
from tasks.dataset.sources import DECODER, Record, Value, as_text
from tasks.dataset.texts import UnusableValueError, checked_text, finite, texts
from tasks.errors import DataError
from tasks.pipeline.hashing import sha256
from tasks.scores.label_status import CONFIRMED, PROBABILITY, STALE

# In a log: the column that says why a sample has no answer, and the detail of a score that a sample does not have.
ERROR, NOT_ASKED = "error", '{"unmeasured": "not applicable"}'
CANONICAL_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
# A list of strings as Python and numpy print it, with its nulls and what numpy cut out, and its strings.
_STRING = r"""'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+["]"""
_ITEM = rf"(?:{_STRING}|None|null|\.\.\.)"
_PRINTED_LIST = re.compile(rf"\[\s*+(?:{_ITEM}(?:\s*+,\s*+|\s++|(?=\s*+\])))*+\s*+\]")
_STRINGS = re.compile(_STRING)

_LABEL_FILE = "dataset.label_file.label"

LabelKey = tuple[str | None, ...]
"""Question, candidate and bare text that an answer and its labels have in common; None for what does not count."""


class SharedValues(NamedTuple):
    """The values that all candidates of a record share."""

    input: str | None
    references: list[str]
    group: str | None
    weight: float | None
    slices: dict[str, str | None]
    phrases: list[str] | None
    contexts: list[str] | None
    relevant: list[str] | None
    criteria: list[StatedCriterion] | None


def selected(records: Iterable[Record], dataset: Dataset) -> Iterator[Record]:
    """Yield the records of chosen candidates that `exclude` does not match, at most `limit` of them."""
    number = 0
    only = dataset.long.only if dataset.long else ()
    for record in records:
        excluded = any(equals(record.values.get(column), value) for column, value in dataset.exclude.items())
        if not excluded and (not only or candidate_name(record, dataset) in only):
            yield record
            number += 1
        if number == dataset.limit:
            return


def require_new_id(record: Record, earlier: tuple[str, int] | None, dataset: Dataset) -> None:
    """Reject a record whose id an earlier one has; in the long form, one of the same candidate.

    Raises:
        UnusableValueError: There is an earlier record.
    """
    if earlier is None:
        return
    file, line = earlier
    whose = f" of {quoted(candidate_name(record, dataset))}" if dataset.long else ""
    if dataset.id:
        id_ = quoted(record.values.get(dataset.id))
        raise UnusableValueError(f"the id {id_}{whose} (dataset.id: {dataset.id}) is also in {file}, line {line}")
    raise UnusableValueError(
        f"{quoted(record.values.get(dataset.input or ''))}: the same input and references{whose} as in {file}, "
        f"line {line}; dataset.id can name a column of unique ids"
    )


def require_same_question(earlier: tuple[str, int] | None, dataset: Dataset) -> None:
    """Reject a record that asks something else than the first one of its id.

    Raises:
        UnusableValueError: The first record has another input, references or criteria; with draws, or another group.
    """
    if earlier is not None:
        file, line = earlier
        more = "group" if dataset.has_draws and dataset.group else "weight" if dataset.weight else ""
        *named, last = ["input", "references", *filter(None, [dataset.criteria and "criteria", more])]
        what = f"{', '.join(named)} or {last}"
        raise UnusableValueError(f"{dataset.id}: the first record of this id has another {what}: {file}, line {line}")


def draw_of(answer: Answer, by_order: int, first: int, dataset: Dataset) -> int | None:
    """Return the number of an answer among the repeated ones, from 1; None if there are none.

    Args:
        answer: The answer.
        by_order: Its number in the order of the records.
        first: The smallest number in the column of draws.
        dataset: The mapping.

    Raises:
        UnusableValueError: The column of draws holds no whole number.
    """
    if not dataset.has_draws:
        return None
    if answer.draw is not None:
        return answer.draw
    if not isinstance(dataset.draw, str):
        return by_order
    number = raw_draw(answer.values, dataset)
    if number is None:
        raise UnusableValueError(f"{dataset.draw}: {quoted(answer.values.get(dataset.draw))} is no whole number")
    return number + 1 - first


def id_from_column(record: Record, params: Params) -> str:
    """Return the record's value in the id column.

    Raises:
        UnusableValueError: The value is missing or blank.
    """
    text = _text(record.values, params.dataset.id, params.load.max_chars)
    if text is None or not text.strip():
        raise UnusableValueError(f"{params.dataset.id}: no id")
    return text


def id_from_input(shared: SharedValues, numbers: Mapping[bytes, Mapping[bytes, int]], source: Source) -> str:
    """Return the sha256 of the input; records that share it get -2, -3, … by the order of their references' hash.

    numbers: hash of the input → hash of the references → number, for inputs that several records share.
    """
    text, references = _content_key(shared, source)
    number = numbers.get(text, {}).get(references, 1)
    return text.hex() if number == 1 else f"{text.hex()}-{number}"


def question_key(record: Record, source: Source) -> tuple[bytes, bytes] | None:
    """Return what tells the question of a record from others; None for a record that will be rejected."""
    try:
        if source.dataset.id:
            return json_hash(id_from_column(record, source.params)), b""
        return _content_key(shared_values(record, source), source)
    except UnusableValueError:
        return None


def content_of(record: Record, source: Source) -> bytes | None:
    """Return the hash of what all records of a question share; None for a record that will be rejected."""
    try:
        shared = shared_values(record, source)
        return json_hash([_content(shared).hex(), shared.group if source.dataset.has_draws else None, shared.weight])
    except UnusableValueError:
        return None


def shared_values(record: Record, source: Source) -> SharedValues:
    """Return the values that all candidates of the record share.

    Raises:
        UnusableValueError: One of them can't be used, so that no candidate of the record gets a row.
    """
    dataset, values, max_chars = source.dataset, record.values, source.params.load.max_chars
    shared = SharedValues(
        _text(values, dataset.input, max_chars),
        _references(record, source, max_chars),
        _text(values, dataset.group, max_chars),
        _weight(values, dataset.weight),
        {name: _text(values, name, max_chars) for name in dataset.slices},
        _phrases(values, dataset.phrases, max_chars),
        _retrieved(values, dataset.contexts, max_chars),
        _retrieved(values, dataset.relevant, max_chars),
        criteria(values.get(dataset.criteria), dataset.criteria, max_chars) if dataset.criteria else None,
    )
    if dataset.id is None and (shared.input is None or not shared.input.strip()):
        raise UnusableValueError(f"{dataset.input}: no input to make an id of")
    if source.params.load.require_references and not shared.references and not is_missing_sample(record, dataset):
        raise UnusableValueError(f"{dataset.references}: no reference that is not blank")
    return shared


def require_weight(shared: SharedValues, dataset: Dataset) -> None:
    """Reject a record without a weight, if weights are mapped.

    Raises:
        UnusableValueError: There is none.
    """
    if dataset.weight and shared.weight is None:
        raise UnusableValueError(f"{dataset.weight}: no weight; expected a number of 0 or more (dataset.weight)")


def is_missing_sample(record: Record, dataset: Dataset) -> bool:
    """Whether a record says no more than that an answer to the question of its id is missing, as logs have it."""
    answers = [dataset.long] if dataset.long else [*dataset.named.values()]
    if dataset.asked:
        return False
    references = dataset.references.columns if dataset.references else ()
    if dataset.id is None or dataset.input is None or any(getattr(answer, "path", None) for answer in answers):
        return False
    if dataset.references is not None and not references:
        return False
    values = [record.values.get(column) for column in (dataset.input, *references)]
    return not any(values) and all(record.values.get(answer.response) is None for answer in answers)


def candidate_row(
    record: Record, question: str, draw: int | None, shared: SharedValues, answer: Answer, source: Source
) -> dict[str, Any]:
    """Return the row of one answer.

    Args:
        record: Of the question.
        question: Its id.
        draw: Number of the answer among the repeated ones; None: there are none.
        shared: Values of the question.
        answer: The answer.
        source: Settings and joined files.

    Raises:
        UnusableValueError: The candidate's response or one of its scores can't be used.
        UnknownLabelError: The label is neither true nor false.
        DataError: The label's probability is missing or unusable.
    """
    dataset, name = source.dataset, str(answer.candidate)
    if answer.problem is not None:
        raise UnusableValueError(answer.problem)
    response = checked_text(answer.response, answer.columns.response, source.params.load.max_chars)
    label = _label(record, answer, response, source)
    if response is None and dataset.missing_response == "wrong" and not isinstance(answer.columns, AskedCandidate):
        response = ""
    return {
        "id": question if draw is None else f"{question}#{draw}",
        "candidate": name,
        **shared._asdict(),
        **({} if draw is None else {"group": shared.group or question, "question": question, "draw": draw}),
        "response": response,
        "label": None if label.status == STALE else label.value,
        "label_status": None if label.value is None else label.status,
        **({"ratings": None if label.status == STALE else label.ratings} if dataset.has_raters else {}),
        **({PROBABILITY: label.probability} if dataset.labels == "designed" else {}),
        **{f"score_{key}": _score(answer.values, score, name) for key, score in dataset.scores.items()},
        **_score_details(answer.values, dataset, name),
        **{key: _resource(answer.values, key, answer.columns.resources.get(key, ())) for key in dataset.resources},
        "content": _content(shared).hex(),
    }


def label_key(record: Record, answer: Answer, response: str | None, source: Source) -> LabelKey | None:
    """Return what the labels of an answer have in common in a file of labels; None without such a file."""
    given, joined = source.dataset.label_file, source.joined.labels
    if given is None or joined is None:
        return None
    text = bare_text(response) if _is_by_text(source.dataset) and response is not None else None
    return joined.key(row_keys(record, source.dataset)), answer.candidate if given.candidate else None, text


def _is_by_text(dataset: Dataset) -> bool:
    """Whether the answer's text says which of a candidate's answers a label is of, or of which candidate."""
    given = dataset.label_file
    return given is not None and given.response is not None and (given.candidate is None or dataset.has_draws)


class _Label(NamedTuple):
    """The label of an answer, whether it is of this response, the ratings behind it, and the row's probability.

    ratings: None: none. probability: to be chosen for labelling; None: none is stated.
    """

    value: bool | None = None
    status: str | None = None
    ratings: list[bool | None] | None = None
    probability: float | None = None


def _label(record: Record, answer: Answer, response: str | None, source: Source) -> _Label:
    mapping = answer.columns.label
    if source.joined.labels is not None:
        return _label_of_file(record, answer, response, source)
    if mapping is None:
        return _Label()
    entry, place = answer.entry._replace(values=answer.values), f"{answer.place}.label"
    ratings = ratings_of(entry.values, mapping, entry.file, entry.line, place)
    label = majority(ratings)
    status = _label_status(entry.values, answer.columns.labelled, response)
    probability = _probability([entry], mapping, place, is_labelled=label is not None)
    return _Label(label, status, ratings if {True, False} & {*ratings} else None, probability)


def _label_of_file(record: Record, answer: Answer, response: str | None, source: Source) -> _Label:
    given, joined = source.dataset.label_file, source.joined.labels
    key = label_key(record, answer, response, source)
    if given is None or joined is None or key is None:
        return _Label()
    entries = [(entry_key(key[0], entry, source), entry) for entry in joined.of(row_keys(record, source.dataset))]
    is_same, own = _own(key, same_text(response or ""), entries, given)
    ratings = _ratings(own, given)
    every, value = [one for each in ratings for one in each], majority([*map(majority, ratings)])
    probability = _probability(own, given.label, _LABEL_FILE, is_labelled=value is not None)
    label = _Label(value, None, every if {True, False} & {*every} else None, probability)
    if given.response is None:
        return label
    return label._replace(status=CONFIRMED if is_same or _is_by_text(source.dataset) else STALE)


def _probability(entries: Sequence[Entry], mapping: LabelMapping, place: str, *, is_labelled: bool) -> float | None:
    """Return the one probability that the entries of an answer state; None where none is mapped or stated.

    Raises:
        DataError: It can't be used, two entries differ, or there is a label without one.
    """
    if mapping.probability is None:
        return None
    stated: dict[float, Entry] = {}
    for entry in entries:
        probability = probability_of(entry.values, mapping, entry.file, entry.line, place)
        if probability is not None:
            stated.setdefault(probability, entry)
    if len(stated) > 1:
        (first, _), (second, entry) = [*stated.items()][:2]
        raise DataError(
            f"{entry.file}, line {entry.line}: {mapping.probability} is {second:g}, but an earlier label of this "
            f"answer has {first:g}; expected the same ({place}.probability)"
        )
    if is_labelled and not stated:
        raise DataError(
            f"{entries[0].file}, line {entries[0].line}: the answer has a label, but no {mapping.probability} "
            f"({place}.probability); expected the row's probability to be chosen for labelling, above 0 and at most 1"
        )
    return next(iter(stated), None)


def _own(
    key: LabelKey, text: str, entries: Iterable[tuple[LabelKey | None, Entry]], given: LabelFile
) -> tuple[bool, list[Entry]]:
    """Return the labels that count for an answer, and whether they are of its very text.

    Args:
        key: What the answer and its labels have in common.
        text: The answer, as `same_text`.
        entries: The labels of the question, each with its key.
        given: The file of labels.
    """
    own = [entry for of, entry in entries if of == key]
    same = [entry for entry in own if _labels_text(entry, text, given)]
    return bool(same), same or own


def _ratings(entries: Iterable[Entry], given: LabelFile) -> list[list[bool | None]]:
    """Return the ratings of each label."""
    return [ratings_of(entry.values, given.label, entry.file, entry.line, _LABEL_FILE) for entry in entries]


def contradictions(
    answers: Iterable[tuple[LabelKey, str]], entries: Sequence[tuple[LabelKey | None, Entry]], dataset: Dataset
) -> int:
    """Count the answers of a question that as many labels call right as wrong; arguments as of `_own`."""
    given = dataset.label_file
    if given is None:
        return 0
    each = [[*map(majority, _ratings(_own(key, text, entries, given)[1], given))] for key, text in answers]
    return sum(majority(verdicts) is None and True in verdicts for verdicts in each)


def _labels_text(entry: Entry, text: str, given: LabelFile) -> bool:
    """Whether a label is of this answer's text, as far as the file of labels says it."""
    if not given.response:
        return True
    labelled = entry.values.get(given.response)
    return same_text(labelled if isinstance(labelled, str) else "") == text


def entry_key(question: str | None, entry: Entry, source: Source) -> LabelKey | None:
    """Return what an entry of a file of labels has in common with the answers it is of, as `label_key`.

    None if it says neither candidate nor text, though labels are joined by it.
    """
    given = source.dataset.label_file
    if given is None:
        return None
    candidate, text = (entry.values.get(column) if column else None for column in (given.candidate, given.response))
    name = candidate if isinstance(candidate, str) else None
    if not _is_by_text(source.dataset):
        return question, name, None
    return (question, name, bare_text(text)) if isinstance(text, str) else None


def equals(value: Value, wanted: object) -> bool:
    """Compare the source text with a value of `exclude`; a boolean matches any word allowed in a label for it."""
    if isinstance(wanted, bool) and isinstance(value, str):
        return LABELS.get(value.strip().lower()) is wanted
    return value == as_text(wanted)


def _content_key(shared: SharedValues, source: Source) -> tuple[bytes, bytes]:
    # Several records of one question may list its references in different orders.
    references = shared.references if source.is_plain else sorted(set(shared.references))
    return sha256(shared.input or ""), json_hash(references)


def _content(shared: SharedValues) -> bytes:
    listed = [] if shared.criteria is None else [[[one["text"], one["points"]] for one in shared.criteria]]
    return json_hash([shared.input, shared.references, *listed])


def json_hash(value: object) -> bytes:
    """Return the sha256 of a value as canonical JSON."""
    return sha256(CANONICAL_JSON.encode(value))


def _text(values: Mapping[str, Value], column: str | None, max_chars: int) -> str | None:
    return None if column is None else checked_text(values.get(column), column, max_chars)


def _references(record: Record, source: Source, max_chars: int) -> list[str]:
    given, joined = source.dataset.references, source.joined.references
    if given is None:
        return []
    if joined is not None:
        entries = joined.of(row_keys(record, source.dataset))
        pairs = [(str(given.column), entry.values.get(str(given.column))) for entry in entries]
    else:
        pairs = [(column, record.values.get(column)) for column in given.columns]
    separator = source.dataset.reference_separator
    return [text for column, value in pairs for text in texts(_split(value, separator), column, max_chars)]


def _split(value: Value, separator: str | None) -> Value:
    """Return the list that a text prints, or the parts of the text between separators."""
    if not isinstance(value, str):
        return value
    if (listed := _printed_list(value)) is not None:
        return listed
    return [part.strip() for part in value.split(separator)] if separator else value


def _printed_list(text: str) -> Value:
    r"""Read a list of strings as Python, JSON or numpy print it, without its nulls; None for any other text.

    Raises:
        UnusableValueError: numpy left out a part of it.

    >>> _printed_list("['a', 'b']"), _printed_list("['a' 'b']"), _printed_list("[sic]"), _printed_list("['a'] or b")
    (['a', 'b'], ['a', 'b'], None, None)
    """
    bare = text.strip()
    if not bare.startswith("[") or not _PRINTED_LIST.fullmatch(bare):
        return None
    strings = _STRINGS.findall(bare)
    others = _STRINGS.sub("", bare)
    if not strings and others.strip("[] "):
        return None
    if "..." in others:
        raise UnusableValueError(f"{quoted(bare)}: a list of which a part was cut out when it was printed")
    with suppress(ValueError, RecursionError):  # of JSON, whose escapes are others than those of Python
        return list(DECODER.decode(bare))
    try:
        return [ast.literal_eval(string) for string in strings]
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _phrases(values: Mapping[str, Value], column: str | None, max_chars: int) -> list[str] | None:
    """Read a list, a JSON list in a string, or one string; no column gives None, no phrase in it an empty list."""
    if column is None:
        return None
    value = values.get(column)
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):  # not JSON: one phrase that begins with a bracket
            value = as_text(DECODER.decode(value.strip()))
    return texts(value, column, max_chars)


def _retrieved(values: Mapping[str, Value], column: str | None, max_chars: int) -> list[str] | None:
    """Read contexts, or the relevant ones: None where they are not known, an empty list where nothing was retrieved."""
    return None if column is None or values.get(column) is None else _phrases(values, column, max_chars)


def _label_status(values: Mapping[str, Value], column: str | None, response: str | None) -> str | None:
    """Return whether a label is of the response, by the column with the labelled answer or its sha256; None without."""
    if column is None:
        return None
    labelled, answer = values.get(column) or "", response or ""
    same = labelled == answer or (isinstance(labelled, str) and labelled.strip().lower() == sha256(answer).hex())
    return CONFIRMED if same else STALE


def _score_details(values: Mapping[str, Value], dataset: Dataset, candidate: str) -> dict[str, str | None]:
    """Return why scores of a log are missing: one that a sample with an answer does not have was never asked for."""
    columns = {name: dataset.scores[name].columns_of(candidate) for name in dataset.optional_scores}
    answered = values.get(ERROR) is None
    return {
        f"score_{name}_details": NOT_ASKED if answered and not any(column in values for column in own) else None
        for name, own in columns.items()
    }


def _score(values: Mapping[str, Value], score: ScoreMapping, candidate: str) -> float | None:
    """Return a score, or the mean of the grades that people gave; None without any."""
    numbers = [_number(values.get(column), score, column) for column in score.columns_of(candidate)]
    given = [number for number in numbers if number is not None]
    return sum(given) / len(given) if given else None


def _number(value: Value, score: ScoreMapping, column: str) -> float | None:
    if value is None or (score.human and isinstance(value, str) and not value.strip()):
        return None
    number = finite(value)
    if number is None:
        raise UnusableValueError(f"{column}: {quoted(value)} is no number")
    low, high = score.bounds or (number, number)
    if not low <= number <= high:
        raise UnusableValueError(f"{column}: {number:g} is outside the bounds {low:g} to {high:g}")
    return number


def _weight(values: Mapping[str, Value], column: str | None) -> float | None:
    return _amount(values.get(column), column, "weight") if column else None


def _resource(values: Mapping[str, Value], kind: str, columns: Sequence[str]) -> float | None:
    """Return what an answer took, the sum of its columns; None without columns, or where one has no value."""
    amounts = [_amount(values.get(column), column, kind) for column in columns]
    known = [amount for amount in amounts if amount is not None]
    if not known or len(known) < len(amounts):
        return None
    if not isfinite(total := sum(known)):
        raise UnusableValueError(f"{' + '.join(columns)}: the sum is too large")
    return total


def _amount(value: Value, column: str, kind: str) -> float | None:
    if value is None:
        return None
    number = finite(value)
    if number is None or number < 0.0:
        raise UnusableValueError(f"{column}: {quoted(value)} is no {kind}; expected a number of 0 or more")
    return number + 0.0  # -0 is 0
