"""The tables data/load and data/load_rejected, one row per (id, candidate) in each, from mapped batches."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.dataset.answers import Source, first_draw, wanted_columns
from goldmeter.dataset.columns import Columns
from goldmeter.dataset.description import MissingTexts, description
from goldmeter.dataset.index import NONE, RecordIndex, index_of
from goldmeter.dataset.joined import ANSWERS, Lost, read_joined
from goldmeter.dataset.labels import LabelFault, UnknownLabelError
from goldmeter.dataset.mapping import answer_schema, question_schema
from goldmeter.dataset.paths import quoted, require_columns
from goldmeter.dataset.record import Record, Value
from goldmeter.dataset.remainder import remainder_of
from goldmeter.dataset.scan import Scan, chunks_of, scan
from goldmeter.dataset.settings import Dataset, Params
from goldmeter.errors import DataError
from goldmeter.estimates.column_facts import PROBABILITY, STOPPED, WEIGHT, question_column
from goldmeter.pipeline.progress import Progress, quiet
from goldmeter.pipeline.tables import Parts, about, describe
from goldmeter.pipeline.workers import Crew
from goldmeter.text.thoughts import CUT_THOUGHT

REJECTED = pa.schema(
    {"file": pa.string(), "line": pa.int64(), "id": pa.string(), "candidate": pa.string(), "reason": pa.string()}
)


def tables(
    records: Iterable[Record],
    params: Params,
    *,
    crew: Crew | None = None,
    scratch: Path | None = None,
    progress: Progress = quiet,
    answers: Path = ANSWERS,
) -> Iterator[dict[str, pa.Table]]:
    """Yield the parts of both tables, rows in input order.

    A record that can't be used, or whose id an earlier record has, is rejected for every candidate. Entries of joined
    files that become no row are rejected behind the last row. So answers read = rows + rejected rows, where a record of
    the wide form holds an answer of each candidate, and a record of the long form one.

    Args:
        records: The user's records. They are read once, in batches; what is mapped of them goes to disk, and memory
            holds hashes of each record and of each entry of a joined file. An iterator is first read into a list.
        params: The sections `dataset` and `load`.
        crew: The processes that map batches; none: this one.
        scratch: A folder for what goes to disk; none: a temporary one.
        progress: Is told how many records are read, and then how many are rows.
        answers: The table of the stage answer; its metadata say which questions were not needed (`judge.stop`).

    Yields:
        The two tables of a part, as `load` and `load_rejected`.

    Raises:
        DataError: A mapped column is in no record, a label can't be read, or no record is selected.
    """
    params.check()
    records = list(records) if isinstance(records, Iterator) else records
    with nullcontext(str(scratch)) if scratch else TemporaryDirectory() as folder:
        crew = crew or Crew()
        source = Source(params, read_joined(params, Path(folder), crew, answers))
        try:
            found = scan(records, source, Path(folder), crew, progress)
            yield from _without_unneeded(_parts(records, source, found, progress), params.dataset, answers)
        except UnknownLabelError as error:
            raise error.with_words(_labelled(records, source)) from None


def _parts(records: Iterable[Record], source: Source, found: Scan, progress: Progress) -> Iterator[dict[str, pa.Table]]:
    index = index_of(found.keys, found.codes, found.names, found.beyond, source)
    if columns := _scores_of_candidates(index, source.dataset):
        require_columns(records, columns)
    lost = remainder_of(source, found, index)
    facts = description(source.params, index, lost.left_out, lost.label_conflicts, _missing(source, found))
    if stale := found.stale_corrections(by_id=source.dataset.id is not None):
        facts["stale_corrections"] = stale
    part = _Part(source.params, facts)
    finisher, total = Finisher(source, found, index, schema(source.params)), found.starts[-1]
    for number in range(len(found.rows)):
        done: Finished | None = finisher.finished(number)
        while done is not None:
            done = part.add(done)
            if done is not None:
                yield part.tables()
                part = _Part(source.params, facts)
        progress("records", found.starts[number + 1], total)
    for name, one in lost.rejected:
        if part.is_full:
            yield part.tables()
            part = _Part(source.params, facts)
        part.add_lost(name, one)
    yield part.tables()


def _without_unneeded(
    parts: Iterator[dict[str, pa.Table]], dataset: Dataset, answers: Path
) -> Iterator[dict[str, pa.Table]]:
    """Leave out the questions that the stage answer did not need to ask, and state what it says of them."""
    stopped = Parts(answers).about.get(STOPPED) if dataset.asked and answers.exists() else None
    if stopped is None:
        yield from parts
        return
    asked = Parts(answers).whole(["id"])["id"].unique()
    for part in parts:
        rows = part["load"]
        needed = rows.filter(pc.is_in(rows[question_column(rows.column_names)], asked))
        facts = {**about(rows.schema), "rows_not_needed": rows.num_rows - needed.num_rows, STOPPED: stopped}
        yield part | {"load": describe(needed, facts)}


def _missing(source: Source, found: Scan) -> MissingTexts:
    """Return which answers, or thoughts in them, are not in data/load."""
    joined = source.joined.candidates
    failed = {name: Counter(one.problems) for name, one in joined.items() if one.problems}
    for name, count in found.thoughts.cut.items():
        failed.setdefault(name, Counter())[CUT_THOUGHT] += count
    asked = Counter({name: one.thoughts for name, one in joined.items()})
    return MissingTexts({name: dict(reasons) for name, reasons in failed.items()}, found.thoughts.stripped + asked)


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
    dataset = params.dataset
    fields = [*question_schema(dataset), *answer_schema(dataset), pa.field("question", pa.string())]
    types = {field.name: field.type for field in fields}
    names = [
        *("id", "candidate", "input", "response", "references", "label", "label_status", PROBABILITY, "ratings"),
        *("group", WEIGHT, "slices", "phrases", "contexts", "relevant", "criteria"),
        *(f"score_{name}" for name in (*dataset.scores, *dataset.machine_verdicts)),
        *(f"score_{name}_details" for name in dataset.optional_scores),
        *(*dataset.resources, "content"),
        *(["question", "draw"] if dataset.has_draws else []),
    ]
    return pa.schema([(name, types[name]) for name in names if name in types])


class _Part:
    """Collects the rows of one part of data/load and data/load_rejected."""

    def __init__(self, params: Params, facts: Mapping[str, Any]) -> None:
        self._params, self._facts = params, facts
        self._rows: list[pa.Table] = []
        self._rejected: list[Mapping[str, Any]] = []
        self._read = 0

    @property
    def is_full(self) -> bool:
        """Whether one more answer would exceed `load.part_rows`."""
        return self._read >= self._params.load.part_rows

    def add(self, done: "Finished") -> "Finished | None":
        """Add records as far as there is room, one at least to an empty part; return the others; None without any."""
        ends = np.cumsum(done.read)
        most = int(np.searchsorted(ends, self._params.load.part_rows - self._read, "right"))
        if not most and not self._read:
            most = 1
        here, others = done.divided(most)
        self._rows.append(here.load)
        self._rejected += here.rejected
        self._read += int(here.read.sum())
        return others

    def add_lost(self, name: str | None, lost: Lost) -> None:
        """Add a rejected row for an entry of a joined file that became no row; name: of the candidate, if known."""
        self._read += 1
        file, line = lost.entry.file, lost.entry.line
        self._rejected.append({"file": file, "line": line, "id": lost.key, "candidate": name, "reason": lost.reason})

    def tables(self) -> dict[str, pa.Table]:
        """Return both tables of the part."""
        rows = pa.concat_tables([schema(self._params).empty_table(), *self._rows]).combine_chunks()
        return {
            "load": describe(rows, {**self._facts, "rows_read": self._read}),
            "load_rejected": pa.Table.from_pylist(self._rejected, REJECTED),
        }


def _labelled(records: Iterable[Record], source: Source) -> Iterator[Mapping[str, Value]]:
    """Yield the values of all records that may hold labels."""
    for _, one in source.joined.all:
        yield from (entry.values for entry in one.entries)
    names = [*wanted_columns(source)]
    for chunk in chunks_of(records):
        columns = Columns(chunk().rows)
        yield from (dict(zip(names, row, strict=True)) for row in zip(*(columns[name] for name in names), strict=True))


REASONS = ("reason_id", "reason_shared", "reason_weight", "reason_name")
# What an answer that is missing takes from another record of its question; its contexts are its own.
OF_RECORD = {"file", "line", "id", "candidate", "contexts", *REASONS}


@dataclass(frozen=True)
class Finished:
    """What became of consecutive records.

    Attributes:
        load: Rows of data/load.
        rejected: Rows of data/load_rejected.
        read: Number of answers of each record, shape (n,).
        rows: Number of rows of each record in `load`, shape (n,).
    """

    load: pa.Table
    rejected: Sequence[Mapping[str, Any]]
    read: NDArray[np.int64]
    rows: NDArray[np.int64]

    def divided(self, records: int) -> tuple["Finished", "Finished | None"]:
        """Return the first records, and the others; None without any."""
        if records >= len(self.read):
            return self, None
        rows = int(self.rows[:records].sum())
        rejected = int(self.read[:records].sum()) - rows
        return (
            Finished(self.load[:rows], self.rejected[:rejected], self.read[:records], self.rows[:records]),
            Finished(self.load[rows:], self.rejected[rejected:], self.read[records:], self.rows[records:]),
        )


class Finisher:
    """Finishes batches in their order."""

    def __init__(self, source: Source, scan: Scan, index: RecordIndex, schema: pa.Schema) -> None:
        self._source, self._scan, self._index = source, scan, index
        self._dataset, self._schema = source.dataset, schema
        self._first_draw = first_draw(source, scan.keys.draws[scan.keys.is_usable])
        self._joined = pa.array([*source.joined.candidates], pa.string())

    def finished(self, number: int) -> Finished:
        """Return what became of the records of a batch.

        Raises:
            UnknownLabelError: The label of an answer can't be read.
            DataError: A probability of a label can't be used.
        """
        start, end = self._scan.starts[number : number + 2]
        of_batch = slice(start, end)
        questions = pa.Table.from_batches([self._scan.questions.batch(number)])
        answers, rows = pa.Table.from_batches([self._scan.answers.batch(number)]), self._scan.rows[number]
        questions = self._with_asked(questions, self._index.asked[of_batch])
        questions = self._with_numbers(questions, self._index.numbers[of_batch])
        reasons = self._reasons(questions, of_batch)
        is_lost = self._index.is_later[of_batch][rows]
        kept = np.ones(len(rows), np.bool_)
        if len(self._joined) and not self._source.is_plain and is_lost.any():
            kept = ~(is_lost & pc.is_in(answers["candidate"], self._joined).to_numpy())
        of_answers = answers["reason"].to_pylist() if answers["reason"].null_count < len(rows) else [None] * len(rows)
        if reasons:
            of_answers = [reasons.get(row, own) for row, own in zip(rows.tolist(), of_answers, strict=True)]
        is_good = kept & np.array([reason is None for reason in of_answers], np.bool_)
        self._require_labels(self._scan.faults.get(number, ()), kept, is_good)
        read = np.bincount(rows[kept], minlength=end - start)
        return Finished(
            self._load(questions, answers, rows, is_good, self._index.draws[of_batch]),
            self._rejected(questions, answers, rows, np.flatnonzero(kept & ~is_good), of_answers),
            read,
            np.bincount(rows[is_good], minlength=end - start),
        )

    def _with_asked(self, questions: pa.Table, asked: NDArray[np.int64]) -> pa.Table:
        """Give records that only say that an answer is missing the question from another record of their id."""
        patched = np.flatnonzero(asked != NONE)
        if not len(patched):
            return questions
        batches = np.searchsorted(self._scan.starts, asked[patched], "right") - 1
        order, found = np.arange(len(questions)), [questions]
        for batch in np.unique(batches).tolist():
            here = patched[batches == batch]
            order[here] = sum(map(len, found)) + np.arange(len(here))
            other = pa.Table.from_batches([self._scan.questions.batch(batch)])
            found.append(other.take(pa.array(asked[here] - self._scan.starts[batch])))
        others = pa.concat_tables(found).take(pa.array(order))
        columns = {name: questions[name] if name in OF_RECORD else others[name] for name in questions.column_names}
        columns["reason_shared"] = pc.coalesce(questions["reason_shared"], others["reason_id"], others["reason_shared"])
        is_own = pa.array(asked == NONE)
        columns["reason_weight"] = pc.if_else(is_own, questions["reason_weight"], None)
        return pa.table(columns, questions.schema)

    def _with_numbers(self, questions: pa.Table, numbers: NDArray[np.int64]) -> pa.Table:
        """Number the ids of records that share an input."""
        if (numbers == 1).all():
            return questions
        pairs = zip(questions["id"].to_pylist(), numbers.tolist(), strict=True)
        ids = [key if number == 1 else f"{key}-{number}" for key, number in pairs]
        return questions.set_column(questions.column_names.index("id"), "id", pa.array(ids, pa.string()))

    def _reasons(self, questions: pa.Table, of_batch: slice) -> dict[int, str]:
        """Return the first reason for which each record can't be used."""
        index, dataset, start = self._index, self._dataset, of_batch.start
        found: dict[int, str] = {}
        for name in REASONS:
            if questions[name].null_count < len(questions):
                for row, reason in enumerate(questions[name].to_pylist()):
                    if reason is not None:
                        found.setdefault(row, reason)
        for row in np.flatnonzero(index.differing[of_batch] != NONE).tolist():
            file, line = self._scan.place(index.differing[start + row])
            found.setdefault(row, _other_question(file, line, dataset))
        for row in np.flatnonzero(index.repeated[of_batch] != NONE).tolist():
            place = self._scan.place(index.repeated[start + row])
            found.setdefault(row, _repeated(questions.slice(row, 1).to_pylist()[0], place, dataset))
        return found

    def _require_labels(
        self, faults: Sequence[LabelFault], kept: NDArray[np.bool_], is_good: NDArray[np.bool_]
    ) -> None:
        for fault in faults:
            if (is_good if fault.is_of_rows else kept)[fault.answer]:
                if fault.mapping is None:
                    raise DataError(fault.message)
                raise UnknownLabelError(fault.message, fault.mapping, fault.file)

    def _load(
        self,
        questions: pa.Table,
        answers: pa.Table,
        rows: NDArray[np.int64],
        is_good: NDArray[np.bool_],
        by_order: NDArray[np.int64],
    ) -> pa.Table:
        good = rows[is_good]
        if len(good) < len(rows):
            answers = answers.filter(pa.array(is_good))
        if len(good) != len(questions) or (np.diff(good) != 1).any():
            questions = questions.take(pa.array(good))
        columns = {name: questions[name] for name in questions.column_names}
        columns |= {name: answers[name] for name in answer_schema(self._dataset).names}
        if self._dataset.has_draws:
            columns |= self._drawn(columns, by_order[good])
        return pa.table({name: columns[name] for name in self._schema.names}, self._schema)

    def _drawn(self, columns: Mapping[str, pa.ChunkedArray], by_order: NDArray[np.int64]) -> dict[str, Any]:
        """Return the columns of repeated answers: the draw, in the id too, and the question, which is the group."""
        question, given = columns["id"], pa.array(by_order)
        if isinstance(self._dataset.draw, str):
            given = pc.add(columns["raw_draw"], 1 - self._first_draw)
        draw = pc.coalesce(columns["draw"], given)
        group = pc.if_else(pc.equal(columns["group"], ""), None, columns["group"])
        return {
            "id": pc.binary_join_element_wise(question, pc.cast(draw, pa.string()), "#"),
            "group": pc.coalesce(group, question),
            "question": question,
            "draw": draw,
        }

    def _rejected(
        self,
        questions: pa.Table,
        answers: pa.Table,
        rows: NDArray[np.int64],
        bad: NDArray[np.int64],
        reasons: Sequence[str | None],
    ) -> list[dict[str, Any]]:
        if not len(bad):
            return []
        places = answers.select(["file", "line", "candidate"]).take(pa.array(bad)).to_pylist()
        asked = questions.select(["id", *REASONS[:2]]).take(pa.array(rows[bad])).to_pylist()
        has_own_id = self._dataset.id is not None
        return [
            {
                **place,
                "id": None if one["reason_id"] or (one["reason_shared"] and not has_own_id) else one["id"],
                "reason": reasons[row],
            }
            for row, place, one in zip(bad.tolist(), places, asked, strict=True)
        ]


def _repeated(question: Mapping[str, Any], earlier: tuple[str, int], dataset: Dataset) -> str:
    """Say that an earlier record has the id; in the long form, one of the same candidate."""
    file, line = earlier
    whose = f" of {quoted(question['candidate'])}" if dataset.long else ""
    if dataset.id:
        return f"the id {quoted(question['id'])}{whose} (dataset.id: {dataset.id}) is also in {file}, line {line}"
    return (
        f"{quoted(question['input'])}: the same input and references{whose} as in {file}, line {line}; "
        "dataset.id can name a column of unique ids"
    )


def _other_question(file: str, line: int, dataset: Dataset) -> str:
    """Say that the first record of an id has another input, references or criteria; with draws, or another group."""
    more = "group" if dataset.has_draws and dataset.group else "weight" if dataset.weight else ""
    *named, last = ["input", "references", *filter(None, [dataset.criteria and "criteria", more])]
    what = f"{', '.join(named)} or {last}"
    return f"{dataset.id}: the first record of this id has another {what}: {file}, line {line}"
