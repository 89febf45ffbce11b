"""Records whose id others may have, or whose input is that of others where the id is made of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tasks.dataset import mapping
from tasks.dataset.answers import Source
from tasks.dataset.columnar.piece import Piece
from tasks.dataset.index import RecordIndex
from tasks.dataset.kernels.hashes import hashed
from tasks.dataset.record import Record
from tasks.text.kernels import Flags, Words
from tasks.text.utf8 import utf8


@dataclass(frozen=True)
class Repeats:
    """What the parts with such records have to know of them.

    Attributes:
        hashes: Hashes of ids, or inputs, that several records have, ascending.
        index: Of these records, which counts them from 0.
        first: Number of the first of them in the part.
    """

    hashes: Words
    index: RecordIndex
    first: int


def id_column(source: Source) -> str:
    """Return the column of the ids, or of the inputs of which they are made."""
    return source.dataset.id or str(source.dataset.input)


def id_hashes(texts: Sequence[str] | pa.StringArray) -> Words:
    """Return the hashes of ids, or inputs; shape (n,)."""
    return hashed(*utf8(pa.array(texts, pa.string())))


def repeated(hashes: Words) -> Words:
    """Return the hashes that occur more than once, ascending."""
    ordered = np.sort(hashes)
    return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])


def with_repeated_id(piece: Piece, source: Source, wanted: Flags, hashes: Words) -> dict[int, Record]:
    """Return the wanted records with an id, or input, of these hashes, by their number.

    Raises:
        Undivided: A record can't be read.
    """
    texts = piece.texts(id_column(source))
    may_be = piece.is_odd | (np.isin(id_hashes(texts.values), hashes) & ~texts.is_odd)
    found = {row: piece.record(row) for row in np.flatnonzero(may_be & wanted).tolist()}
    usable = {row: record for row, record in found.items() if mapping.question_key(record, source) is not None}
    known = np.isin(id_hashes([str(record.values[id_column(source)]) for record in usable.values()]), hashes)
    return {row: record for (row, record), is_known in zip(usable.items(), known.tolist(), strict=True) if is_known}
