"""Damaged stores and evidence of verdicts and vectors: healed, asked again or refused, and never believed."""

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.torture.campaign import Campaign, Trial, limited
from benchmarks.torture.damaged_files import flip, mutated
from goldmeter.errors import LedgerError
from goldmeter.ledger.entries import Entry
from goldmeter.ledger.sqlite_file import ASIDE
from goldmeter.ledger.vectors import Vectors
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.pipeline.dvc_yaml import LEDGER
from goldmeter.pipeline.hashing import sha256

ENTRIES, DIMENSION = 12, 5
# Rows that are added at once; some are added twice.
ADDED = (slice(0, 5), slice(4, 9), slice(8, 12))
HASHES = [sha256(f"entry {number}") for number in range(ENTRIES)]
NAMES = [each.hex() for each in HASHES]
VECTORS = np.random.default_rng(0).normal(size=(ENTRIES, DIMENSION)).astype(np.float32)
# One in so many damaged files has a single changed bit; the others have hostile bytes, too.
FLIPPED = 2
# Returns how many entries a store has with some evidence; None if one is not as it was written.
Check = Callable[[Path, Path | None], int | None]


def _trials(seed: int, trials: int) -> Iterator[Trial]:
    with TemporaryDirectory() as folder:
        _write_vectors(Path(folder))
        _write_verdicts(Path(folder))
        yield from limited(partial(_damage, Path(folder)), (f"{seed}-{number}" for number in range(trials)))


def _write_vectors(folder: Path) -> None:
    for rows in ADDED:
        with Vectors(folder / "embed") as ledger:
            ledger.add(HASHES[rows], VECTORS[rows])
    with Vectors(folder / "embed") as ledger:
        ledger.use(HASHES)
        ledger.write_evidence(folder / LEDGER / "embed")


def _write_verdicts(folder: Path) -> None:
    for rows in ADDED:
        with Verdicts(folder / "judge") as ledger:
            ledger.add([_entry(number) for number in range(ENTRIES)[rows]])
    with Verdicts(folder / "judge") as ledger:
        ledger.use(NAMES)
        ledger.write_evidence(folder / LEDGER / "judge")


def _entry(number: int) -> Entry:
    return Entry(
        key=NAMES[number], metric="meaning_match", prompt="p", draw=0, raw="{}", verdict=float(number % 2),
        reason=f"reason {number}", problem=None, model="m", asked=None, tokens={"prompt": number, "completion": 3},
        latency=0.25, attempts=1,
    )  # fmt: skip


def _damage(whole: Path, drawn: str) -> Trial:
    """Damage a file of a store or of evidence, and use both; drawn: the seed of the damage."""
    rng = Random(drawn)  # noqa: S311 (a seed repeats the trial)
    kind = rng.choice(("embed", "judge"))
    with TemporaryDirectory() as copied:
        folder = Path(copied)
        shutil.copytree(whole, folder, dirs_exist_ok=True)
        store, evidence = folder / kind, folder / LEDGER / kind
        damaged = rng.choice((store, store, store, evidence))
        path = rng.choice(sorted(path for path in damaged.iterdir() if path.stat().st_size))
        damage = mutated if rng.randrange(FLIPPED) else flip
        path.write_bytes(damage(path.read_bytes(), rng))
        check = _vectors_found if kind == "embed" else _verdicts_found
        where = f"{drawn} {path.relative_to(folder)}"
        return _of_store(store, evidence, check, where) if damaged == store else _of_evidence(store, path, check, where)


def _of_store(store: Path, evidence: Path, check: Check, where: str) -> Trial:
    """Open a damaged store twice, then heal it from the evidence."""
    found = [check(store, each) for each in (None, None, evidence, None)]
    if None in found:
        return Trial("silent", f"{where}: another answer, {found} entries found")
    if found[0] != found[1] or found[2:] != [ENTRIES, ENTRIES]:
        return Trial("lost", f"{where}: {found} entries found")
    if not (store / ASIDE).exists():
        return Trial("harmless")
    return Trial("kept" if found[0] == ENTRIES else "asked again")


def _of_evidence(store: Path, path: Path, check: Check, where: str) -> Trial:
    """Take in damaged evidence of entries that the store has."""
    try:
        found = check(store, path.parent)
    except LedgerError as error:
        return Trial("refused", None if path.name in str(error) else f"{where}: {error}")
    return Trial("not used" if found == ENTRIES else "silent", None if found == ENTRIES else f"{where}: {found} found")


def _vectors_found(store: Path, evidence: Path | None) -> int | None:
    """Return how many entries there are; None if one is not as it was written."""
    with Vectors(store) as ledger:
        if evidence:
            ledger.take_in(evidence)
        rows = np.flatnonzero(ledger.known(HASHES))
        found = ledger.lookup([HASHES[row] for row in rows.tolist()]) if len(rows) else VECTORS[rows]
    return len(rows) if np.array_equal(found, VECTORS[rows]) else None


def _verdicts_found(store: Path, evidence: Path | None) -> int | None:
    """Return how many entries there are; None if one is not as it was written."""
    with Verdicts(store) as ledger:
        if evidence:
            ledger.take_in(evidence)
        rows = np.flatnonzero(~ledger.unanswered(NAMES)).tolist()
        return len(rows) if ledger.get(NAMES) == {NAMES[row]: _entry(row) for row in rows} else None


CAMPAIGN = Campaign(
    "stores",
    "Damage of stores and evidence changes no verdict or vector: it is healed, asked again, not used, or named.",
    trials=3_000,
    few=100,
    run=_trials,
)
