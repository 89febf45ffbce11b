"""The tables data/load and data/load_rejected: one row per (id, candidate) in each."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tasks.dataset import mapping
from tasks.dataset.answers import Answer, Source, divided, require_candidate, with_columns
from tasks.dataset.description import description
from tasks.dataset.index import RecordIndex, index_records
from tasks.dataset.joined import Entry, Joined, Lost, read_joined, row_keys, same_text
from tasks.dataset.labels import UnknownLabelError
from tasks.dataset.paths import flat, quoted
from tasks.dataset.settings import Dataset, Params
from tasks.dataset.sources import Record, Value
from tasks.dataset.texts import UnusableValueError
from tasks.errors import DataError
from tasks.pipeline.tables import describe
from tasks.scores.column_facts import WEIGHT
from tasks.scores.label_status import PROBABILITY

REJECTED = pa.schema(
    {"file": pa.string(), "line": pa.int64(), "id": pa.string(), "candidate": pa.string(), "reason": pa.string()}
)
# Whether the answer is right, by each rater in the order of the columns; null elements: not rated.
RATINGS = pa.list_(pa.bool_())
CRITERIA = pa.list_(pa.struct({"text": pa.string(), "points": pa.float64()}))


def tables(records: Iterable[Record], params: Params) -> Iterator[dict[str, pa.Table]]:
    """Yield the parts of both tables, rows in input order.

    A record that can't be used, or whose id an earlier record has, is rejected for every candidate. Entries of joined
    files that become no row are rejected behind the last row. So answers read = rows + rejected rows, where a record of
    the wide form holds an answer of each candidate, and a record of the long form one.

    Args:
        records: The user's records. They are iterated three times (columns, ids, rows; once more if ids repeat or files
            are joined), so that memory holds no more than one part and a hash per record, in the long form and with
            draws three, and of joined files the mapped columns; an iterator is first read into a list.
        params: The sections `dataset` and `load`.

    Yields:
        The two tables of a part, as `load` and `load_rejected`.

    Raises:
        DataError: A mapped column is in no record, a label can't be read, or no record is selected.
    """
    params.check()
    records = list(records) if isinstance(records, Iterator) else records
    source = Source(params, read_joined(params))
    records = with_columns(records, source)
    try:
        yield from _parts(records, source)
    except UnknownLabelError as error:
        raise error.with_words(_labelled(records, source)) from None


def _parts(records: Iterable[Record], source: Source) -> Iterator[dict[str, pa.Table]]:
    index = index_records(records, source)
    records = flat(records, _scores_of_candidates(index, source.dataset))
    remainder = _remainder(records, source, index) if source.joined.all else Remainder([], {}, {})
    failed = {name: one.problems for name, one in source.joined.candidates.items() if one.problems}
    facts = description(source.params, index, remainder.left_out, remainder.label_conflicts, failed)
    part = LoadPart(source, index, facts)
    for position, record in enumerate(mapping.selected(records, source.dataset)):
        answers = [*source.answers(record, is_first=position not in index.later)]
        if part.is_full_with(len(answers)):
            yield part.tables()
            part = LoadPart(source, index, facts)
        part.add(record, position, answers)
    for name, lost in remainder.rejected:
        if part.is_full_with(1):
            yield part.tables()
            part = LoadPart(source, index, facts)
        part.add_lost(name, lost)
    yield part.tables()


def _scores_of_candidates(index: RecordIndex, dataset: Dataset) -> dict[str, str]:
    """Return the columns of scores whose names are known only with the candidates of a long table."""
    scores = [*dataset.scores.items()] if dataset.long else []
    return {
        column: f"dataset.scores.{key}"
        for key, score in scores
        for name in index.names
        for column in score.columns_of(name)
        if score.is_by_candidate
    }


def schema(params: Params) -> pa.Schema:
    """Return the schema of data/load; `ratings`, `slices` and all from `contexts` on depend on what is mapped."""
    slices = pa.struct([(name, pa.string()) for name in params.dataset.slices])
    texts = pa.list_(pa.string())
    return pa.schema(
        {
            **dict.fromkeys(["id", "candidate", "input", "response"], pa.string()),
            "references": texts,
            "label": pa.bool_(),
            "label_status": pa.string(),
            **({PROBABILITY: pa.float64()} if params.dataset.labels == "designed" else {}),
            **({"ratings": RATINGS} if params.dataset.has_raters else {}),
            "group": pa.string(),
            **({WEIGHT: pa.float64()} if params.dataset.weight else {}),
            **({"slices": slices} if params.dataset.slices else {}),
            "phrases": texts,
            **{name: texts for name in ("contexts", "relevant") if getattr(params.dataset, name)},
            **({"criteria": CRITERIA} if params.dataset.criteria else {}),
            **{f"score_{name}": pa.float64() for name in params.dataset.scores},
            **{f"score_{name}_details": pa.string() for name in params.dataset.optional_scores},
            **dict.fromkeys(params.dataset.resources, pa.float64()),
            "content": pa.string(),
            **({"question": pa.string(), "draw": pa.int64()} if params.dataset.has_draws else {}),
        }
    )


class LoadPart:
    """Collects the rows of one part of data/load and data/load_rejected."""

    def __init__(self, source: Source, index: RecordIndex, facts: Mapping[str, Any]) -> None:
        self.source, self.index, self.facts = source, index, facts
        self.rows: list[dict[str, Any]] = []
        self.rejected: list[dict[str, Any]] = []
        self.read = 0

    def is_full_with(self, answers: int) -> bool:
        """Whether so many more answers would exceed `load.part_rows`; those of one record stay in one part."""
        return self.read > 0 and self.read + answers > self.source.params.load.part_rows

    def add(self, record: Record, position: int, answers: Iterable[Answer]) -> None:
        """Add a row or a rejected row for each answer; position: the record's, among those selected."""
        answers, question, dataset = [*answers], None, self.source.dataset
        self.read += len(answers)
        try:
            if dataset.id:
                question = mapping.id_from_column(record, self.source.params)
            shared = self._shared(record, position)
            question = question or mapping.id_from_input(shared, self.index.numbers, self.source)
            require_candidate(record, dataset)
            mapping.require_same_question(self.index.differing.get(position), dataset)
            mapping.require_new_id(record, self.index.repeated.get(position), dataset)
        except UnusableValueError as reason:
            self.rejected += [_rejected_row(answer, question, reason) for answer in answers]
            return
        for answer in answers:
            try:
                draw = mapping.draw_of(answer, self.index.draws.get(position, 1), self.index.first_draw, dataset)
                self.rows.append(mapping.candidate_row(record, question, draw, shared, answer, self.source))
            except UnusableValueError as reason:
                self.rejected.append(_rejected_row(answer, question, reason))

    def _shared(self, record: Record, position: int) -> mapping.SharedValues:
        """Return the values of the question; those of another record of its id, if this one lacks them."""
        shared = mapping.shared_values(record, self.source)
        if (asked := self.index.asked.get(position)) is None:
            mapping.require_weight(shared, self.source.dataset)
            return shared
        return mapping.shared_values(asked, self.source)._replace(contexts=shared.contexts)

    def add_lost(self, name: str | None, lost: Lost) -> None:
        """Add a rejected row for an entry of a joined file that became no row; name: of the candidate, if known."""
        self.read += 1
        file, line = lost.entry.file, lost.entry.line
        self.rejected.append({"file": file, "line": line, "id": lost.key, "candidate": name, "reason": lost.reason})

    def tables(self) -> dict[str, pa.Table]:
        """Return both tables of the part."""
        description = {**self.facts, "rows_read": self.read}
        return {
            "load": describe(pa.Table.from_pylist(self.rows, schema(self.source.params)), description),
            "load_rejected": pa.Table.from_pylist(self.rejected, REJECTED),
        }


