"""Map a batch of records to rows by the columns in params.yaml; what needs all records is decided in `index`."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from goldmeter.dataset.answers import Answers, Questions, Source, answers, raw_draws, wanted_columns
from goldmeter.dataset.choices import option, options_of
from goldmeter.dataset.columns import Columns, Presence, Problems, each, hashes, lists_of, mask, texts_of
from goldmeter.dataset.corrections import Correction, corrected
from goldmeter.dataset.criteria import StatedCriterion, criteria
from goldmeter.dataset.labels import LABELS, LabelFault, LabelUse, labels, machine_verdicts
from goldmeter.dataset.paths import quoted
from goldmeter.dataset.printed_lists import printed_list
from goldmeter.dataset.record import Chunk, Value, as_text
from goldmeter.dataset.settings import AskedCandidate, Dataset, ScoreMapping
from goldmeter.dataset.sources import DECODER
from goldmeter.dataset.texts import UnusableValueError, finite, texts
from goldmeter.dataset.thoughts import NO_THOUGHTS, ThoughtCounts, without_thoughts
from goldmeter.errors import DataError
from goldmeter.estimates.column_facts import PROBABILITY, WEIGHT
from goldmeter.pipeline.hashing import sha256

# In a log: the column that says why a sample has no answer, and the detail of a score that a sample does not have.
ERROR, NOT_ASKED = "error", '{"unmeasured": "not applicable"}'
CANONICAL_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
# Whether the answer is right, by each rater in the order of the columns; null elements: not rated.
RATINGS = pa.list_(pa.bool_())
CRITERIA = pa.list_(pa.struct({"text": pa.string(), "points": pa.float64()}))
TEXTS = pa.list_(pa.string())
NO_DRAW = -1


class Keys(NamedTuple):
    """What tells n records from others.

    Attributes:
        ids: Hashes of the ids, or of the inputs that ids are made of, shape (n, 2), uint64.
        references: Hashes of the references where ids are made of inputs, else 0; shape (n, 2), uint64.
        is_usable: Records that have an id, shape (n,).
        content: Hashes of what all records of a question share, shape (n, 2), uint64.
        has_content: Records whose question can be used, shape (n,).
        is_missing: Records that only say that an answer is missing, shape (n,).
        draws: The column of draws, NO_DRAW without a number, shape (n,), int64.
    """

    ids: NDArray[np.uint64]
    references: NDArray[np.uint64]
    is_usable: NDArray[np.bool_]
    content: NDArray[np.uint64]
    has_content: NDArray[np.bool_]
    is_missing: NDArray[np.bool_]
    draws: NDArray[np.int64]


class Place(NamedTuple):
    """All records of a batch: their files and lines, and the hashes of the ids and inputs that files are joined by."""

    files: Sequence[str]
    lines: Sequence[int]
    ids: NDArray[np.uint64]
    inputs: NDArray[np.uint64]
    has_input: NDArray[np.bool_]


class Mapped(NamedTuple):
    """A batch of records as columns.

    Attributes:
        questions: One row a selected record.
        answers: One row an answer, by record and candidate.
        rows: The record of each answer, shape (answers,).
        names: The candidate of each record, in the long form.
        beyond: Candidates of records behind the limit → number of these.
        keys: What tells the records from others.
        selected: Numbers of the selected records in the batch.
        places: All records of the batch.
        presence: Which mapped columns are there.
        faults: Labels that can't be read.
        uses: What became of the labels of a file.
        thoughts: Those in answers.
        corrections: Those that apply, and those that are of other references than their question has.
        error: Why no record follows; None if one may.
    """

    questions: pa.RecordBatch
    answers: pa.RecordBatch
    rows: NDArray[np.int64]
    names: Sequence[str | None]
    beyond: Counter[str]
    keys: Keys
    selected: NDArray[np.int64]
    places: Place
    presence: Presence
    faults: Sequence[LabelFault]
    uses: LabelUse
    thoughts: ThoughtCounts
    corrections: tuple[set[Correction], set[Correction]]
    error: DataError | None


def mapped(chunk: Chunk, source: Source, most: int | None) -> Mapped:
    """Map a batch; at most so many records are selected."""
    batch = chunk()
    dataset = source.dataset
    every = Questions(batch.files, batch.lines, Columns(batch.rows), dataset)
    corrections = (set[Correction](), set[Correction]())
    selected = _selected(every, source, *corrections)
    wanted, beyond = selected[:most], selected[len(selected) if most is None else most :]
    questions = every.take(wanted.tolist())
    shared, reasons = _shared(questions, source)
    found = [_mapped_answers(one, source) for one in answers(questions, source)]
    rows = np.concatenate([one.rows for one in found])
    order = np.argsort(rows, kind="stable")
    table = pa.Table.from_batches([one.table for one in found]).combine_chunks()
    table = table if (np.diff(rows) >= 0).all() else table.take(pa.array(order))
    places = np.empty(len(rows), np.int64)
    places[order] = np.arange(len(rows))
    first = np.cumsum([0, *(len(one.rows) for one in found)])
    faults = [
        fault._replace(answer=int(places[begin + fault.answer]))
        for begin, one in zip(first.tolist(), found, strict=False)
        for fault in one.faults
    ]
    return Mapped(
        _question_table(questions, shared, reasons, dataset),
        table.to_batches()[0] if len(rows) else pa.RecordBatch.from_pylist([], table.schema),
        rows[order],
        questions.names,
        Counter(name for row in beyond.tolist() if (name := every.names[row]) is not None),
        _keys(questions, shared, reasons, source),
        wanted,
        _places(every, source),
        every.columns.presence(wanted_columns(source)),
        sorted(faults, key=lambda fault: fault.answer),
        LabelUse.of([one.uses for one in found]),
        sum((one.thoughts for one in found), NO_THOUGHTS),
        corrections,
        batch.error,
    )


def _places(every: Questions, source: Source) -> Place:
    if source.joined.any:
        return Place(every.files, every.lines, every.id_hashes, every.input_hashes, every.has_input)
    none = np.zeros((0, 2), np.uint64)
    return Place(every.files, every.lines, none, none, np.zeros(0, np.bool_))


def _selected(every: Questions, source: Source, applied: set[Correction], stale: set[Correction]) -> NDArray[np.int64]:
    """Return the records of chosen candidates that neither `exclude` matches nor a correction leaves out.

    Adds to the corrections that apply, and to those that are of other references.
    """
    dataset = source.dataset
    is_wanted = np.ones(len(every), np.bool_)
    for column, value in dataset.exclude.items():
        is_wanted &= ~np.array([equals(found, value) for found in every.columns[column]], np.bool_)
    if dataset.long and dataset.long.only:
        is_wanted &= np.array([name in dataset.long.only for name in every.names], np.bool_)
    if source.joined.corrections:
        found = _corrected(every, source, {})
        is_wanted &= np.array([one is not None for one, _ in found], np.bool_)
        for key, (_, left) in zip(every.keys, found, strict=True):
            stale.update(left)
            applied.update(one for one in source.joined.corrections.get(key or "", ()) if one not in left)
    return np.flatnonzero(is_wanted)


class Reasons(NamedTuple):
    """Why records can't be used: for their id, for anything else of the question, or for want of a weight."""

    ids: Problems
    shared: Problems
    weights: Problems


