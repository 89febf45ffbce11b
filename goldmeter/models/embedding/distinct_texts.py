"""The distinct texts of a table on disk, which of them are to be embedded, and how long that takes."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from goldmeter.models.embedding.encoders import Embedding, Encoder
from goldmeter.pipeline.files import temporary_in

# Texts and bytes of texts of all parts that are in memory at once while their files are merged.
TEXTS_AT_ONCE, BYTES_AT_ONCE = 200_000, 1 << 26
COUNTED = pa.schema({"key": pa.binary(32), "tokens": pa.int32()})
SCHEMA = COUNTED.append(pa.field("text", pa.large_string()))
ALL, MISSING, ORDER = "all.arrow", "missing.arrow", "order.npy"

KeyArray: TypeAlias = NDArray[np.bytes_]


class Texts(NamedTuple):
    """Distinct texts in key order.

    Attributes:
        keys: Shape (n,), dtype S32.
        table: Columns key, tokens (null if only the server knows) and text.
    """

    keys: KeyArray
    table: pa.Table

    def take(self, rows: NDArray[np.int64]) -> "Texts":
        """Return some of the texts."""
        return Texts(self.keys[rows], self.table.take(pa.array(rows)))

    @property
    def strings(self) -> list[str]:
        """The texts."""
        strings: list[str] = self.table["text"].to_pylist()
        return strings


class PartFile(NamedTuple):
    """The file of a part: its distinct texts, and their number, bytes, and the part's rows."""

    path: Path
    texts: int
    size: int
    rows: int


def write_part_texts(
    path: Path, keys: Sequence[bytes], tokens: Sequence[int | None], texts: Sequence[str], rows: int
) -> PartFile:
    """Write the distinct texts of a part, in the order of their keys."""
    table = pa.table([pa.array(keys, pa.binary(32)), pa.array(tokens, pa.int32()), texts], SCHEMA)
    with temporary_in(path.parent, f"{path.name}.") as temporary:  # a unit may run twice
        with _writing(temporary, SCHEMA) as writer:
            writer.write_table(table.sort_by("key").combine_chunks())
        temporary.replace(path)
    return PartFile(path, table.num_rows, table["text"].nbytes, rows)


