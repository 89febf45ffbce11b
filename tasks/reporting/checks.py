"""The validation reports of the stages, arranged for reading: what each promised, and what became of the rows."""

from collections.abc import Mapping
from typing import Any, NamedTuple

VALIDATION = "reports/validation/"
UNITS = {"embed": "distinct texts", "aggregate": "estimates"}
"""What a stage's rows are, where they are no answers."""


class Stage(NamedTuple):
    """What the gate of one stage found, and what became of the answers. made: its lineage, if it was kept.

    read: answers that it was given; None where nothing says so.
    """

    name: str
    success: bool
    counts: dict[str, float | None]
    checks: list[dict[str, Any]]
    made: Mapping[str, Any] | None
    read: float | None

    @property
    def unit(self) -> str:
        """What its rows are, where they are no answers."""
        return UNITS.get(self.name, "")

    @property
    def broken(self) -> int:
        """Checks that failed."""
        return sum(1 for each in self.checks if each["failed"])

    @property
    def rejected(self) -> float:
        """Answers that it could not use, and wrote down with the reason."""
        return self.counts.get(f"rows_{self.name}_rejected") or 0

    @property
    def lost(self) -> float | None:
        """Answers that are neither in what it wrote nor among the rejected; None where its rows are no answers."""
        kept = self.counts.get("rows_of_a_metric") if self.unit else self.counts.get("rows")
        return None if self.read is None or kept is None else self.read - kept - self.rejected


def stages(documents: Mapping[str, Any]) -> list[Stage]:
    """The stages whose validation reports are among the documents, in their order."""
    bodies = {
        path.removeprefix(VALIDATION).removesuffix(".json"): body
        for path, body in documents.items()
        if path.startswith(VALIDATION)
    }
    return [
        Stage(name, body["success"], body["counts"], body["checks"], body.get("made"), _read(body["counts"], [*bodies]))
        for name, body in bodies.items()
    ]


def _read(counts: Mapping[str, float | None], names: list[str]) -> float | None:
    """The rows of the data set, or else of the first table that a stage before this one wrote."""
    return next((counts[f"rows_{name}"] for name in ("read", *names) if f"rows_{name}" in counts), None)