def _shared(questions: Questions, source: Source) -> tuple[dict[str, Any], Reasons]:
    """Return the columns of what all answers to a question share, and which records can't be used, and why."""
    dataset, columns, max_chars = source.dataset, questions.columns, source.params.load.max_chars
    none = [None] * len(questions)
    reasons = Reasons({}, {}, {})

    def text(column: str | None, problems: Problems = reasons.shared) -> Sequence[str | None]:
        return none if column is None else texts_of(columns[column], column, max_chars, problems)

    def read(option: str, function: Callable[..., Any]) -> Sequence[Any]:
        column = getattr(dataset, option)
        own = partial(function, column=column, max_chars=max_chars)
        return none if column is None else each(columns[column], own, reasons.shared)

    shared: dict[str, Any] = {"id": text(dataset.id, reasons.ids)}
    shared["input"] = text(dataset.input)
    shared["references"] = [one or [] for one in _references(questions, source, reasons.shared)]
    shared["group"] = text(dataset.group)
    shared[WEIGHT] = read("weight", _weight)
    slices = [text(name) for name in dataset.slices]
    shared["slices"] = [dict(zip(dataset.slices, values, strict=True)) for values in zip(*slices, strict=True)]
    shared["phrases"] = read("phrases", _phrases)
    if dataset.choices:
        shared["phrases"] = [*map(options_of, questions.columns[dataset.choices])]
    shared["contexts"], shared["relevant"] = read("contexts", _retrieved), read("relevant", _retrieved)
    shared["criteria"] = read("criteria", criteria)
    shared["is_missing"] = _are_missing_samples(questions, dataset)
    _require(shared, reasons, source)
    bad = reasons.ids.keys() | reasons.shared.keys()
    contents = zip(shared["input"], shared["references"], shared["criteria"], strict=True)
    shared["content"] = [None if row in bad else _content(*content) for row, content in enumerate(contents)]
    return shared, reasons


