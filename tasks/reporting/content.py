"""Everything that the page shows, as plain values."""

from collections.abc import Sequence
from typing import NamedTuple

from tasks.reporting.cards import CardGroup
from tasks.reporting.explorer import Explorer
from tasks.reporting.histograms import Distribution
from tasks.reporting.provenance import Provenance, StageChecks
from tasks.reporting.score_tables import MetricScores, SliceTable
from tasks.reporting.survey import FieldTable
from tasks.reporting.trends import Series, Trend
from tasks.scores.metrics_report import AgreementEntry, MetricsReport
from tasks.wording.comparison_document import ComparisonDocument, PairEntry, SeveralVersions
from tasks.wording.conclusion import Conclusion
from tasks.wording.evidence import SliceLines
from tasks.wording.preference import PreferenceSection
from tasks.wording.repeated_answers import RepeatedAnswers
from tasks.wording.resources import ResourceTable


class ComparedVersions(NamedTuple):
    """Several versions, and the primary measure over them; trend: None if no version states it, or it is not shown."""

    document: SeveralVersions
    trend: Trend | None = None


class Content(NamedTuple):
    """The content of the page; the templates read these names.

    measured: reports/metrics.json. conclusion: None if it has no headlines. worst_slices, trust: evidence beside it.
    version: of the tables, if it is known. agreement: candidate → metric → agreement with the human labels, the highest
    first.
    candidate_pairs: comparisons of every two candidates. repeated: None unless questions have several answers.
    preference: None unless the judge was asked for it. resources: what answers took.
    fields: None unless answers are scored by json_fields.
    lead: the leading metric. families: title → its metrics. without_distribution: metric → the reason.
    slices: slice column → a table for each metric. small_n: fewer measured answers are marked as few.
    comparison: of another version with this one, as `python -m flows.compare --json` writes it; None without one.
    history: past runs by schedule; None without a history. several: three or more versions compared; beside a history,
    its runs with this version. explorer: None if no answer fits. max_chars: of a text.
    """

    measured: MetricsReport
    conclusion: Conclusion | None
    worst_slices: SliceLines
    trust: list[str]
    version: str | None
    candidates: list[str]
    lead: MetricScores | None
    families: dict[str, list[MetricScores]]
    distributions: list[Distribution]
    without_distribution: dict[str, str]
    slices: dict[str, list[SliceTable]]
    small_n: int
    card_groups: list[CardGroup]
    stages: list[StageChecks]
    agreement: dict[str, dict[str, AgreementEntry]]
    candidate_pairs: Sequence[PairEntry]
    repeated: RepeatedAnswers | None
    fields: FieldTable | None
    comparison: ComparisonDocument | None
    history: Sequence[Series] | None
    explorer: Explorer | None
    provenance: Provenance
    max_chars: int
    preference: PreferenceSection | None = None
    resources: Sequence[ResourceTable] = ()
    several: ComparedVersions | None = None
