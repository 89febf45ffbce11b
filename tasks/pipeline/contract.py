"""The contract of a stage's table: expectations of Great Expectations, by the rows that they are checked on."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # importing great_expectations takes seconds
    from great_expectations.expectations.expectation import Expectation


class Contract(NamedTuple):
    """Expectations that a table must meet before the runner publishes it.

    Attributes:
        rows: Checked on each part.
        keys: Checked on the key columns of all parts together.
        counts: Checked on one row of numbers: `rows` (written), `rows_<table>` (of every other table read or
            written) and what the stage's `counts` returns, summed over the parts.
    """

    rows: Sequence["Expectation"] = ()
    keys: Sequence["Expectation"] = ()
    counts: Sequence["Expectation"] = ()
