"""Comparison of two versions by name, from the tables that each of them has."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tasks.comparison import document, version_scores
from tasks.comparison.changed_rows import flips, ids
from tasks.comparison.gate import Gate
from tasks.comparison.rescore import rescored
from tasks.comparison.version_scores import Matched, Side
from tasks.scores.estimates import rounded
from tasks.versions.version import Version

SCHEMA = 1
Row = dict[str, Any]


class Request(NamedTuple):
    """How to compare: candidates renamed (BASE → HEAD), whether to score BASE again by HEAD's settings.

    flips: how many rows that changed are shown in full.
    """

    renamed: Mapping[str, str] = {}
    rescore: bool = False
    flips: int = 20


AS_THEY_ARE = Request()


def compare_versions(base: Version, head: Version, gate: Gate, request: Request = AS_THEY_ARE) -> Row:
    """Everything a comparison found, as plain values.

    Raises ComparisonError when nothing pairs, or the gate asks for what neither knows; VersionError and DataError when
    a version can't be read.
    """
    there, here = version_scores.side(base), version_scores.side(head)
    version_scores.require_asked((base, head), (there, here), gate)
    with TemporaryDirectory(prefix="goldmeter-") as folder:
        if request.rescore:
            there = rescored(there, head, Path(folder, "lexical"))
        return _compare((base, head), there, here, gate, request)


def _compare(named: Sequence[Version], there: Side, here: Side, gate: Gate, request: Request) -> Row:
    matched = version_scores.match(_names(there), _names(here), request.renamed)
    pairings = version_scores.pairings(there, here, matched.pairs)
    if request.rescore:
        pairings = version_scores.with_thresholds(pairings)
    found = document.compare(pairings, gate)
    pairs = document.pairs(found, pairings)
    for pairing, row, slices in zip(pairings, pairs, document.exploratory(found, pairings, gate), strict=True):
        row["slices"] = slices
        row["flips"] = flips(pairing, document.rates(pairing), there.load, here.load, request.flips)
        changed = pairing.head.positions[pairing.changed].tolist()
        row["data_changed"] = ids(changed, here.load, request.flips)
    base, head = ({"name": each.name, "commit": each.commit} for each in named)
    return {"schema": SCHEMA, "base": base, "head": head} | _outcome(found, gate, matched) | {"pairs": pairs}


def _outcome(found: document.Found, gate: Gate, matched: Matched) -> Row:
    failed = gate.fails(found.verdicts)
    return {
        "gate": gate.model_dump(mode="json"),
        "critical_value": rounded(found.critical),
        "failed": failed,
        "blocked": found.blocked or bool(matched.only_base),
        "candidates": {"only_base": matched.only_base, "only_head": matched.only_head},
    }


def _names(side: Side) -> list[str]:
    return sorted(set(side.load.whole(["candidate"])["candidate"].to_pylist()))
