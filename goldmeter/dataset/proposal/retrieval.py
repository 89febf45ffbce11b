"""Columns of what a system retrieved, and of what it should have retrieved: lists of texts or of ids."""

import json
from collections.abc import Sequence

from goldmeter.dataset.printed_lists import printed_list
from goldmeter.dataset.proposal import given, names
from goldmeter.dataset.proposal.columns import CHECK, Choice, Column
from goldmeter.dataset.proposal.given import Chosen
from goldmeter.dataset.proposal.section import shown
from goldmeter.dataset.sources import Value
from goldmeter.dataset.texts import UnusableValueError

# A column of any name holds the relevant texts if in this share of the records a context is one of them.
OVERLAP = 0.5
ABOUT = "retrieval metrics: docs/how-to/retrieval.md"
NONE = Choice(None)
Lists = Sequence[Sequence[str] | None]


def retrieved(path: str, found: Sequence[Column], left: Sequence[Column], chosen: Chosen) -> tuple[Choice, Choice]:
    """The columns of the contexts, and of the relevant ones.

    Args:
        path: Of the records, for messages.
        found: All columns.
        left: Columns without a role.
        chosen: What the user said about columns.

    Raises:
        DataError: A chosen column does not exist.
    """
    contexts = _chosen(path, found, chosen.contexts, "--contexts") or _contexts(left)
    relevant = _chosen(path, found, chosen.relevant, "--relevant")
    if relevant is None:
        relevant = _relevant(left, contexts.column) if contexts.column else NONE
    return contexts, relevant


def _chosen(path: str, found: Sequence[Column], name: str | None, option: str) -> Choice | None:
    if name is None:
        return None
    return Choice(given.column(path, found, name, option), Chosen.comment) if name else NONE


def _contexts(left: Sequence[Column]) -> Choice:
    """The column of lists that is named like retrieved texts; those named so in full come first."""
    named = [column for column in left if names.is_contexts(column.name) and _lists(column)]
    if not named:
        return NONE
    best, *more = sorted(named, key=lambda column: not names.RETRIEVED & set(names.words(column.name)))
    others = [shown(column.name) for column in more if not _overlap(best, column)]
    if others:
        return Choice(best, f"{CHECK}one column counts for all systems of a record; or: {', '.join(others)}; {ABOUT}")
    return Choice(best, f"lists, by its name; {ABOUT}")


def _relevant(left: Sequence[Column], contexts: Column) -> Choice:
    """The column whose texts are among the contexts, else one that is named so."""
    others = [column for column in left if column is not contexts and not column.leaf]
    for column in others:
        if count := _overlap(contexts, column):
            why = f"its texts are among {shown(contexts.name)} in {count:,} of {len(column.values):,} records"
            right = names.as_references(column.name) or names.as_answers(column.name)
            return Choice(column, f"{CHECK}{why}: no right answers" if right else why)
    named = [column for column in others if names.is_relevant(column.name) and _lists(column)]
    return Choice(named[0], "lists, by its name") if named else NONE


def _overlap(contexts: Column, column: Column) -> int:
    """Number of records in which a text of the column is a context; 0 if these are few."""
    pairs = zip(_lists(contexts) or (), _lists(column, single=True) or (), strict=False)
    asked = [(own, other) for own, other in pairs if own and other]
    shared = sum(not set(own).isdisjoint(other) for own, other in asked)
    return shared if shared and shared >= OVERLAP * len(asked) else 0


def _lists(column: Column, *, single: bool = False) -> Lists | None:
    """The lists of texts of each record, as load reads them; None if the column holds others.

    single: Whether a text by itself is a list of one.
    """
    if column.kind not in {"list", "encoded", *(("text",) if single else ())}:
        return None
    lists = [_list(cell, single=single) for cell in column.cells]
    known = sum(each is not None for each in lists)
    return lists if known == len(column.values) else None


def _list(cell: Value, *, single: bool) -> list[str] | None:
    if isinstance(cell, str):
        found = _printed(cell)
        if found is None:
            return [cell] if single else None
        cell = found
    return [str(item) for item in cell if item is not None] if isinstance(cell, list) else None


def _printed(text: str) -> list[Value] | None:
    """The list that a text prints, as load reads it; None for any other text."""
    try:
        found = printed_list(text)
        found = json.loads(text) if found is None else found
    except (UnusableValueError, ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None
