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


def field_table(lexical: Parts, candidates: Sequence[str]) -> FieldTable | None:
    """Count right values by field in data/lexical; None if `json_fields` is not among its metrics."""
    if DETAILS not in lexical.schema.names:
        return None
    right, expected = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    rows = lexical.whole(["candidate", DETAILS])
    for candidate, details in zip(rows["candidate"].to_pylist(), rows[DETAILS].to_pylist(), strict=True):
        for field, counts in json.loads(details or "{}").get("fields", {}).items():
            of_right, of_expected = counts.split(" of ")
            right[field, candidate] += int(of_right)
            expected[field, candidate] += int(of_expected)
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