def _require(shared: Mapping[str, Any], reasons: Reasons, source: Source) -> None:
    """Note the records without an id, an input to make one of, references or a weight."""
    dataset = source.dataset
    key, of = ("id", reasons.ids) if dataset.id else ("input", reasons.shared)
    no_key = f"{dataset.id}: no id" if dataset.id else f"{dataset.input}: no input to make an id of"
    for row, value in enumerate(shared[key]):
        if value is None or not value.strip():
            of.setdefault(row, no_key)
    if source.params.load.require_references:
        for row, references in enumerate(shared["references"]):
            if not references and not shared["is_missing"][row]:
                reasons.shared.setdefault(row, f"{dataset.references}: no reference that is not blank")
    if dataset.weight:
        reason = f"{dataset.weight}: no weight; expected a number of 0 or more (dataset.weight)"
        reasons.weights.update((row, reason) for row, weight in enumerate(shared[WEIGHT]) if weight is None)


def _references(questions: Questions, source: Source, problems: Problems) -> list[list[str] | None]:
    """Return the references of each question as people corrected them; None: a correction leaves it out."""
    if not source.joined.corrections:
        return [*_own_references(questions, source, problems)]
    return [one for one, _ in _corrected(questions, source, problems)]


def _corrected(
    questions: Questions, source: Source, problems: Problems
) -> list[tuple[list[str] | None, list[Correction]]]:
    """Return `corrected` of each question."""
    own, corrections = _own_references(questions, source, problems), source.joined.corrections
    return [corrected(one, corrections.get(key or "", ())) for one, key in zip(own, questions.keys, strict=True)]


def _own_references(questions: Questions, source: Source, problems: Problems) -> list[list[str]]:
    given, joined, max_chars = source.dataset.references, source.joined.references, source.params.load.max_chars
    if given is None:
        return [[] for _ in range(len(questions))]
    separator = source.dataset.reference_separator

    def read(value: Value, column: str) -> list[str]:
        return texts(_split(value, separator), column, max_chars)

    if choices := source.dataset.choices:
        (column,), first = given.columns, source.dataset.choices_from
        both: Any = [*zip(questions.columns[column], questions.columns[choices], strict=True)]
        mean: Any = lambda pair: option(pair[0], pair[1], first, column, max_chars)  # noqa: E731
        return [one or [] for one in each(both, mean, problems)]
    if joined is None:
        found = [
            lists_of(questions.columns[column], partial(read, column=column), max_chars, problems)
            for column in given.columns
        ]
        return found[0] if len(found) == 1 else [[*chain(*lists)] for lists in zip(*found, strict=True)]
    column = str(given.column)
    values: Any = questions.entries(joined)
    function = lambda entries: [text for one in entries for text in read(one.values.get(column), column)]  # noqa: E731
    return [one or [] for one in each(values, function, problems)]


