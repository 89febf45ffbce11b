"""The comparison document: what `flows.compare --json` writes, and what tables, Markdown and pages are made from."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict, cast

from tasks.comparison.gate import Verdict
from tasks.scores.metrics_report import Limited


class DifferenceEntry(Limited):
    """HEAD minus BASE. Slices have no method: their intervals are exploratory."""

    p_value: float | None
    method: NotRequired[str]


class UnmeasuredEntry(TypedDict):
    """Shared rows that are not measured in both; worst, best: the difference if they were worst or best for HEAD."""

    not_asked: int
    failed_base: int
    failed_head: int
    worst: float | None
    best: float | None


class CompositionEntry(TypedDict):
    """The measure over all rows of each version; the change of the shared rows, and that of the other rows."""

    base: float | None
    head: float | None
    shared: float | None
    composition: float | None


class MeasureEntry(TypedDict):
    """One measure of two candidates on their n shared rows.

    margin: the smallest loss that matters. detectable: the smallest difference that these rows would have shown.
    rows_needed: how many rows would decide, None for a verdict that is decided.
    """

    base: float | None
    head: float | None
    difference: DifferenceEntry
    verdict: Verdict
    n: int
    margin: float
    higher_is_better: bool
    unmeasured: UnmeasuredEntry
    split: CompositionEntry
    detectable: float | None
    rows_needed: int | None
    signature: str


class RowCounts(TypedDict):
    """How many rows were paired, and how many were not."""

    shared: int
    only_base: int
    only_head: int
    data_changed: int


class RefusedEntry(TypedDict):
    """A measure that can't be compared, and why; blocks: whether the gate can't be passed without it."""

    measure: str
    reason: str
    blocks: bool


class SliceEntry(TypedDict):
    """One measure on the rows of one value of a slice column; q_value: adjusted for the false discovery rate."""

    slice: str
    value: str
    measure: str
    n: int
    difference: DifferenceEntry
    q_value: float | None
    notable: bool


class ChangedRow(TypedDict):
    """A row with another result; base, head: the answers. lost, gained: the pass rates that it left or joined."""

    id: str
    input: str
    references: list[str]
    base: str | None
    head: str | None
    lost: list[str]
    gained: list[str]


class ChangedRows(TypedDict):
    """Rows with another result: how many in all, how many by measure, and the worst of them in full."""

    rows: int
    lost: dict[str, int]
    gained: dict[str, int]
    worst: list[ChangedRow]


class PairEntry(TypedDict):
    """Two candidates. Candidates of one run have neither slices, nor changed rows (`flips`), nor changed data."""

    base: str
    head: str
    rows: RowCounts
    measures: dict[str, MeasureEntry]
    refused: list[RefusedEntry]
    slices: NotRequired[list[SliceEntry]]
    flips: NotRequired[ChangedRows]
    data_changed: NotRequired[list[str]]


class VersionEntry(TypedDict):
    """A compared version."""

    name: str
    commit: str | None


class UnpairedCandidates(TypedDict):
    """Candidates that only one version has."""

    only_base: list[str]
    only_head: list[str]


class ComparisonDocument(TypedDict):
    """Everything that a comparison of two versions found.

    gate: section `gate` of params.yaml. failed: whether a verdict stops the release.
    blocked: whether something that the gate asks for can't be compared.
    """

    schema: Literal[1]
    base: VersionEntry
    head: VersionEntry
    gate: dict[str, Any]
    critical_value: float | None
    failed: bool
    blocked: bool
    candidates: UnpairedCandidates
    pairs: list[PairEntry]


def pairs_of_a_run(comparisons: Sequence[Mapping[str, Any]]) -> Sequence[PairEntry]:
    """The comparisons in reports/metrics.json, which aggregate writes with `candidate_pairs.entries`."""
    return cast(Sequence[PairEntry], comparisons)
