"""The answers in a record of the questions: of each candidate, from the record itself or a joined file."""

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

from tasks.dataset.joined import Entry, Joined, JoinedFiles, questions, row_keys
from tasks.dataset.paths import flat, outermost
from tasks.dataset.settings import CandidateMapping, Dataset, LongCandidates, Params
from tasks.dataset.sources import Record, Records, Value
from tasks.dataset.texts import UnusableValueError, checked_text

Columns: TypeAlias = "CandidateMapping | LongCandidates"

# Digits of the number of a draw: it is stored in 64 bits.
LONGEST_NUMBER = 18
# Characters of the name of a candidate in a long table.
LONGEST_NAME = 200


class Answer(NamedTuple):
    """One answer of a candidate to the question of a record.

    Attributes:
        candidate: Its name; None if the record names none.
        entry: The record that holds the answer.
        values: The columns of the answer's record, then those of the question's.
        response: As its column holds it; an item, if the column holds a list of repeated answers.
        draw: Number of the answer among the repeated ones; None if a column or the order of records says it.
        columns: The mapping of the candidate.
        place: The option of params.yaml with this mapping.
        problem: Why the answer can't be used; None if it can.
    """

    candidate: str | None
    entry: Entry
    values: Mapping[str, Value]
    response: Value
    draw: int | None
    columns: Columns
    place: str
    problem: str | None = None


@dataclass(frozen=True)
class Source:
    """The settings and joined files that turn records into rows."""

    params: Params
    joined: JoinedFiles

    @property
    def dataset(self) -> Dataset:
        """Section `dataset`."""
        return self.params.dataset

    @property
    def is_plain(self) -> bool:
        """Whether a record of the questions is all that its id stands for, as in the wide form without draws."""
        return self.dataset.long is None and self.dataset.draw is None

    @cached_property
    def _wide(self) -> list[tuple[str, CandidateMapping, Joined | None, str]]:
        places = ((name, f"dataset.candidates.{name}") for name in self.dataset.named)
        return [(name, self.dataset.named[name], self.joined.candidates.get(name), place) for name, place in places]

    def answers(self, record: Record, *, is_first: bool = True) -> Iterator[Answer]:
        """Yield the answers to the question of a record.

        is_first: Whether it is the first record of its question; a later one has no answers of joined files.
        """
        own = Entry(record.file, record.line, record.values)
        if self.dataset.long:
            candidate = candidate_name(record, self.dataset)
            yield from self._listed(candidate, own, record.values, self.dataset.long, "dataset.candidates", None)
            return
        for name, columns, joined, place in self._wide:
            if joined is None:
                yield from self._listed(name, own, record.values, columns, place, None)
            elif is_first:
                yield from self._joined(name, joined, columns, place, record)

    def _joined(
        self, name: str, joined: Joined, columns: CandidateMapping, place: str, record: Record
    ) -> Iterator[Answer]:
        entries = joined.of(row_keys(record, self.dataset))
        # A label of the questions' file is not of an answer of this one.
        others = {key: value for key, value in record.values.items() if key not in joined.columns}
        if not entries:
            draw = 1 if self.dataset.has_draws else None
            yield Answer(name, Entry(record.file, record.line, {}), others, None, draw, columns, place)
            return
        if joined.is_asked:
            for number, entry in enumerate(entries, 1):
                values, draw = ChainMap(dict(entry.values), others), number if self.dataset.has_draws else None
                yield Answer(name, entry, values, entry.values.get(columns.response), draw, columns, place)
            return
        by_order = self.dataset.draw is True
        for number, entry in enumerate(divided(entries, self.dataset)[0], 1):
            values = ChainMap(dict(entry.values), others)
            yield from self._listed(name, entry, values, columns, place, number if by_order else None)

    def _listed(
        self,
        name: str | None,
        entry: Entry,
        values: Mapping[str, Value],
        columns: Columns,
        place: str,
        draw: int | None,
    ) -> Iterator[Answer]:
        """Yield the answer, or as many as its column lists."""
        response, lists = entry.values.get(columns.response), self.dataset.lists
        if lists == "draws":
            items = (response if isinstance(response, list) else [response]) or [None]
            of_answers = [*_of_answers(columns, name, self.dataset)]
            for number, item in enumerate(items, 1):
                own, problem = _of_item(values, of_answers, number, len(items))
                yield Answer(name, entry, own, item, number, columns, place, problem)
            return
        if isinstance(response, list) and lists == "first":
            response = response[0] if response else None
        elif isinstance(response, list) and lists == "join" and all(isinstance(each, str | None) for each in response):
            texts = [each for each in response if isinstance(each, str)]
            response = "\n".join(texts) if texts else None
        yield Answer(name, entry, values, response, draw, columns, place)


def _of_answers(columns: Columns, name: str | None, dataset: Dataset) -> Iterator[str]:
    """Yield the columns whose values are of an answer, not of the question: labels, scores and what it took."""
    yield from columns.label.mapped if columns.label else ()
    yield from [columns.labelled] if columns.labelled else []
    yield from (column for score in dataset.scores.values() for column in score.columns_of(str(name)))
    yield from (column for of_kind in columns.resources.values() for column in of_kind)


