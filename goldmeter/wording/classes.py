"""Classes on the page: measures of classification, the classes most confused, and what is no class, in words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from goldmeter.console.format import capitalized, coefficient, counted, joined, listed, points_interval, rate
from goldmeter.estimates import metrics_report
from goldmeter.wording.comparison_document import ClassesComparison, ComparisonDocument, PairEntry

# Measure → its name, and whether it is a share.
MEASURES = {
    "accuracy": ("Accuracy", True),
    "balanced_accuracy": ("Balanced accuracy", True),
    "macro_f1": ("Macro F1", True),
    "weighted_f1": ("Weighted F1", True),
    "matthews": ("Matthews", False),
    "kappa": ("Cohen's kappa", False),
}
MEANING = (
    "Balanced accuracy is the mean recall of the classes, macro F1 their mean F1; both count rare classes as much as "
    "frequent ones. Weighted F1 counts each class by its rows. Matthews' coefficient and kappa are 0 for answers that "
    "do no better than chance. An answer that names no class is wrong."
)
COMPARISON_COLUMNS = ("measure", "before", "after", "difference")
# Confusions and references that are named in a list.
CONFUSED, STRAYS = 8, 3


class MeasureRow(NamedTuple):
    """One measure; values: of each candidate, in their order, None where it was not measured."""

    name: str
    is_share: bool
    values: list[metrics_report.Interval | None]


class DifferenceRow(NamedTuple):
    """One measure of two candidates: its difference in words; is_clear: its interval excludes 0."""

    name: str
    text: str
    is_clear: bool


class DifferenceTable(NamedTuple):
    """The differences of two candidates on n rows."""

    base: str
    head: str
    n: int
    rows: list[DifferenceRow]


class Confusion(NamedTuple):
    """A class that is taken for another one; counts: answers of each candidate, in their order."""

    expected: str
    named: str
    counts: list[int]


class ClassSection(NamedTuple):
    """A column of `class_match`. fields: of the explorer, class expected and class named. left_out: candidates."""

    column: str
    fields: tuple[str, str]
    labels: list[str]
    candidates: dict[str, metrics_report.ClassCandidate]
    measures: list[MeasureRow]
    differences: list[DifferenceTable]
    confused: list[Confusion]
    notes: list[str]


def class_fields(column: str) -> tuple[str, str]:
    """The names of the explorer's fields: the class expected, and the class that an answer names."""
    return f"{column}: expected", f"{column}: named"


def class_sections(document: metrics_report.MetricsReport, candidates: Sequence[str]) -> list[ClassSection]:
    """The sections of the page; candidates: in their order."""
    alike = [*_alike(document.get("weighting"))]
    return [_section(column, entry, candidates, alike) for column, entry in document.get("classes", {}).items()]


def _alike(weighting: metrics_report.WeightingEntry | None) -> Iterator[str]:
    """Say that rows count once, where something weights them."""
    if weighting:
        yield f"Each row counts once: {weighting['option']} does not weight measures of classes."


def _section(
    column: str, entry: metrics_report.ClassesEntry, candidates: Sequence[str], alike: Sequence[str]
) -> ClassSection:
    own = {name: entry["candidates"][name] for name in candidates if name in entry["candidates"]}
    measures = [
        MeasureRow(title, is_share, [_measure(one, name) for one in own.values()])
        for name, (title, is_share) in MEASURES.items()
    ]
    order = {name: place for place, name in enumerate(own)}
    pairs = [_oriented(pair, order) for pair in entry["differences"]]
    differences = sorted(pairs, key=lambda pair: (order[pair.base], order[pair.head]))
    return ClassSection(
        column,
        class_fields(column),
        entry["labels"],
        own,
        measures,
        differences,
        _confused(own),
        [*_notes(entry, own), *alike],
    )


def _measure(entry: metrics_report.ClassCandidate, name: str) -> metrics_report.Interval | None:
    found = entry["accuracy"] if name == "accuracy" else entry["measures"][name]
    return found if found["value"] is not None else None


