"""Comparison of versions by name, from the tables that each has: of two, or of several with the first or the last."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from goldmeter.comparison import candidate_pairs
from goldmeter.comparison.blocks import Side, paired_blocks
from goldmeter.comparison.candidate_pairs import Families
from goldmeter.comparison.changed_rows import Rows, changed_rows, named_rows
from goldmeter.comparison.classes import class_comparisons
from goldmeter.comparison.gate import Gate, decision, shared_primary
from goldmeter.comparison.measures import LABEL
from goldmeter.comparison.pairing import Blocks, Pairing
from goldmeter.comparison.resources import with_resources, without_guards
from goldmeter.dataset.normalized import Normalize, normalized
from goldmeter.errors import ComparisonError, DataError, VersionError, unknown
from goldmeter.estimates.column_facts import QUESTION, VALUE, stated
from goldmeter.estimates.columns import Candidate, Mask, ScoreColumn, candidates, score_tables
from goldmeter.estimates.estimates import rounded
from goldmeter.estimates.headline import deciding
from goldmeter.estimates.metrics_report import METRICS, fitted_thresholds, numbers, reading
from goldmeter.estimates.primary import Primary, Reason
from goldmeter.estimates.repeated_answers import parsed
from goldmeter.estimates.tables import pairs_of, score_table
from goldmeter.estimates.weighting import Mix, weight_exponent, weighting_entry, weighting_of
from goldmeter.metrics.catalogue import configure
from goldmeter.pipeline.tables import Parts, about, write_part
from goldmeter.versions.version import Version
from goldmeter.wording import comparison_document

# Tables of the pipeline that hold scores, beside data/load; a stage that a user adds writes another.
SCORES = ("lexical", "semantic", "judge")
Pair = tuple[str, str]


@dataclass(frozen=True)
class VersionScores:
    """A version's rows and scores.

    tables: name → score table that it has. fitted: column → fitted threshold. selected: candidates whose labels are no
    random part of their rows.
    """

    name: str
    load: Parts
    tables: Mapping[str, Parts]
    fitted: Mapping[str, float]
    selected: frozenset[str] = frozenset()

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
        exponent = weight_exponent(self.load)
        return Side(self.load, tables, thresholds, stale, self.names(), is_grouped, exponent, self.selected)


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
    return VersionScores(version.name, version.parts("load"), tables, _fitted(version), _selected(version))


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
    folder: Path | None,
    stale_labels: Callable[[Parts], Mask] | None = None,
    *,
    rescored: bool = False,
) -> list[Blocks]:
    """Pair the rows with equal ids of each pair of candidates, in blocks.

    Args:
        base: The older version.
        head: The newer version.
        matched: Pairs of candidates.
        folder: Where blocks are kept, if there are several; None: all rows are one block.
        stale_labels: Returns which rows of data/load have the label of another answer, by earlier runs.
        rescored: Whether BASE's scores pass by HEAD's thresholds, where only the thresholds differ.

    Raises:
        ComparisonError: No two candidates have an id in common.
    """
    thresholds = {**head.fitted, **base.fitted}  # both versions pass by one threshold: the one fitted in BASE
    older, newer = (version.side(thresholds, stale_labels) for version in (base, head))
    paired = paired_blocks(older, newer, matched, folder, with_thresholds if rescored else lambda pairing: pairing)
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
    """The names of all measures of a table's columns, as goldmeter.comparison.measures gives them."""
    columns = stated(table.about)
    return {*columns} | {f"{name}{VALUE}" for name, facts in columns.items() if facts.rate_signature is not None}


def _of_a_table(measure: str) -> str:
    """The measure of a table that a measure by question is made of; any other name as it is."""
    by_question = parsed(measure)
    return by_question[0] if by_question else measure


def shared_pass_at(versions: Sequence[Version]) -> list[int]:
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


def _selected(version: Version) -> frozenset[str]:
    """The candidates whose labels are no random part of this version's rows."""
    if not version.has(METRICS):
        return frozenset()
    with reading(version.path(METRICS), version.name) as document:
        return frozenset(document.get("selected_labels", {}))


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


class CompareOptions(NamedTuple):
    """How to compare. renamed: a candidate's name in BASE → its name in HEAD. rescore: score BASE by HEAD's settings.

    changed_rows: how many rows with another result are shown in full. stale_labels: returns which rows of a version's
    data/load have the label of another answer, by earlier runs; None: nothing is known of earlier runs. mix: shares by
    which differences are weighted; without it, they go by the weights of HEAD, if it has any.
    """

    renamed: Mapping[str, str] = {}
    rescore: bool = False
    changed_rows: int = 20
    stale_labels: Callable[[Parts], Mask] | None = None
    mix: Mix | None = None


DEFAULTS = CompareOptions()


def compare_versions(
    base: Version, head: Version, gate: Gate, options: CompareOptions = DEFAULTS
) -> comparison_document.ComparisonDocument:
    """Compare two versions by the measures of the gate.

    Raises:
        ComparisonError: Nothing pairs, or neither version has what the gate asks for.
        VersionError: A version lacks a table.
        DataError: A table can't be read.
    """
    older, newer = scores_of(base), scores_of(head)
    require_asked((base, head), (older, newer), without_guards(gate, older.load, newer.load))
    with TemporaryDirectory(prefix="goldmeter-") as folder:
        if options.rescore:
            older = rescored(older, head, Path(folder, "lexical"))
        return _compare((base, head), older, newer, gate, options, Path(folder))


