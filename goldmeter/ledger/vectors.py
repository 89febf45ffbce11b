"""The ledger of vectors: the embedding of a text, one entry per key (a SHA-256, 32 bytes)."""

import logging
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from goldmeter.errors import LedgerError
from goldmeter.ledger import vector_file
from goldmeter.ledger.sqlite_file import Layout, Store
from goldmeter.ledger.vector_file import NO_KEYS, Floats32, KeyArray, Keys, Rows, VectorFile, find, key_array, split
from goldmeter.pipeline.hashing import sha256

EVIDENCE_FILE = "vectors.arrow"
# Of the file that holds the SHA-256 of the evidence, in hex.
HASH_SUFFIX = ".sha256"
LAYOUT = Layout("vectors")
# Vectors in memory at once, of the evidence and of the store.
CHUNK = 8_192
log = logging.getLogger(__name__)


class VectorEvidence(VectorFile):
    """The vectors that the tables of a version use (data/ledger/embed), read-only; rows are offsets in data/embed."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / EVIDENCE_FILE)

    def __reduce__(self) -> tuple[type["VectorEvidence"], tuple[Path]]:
        return VectorEvidence, (self.path.parent,)

    def lookup(self, keys: Keys) -> Floats32:
        """Return the vectors of keys, shape (m, dimension). Raises LedgerError when one is missing."""
        wanted = key_array(keys)
        rows, found = find(self.keys, wanted)
        if not found.all():
            raise vector_file.missing(wanted[~found], self.path)
        return self.take(rows)


class Vectors(Store):
    """The store of vectors, overlaid by the evidence of the checked-out version; for one thread."""

    def __init__(self, store: Path) -> None:
        super().__init__(store, LAYOUT)
        self._evidence: VectorFile | None = None

    def known(self, keys: Keys) -> NDArray[np.bool_]:
        """Return whether each key has a vector that is as it was written, shape (m,)."""
        wanted = key_array(keys)
        _, known = self._evident(wanted)
        known[~known] = self._is_stored(wanted[~known])
        return known

    def add(self, keys: Keys, vectors: Floats32) -> None:
        """Add vectors, shape (m, d), float32, and wait until they are on the disk.

        Raises:
            ValueError: The shapes do not fit, a number is not finite, or a vector is zero.
        """
        wanted = key_array(keys)
        if vectors.shape[:-1] != (len(wanted),) or vectors.dtype != np.float32:
            raise ValueError(f"{len(wanted)} keys, but vectors of shape {vectors.shape}, {vectors.dtype}")
        if not np.isfinite(vectors).all():
            raise ValueError("a vector has a number that is not finite")
        if not vectors.any(axis=1).all():
            raise ValueError("a vector is zero")
        self._rows.put([*zip(split(wanted), _values(vectors), strict=True)])

    def lookup(self, keys: Keys) -> Floats32:
        """Return the vectors of keys, shape (m, d). Raises LedgerError when one is missing or has another dimension."""
        wanted = key_array(keys)
        rows, here = self._evident(wanted)
        if self._evidence is None or not here.any():
            return self._stored(wanted)
        if here.all():
            return self._evidence.take(rows)
        stored = self._stored(wanted[~here])
        vector_file.check_dimension(self._evidence.dimension, stored.shape[1], self._evidence.path)
        out = np.empty((len(wanted), stored.shape[1]), np.float32)
        out[~here], out[here] = stored, self._evidence.take(rows[here])
        return out

    def take_in(self, folder: Path) -> int:
        """Add the entries of the evidence in a folder that the store lacks; return their number.

        Where the two differ, this object uses the evidence, and `disagreements` counts the entry.

        Raises:
            LedgerError: The evidence is damaged.
        """
        path = folder / EVIDENCE_FILE
        if not path.exists():
            return 0
        _require_whole(path)
        evidence, before, added = VectorFile(path), self.disagreements, 0
        for start in range(0, len(evidence.keys), CHUNK):
            rows = np.arange(start, min(start + CHUNK, len(evidence.keys)))
            added += self._take_in(evidence, rows)
        self._evidence = evidence
        if differing := self.disagreements - before:
            log.warning("%s: %d vectors differ from those in %s; the evidence's are used", path, differing, self.folder)
        return added

    def use(self, keys: Keys) -> None:
        """Mark keys as used by the current tables."""
        self._used.append(key_array(keys))

    def write_evidence(self, folder: Path) -> None:
        """Write exactly the used entries, in key order. Raises LedgerError when one of them is missing."""
        folder.mkdir(parents=True, exist_ok=True)
        keys = np.unique(np.concatenate([NO_KEYS, *self._used]))
        path = folder / EVIDENCE_FILE
        vector_file.write_vectors(path, keys, lambda part: self.lookup(keys[part]))
        path.with_suffix(HASH_SUFFIX).write_text(sha256(path).hex(), "ascii")

    def _evident(self, keys: KeyArray) -> tuple[Rows, NDArray[np.bool_]]:
        """Return the row in the evidence of each key, and whether it is there; both of shape (m,)."""
        return find(self._evidence.keys if self._evidence else NO_KEYS, keys)

    def _is_stored(self, keys: KeyArray) -> NDArray[np.bool_]:
        """Return whether the store has each key, shape (m,)."""
        wanted = split(keys)
        found = np.zeros(len(wanted), np.bool_)
        for start in range(0, len(wanted), CHUNK):
            chunk = wanted[start : start + CHUNK]
            there = self._rows.get(chunk)
            if len(there) < len({*chunk}):
                self._rows.check()
                there = self._rows.get(chunk)
            found[start : start + CHUNK] = [key in there for key in chunk]
        return found

    def _stored(self, keys: KeyArray) -> Floats32:
        """Return the vectors that the store has of keys, shape (m, d)."""
        wanted = split(keys)
        stored = self._rows.get(wanted)
        if absent := [key for key in wanted if key not in stored]:
            raise vector_file.missing(np.frombuffer(b"".join(absent), NO_KEYS.dtype), self.folder)
        if not wanted:
            return np.empty((0, 0), np.float32)
        dimension = len(stored[wanted[0]]) // 4
        for value in stored.values():
            vector_file.check_dimension(len(value) // 4, dimension, self.folder)
        return np.frombuffer(b"".join(stored[key] for key in wanted), np.float32).reshape(-1, dimension)

    def _take_in(self, evidence: VectorFile, rows: Rows) -> int:
        """Take in some rows of evidence; return how many vectors the store lacked."""
        keys, values = split(evidence.keys[rows]), _values(evidence.take(rows))
        stored = self._rows.get(keys)
        new = [(key, value) for key, value in zip(keys, values, strict=True) if stored.get(key) != value]
        for key, value in new:
            if key in stored:
                vector_file.check_dimension(len(value) // 4, len(stored[key]) // 4, self.folder)
                self.disagreements += 1
        return self._rows.put(new)


def _values(vectors: Floats32) -> list[bytes]:
    """Return the bytes of each vector."""
    size, content = vectors.shape[1] * vectors.itemsize, np.ascontiguousarray(vectors).tobytes()
    return [content[start : start + size] for start in range(0, len(content), size)]


def _require_whole(evidence: Path) -> None:
    """Raise LedgerError unless the evidence is as it was written."""
    stated = evidence.with_suffix(HASH_SUFFIX)
    if not stated.exists() or stated.read_bytes() != sha256(evidence).hex().encode("ascii"):
        raise LedgerError(
            f"{evidence}, or {stated.name} beside it: damaged, not what was written. {vector_file.REMEDY}"
        )