def comparison_tables(pair: PairEntry) -> dict[str, list[list[str]]]:
    """Title → cells under COMPARISON_COLUMNS of the measures of two versions; none without `class_match`."""
    return {
        f"classes, by {column}: {counted(entry['n'], 'row')}": [*_cells(entry)]
        for column, entry in pair.get("classes", {}).items()
    }


def comparison_notes(document: ComparisonDocument) -> Iterator[str]:
    """Notes on the measures of classes of two versions; none without `class_match`."""
    if any("classes" in pair for pair in document["pairs"]):
        yield "measures of classes: each interval holds by itself, and none of them stops a release"
        yield from _alike(document.get("weighting"))


def _cells(entry: ClassesComparison) -> Iterator[list[str]]:
    for name, difference in entry["measures"].items():
        title, is_share = MEASURES[name]
        say = rate if is_share else coefficient
        yield [title, say(entry["base"][name]), say(entry["head"][name]), _difference(difference, is_share)[0]]


def _oriented(pair: metrics_report.ClassDifference, order: Mapping[str, int]) -> DifferenceTable:
    """The first candidate of the page less the other one."""
    turned = order[pair["base"]] < order[pair["head"]]
    base, head = (pair["head"], pair["base"]) if turned else (pair["base"], pair["head"])
    rows = [
        DifferenceRow(
            title, *_difference(_turned(pair["measures"][name]) if turned else pair["measures"][name], is_share)
        )
        for name, (title, is_share) in MEASURES.items()
        if name in pair["measures"]
    ]
    return DifferenceTable(base, head, pair["n"], rows)


def _turned(found: metrics_report.Interval) -> metrics_report.Interval:
    value = found["value"]
    return {**found, "value": None if value is None else -value, "low": -found["high"], "high": -found["low"]}


def _difference(found: metrics_report.Interval, is_share: bool) -> tuple[str, bool]:  # noqa: FBT001
    value, low, high = found["value"], found["low"], found["high"]
    if value is None:
        return found["method"], False
    signed = [("+" if one > 0.0 else "") + coefficient(one) for one in (value, low, high)]
    text = points_interval(value, low, high) if is_share else f"{signed[0]} [{signed[1]}, {signed[2]}]"
    return text, low > 0.0 or high < 0.0


def _confused(candidates: Mapping[str, metrics_report.ClassCandidate]) -> list[Confusion]:
    """The pairs of classes that are confused most often, by all candidates together."""
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for name, entry in candidates.items():
        for one in entry["confused"]:
            counts.setdefault((one["expected"], one["named"]), {})[name] = one["n"]
    first = sorted(counts.items(), key=lambda item: (-sum(item[1].values()), item[0]))[:CONFUSED]
    return [Confusion(*pair, [own.get(name, 0) for name in candidates]) for pair, own in first]


def _notes(
    entry: metrics_report.ClassesEntry, candidates: Mapping[str, metrics_report.ClassCandidate]
) -> Iterator[str]:
    for name, own in candidates.items():
        if own["no_class"] or own["two_classes"]:
            none, two = own["no_class"], own["two_classes"]
            said = [f"{counted(none, 'answer names', 'answers name')} no class"] if none else []
            said += [f"{counted(two, 'answer names', 'answers name')} two or more"] if two else []
            yield f"{name}: {joined(said)}, counted as wrong."
    if n := entry["no_class_references"]:
        rows = listed([f"{one['id']}: {one['reference']}" for one in entry["strays"]], STRAYS)
        yield f"{capitalized(counted(n, 'answer is', 'answers are'))} not measured: the reference is no class ({rows})."
    if unused := entry["without_reference"]:
        yield f"No reference is {listed(unused, STRAYS)}; averages over classes leave it out."
    if not entry["given"]:
        yield (
            "The classes are those of the references; an answer must be the name of one and no more. With "
            "lexical.class_match.classes in params.yaml, a sentence that names a class counts."
        )
