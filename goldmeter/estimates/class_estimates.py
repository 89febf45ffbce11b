"""How well each candidate names classes: measures, rates by class and confusions, and differences of candidates."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.estimates.column_facts import ColumnFacts, stated
from goldmeter.estimates.columns import NONE_FITTED, Hashes
from goldmeter.estimates.estimates import ONE_CLUSTER, is_one_cluster, silenced
from goldmeter.estimates.human_labels import interval
from goldmeter.estimates.metrics_report import (
    ClassCandidate,
    ClassDifference,
    ClassesEntry,
    ConfusedEntry,
    Interval,
    StrayReference,
)
from goldmeter.estimates.score_parts import ScoreParts
from goldmeter.pipeline.tables import Parts, about
from goldmeter.statistics.confusion import BOUNDS, UNIT, class_differences, class_measures
from goldmeter.statistics.estimate import Estimate

METRIC = "class_match"
# Answers with more different classes than this are no classification, unless params name them.
MOST_CLASSES = 200
# Rows that are named whose reference is no class, confusions that are listed, and classes with a confusion matrix.
MOST_STRAYS, MOST_CONFUSED, MOST_CELLS = 20, 20, 50
NOT_NAMED = -1
Codes = NDArray[np.intp]


def class_columns(scores: Iterable[Parts]) -> dict[str, tuple[Parts, ColumnFacts]]:
    """Return score column → its table and facts, of the columns that say which class an answer names."""
    return {
        name: (table, facts)
        for table in scores
        for name, facts in stated(about(table.schema)).items()
        if reads_classes(facts)
    }


def reads_classes(facts: ColumnFacts) -> bool:
    """Return whether a column is of `class_match`, under whatever name."""
    return bool(facts.options.get("metric", facts.metric) == METRIC)


class ClassRows(NamedTuple):
    """The measured rows of a candidate; n rows.

    keys: hashes of the ids. true, named: numbers of labels, NOT_NAMED: none. several: which name more than one class.
    groups: clusters; None where no row has any.
    """

    keys: Hashes
    true: Codes
    named: Codes
    several: NDArray[np.bool_]
    groups: Codes | None

    def renumbered(self, codes: Codes) -> "ClassRows":
        """The rows with other numbers of labels; codes: by number, NOT_NAMED for what is no class."""
        both = np.append(codes, NOT_NAMED)
        return self._replace(true=both[self.true], named=both[self.named])

    def rows(self, chosen: NDArray[Any]) -> "ClassRows":
        """Some of the rows."""
        groups = None if self.groups is None else self.groups[chosen]
        return ClassRows(self.keys[chosen], self.true[chosen], self.named[chosen], self.several[chosen], groups)


class ClassPart(NamedTuple):
    """What parts have of a column. expected: the labels of references. strays: n, and the first rows by id."""

    labels: tuple[str, ...]
    expected: frozenset[str]
    candidates: Mapping[str, ClassRows]
    n_strays: int
    strays: tuple[StrayReference, ...]


class ReadClasses(NamedTuple):
    """What the n rows of a part state; true, named, several as of `ClassRows`.

    facts: of all rows. which: the number of each row's facts; both arrays of shape (n,).
    """

    labels: tuple[str, ...]
    true: Codes
    named: Codes
    facts: list[dict[str, Any]]
    which: Codes

    @property
    def expected(self) -> frozenset[str]:
        """The labels of references."""
        return frozenset(fact["expected"] for fact in self.facts if "expected" in fact)

    def with_fact(self, key: str) -> NDArray[np.bool_]:
        """Which rows state such a fact, shape (n,)."""
        return np.array([key in fact for fact in self.facts], np.bool_)[self.which]


def read_classes(table: Parts, number: int, column: str) -> ReadClasses:
    """Read which class each answer of a part names, and which one its reference is."""
    encoded = table.part(number, [f"{column}_details"])[f"{column}_details"].combine_chunks().dictionary_encode()
    facts = [json.loads(text) for text in encoded.dictionary.to_pylist()]
    labels = tuple(dict.fromkeys(fact[key] for fact in facts for key in ("expected", "class") if key in fact))
    code = {label: place for place, label in enumerate(labels)}
    which = pc.fill_null(encoded.indices, len(facts)).to_numpy().astype(np.intp)
    facts.append({})
    true, named = (
        np.array([code.get(fact.get(key), NOT_NAMED) for fact in facts], np.intp)[which]
        for key in ("expected", "class")
    )
    return ReadClasses(labels, true, named, facts, which)


def class_part(parts: ScoreParts, number: int, column: str, *, grouped: bool) -> ClassPart:
    """Read which class each answer of a part names, and which one its reference is, by candidate."""
    read = read_classes(class_columns(parts.scores)[column][0], number, column)
    several = read.with_fact("named")
    candidates = {}
    for one in parts.candidates(number, NONE_FITTED, (), grouped=grouped):
        own = read.true[one.positions] != NOT_NAMED
        rows, groups = one.positions[own], None if one.groups is None else one.groups[own]
        candidates[one.name] = ClassRows(one.keys[own], read.true[rows], read.named[rows], several[rows], groups)
    stray = np.flatnonzero(read.with_fact("reference"))
    strays = _strays(parts.load, number, stray, [read.facts[place]["reference"] for place in read.which[stray]])
    return ClassPart(read.labels, read.expected, candidates, len(stray), strays)


def _strays(load: Parts, number: int, rows: Codes, references: Sequence[str]) -> tuple[StrayReference, ...]:
    ids = load.part(number, ["id"])["id"].take(pa.array(rows)).to_pylist()
    found = sorted(dict(zip(ids, references, strict=True)).items())[:MOST_STRAYS]
    return tuple({"id": key, "reference": reference} for key, reference in found)


def class_entry(found: Iterable[ClassPart], facts: ColumnFacts, confidence: float) -> ClassesEntry | None:
    """Return the section of a column in reports/metrics.json; None if the answers are no classification."""
    parts = [*found]
    expected = {label for part in parts for label in part.expected}
    given = facts.options.get("classes")
    labels = told_apart(facts, expected)
    n_strays = sum(part.n_strays for part in parts)
    if not labels:
        return None
    candidates = _joined(parts, labels)
    measured = {name: one for name, one in candidates.items() if len(one.true)}
    strays = sorted((stray for part in parts for stray in part.strays), key=lambda stray: stray["id"])
    entry: ClassesEntry = {
        "labels": labels,
        "given": bool(given),
        "without_reference": [label for label in labels if label not in expected],
        "no_class_references": n_strays,
        "strays": strays[:MOST_STRAYS],
        "candidates": {name: _candidate(one, labels, confidence) for name, one in measured.items()},
        "differences": [*_differences(measured, len(labels), confidence)],
    }
    return entry if measured or n_strays else None


def told_apart(facts: ColumnFacts, expected: Collection[str]) -> list[str]:
    """The classes: those of params, else those of references; none if the answers are no classification."""
    given = facts.options.get("classes")
    labels = [*(given or sorted(expected))]
    return [] if len(labels) < 2 or (not given and len(labels) > MOST_CLASSES) else labels  # noqa: PLR2004


def _joined(parts: Sequence[ClassPart], labels: Sequence[str]) -> dict[str, ClassRows]:
    """Return candidate → its rows of all parts, with the numbers of `labels`."""
    place = {label: number for number, label in enumerate(labels)}
    own: dict[str, list[ClassRows]] = {}
    for part in parts:
        codes = np.array([place.get(label, NOT_NAMED) for label in part.labels], np.intp)
        for name, rows in part.candidates.items():
            own.setdefault(name, []).append(rows.renumbered(codes))
    return {name: _all(rows) for name, rows in own.items()}


def _all(rows: Sequence[ClassRows]) -> ClassRows:
    groups = [one.groups for one in rows if one.groups is not None]
    joined = ClassRows(
        np.concatenate([one.keys for one in rows]),
        np.concatenate([one.true for one in rows]),
        np.concatenate([one.named for one in rows]),
        np.concatenate([one.several for one in rows]),
        np.concatenate(groups) if groups else None,
    )
    return joined.rows(np.argsort(joined.keys, kind="stable"))


def _candidate(rows: ClassRows, labels: Sequence[str], confidence: float) -> ClassCandidate:
    alone = is_one_cluster(rows.groups)
    with silenced():
        found = class_measures(rows.true, rows.named, len(labels), _clusters(rows.groups), confidence=confidence)
    entry: ClassCandidate = {
        "n": len(rows.true),
        "no_class": int(np.count_nonzero((rows.named == NOT_NAMED) & ~rows.several)),
        "two_classes": int(np.count_nonzero(rows.several)),
        "accuracy": _interval(found.accuracy, UNIT, alone=alone),
        "measures": {name: _interval(one, BOUNDS[name], alone=alone) for name, one in found.measures.items()},
        "classes": {
            label: {
                "n": one.n,
                "n_named": one.n_named,
                "recall": _interval(one.recall, UNIT, alone=alone),
                "precision": _interval(one.precision, UNIT, alone=alone),
                "f1": _interval(one.f1, UNIT, alone=alone),
            }
            for label, one in zip(labels, found.classes, strict=True)
        },
        "confused": _confused(found.counts, labels),
    }
    if len(labels) <= MOST_CELLS:
        entry["matrix"] = found.counts.tolist()
    return entry


def _clusters(groups: Codes | None) -> Codes | None:
    if groups is None or is_one_cluster(groups):
        return None
    return np.unique(groups, return_inverse=True)[1]


def _interval(estimate: Estimate, bounds: tuple[float, float], *, alone: bool) -> Interval:
    """The estimate as reports/metrics.json has it; alone: all rows are in one cluster, which says nothing of spread."""
    if not alone:
        return interval(estimate)
    return interval(estimate._replace(low=bounds[0], high=bounds[1])) | {"method": ONE_CLUSTER}


def _confused(counts: Codes, labels: Sequence[str]) -> list[ConfusedEntry]:
    """The pairs of classes that are confused most often."""
    wrong = counts[:, :-1] * (1 - np.eye(len(labels), dtype=np.intp))
    order = np.argsort(-wrong.ravel(), kind="stable")[:MOST_CONFUSED].tolist()
    places = [divmod(place, len(labels)) for place in order]
    return [{"expected": labels[i], "named": labels[j], "n": int(wrong[i, j])} for i, j in places if wrong[i, j]]


def _differences(candidates: Mapping[str, ClassRows], k: int, confidence: float) -> Iterator[ClassDifference]:
    """The differences of every two candidates on the rows that both have."""
    for (base, before), (head, after) in combinations(candidates.items(), 2):
        _, mine, theirs = np.intersect1d(before.keys, after.keys, assume_unique=True, return_indices=True)
        same = before.true[mine] == after.true[theirs]
        rows, named = before.rows(mine[same]), after.named[theirs[same]]
        if len(rows.true):
            measures = differences_of(rows.true, rows.named, named, k, rows.groups, confidence)
            yield {"base": base, "head": head, "n": len(rows.true), "measures": measures}


def differences_of(
    true: Codes, base: Codes, head: Codes, k: int, groups: Codes | None, confidence: float
) -> dict[str, Interval]:
    """The differences of `statistics.confusion.class_differences`; groups: clusters, shape (n,), or None."""
    with silenced():
        found = class_differences(true, base, head, k, _clusters(groups), confidence=confidence)
    alone = is_one_cluster(groups)
    widths = {name: high - low for name, (low, high) in BOUNDS.items()}
    return {name: _interval(one, (-widths[name], widths[name]), alone=alone) for name, one in found.items()}


def values_of(true: Codes, named: Codes, k: int) -> dict[str, float | None]:
    """The values of `statistics.confusion.class_measures`."""
    with silenced():
        return {name: one.value for name, one in class_measures(true, named, k).measures.items()}
