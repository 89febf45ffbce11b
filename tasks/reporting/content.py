"""Everything that the page shows, as plain values."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from tasks.comparison.document import ComparisonDocument
from tasks.reporting.cards import CardGroup
from tasks.reporting.checks import StageChecks
from tasks.reporting.explorer import Explorer
from tasks.reporting.histograms import Distribution
from tasks.reporting.provenance import Provenance
from tasks.reporting.score_tables import MetricScores, SliceTable
from tasks.reporting.trends import Series


class Content(NamedTuple):
    """The content of the page; the templates read these names.

    From reports/metrics.json, unchanged:
        dataset. confidence: of all intervals. thresholds: metric → its fitted threshold. correlations: of the scores.
        candidate_pairs: comparisons of every two candidates. joint_confidence: of all their verdicts together.

    From reports/metrics.json, regrouped:
        agreement: candidate → metric → agreement with the human labels, the highest first.
        prediction_powered: metric → candidate → the prediction-powered estimate.

    lead: the leading metric. families: title → its metrics. without_distribution: metric → the reason.
    slices: slice column → a table for each metric. small_n: fewer measured answers are marked as few.
    comparison: of another version with this one, as `python -m flows.compare --json` writes it; None without one.
    history: past runs by schedule; None without a history. explorer: None if no answer fits. max_chars: of a text.
    """

    dataset: dict[str, Any]
    confidence: float
    candidates: list[str]
    lead: MetricScores | None
    families: dict[str, list[MetricScores]]
    distributions: list[Distribution]
    without_distribution: dict[str, str]
    slices: dict[str, list[SliceTable]]
    small_n: int
    card_groups: list[CardGroup]
    stages: list[StageChecks]
    agreement: dict[str, dict[str, Any]]
    thresholds: dict[str, Any]
    prediction_powered: dict[str, dict[str, Any]]
    correlations: dict[str, Any]
    candidate_pairs: list[dict[str, Any]]
    joint_confidence: float
    comparison: ComparisonDocument | None
    history: Sequence[Series] | None
    explorer: Explorer | None
    provenance: Provenance
    max_chars: int
