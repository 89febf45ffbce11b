"""The cost of a run: the ledger entries that it added and that its tables use."""

import json
from collections.abc import Iterable, Iterator
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.ledger import root
from tasks.ledger.entries import checksum
from tasks.ledger.journal import SUFFIX as LINES
from tasks.ledger.journal import journals
from tasks.ledger.short_keys import NO_KEYS
from tasks.ledger.vectors import EVIDENCE_FILE as VECTORS
from tasks.ledger.vectors import SUFFIX as ARROW
from tasks.ledger.verdict_evidence import VerdictEvidence
from tasks.pipeline import params
from tasks.pipeline.dvc_yaml import LEDGER

_EVIDENCE = Path(LEDGER, "embed", VECTORS)


class PaidEntries(NamedTuple):
    """The paid entries before a run: segments of the store, checksums of verdicts in order, keys of vectors."""

    segments: frozenset[Path]
    verdicts: NDArray[np.bytes_]
    vectors: frozenset[bytes]


def paid_entries() -> PaidEntries:
    """Return the entries of the store and the evidence now. Raises LedgerError when the evidence is damaged."""
    unsealed = _checksums(line for _, line in journals(root() / "judge"))
    checksums = np.sort(np.concatenate([unsealed, *_evidence_checksums()]))
    return PaidEntries(frozenset(_segments()), checksums, frozenset(_vector_keys(_EVIDENCE)))


def since(before: PaidEntries) -> float | None:
    """Return the US dollars of the calls since then; None if the tokens or the price of a call are unknown.

    Only verdicts that are new in the store and used by the tables count: not the calls of another run, and not evidence
    that came with the data. The ledger has no tokens of embedding calls.
    """
    content = params.raw()
    if (content.get("embed") or {}).get("provider", "local") != "local" and _new_vectors(before):
        return None
    entries = [entry for entry in map(json.loads, _new_lines(before)) if not entry.get("carried")]
    price = params.run_params().judge.prices.get(content["judge"]["model"]) if entries else None
    counted: list[dict[str, int]] = [entry["tokens"] for entry in entries if entry["tokens"]]
    if not entries:
        return 0.0
    if price is None or len(counted) < len(entries):
        return None
    return sum(price.of(tokens["prompt"], tokens["completion"]) for tokens in counted)


def _new_lines(before: PaidEntries) -> set[bytes]:
    new = [path for path in _segments() if path.suffix == LINES and path not in before.segments]
    lines = {line for segment in new for line in segment.read_bytes().splitlines(keepends=True)}
    stored = [*(lines | {line for _, line in journals(root() / "judge")})]
    if not stored:
        return set()
    checksums = _checksums(stored)
    is_used = np.zeros(len(stored), np.bool_)
    for used in _evidence_checksums():
        is_used |= np.isin(checksums, used)
    return {*compress(stored, is_used & ~np.isin(checksums, before.verdicts))}


def _new_vectors(before: PaidEntries) -> set[bytes]:
    new = [each for each in _segments() if each.suffix == ARROW and each not in before.segments]
    stored = {key for segment in new for key in _vector_keys(segment)} - before.vectors
    return stored.intersection(_vector_keys(_EVIDENCE)) if stored else stored


def _segments() -> list[Path]:
    kinds = {"judge": LINES, "embed": ARROW}
    return [path for kind, suffix in kinds.items() for path in (root() / kind).glob(f"[0-9a-f]*{suffix}")]


def _evidence_checksums() -> Iterator[NDArray[np.bytes_]]:
    """Yield the checksums of the lines of each file of evidence."""
    return (file.index.columns["checksum"].copy() for file in VerdictEvidence(Path(LEDGER, "judge")).files())


def _checksums(lines: Iterable[bytes]) -> NDArray[np.bytes_]:
    return np.frombuffer(b"".join(map(checksum, lines)), NO_KEYS.dtype)


def _vector_keys(path: Path) -> list[Any]:
    from tasks.ledger.vector_file import VectorFile

    return VectorFile(path).keys.tolist() if path.exists() else []
