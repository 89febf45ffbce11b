"""Several versions in words: the decision on the last one, and a table for each candidate."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from goldmeter.console.format import CUT, NONE, count, counted, cut, level, number, rate_interval
from goldmeter.estimates.primary import VERDICT
from goldmeter.wording import comparison_document, comparison_lines


class VersionRow(NamedTuple):
    """A version of a candidate. value: one of the document's `values`. pair, measure: how it compares; None: not.

    reason: why it is not compared; empty for the version that all others are compared with.
    """

    name: str
    value: Mapping[str, Any] | None
    comparison: comparison_document.VersionComparison | None
    pair: comparison_document.PairEntry | None
    measure: str
    reason: str

    @property
    def entry(self) -> comparison_document.MeasureEntry | None:
        """The difference of the primary measure."""
        return None if self.pair is None else self.pair["measures"].get(self.measure)


def rows(document: comparison_document.SeveralVersions) -> dict[str, list[VersionRow]]:
    """Candidate → a row for each version, in their order."""
    compared = [one["document"] for one in document["comparisons"] if one["document"] is not None]
    names = [value["candidate"] for value in document["values"]]
    names += [pair["head"] for found in compared for pair in found["pairs"]]
    return {
        name: [_row(document, name, place) for place in range(len(document["versions"]))] for name in sorted({*names})
    }


def reference(document: comparison_document.SeveralVersions) -> int:
    """The number of the version that all others are compared with."""
    return 0 if document["against"] == "first" else len(document["versions"]) - 1


def _row(document: comparison_document.SeveralVersions, candidate: str, place: int) -> VersionRow:
    values = (one for one in document["values"] if (one["version"], one["candidate"]) == (place, candidate))
    name, value = document["versions"][place]["name"], next(values, None)
    if place == reference(document):
        return VersionRow(name, value, None, None, document["primary"], "")
    comparison = document["comparisons"][place - (document["against"] == "first")]
    found = comparison["document"]
    if found is None:
        return VersionRow(name, value, comparison, None, document["primary"], comparison["reason"])
    pair = next((one for one in found["pairs"] if one["head"] == candidate), None)
    measure = found["primary"]["measure"]
    refused = [one["reason"] for one in pair["refused"] if one["measure"] == measure] if pair else []
    reason = "" if pair and measure in pair["measures"] else next(iter(refused), "only one of the versions has it")
    return VersionRow(name, value, comparison, pair, measure, reason)


def lead(document: comparison_document.SeveralVersions) -> list[str]:
    """The decision on the last version, then how all comparisons hold."""
    sentence, *reasons = comparison_lines.lead(comparison_document.from_first_to_last(document))
    first, last = document["versions"][0]["name"], document["versions"][-1]["name"]
    return [f"{first} → {last}: {sentence}", *reasons, together(document)]


def other(
    document: comparison_document.SeveralVersions, comparison: comparison_document.VersionComparison
) -> comparison_document.VersionEntry:
    """The version that a comparison compares with the reference."""
    return comparison["head"] if document["against"] == "first" else comparison["base"]


def anchor(document: comparison_document.SeveralVersions, name: str) -> str:
    """Where the page shows a version's comparison; empty if it shows none."""
    names = [other(document, one)["name"] for one in document["comparisons"]]
    return f"compared-{names.index(name) + 1}" if name in names else ""


def together(document: comparison_document.SeveralVersions) -> str:
    """What is compared, and with which confidence."""
    compared = sum(one["document"] is not None for one in document["comparisons"])
    missing = len(document["comparisons"]) - compared
    name = document["versions"][reference(document)]["name"]
    left = f"; {counted(missing, 'version')} could not be compared" if missing else ""
    return (
        f"Each version is compared with {name} on {document['primary']}: {counted(compared, 'comparison')}, whose "
        f"intervals hold together with {level(document['confidence'])} confidence{left}."
    )


def notes(document: comparison_document.SeveralVersions) -> list[str]:
    """What the intervals of the values leave out."""
    if document["primary"].partition(".")[0] != VERDICT:
        return []
    return ["Values are of all rows of a version; their intervals leave the judge's own error out."]


def more(document: comparison_document.SeveralVersions) -> str:
    """How to read two of the versions."""
    first, second = (one["name"] for one in document["versions"][:2])
    return f"measures, slices and changed rows of two: python -m flows.compare {first} {second}"


def heads(document: comparison_document.SeveralVersions) -> list[str]:
    """The heads of the table of a candidate."""
    name = document["versions"][reference(document)]["name"]
    difference = f"difference from {name}" if document["against"] == "first" else f"{name} minus it"
    return ["version", "rows", document["primary"], difference, "verdict"]


def cells(document: comparison_document.SeveralVersions, row: VersionRow) -> list[str]:
    """The cells of a version under `heads`."""
    name = row.name
    n = NONE if row.value is None else count(row.value["n"])
    if row.comparison is None:
        return [name, n, value_cell(document, row), "", ""]
    if row.entry is None:
        return [name, n, value_cell(document, row), NONE, f"not compared: {cut(row.reason, CUT)}"]
    other = "" if row.measure == document["primary"] else f" on {row.measure}"
    return [
        name,
        n,
        value_cell(document, row),
        comparison_lines.interval(row.entry["difference"], row.entry["unit"]),
        f"{row.entry['verdict']}{other}",
    ]


def value_cell(document: comparison_document.SeveralVersions, row: VersionRow) -> str:
    """The value of the primary measure over all rows of a version, with its interval."""
    value = row.value
    if value is None:
        return NONE
    if document["primary"] == value["metric"] and value["pass_rate"] is not None:
        return rate_interval(value["pass_rate"], value["pass_rate_low"], value["pass_rate_high"])
    if value["low"] is None:
        return number(value["value"])
    return f"{number(value['value'])} [{number(value['low'])}, {number(value['high'])}]"
