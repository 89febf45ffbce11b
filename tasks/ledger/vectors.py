"""The ledger of vectors: the embedding of a text, one entry per key (a SHA-256, 32 bytes)."""

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tasks.errors import LedgerError
from tasks.ledger import vector_file
from tasks.ledger.segments import open_store, publish, verify
from tasks.ledger.vector_file import BATCH, NO_KEYS, Floats32, KeyArray, Keys, Rows, VectorFile, find, key_array
from tasks.pipeline.hashing import sha256

EVIDENCE_FILE = "vectors.arrow"
SUFFIX = ".arrow"
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


class Vectors:
    """The store of vectors, overlaid by the evidence of the checked-out version; for one thread.

    asked_at: base_url of the server in dvc.lock, which the evidence is of; None if it is unknown.
    """

    def __init__(self, store: Path, asked_at: str | None = None) -> None:
        self.disagreements = 0
        self.asked_at = asked_at
        self.folder = self._store = store
        self._segments: list[Path] = []
        self._loose: list[tuple[KeyArray, int]] = []
        self._verified: set[Path] = set()
        self._keys, self._segment, self._row = NO_KEYS, np.empty(0, np.int64), np.empty(0, np.int64)
        self._evidence: VectorFile | None = None
        self._used: list[KeyArray] = []
        open_store(store)
        for segment in sorted(store.glob(f"[0-9a-f]*{SUFFIX}")):
            self._learn(segment)

    def close(self) -> None:
        """Do nothing: unlike the store of verdicts, this one has no open journal."""

    def known(self, keys: Keys) -> NDArray[np.bool_]:
        """Return whether each key has a vector, shape (m,)."""
        wanted = key_array(keys)
        found = find(self._index(), wanted)[1]
        return found | find(self._evidence.keys, wanted)[1] if self._evidence else found

    def in_evidence(self, keys: Keys) -> NDArray[np.bool_]:
        """Return whether the evidence that was taken in has each key, shape (m,)."""
        wanted = key_array(keys)
        return find(self._evidence.keys, wanted)[1] if self._evidence else np.zeros(len(wanted), np.bool_)

    def add(self, keys: Keys, vectors: Floats32) -> None:
        """Add vectors, shape (m, d), float32, as one segment, and wait until it is on the disk.

        Raises:
            ValueError: The shapes do not fit, or a number is not finite.
        """
        new, first = np.unique(key_array(keys), return_index=True)
        if vectors.shape[:-1] != (len(keys),) or vectors.dtype != np.float32:
            raise ValueError(f"{len(keys)} keys, but vectors of shape {vectors.shape}, {vectors.dtype}")
        if not np.isfinite(vectors).all():
            raise ValueError("a vector has a number that is not finite")
        if len(new):
            rows = vectors[first]
            self._learn(
                publish(self._store, SUFFIX, lambda path: vector_file.write_vectors(path, new, rows.__getitem__))
            )

    def lookup(self, keys: Keys) -> Floats32:
        """Return the vectors of keys, shape (m, d). Raises LedgerError when one is missing or has another dimension."""
        wanted = key_array(keys)
        if self._evidence is None:
            return self._stored(wanted)
        rows, here = find(self._evidence.keys, wanted)
        if here.all():
            return self._evidence.take(rows)
        stored = self._stored(wanted[~here])
        out = np.empty((len(wanted), stored.shape[1]), np.float32)
        out[~here] = stored
        if here.any():
            vector_file.check_dimension(self._evidence.dimension, stored.shape[1], self._evidence.path)
            out[here] = self._evidence.take(rows[here])
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
        evidence, before, added = VectorFile(path), self.disagreements, 0
        for start in range(0, len(evidence.keys), BATCH):
            rows = np.arange(start, min(start + BATCH, len(evidence.keys)))
            new = self._unknown(evidence.keys[rows], evidence.take(rows))
            self._add_from(evidence, rows[new])
            added += int(new.sum())
        self._evidence = evidence
        if self.disagreements > before:
            count = self.disagreements - before
            log.warning("%s: %d vectors differ from those in %s; the evidence's are used", path, count, self._store)
        return added

    def _add_from(self, evidence: VectorFile, rows: Rows) -> None:
        try:
            self.add(evidence.keys[rows], evidence.take(rows))
        except LedgerError:  # of the store, such as a full disk
            raise
        except ValueError as error:
            raise LedgerError(f"{evidence.path}: not sound: {error}. Restore it: `dvc checkout -f`.") from error

    def use(self, keys: Keys) -> None:
        """Mark keys as used by the current tables."""
        self._used.append(key_array(keys))

    def write_evidence(self, folder: Path) -> None:
        """Write exactly the used entries, in key order. Raises LedgerError when one of them is missing."""
        folder.mkdir(parents=True, exist_ok=True)
        keys = np.unique(np.concatenate([NO_KEYS, *self._used]))
        vector_file.write_vectors(folder / EVIDENCE_FILE, keys, lambda part: self.lookup(keys[part]))

    def _learn(self, segment: Path) -> None:
        if segment not in self._segments:
            self._segments.append(segment)
            self._loose.append((VectorFile(segment).keys, len(self._segments) - 1))

    def _index(self) -> KeyArray:
        """Return all keys of the store in order; the chosen variant of a key comes first."""
        if self._loose:
            sizes = [len(keys) for keys, _ in self._loose]
            keys = np.concatenate([self._keys, *(keys for keys, _ in self._loose)])
            segment = np.concatenate([self._segment, np.repeat([number for _, number in self._loose], sizes)])
            row = np.concatenate([self._row, *(np.arange(size) for size in sizes)])
            order = np.argsort(keys, kind="stable")
            self._keys, self._segment, self._row = keys[order], segment[order], row[order]
            self._loose = []
            self._choose()
        return self._keys

    def _choose(self) -> None:
        """Sort the variants of a key by SHA-256, so that the choice depends on content only."""
        again = np.flatnonzero(self._keys[1:] == self._keys[:-1])
        if not len(again):
            return
        rivals = np.union1d(again, again + 1)
        ranks = np.zeros(len(self._keys), "S64")
        for number, here in self._by_segment(rivals):
            positions = rivals[here]
            vectors = self._open(number).take(self._row[positions])
            ranks[positions] = [sha256(vector.tobytes()).hex() for vector in vectors]
        order = np.lexsort((ranks, self._keys))
        self._segment, self._row = self._segment[order], self._row[order]

    def _stored(self, keys: KeyArray) -> Floats32:
        positions, found = find(self._index(), keys)
        if not found.all():
            raise vector_file.missing(keys[~found], self._store)
        return self._read(positions)

    def _read(self, positions: Rows) -> Floats32:
        """Return the vectors at positions of the index, shape (m, d)."""
        out: Floats32 | None = None
        for number, here in self._by_segment(positions):
            file = self._open(number)
            out = np.empty((len(positions), file.dimension), np.float32) if out is None else out
            vector_file.check_dimension(file.dimension, out.shape[1], file.path)
            out[here] = file.take(self._row[positions[here]])
        return np.empty((0, 0), np.float32) if out is None else out

    def _by_segment(self, positions: Rows) -> Iterator[tuple[int, Rows]]:
        """Yield each segment that holds some of these positions of the index, and where in `positions` those are."""
        segments = self._segment[positions]
        order = np.argsort(segments, kind="stable")
        numbers, starts = np.unique(segments[order], return_index=True)
        if len(order):
            yield from zip(numbers.tolist(), np.split(order, starts[1:]), strict=True)

    def _open(self, number: int) -> VectorFile:
        path = self._segments[number]
        if path not in self._verified:
            verify(path)
            self._verified.add(path)
        return VectorFile(path)

    def _unknown(self, keys: KeyArray, vectors: Floats32) -> NDArray[np.bool_]:
        """Return which entries the store lacks, shape (m,), and count the keys that it has with another vector."""
        index = self._index()
        positions, found = find(index, keys)
        new = ~found
        if found.any():
            stored = self._read(positions[found])
            vector_file.check_dimension(vectors.shape[1], stored.shape[1], self._store)
            differs = (stored.view(np.uint32) != vectors[found].view(np.uint32)).any(axis=1)
            self.disagreements += int(differs.sum())
            for i in np.flatnonzero(found)[differs]:
                variants = self._read(np.flatnonzero(index == keys[i]))
                new[i] = not (variants.view(np.uint32) == vectors[i].view(np.uint32)).all(axis=1).any()
        return new
