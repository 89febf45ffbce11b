"""The contract of a stage's table: Great Expectations classes, sorted by what they must see."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # importing great_expectations takes seconds
    from great_expectations.expectations.expectation import Expectation


class Contract(NamedTuple):
    """What `expect(params)` of a stage returns, and the runner checks before a table is written.

    rows: checked on each part. keys: checked on the key columns of all parts together.
    counts: checked on one row of numbers: `rows` (written), `rows_<table>` (read, or written beside),
    and whatever the stage's `counts(...)` adds, summed over the parts.
    """

    rows: Sequence["Expectation"] = ()
    keys: Sequence["Expectation"] = ()
    counts: Sequence["Expectation"] = ()
