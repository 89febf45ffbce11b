"""The role of each column, by its name and its values."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from flows.init.proposal import names
from flows.init.proposal.candidates import System, require_one_record_a_question, systems
from flows.init.proposal.columns import SINGLE, Column, columns
from flows.init.proposal.section import quoted, shown
from flows.init.proposal.unrecognised import explain
from tasks.dataset.sources import Record
from tasks.errors import DataError

# Number of values of a slice, and characters of the longest.
FEWEST_VALUES, MOST_VALUES, LONGEST_VALUE = 2, 20, 40
# Fewer values than this among so many records are categories, not groups of related records.
FEW_GROUPS, MANY = 10, 100
LONGEST_CODE = 2
# Share of records without an input up to which the comment does not mention them.
FEW_BLANK = 0.05
# Prefix of a comment that asks the user to check a value.
CHECK = "check: "


class Choice(NamedTuple):
    """The column for an option, or None, and the reason."""

    column: Column | None
    comment: str = ""

    @property
    def name(self) -> str | None:
        """The column's name."""
        return None if self.column is None else self.column.name


class Roles(NamedTuple):
    """The columns by role; `unused` have none."""

    id: Choice
    input: Choice
    references: Column
    about_references: str
    systems: Mapping[str, System]
    group: Choice
    slices: Sequence[Column]
    unused: Sequence[Column]


def roles(path: str, records: Sequence[Record]) -> Roles:
    """Find the role of each column of these records.

    Raises:
        DataError: If no column fits an option that `load` requires, or a record holds the answer of one of several
            systems.
    """
    found = columns(records)
    key = _id(found)
    left = _without(found, key.column)
    asked = _input(left)
    left = _without(left, asked.column)
    references = _references(left)
    left = _without(left, references.column)
    answering = systems(left, references.column)
    if not (key.column or asked.column) or references.column is None or not answering:
        raise DataError(explain(path, found, key.column, asked.column, references.column, answering))
    left = _without(left, *(column for each in answering.values() for column in (each.response, each.label)))
    require_one_record_a_question(path, records, asked.name, left)
    group = _group(left)
    left = _without(left, group.column)
    slices = [column for column in left if _is_slice(column)]
    unused = _without(left, *slices)
    return Roles(key, asked, references.column, references.comment, answering, group, slices, unused)


def _without(left: Sequence[Column], *taken: Column | None) -> list[Column]:
    return [column for column in left if not any(column is each for each in taken)]


def _fitting(
    left: Sequence[Column], fits: Callable[[str], names.Fit | None], kinds: frozenset[str]
) -> list[tuple[names.Fit, Column]]:
    """The columns of these kinds whose names fit, the best first."""
    found = [(fit, column) for column in left if column.kind in kinds and (fit := fits(column.name))]
    return sorted(found, key=lambda pair: pair[0])


def _id(left: Sequence[Column]) -> Choice:
    named = [column for _, column in _fitting(left, names.as_id, SINGLE)]
    for column in named:
        if column.is_unique:
            return Choice(column, f"each of the {column.records:,} values stands once" if column.records > 1 else "")
    repeated = f"; {shown(named[0].name)} is null or has a value twice" if named else ""
    return Choice(None, f"none: a hash of the input{repeated}")


def _input(left: Sequence[Column]) -> Choice:
    fitting = _fitting(left, names.as_input, frozenset({"text", "number"}))
    if fitting:
        (fit, best), *more = sorted(fitting, key=lambda pair: _is_sparse(pair[1]))
        others = [column for _, column in more]
        blank = [column for each, column in fitting if each <= fit and _is_sparse(column)]
        return Choice(best, _blank(blank, best, others) if blank else _others(others, unsure=fit.others > 0))
    unfit = [column for _, column in _fitting(left, names.as_input, frozenset({"nested", "list", "encoded"}))]
    why = f"{shown(unfit[0].name)} holds no text: {unfit[0].about}" if unfit else "no column is named like one"
    return Choice(None, f"{CHECK}none; {why}; a judge would not see what was asked")


