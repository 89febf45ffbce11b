"""Everything that the page shows, as plain values."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tasks.reporting.cards import CardGroup
from tasks.reporting.checks import Stage
from tasks.reporting.explorer import Explorer
from tasks.reporting.histograms import Distribution
from tasks.reporting.provenance import Provenance
from tasks.reporting.score_tables import Metric, SliceTable
from tasks.reporting.trends import Series


class Content(NamedTuple):
    """What the page shows. confidence: of the intervals. lead: the metric of the first lines.

    agreement: candidate → metric → how far it agrees with people, best first; thresholds: metric → what labels teach;
    powered: metric → candidate → what a cheap score adds to few verdicts; correlations: of the scores; all as
    reports/metrics.json has them.
    compared: every two candidates, as reports/metrics.json has them; joint: the confidence of all their verdicts.
    comparison: another version beside this one, as `python -m flows.compare --json` writes it.
    history: past runs, a series per schedule.
    explorer: answers that people search and sort in the page. provenance: where the numbers come from.
    """

    dataset: dict[str, Any]
    confidence: float
    candidates: list[str]
    lead: Metric | None
    families: dict[str, list[Metric]]
    drawn: list[Distribution]
    not_drawn: dict[str, str]
    slices: dict[str, list[SliceTable]]
    small_n: int
    look: list[CardGroup]
    stages: list[Stage]
    agreement: dict[str, dict[str, Any]]
    thresholds: dict[str, Any]
    powered: dict[str, dict[str, Any]]
    correlations: dict[str, Any]
    compared: list[dict[str, Any]]
    joint: float
    comparison: Mapping[str, Any] | None
    history: Sequence[Series] | None
    explorer: Explorer | None
    provenance: Provenance
    max_chars: int