def _are_missing_samples(questions: Questions, dataset: Dataset) -> list[bool]:
    """Return which records say no more than that an answer to the question of their id is missing, as logs have it."""
    mappings = [dataset.long] if dataset.long else [*dataset.named.values()]
    references = dataset.references.columns if dataset.references else ()
    can_be = not dataset.asked and dataset.id is not None and dataset.input is not None
    if any(getattr(one, "path", None) for one in mappings) or (dataset.references is not None and not references):
        can_be = False
    if not can_be:
        return [False] * len(questions)
    values = zip(*(questions.columns[column] for column in (dataset.input or "", *references)), strict=True)
    responses = zip(*(questions.columns[one.response] for one in mappings), strict=True)
    return [
        not any(asked) and not any(one is not None for one in of) for asked, of in zip(values, responses, strict=True)
    ]


def _question_table(
    questions: Questions, shared: Mapping[str, Any], reasons: Reasons, dataset: Dataset
) -> pa.RecordBatch:
    every = range(len(questions))
    why = {"id": reasons.ids, "shared": reasons.shared, "weight": reasons.weights, "name": questions.unnamed}
    columns = {
        **{name: values for name, values in shared.items() if name != "is_missing"},
        "file": questions.files,
        "line": questions.lines,
        "candidate": questions.names,
        **{f"reason_{name}": [*map(of.get, every)] if of else [None] * len(questions) for name, of in why.items()},
    }
    if dataset.id is None:
        columns["id"] = [None if text is None else sha256(text).hex() for text in shared["input"]]
    schema = question_schema(dataset)
    arrays = [pa.array(columns[name], schema.field(name).type) for name in schema.names]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def question_schema(dataset: Dataset) -> pa.Schema:
    """Return the schema of the questions of a batch."""
    slices = pa.struct([(name, pa.string()) for name in dataset.slices])
    return pa.schema(
        {
            **dict.fromkeys(["file", "id", "candidate", "input", "group", "content"], pa.string()),
            "line": pa.int64(),
            "references": TEXTS,
            **({WEIGHT: pa.float64()} if dataset.weight else {}),
            **({"slices": slices} if dataset.slices else {}),
            "phrases": TEXTS,
            **{name: TEXTS for name in ("contexts", "relevant") if getattr(dataset, name)},
            **({"criteria": CRITERIA} if dataset.criteria else {}),
            **{f"reason_{name}": pa.string() for name in ("id", "shared", "weight", "name")},
        }
    )


def answer_schema(dataset: Dataset) -> pa.Schema:
    """Return the schema of the answers of a batch."""
    return pa.schema(
        {
            **dict.fromkeys(["file", "candidate", "response", "label_status", "reason"], pa.string()),
            **dict.fromkeys(["line", "draw", "raw_draw"], pa.int64()),
            "label": pa.bool_(),
            "is_contradicted": pa.bool_(),
            **({PROBABILITY: pa.float64()} if dataset.labels == "designed" else {}),
            **({"ratings": RATINGS} if dataset.has_raters else {}),
            **{f"score_{name}": pa.float64() for name in (*dataset.scores, *dataset.machine_verdicts)},
            **{f"score_{name}_details": pa.string() for name in dataset.optional_scores},
            **dict.fromkeys(dataset.resources, pa.float64()),
        }
    )


class _MappedAnswers(NamedTuple):
    """The answers of one candidate: their columns, the record of each, and what is said of labels and thoughts."""

    table: pa.RecordBatch
    rows: NDArray[np.int64]
    faults: Sequence[LabelFault]
    uses: LabelUse
    thoughts: ThoughtCounts


