"""Comparison of two pandas tables of scores, row by row, by the tests of the release gate."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console

from tasks.comparison import candidate_pairs, render
from tasks.comparison.compare import Sides, document
from tasks.comparison.frame_columns import ColumnOptions, FrameRows, Keyed, candidate, keyed, unlike
from tasks.comparison.gate import Gate, shared_primary
from tasks.comparison.pairing import distinct, pair
from tasks.errors import ComparisonError, ParamsError
from tasks.pipeline.params import section
from tasks.wording.comparison_document import ComparisonDocument, PairEntry
from tasks.wording.verdicts import Decision

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 140
BASE, HEAD = "base", "head"
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
    """Compare two tables of scores, such as `tasks.metrics.scores` returns, on the rows with equal ids.

    Score columns are those of numbers and of true and false. A column that `tasks.metrics.scores` computed is known by
    the table's `attrs`; of any other column state bounds, threshold and direction here. With `input` or `references`
    in both tables, rows that differ in them are left out. The column `label` holds human labels.

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
    if labels not in ("all", "random", "other"):
        raise ParamsError(
            f"labels: {labels!r}; expected all, random or other: the probabilities of a design have no column here"
        )
    gate = _gate(primary, guards, margin, confidence, fail_on, max_unmeasured)
    options = ColumnOptions(bounds, thresholds, frozenset(lower_is_better), group, tuple(slices), labels == "random")
    tables = keyed(BASE, base, on), keyed(HEAD, head, on)
    options.check(tables)
    return FrameComparison(_document(tables, gate, options))


@dataclass(frozen=True, repr=False)
class FrameComparison:
    """The comparison of two tables; printed, it reads as `python -m flows.compare` does.

    document: everything that was found, as `flows.compare --json` writes it.
    """

    document: ComparisonDocument

    @property
    def verdict(self) -> Decision:
        """The decision on the release."""
        return self.document["decision"]["verdict"]

    @property
    def passes(self) -> bool:
        """Whether the release gate lets HEAD pass."""
        return not (self.document["failed"] or self.document["blocked"])

    @property
    def measures(self) -> "pd.DataFrame":
        """One row per compared measure: role, both values, difference with interval and p value, verdict, rows."""
        import pandas as pd

        rows = {name: _row(entry) for name, entry in self._pair["measures"].items()}
        return pd.DataFrame.from_dict(rows, orient="index", columns=MEASURE_COLUMNS).rename_axis("measure")

    @property
    def refused(self) -> dict[str, str]:
        """Measure → why it could not be compared."""
        return {entry["measure"]: entry["reason"] for entry in self._pair["refused"]}

    @property
    def changed_rows(self) -> "pd.DataFrame":
        """One row per id with another result: the pass rates it left (`lost`) or joined (`gained`), the worst first."""
        import pandas as pd

        return pd.DataFrame(self._pair["flips"]["worst"], columns=CHANGED_COLUMNS).set_index("id")

    @property
    def slices(self) -> "pd.DataFrame":
        """One row per measure and value of a slice column, exploratory: p values are adjusted for their number."""
        import pandas as pd

        rows = [
            {**entry["difference"], **entry, "difference": entry["difference"]["value"]}
            for entry in self._pair["slices"]
        ]
        return pd.DataFrame(rows, columns=SLICE_COLUMNS)

    def __str__(self) -> str:
        text = StringIO()
        render.to_terminal(self.document, Console(file=text, width=WIDTH))
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())

    __repr__ = __str__

    @property
    def _pair(self) -> PairEntry:
        return self.document["pairs"][0]


INTERVAL = ("low", "high", "p_value")
MEASURE_COLUMNS = ("role", "base", "head", "difference", *INTERVAL, "verdict", "n", "margin", "rows_needed", "unit")
CHANGED_COLUMNS = ("id", "lost", "gained", "input", "references", "base", "head")
SLICE_COLUMNS = ("slice", "value", "measure", "n", "difference", *INTERVAL, "q_value", "notable")


def _row(entry: Any) -> list[Any]:
    values = {**entry, **entry["difference"], "difference": entry["difference"]["value"]}
    return [values[name] for name in MEASURE_COLUMNS]


def _gate(primary: str | None, guards: Mapping[str, float], *others: Any) -> Gate:
    names = ("margin", "confidence", "fail_on", "max_unmeasured")
    values = {"primary": primary, "metrics": dict(guards), **dict(zip(names, others, strict=True))}
    return section(Gate, {"compare": values}, "compare")


def _document(tables: tuple[Keyed, Keyed], gate: Gate, options: ColumnOptions) -> ComparisonDocument:
    older, newer = distinct([candidate(table, options) for table in tables])
    pairing = pair(older, newer)
    pairing = pairing.without(unlike(pairing, tables))
    if not len(pairing.head_rows) + len(pairing.changed):
        raise ComparisonError("base and head have no id in common; `on` names the column of ids")
    chosen = shared_primary([[pairing]], gate, random=options.labels_random, option="primary")
    pairs = [[pairing]]
    families = candidate_pairs.compare(pairs, gate, chosen.name, others=options.plain(tables))
    loads = FrameRows(tables[0]), FrameRows(tables[1])
    sides = Sides({"name": BASE, "commit": None}, {"name": HEAD, "commit": None}, loads, [], [])
    return document(sides, pairs, families, chosen, gate, changed_rows_shown=len(pairing.keys))
