"""Ids of records, and answers that repeat: several of one system to one question."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from flows.init.proposal import names
from flows.init.proposal.columns import SINGLE, Column

# Share of the questions that must have several answers for these to be draws, and not duplicates.
USUAL = 0.5
Key = tuple[Hashable, ...]


class Repeats(NamedTuple):
    """Option `draw`: a column, true (numbered in the order of the records) or None; the column; and the reason."""

    option: str | bool | None
    column: Column | None = None
    comment: str = ""
    unsure: str = ""


def keys(*columns: Column | None) -> list[Key]:
    """What the records hold in these columns, for comparison."""
    cells = [column.cells for column in columns if column is not None]
    return [tuple(map(str, row)) for row in zip(*cells, strict=True)]


def determines(key: Column, other: Column | None) -> bool:
    """Whether records with the same key hold the same in the other column."""
    return other is None or len(set(keys(key))) == len(set(keys(key, other)))


def repeats(left: Sequence[Column], question: Sequence[Key], responses: Sequence[Column]) -> Repeats:
    """Whether systems answered a question several times, and what numbers the answers.

    Args:
        left: Columns without a role.
        question: Of each record, its question, and its system in long form.
        responses: Columns of the answers.
    """
    counts = Counter(question)
    most = max(counts.values(), default=1)
    several = sum(count > 1 for count in counts.values())
    if not responses or most == 1 or several < USUAL * len(counts):
        return Repeats(None)
    for column in left:
        numbering = column.kind in SINGLE and names.DRAWS & set(names.words(column.leaf or column.name))
        if numbering and column.blank == 0 and _numbers(column, question):
            return Repeats(column.name, column, f"numbers the {most} answers to each question")
    if not _differ(question, responses):
        return Repeats(None)
    told = f"{several:,} of {len(counts):,} questions stand up to {most} times with other answers: repeated answers?"
    return Repeats(option=True, unsure=told)


def _numbers(column: Column, question: Sequence[Key]) -> bool:
    pairs = list(zip(question, column.cells, strict=True))
    return len(set(pairs)) == len(pairs)


def _differ(question: Sequence[Key], responses: Sequence[Column]) -> bool:
    """Whether a system gave several answers to a question."""
    answers: dict[Key, set[str]] = defaultdict(set)
    for key, row in zip(question, zip(*(column.cells for column in responses), strict=True), strict=True):
        answers[key].add(str(row))
    return any(len(own) > 1 for own in answers.values())
