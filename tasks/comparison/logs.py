"""Comparison of two logs of other tools, such as two runs of lm_eval, by the scores in them."""

import logging
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tasks.comparison import candidate_pairs
from tasks.comparison.compare import CompareOptions, Sides, document
from tasks.comparison.document import ComparisonDocument, VersionEntry
from tasks.comparison.frame_columns import ColumnOptions, FrameRows, Keyed, candidate, unlike
from tasks.comparison.gate import Gate
from tasks.comparison.pairing import Pairing, pair
from tasks.comparison.version_scores import Matched, Pair, match
from tasks.dataset.readers import detect
from tasks.dataset.readers.log import lacks_question, missing
from tasks.dataset.record import Value
from tasks.dataset.sources import records
from tasks.errors import ComparisonError
from tasks.metrics.frame import NOT_ASKED_SUFFIX
from tasks.scores.columns import Candidate
from tasks.scores.primary import NAMED, Primary, measure_names

log = logging.getLogger(__name__)

SCORE = "score_"
# lm_eval states a hash of the question beside the prompt, which differs between models with chat templates.
QUESTION_HASH = "metadata.doc_hash"
TASK = "metadata.task"
SAME_QUESTION = ("question", "references")
# A folder with this table is a run of the pipeline, though logs may lie in it.
RUN = "data/load"
FIRST_DRAW = "1"
OPTIONS = ColumnOptions({}, {}, frozenset(), None, (), labels_random=False)
Values = Mapping[str, Value]
# Candidate in BASE and task → the scores that samples of the task have.
Asked = Mapping[tuple[str, Value], set[str]]


class Log(NamedTuple):
    """A log: its path as given, and its records by candidate, id and draw."""

    path: str
    records: Mapping[tuple[str, str, str], Values]

    @property
    def candidates(self) -> list[str]:
        """The models or runs, in the order in which they first appear."""
        return list(dict.fromkeys(name for name, _, _ in self.records))


def tool_of(path: str) -> str | None:
    """Return the tool whose log a file or folder is; None if it is none."""
    found = Path(path)
    return detect(found) if path and found.exists() and not (found / RUN).exists() else None


def compare_logs(base: str, head: str, gate: Gate, options: CompareOptions) -> ComparisonDocument:
    """Compare two logs, sample by sample, by the scores that the tools gave.

    Candidates of equal name are compared; if there are none, those whose names differ by the model only. The primary
    measure is `gate.primary` if the logs have it, else the score of most samples. Guards that they lack are left out.

    Args:
        base: Path of a log, or of a folder of logs.
        head: The same.
        gate: Section `gate` of params.yaml.
        options: Of these, `renamed` and `changed_rows` are used.

    Raises:
        ComparisonError: A path is no log, or the logs have no candidate, sample or score in common.
        DataError: A log can't be read, or holds less than it says.
    """
    logs = [_read(path) for path in (base, head)]
    older, newer = _with_questions(logs[0], logs[1]), _with_questions(logs[1], logs[0])
    renamed = options.renamed or _by_variant(older.candidates, newer.candidates)
    matched = match(older.candidates, newer.candidates, renamed)
    pairs = [*_scored(older, newer, matched.pairs)]
    return _document((older, newer), matched._replace(pairs=pairs), gate, options.changed_rows)


def _read(path: str) -> Log:
    tool = tool_of(path)
    if tool is None:
        raise ComparisonError(f"{path}: no log of another tool that is known; both BASE and HEAD must be one")
    found: dict[tuple[str, str, str], Values] = {}
    for record in records(path, "**/*" if Path(path).is_dir() else None, tool):
        values = record.values
        key = (str(values["candidate"]), str(values["id"]), str(values.get("draw") or FIRST_DRAW))
        if key in found:
            raise ComparisonError(
                f"{record.file}, line {record.line}: a second answer of {key[0]} to {key[1]}; name the log of one run"
            )
        found[key] = values
    return Log(path, found)


