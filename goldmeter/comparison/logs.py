"""Comparison of two logs of other tools, such as two runs of lm_eval, by the scores in them."""

import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from goldmeter.comparison import candidate_pairs
from goldmeter.comparison.found_logs import HASHES
from goldmeter.comparison.frames import ColumnOptions, FrameRows, Keyed, candidate, unlike
from goldmeter.comparison.gate import Gate
from goldmeter.comparison.of_versions import CompareOptions, Matched, Pair, Sides, document, match
from goldmeter.comparison.pairing import Pairing, distinct, pair
from goldmeter.dataset.readers import READERS, detect
from goldmeter.dataset.readers.log import SCORE, lacks_question, missing
from goldmeter.dataset.record import Value
from goldmeter.dataset.sources import records
from goldmeter.errors import ComparisonError
from goldmeter.estimates.columns import Candidate
from goldmeter.estimates.primary import Primary, Reason, measure_names
from goldmeter.metrics.frame import NOT_ASKED_SUFFIX
from goldmeter.wording.comparison_document import ComparisonDocument, VersionEntry

log = logging.getLogger(__name__)

ASKED = ("input", "references")
TASK = "metadata.task"
# Ends of names that are no part of the model's: lm_eval's filter, promptfoo's prompt.
VARIANT = re.compile(r" \([^()]*\)$|, prompt \d+$")
# A folder with this table is a run of the pipeline, though logs may lie in it.
RUN = "data/load"
FIRST_DRAW = "1"
OPTIONS = ColumnOptions({}, {}, frozenset(), None, (), labels_random=False)
Values = Mapping[str, Value]
# Candidate in BASE and task → the scores that samples of the task have, in order.
Asked = Mapping[tuple[str, Value], Mapping[str, None]]


