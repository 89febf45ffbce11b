"""The contract of a stage's table: expectations of Great Expectations, by the rows that they are checked on."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # importing great_expectations takes seconds
    from great_expectations.expectations.expectation import Expectation


class Contract(NamedTuple):
    """Expectations that a table must meet before the runner publishes it.

    A table whose rows are those of the table read states `same_keys_as`: its keys are then as unique as those of that
    table. Any other one, such as a stage that drops, adds or merges rows, states its own `keys`.

    Attributes:
        rows: Checked on each part.
        keys: Expectations of uniqueness over all parts: ExpectColumnValuesToBeUnique or
            ExpectCompoundColumnsToBeUnique. They are checked on the rows whose hash of these columns is not unique.
        counts: Checked on one row of numbers: `rows` (written), `rows_<table>` (of every other table read or
            written) and what the stage's `counts` returns, summed over the parts.
        same_keys_as: Table read whose keys (those of id, candidate … that it has) each part repeats, in the same
            order; None if none.
    """

    rows: Sequence["Expectation"] = ()
    keys: Sequence["Expectation"] = ()
    counts: Sequence["Expectation"] = ()
    same_keys_as: str | None = None
