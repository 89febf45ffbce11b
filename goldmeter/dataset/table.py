"""The tables data/load and data/load_rejected, one row per (id, candidate) in each; and what becomes no row."""

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

from goldmeter.dataset.answers import Source, divided, first_draw, wanted_columns
from goldmeter.dataset.columns import Columns, groups
from goldmeter.dataset.description import MissingTexts, description
from goldmeter.dataset.index import NONE, RecordIndex, index_of
from goldmeter.dataset.joined import ANSWERS, Entry, Joined, Lost, read_joined
from goldmeter.dataset.labels import LabelFault, UnknownLabelError
from goldmeter.dataset.mapping import answer_schema, question_schema
from goldmeter.dataset.paths import quoted, require_columns
from goldmeter.dataset.record import Record, Value
from goldmeter.dataset.scan import Places, Scan, chunks_of, scan
from goldmeter.dataset.settings import Dataset, Params
from goldmeter.dataset.texts import same_text
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
    """Leave out the questions that the stage answer did not ask, and copy what data/answer states of them."""
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


Hashes = NDArray[np.uint64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Remainder:
    """Entries of joined files that become no row: rejected ones with their candidate, and how many are left out.

    label_conflicts: file of labels → answers whose labels contradict each other, so that none counts.
    """

    rejected: list[tuple[str | None, Lost]]
    left_out: dict[str, int]
    label_conflicts: dict[str, int]


def remainder_of(source: Source, scan: Scan, index: RecordIndex) -> Remainder:
    """Find the entries of joined files that become no row.

    Raises:
        DataError: Entries are joined by an input that two questions share, no label is of any answer, or a name of a
            candidate is written in another way.
    """
    if not source.joined.all:
        return Remainder([], {}, {})
    left_out: Counter[str] = Counter()
    rejected: list[tuple[str | None, Lost]] = []
    _require_own_inputs(source, scan, index)
    for name, one in source.joined.all:
        keyless = [
            one.lost(number, f"{_column(name, one, source.dataset)}: no {one.by} to join by")
            for number in one.entries.keyless
        ]
        others = [*_unknown(one, scan.places.keys(one.by)), *_of_others(one, scan.places, source.dataset)]
        if source.dataset.other_questions == "leave_out":
            left_out[one.path] += len(others)
            others = []
        rejected += [(name, lost) for lost in [*keyless, *others]]
    rejected += _repeated_entries(source, scan, index)
    unused, conflicts = _unused_labels(source, scan, index)
    left_out.update(unused)
    return Remainder(rejected, {path: number for path, number in left_out.items() if number}, conflicts)


def _column(name: str | None, one: Joined, dataset: Dataset) -> str:
    """Return the column of a file by which it is joined."""
    if name is not None:
        of = dataset.named[name]
        return str((of.id or dataset.id) if one.by == "id" else (of.input or dataset.input))
    given = dataset.label_file if one.place == "dataset.label_file" else dataset.references
    return str(given and (given.id or given.input))


def _unknown(one: Joined, keys: Hashes) -> Iterator[Lost]:
    """Yield the entries of questions that are not there, excluded ones and those beyond the limit counted as there."""
    entries = one.entries
    keyed = np.sort(entries.order)
    by_key, known = groups(entries.keys[keyed]), groups(np.concatenate([keys, entries.keys[keyed]]))
    is_known = np.isin(known.group[len(keys) :], known.group[: len(keys)])
    unknown = np.flatnonzero(~is_known)
    reason = f"no question in dataset.path has its {one.by}; see dataset.other_questions"
    for row in unknown[np.lexsort((unknown, by_key.first[by_key.group[unknown]]))].tolist():
        yield one.lost(int(keyed[row]), reason)


def _of_others(one: Joined, places: Places, dataset: Dataset) -> Iterator[Lost]:
    """Yield the entries that have the id of a question, but name another question."""
    if not one.has_questions:
        return
    first = _first_of_each(places.keys(one.by))
    rows, numbers = one.entries.find(places.keys(one.by)[first])
    records = first[rows]
    is_other = ~one.entries.asks(numbers, places.keys("input")[records], places.has_input[records])
    for record, number in zip(records[is_other].tolist(), numbers[is_other].tolist(), strict=True):
        file, line = places.place(record)
        reason = (
            f"{dataset.input}: another question than that of {file}, line {line}, which has the same id; on: input "
            "joins by the question"
        )
        yield one.lost(number, reason)


def _first_of_each(keys: Hashes) -> Integers:
    """Return the first row of each key, ascending."""
    return np.sort(groups(keys).first)


def _require_own_inputs(source: Source, scan: Scan, index: RecordIndex) -> None:
    """Require that no two questions share the input by which entries are joined to them.

    Raises:
        DataError: Two do, so an entry could be of either.
    """
    files = [one for _, one in source.joined.all if one.by == "input"]
    if not files:
        return
    inputs = scan.places.keys("input")[scan.selected]
    has_entries = np.logical_or.reduce([one.entries.has(inputs) for one in files])
    rows = np.flatnonzero((index.questions != NONE) & scan.places.has_input[scan.selected] & has_entries)
    if not len(rows):
        return
    by_input = groups(inputs[rows])
    firsts = rows[by_input.first[by_input.group]]
    for row, first in zip(rows.tolist(), firsts.tolist(), strict=True):
        if index.questions[row] != index.questions[first]:
            joined = next(one for one in files if one.entries.has(inputs[[row]])[0])
            (file, line), (other, other_line) = scan.place(row), scan.place(first)
            raise DataError(
                f"{joined.place}: {joined.path} is joined by the input, but two questions have the same: "
                f"{other}, line {other_line}, and {file}, line {line} (white space does not count); "
                "join by the id, or leave one out by dataset.exclude"
            )


def _repeated_entries(source: Source, scan: Scan, index: RecordIndex) -> Iterator[tuple[str | None, Lost]]:
    """Yield second answers of a candidate to a question, or to one draw of it."""
    found: list[tuple[int, int, str, Lost]] = []
    dataset, usable = source.dataset, np.flatnonzero(index.repeated == NONE)
    for order, (name, one) in enumerate(source.joined.candidates.items()):
        if one.is_asked or dataset.draw is True:
            continue
        of_all, keys = scan.selected[usable], scan.places.keys(one.by)
        firsts = _first_of_each(keys[of_all])
        records = of_all[firsts]
        rows, numbers = one.entries.find(keys[records])
        asked = records[rows]
        is_asked = one.entries.asks(numbers, scan.places.keys("input")[asked], scan.places.has_input[asked])
        rows, numbers = rows[is_asked], numbers[is_asked]
        counts = np.bincount(rows, minlength=len(records))
        ends = np.cumsum(counts)
        for row in np.flatnonzero(counts > 1).tolist():
            entries = [one.entries[number] for number in numbers[ends[row] - counts[row] : ends[row]].tolist()]
            answers, repeated = divided(entries, dataset)
            found += [(int(firsts[row]), order, name, _repeats(entry, answers[0], one, dataset)) for entry in repeated]
    for _, _, name, lost in sorted(found, key=lambda item: item[:2]):
        yield name, lost


def _repeats(entry: Entry, first: Entry, one: Joined, dataset: Dataset) -> Lost:
    draws = "" if isinstance(dataset.draw, str) else "; dataset.draw takes repeated answers"
    reason = f"the {one.by} {quoted(entry.key)} is also in {first.file}, line {first.line}{draws}"
    return Lost(entry, entry.key if one.by == "id" else None, reason)


def _unused_labels(source: Source, scan: Scan, index: RecordIndex) -> tuple[dict[str, int], dict[str, int]]:
    """Count the labels of questions that are there, but of none of their answers; and answers with contradicting ones.

    Raises:
        DataError: No label is of any answer, or a name of a candidate is written in another way.
    """
    labels, given = source.joined.labels, source.dataset.label_file
    if labels is None or given is None:
        return {}, {}
    _require_same_names(labels, source.dataset, index.names)
    if not scan.labels_used:
        raise DataError(
            f"dataset.label_file: no label of {labels.path} is of an answer in the data; its {labels.by} and "
            f"{'candidate' if given.candidate else 'response'} must be those of the answers"
        )
    dropped = index.is_later if not source.is_plain else np.zeros(len(index.is_later), np.bool_)
    conflicts = sum(not (is_joined and dropped[position]) for position, is_joined in scan.contradicted)
    unused = len(scan.labels_there - scan.labels_used)
    return {labels.path: unused}, {labels.path: conflicts} if conflicts else {}


def _require_same_names(labels: Joined, dataset: Dataset, names: Sequence[str]) -> None:
    """Require that candidates in the file of labels are not the known ones in another spelling.

    Raises:
        DataError: A name differs from a candidate's only in case or white space.
    """
    column = dataset.label_file.candidate if dataset.label_file else None
    if column is None or dataset.other_questions == "leave_out":
        return
    spelled, known = {same_text(name): name for name in names}, {*names, None}
    for entry in labels.entries:
        name = entry.values.get(column)
        if not isinstance(name, str) or name in known or entry.key is None:
            continue
        if same_text(name) in spelled:
            raise DataError(
                f"dataset.label_file.candidate: {entry.file}, line {entry.line}: {column} is {quoted(name)}, but the "
                f"candidate is {quoted(spelled[same_text(name)])}; write both alike"
            )
        known.add(name)