class Log(NamedTuple):
    """A log: its path as given, its records by candidate, id and draw, and the scores of which less is better."""

    path: str
    records: Mapping[tuple[str, str, str], Values]
    lower_is_better: frozenset[str]

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
    measure is `gate.primary` if the logs have it, else the score that most samples of both were asked for. Guards that
    the logs lack are left out.

    Args:
        base: Path of a log, or of a folder of logs.
        head: The same.
        gate: Section `gate` of params.yaml.
        options: Of these, `renamed` and `changed_rows` are used.

    Raises:
        ComparisonError: A path is not a log, or the logs have no candidate, sample or score in common.
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
        raise ComparisonError(
            f"{path}: not a log that is recognised; the other side is one, and a log is compared with a log only"
        )
    opened = records(path, "**/*" if Path(path).is_dir() else None, tool)
    found: dict[tuple[str, str, str], Values] = {}
    for record in opened:
        values = record.values
        key = (str(values["candidate"]), str(values["id"]), str(values.get("draw") or FIRST_DRAW))
        if key in found:
            raise ComparisonError(
                f"{record.file}, line {record.line}: a second answer of {key[0]} to {key[1]}; name the log of one run"
            )
        found[key] = values
    return Log(path, found, frozenset(f"{SCORE}{name}" for name in READERS[tool].lower_is_better(opened.files)))


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

    >>> _by_variant(["gpt (strict)", "gpt (loose)"], ["llama (strict)", "llama (first)"])
    {'gpt (strict)': 'llama (strict)'}
    """
    if {*base} & {*head}:
        return {}
    older, newer = _variants(base), _variants(head)
    return {older[variant]: newer[variant] for variant in older if variant in newer}


def _variants(names: Sequence[str]) -> dict[str, str]:
    """Variant → the only name that has it."""
    variants = {name: found[0] if (found := VARIANT.search(name)) else "" for name in names}
    single = {variant for variant, number in Counter(variants.values()).items() if number == 1}
    return {variant: name for name, variant in variants.items() if variant in single}


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


def _asked(one: Log, names: Mapping[str, str]) -> Asked:
    """Return which scores a log has; names: candidate of the log → its name in BASE."""
    found: dict[tuple[str, Value], dict[str, None]] = {}
    for (name, _, _), values in one.records.items():
        if name in names:
            found.setdefault((names[name], values.get(TASK)), {}).update(dict.fromkeys(_scores(values)))
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
    names = {old: old for old, _ in matched.pairs}, {new: old for old, new in matched.pairs}
    asked = _asked(logs[0], names[0]), _asked(logs[1], names[1])
    shared = _Shared.of(logs, asked)
    tables = _table(logs[0], names[0], shared), _table(logs[1], names[1], shared)
    scored = distinct([_candidate(tables[i], names[i], shared.options) for names in matched.pairs for i in (0, 1)])
    pairings = [_pairing(*both, tables, shared) for both in zip(scored[::2], scored[1::2], strict=True)]
    if not any(len(one.head_rows) + len(one.changed) for one in pairings):
        raise ComparisonError(f"{both}: no sample in common: their ids differ")
    chosen, gate = _primary(pairings, gate, _in_both(logs, asked)), _with_guards_of(pairings, gate)
    pairs = [[pairing] for pairing in pairings]
    families = candidate_pairs.compare(pairs, gate, chosen.name, others=shared.options.plain(tables))
    base, head = (VersionEntry(name=one.path, commit=None) for one in logs)
    texts = FrameRows(tables[0]), FrameRows(tables[1])
    sides = Sides(base, head, texts, matched.only_base, matched.only_head)
    return document(sides, pairs, families, chosen, gate, changed_rows_shown=changed_rows)


def _in_both(logs: tuple[Log, Log], asked: tuple[Asked, Asked]) -> list[str]:
    """Return the scores that both logs have for a common task, in order, and warn of scores that only one log has.

    Raises:
        ComparisonError: There is none.
    """
    tasks = asked[0].keys() & asked[1].keys()
    own = [dict.fromkeys(name for task in each if task in tasks for name in each[task]) for each in asked]
    for one, names, others in zip(logs, own, reversed(own), strict=True):
        if lacking := [name for name in names if name not in others]:
            log.warning("%s: only this log has %s; not compared", one.path, ", ".join(lacking))
    found = [name for name in own[0] if name in own[1]]
    if not found:
        raise ComparisonError(f"{logs[0].path}, {logs[1].path}: no score in common, of a task that both logs have")
    return found


class _Shared(NamedTuple):
    """What both tables have in common.

    question: the columns that say whether two samples of equal id ask the same. scores: each, and whether a sample
    passes at 1. options: their directions and bounds. asked: which of them a task has, in one of the logs.
    repeated: whether samples were answered several times.
    """

    question: tuple[str, str]
    scores: Mapping[str, bool]
    options: ColumnOptions
    asked: Asked
    repeated: bool

    @classmethod
    def of(cls, logs: tuple[Log, Log], asked: tuple[Asked, Asked]) -> "_Shared":
        """Return what two logs have in common."""
        every = [values for one in logs for values in one.records.values()]
        hashed = all(all(map(values.get, HASHES)) or lacks_question(values) for values in every)
        either = {task: {**asked[0].get(task, {}), **asked[1].get(task, {})} for task in {**asked[0], **asked[1]}}
        scores = dict.fromkeys(name for names in either.values() for name in names)
        binary = {name for name in scores if _is_binary(name, every)}
        # The pass rate of a score of which less is better would be the share of zeros: the log shows the mean.
        lower = logs[0].lower_is_better | logs[1].lower_is_better
        return cls(
            question=HASHES if hashed else ASKED,
            scores={name: name in binary - lower for name in scores},
            options=OPTIONS._replace(lower_is_better=lower, bounds=dict.fromkeys(lower & binary, (0.0, 1.0))),
            asked=either,
            repeated=any(draw != FIRST_DRAW for one in logs for _, _, draw in one.records),
        )


def _table(one: Log, names: Mapping[str, str], shared: _Shared) -> Keyed:
    """Return a table of the candidates in `names`, which maps each to its name in BASE."""
    import pandas as pd

    keys = [key for name in names for key in one.records if key[0] == name]
    rows = [one.records[key] for key in keys]
    of_task = [shared.asked[names[key[0]], values.get(TASK)] for key, values in zip(keys, rows, strict=True)]
    groups = [
        values.get("group") or (key[1] if shared.repeated else None) for key, values in zip(keys, rows, strict=True)
    ]
    columns: dict[str, list[Any]] = {
        "candidate": [key[0] for key in keys],
        "group": groups,
        **{name: [values.get(name) for values in rows] for name in (*ASKED, *shared.question, "response")},
    }
    for name, passes in shared.scores.items():
        columns[name] = [_number(values.get(name), passes=passes) for values in rows]
        columns[f"{name}{NOT_ASKED_SUFFIX}"] = [name not in asked for asked in of_task]
    ids = [f"{key[1]}#{key[2]}" if shared.repeated else key[1] for key in keys]
    return Keyed(one.path, pd.DataFrame(columns, dtype=object), ids, None)


def _is_binary(name: str, every: Sequence[Values]) -> bool:
    return {float(str(values[name])) for values in every if values.get(name) is not None} <= {0.0, 1.0}


def _number(value: Value, *, passes: bool) -> bool | float | None:
    number = None if value is None else float(str(value))
    return number if number is None or not passes else bool(number)


def _pairing(base: Candidate, head: Candidate, tables: tuple[Keyed, Keyed], shared: _Shared) -> Pairing:
    pairing = pair(base, head)
    return pairing.without(unlike(pairing, tables, shared.question))


def _candidate(table: Keyed, name: str, options: ColumnOptions) -> Candidate:
    rows = np.flatnonzero(table.frame["candidate"] == name)
    own = table._replace(frame=table.frame.iloc[rows], ids=[table.ids[row] for row in rows])
    found = candidate(own, options._replace(group="group" if own.frame["group"].notna().any() else None))
    return replace(found, name=name, positions=rows[found.positions])


def _primary(pairings: Sequence[Pairing], gate: Gate, scores: Sequence[str]) -> Primary:
    """The measure that decides; scores: those that both logs have. What could be measured does not matter."""
    if gate.primary is not None and gate.primary in _measured(pairings):
        return Primary(gate.primary, Reason.NAMED)
    samples = dict.fromkeys(scores, 0)
    for one in pairings:
        for column in one.base.columns:
            if column.name in samples:
                samples[column.name] += int((~column.not_asked[one.base_rows]).sum())
    first = max(scores, key=lambda name: samples[name])
    alike = sum(number == samples[first] for number in samples.values())
    reason = (
        "the score of most samples" if alike == 1 else f"the first of {alike} scores that equally many samples have"
    )
    reason = "the only score" if len(scores) == 1 else f"{reason}; gate.primary names another"
    return Primary(first, f"{reason}; the logs have no {gate.primary}" if gate.primary else reason)


def _with_guards_of(pairings: Sequence[Pairing], gate: Gate) -> Gate:
    """Return the gate without the guards that the logs lack, and say which they are."""
    names = _measured(pairings)
    if lacking := [name for name in gate.metrics if name not in names]:
        log.warning("gate.metrics: the logs have no %s, which guards nothing here", ", ".join(lacking))
    return gate.model_copy(update={"metrics": {name: gate.metrics[name] for name in gate.metrics if name in names}})


def _measured(pairings: Sequence[Pairing]) -> list[str]:
    return measure_names([side for one in pairings for side in (one.base, one.head)])