def _with_questions(one: Log, other: Log) -> Log:
    """Return a log whose missing samples have their questions from another log, if it has them."""
    lacking = [key for key, values in one.records.items() if lacks_question(values)]
    if not lacking:
        return one
    asked = {key[1]: values for key, values in other.records.items() if not lacks_question(values)}
    filled = {key: missing(dict(one.records[key]), asked.get(key[1])) for key in lacking}
    return one._replace(records={**one.records, **filled})


def _by_variant(base: Sequence[str], head: Sequence[str]) -> dict[str, str]:
    """Pair candidates of logs without a common name by what follows the name of the model, such as lm_eval's filter.

    >>> _by_variant(["gpt (strict)", "gpt (loose)"], ["llama (strict)", "llama (loose)"])
    {'gpt (strict)': 'llama (strict)', 'gpt (loose)': 'llama (loose)'}
    """
    if {*base} & {*head}:
        return {}
    variants = {_variant(name, head): name for name in head}
    return {name: variants[variant] for name in base if (variant := _variant(name, base)) in variants}


def _variant(name: str, names: Sequence[str]) -> str:
    return name[len(os.path.commonprefix([*names])) :]  # noqa: RUF071 (names are no paths)


def _scored(base: Log, head: Log, pairs: Sequence[Pair]) -> Iterator[Pair]:
    """Yield the pairs of candidates with scores.

    Raises:
        ComparisonError: A candidate has scores in one of the logs only.
    """
    with_scores = [{key[0] for key, values in one.records.items() if any(_scores(values))} for one in (base, head)]
    for names in pairs:
        having = [name in scored for name, scored in zip(names, with_scores, strict=True)]
        if all(having):
            yield names
        elif any(having):
            lacking = having.index(False)
            raise ComparisonError(f"{(base, head)[lacking].path}: no sample of {names[lacking]} has a score")
        else:
            log.warning("%s: no sample of it has a score in either log; it is not compared", names[0])


def _asked(base: Log, head: Log, pairs: Sequence[Pair]) -> Asked:
    found: dict[tuple[str, Value], set[str]] = {}
    older = {new: old for old, new in pairs}
    for (name, _, _), values in base.records.items():
        found.setdefault((name, values.get(TASK)), set()).update(_scores(values))
    for (name, _, _), values in head.records.items():
        if name in older:
            found.setdefault((older[name], values.get(TASK)), set()).update(_scores(values))
    return found


def _scores(values: Values) -> Iterator[str]:
    """Yield the names of the scores that a record has."""
    return (name for name, value in values.items() if name.startswith(SCORE) and value is not None)


def _document(logs: tuple[Log, Log], matched: Matched, gate: Gate, changed_rows: int) -> ComparisonDocument:
    both = f"{logs[0].path}, {logs[1].path}"
    if not matched.pairs:
        raise ComparisonError(
            f"{both}: no sample has a score; load a log by `python -m flows.init` to score its answers"
        )
    tables = _tables(logs, matched.pairs)
    pairings = [_pairing(tables, names) for names in matched.pairs]
    if not any(len(one.head_rows) + len(one.changed) for one in pairings):
        raise ComparisonError(f"{both}: no sample in common: their ids differ")
    chosen, gate = _primary(pairings, gate), _with_guards_of(pairings, gate)
    families = candidate_pairs.compare(pairings, gate, chosen.name, others=OPTIONS.plain(tables))
    base, head = (VersionEntry(name=one.path, commit=None) for one in logs)
    texts = FrameRows(tables[0]), FrameRows(tables[1])
    sides = Sides(base, head, texts, matched.only_base, matched.only_head)
    return document(sides, pairings, families, chosen, gate, changed_rows_shown=changed_rows)


def _tables(logs: tuple[Log, Log], pairs: Sequence[Pair]) -> tuple[Keyed, Keyed]:
    """Return the records of both logs as tables with the same columns, the rows of a candidate together."""
    every = [values for one in logs for values in one.records.values()]
    asked = _asked(*logs, pairs)
    hashed = all(values.get(QUESTION_HASH) or lacks_question(values) for values in every)
    names = dict.fromkeys(name for values in every for name in _scores(values))
    scores = {name: _is_binary(name, every) for name in names}
    repeated = any(draw != FIRST_DRAW for one in logs for _, _, draw in one.records)
    shared = _Shared(QUESTION_HASH if hashed else "input", scores, asked, repeated)
    base, head = logs
    return (
        _table(base, {old: old for old, _ in pairs}, shared),
        _table(head, {new: old for old, new in pairs}, shared),
    )


