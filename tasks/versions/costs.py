"""The cost of a run: the ledger entries that it added and that its tables use."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.ledger import REPLIES, root
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
    """The paid entries before a run: segments of the stores, checksums of replies in order, keys of vectors."""

    segments: frozenset[Path]
    replies: NDArray[np.bytes_]
    vectors: frozenset[bytes]


def paid_entries() -> PaidEntries:
    """Return the entries of the stores and the evidence now. Raises LedgerError when the evidence is damaged."""
    unsealed = _checksums(line for kind in REPLIES for _, line in journals(root() / kind))
    checksums = np.sort(np.concatenate([unsealed, *(each for kind in REPLIES for each in _evidence_checksums(kind))]))
    return PaidEntries(frozenset(_segments()), checksums, frozenset(_vector_keys(_EVIDENCE)))


def since(before: PaidEntries) -> float | None:
    """Return the US dollars of the calls since then; None if the tokens or the price of a call are unknown.

    Only replies that are new in the store and used by the tables count: not the calls of another run, and not evidence
    that came with the data. The ledger has no tokens of embedding calls.
    """
    content = params.raw()
    if (content.get("embed") or {}).get("provider", "local") != "local" and _new_vectors(before):
        return None
    costs = [_cost_of(kind, content, before) for kind in REPLIES]
    return None if None in costs else sum(filter(None, costs), 0.0)


def _cost_of(kind: str, content: Mapping[str, Any], before: PaidEntries) -> float | None:
    """Return the US dollars of the new replies of a kind; None if the tokens or the price of one are unknown."""
    entries = [*map(json.loads, _new_lines(kind, before))]
    if not entries:
        return 0.0
    by_model = params.run_params().judge.prices
    prices = [by_model.get(model) for model in _models(kind, content)]
    common = prices[0] if prices and all(one == prices[0] for one in prices) else None
    total = 0.0
    for entry in entries:
        # An entry names the model as the server does, which may be another name than that of a price.
        price = common or by_model.get(entry["model"])
        if price is None or not entry["tokens"]:
            return None
        total += price.of_tokens(entry["tokens"], by_batch=bool(entry.get("batch")))
    return total


def _models(kind: str, content: Mapping[str, Any]) -> set[str]:
    """Return the models that are asked for replies of a kind."""
    if kind == "judge":
        return {one.get("model") or content[kind]["model"] for one in content[kind].get("panel") or [{}]}
    candidates = (content.get("dataset") or {}).get("candidates") or {}
    return {one["model"] for one in candidates.values() if isinstance(one, dict) and "model" in one}


def _new_lines(kind: str, before: PaidEntries) -> set[bytes]:
    new = [path for path in _segments() if path.parent == root() / kind and path not in before.segments]
    lines = {line for segment in new for line in segment.read_bytes().splitlines(keepends=True)}
    stored = [*(lines | {line for _, line in journals(root() / kind)})]
    if not stored:
        return set()
    checksums = _checksums(stored)
    is_used = np.zeros(len(stored), np.bool_)
    for used in _evidence_checksums(kind):
        is_used |= np.isin(checksums, used)
    return {*compress(stored, is_used & ~np.isin(checksums, before.replies))}


def _new_vectors(before: PaidEntries) -> set[bytes]:
    new = [each for each in _segments() if each.suffix == ARROW and each not in before.segments]
    stored = {key for segment in new for key in _vector_keys(segment)} - before.vectors
    return stored.intersection(_vector_keys(_EVIDENCE)) if stored else stored


def _segments() -> list[Path]:
    kinds = {**dict.fromkeys(REPLIES, LINES), "embed": ARROW}
    return [path for kind, suffix in kinds.items() for path in (root() / kind).glob(f"[0-9a-f]*{suffix}")]


def _evidence_checksums(kind: str) -> Iterator[NDArray[np.bytes_]]:
    """Yield the checksums of the lines of each file of evidence of a kind."""
    return (file.index.columns["checksum"].copy() for file in VerdictEvidence(Path(LEDGER, kind)).files())


def _checksums(lines: Iterable[bytes]) -> NDArray[np.bytes_]:
    return np.frombuffer(b"".join(map(checksum, lines)), NO_KEYS.dtype)


def _vector_keys(path: Path) -> list[Any]:
    from tasks.ledger.vector_file import VectorFile

    return VectorFile(path).keys.tolist() if path.exists() else []
