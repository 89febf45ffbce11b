"""What needs all records before the first row is made: repeated ids, numbers of equal inputs, names, draws."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.dataset.answers import Source
from goldmeter.dataset.columns import Groups, groups
from goldmeter.dataset.mapping import Keys
from goldmeter.dataset.paths import quoted
from goldmeter.dataset.settings import Dataset
from goldmeter.errors import DataError, did_you_mean

# Candidates of a long table: more are a column of something else.
MOST_CANDIDATES = 1_000
NAMES_LISTED = 30
NONE = -1
Integers = NDArray[np.int64]


class RecordIndex(NamedTuple):
    """What is known of all n selected records; a position counts them from 0, NONE is no position.

    numbers: Number of the record's references among those of its input, from 1, if ids are made of inputs; shape (n,).
    repeated: The first record with the same key, of a record whose key an earlier one has; shape (n,).
    differing: The first record of the id, of a record that asks something else than the first one; shape (n,).
    is_later: Records that are not the first of their question, shape (n,).
    draws: Number of the answer among those to the question, where the order of records says it; else 1; shape (n,).
    asked: First record that holds the question, of a record that only says that an answer is missing; shape (n,).
    questions: Number of the question of each record, NONE if it has no id; shape (n,).
    names: The candidates, in the order in which tables list them.
    unanswered: Candidate of a long table → questions for which it has no record, if there are any.
    beyond_limit: Candidate of a long table all of whose records `dataset.limit` cuts off → their number.
    """

    numbers: Integers
    repeated: Integers
    differing: Integers
    is_later: NDArray[np.bool_]
    draws: Integers
    asked: Integers
    questions: Integers
    names: tuple[str, ...]
    unanswered: Mapping[str, int]
    beyond_limit: Mapping[str, int]


def index_of(
    keys: Keys, codes: Integers, names: Sequence[str], beyond: Mapping[str, int], source: Source
) -> RecordIndex:
    """Decide what needs all records.

    Args:
        keys: Of the selected records.
        codes: Number of the candidate of each in `names`, NONE without one, shape (n,).
        names: The candidates of a long table in the order of their first records.
        beyond: Candidates all of whose records the limit cuts off → their number.
        source: The mapping.

    Raises:
        DataError: The names of candidates can't be used.
    """
    rows, dataset = len(codes), source.dataset
    none, usable = np.full(rows, NONE), np.flatnonzero(keys.is_usable)
    of_question = groups(keys.ids[usable], keys.references[usable])
    questions = _spread(of_question.group, usable, none)
    is_later = np.zeros(rows, np.bool_)
    is_later[usable] = of_question.rank > 0
    differing = none if source.is_plain or dataset.id is None else _differing(keys, questions, none)
    repeated, draws = none, np.ones(rows, np.int64)
    if source.is_plain:
        repeated = _spread(np.where(of_question.rank > 0, _firsts(of_question, usable), NONE), usable, none)
    else:
        repeated, draws = _units(keys, questions, codes, differing, dataset)
    return RecordIndex(
        _numbers(keys, usable, rows) if dataset.id is None else np.ones(rows, np.int64),
        repeated,
        differing,
        is_later,
        draws,
        none if source.is_plain else _asked(keys, questions, none),
        questions,
        _names(names, beyond, source),
        _unanswered(questions, codes, names),
        beyond,
    )


def _spread(values: Integers, rows: Integers, default: Integers) -> Integers:
    """Return the values of some rows as those of all, the others as the default."""
    every = default.copy()
    every[rows] = values
    return every


def _firsts(found: Groups, rows: Integers) -> Integers:
    """Return the first row of the group of each of some rows."""
    return rows[found.first[found.group]]


def _numbers(keys: Keys, usable: Integers, rows: int) -> Integers:
    """Return the number of each record's references among those of its input, in the order of their hashes."""
    by_both, by_input = groups(keys.ids[usable], keys.references[usable]), groups(keys.ids[usable])
    lowest = np.full(len(by_input.first), len(by_both.first))
    np.minimum.at(lowest, by_input.group, by_both.group)
    return _spread(by_both.group - lowest[by_input.group] + 1, usable, np.ones(rows, np.int64))


