"""Several versions in their order, each compared with the first or with the last of them."""

from collections.abc import Sequence
from typing import Any

from tasks.comparison.compare import DEFAULTS, CompareOptions, compare_versions
from tasks.comparison.gate import Gate
from tasks.errors import ComparisonError, DataError, VersionError
from tasks.scores.column_facts import VALUE
from tasks.scores.metrics_report import METRICS, numbers, reading
from tasks.versions.version import Version
from tasks.wording.comparison_document import VersionEntry
from tasks.wording.several_document import Against, SeveralVersions, VersionComparison, of_ends


def compare_several(
    versions: Sequence[Version], gate: Gate, against: Against, options: CompareOptions = DEFAULTS
) -> SeveralVersions:
    """Compare each version with the first or the last, so that all comparisons hold together at the gate's confidence.

    Args:
        versions: In their order, at least two.
        gate: Section `gate` of params.yaml.
        against: Which version all others are compared with.
        options: How to compare.

    Raises:
        ComparisonError: No two of them can be compared. If some can, the others have the reason in their place.
    """
    first, last = versions[0], versions[-1]
    pairs = [(first, one) for one in versions[1:]] if against == "first" else [(one, last) for one in versions[:-1]]
    alike = gate.model_copy(update={"confidence": 1.0 - (1.0 - gate.confidence) / len(pairs)})
    comparisons = [_compared(base, head, alike, options) for base, head in pairs]
    documents = [one["document"] for one in comparisons if one["document"] is not None]
    if not documents:
        raise ComparisonError(comparisons[0]["reason"])
    primary = (of_ends(comparisons, against)["document"] or documents[0])["primary"]["measure"]
    return {
        "schema": 1,
        "versions": [_named(version) for version in versions],
        "against": against,
        "confidence": gate.confidence,
        "primary": primary,
        "comparisons": comparisons,
        "values": [value for number, version in enumerate(versions) for value in _values(version, number, primary)],
    }


def _compared(base: Version, head: Version, gate: Gate, options: CompareOptions) -> VersionComparison:
    found: VersionComparison = {"base": _named(base), "head": _named(head), "document": None}
    try:
        found["document"] = compare_versions(base, head, gate, options)
    except (ComparisonError, VersionError, DataError) as error:
        found["reason"] = str(error)
    return found


def _values(version: Version, number: int, measure: str) -> list[dict[str, Any]]:
    if not version.has(METRICS):
        return []
    metric = measure.removesuffix(VALUE)
    with reading(version.path(METRICS), version.name) as document:
        return [
            {"version": number, "candidate": candidate, "metric": metric, **numbers(metrics[metric])}
            for candidate, metrics in document["candidates"].items()
            if metric in metrics
        ]


def _named(version: Version) -> VersionEntry:
    return {"name": version.name, "commit": version.commit}
