"""Validation reports of the stages, arranged for the page: which checks hold, and the rows read and written."""

from collections.abc import Mapping
from typing import Any, NamedTuple

VALIDATION = "reports/validation/"
# Units of the rows of stages that do not write one row per answer.
UNITS = {"embed": "distinct texts", "aggregate": "estimates"}


class StageChecks(NamedTuple):
    """The validation of one stage's table.

    read: how many answers it was given; None if no report says so.
    lineage: the code, params and versions that it ran with; None if they were not recorded.
    """

    name: str
    success: bool
    counts: dict[str, float | None]
    checks: list[dict[str, Any]]
    lineage: Mapping[str, Any] | None
    read: float | None

    @property
    def unit(self) -> str:
        """The unit of its rows, empty for answers."""
        return UNITS.get(self.name, "")

    @property
    def broken(self) -> int:
        """How many checks failed."""
        return sum(1 for check in self.checks if check["failed"])

    @property
    def rejected(self) -> float:
        """How many answers it rejected with a reason."""
        return self.counts.get(f"rows_{self.name}_rejected") or 0

    @property
    def lost(self) -> float | None:
        """How many answers it neither wrote nor rejected; None if that is unknown."""
        written = self.counts.get("rows_of_a_metric") if self.unit else self.counts.get("rows")
        return None if self.read is None or written is None else self.read - written - self.rejected


def stage_checks(documents: Mapping[str, Any]) -> list[StageChecks]:
    """Return the stages whose validation reports are among the documents, in their order; documents: path → JSON."""
    reports = {
        path.removeprefix(VALIDATION).removesuffix(".json"): report
        for path, report in documents.items()
        if path.startswith(VALIDATION)
    }
    return [
        StageChecks(name, report["success"], counts, report["checks"], report.get("made"), _read(counts, [*reports]))
        for name, report in reports.items()
        for counts in [report["counts"]]
    ]


def _read(counts: Mapping[str, float | None], names: list[str]) -> float | None:
    """Return the rows of the data set, or else of the first table that an earlier stage wrote."""
    return next((counts[f"rows_{name}"] for name in ("read", *names) if f"rows_{name}" in counts), None)