def _mapped_answers(one: Answers, source: Source) -> _MappedAnswers:
    dataset, max_chars, none = source.dataset, source.params.load.max_chars, [None] * len(one)
    problems: Problems = {}
    raw = raw_draws(one[dataset.draw]) if isinstance(dataset.draw, str) else none
    if isinstance(dataset.draw, str):
        for row, (number, draw) in enumerate(zip(raw, one.draws, strict=True)):
            if number is None and draw is None:
                reason = f"{dataset.draw}: {quoted(one[dataset.draw][row])} is no whole number"
                problems.setdefault(row, reason)
    for row, reason in one.problems.items():
        problems.setdefault(row, reason)
    given = texts_of(one.responses, one.mapping.response, max_chars, problems)
    said = without_thoughts(given, one.names, dataset.thoughts, one.mapping.response, problems)
    responses, one = said.responses, one if said.responses is given else replace(one, responses=said.responses)
    found = labels(one, responses, problems, source)
    if dataset.missing_response == "wrong" and not isinstance(one.mapping, AskedCandidate):
        # Nobody knows what an answer that ends within a thought would have said.
        responses = ["" if one is None and row not in said.cut else one for row, one in enumerate(responses)]
    columns: dict[str, Any] = {
        "file": one.files,
        "line": one.lines,
        "candidate": one.names,
        "response": responses,
        "draw": one.draws,
        "raw_draw": raw,
        **found.columns,
    }
    for key, score in dataset.scores.items():
        columns[f"score_{key}"] = _scores(one, score, problems)
    faults = [*found.faults]
    verdicts = machine_verdicts(one, responses, problems, faults)
    for key in dataset.machine_verdicts:
        columns[f"score_{key}"] = verdicts.get(key, none)
    columns |= _score_details(one, dataset)
    for kind in dataset.resources:
        columns[kind] = _resources(one, kind, one.mapping.resources.get(kind, ()), problems)
    columns["reason"] = [*map(problems.get, range(len(one)))]
    schema = answer_schema(dataset)
    arrays = [pa.array(columns[name], schema.field(name).type) for name in schema.names]
    batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
    return _MappedAnswers(batch, one.rows, faults, found.uses, said.counts)


def _keys(questions: Questions, shared: Mapping[str, Any], reasons: Reasons, source: Source) -> Keys:
    dataset, rows = source.dataset, len(questions)
    has_content = ~mask(reasons.ids.keys() | reasons.shared.keys(), rows)
    none = np.zeros((rows, 2), np.uint64)
    if dataset.id:
        ids, references, is_usable = hashes(_without(shared["id"], reasons.ids)), none, ~mask(reasons.ids, rows)
    else:
        ids, is_usable = hashes(_without(shared["input"], reasons.shared)), has_content
        # Several records of one question may list its references in different orders.
        listed = shared["references"] if source.is_plain else [sorted(set(one)) for one in shared["references"]]
        references = hashes(None if row in reasons.shared else orjson.dumps(one) for row, one in enumerate(listed))
    content = none
    if dataset.id and not source.is_plain:
        groups = shared["group"] if dataset.has_draws else [None] * rows
        content = hashes(
            text and f"{text} {weight!r} {group!r}"
            for text, group, weight in zip(shared["content"], groups, shared[WEIGHT], strict=True)
        )
    draws = np.full(rows, NO_DRAW, np.int64)
    if isinstance(dataset.draw, str):
        raw = raw_draws(questions.columns[dataset.draw])
        draws = np.array([NO_DRAW if number is None else number for number in raw], np.int64)
    is_missing = np.array(shared["is_missing"], np.bool_)
    return Keys(ids, references, is_usable, content, has_content, is_missing, draws)


def _without(values: Sequence[str | None], problems: Problems) -> Iterator[str | None]:
    return (None if row in problems else value for row, value in enumerate(values))


def equals(value: Value, wanted: object) -> bool:
    """Compare the source text with a value of `exclude`; a boolean matches any word allowed in a label for it."""
    if isinstance(wanted, bool) and isinstance(value, str):
        return LABELS.get(value.strip().lower()) is wanted
    return value == as_text(wanted)


def _content(input_: str | None, references: Sequence[str], stated: Sequence[StatedCriterion] | None) -> str:
    """Return the hash of what is asked, as canonical JSON; orjson writes texts in it in the same way, not numbers."""
    if stated is None:
        return sha256(orjson.dumps([input_, references])).hex()
    listed = [[one["text"], one["points"]] for one in stated]
    return sha256(CANONICAL_JSON.encode([input_, references, listed])).hex()


