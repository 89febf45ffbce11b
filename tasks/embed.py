"""Vectors of texts: one row per distinct text that a semantic metric needs."""

import sys
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from tasks.contract import Contract
from tasks.metrics.base import Metric
from tasks.models.embedding import Embedding, Encoder, open_encoder, vector_keys
from tasks.scores import pairs_of
from tasks.section import Section
from tasks.semantic import Semantic
from tasks.tables import Parts, describe

if TYPE_CHECKING:
    from tasks.ledger.vectors import Vectors

WHOLE = True
PART_ROWS = 50_000
ENCODED_AT_ONCE = 1024
"""Texts between two writes to the ledger: what a killed run loses at most."""
LINE_EVERY = 30.0
"""Seconds between two lines of progress where stderr is no terminal."""
NORM_TOLERANCE = 1e-3
SCHEMA = pa.schema(
    {
        "key": pa.binary(32),
        "offset": pa.int64(),
        "tokens": pa.int32(),
        "truncated": pa.bool_(),
        "norm": pa.float64(),
    }
)


class Params(Section):
    """The sections this stage sees."""

    embed: Embedding
    semantic: Semantic


def embed(rows: Parts, params: Params, ledger: "Vectors") -> Iterator[dict[str, pa.Table]]:
    """List every distinct text's vector, after making those that the ledger has not; in the ledger's key order."""
    encoder = open_encoder(params.embed)
    texts = _collect(rows, params, encoder, ledger)
    _encode_unknown(texts, encoder, ledger)
    keys = sorted(texts.tokens)
    ledger.use(keys)
    facts = _facts(params.embed, encoder, texts, ledger.lookup(keys[:1]).shape[1])
    for start in range(0, max(len(keys), 1), PART_ROWS):
        part = keys[start : start + PART_ROWS]
        yield {"embed": describe(_table(part, start, texts, ledger), facts)}


def expect(params: Params) -> Contract:  # noqa: ARG001, every stage's contract is asked for the same way
    """Vectors of unit norm, one a key, and offsets that count the keys in order."""
    from great_expectations import expectations as gxe

    low, high = 1.0 - NORM_TOLERANCE, 1.0 + NORM_TOLERANCE
    return Contract(
        rows=[
            *(gxe.ExpectColumnValuesToNotBeNull(column=name) for name in ("key", "offset", "norm")),
            gxe.ExpectColumnValuesToBeBetween(column="norm", min_value=low, max_value=high),
            gxe.ExpectColumnValuesToBeBetween(column="tokens", min_value=1),
        ],
        keys=[gxe.ExpectColumnValuesToBeUnique(column="key")],
        counts=[gxe.ExpectColumnValuesToBeBetween(column="out_of_order", min_value=0, max_value=0)],
    )


def counts(table: pa.Table) -> dict[str, float]:
    """Rows of a part that break the order: of keys, or of offsets."""
    keys, offsets = table["key"].to_pylist(), table["offset"].to_numpy()
    descents = sum(a >= b for a, b in pairwise(keys))
    return {"out_of_order": float(descents + np.count_nonzero(np.diff(offsets) != 1))}


class _Texts(NamedTuple):
    """The distinct texts by key: tokens of each that is needed, and the words of those that have no vector yet.

    truncated: which ones the window cuts; None where only a server knows.
    """

    tokens: dict[bytes, int | None]
    unknown: dict[bytes, str]
    limit: int | None

    def truncated(self, key: bytes) -> bool | None:
        """Whether the encoder reads the beginning of the text only; None where only the server knows."""
        tokens = self.tokens[key]
        return None if tokens is None else self.limit is not None and tokens > self.limit


def _collect(rows: Parts, params: Params, encoder: Encoder, ledger: "Vectors") -> _Texts:
    """The texts that the metrics need, part by part; only those without a vector are held."""
    section = params.embed
    found = _Texts({}, {}, encoder.window if section.long == "truncate" else None)
    for part in rows:
        texts = _needed(part, params.semantic.root)
        new = {
            key: text
            for key, text in zip(vector_keys(section, encoder, texts), texts, strict=True)
            if key not in found.tokens
        }
        found.tokens.update(zip(new, encoder.count_tokens(list(new.values())), strict=True))
        known = ledger.known(list(new))
        found.unknown.update((key, text) for (key, text), has in zip(new.items(), known, strict=True) if not has)
    return found


def _needed(part: pa.Table, metrics: Mapping[str, Metric]) -> list[str]:
    pairs = pairs_of(part)
    return list(dict.fromkeys(chain.from_iterable(metric.texts(pairs) for metric in metrics.values())))


def _encode_unknown(texts: _Texts, encoder: Encoder, ledger: "Vectors") -> None:
    """Make the vectors that are not known, shortest text first, and put them into the ledger as they come."""
    order = sorted(texts.unknown, key=lambda key: (texts.tokens[key] or 0, key))
    chunks = [order[start : start + ENCODED_AT_ONCE] for start in range(0, len(order), ENCODED_AT_ONCE)]
    with closing(_with_bar(chunks, texts.tokens) if sys.stderr.isatty() else _with_lines(chunks)) as shown:
        for keys in shown:
            ledger.add(keys, encoder.encode([texts.unknown[key] for key in keys]))


def _with_bar(chunks: list[list[bytes]], tokens: Mapping[bytes, int | None]) -> Generator[list[bytes]]:
    """The chunks, with a bar on the terminal whose length is in tokens, as the time is."""
    if not chunks:
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("embed: {task.fields[done]:,} of {task.fields[texts]:,} texts"), BarColumn()
    lengths = [sum(tokens[key] or 1 for key in keys) for keys in chunks]
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=sum(lengths), texts=sum(map(len, chunks)), done=0)
        for keys, length in zip(chunks, lengths, strict=True):
            yield keys
            bar.update(task, advance=length, done=bar.tasks[task].fields["done"] + len(keys))


def _with_lines(chunks: list[list[bytes]]) -> Generator[list[bytes]]:
    """The chunks, with a line on stderr now and then; none when all is done soon."""
    done, said = 0, time.monotonic()
    for keys in chunks:
        yield keys
        done += len(keys)
        if time.monotonic() - said >= LINE_EVERY:
            said = time.monotonic()
            print(f"embed: {done:,} of {sum(map(len, chunks)):,} texts", file=sys.stderr, flush=True)


def _table(keys: list[bytes], start: int, texts: _Texts, ledger: "Vectors") -> pa.Table:
    vectors = ledger.lookup(keys)
    columns = {
        "key": keys,
        "offset": np.arange(start, start + len(keys)),
        "tokens": [texts.tokens[key] for key in keys],
        "truncated": [texts.truncated(key) for key in keys],
        "norm": np.linalg.norm(vectors.astype(np.float64), axis=1),
    }
    return pa.table(columns, SCHEMA)


def _facts(section: Embedding, encoder: Encoder, texts: _Texts, dimension: int) -> dict[str, object]:
    cut = [texts.truncated(key) for key in texts.tokens]
    return {
        "provider": section.provider,
        "model": section.model,
        "weights": encoder.identity,
        "precision": section.arithmetic,
        "long": section.long,
        "dimension": dimension,
        "window": encoder.window,
        "truncated": None if None in cut else sum(map(bool, cut)),
    }