def _compare(
    versions: tuple[Version, Version],
    base: VersionScores,
    head: VersionScores,
    gate: Gate,
    options: CompareOptions,
    folder: Path,
) -> comparison_document.ComparisonDocument:
    matched = match(base.names(), head.names(), options.renamed)
    pairs = pairings(base, head, matched.pairs, folder / "blocks", options.stale_labels, rescored=options.rescore)
    random = all(side.labels_random for blocks in pairs for side in (blocks[0].base, blocks[0].head))
    chosen = shared_primary(pairs, gate, random=random)
    weighting = weighting_of(options.mix, head.load)
    pass_at = shared_pass_at(versions)
    loads = base.load, head.load
    of_scores = without_guards(gate, *loads)
    families = candidate_pairs.compare(
        pairs,
        of_scores,
        chosen.name,
        pass_at,
        weighting=weighting,
        labels_where_both=chosen.reason is Reason.SOME_LABELS,
    )
    sides = Sides(
        _named(versions[0]), _named(versions[1]), (base.load, head.load), matched.only_base, matched.only_head
    )
    found = document(sides, pairs, families, chosen, gate, loads, changed_rows_shown=options.changed_rows)
    if weighting:
        found["weighting"] = weighting_entry(weighting)
    tables = [*base.tables.values()], [*head.tables.values()]
    for pair, classes in zip(found["pairs"], class_comparisons(pairs, tables, gate.confidence), strict=True):
        if classes:
            pair["classes"] = classes
    return found


class Sides(NamedTuple):
    """Both versions; texts: their rows by position. only_base, only_head: candidates that the other one lacks."""

    base: comparison_document.VersionEntry
    head: comparison_document.VersionEntry
    texts: tuple[Rows, Rows]
    only_base: list[str]
    only_head: list[str]


def document(
    sides: Sides,
    pairs: Sequence[Blocks],
    families: Families,
    chosen: Primary,
    gate: Gate,
    loads: tuple[Parts, Parts] | None = None,
    *,
    changed_rows_shown: int,
) -> comparison_document.ComparisonDocument:
    """Write the comparison document.

    Args:
        sides: Both versions.
        pairs: The paired rows of each pair of candidates, in blocks.
        families: The differences of each pair.
        chosen: The primary measure.
        gate: Section `gate` of params.yaml.
        loads: data/load of both versions, for what answers took; None: it is not compared.
        changed_rows_shown: How many rows with another result are shown in full.
    """
    entries: list[comparison_document.PairEntry] = candidate_pairs.entries(families, pairs)
    slice_entries = candidate_pairs.slice_entries(families, pairs, gate)
    for blocks, pair, slices in zip(pairs, entries, slice_entries, strict=True):
        rates = candidate_pairs.rates(blocks[0])
        pair["slices"] = slices
        decides, _ = deciding(pair, chosen.name) or (chosen.name, None)
        pair["flips"] = changed_rows(blocks, rates, decides, sides.texts, changed_rows_shown)
        rate = decides.removesuffix(VALUE)
        named: Any = named_rows(blocks, rate if rate in rates else None, sides.texts, changed_rows_shown)
        pair.update(named)
    verdicts = families.verdicts
    if loads:
        entries, more = with_resources(entries, pairs, loads, gate)
        verdicts += more
    refused = [one["blocks"] for pair in entries for one in pair["refused"]]
    blocked = families.blocked or bool(sides.only_base) or any(refused)
    return {
        "schema": 1,
        "base": sides.base,
        "head": sides.head,
        "gate": gate.model_dump(mode="json"),
        "primary": {"measure": chosen.name, "reason": chosen.reason},
        "decision": decision(entries, chosen, gate, blocked=blocked),
        "critical_value": rounded(families.critical["primary"]),
        "failed": gate.fails(verdicts),
        "blocked": blocked,
        "candidates": {"only_base": sides.only_base, "only_head": sides.only_head},
        "pairs": entries,
    }


def _named(version: Version) -> comparison_document.VersionEntry:
    return {"name": version.name, "commit": version.commit}


FAMILY = "lexical"


def rescored(base: VersionScores, head: Version, folder: Path) -> VersionScores:
    """BASE with HEAD's lexical metrics in place of its own, written to `folder`.

    Raises:
        ComparisonError: HEAD's data/normalize does not state how texts were normalised.
    """
    chosen = about(head.parts("normalize").schema).get("normalize")
    if chosen is None:
        raise ComparisonError(f"{head.name}: its data/normalize does not say how texts were normalised; run it again")
    options = {facts.metric: facts.options for facts in stated(head.parts(FAMILY).about).values()}
    settings, metrics = Normalize(**chosen), {name: configure(FAMILY, name, own) for name, own in options.items()}
    folder.mkdir(parents=True)
    for number, part in enumerate(base.load):
        rows = normalized(part, settings)
        write_part(score_table(rows, pairs_of(rows), metrics), folder, number)
    return replace(base, tables={**base.tables, FAMILY: Parts(folder)}, fitted={})  # HEAD's thresholds, too


def compare_several(
    versions: Sequence[Version], gate: Gate, against: comparison_document.Against, options: CompareOptions = DEFAULTS
) -> comparison_document.SeveralVersions:
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
    primary = (comparison_document.of_ends(comparisons, against)["document"] or documents[0])["primary"]["measure"]
    return {
        "schema": 1,
        "versions": [_named(version) for version in versions],
        "against": against,
        "confidence": gate.confidence,
        "primary": primary,
        "comparisons": comparisons,
        "values": [value for number, version in enumerate(versions) for value in _values(version, number, primary)],
    }


def _compared(
    base: Version, head: Version, gate: Gate, options: CompareOptions
) -> comparison_document.VersionComparison:
    found: comparison_document.VersionComparison = {"base": _named(base), "head": _named(head), "document": None}
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
