"""How often each row stands for real traffic, `dataset.weight`: weighted numbers of a run's score columns."""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from tasks.pipeline.tables import Parts
from tasks.scores.column_facts import WEIGHT
from tasks.scores.estimates import UNBOUNDED
from tasks.scores.metrics_report import Limited, WeightedEntry
from tasks.scores.primary import VERDICT, column
from tasks.scores.sums import CandidateSums, ColumnSums

if TYPE_CHECKING:  # importing scipy takes half a second
    from tasks.statistics.weighted import WeightedSums

CORPUS = "a corpus score counts words, and weights count rows"
NOTHING = "every measured row has weight 0"


class RowWeights(NamedTuple):
    """Weights of rows; column: of the data set."""

    column: str

    @property
    def option(self) -> str:
        """The option of params.yaml."""
        return "dataset.weight"

    @property
    def words(self) -> str:
        """What it is, in words, with its option."""
        return "the weights of dataset.weight"

    def entries(
        self, candidate: CandidateSums, rows: "Mapping[tuple[str, str | None], Mapping[str, Any]]", confidence: float
    ) -> Iterator[tuple[str, WeightedEntry]]:
        """Yield the metrics of a candidate with their weighted numbers."""
        for one in candidate.columns:
            yield one.name, weighted_entry(one, rows[one.name, None], confidence)

    def outside(self, candidate: CandidateSums) -> float:
        """The weighted share of judged rows outside of the judge's domain."""
        judged = column(candidate, VERDICT)
        if judged is None or judged.weighted is None or not judged.weighted.scores.weight:
            return 0.0
        return judged.weighted.outside / judged.weighted.scores.weight


def weight_exponent(load: Parts) -> int:
    """The exponent of the power of two that is larger than all weights of a table; 0 without weights."""
    from numpy import frexp

    if WEIGHT not in load.schema.names:
        return 0
    largest = max((part[WEIGHT].to_numpy().max(initial=0.0) for part in load.read([WEIGHT])), default=0.0)
    return int(frexp(largest)[1])


def weighted_entry(sums: ColumnSums, row: Mapping[str, Any], confidence: float) -> WeightedEntry:
    """The weighted numbers of a column; row: of data/aggregate, of all rows as they are."""
    if sums.weighted is None or not sums.n_measured:
        return {"value": None, "low": None, "high": None, "n_eff": None}
    if not sums.weighted.scores.n:
        return {"value": None, "low": None, "high": None, "n_eff": None, "missing": NOTHING}
    found: WeightedEntry = {"value": None, "low": None, "high": None, "n_eff": sums.weighted.scores.n_eff}
    if sums.stats is None:
        limits = _limits(sums.weighted.scores, sums, row, "", confidence)
        found["value"], found["low"], found["high"] = limits["value"], limits["low"], limits["high"]
    else:
        found["missing"] = CORPUS
    if sums.weighted.passes is not None:
        found["pass_rate"] = _limits(sums.weighted.passes, sums, row, "pass_", confidence)
    return found


def _limits(
    weighted: "WeightedSums", sums: ColumnSums, row: Mapping[str, Any], kind: str, confidence: float
) -> Limited:
    """The weighted value with its limits; equal weights change nothing."""
    from tasks.statistics.weighted import weighted_mean

    if weighted.n == sums.n_measured and weighted.are_equal:
        return {"value": row[f"{kind}value"], "low": row[f"{kind}low"], "high": row[f"{kind}high"]}
    bounds = (0.0, 1.0) if kind else sums.facts.bounds or UNBOUNDED
    mean = weighted_mean(weighted, bounds, confidence)
    low, high = (limit if isfinite(limit) else None for limit in (mean.low, mean.high))
    return {"value": mean.value, "low": low, "high": high}