def merged(files: Sequence[PartFile]) -> Iterator[Texts]:
    """Yield the distinct texts of all parts in key order, by ranges of keys that fit in memory."""
    texts, size = sum(file.texts for file in files), sum(file.size for file in files)
    ranges = max(ceil(texts / TEXTS_AT_ONCE), ceil(size / BYTES_AT_ONCE), 1)
    # Keys are SHA-256, hence uniform: equal ranges of their first 4 bytes hold about as many texts each.
    edges = [(number * 2**32 // ranges).to_bytes(4, "big") for number in range(1, ranges)]
    for start, end in zip([None, *edges], [*edges, None], strict=True):
        pieces = pa.concat_tables([SCHEMA.empty_table(), *(_between(file.path, start, end) for file in files)])
        keys, rows = np.unique(keys_of(pieces), return_index=True)
        yield Texts(keys, pieces.take(pa.array(rows)))


class DistinctTexts:
    """All distinct texts of a table in a folder, with those to encode in canonical order: token count, then key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __len__(self) -> int:
        return int(self.all.num_rows)

    @property
    def all(self) -> pa.Table:
        """Keys and tokens of all texts, in key order; mapped, not in memory."""
        return _opened(self.folder / ALL).read_all()

    @property
    def missing(self) -> int:
        """Number of texts to encode."""
        return len(self._order)

    def to_encode(self, start: int, stop: int) -> Texts:
        """Return the texts to encode from `start` to `stop` in canonical order."""
        rows, reader = np.array(self._order[start:stop]), _opened(self.folder / MISSING)
        batches = [reader.get_batch(number) for number in range(reader.num_record_batches)]
        ends = np.cumsum([batch.num_rows for batch in batches])
        which = np.searchsorted(ends, rows, side="right")
        pieces, order = [SCHEMA.empty_table()], np.argsort(which, kind="stable")
        for number in np.unique(which):
            here = rows[which == number] - (ends[number] - batches[number].num_rows)
            pieces.append(pa.table(batches[number]).take(pa.array(here)))
        table = pa.concat_tables(pieces).take(pa.array(np.argsort(order)))
        return Texts(keys_of(table), table)

    def tokens_to_encode(self) -> NDArray[np.int64]:
        """Return the tokens of the texts to encode, in canonical order; 0 if only the server knows."""
        tokens = _opened(self.folder / MISSING).read_all()["tokens"]
        return _known(tokens)[self._order]

    @property
    def _order(self) -> NDArray[np.int64]:
        order: NDArray[np.int64] = np.load(self.folder / ORDER, mmap_mode="r")
        return order


class TextsWriter:
    """Writes the files of `DistinctTexts`, range by range in key order."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open = ExitStack()
        self._all = self._open.enter_context(_writing(folder / ALL, COUNTED))
        self._missing = self._open.enter_context(_writing(folder / MISSING, SCHEMA))
        self._tokens: list[NDArray[np.int64]] = [np.empty(0, np.int64)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def add(self, texts: Texts, has_vector: NDArray[np.bool_]) -> None:
        """Add the texts of the next range of keys; has_vector: shape (n,)."""
        self._all.write_table(texts.table.select(COUNTED.names).combine_chunks())
        missing = texts.table.filter(pa.array(~has_vector)).combine_chunks()
        if missing.num_rows:
            self._missing.write_table(missing)
            self._tokens.append(_known(missing["tokens"]))

    def finish(self) -> DistinctTexts:
        """Close the files, and put the texts to encode in canonical order."""
        self._open.close()
        np.save(self.folder / ORDER, np.argsort(np.concatenate(self._tokens), kind="stable"))
        return DistinctTexts(self.folder)


def keys_of(table: pa.Table) -> KeyArray:
    """Return the column key, shape (n,), dtype S32; a copy unless they lie in one piece."""
    chunks = [chunk for chunk in table["key"].chunks if len(chunk)]
    pieces = [np.frombuffer(chunk.buffers()[1], "S32")[chunk.offset :][: len(chunk)] for chunk in chunks]
    return pieces[0] if len(pieces) == 1 else np.concatenate([np.empty(0, "S32"), *pieces])


@contextmanager
def _writing(path: Path, schema: pa.Schema) -> Iterator[pa.ipc.RecordBatchFileWriter]:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        yield writer


def _opened(path: Path) -> pa.ipc.RecordBatchFileReader:
    return pa.ipc.open_file(pa.memory_map(str(path)))


def _between(path: Path, start: bytes | None, end: bytes | None) -> pa.Table:
    """Return the texts of a part whose key is at least `start` and less than `end`; None: without that limit."""
    table = _opened(path).read_all()
    keys = keys_of(table)
    first = 0 if start is None else int(np.searchsorted(keys, np.bytes_(start)))
    stop = len(keys) if end is None else int(np.searchsorted(keys, np.bytes_(end)))
    return table.slice(first, stop - first)


def _known(tokens: pa.ChunkedArray) -> NDArray[np.int64]:
    known: NDArray[np.int64] = tokens.fill_null(0).to_numpy().astype(np.int64)
    return known


# Missing texts from which the pace is measured before they are encoded, and seconds from which the user is told.
FEWEST_TO_TELL, LONG = 1_000, 60
# To measure it: bands of similar length, and texts timed in each.
BANDS, TIMED = 6, 24


class Plan(NamedTuple):
    """The texts without a vector, their tokens as far as a pass reads them, and the expected time.

    tokens: None if only the server knows.
    seconds: Measured with a few of the texts; None for a server, which is not asked ahead.
    """

    model: str
    texts: int
    tokens: int | None
    seconds: float | None

    @property
    def is_long(self) -> bool:
        """Whether to tell the user before it starts."""
        return self.seconds is None or self.seconds >= LONG

    def __str__(self) -> str:
        tokens = "" if self.tokens is None else f" of {self.tokens:,} tokens"
        pace = f", {self.texts / self.seconds:,.0f} texts a second here" if self.seconds else ""
        lasting = "" if self.seconds is None else f": about {_duration(self.seconds)}{pace}"
        what = f"{self.texts:,} text{'s' * (self.texts != 1)}{tokens} to embed by {self.model}{lasting}"
        return f"{what}; once, the ledger keeps the vectors. To do without: semantic: {{}} in params.yaml"


def planned(texts: DistinctTexts, encoder: Encoder, section: Embedding, seconds: float | None) -> Plan:
    """Plan the encoding of the texts that lack a vector.

    seconds: As `expected_seconds` returns; None for a server.
    """
    tokens = texts.tokens_to_encode()
    if section.long == "truncate" and encoder.window:
        tokens = np.minimum(tokens, encoder.window)
    return Plan(section.model, texts.missing, int(tokens.sum()) if tokens.all() else None, seconds)


def expected_seconds(texts: DistinctTexts, encoder: Encoder) -> float:
    """Time a few texts of every length, neighbours in the order in which they are encoded; for one process."""
    encoder.encode(texts.to_encode(0, 1).strings)  # loads the model
    bands = [band for band in np.array_split(np.arange(texts.missing), BANDS) if len(band)]
    return sum(_seconds_of(band, texts, encoder) for band in bands)


def _seconds_of(band: np.ndarray[Any, Any], texts: DistinctTexts, encoder: Encoder) -> float:
    """Time some texts in the middle of a band of similar length, for the whole band; the faster of two times."""
    middle = int(band[0]) + max((len(band) - TIMED) // 2, 0)
    timed = texts.to_encode(middle, min(middle + TIMED, int(band[-1]) + 1)).strings
    return min(_seconds(timed, encoder) for _ in range(2)) * len(band) / len(timed)


def _seconds(texts: Sequence[str], encoder: Encoder) -> float:
    start = time.perf_counter()
    encoder.encode(texts)
    return time.perf_counter() - start


def _duration(seconds: float) -> str:
    """A rough time.

    >>> _duration(20), _duration(100), _duration(5000)
    ('20 seconds', '2 minutes', '83 minutes')
    """
    return f"{seconds:.0f} seconds" if seconds < LONG else f"{seconds / 60:.0f} minutes"
