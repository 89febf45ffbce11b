"""The comparison document: what `flows.compare --json` writes, of two versions or of several."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal, NotRequired, TypedDict, cast

from goldmeter.errors import ComparisonError
from goldmeter.estimates.metrics_report import Interval, Limited, PrimaryEntry, WeightingEntry
from goldmeter.wording.verdicts import Decision, Role, Verdict


class JudgeError(StrEnum):
    """What the method of a difference notes whose interval includes the judge's error."""

    UNKNOWN = "judge's error unknown"
    ELSEWHERE = "judge's error on other data"
    STATED = "judge's error as stated for judges that were not measured"


JUDGE_ERRORS = frozenset(JudgeError)
Unit = Literal["points", "score"]


class DifferenceEntry(Limited):
    """HEAD minus BASE; notes: those of the method. Slices have no method: their intervals are exploratory."""

    p_value: float | None
    method: NotRequired[str]
    notes: NotRequired[list[str]]


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


class PlainEntry(TypedDict):
    """A measure of the rows as they are, beside the weighted one; without: the option that weights rows."""

    without: str

    base: float | None
    head: float | None
    difference: DifferenceEntry


class JudgeNoiseEntry(TypedDict):
    """What a judge that does not agree with itself adds to a difference, by the rows that it was asked about twice.

    share: of the variance of the rows' differences, 1 if the estimate is larger.
    """

    share: float


NeededUnit = Literal["row", "labelled row", "label", "group", "question"]


class NeededLabels(TypedDict, total=False):
    """Where labels are missing: how many rows have them, and lack them; all_show: the difference that all show."""

    labelled: int
    lacking: int
    all_show: float


class NeededEntry(NeededLabels):
    """How many more items would decide in four of five cases, if the truth is as far from the limit as it matters.

    unit: what is missing. difference: the smallest that matters, gate.margin or 2 % of the scale. low, high: how many,
    if the data so far show the direction, and if not; None where the interval excludes that difference.
    """

    unit: NeededUnit
    difference: float
    low: int | None
    high: int | None


class MaximumEntry(TypedDict):
    """A maximum of what the answers of HEAD take, and the limits by which it is decided."""

    max: float
    low: float | None
    high: float | None


class MeasureEntry(TypedDict):
    """One measure of two candidates on their n shared rows.

    unit: how differences are read: those of rates in percentage points. margin: the smallest loss that
    matters. detectable: the smallest difference that these rows would have shown. needed: what would decide, None for
    a verdict that is decided, or where it is unknown. per: what n counts, if not rows. designed: of
    labels that a design chose. plain: with weights, by which all other numbers are, those of the rows as they are.
    no_direction: neither more nor less of it is better. judge_noise: of a judge that was asked about rows more than
    once. maximum: of a guard with one, by which its verdict is, and not by the difference.
    """

    role: Role
    unit: Unit
    base: float | None
    head: float | None
    difference: DifferenceEntry
    verdict: Verdict
    n: int
    per: NotRequired[Literal["question"]]
    designed: NotRequired[Literal[True]]
    plain: NotRequired[PlainEntry]
    margin: float
    higher_is_better: bool
    no_direction: NotRequired[Literal[True]]
    unmeasured: UnmeasuredEntry
    split: CompositionEntry
    detectable: float | None
    needed: NeededEntry | None
    judge_noise: NotRequired[JudgeNoiseEntry]
    maximum: NotRequired[MaximumEntry]
    signature: str


class CrossedEntry(TypedDict):
    """McNemar's table of a pass rate: rows that pass in both, only in BASE (lost), only in HEAD (gained), or never."""

    both: int
    lost: int
    gained: int
    neither: int


class DrawCounts(TypedDict):
    """The smallest and the largest number of answers to a question in each version."""

    base: list[int]
    head: list[int]


class RowCounts(TypedDict):
    """How many rows were paired, and how many were not.

    stale_labels: shared rows whose label is of another answer. draws: the smallest and the largest number of answers to
    a question, where both versions have repeated answers.
    """

    shared: int
    only_base: int
    only_head: int
    data_changed: int
    stale_labels: NotRequired[int]
    draws: NotRequired[DrawCounts]


class RefusedEntry(TypedDict):
    """A measure that can't be compared.

    reason: in words, of goldmeter.wording.verdicts. blocks: whether the gate can't be passed without it. differing: of
    a measure that the versions measure differently, the fields of its signature that differ.
    """

    measure: str
    role: Role
    reason: str
    blocks: bool
    differing: NotRequired[list[str]]


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


class NamedRows(TypedDict, total=False):
    """The ids of the first rows of each kind: newly wrong and right by the primary measure, and those left out."""

    newly_wrong: list[str]
    newly_right: list[str]
    only_base: list[str]
    only_head: list[str]
    data_changed: list[str]


class ClassesComparison(TypedDict):
    """What `class_match` found of two candidates on the n rows that both have; each row counts once, also with weights.

    base, head: measure → its value. measures: measure → its difference, whose interval holds by itself.
    """

    n: int
    base: dict[str, float | None]
    head: dict[str, float | None]
    measures: dict[str, Interval]


class PairEntry(NamedRows):
    """Two candidates. Candidates of one run have neither slices, nor changed rows (`flips`), nor ids of rows.

    crossed: McNemar's table of the primary measure; None if it is no pass rate, or was not compared.
    duplicates: groups of measures that say the same of every row; such a group is one witness, not several.
    classes: column of `class_match` → its measures.
    robust: whether the conclusion by the primary measure holds under other choices; of pages of two versions.
    """

    base: str
    head: str
    rows: RowCounts
    crossed: CrossedEntry | None
    duplicates: list[list[str]]
    measures: dict[str, MeasureEntry]
    refused: list[RefusedEntry]
    slices: NotRequired[list[SliceEntry]]
    flips: NotRequired[ChangedRows]
    classes: NotRequired[dict[str, ClassesComparison]]
    robust: NotRequired[Mapping[str, Any]]


class WorstSlice(SliceEntry):
    """The slice of the primary measure that lost most surely; candidate: its name in HEAD."""

    candidate: str


class DecisionEntry(TypedDict):
    """The decision on the release.

    needed: what would decide; None for a decision that is made, and where it is unknown.
    sentence: the decision in one line. reasons: three sentences at most.
    """

    verdict: Decision
    needed: NeededEntry | None
    sentence: str
    reasons: list[str]
    worst_slice: WorstSlice | None


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

    gate: section `gate` of params.yaml. critical_value: of the family of the primary measure.
    failed: whether a verdict stops the release. blocked: whether something that the gate asks for can't be compared.
    weighting: says how often rows count in the differences.
    """

    schema: Literal[1]
    base: VersionEntry
    head: VersionEntry
    gate: dict[str, Any]
    primary: PrimaryEntry
    decision: DecisionEntry
    critical_value: float | None
    failed: bool
    blocked: bool
    candidates: UnpairedCandidates
    pairs: list[PairEntry]
    weighting: NotRequired[WeightingEntry]


def pairs_of_a_run(comparisons: Sequence[Mapping[str, Any]]) -> Sequence[PairEntry]:
    """The comparisons in reports/metrics.json, which aggregate writes with `candidate_pairs.entries`."""
    return cast(Sequence[PairEntry], comparisons)


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