def _rejected_row(answer: Answer, question: str | None, reason: Exception) -> dict[str, Any]:
    file, line = answer.entry.file, answer.entry.line
    return {"file": file, "line": line, "id": question, "candidate": answer.candidate, "reason": str(reason)}


@dataclass(frozen=True)
class Remainder:
    """Entries of joined files that become no row: rejected ones with their candidate, and how many are left out.

    label_conflicts: file of labels → answers whose labels contradict each other, so that none counts.
    """

    rejected: list[tuple[str | None, Lost]]
    left_out: dict[str, int]
    label_conflicts: dict[str, int]


def _remainder(records: Iterable[Record], source: Source, index: RecordIndex) -> Remainder:
    """Find the entries of joined files that become no row."""
    files = source.joined.all
    known = _known_keys(records, [one for _, one in files], source)
    left_out: Counter[str] = Counter()
    rejected: list[tuple[str | None, Lost]] = []
    _require_own_inputs(records, [one for _, one in files], source)
    for (name, one), keys in zip(files, known, strict=True):
        others = [*one.others(keys), *_of_others(records, one, source)]
        if source.dataset.other_questions == "leave_out":
            left_out[one.path] += len(others)
            others = []
        rejected += [(name, lost) for lost in [*one.keyless, *others]]
    rejected += _repeated_entries(records, source, index)
    unused, conflicts = _unused_labels(records, source, index)
    left_out.update(unused)
    return Remainder(rejected, {path: number for path, number in left_out.items() if number}, conflicts)


