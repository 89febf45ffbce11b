"""Measures of classification of two versions: their differences on the rows that both have."""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple, cast

import numpy as np

from goldmeter.comparison.pairing import Blocks
from goldmeter.estimates.class_estimates import (
    NOT_NAMED,
    Codes,
    ReadClasses,
    class_columns,
    differences_of,
    read_classes,
    told_apart,
    values_of,
)
from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.estimates import rounded
from goldmeter.pipeline.tables import Parts
from goldmeter.wording.comparison_document import ClassesComparison


class _Version(NamedTuple):
    """The classes of all rows of a version, part by part, and what its table states of the column."""

    parts: Sequence[ReadClasses]
    facts: ColumnFacts

    def codes(self, labels: Sequence[str]) -> tuple[Codes, Codes]:
        """The classes of references, and those that answers name, by their numbers in `labels`; shape (rows,)."""
        place = {label: number for number, label in enumerate(labels)}
        # The last one is that of NOT_NAMED.
        own = [np.array([*(place.get(label, NOT_NAMED) for label in one.labels), NOT_NAMED]) for one in self.parts]
        every = zip(own, self.parts, strict=True)
        true, named = zip(*((codes[one.true], codes[one.named]) for codes, one in every), strict=True)
        return np.concatenate(true), np.concatenate(named)


def class_comparisons(
    pairs: Sequence[Blocks], tables: tuple[Sequence[Parts], Sequence[Parts]], confidence: float
) -> list[dict[str, ClassesComparison]]:
    """Return, for each pair of candidates, column of `class_match` → its comparison.

    Columns that only one version has, or that the versions measure differently, are left out. Rows count alike, also
    with weights or a mix.

    Args:
        pairs: The paired rows of each pair of candidates, in blocks.
        tables: The tables with scores of both versions.
        confidence: Of each interval by itself.
    """
    found: list[dict[str, ClassesComparison]] = [{} for _ in pairs]
    older, newer = map(class_columns, tables)
    for column in newer:
        if column not in older or older[column][1].signature != newer[column][1].signature:
            continue
        base, head = (_read(*own[column], column) for own in (older, newer))
        expected = frozenset(chain.from_iterable(part.expected for part in (*base.parts, *head.parts)))
        if labels := told_apart(head.facts, expected):
            codes = base.codes(labels), head.codes(labels)
            for blocks, entry in zip(pairs, found, strict=True):
                if compared := _compared(blocks, codes, len(labels), confidence):
                    entry[column] = compared
    return found


def _read(table: Parts, facts: ColumnFacts, column: str) -> _Version:
    return _Version([read_classes(table, number, column) for number in range(len(table))], facts)


def _compared(
    blocks: Blocks, codes: tuple[tuple[Codes, Codes], tuple[Codes, Codes]], k: int, confidence: float
) -> ClassesComparison | None:
    """Return the comparison of two candidates; None if no row is measured in both."""
    rows: list[tuple[Codes, ...]] = []
    (true, base), (same, head) = codes
    for block in (one.rows for one in blocks):
        before, after = block.base.positions[block.base_rows], block.head.positions[block.head_rows]
        measured = (true[before] != NOT_NAMED) & (true[before] == same[after])
        found = [true[before], base[before], head[after], *([] if block.groups is None else [block.groups])]
        rows.append(tuple(one[measured] for one in found))
    true, base, head, *groups = map(np.concatenate, zip(*rows, strict=True))
    if not len(true):
        return None
    entry: ClassesComparison = {
        "n": len(true),
        "base": values_of(true, base, k),
        "head": values_of(true, head, k),
        "measures": differences_of(true, base, head, k, groups[0] if groups else None, confidence),
    }
    return cast(ClassesComparison, rounded(entry))
