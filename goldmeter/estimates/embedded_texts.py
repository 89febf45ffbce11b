"""The vectors of the texts that semantic metrics read: searched in the rows, encoded once, kept in the ledger."""

import sys
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import repeat
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.console.terminal import say
from goldmeter.estimates.tables import Semantic, pairs_of
from goldmeter.ledger.vectors import Vectors
from goldmeter.models.embedding.batches import require_dimension
from goldmeter.models.embedding.distinct_texts import (
    FEWEST_TO_TELL,
    DistinctTexts,
    PartFile,
    Plan,
    TextsWriter,
    expected_seconds,
    keys_of,
    merged,
    planned,
    write_part_texts,
)
from goldmeter.models.embedding.encoders import Embedding, Encoder, open_encoder, vector_keys
from goldmeter.models.embedding.remote import REQUEST_TEXTS
from goldmeter.pipeline.progress import Progress, quiet
from goldmeter.pipeline.settings import Section
from goldmeter.pipeline.tables import Parts, describe
from goldmeter.pipeline.workers import Crew

PART_ROWS = 50_000
# Texts between two writes to the ledger: a killed run loses at most as many of each process.
ENCODED_AT_ONCE = 1024
# Minimum texts per process that encodes: it takes about as long to import torch as to encode half of them.
TEXTS_A_WORKER = 2048
SCHEMA = pa.schema(
    {"key": pa.binary(32), "offset": pa.int64(), "tokens": pa.int32(), "truncated": pa.bool_(), "norm": pa.float64()}
)


class Params(Section):
    """The sections of params.yaml that this stage reads."""

    embed: Embedding
    semantic: Semantic


def embed(
    rows: Parts, params: Params, ledger: Vectors, scratch: Path, progress: Progress = quiet, crew: Crew | None = None
) -> Iterator[dict[str, pa.Table]]:
    """List the vector of every distinct text, in key order; encode the texts that the ledger has no vector of.

    Args:
        rows: data/normalize.
        params: Sections `embed` and `semantic`.
        ledger: The store of vectors.
        scratch: An empty folder for the texts, until all is yielded.
        progress: Shows the rows searched, then the texts encoded.
        crew: The processes that search the rows, and that encode if they are many; None: this one.
    """
    crew, encoder = crew or Crew(), open_encoder(params.embed)
    files = crew.map(_part_texts, repeat(rows), range(len(rows)), repeat(params), repeat(scratch))
    texts = _collect(_counted(files, rows.rows, progress), ledger, scratch)
    _encode_missing(texts, params.embed, encoder, ledger, progress, crew)
    facts = _facts(params.embed, encoder, texts, ledger)
    for start in range(0, max(len(texts), 1), PART_ROWS):
        part = texts.all.slice(start, PART_ROWS).combine_chunks()  # else the file's pages would show them
        ledger.use(keys_of(part))
        yield {"embed": describe(_table(part, start, encoder.window, params.embed, ledger), facts)}


def plan(rows: Iterable[pa.Table], params: Params, ledger: Vectors, fewest: int = 1) -> Plan | None:
    """Plan what `embed` would encode of these parts; None if the ledger lacks fewer vectors than `fewest`.

    A local model encodes a few texts to measure its pace.
    """
    encoder = open_encoder(params.embed)
    with TemporaryDirectory() as folder:
        scratch = Path(folder)
        files = (_texts_of(part, number, params, encoder, scratch) for number, part in enumerate(rows))
        texts = _collect(files, ledger, scratch)
        if texts.missing < fewest:
            return None
        seconds = expected_seconds(texts, encoder) if params.embed.provider == "local" else None
        return planned(texts, encoder, params.embed, seconds)


def _counted(files: Iterable[PartFile], total: int, progress: Progress) -> Iterator[PartFile]:
    """Report progress while the files of parts are taken."""
    done = 0
    for file in files:
        done += file.rows
        progress("rows searched", done, total)
        yield file


def _part_texts(rows: Parts, number: int, params: Params, scratch: Path) -> PartFile:
    """Write the distinct texts of one part."""
    return _texts_of(rows.part(number), number, params, _encoder(params.embed), scratch)


def _texts_of(rows: pa.Table, number: int, params: Params, encoder: Encoder, scratch: Path) -> PartFile:
    """Write the distinct texts that the metrics need of a part."""
    pairs = pairs_of(rows)
    texts = [*dict.fromkeys(text for metric in params.semantic.root.values() for text in metric.texts(pairs))]
    keys, tokens = vector_keys(params.embed, encoder, texts), encoder.count_tokens(texts)
    return write_part_texts(scratch / f"part-{number:05d}.arrow", keys, tokens, texts, rows.num_rows)


