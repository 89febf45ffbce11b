"""Entries of joined files that become no row, and joined files that can't be used."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from goldmeter.dataset.answers import Source, divided
from goldmeter.dataset.columns import groups
from goldmeter.dataset.index import NONE, RecordIndex
from goldmeter.dataset.joined import Entry, Joined, Lost
from goldmeter.dataset.paths import quoted
from goldmeter.dataset.scan import Places, Scan
from goldmeter.dataset.settings import Dataset
from goldmeter.dataset.texts import same_text
from goldmeter.errors import DataError

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
            found += [(int(firsts[row]), order, name, _repeated(entry, answers[0], one, dataset)) for entry in repeated]
    for _, _, name, lost in sorted(found, key=lambda item: item[:2]):
        yield name, lost


def _repeated(entry: Entry, first: Entry, one: Joined, dataset: Dataset) -> Lost:
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
