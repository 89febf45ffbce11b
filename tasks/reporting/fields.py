"""Right fields of JSON answers on the page, by field and candidate, from the details of metric `json_fields`."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tasks.pipeline.tables import Parts

DETAILS = "json_fields_details"
# Fields on the page at most, those that are wrong most often.
MOST = 50


class FieldCount(NamedTuple):
    """How many of the expected values of a field are right."""

    right: int
    expected: int

    @property
    def share(self) -> float:
        """Share of right values."""
        return self.right / self.expected


class FieldTable(NamedTuple):
    """Fields, such as lines[].price, those with the smallest share of right values first.

    rows: field → candidate → its count; a candidate without the field in its references has none. left_out: further
    fields.
    """

    rows: dict[str, dict[str, FieldCount]]
    left_out: int


class FieldCounts(NamedTuple):
    """Right and expected values by (field, candidate)."""

    right: Counter[tuple[str, str]]
    expected: Counter[tuple[str, str]]


def field_counts(lexical: Parts, number: int) -> FieldCounts:
    """Count right values by field in one part of data/lexical; none if `json_fields` is not among its metrics."""
    found = FieldCounts(Counter(), Counter())
    if DETAILS not in lexical.schema.names:
        return found
    rows = lexical.part(number, ["candidate", DETAILS])
    counted = rows.group_by(["candidate", DETAILS], use_threads=False).aggregate([([], "count_all")])
    for row in counted.to_pylist():
        for field, counts in json.loads(row[DETAILS] or "{}").get("fields", {}).items():
            of_right, of_expected = counts.split(" of ")
            found.right[field, row["candidate"]] += int(of_right) * row["count_all"]
            found.expected[field, row["candidate"]] += int(of_expected) * row["count_all"]
    return found


def field_table(counted: FieldCounts, candidates: Sequence[str]) -> FieldTable | None:
    """Arrange the counts of all parts for the page; None without any."""
    right, expected = counted
    fields: dict[str, dict[str, FieldCount]] = {}
    for field, candidate in sorted(expected, key=lambda key: candidates.index(key[1])):
        counts = FieldCount(right[field, candidate], expected[field, candidate])
        fields.setdefault(field, {})[candidate] = counts
    ordered = sorted(fields, key=lambda field: (_share(fields[field].values()), field))
    return FieldTable({field: fields[field] for field in ordered[:MOST]}, len(ordered[MOST:])) if fields else None


def _share(counts: Iterable[FieldCount]) -> float:
    """Return the share of right values of all candidates."""
    right, expected = zip(*counts, strict=True)
    return float(sum(right) / sum(expected))
