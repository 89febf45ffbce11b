"""The document of several versions: what `flows.compare --json` writes of three or more."""

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypedDict

from tasks.errors import ComparisonError
from tasks.wording.comparison_document import ComparisonDocument, VersionEntry

Against = Literal["first", "last"]


class VersionComparison(TypedDict):
    """One of the comparisons; reason: why the two can't be compared, where document is None."""

    base: VersionEntry
    head: VersionEntry
    document: ComparisonDocument | None
    reason: NotRequired[str]


class SeveralVersions(TypedDict):
    """Several versions, in the order in which they were named.

    primary: the measure that decides between the first and the last version. confidence: with which the differences of
    the primary measure of all comparisons hold together (Bonferroni). values: of the primary measure's metric, for each
    version that has reports/metrics.json and each candidate: version (its number, from 0), candidate, metric, and what
    `metrics_report.numbers` has of its entry, over all rows of the version.
    """

    schema: Literal[1]
    versions: list[VersionEntry]
    against: Against
    confidence: float
    primary: str
    comparisons: list[VersionComparison]
    values: list[dict[str, Any]]


def from_first_to_last(document: SeveralVersions) -> ComparisonDocument:
    """The comparison that decides on the last version. Raises ComparisonError if there is none."""
    ends = of_ends(document["comparisons"], document["against"])
    if ends["document"] is None:
        raise ComparisonError(ends["reason"])
    return ends["document"]


def of_ends(comparisons: Sequence[VersionComparison], against: Against) -> VersionComparison:
    """The comparison of the first version with the last."""
    return comparisons[-1 if against == "first" else 0]