def _of_item(
    values: Mapping[str, Value], columns: Iterable[str], number: int, of: int
) -> tuple[Mapping[str, Value], str | None]:
    """Return the values of one answer of a list, and why there are none: a label or score for several answers."""
    own: dict[str, Value] = {}
    for column in columns:
        value = values.get(column)
        if isinstance(value, list) and len(value) == of:
            own[column] = value[number - 1]
        elif value is not None and (of > 1 or isinstance(value, list)):
            given = f"a list of {len(value)}" if isinstance(value, list) else "one value"
            return values, f"{column}: {given} for {of} answers of a list; expected a list with one value for each"
    return (ChainMap(own, dict(values)) if own else values), None


def candidate_name(record: Record, dataset: Dataset) -> str | None:
    """Return the name of the candidate in a record of the long form; None without one that can be used."""
    if dataset.long is None:
        return None
    try:
        return _candidate_name(record, dataset.long.column)
    except UnusableValueError:
        return None


def require_candidate(record: Record, dataset: Dataset) -> None:
    """Reject a record of the long form whose candidate has no usable name.

    Raises:
        UnusableValueError: The name is missing, or can't be used.
    """
    if dataset.long is not None:
        _candidate_name(record, dataset.long.column)


def _candidate_name(record: Record, column: str) -> str:
    name = checked_text(record.values.get(column), column, LONGEST_NAME, "200 is the longest name")
    if name is None or not name.strip():
        raise UnusableValueError(f"{column}: no candidate")
    return name


def raw_draw(values: Mapping[str, Value], dataset: Dataset) -> int | None:
    """Return the number in the column of draws; None without a usable one."""
    value = values.get(dataset.draw) if isinstance(dataset.draw, str) else None
    text = value.strip().removesuffix(".0") if isinstance(value, str) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < LONGEST_NUMBER else None


def divided(entries: Sequence[Entry], dataset: Dataset) -> tuple[list[Entry], list[Entry]]:
    """Divide a candidate's entries for one question into its answers, and those that repeat one of them."""
    if dataset.draw is True:
        return [*entries], []
    if dataset.draw is None:
        return [*entries[:1]], [*entries[1:]]
    answers: list[Entry] = []
    repeated: list[Entry] = []
    seen: set[int] = set()
    for entry in entries:
        number = raw_draw(entry.values, dataset)
        (repeated if number in seen else answers).append(entry)
        if number is not None:
            seen.add(number)
    return answers, repeated


def with_columns(records: Iterable[Record], source: Source) -> Iterable[Record]:
    """Make each mapped path a column of the records.

    Raises:
        DataError: A mapped column or path is in no record.
    """
    wanted: dict[str, str] = {}
    for column, place in _mapped(source):
        wanted.setdefault(column, place)
    return flat(records, wanted)


def mapped_columns(params: Params) -> dict[str, str]:
    """Return each column of the mapping, as if no file were joined, with its path in params.yaml."""
    columns: dict[str, str] = {}
    for column, place in _mapped(Source(params, JoinedFiles({}, None, None))):
        columns.setdefault(column, place)
    return columns


def opened(params: Params) -> Records:
    """Open the files of the questions, of which only the mapped columns are read.

    Raises:
        DataError: As `joined.questions`.
    """
    found, dataset = questions(params), params.dataset
    if dataset.long and any(score.is_by_candidate for score in dataset.scores.values()):
        return found  # the names of these columns are known with the candidates
    return replace(found, columns=outermost(mapped_columns(params)))


def _mapped(source: Source) -> Iterator[tuple[str, str]]:
    """Yield each column of the mapping with its path in params.yaml."""
    dataset = source.dataset
    yield from _named(dataset, "id", "input")
    yield from ((column, "dataset.references") for column in (dataset.references.columns if dataset.references else ()))
    yield from _named(dataset, "group", "weight", "phrases", "contexts", "relevant", "criteria")
    yield from ((column, "dataset.slices") for column in dataset.slices)
    yield from ((column, "dataset.exclude") for column in dataset.exclude)
    if isinstance(dataset.draw, str) and (dataset.long or len(source.joined.candidates) < len(dataset.named)):
        yield dataset.draw, "dataset.draw"
    if dataset.long:
        yield dataset.long.column, "dataset.candidates.column"
        yield from _answer_columns(dataset.long, "dataset.candidates", frozenset())
        shared = {key: score for key, score in dataset.scores.items() if not score.is_by_candidate}
        yield from ((column, f"dataset.scores.{key}") for key, score in shared.items() for column in score.all_columns)
    for name, candidate in dataset.named.items():
        joined = source.joined.candidates.get(name)
        elsewhere = joined.columns if joined else frozenset()
        yield from _answer_columns(candidate, f"dataset.candidates.{name}", elsewhere)
        scores = (
            (column, f"dataset.scores.{key}")
            for key, score in dataset.scores.items()
            for column in score.columns_of(name)
        )
        yield from ((column, place) for column, place in scores if column not in elsewhere)


def _named(dataset: Dataset, *options: str) -> Iterator[tuple[str, str]]:
    for option in options:
        if column := getattr(dataset, option):
            yield column, f"dataset.{option}"


def _answer_columns(columns: Columns, place: str, elsewhere: frozenset[str]) -> Iterator[tuple[str, str]]:
    named = [
        (columns.response, f"{place}.response"),
        *((column, f"{place}.label") for column in (columns.label.mapped if columns.label else ())),
        *([(columns.labelled, f"{place}.labelled")] if columns.labelled else []),
        *((column, f"{place}.{kind}") for kind, of_kind in columns.resources.items() for column in of_kind),
    ]
    yield from (one for one in named if one[0] not in elsewhere)
