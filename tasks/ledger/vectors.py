"""The ledger of vectors: the embedding of a text, one entry per key (a SHA-256, 32 bytes)."""

import logging
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tasks.errors import LedgerError
from tasks.ledger import vector_file
from tasks.ledger.segments import is_whole, open_store, publish, set_aside
from tasks.ledger.vector_file import BATCH, NO_KEYS, Floats32, KeyArray, Keys, Rows, VectorFile, find, key_array
from tasks.pipeline.dvc_yaml import recorded
from tasks.pipeline.hashing import sha256

EVIDENCE_FILE = "vectors.arrow"
# Of the file that holds the SHA-256 of the evidence, in hex; evidence of older versions has none.
HASH_SUFFIX = ".sha256"
SUFFIX = ".arrow"
# Largest difference of a number between two computations of a vector by a local model in fp32, whatever the batches.
TOLERANCE = 1e-6
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
    """The store of vectors, overlaid by the evidence of the checked-out version; for one thread."""

    def __init__(self, store: Path) -> None:
        self.disagreements = 0
        self._store = store
        self._segments: list[Path] = []
        self._loose: list[tuple[KeyArray, int]] = []
        self._verified: set[Path] = set()
        self._keys, self._segment, self._row = NO_KEYS, np.empty(0, np.int64), np.empty(0, np.int64)
        self._evidence: VectorFile | None = None
        # Keys of damaged entries of the evidence, in order.
        self._distrusted = NO_KEYS
        self._used: list[KeyArray] = []
        open_store(store)
        for segment in sorted(store.glob(f"[0-9a-f]*{SUFFIX}")):
            self._learn(segment)

    def close(self) -> None:
        """Do nothing: unlike the store of verdicts, this one has no open journal."""

    def known(self, keys: Keys) -> NDArray[np.bool_]:
        """Return whether each key has a vector that is as it was written, shape (m,)."""
        wanted = key_array(keys)
        known = self.in_evidence(wanted)
        known[~known] = self._find(wanted[~known])[1]
        return known

    def in_evidence(self, keys: Keys) -> NDArray[np.bool_]:
        """Return whether the evidence that was taken in has each key, shape (m,)."""
        return self._evident(key_array(keys))[1]

    def add(self, keys: Keys, vectors: Floats32) -> None:
        """Add vectors, shape (m, d), float32, as one segment, and wait until it is on the disk.

        Raises:
            ValueError: The shapes do not fit, a number is not finite, or a vector is zero.
        """
        new, first = np.unique(key_array(keys), return_index=True)
        if vectors.shape[:-1] != (len(keys),) or vectors.dtype != np.float32:
            raise ValueError(f"{len(keys)} keys, but vectors of shape {vectors.shape}, {vectors.dtype}")
        if not np.isfinite(vectors).all():
            raise ValueError("a vector has a number that is not finite")
        if not vectors.any(axis=1).all():
            raise ValueError("a vector is zero")
        if len(new):
            rows = vectors[first]
            self._learn(
                publish(self._store, SUFFIX, lambda path: vector_file.write_vectors(path, new, rows.__getitem__))
            )

    def lookup(self, keys: Keys) -> Floats32:
        """Return the vectors of keys, shape (m, d). Raises LedgerError when one is missing or has another dimension."""
        wanted = key_array(keys)
        rows, here = self._evident(wanted)
        if self._evidence and here.all():
            return self._evidence.take(rows)
        if self._evidence is None or not here.any():
            return self._stored(wanted)
        stored = self._stored(wanted[~here])
        out = np.empty((len(wanted), stored.shape[1]), np.float32)
        out[~here] = stored
        vector_file.check_dimension(self._evidence.dimension, stored.shape[1], self._evidence.path)
        out[here] = self._evidence.take(rows[here])
        return out

    def take_in(self, folder: Path) -> int:
        """Add the entries of the evidence in a folder that the store lacks; return their number.

        Where the two differ, this object uses the evidence, and `disagreements` counts the entry. A local model in fp32
        gives the same vector within TOLERANCE: a larger difference is damage of the evidence, and the store's vector,
        whose file has the hash in its name, is used.

        Raises:
            LedgerError: The evidence is damaged.
        """
        path = folder / EVIDENCE_FILE
        if not path.exists():
            return 0
        _require_whole(path)
        evidence, before, added, tolerance = VectorFile(path), self.disagreements, 0, _tolerance(folder)
        distrusted = [NO_KEYS]
        for start in range(0, len(evidence.keys), BATCH):
            rows = np.arange(start, min(start + BATCH, len(evidence.keys)))
            new, is_damaged = self._compare(evidence.keys[rows], evidence.take(rows), tolerance)
            self._add_from(evidence, rows[new])
            added += int(new.sum())
            distrusted.append(evidence.keys[rows[is_damaged]])
        self._evidence, self._distrusted = evidence, np.concatenate(distrusted)
        damaged = len(self._distrusted)
        if damaged:
            log.warning("%s: %d vectors are damaged; those in %s are used", path, damaged, self._store)
        if differing := self.disagreements - before - damaged:
            log.warning("%s: %d vectors differ from those in %s; the evidence's are used", path, differing, self._store)
        return added

    def _add_from(self, evidence: VectorFile, rows: Rows) -> None:
        try:
            self.add(evidence.keys[rows], evidence.take(rows))
        except LedgerError:  # of the store, such as a full disk
            raise
        except ValueError as error:
            raise LedgerError(f"{evidence.path}: not sound: {error}. {vector_file.REMEDY}") from error

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

    def _learn(self, segment: Path) -> None:
        """Take the keys of a segment into the index, unless the file is damaged."""
        if segment in self._segments:
            return
        try:
            keys = VectorFile(segment).keys
        except LedgerError:
            if is_whole(segment):
                raise
            self._set_aside(segment)
        else:
            self._segments.append(segment)
            self._loose.append((keys, len(self._segments) - 1))

    def _set_aside(self, segment: Path) -> Path:
        path = set_aside(segment)
        log.warning(
            "%s: damaged, its content is not what its name (a sha256) says. It was moved to %s; its vectors are taken "
            "from data/ledger, or computed again",
            segment,
            path.parent,
        )
        return path

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
        if self._drop_damaged(rivals):
            self._choose()
            return
        ranks = np.zeros(len(self._keys), "S64")
        for number, here in self._by_segment(rivals):
            positions = rivals[here]
            vectors = VectorFile(self._segments[number]).take(self._row[positions])
            ranks[positions] = [sha256(vector.tobytes()).hex() for vector in vectors]
        order = np.lexsort((ranks, self._keys))
        self._segment, self._row = self._segment[order], self._row[order]

    def _stored(self, keys: KeyArray) -> Floats32:
        positions, found = self._find(keys)
        if not found.all():
            raise vector_file.missing(keys[~found], self._store)
        return self._read(positions)

    def _evident(self, keys: KeyArray) -> tuple[Rows, NDArray[np.bool_]]:
        """Return the row in the evidence of each key, and whether it is there and sound; both of shape (m,)."""
        rows, found = find(self._evidence.keys if self._evidence else NO_KEYS, keys)
        return rows, found & ~find(self._distrusted, keys)[1]

    def _find(self, keys: KeyArray) -> tuple[Rows, NDArray[np.bool_]]:
        """Return the position of each key in the index, and whether a segment that is whole has it."""
        positions, found = find(self._index(), keys)
        return self._find(keys) if self._drop_damaged(positions[found]) else (positions, found)

    def _drop_damaged(self, positions: Rows) -> bool:
        """Set the damaged segments at positions of the index aside; return whether the index has changed."""
        numbers = np.unique(self._segment[positions]).tolist()
        damaged = [number for number in numbers if not self._is_whole(self._segments[number])]
        for number in damaged:
            self._segments[number] = self._set_aside(self._segments[number])
        if damaged:
            stays = ~np.isin(self._segment, damaged)
            self._keys, self._segment, self._row = self._keys[stays], self._segment[stays], self._row[stays]
        return bool(damaged)

    def _is_whole(self, segment: Path) -> bool:
        if segment not in self._verified and is_whole(segment):
            self._verified.add(segment)
        return segment in self._verified

    def _read(self, positions: Rows) -> Floats32:
        """Return the vectors at positions of the index, shape (m, d)."""
        out: Floats32 | None = None
        for number, here in self._by_segment(positions):
            file = VectorFile(self._segments[number])
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

    def _compare(
        self, keys: KeyArray, vectors: Floats32, tolerance: float
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Compare entries with those of the store, and count the keys that it has with another vector.

        Returns:
            Which entries the store lacks, and which differ from its own by more than the tolerance, that is, are
            damaged; both of shape (m,).
        """
        positions, found = self._find(keys)
        new, is_damaged = ~found, np.zeros(len(keys), np.bool_)
        if found.any():
            stored = self._read(positions[found])
            vector_file.check_dimension(vectors.shape[1], stored.shape[1], self._store)
            differs = (stored.view(np.uint32) != vectors[found].view(np.uint32)).any(axis=1)
            self.disagreements += int(differs.sum())
            for i in np.flatnonzero(found)[differs]:
                variants = self._read(np.flatnonzero(self._keys == keys[i]))
                with np.errstate(over="ignore", invalid="ignore"):  # damaged numbers may be infinite
                    is_near = bool((np.abs(variants - vectors[i]).max(axis=1) <= tolerance).any())
                is_there = bool((variants.view(np.uint32) == vectors[i].view(np.uint32)).all(axis=1).any())
                new[i], is_damaged[i] = is_near and not is_there, not is_near
        return new, is_damaged


def _require_whole(evidence: Path) -> None:
    """Raise LedgerError unless the evidence is as it was written, as far as it says."""
    stated = evidence.with_suffix(HASH_SUFFIX)
    if stated.exists() and stated.read_bytes() != sha256(evidence).hex().encode("ascii"):
        raise LedgerError(
            f"{evidence}, or {stated.name} beside it: damaged, not what was written. {vector_file.REMEDY}"
        )


def _tolerance(evidence: Path) -> float:
    """Return by how much two vectors of a text may differ, from the dvc.lock of the project that holds the evidence."""
    lock = evidence / "../../../dvc.lock"
    provider, precision = (recorded("embed", "embed", option, lock) for option in ("provider", "precision"))
    return TOLERANCE if (provider, precision) == ("local", "fp32") else math.inf
