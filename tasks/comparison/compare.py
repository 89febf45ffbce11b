"""Comparison of versions by name, from the tables that each has: of two, or of several with the first or the last."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tasks.comparison import candidate_pairs, version_scores
from tasks.comparison.candidate_pairs import Families
from tasks.comparison.changed_rows import Rows, changed_rows, data_changed
from tasks.comparison.gate import Gate, decision, shared_primary
from tasks.comparison.pairing import Blocks
from tasks.comparison.resources import with_resources, without_guards
from tasks.comparison.version_scores import VersionScores
from tasks.dataset.normalized import Normalize, normalized
from tasks.errors import ComparisonError, DataError, VersionError
from tasks.metrics.catalogue import configure
from tasks.pipeline.tables import Parts, about, write_part
from tasks.scores.column_facts import VALUE, stated
from tasks.scores.columns import Mask
from tasks.scores.estimates import rounded
from tasks.scores.metrics_report import METRICS, numbers, reading
from tasks.scores.primary import Primary
from tasks.scores.tables import pairs_of, score_table
from tasks.scores.weighting import Mix, weighting_entry, weighting_of
from tasks.versions.version import Version
from tasks.wording.comparison_document import ComparisonDocument, PairEntry, VersionEntry
from tasks.wording.several_document import Against, SeveralVersions, VersionComparison, of_ends


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
) -> ComparisonDocument:
    """Compare two versions by the measures of the gate.

    Raises:
        ComparisonError: Nothing pairs, or neither version has what the gate asks for.
        VersionError: A version lacks a table.
        DataError: A table can't be read.
    """
    older, newer = version_scores.scores_of(base), version_scores.scores_of(head)
    version_scores.require_asked((base, head), (older, newer), without_guards(gate, older.load, newer.load))
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
) -> ComparisonDocument:
    matched = version_scores.match(base.names(), head.names(), options.renamed)
    pairs = version_scores.pairings(
        base, head, matched.pairs, folder / "blocks", options.stale_labels, rescored=options.rescore
    )
    chosen = shared_primary(pairs, gate, random=all(blocks[0].base.labels_random for blocks in pairs))
    weighting = weighting_of(options.mix, head.load)
    pass_at = version_scores.pass_at(versions)
    loads = base.load, head.load
    of_scores = without_guards(gate, *loads)
    families = candidate_pairs.compare(pairs, of_scores, chosen.name, pass_at, weighting=weighting)
    sides = Sides(
        _named(versions[0]), _named(versions[1]), (base.load, head.load), matched.only_base, matched.only_head
    )
    found = document(sides, pairs, families, chosen, gate, loads, changed_rows_shown=options.changed_rows)
    if weighting:
        found["weighting"] = weighting_entry(weighting)
    return found


class Sides(NamedTuple):
    """Both versions; texts: their rows by position. only_base, only_head: candidates that the other one lacks."""

    base: VersionEntry
    head: VersionEntry
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
) -> ComparisonDocument:
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
    entries: list[PairEntry] = candidate_pairs.entries(families, pairs)
    slice_entries = candidate_pairs.slice_entries(families, pairs, gate)
    for blocks, pair, slices in zip(pairs, entries, slice_entries, strict=True):
        rates = candidate_pairs.rates(blocks[0])
        pair["slices"] = slices
        pair["flips"] = changed_rows(blocks, rates, chosen.name, sides.texts, changed_rows_shown)
        pair["data_changed"] = data_changed(blocks, sides.texts[1], changed_rows_shown)
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


def _named(version: Version) -> VersionEntry:
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
