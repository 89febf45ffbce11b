"""Comparison of two versions or candidates: paired rows, differences, changed rows, the release gate."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pandas as pd

    from goldmeter.comparison.frames import FrameComparison

__all__ = ["compare"]

NO_BOUNDS: Mapping[str, tuple[float, float]] = {}
NO_NUMBERS: Mapping[str, float] = {}


def compare(
    base: "pd.DataFrame",
    head: "pd.DataFrame",
    *,
    primary: str | None = None,
    guards: Mapping[str, float] = NO_NUMBERS,
    margin: float = 0.0,
    confidence: float = 0.95,
    fail_on: Literal["worse", "cannot_tell"] = "worse",
    max_unmeasured: float = 0.05,
    on: str | None = None,
    group: str | None = None,
    slices: Sequence[str] = (),
    bounds: Mapping[str, tuple[float, float]] = NO_BOUNDS,
    thresholds: Mapping[str, float] = NO_NUMBERS,
    lower_is_better: Collection[str] = (),
    labels: Literal["all", "random", "other"] = "all",
) -> "FrameComparison":
    """Compare two tables of scores, such as `goldmeter.scores` returns, on the rows with equal ids.

    Score columns are those of numbers and of true and false. A column that `goldmeter.scores` computed is known
    by the table's `attrs`; of any other column state bounds, threshold and direction here. With `input` or `references`
    in both tables, rows that differ in them are left out; `response` in both tells which answers did not change. The
    column `label` holds human labels.

    Args:
        base: The older scores, one row per id.
        head: The newer scores.
        primary: The measure that decides; None: `label` where both have labels, else the judge's verdict.
        guards: Measures that stop a release → the largest acceptable loss, as a share of the measure's scale.
        margin: The largest acceptable loss of the primary measure, as a share of its scale.
        confidence: Of the intervals of the primary measure, and of those of each other family together.
        fail_on: What stops a release: a loss, or also an undecided difference.
        max_unmeasured: The share of rows that may lack a score in either table.
        on: The column of ids; None: the column `id`, or the index where there is none.
        group: The column of clusters: rows of one conversation or document.
        slices: Columns whose values are compared one by one.
        bounds: Column → smallest and largest possible score.
        thresholds: Column → the score from which on a row passes.
        lower_is_better: Columns of which less is better.
        labels: How the labelled rows were chosen, as `dataset.labels`.

    Raises:
        ComparisonError: The tables have no row in common, or a column is missing or no score.
        ParamsError: No measure decides, or an option is wrong.
    """
    from goldmeter.comparison import frames  # its libraries take a second to import
    from goldmeter.errors import ParamsError

    if labels not in ("all", "random", "other"):
        raise ParamsError(
            f"labels: {labels!r}; expected all, random or other: the probabilities of a design have no column here"
        )
    gate = frames.gate(primary, guards, margin, confidence, fail_on, max_unmeasured)
    options = frames.ColumnOptions(
        bounds, thresholds, frozenset(lower_is_better), group, tuple(slices), labels == "random"
    )
    return frames.compared((frames.keyed(frames.BASE, base, on), frames.keyed(frames.HEAD, head, on)), gate, options)
