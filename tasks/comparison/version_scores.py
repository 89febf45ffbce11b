"""The two sides of a comparison: what a version holds, which candidates belong together, which rows may be paired."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.comparison.gate import VALUE, Gate
from tasks.comparison.measures import LABEL
from tasks.comparison.pairing import Pairing, pair
from tasks.errors import ComparisonError
from tasks.metrics.base import Floats
from tasks.metrics.catalogue import unknown
from tasks.pipeline.tables import Parts
from tasks.scores.column_facts import stated
from tasks.scores.columns import Candidate, Mask, ScoreColumn, candidates, hashed
from tasks.scores.metrics_report import METRICS, fitted_thresholds, reading
from tasks.versions.version import Version

SCORES = ("lexical", "semantic", "judge")
"""Tables that hold scores, beside those of data/load."""
Pair = tuple[str, str]


@dataclass(frozen=True)
class Side:
    """A version's rows and scores; tables: name → score table that it has. learnt: column → threshold from labels."""

    name: str
    load: Parts
    tables: Mapping[str, Parts]
    learnt: Mapping[str, float]

    def candidates(self, learnt: Mapping[str, float]) -> dict[str, Candidate]:
        """Its candidates by name; learnt: column → threshold."""
        return {each.name: each for each in candidates(self.load, [*self.tables.values()], learnt)}


def require_asked(versions: Sequence[Version], sides: Sequence[Side], gate: Gate) -> None:
    """Raise ComparisonError for a measure of the gate that neither side knows, VersionError for a table that one lost.

    Lost is a table that has what the gate asks for on the other side, and that a stage of this version makes: a version
    from before the stage has none, which is no error.
    """
    known = [{name: _measures(table) for name, table in {"load": each.load, **each.tables}.items()} for each in sides]
    every = sorted({measure for tables in known for measures in tables.values() for measure in measures})
    for name in gate.metrics or ():
        if name not in every and name != LABEL:  # nobody may have been asked yet
            raise ComparisonError(f"gate.metrics: {unknown('measure', name, every)}")
    for version, own, others in zip(versions, known, reversed(known), strict=True):
        for table, measures in others.items():
            asked = gate.metrics is None or not measures.isdisjoint(gate.metrics)
            if asked and table not in own and version.plans(f"data/{table}"):
                version.parts(table)


class Matched(NamedTuple):
    """Candidates that belong together, and those that only one side has."""

    pairs: list[Pair]
    only_base: list[str]
    only_head: list[str]


def side(version: Version) -> Side:
    """What a version holds; a version from before a stage lacks that stage's table."""
    version.require_current([f"data/{name}" for name in ("load", *SCORES)])
    tables = {name: version.parts(name) for name in SCORES if version.has(f"data/{name}")}
    return Side(version.name, version.parts("load"), tables, _learnt(version))


def match(base: Sequence[str], head: Sequence[str], renamed: Mapping[str, str]) -> Matched:
    """Pair candidates of equal name; `renamed`: a name in BASE → its name in HEAD, empty for one that was dropped.

    Raises ComparisonError for a name that is not there, and when nothing pairs.
    """
    kept = [name for name in renamed.values() if name]
    for (here, names), given in zip((("BASE", base), ("HEAD", head)), ([*renamed], kept), strict=True):
        if missing := sorted(set(given) - set(names)):
            raise ComparisonError(f"--map {missing[0]}: {here} has no such candidate; it has {', '.join(names)}")
    if len(set(kept)) < len(kept):
        raise ComparisonError("--map: two candidates of BASE can't become one of HEAD")
    new = {name: renamed.get(name, name) for name in base}
    taken = set(kept)
    pairs = [(name, new[name]) for name in base if new[name] in head and (name in renamed or name not in taken)]
    if not pairs:
        raise ComparisonError(
            f"no candidate in common: BASE has {', '.join(base)}; HEAD has {', '.join(head)}. "
            "--map OLD=NEW pairs a candidate that was renamed."
        )
    paired_base, paired_head = {name for name, _ in pairs}, {name for _, name in pairs}
    return Matched(
        pairs,
        [name for name in base if name not in paired_base and name not in renamed],
        [name for name in head if name not in paired_head],
    )


def pairings(base: Side, head: Side, matched: Sequence[Pair]) -> list[Pairing]:
    """The rows of each pair of candidates, those with equal ids; raises ComparisonError when no two have one."""
    thresholds = {**head.learnt, **base.learnt}  # one for both sides, as the older scores taught it
    there, here = base.candidates(thresholds), head.candidates(thresholds)
    asked_there, asked_here = _asked(base), _asked(head)
    whole = [pair(there[name], here[renamed]) for name, renamed in matched]
    found = [each.without(_changed(each, asked_there, asked_here)) for each in whole]
    if not any(len(each.head_rows) + len(each.changed) for each in found):
        raise ComparisonError(
            f"{base.name} and {head.name} have no row in common: they are of different data sets, or ids were made "
            "anew (dataset.id; without one they are made from the input)."
        )
    return found


def with_thresholds(older: Sequence[Pairing]) -> list[Pairing]:
    """The older sides with pass rates by the newer sides' thresholds, where the scores are the same."""
    return [replace(each, base=_with_thresholds(each.base, each.head)) for each in older]


def _measures(table: Parts) -> set[str]:
    """The names of all measures of a table's columns; as tasks.comparison.measures names them."""
    columns = stated(table.about)
    return {*columns} | {f"{name}{VALUE}" for name, facts in columns.items() if facts.rate_signature is not None}


def _learnt(version: Version) -> dict[str, float]:
    """Column → the threshold that this version's labels taught, where its params say to use it."""
    if not version.has(METRICS):
        return {}
    with reading(version.path(METRICS), version.name) as document:
        return fitted_thresholds(document.get("thresholds", {}))


class _Asked(NamedTuple):
    """What each row of a side was asked, its answer, and what people said of it; n rows in the tables' order."""

    content: NDArray[np.uint64]
    response: NDArray[np.uint64]
    label: Floats


def _asked(one: Side) -> _Asked:
    rows = one.load.whole(["content", "label"])
    answers = (part["response"].fill_null("\0") for part in one.load.read(["response"]))
    label = rows["label"].cast("float64").to_numpy(zero_copy_only=False)
    return _Asked(hashed(rows["content"]), np.concatenate([hashed(each) for each in answers]), label)


def _changed(pairing: Pairing, there: _Asked, here: _Asked) -> Mask:
    """Which paired rows were asked something else, or whose same answer got another label; a first one is no change."""
    base = pairing.base.positions[pairing.base_rows]
    head = pairing.head.positions[pairing.head_rows]
    same_answer = there.response[base] == here.response[head]
    relabelled = same_answer & (np.abs(there.label[base] - here.label[head]) > 0)  # NaN: not labelled
    return np.asarray((there.content[base] != here.content[head]) | relabelled)


def _with_thresholds(base: Candidate, head: Candidate) -> Candidate:
    newer = {column.name: column for column in head.columns}
    return replace(base, columns=[_by_rule_of(column, newer.get(column.name)) for column in base.columns])


def _by_rule_of(older: ScoreColumn, newer: ScoreColumn | None) -> ScoreColumn:
    """The older column with the newer one's threshold, if only that differs."""
    if newer is None or older.facts.signature != newer.facts.signature:
        return older
    threshold, rate_signature = newer.facts.threshold, newer.facts.rate_signature
    if threshold is None or rate_signature is None:
        return older
    return older.with_threshold(threshold, rate_signature)