def _known_keys(records: Iterable[Record], files: list[Joined], source: Source) -> list[frozenset[str]]:
    """Return for each file which of its keys a question has, excluded ones and those beyond the limit too."""
    known: list[set[str]] = [set() for _ in files]
    for record in records:
        keys = row_keys(record, source.dataset)
        for one, found in zip(files, known, strict=True):
            if (key := one.key(keys)) is not None and key in one.entries:
                found.add(key)
    return [frozenset(found) for found in known]


def _of_others(records: Iterable[Record], one: Joined, source: Source) -> Iterator[Lost]:
    """Yield the entries that have the id of a question, but name another question."""
    seen: set[str] = set()
    for record in records if one.has_questions else ():
        keys = row_keys(record, source.dataset)
        key = one.key(keys)
        if key is not None and key not in seen:
            seen.add(key)
            reason = (
                f"{source.dataset.input}: another question than that of {record.file}, line {record.line}, which has "
                "the same id; on: input joins by the question"
            )
            yield from (Lost(entry, key, reason) for entry in one.of_another(keys))


def _require_own_inputs(records: Iterable[Record], files: list[Joined], source: Source) -> None:
    """Require that no two questions share the input by which entries are joined to them.

    Raises:
        DataError: Two do, so an entry could be of either.
    """
    files = [one for one in files if one.by == "input"]
    first: dict[str, tuple[Any, Record]] = {}
    for record in mapping.selected(records, source.dataset) if files else ():
        keys, question = row_keys(record, source.dataset), mapping.question_key(record, source)
        joined = [one for one in files if keys.input in one.entries]
        if keys.input is None or question is None or not joined:
            continue
        earlier, other = first.setdefault(keys.input, (question, Record(record.file, record.line, {})))
        if earlier != question:
            raise DataError(
                f"{joined[0].place}: {joined[0].path} is joined by the input, but two questions have the same: "
                f"{other.file}, line {other.line}, and {record.file}, line {record.line} (white space does not count); "
                "join by the id, or leave one out by dataset.exclude"
            )