def _collect(files: Iterable[PartFile], ledger: Vectors, scratch: Path) -> DistinctTexts:
    """Merge the distinct texts of all parts, and put those that have no vector in the order of encoding."""
    with TextsWriter(scratch) as writer:
        for texts in merged([*files]):
            writer.add(texts, ledger.known(texts.keys))
        return writer.finish()


def _encode_missing(
    texts: DistinctTexts, section: Embedding, encoder: Encoder, ledger: Vectors, progress: Progress, crew: Crew
) -> None:
    """Encode the texts without a vector, shortest first, and add each batch to the ledger as it comes."""
    total, local = texts.missing, section.provider == "local"
    if not total:
        return
    crew = crew.grown(total // TEXTS_A_WORKER) if local else Crew()
    apart = crew.workers > 1 and total >= 2 * TEXTS_A_WORKER
    if total >= FEWEST_TO_TELL:
        seconds = _expected_seconds(texts, encoder, section, crew if apart else None) if local else None
        if (ahead := planned(texts, encoder, section, seconds)).is_long:
            say(f"embed: {ahead}", sys.stderr)
    at_once = ENCODED_AT_ONCE if local else REQUEST_TEXTS  # what was paid for is kept at once
    starts = range(0, total, at_once)
    stops = [start + at_once for start in starts]
    here = (encoder.encode(texts.to_encode(*limits).strings) for limits in zip(starts, stops, strict=True))
    encoded = crew.map(_encode_apart, repeat(texts), starts, stops, repeat(section)) if apart else here
    read = np.cumsum(np.maximum(texts.tokens_to_encode(), 1))
    dimension, who = _stored_dimension(texts, ledger), " at ".join(filter(None, (section.model, section.server_key)))
    for start, stop in zip(starts, stops, strict=True):
        progress("texts", start, total, share=read[start - 1] / read[-1] if start else 0.0)
        vectors = next(encoded)
        dimension = dimension or vectors.shape[1]
        require_dimension(vectors.shape[1], dimension, who)
        ledger.add(texts.to_encode(start, stop).keys, vectors)
    progress("texts", total, total)


def _stored_dimension(texts: DistinctTexts, ledger: Vectors) -> int | None:
    """Return the dimension of the vectors that the ledger has of these texts; None if it has none."""
    for start in range(0, len(texts), PART_ROWS):
        keys = keys_of(texts.all.slice(start, PART_ROWS))
        if len(stored := keys[ledger.known(keys)]):
            return int(ledger.lookup(stored[:1]).shape[1])
    return None


def _expected_seconds(texts: DistinctTexts, encoder: Encoder, section: Embedding, crew: Crew | None) -> float:
    """Measure the pace, in a worker if workers encode: this process needs no torch then."""
    if crew is None:
        return expected_seconds(texts, encoder)
    [seconds] = crew.map(_expected_seconds_apart, [texts], [section])
    return seconds / crew.workers


def _expected_seconds_apart(texts: DistinctTexts, section: Embedding) -> float:
    return expected_seconds(texts, _encoder(section))


def _encode_apart(texts: DistinctTexts, start: int, stop: int, section: Embedding) -> NDArray[np.float32]:
    return _encoder(section).encode(texts.to_encode(start, stop).strings)


_encoder = cache(open_encoder)


def _table(part: pa.Table, start: int, window: int | None, section: Embedding, ledger: Vectors) -> pa.Table:
    columns = {
        "key": part["key"],
        "offset": np.arange(start, start + len(part)),
        "tokens": part["tokens"],
        "truncated": _truncated(part["tokens"], window, section),
        "norm": np.linalg.norm(ledger.lookup(keys_of(part)).astype(np.float64), axis=1),
    }
    return pa.table(columns, SCHEMA)


def _truncated(tokens: pa.ChunkedArray, window: int | None, section: Embedding) -> pa.ChunkedArray:
    """Whether the encoder reads only the beginning of each text; null if only the server knows."""
    reads_all = window is None or section.long != "truncate"
    return pc.greater(tokens, pa.scalar(np.iinfo(np.int32).max if reads_all else window, pa.int32()))


def _facts(section: Embedding, encoder: Encoder, texts: DistinctTexts, ledger: Vectors) -> dict[str, object]:
    truncated = _truncated(texts.all["tokens"], encoder.window, section)
    return {
        "provider": section.provider,
        "model": section.model,
        "weights": encoder.identity,
        "precision": section.arithmetic,
        "long": section.long,
        "dimension": ledger.lookup(keys_of(texts.all.slice(0, 1))).shape[1],
        "window": encoder.window,
        "truncated": None if truncated.null_count else pc.sum(truncated).as_py() or 0,
    }
