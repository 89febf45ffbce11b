"""The scores of two versions, which of their candidates belong together, and which rows may be paired."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from tasks.comparison.blocks import Side, pairs_of
from tasks.comparison.gate import Gate
from tasks.comparison.measures import LABEL
from tasks.comparison.pairing import Blocks, Pairing
from tasks.errors import ComparisonError
from tasks.metrics.catalogue import unknown
from tasks.pipeline.tables import Parts
from tasks.scores.column_facts import VALUE, stated
from tasks.scores.columns import QUESTION, Candidate, Mask, ScoreColumn, candidates, score_tables
from tasks.scores.metrics_report import METRICS, fitted_thresholds, reading
from tasks.scores.repeated_answers import parsed
from tasks.scores.weighting import weight_exponent
from tasks.versions.version import Version

# Tables of the pipeline that hold scores, beside data/load; a stage that a user adds writes another.
SCORES = ("lexical", "semantic", "judge")
Pair = tuple[str, str]


@dataclass(frozen=True)
class VersionScores:
    """A version's rows and scores. tables: name → score table that it has. fitted: column → fitted threshold."""

    name: str
    load: Parts
    tables: Mapping[str, Parts]
    fitted: Mapping[str, float]

    def candidates(self, thresholds: Mapping[str, float]) -> dict[str, Candidate]:
        """All rows of its candidates, by name; thresholds: column → fitted threshold."""
        tables = [*self.tables.values()]
        return {candidate.name: candidate for candidate in candidates(self.load, tables, thresholds)}

    def names(self) -> list[str]:
        """Its candidates, in order."""
        found = (part["candidate"].unique().to_pylist() for part in self.load.read(["candidate"]))
        return sorted({name for some in found for name in some})

    def side(self, thresholds: Mapping[str, float], stale_labels: Callable[[Parts], Mask] | None) -> Side:
        """What is compared of it; thresholds: column → fitted threshold."""
        is_grouped = any(part["group"].null_count < part.num_rows for part in self.load.read(["group"]))
        stale = None if stale_labels is None else stale_labels(self.load)
        tables = [*self.tables.values()]
        return Side(self.load, tables, thresholds, stale, self.names(), is_grouped, weight_exponent(self.load))


def require_asked(versions: Sequence[Version], scores: Sequence[VersionScores], gate: Gate) -> None:
    """Require that the versions have the tables and measures that the gate asks for.

    A version from before a stage was added lacks that stage's table, which is no error.

    Raises:
        ComparisonError: Neither version has a measure that the gate names.
        VersionError: A table that the gate needs, and that the version's pipeline writes, is missing in one of them.
    """
    tables = [{"load": version.load, **version.tables} for version in scores]
    measures_by_table = [{name: _measures(table) for name, table in each.items()} for each in tables]
    every = sorted({measure for by_table in measures_by_table for names in by_table.values() for measure in names})
    named = {"gate.primary": [gate.primary] if gate.primary else [], "gate.metrics": [*gate.metrics]}
    for option, names in named.items():
        for name in map(_of_a_table, names):
            if name not in every and name != LABEL:  # the answers may have no labels yet
                raise ComparisonError(f"{option}: {unknown('measure', name, every)}")
    for version, own, others in zip(versions, measures_by_table, reversed(measures_by_table), strict=True):
        for table, measures in others.items():
            asked = gate.primary is None or not measures.isdisjoint(map(_of_a_table, [gate.primary, *gate.metrics]))
            if asked and table not in own and version.plans(f"data/{table}"):
                version.parts(table)


class Matched(NamedTuple):
    """Candidates that belong together, and those that only one version has."""

    pairs: list[Pair]
    only_base: list[str]
    only_head: list[str]


def score_table_names(version: Version) -> list[str]:
    """The tables that hold a version's scores, those of own stages last; it may lack some of them."""
    return list(dict.fromkeys([*SCORES, *score_tables(version.tables_read("aggregate"))]))


def scores_of(version: Version) -> VersionScores:
    """A version's rows and scores; a version from before a stage was added lacks that stage's table."""
    names = score_table_names(version)
    version.require_current([f"data/{name}" for name in ("load", *names)])
    tables = {name: version.parts(name) for name in names if version.has(f"data/{name}")}
    return VersionScores(version.name, version.parts("load"), tables, _fitted(version))