def _is_sparse(column: Column) -> bool:
    return column.blank > FEW_BLANK * column.records


def _blank(columns: Sequence[Column], best: Column, others: Sequence[Column]) -> str:
    """The comment on an input if columns that are named like one are blank in many records."""
    told = ", ".join(f"{shown(column.name)} is blank in {column.blank:,} of {column.records:,}" for column in columns)
    told = told if best in columns else f"not the best name, but {told}"
    also = [shown(column.name) for column in others if column not in columns]
    return f"{CHECK}{told}{'; or: ' if also else ''}{', '.join(also)}"


def _references(left: Sequence[Column]) -> Choice:
    fitting = _fitting(left, names.as_references, SINGLE | {"list"})
    fitting.sort(key=lambda pair: pair[1].kind == "boolean")
    if not fitting:
        answers = _fitting(left, names.as_answers, SINGLE | {"list"})
        fitting = [(fit, column) for fit, column in answers if names.key(column.name) in names.ANSWERS]
    if not fitting and any(names.as_response(column.name) for column in left):
        labels = [column for column in left if names.key(column.name) in {"label", "labels"}]
        fitting = [(names.Fit(0, 1), column) for column in labels if column.kind in SINGLE]
    if not fitting:
        return _only_list(left)
    (fit, best), *more = fitting
    return Choice(best, _doubt(best) or _others([column for _, column in more], unsure=fit.others > 0))


def _only_list(left: Sequence[Column]) -> Choice:
    """The only column of lists of texts, unless its name says something else."""
    lists = [column for column in left if column.kind == "list"]
    other = names.ABOUT | names.PHRASES | names.LABELS
    roles = (names.as_input, names.as_answers, names.as_response, names.as_group)
    if len(lists) != 1 or other & set(names.words(lists[0].name)) or any(fits(lists[0].name) for fits in roles):
        return Choice(None)
    return Choice(lists[0], f"{CHECK}the only column of lists of texts; are they the right answers?")


def _doubt(references: Column) -> str:
    """Why the column may not hold references, although its name says so."""
    if references.kind == "boolean":
        return f"{CHECK}true and false; people's verdict on an answer would be its label"
    repeated = 2 * references.distinct <= len(references.values)
    if references.kind == "text" and references.longest <= LONGEST_CODE and repeated:
        return f"{CHECK}codes such as {quoted(references.texts[0])}; the answers must be codes, too"
    return ""


def _others(columns: Sequence[Column], *, unsure: bool) -> str:
    also = f"or: {', '.join(shown(column.name) for column in columns)}" if columns else ""
    if unsure:
        return f"{CHECK}only part of its name says so{f'; {also}' if also else ''}"
    return f"by its name; {also}" if also else "by its name"


def _group(left: Sequence[Column]) -> Choice:
    for _, column in _fitting(left, names.as_group, frozenset({"text", "number"})):
        repeats = FEWEST_VALUES <= column.distinct < len(column.values)
        if repeats and not (column.distinct < FEW_GROUPS and column.records >= MANY):
            return Choice(column, f"{column.distinct:,} values in {column.records:,} records")
    return Choice(None)


def _is_slice(column: Column) -> bool:
    """Whether the column has few, short, repeated values; numbers only by name."""
    each = set(names.words(column.name))
    named = bool(names.SLICES & each)
    if column.kind not in SINGLE or (column.kind == "number" and not named):
        return False
    if names.EXCLUDED & each or (column.kind == "boolean" and names.key_of_label(column.name) is not None):
        return False
    few = FEWEST_VALUES <= column.distinct <= MOST_VALUES and 2 * column.distinct <= len(column.values)
    return few and column.longest <= LONGEST_VALUE and 2 * len(column.values) >= column.records
