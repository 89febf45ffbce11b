"""Loads the user's records by the mapping in params.yaml; what can't be used is kept beside, with the reason."""

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa

from tasks.dataset.settings import Params
from tasks.dataset.sources import Record, Records, records
from tasks.dataset.table import tables
from tasks.pipeline.contract import Contract
from tasks.pipeline.tables import Parts, about

WHOLE = True
SHOWN = 5
"""Rejected answers that a message lists."""


def source(params: Params) -> Records:
    """The records of the user's files."""
    return records(params.dataset.path, params.dataset.pattern)


def load(records: Iterable[Record], params: Params) -> Iterator[dict[str, pa.Table]]:
    """One row per (id, candidate), and in load_rejected one per (id, candidate) that can't be used; in input order.

    Raises what `tasks.dataset.table.tables` raises.
    """
    return tables(records, params)


def expect(params: Params) -> Contract:
    """Complete rows with known candidates, texts within their length, scores within bounds; nothing lost."""
    from great_expectations import expectations as gxe

    scores = [(f"score_{name}", s.bounds) for name, s in params.dataset.scores.items() if s.bounds]
    return Contract(
        rows=[
            *(gxe.ExpectColumnValuesToNotBeNull(column=c) for c in ["id", "candidate", "references", "content"]),
            gxe.ExpectColumnValuesToBeInSet(column="candidate", value_set=list(params.dataset.candidates)),
            *(
                gxe.ExpectColumnValueLengthsToBeBetween(column=column, min_value=low, max_value=params.load.max_chars)
                for column, low in [("id", 1), ("input", 0), ("response", 0)]
            ),
            gxe.ExpectColumnValuesToMatchRegex(column="content", regex="^[0-9a-f]{64}$"),
            *(gxe.ExpectColumnValuesToBeBetween(column=c, min_value=low, max_value=high) for c, (low, high) in scores),
        ],
        keys=[gxe.ExpectCompoundColumnsToBeUnique(column_list=["id", "candidate"])],
        counts=[
            gxe.ExpectColumnValuesToBeBetween(column="rows", min_value=1),
            gxe.ExpectColumnPairValuesToBeEqual(column_A="rows_read", column_B="rows_loaded_or_rejected"),
            gxe.ExpectColumnPairValuesAToBeGreaterThanB(
                column_A="rejected_allowed", column_B="rows_load_rejected", or_equal=True
            ),
        ],
    )


def counts(load: pa.Table, load_rejected: pa.Table) -> dict[str, float]:
    """Of one part: (id, candidate) rows read, found again in the two tables, and how many may be rejected."""
    facts = about(load.schema)
    return {
        "rows_read": facts["rows_read"],
        "rows_loaded_or_rejected": load.num_rows + load_rejected.num_rows,
        # Parts are added up in floating point: 100 rows at 0.01 must allow 1 however they are divided.
        "rejected_allowed": facts["rows_read"] * facts["max_rejected"] * (1 + 1e-9),
    }


def advice(written: Mapping[str, Parts], params: Params) -> list[str]:
    """What to tell who finds the contract broken: the first answers that can't be used, and why."""
    rejected = written["load_rejected"].whole()
    if not rejected.num_rows:
        return []
    share = f"{rejected.num_rows:,} of {rejected.num_rows + written['load'].rows:,}"
    limit = f"load.max_rejected is {params.load.max_rejected:g} (1 keeps the rest, and lists all in data/load_rejected)"
    return [
        f"{share} answers can't be used, and {limit}; the first:",
        *(
            f"  {row['file']}, line {row['line']}, {row['candidate']}: {row['reason']}"
            for row in rejected.slice(0, SHOWN).to_pylist()
        ),
    ]