def _split(value: Value, separator: str | None) -> Value:
    """Return the list that a text prints, or the parts of the text between separators."""
    if not isinstance(value, str):
        return value
    if (listed := printed_list(value)) is not None:
        return listed
    return [part.strip() for part in value.split(separator)] if separator else value


def _phrases(value: Value, column: str, max_chars: int) -> list[str]:
    """Read a list, a list that a string prints as JSON or Python, or one string; null gives an empty list."""
    if isinstance(value, str) and (listed := printed_list(value)) is not None:
        return texts(listed, column, max_chars)
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):  # not JSON: one phrase that begins with a bracket
            value = as_text(DECODER.decode(value.strip()))
    return texts(value, column, max_chars)


def _retrieved(value: Value, column: str, max_chars: int) -> list[str] | None:
    """Read contexts, or the relevant ones: None where they are not known, an empty list where nothing was retrieved."""
    return None if value is None else _phrases(value, column, max_chars)


def _score_details(one: Answers, dataset: Dataset) -> dict[str, list[str | None]]:
    """Return why scores of a log are missing: one that a sample with an answer does not have was never asked for."""
    rows = one.rows.tolist() if dataset.optional_scores else []
    records = [one.questions.columns.rows[row] for row in rows]
    found: dict[str, list[str | None]] = {}
    for name in dataset.optional_scores:
        columns = {of: dataset.scores[name].columns_of(str(of)) for of in dict.fromkeys(one.names)}
        found[f"score_{name}_details"] = [
            NOT_ASKED
            if record.get(ERROR) is None and not any(column in record or column in one.own for column in columns[of])
            else None
            for record, of in zip(records, one.names, strict=True)
        ]
    return found


def _scores(one: Answers, score: ScoreMapping, problems: Problems) -> list[float | None]:
    """Return scores, or the means of the grades that people gave; None without any."""
    if score.is_by_candidate and len(set(one.names)) > 1:
        found: list[float | None] = [None] * len(one)
        for name in dict.fromkeys(one.names):
            own: Problems = {}
            numbers = _scores_of(one, score, name, own)
            for row in (row for row, of in enumerate(one.names) if of == name):
                found[row] = numbers[row]
                if row in own:
                    problems.setdefault(row, own[row])
        return found
    return _scores_of(one, score, one.names[0] if len(one) else None, problems)


def _scores_of(one: Answers, score: ScoreMapping, name: str | None, problems: Problems) -> list[float | None]:
    columns = [
        each(one[column], partial(_number, score=score, column=column), problems)
        for column in score.columns_of(str(name))
    ]
    return columns[0] if len(columns) == 1 else [*map(_mean, zip(*columns, strict=True))]


def _mean(numbers: Sequence[float | None]) -> float | None:
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


def _resources(one: Answers, kind: str, columns: Sequence[str], problems: Problems) -> list[float | None]:
    """Return what answers took, the sum of their columns; None without columns, or where one has no value."""
    if not columns:
        return [None] * len(one)
    amounts = [each(one[column], partial(_amount, column=column, kind=kind), problems) for column in columns]
    if len(amounts) == 1:
        return amounts[0]
    rows: Any = [*zip(*amounts, strict=True)]
    return each(rows, lambda row: _sum(row, columns), problems)


def _sum(amounts: Any, columns: Sequence[str]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    if len(known) < len(amounts):
        return None
    if not isfinite(total := float(sum(known))):
        raise UnusableValueError(f"{' + '.join(columns)}: the sum is too large")
    return total


def _weight(value: Value, column: str, max_chars: int) -> float | None:  # noqa: ARG001 (of every reader)
    return _amount(value, column, "weight")


def _amount(value: Value, column: str, kind: str) -> float | None:
    if value is None:
        return None
    number = finite(value)
    if number is None or number < 0.0:
        raise UnusableValueError(f"{column}: {quoted(value)} is no {kind}; expected a number of 0 or more")
    return number + 0.0  # -0 is 0
