"""Thoughts in the answers of a candidate: taken off, kept, or a reason to reject the answer."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from goldmeter.dataset.columns import Problems
from goldmeter.text.thoughts import spoken


class ThoughtCounts(NamedTuple):
    """Candidate → answers whose thought was taken off, and those that end within one."""

    stripped: Counter[str]
    cut: Counter[str]

    def __add__(self, other: "ThoughtCounts") -> "ThoughtCounts":  # type: ignore[override]  # a sum
        """The counts of both."""
        return ThoughtCounts(self.stripped + other.stripped, self.cut + other.cut)


NO_THOUGHTS = ThoughtCounts(Counter(), Counter())


class Answered(NamedTuple):
    """Texts of answers, null where nothing was said; which of them end within a thought."""

    responses: Sequence[str | None]
    cut: frozenset[int]
    counts: ThoughtCounts


def without_thoughts(
    responses: Sequence[str | None], names: Sequence[str | None], how: str, column: str, problems: Problems
) -> Answered:
    """Return the answers to score.

    Args:
        responses: Of the records.
        names: The candidate of each.
        how: `dataset.thoughts`.
        column: Of the responses.
        problems: Gets the rows that are rejected.
    """
    said, stripped, cut = [*responses], list[int](), list[int]()
    for row, text in enumerate(responses) if how != "keep" else ():
        found = spoken(text) if text else None
        if found is None or not found.has_thought:
            continue
        if how == "reject":
            problems.setdefault(row, f"{column}: the answer holds a thought (dataset.thoughts: reject)")
            continue
        said[row] = None if found.is_cut else found.text
        (cut if found.is_cut else stripped).append(row)
    counted = (Counter(str(names[row]) for row in rows if row not in problems) for rows in (stripped, cut))
    return Answered(said if stripped or cut else responses, frozenset(cut), ThoughtCounts(*counted))