class _Shared(NamedTuple):
    """What both tables have in common.

    question: the column that says whether two samples of equal id ask the same. scores: score → whether it is only 0 or
    1. asked: which scores a task has. repeated: whether samples were answered several times.
    """

    question: str
    scores: Mapping[str, bool]
    asked: Asked
    repeated: bool


def _table(one: Log, names: Mapping[str, str], shared: _Shared) -> Keyed:
    """Return a table of the candidates in `names`, which maps each to its name in BASE."""
    import pandas as pd

    keys = [key for name in names for key in one.records if key[0] == name]
    rows = [one.records[key] for key in keys]
    tasks = [shared.asked.get((names[key[0]], values.get(TASK)), set()) for key, values in zip(keys, rows, strict=True)]
    columns: dict[str, list[Any]] = {
        "candidate": [key[0] for key in keys],
        "question": [values.get(shared.question) for values in rows],
        "group": [
            values.get("group") or (key[1] if shared.repeated else None) for key, values in zip(keys, rows, strict=True)
        ],
        **{name: [values.get(name) for values in rows] for name in ("input", "references", "response")},
    }
    for name, is_binary in shared.scores.items():
        columns[name] = [_number(values.get(name), is_binary=is_binary) for values in rows]
        columns[f"{name}{NOT_ASKED_SUFFIX}"] = [name not in of_task for of_task in tasks]
    ids = [f"{key[1]}#{key[2]}" if shared.repeated else key[1] for key in keys]
    return Keyed(one.path, pd.DataFrame(columns, dtype=object), ids, None)


def _is_binary(name: str, every: Sequence[Values]) -> bool:
    return {float(str(values[name])) for values in every if values.get(name) is not None} <= {0.0, 1.0}


def _number(value: Value, *, is_binary: bool) -> bool | float | None:
    number = None if value is None else float(str(value))
    return number if number is None or not is_binary else bool(number)


def _pairing(tables: tuple[Keyed, Keyed], names: Pair) -> Pairing:
    base, head = (_candidate(table, name) for table, name in zip(tables, names, strict=True))
    pairing = pair(base, head)
    return pairing.without(unlike(pairing, tables, SAME_QUESTION))


def _candidate(table: Keyed, name: str) -> Candidate:
    rows = np.flatnonzero(table.frame["candidate"] == name)
    own = table._replace(frame=table.frame.iloc[rows], ids=[table.ids[row] for row in rows])
    found = candidate(own, OPTIONS._replace(group="group" if own.frame["group"].notna().any() else None))
    return replace(found, name=name, positions=rows[found.positions])


def _primary(pairings: Sequence[Pairing], gate: Gate) -> Primary:
    if gate.primary in _measured(pairings):
        return Primary(str(gate.primary), NAMED)
    measured = Counter[str]()
    for one in pairings:
        for column in (*one.base.columns, *one.head.columns):
            measured[column.name] += int(np.isfinite(column.values).sum())
    reason = "the score of most samples" if len(measured) > 1 else "the only score"
    lacking = f"; the logs have no {gate.primary}" if gate.primary else ""
    return Primary(measured.most_common(1)[0][0], reason + lacking)


def _with_guards_of(pairings: Sequence[Pairing], gate: Gate) -> Gate:
    """Return the gate without the guards that the logs lack, and say which they are."""
    names = _measured(pairings)
    if lacking := [name for name in gate.metrics if name not in names]:
        log.warning("gate.metrics: the logs have no %s, which guards nothing here", ", ".join(lacking))
    return gate.model_copy(update={"metrics": {name: gate.metrics[name] for name in gate.metrics if name in names}})


def _measured(pairings: Sequence[Pairing]) -> list[str]:
    return measure_names([side for one in pairings for side in (one.base, one.head)])
