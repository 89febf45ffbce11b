"""The answers to the questions of a batch: of each candidate, from the records themselves or a joined file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from goldmeter.dataset.columns import Columns, Problems, hashes, texts_of
from goldmeter.dataset.joined import Entry, Joined, JoinedFiles, joined_keys, questions
from goldmeter.dataset.paths import outermost
from goldmeter.dataset.record import Value
from goldmeter.dataset.settings import CandidateMapping, Dataset, LongCandidates, Params
from goldmeter.dataset.sources import Records

AnswerMapping: TypeAlias = "CandidateMapping | LongCandidates"

# Digits of the number of a draw: it is stored in 64 bits.
LONGEST_NUMBER = 18
# Characters of the name of a candidate in a long table.
LONGEST_NAME = 200


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


class Questions:
    """The selected records of a batch.

    Attributes:
        files: The file of each.
        lines: The line of each.
        columns: Their values.
        names: The candidate of each, in the long form; null without a usable name.
        unnamed: Records without one, and why.
    """

    def __init__(self, files: Sequence[str], lines: Sequence[int], columns: Columns, dataset: Dataset) -> None:
        self.files, self.lines, self.columns, self.dataset = files, lines, columns, dataset
        self.unnamed: Problems = {}
        self.names = _names(columns, dataset, self.unnamed)

    def __len__(self) -> int:
        return len(self.columns)

    def take(self, rows: Sequence[int]) -> "Questions":
        """Return some of the records."""
        if len(rows) == len(self):
            return self
        files, lines = [self.files[row] for row in rows], [self.lines[row] for row in rows]
        return Questions(files, lines, self.columns.take(rows), self.dataset)

    @cached_property
    def _ids(self) -> list[str | None]:
        return joined_keys(self.columns[self.dataset.id], "id") if self.dataset.id else [None] * len(self)

    @cached_property
    def _inputs(self) -> list[str | None]:
        return joined_keys(self.columns[self.dataset.input], "input") if self.dataset.input else [None] * len(self)

    @property
    def keys(self) -> list[str | None]:
        """What tells the questions apart: ids, or inputs where the data have no ids; null without it."""
        return self._ids if self.dataset.id else self._inputs

    @cached_property
    def id_hashes(self) -> NDArray[np.uint64]:
        """Hashes of the ids, shape (n, 2), uint64."""
        return hashes(self._ids)

    @cached_property
    def input_hashes(self) -> NDArray[np.uint64]:
        """Hashes of the inputs, as entries are joined by them, shape (n, 2), uint64."""
        return hashes(self._inputs)

    @cached_property
    def has_input(self) -> NDArray[np.bool_]:
        """Which have an input, shape (n,)."""
        return np.array([text is not None for text in self._inputs], np.bool_)

    def entries(self, one: Joined) -> list[list[Entry]]:
        """Return the entries of each in a joined file, without those that name another question."""
        rows, numbers = one.entries.find(self.id_hashes if one.by == "id" else self.input_hashes)
        is_asked = one.entries.asks(numbers, self.input_hashes[rows], self.has_input[rows])
        found: list[list[Entry]] = [[] for _ in range(len(self))]
        for row, entry in zip(rows[is_asked].tolist(), one.entries.take(numbers[is_asked]), strict=True):
            found[row].append(entry)
        return found


def _names(columns: Columns, dataset: Dataset, problems: Problems) -> Sequence[str | None]:
    if dataset.long is None:
        return [None] * len(columns)
    column = dataset.long.column
    names = [*texts_of(columns[column], column, LONGEST_NAME, problems, "200 is the longest name")]
    for row, name in enumerate(names):
        if name is None or not name.strip():
            problems.setdefault(row, f"{column}: no candidate")
            names[row] = None
    return names


@dataclass(frozen=True)
class Answers:
    """The answers of a candidate, or in the long form of all, to the questions of a batch.

    Attributes:
        questions: The questions.
        mapping: Of the candidate.
        place: The option of params.yaml with this mapping.
        names: The candidate of each answer; null if its record names none.
        rows: The question of each, ascending, shape (n,).
        files: The file of the record that holds each.
        lines: The line of it.
        responses: As their column holds them; an item, if the column holds a list of repeated answers.
        draws: Number of each among the repeated ones; null if a column or the order of records says it.
        problems: Those that can't be used, and why.
        own: Values that are not those of the question, by column.
    """

    questions: Questions
    mapping: AnswerMapping
    place: str
    names: Sequence[str | None]
    rows: NDArray[np.int64]
    files: Sequence[str]
    lines: Sequence[int]
    responses: Sequence[Value]
    draws: Sequence[int | None]
    problems: Problems = field(default_factory=dict)
    own: Mapping[str, Sequence[Value]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, column: str) -> Sequence[Value]:
        """Return the values of a column: those of the answers, else those of their questions."""
        if column in self.own:
            return self.own[column]
        values = self.questions.columns[column]
        return values if len(self) == len(values) else [values[row] for row in self.rows.tolist()]


def answers(questions: Questions, source: Source) -> list[Answers]:
    """Return the answers of each candidate; those of joined files for every record of a question."""
    dataset = source.dataset
    if dataset.long:
        return [_listed(_of_records(questions, dataset.long, "dataset.candidates", questions.names), dataset)]
    return [_of_candidate(name, mapping, questions, source) for name, mapping in dataset.named.items()]


def _of_records(questions: Questions, mapping: AnswerMapping, place: str, names: Sequence[str | None]) -> Answers:
    rows, responses = np.arange(len(questions)), questions.columns[mapping.response]
    draws = [None] * len(questions)
    return Answers(questions, mapping, place, names, rows, questions.files, questions.lines, responses, draws)


def _of_candidate(name: str, mapping: CandidateMapping, questions: Questions, source: Source) -> Answers:
    place, joined, dataset = f"dataset.candidates.{name}", source.joined.candidates.get(name), source.dataset
    if joined is None:
        return _listed(_of_records(questions, mapping, place, [name] * len(questions)), dataset)
    found: list[tuple[int, Entry | None, int | None]] = []
    numbered = dataset.has_draws if joined.is_asked else dataset.draw is True
    for row, of_question in enumerate(questions.entries(joined)):
        entries = of_question if joined.is_asked else divided(of_question, dataset)[0]
        found += [(row, entry, number if numbered else None) for number, entry in enumerate(entries, 1)]
        if not entries:
            found.append((row, None, 1 if dataset.has_draws else None))
    rows = [row for row, _, _ in found]
    entries_ = [entry or Entry(questions.files[row], questions.lines[row], {}) for row, entry, _ in found]
    # A label of the questions' file is not of an answer of this one.
    own = {column: [entry.values.get(column) for entry in entries_] for column in joined.columns | {mapping.response}}
    every = Answers(
        questions,
        mapping,
        place,
        [name] * len(found),
        np.array(rows, np.int64),
        [entry.file for entry in entries_],
        [entry.line for entry in entries_],
        own[mapping.response],
        [draw for _, _, draw in found],
        own=own,
    )
    # A question without an answer has no list of them.
    return every if joined.is_asked else _listed(every, dataset, [entry is not None for _, entry, _ in found])


def _listed(every: Answers, dataset: Dataset, has_list: Sequence[bool] | None = None) -> Answers:
    """Return the answers with those that their column lists; has_list: which may list some, None for all."""
    if dataset.lists == "draws":
        return _divided_lists(every, dataset, has_list)
    if dataset.lists is None or not any(isinstance(response, list) for response in every.responses):
        return every
    return replace(every, responses=[*map(_first if dataset.lists == "first" else _lines, every.responses)])


def _first(response: Value) -> Value:
    return (response[0] if response else None) if isinstance(response, list) else response


def _lines(response: Value) -> Value:
    if not isinstance(response, list) or not all(isinstance(item, str | None) for item in response):
        return response
    texts = [item for item in response if isinstance(item, str)]
    return "\n".join(texts) if texts else None


def _divided_lists(every: Answers, dataset: Dataset, has_list: Sequence[bool] | None) -> Answers:
    lists = [(response if isinstance(response, list) else [response]) or [None] for response in every.responses]
    again = np.repeat(np.arange(len(every)), [len(items) for items in lists]).tolist()
    numbers = [number for items in lists for number in range(1, len(items) + 1)]
    problems: Problems = {}
    own = {column: [values[row] for row in again] for column, values in every.own.items()}
    of_name = {name: [*_of_answers(every.mapping, name, dataset)] for name in dict.fromkeys(every.names)}
    for column in {column: None for columns in of_name.values() for column in columns}:
        values = every[column]
        own[column] = [values[row] for row in again]
    for place, (row, number) in enumerate(zip(again, numbers, strict=True)):
        of = len(lists[row])
        if has_list is not None and not has_list[row]:
            continue
        for column in of_name[every.names[row]]:
            value = own[column][place]
            if isinstance(value, list) and len(value) == of:
                own[column][place] = value[number - 1]
            elif value is not None and (of > 1 or isinstance(value, list)):
                given = f"a list of {len(value)}" if isinstance(value, list) else "one value"
                problems[place] = (
                    f"{column}: {given} for {of} answers of a list; expected a list with one value for each"
                )
                break
    return replace(
        every,
        names=[every.names[row] for row in again],
        rows=every.rows[again],
        files=[every.files[row] for row in again],
        lines=[every.lines[row] for row in again],
        responses=[item for items in lists for item in items],
        draws=numbers,
        problems=problems,
        own=own,
    )


def _of_answers(columns: AnswerMapping, name: str | None, dataset: Dataset) -> Iterator[str]:
    """Yield the columns whose values are of an answer, not of the question: labels, scores and what it took."""
    yield from columns.label.mapped if columns.label else ()
    yield from [columns.labelled] if columns.labelled else []
    yield from (column for score in dataset.scores.values() for column in score.columns_of(str(name)))
    yield from (column for of_kind in columns.resources.values() for column in of_kind)


def raw_draws(values: Iterable[Value]) -> list[int | None]:
    """Return the numbers in the column of draws; None without a usable one."""
    return [*map(_raw_draw, values)]


def _raw_draw(value: Value) -> int | None:
    text = value.strip().removesuffix(".0") if isinstance(value, str) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < LONGEST_NUMBER else None


def first_draw(source: Source, draws: NDArray[np.int64]) -> int:
    """Return the smallest number in the column of draws, 0 or 1; draws: those of the records."""
    column = source.dataset.draw
    if not isinstance(column, str):
        return 1
    entries = (entry for one in source.joined.candidates.values() for entry in one.entries if entry.key is not None)
    return 0 if (draws == 0).any() or any(_raw_draw(entry.values.get(column)) == 0 for entry in entries) else 1


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
        number = _raw_draw(entry.values.get(dataset.draw))
        (repeated if number in seen else answers).append(entry)
        if number is not None:
            seen.add(number)
    return answers, repeated


def wanted_columns(source: Source) -> dict[str, str]:
    """Return each column that the questions must have, with its path in params.yaml."""
    columns: dict[str, str] = {}
    for column, place in _mapped(source):
        columns.setdefault(column, place)
    return columns


def mapped_columns(params: Params) -> dict[str, str]:
    """Return each column of the mapping, as if no file were joined, with its path in params.yaml."""
    return wanted_columns(Source(params, JoinedFiles()))


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
    yield from _named(dataset, "choices", "group", "weight", "phrases", "contexts", "relevant", "criteria")
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


def _answer_columns(columns: AnswerMapping, place: str, elsewhere: frozenset[str]) -> Iterator[tuple[str, str]]:
    named = [
        (columns.response, f"{place}.response"),
        *((column, f"{place}.label") for column in (columns.label.mapped if columns.label else ())),
        *([(columns.labelled, f"{place}.labelled")] if columns.labelled else []),
        *((column, f"{place}.{kind}") for kind, of_kind in columns.resources.items() for column in of_kind),
    ]
    yield from (one for one in named if one[0] not in elsewhere)
