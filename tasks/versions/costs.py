"""The cost of a run: the ledger entries that it added and that its tables use."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tasks.ledger import root
from tasks.ledger.journal import SUFFIX as LINES
from tasks.ledger.journal import journals
from tasks.ledger.vectors import EVIDENCE_FILE as VECTORS
from tasks.ledger.vectors import SUFFIX as ARROW
from tasks.ledger.verdicts import EVIDENCE_FILE as VERDICTS
from tasks.pipeline import params
from tasks.pipeline.dvc_yaml import LEDGER

_EVIDENCE = Path(LEDGER, "embed", VECTORS)


class PaidEntries(NamedTuple):
    """The paid entries before a run: segments of the store, lines of verdicts, keys of vectors."""

    segments: frozenset[Path]
    verdicts: frozenset[bytes]
    vectors: frozenset[bytes]


def paid_entries() -> PaidEntries:
    """Return the entries of the store and the evidence now. Raises LedgerError when the evidence is damaged."""
    lines = [*_evidence_lines(), *(line for _, line in journals(root() / "judge"))]
    return PaidEntries(frozenset(_segments()), frozenset(lines), frozenset(_vector_keys(_EVIDENCE)))


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
    stored = {line for segment in new for line in segment.read_bytes().splitlines(keepends=True)}
    stored |= {line for _, line in journals(root() / "judge")}
    stored -= before.verdicts
    return stored.intersection(_evidence_lines()) if stored else stored


def _new_vectors(before: PaidEntries) -> set[bytes]:
    new = [each for each in _segments() if each.suffix == ARROW and each not in before.segments]
    stored = {key for segment in new for key in _vector_keys(segment)} - before.vectors
    return stored.intersection(_vector_keys(_EVIDENCE)) if stored else stored


def _segments() -> list[Path]:
    kinds = {"judge": LINES, "embed": ARROW}
    return [path for kind, suffix in kinds.items() for path in (root() / kind).glob(f"[0-9a-f]*{suffix}")]


def _evidence_lines() -> Iterator[bytes]:
    path = Path(LEDGER, "judge", VERDICTS)
    if path.exists():
        with path.open("rb") as file:
            yield from file


def _vector_keys(path: Path) -> list[Any]:
    from tasks.ledger.vector_file import VectorFile

    return VectorFile(path).keys.tolist() if path.exists() else []