def match(base: Sequence[str], head: Sequence[str], renamed: Mapping[str, str]) -> Matched:
    """Pair candidates of equal name.

    Args:
        base: Candidates of BASE.
        head: Candidates of HEAD.
        renamed: A name in BASE → its name in HEAD, empty for a candidate that was dropped.

    Raises:
        ComparisonError: A name is unknown, or nothing pairs.
    """
    new_names = [name for name in renamed.values() if name]
    for (version, names), given in zip((("BASE", base), ("HEAD", head)), ([*renamed], new_names), strict=True):
        if missing := sorted(set(given) - set(names)):
            raise ComparisonError(f"--map {missing[0]}: {version} has no such candidate; it has {', '.join(names)}")
    if len(set(new_names)) < len(new_names):
        raise ComparisonError("--map: two candidates of BASE can't become one of HEAD")
    new = {name: renamed.get(name, name) for name in base}
    taken = set(new_names)
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


def pairings(
    base: VersionScores,
    head: VersionScores,
    matched: Sequence[Pair],
    folder: Path,
    stale_labels: Callable[[Parts], Mask] | None = None,
    *,
    rescored: bool = False,
) -> list[Blocks]:
    """Pair the rows with equal ids of each pair of candidates, in blocks.

    Args:
        base: The older version.
        head: The newer version.
        matched: Pairs of candidates.
        folder: Where blocks are kept, if there are several.
        stale_labels: Returns which rows of data/load have the label of another answer, by earlier runs.
        rescored: Whether BASE's scores pass by HEAD's thresholds, where only the thresholds differ.

    Raises:
        ComparisonError: No two candidates have an id in common.
    """
    thresholds = {**head.fitted, **base.fitted}  # both versions pass by one threshold: the one fitted in BASE
    older, newer = (version.side(thresholds, stale_labels) for version in (base, head))
    paired = pairs_of(older, newer, matched, folder, with_thresholds if rescored else lambda pairing: pairing)
    if not any(len(one.head_rows) + len(one.changed) for blocks in paired for one in blocks):
        raise ComparisonError(
            f"{base.name} and {head.name} have no row in common: they are of different data sets, or ids were made "
            f"anew (dataset.id; without one they are made from the input).{_one_has_draws(base, head)}"
        )
    return paired


def _one_has_draws(base: VersionScores, head: VersionScores) -> str:
    names = [version.name for version in (base, head) if QUESTION in version.load.schema.names]
    return f" Only {names[0]} has repeated answers (dataset.draw)." if len(names) == 1 else ""


def with_thresholds(pairing: Pairing) -> Pairing:
    """Let BASE's scores pass by HEAD's thresholds, where only the thresholds differ."""
    return replace(pairing, base=_passing_as(pairing.base, pairing.head))


def _measures(table: Parts) -> set[str]:
    """The names of all measures of a table's columns, as tasks.comparison.measures gives them."""
    columns = stated(table.about)
    return {*columns} | {f"{name}{VALUE}" for name, facts in columns.items() if facts.rate_signature is not None}


def _of_a_table(measure: str) -> str:
    """The measure of a table that a measure by question is made of; any other name as it is."""
    by_question = parsed(measure)
    return by_question[0] if by_question else measure


def pass_at(versions: Sequence[Version]) -> list[int]:
    """The k of pass@k and pass^k of these versions, each of which states them if its questions have several answers."""
    found: set[int] = set()
    for version in versions:
        if version.has(METRICS):
            with reading(version.path(METRICS), version.name) as document:
                found.update(document.get("pass_at", []))
    return sorted(found)


def _fitted(version: Version) -> dict[str, float]:
    """Column → the threshold that was fitted on this version's labels, where its params ask for it."""
    if not version.has(METRICS):
        return {}
    with reading(version.path(METRICS), version.name) as document:
        return fitted_thresholds(document.get("thresholds", {}))


def _passing_as(base: Candidate, head: Candidate) -> Candidate:
    """BASE's candidate with the thresholds of HEAD's columns that score the same way."""
    newer = {column.name: column.facts for column in head.columns}

    def passing(column: ScoreColumn) -> ScoreColumn:
        facts = newer.get(column.name)
        if facts is None or facts.signature != column.facts.signature:
            return column
        if facts.threshold is None or facts.rate_signature is None:
            return column
        return column.with_threshold(facts.threshold, facts.rate_signature)

    return replace(base, columns=[*map(passing, base.columns)])
