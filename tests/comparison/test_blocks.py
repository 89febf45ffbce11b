"""Rows compared block by block give the document of all rows at once, however they are divided."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from goldmeter.comparison import blocks as version_blocks
from goldmeter.comparison import candidate_pairs
from goldmeter.comparison.blocks import StoredBlocks, block_ranges
from goldmeter.comparison.changed_rows import changed_rows, named_rows
from goldmeter.comparison.gate import shared_primary
from goldmeter.comparison.of_versions import compare_versions
from goldmeter.comparison.pairing import Blocks, Pairing, pair
from goldmeter.errors import DataError
from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import Candidate, ScoreColumn, Slices
from goldmeter.estimates.tables import facts_of
from goldmeter.metrics.catalogue import configure
from goldmeter.pipeline.tables import Parts, write_part
from tests.comparison.sample import answers, drawn, gate, row, shuffled, version

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
BLEU = facts_of(configure("lexical", "bleu", {"threshold": 0.5}), {})["bleu"]
STATS = 10
BINARY = ColumnFacts("exact_match", "lexical", "exact_match|v:1", (0.0, 1.0), rate_signature="exact_match|v:1")
JUDGE = replace(BINARY, metric="meaning_match", family="judge", signature="meaning_match|provider:offline")
LABEL = replace(BINARY, metric="label", family="dataset", signature="label")
GRADED = ColumnFacts("f1", "lexical", "f1|v:1", (0.0, 1.0), threshold=0.5, rate_signature="f1|thr:0.5")
FREE = ColumnFacts("score_ms", "dataset", "score_ms|v:1", None, higher_is_better=False)
GATE = gate(
    primary=None, metrics={"f1.value": 0.1, "bleu.value": 0.0, "score_ms": 0.1, "f1.pass@1": 0.1}, max_unmeasured=0.9
)


@pytest.fixture(autouse=True)
def _each_part_is_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version_blocks, "BLOCK_ROWS", 1)


class Kind(NamedTuple):
    """What the rows of a random pair of candidates have."""

    seed: int
    rows: int
    missing: float
    groups: bool
    draws: bool
    labels: float
    random: bool


KINDS = [
    Kind(2, 70, 0.5, groups=True, draws=False, labels=0.4, random=True),
    Kind(3, 80, 0.1, groups=False, draws=True, labels=0.0, random=False),
    Kind(4, 50, 0.1, groups=True, draws=True, labels=0.4, random=False),
    Kind(5, 70, 0.0, groups=False, draws=False, labels=0.5, random=True),
    Kind(6, 4, 0.5, groups=False, draws=False, labels=0.0, random=False),
]


class Texts(NamedTuple):
    """Rows as their positions say."""

    def take(self, columns: Sequence[str], positions: Sequence[int]) -> dict[int, dict[str, Any]]:
        return {place: {name: f"{name}{place}" for name in columns} for place in positions}


def candidate(name: str, kind: Kind, rng: np.random.Generator) -> Candidate:
    """A candidate with most of the ids, of which some scores are missing: as failed, or not asked for."""
    ids = np.flatnonzero(rng.random(kind.rows) < 0.9)
    n = len(ids)

    def column(facts: ColumnFacts, values: np.ndarray, missing: float, stats: np.ndarray | None = None) -> ScoreColumn:
        values = np.where(rng.random(n) < missing, np.nan, values)
        not_asked = np.isnan(values) & (rng.random(n) < 0.5)
        passed = facts.passes(values) if facts.has_pass_rate else None
        return ScoreColumn(facts.metric, values, not_asked, passed, stats, facts)

    words = rng.integers(1, 9, (n, STATS)).astype(np.float64)
    labels = column(LABEL, rng.integers(0, 2, n).astype(np.float64), 1.0 - kind.labels)
    columns = [
        replace(labels, not_asked=np.isnan(labels.values)),
        column(BINARY, rng.integers(0, 2, n).astype(np.float64), kind.missing),
        column(JUDGE, rng.integers(0, 2, n).astype(np.float64), kind.missing / 4),
        column(GRADED, rng.random(n).round(2), kind.missing),
        column(BLEU, rng.random(n), kind.missing, words),
        column(FREE, 1e6 + rng.normal(size=n), kind.missing),
    ]
    return Candidate(
        name,
        ids.astype(np.uint64),
        rng.permutation(n),
        columns,
        ids // 3 if kind.groups else None,
        {"topic": Slices(["a", "b", "c"], ids % 3)},
        labels_random=kind.random,
        outside=rng.random(n) < 0.03,
        questions=(1000 + ids // 2).astype(np.uint64) if kind.draws else None,
    )


def random_pairs(kind: Kind) -> list[Pairing]:
    """Two pairs of candidates; some shared rows changed, and some have a stale label."""
    rng = np.random.default_rng(kind.seed)
    found = []
    for name in "ab":
        pairing = pair(*(candidate(name, kind, rng) for _ in range(2)))
        pairing = pairing.without(rng.random(len(pairing.head_rows)) < 0.05)
        found.append(replace(pairing, stale=pairing.head_rows[rng.random(len(pairing.head_rows)) < 0.05]))
    return found


def divided(pairing: Pairing, count: int) -> list[Pairing]:
    """The pairing in so many blocks; a block may be empty."""
    blocks = []
    for number in range(count):
        sides = [side.rows(np.flatnonzero(_block(side, count) == number)) for side in (pairing.base, pairing.head)]
        changed, stale = (pairing.head.keys[rows] for rows in (pairing.changed, pairing.stale))
        own = pair(*sides)
        own = own.without(np.isin(own.keys, changed))
        blocks.append(replace(own, stale=own.head_rows[np.isin(own.keys, stale)]))
    return blocks


def _block(side: Candidate, count: int) -> np.ndarray:
    keys = side.keys if side.questions is None else side.questions
    return (keys * np.uint64(7) % np.uint64(count)).astype(np.intp)


def found_in(pairs: Sequence[Blocks]) -> dict[str, Any]:
    """Everything that the document says of these pairs."""
    chosen = shared_primary(pairs, GATE, random=False)
    families = candidate_pairs.compare(pairs, GATE, chosen.name, (1, 2), ["score_ms"])
    return {
        "primary": chosen,
        "critical": families.critical,
        "entries": candidate_pairs.entries(families, pairs),
        "slices": candidate_pairs.slice_entries(families, pairs, GATE),
        "changed": [
            changed_rows(blocks, candidate_pairs.rates(blocks[0]), chosen.name, (Texts(), Texts()), 5)
            for blocks in pairs
        ],
        "named": [
            named_rows(blocks, (*candidate_pairs.rates(blocks[0]), None)[0], (Texts(), Texts()), 3) for blocks in pairs
        ],
    }


@pytest.mark.parametrize(("kind", "count"), zip(KINDS, [3, 2, 4, 7, 3], strict=True))
def test_blocks_give_what_all_rows_give(kind: Kind, count: int) -> None:
    pairs = random_pairs(kind)

    whole = found_in([[pairing] for pairing in pairs])

    assert repr(found_in([divided(pairing, count) for pairing in pairs])) == repr(whole)


@pytest.mark.parametrize(
    ("sizes", "blocks"),
    [
        ([], []),
        ([3], [range(1)]),
        ([12] * 301, [range(25 * n, 25 * n + 25) for n in range(12)] + [range(300, 301)]),
        ([0, 0, 300, 299, 1, 0], [range(3), range(3, 5), range(5, 6)]),
        ([900, 900], [range(1), range(1, 2)]),
    ],
)
def test_small_parts_are_in_one_block(sizes: list[int], blocks: list[range], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version_blocks, "BLOCK_ROWS", 300)

    assert [*block_ranges(sizes)] == blocks


@pytest.mark.parametrize(("part_rows", "draws", "block_rows"), [(4, False, 1), (10, True, 15)])
def test_versions_in_parts_and_any_order_are_compared_as_those_in_one(
    tmp_path: Path, part_rows: int, draws: bool, block_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(version_blocks, "BLOCK_ROWS", block_rows)
    rng = np.random.default_rng(3)
    signs = ["".join(rng.choice([*"++.-"], 2 if draws else 60)) for _ in range(60 if draws else 2)]
    older, newer = (drawn(*signs[:30]), drawn(*signs[30:])) if draws else (answers(signs[0]), answers(signs[1]))
    sides = [
        [one | {"group": f"g{n // 3 % 9}" if n % 5 else None, "topic": "xyz"[n % 3]} for n, one in enumerate(rows)]
        for rows in (older, newer[:-1] + [row(99, "right"), row(98, "wrong")] * (not draws))
    ]
    sides[1][7]["input"] = "Another question?"
    labelled = [[one | {"label": bool(n % 4), "label_status": None} for n, one in enumerate(rows)] for rows in sides]
    chosen = gate(primary="f1", metrics={"bleu.value": 0.1, "label": 0.2}, max_unmeasured=0.9)

    def compared(parts: int, *rows_of: Any) -> Any:
        base, head = (
            version(tmp_path / f"{parts}" / name, rows, part_rows=parts)
            for name, rows in zip("ab", rows_of, strict=True)
        )
        return compare_versions(base, head, chosen)

    mixed = [shuffled(rows, seed) for seed, rows in enumerate(labelled)]
    assert json.dumps(compared(part_rows, *mixed)) == json.dumps(compared(1000, *labelled))


def test_rows_of_an_id_in_several_parts_are_paired(tmp_path: Path) -> None:
    a, b = (answers(text, name) for name, text in (("a", "+.+.++.-"), ("b", "..+++..+")))

    def compared(parts: int) -> Any:
        sides = (
            version(tmp_path / f"{parts}" / name, rows, part_rows=parts) for name, rows in (("x", a + b), ("y", b + a))
        )
        return compare_versions(*sides, gate(primary="f1", metrics={}))

    assert compared(8) == compared(100)
    assert [pair["rows"]["shared"] for pair in compared(8)["pairs"]] == [8, 8]


@pytest.mark.parametrize("sides", ["x", "y", "xy"])
def test_a_part_without_rows_changes_nothing(tmp_path: Path, sides: str) -> None:
    made = {
        name: version(tmp_path / name, answers(text), part_rows=4)
        for name, text in (("x", "+.+.++.-"), ("y", "..+++..+"))
    }
    expected = compare_versions(made["x"], made["y"], gate(primary="f1", metrics={"bleu.value": 0.1}))
    for name in sides:
        for table in ("load", "normalize", "lexical"):
            parts = Parts(tmp_path / name / "data" / table)
            write_part(parts.part(1), parts.folder, 2)
            write_part(parts.part(0).slice(0, 0), parts.folder, 1)

    assert compare_versions(made["x"], made["y"], gate(primary="f1", metrics={"bleu.value": 0.1})) == expected


@pytest.mark.parametrize("number", [0, 2])
def test_a_table_with_other_parts_is_refused(tmp_path: Path, number: int) -> None:
    made = [version(tmp_path / name, answers("+.+.++.-"), part_rows=4) for name in "xy"]
    folder = tmp_path / "y/data/lexical"
    if number:
        write_part(Parts(folder).part(0), folder, number)
    else:
        (folder / "part-00001.parquet").unlink()

    with pytest.raises(DataError, match="its rows are not those of data/load"):
        compare_versions(*made, gate(primary="f1", metrics={}))


def test_stored_blocks_are_those_that_were_stored(tmp_path: Path) -> None:
    pairs = random_pairs(KINDS[2])

    found = StoredBlocks(tmp_path / "blocks", iter(pairs))

    assert [repr(one) for one in found] == [repr(one) for one in pairs]
    assert [repr(one) for one in found[::-1]] == [repr(one) for one in pairs[::-1]]
    with pytest.raises(ValueError, match="read-only"):
        found[0].head.keys[0] = 1