def _differing(keys: Keys, questions: Integers, none: Integers) -> Integers:
    """Return the first record of the id of each that asks something else than the first whose question can be used."""
    asking = np.flatnonzero((questions != NONE) & ~keys.is_missing)
    first = _firsts(groups(questions[asking]), asking)
    stated = keys.has_content[asking]
    known = asking[stated]
    base = _firsts(groups(questions[known]), known)
    is_other = (keys.content[known] != keys.content[base]).any(axis=1)
    return _spread(first[stated][is_other], known[is_other], none)


def _units(
    keys: Keys, questions: Integers, codes: Integers, differing: Integers, dataset: Dataset
) -> tuple[Integers, Integers]:
    """Return the first record with the question, candidate and draw of each that is not it; and the draws by order."""
    repeated, draws = np.full(len(codes), NONE), np.ones(len(codes), np.int64)
    is_unit = questions != NONE
    if dataset.long:
        is_unit &= codes != NONE
    if isinstance(dataset.draw, str):
        is_unit &= keys.draws != NONE
    unit = np.flatnonzero(is_unit)
    parts = (questions, codes, keys.draws)
    first = _spread(_firsts(groups(*(part[unit] for part in parts)), unit), unit, repeated)
    own = unit[differing[unit] == NONE]
    rank = groups(*(part[own] for part in parts)).rank
    if dataset.draw is True:
        draws[own] = rank + 1
    else:
        repeated[own] = np.where(rank > 0, first[own], NONE)
    return repeated, draws


def _asked(keys: Keys, questions: Integers, none: Integers) -> Integers:
    missing = np.flatnonzero((questions != NONE) & keys.is_missing)
    if not len(missing):
        return none
    asking = np.flatnonzero((questions != NONE) & ~keys.is_missing)
    found = groups(questions[asking])
    first = dict(zip(questions[asking][found.first].tolist(), asking[found.first].tolist(), strict=True))
    return _spread(np.array([first.get(question, NONE) for question in questions[missing].tolist()]), missing, none)


def _unanswered(questions: Integers, codes: Integers, names: Sequence[str]) -> dict[str, int]:
    """Return candidate of a long table → questions for which it has no record, if there are any."""
    is_pair = (questions != NONE) & (codes != NONE)
    if not is_pair.any():
        return {}
    pairs = groups(codes[is_pair], questions[is_pair]).first
    answered = Counter(codes[is_pair][pairs].tolist())
    total = len(np.unique(questions[is_pair]))
    lacking = {names[code]: total - number for code, number in answered.items() if number < total}
    return dict(sorted(lacking.items()))


def require_records(rows: int, dataset: Dataset) -> None:
    """Check that records are selected.

    Raises:
        DataError: None is.
    """
    if not rows:
        exclude = dataset.exclude
        reason = f"no record is left; dataset.exclude leaves out all: {exclude}" if exclude else "there is no record"
        raise DataError(f"dataset: {reason}")


def _names(found: Sequence[str], beyond: Mapping[str, int], source: Source) -> tuple[str, ...]:
    """Return the names of the candidates; beyond: those that have no record before the limit."""
    long = source.dataset.long
    if long is None:
        return tuple(source.dataset.named)
    if not found:
        raise DataError(f"dataset.candidates.column: no record has a name in {long.column}")
    if len(found) > MOST_CANDIDATES:
        raise DataError(
            f"dataset.candidates.column: {long.column} has more than {MOST_CANDIDATES:,} different values, such as "
            f"{', '.join(map(quoted, found[:3]))}; it names no systems"
        )
    for option, names in (("only", long.only), ("about", long.about)):
        for name in names:
            if name not in found and name not in beyond and not (option == "about" and long.only):
                listed = ", ".join(map(quoted, sorted([*found, *beyond])[:NAMES_LISTED]))
                raise DataError(
                    f"dataset.candidates.{option}: no record has {quoted(name)} in {long.column}"
                    f"{did_you_mean(name, found, quoted)}\nits values: {listed}"
                )
    return tuple(name for name in long.only if name in found) or tuple(sorted(found))