def _repeated_entries(
    records: Iterable[Record], source: Source, index: RecordIndex
) -> Iterator[tuple[str | None, Lost]]:
    """Yield second answers of a candidate to a question, or to one draw of it."""
    seen: set[tuple[str, str]] = set()
    for position, record in enumerate(mapping.selected(records, source.dataset)):
        keys = row_keys(record, source.dataset)
        for name, one in source.joined.candidates.items():
            key = None if one.is_asked else one.key(keys)
            if key is None or (name, key) in seen or position in index.repeated:
                continue
            seen.add((name, key))
            answers, repeated = divided(one.of(keys), source.dataset)
            yield from ((name, _repeated(entry, answers[0], one, key, source.dataset)) for entry in repeated)


def _repeated(entry: Entry, first: Entry, one: Joined, key: str, dataset: Dataset) -> Lost:
    draws = "" if isinstance(dataset.draw, str) else "; dataset.draw takes repeated answers"
    reason = f"the {one.by} {quoted(key)} is also in {first.file}, line {first.line}{draws}"
    return Lost(entry, key if one.by == "id" else None, reason)


def _unused_labels(
    records: Iterable[Record], source: Source, index: RecordIndex
) -> tuple[dict[str, int], dict[str, int]]:
    """Count the labels of questions that are there, but of none of their answers; and answers with contradicting ones.

    Raises:
        DataError: No label is of any answer, or a name of a candidate is written in another way.
    """
    labels = source.joined.labels
    if labels is None:
        return {}, {}
    _require_same_names(labels, source.dataset, index)
    unused = matched = conflicts = 0
    for answers, entries in _label_keys(records, source, index, labels):
        keys = {key for key, _ in answers}
        used = sum(key in keys for key, _ in entries)
        matched, unused = matched + used, unused + len(entries) - used
        conflicts += mapping.contradictions(answers, entries, source.dataset)
    if not matched:
        raise DataError(
            f"dataset.label_file: no label of {labels.path} is of an answer in the data; its {labels.by} and "
            f"{'candidate' if source.dataset.label_file and source.dataset.label_file.candidate else 'response'} "
            "must be those of the answers"
        )
    return {labels.path: unused}, {labels.path: conflicts} if conflicts else {}


def _require_same_names(labels: Joined, dataset: Dataset, index: RecordIndex) -> None:
    """Require that candidates in the file of labels are not the known ones in another spelling.

    Raises:
        DataError: A name differs from a candidate's only in case or white space.
    """
    column = dataset.label_file.candidate if dataset.label_file else None
    if column is None or dataset.other_questions == "leave_out":
        return
    spelled = {same_text(name): name for name in index.names}
    for entry in (entry for entries in labels.entries.values() for entry in entries):
        name = entry.values.get(column)
        known = spelled.get(same_text(name)) if isinstance(name, str) else None
        if known is not None and name not in index.names:
            raise DataError(
                f"dataset.label_file.candidate: {entry.file}, line {entry.line}: {column} is {quoted(name)}, but the "
                f"candidate is {quoted(known)}; write both alike"
            )


def _label_keys(records: Iterable[Record], source: Source, index: RecordIndex, labels: Joined) -> Iterator[Any]:
    """Yield for each question with labels its answers and the labels, each with its key; of an answer its text too."""
    answers: dict[str, list[Any]] = {}
    of: dict[str, Any] = {}
    for position, record in enumerate(mapping.selected(records, source.dataset)):
        keys = row_keys(record, source.dataset)
        key = labels.key(keys)
        if key is None or key not in labels.entries:
            continue
        of[key] = keys
        for answer in source.answers(record, is_first=position not in index.later):
            text = answer.response if isinstance(answer.response, str) else None
            one = mapping.label_key(record, answer, text, source), same_text(text or "")
            answers.setdefault(key, []).append(one)
    for key, keys in of.items():
        yield answers.get(key, []), [(mapping.entry_key(key, entry, source), entry) for entry in labels.of(keys)]


def _labelled(records: Iterable[Record], source: Source) -> Iterator[Mapping[str, Value]]:
    """Yield the values of all records that may hold labels."""
    for _, one in source.joined.all:
        for entries in one.entries.values():
            yield from (entry.values for entry in entries)
    yield from (record.values for record in records)
