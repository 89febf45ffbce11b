"""Vectors of texts: one row per distinct text that a semantic metric needs."""

import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.console.terminal import say
from tasks.ledger.old_keys import owner
from tasks.ledger.vectors import Vectors
from tasks.models.embedding.encoders import Embedding, Encoder, old_vector_keys, open_encoder, vector_keys
from tasks.models.servers import address
from tasks.pipeline.contract import Contract
from tasks.pipeline.progress import Progress, quiet
from tasks.pipeline.settings import Section
from tasks.pipeline.stage import Stage
from tasks.pipeline.tables import Parts, describe
from tasks.scores.settings import Semantic
from tasks.scores.tables import pairs_of

PART_ROWS = 50_000
# Texts between two writes to the ledger: a killed run loses at most as many.
ENCODED_AT_ONCE = 1024
NORM_TOLERANCE = 1e-3
# Missing texts from which the pace is measured before they are encoded, and seconds from which the user is told.
FEWEST_TO_TELL, LONG = 1_000, 60
# To measure it: bands of similar length, and texts timed in each.
BANDS, TIMED = 6, 24
SCHEMA = pa.schema(
    {"key": pa.binary(32), "offset": pa.int64(), "tokens": pa.int32(), "truncated": pa.bool_(), "norm": pa.float64()}
)


class Params(Section):
    """The sections of params.yaml that this stage reads."""

    embed: Embedding
    semantic: Semantic


def embed(rows: Parts, params: Params, ledger: Vectors, progress: Progress = quiet) -> Iterator[dict[str, pa.Table]]:
    """List the vector of every distinct text, in key order; encode the texts that the ledger has no vector of."""
    encoder = open_encoder(params.embed)
    texts = _collect(rows, rows.rows, params, encoder, ledger, progress)
    if len(texts.missing) >= FEWEST_TO_TELL and (ahead := _plan(texts, encoder, params)).is_long:
        say(f"embed: {ahead}", sys.stderr)
    _encode_missing(texts, encoder, ledger, progress)
    keys = sorted(texts.tokens)
    ledger.use(keys)
    facts = _facts(params.embed, encoder, texts, ledger.lookup(keys[:1]).shape[1])
    for start in range(0, max(len(keys), 1), PART_ROWS):
        part = keys[start : start + PART_ROWS]
        yield {"embed": describe(_table(part, start, texts, ledger), facts)}


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


def plan(rows: Iterable[pa.Table], params: Params, ledger: Vectors, fewest: int = 1) -> Plan | None:
    """Plan what `embed` would encode of these parts; None if the ledger lacks fewer vectors than `fewest`.

    A local model encodes a few texts to measure its pace.
    """
    encoder = open_encoder(params.embed)
    texts = _collect(rows, None, params, encoder, ledger, quiet)
    return _plan(texts, encoder, params) if len(texts.missing) >= fewest else None


def expect(params: Params) -> Contract:  # noqa: ARG001 (part of the protocol)
    """Expect one vector of unit norm per key, and offsets that count the keys in order."""
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


def counts(tables: Mapping[str, pa.Table]) -> dict[str, float]:
    """Count the rows of a part that break the order of keys or of offsets."""
    keys, offsets = tables["embed"]["key"].cast(pa.binary()), tables["embed"]["offset"].to_numpy()
    ascends = pc.less(keys.slice(0, max(len(keys) - 1, 0)), keys.slice(1))
    descents = len(ascends) - (pc.sum(ascends).as_py() or 0)
    return {"out_of_order": float(descents + np.count_nonzero(np.diff(offsets) != 1))}


class _Texts(NamedTuple):
    """The distinct texts, by key.

    tokens: number of tokens of every text; None if only the server knows.
    missing: the texts that have no vector yet.
    limit: tokens after which the encoder truncates a text; None: it never does.
    """

    tokens: dict[bytes, int | None]
    missing: dict[bytes, str]
    limit: int | None

    def truncated(self, key: bytes) -> bool | None:
        """Whether the encoder reads only the beginning of the text; None if only the server knows."""
        tokens = self.tokens[key]
        return None if tokens is None else self.limit is not None and tokens > self.limit


def _collect(
    rows: Iterable[pa.Table], total: int | None, params: Params, encoder: Encoder, ledger: Vectors, progress: Progress
) -> _Texts:
    """Collect the texts that the metrics need, part by part; only those without a vector stay in memory."""
    section = params.embed
    collected = _Texts({}, {}, encoder.window if section.long == "truncate" else None)
    done = 0
    for part in rows:
        pairs = pairs_of(part)
        texts = [*dict.fromkeys(text for metric in params.semantic.root.values() for text in metric.texts(pairs))]
        keyed = zip(vector_keys(section, encoder, texts), texts, strict=True)
        new = {key: text for key, text in keyed if key not in collected.tokens}
        collected.tokens.update(zip(new, encoder.count_tokens(list(new.values())), strict=True))
        if section.server_key:
            _carry_old(new, section, ledger)
        encoded = ledger.known(list(new)).tolist()
        collected.missing.update(item for item, known in zip(new.items(), encoded, strict=True) if not known)
        done += part.num_rows
        progress("rows searched", done, total)
    return collected


def _carry_old(texts: Mapping[bytes, str], section: Embedding, ledger: Vectors) -> None:
    """Copy the vectors that this server computed before keys held an address to the new keys.

    Evidence and dvc.lock are written together: old evidence is of the address that dvc.lock states.
    """
    absent = [key for key, known in zip(texts, ledger.known(list(texts)).tolist(), strict=True) if not known]
    old = old_vector_keys(section, [texts[key] for key in absent])
    known, evident = ledger.known(old), ledger.in_evidence(old)
    if not known.any():
        return
    before = section.server_key if ledger.asked_at is None else address(ledger.asked_at)
    stored = known & ~evident
    own_evidence = before == section.server_key
    own_store = stored.any() and owner(ledger.folder, "embeddings", before) == section.server_key
    carried = np.flatnonzero((evident & own_evidence) | (stored & own_store))
    if len(carried):
        ledger.add([absent[i] for i in carried], ledger.lookup([old[i] for i in carried]))
        where = section.server_key
        say(f"embed: {len(carried):,} vectors from before keys held an address are taken as of {where}", sys.stderr)


def _encode_missing(texts: _Texts, encoder: Encoder, ledger: Vectors, progress: Progress) -> None:
    """Encode the texts without a vector, shortest first, and add each batch to the ledger as it comes."""
    order = _shortest_first(texts)
    tokens = np.cumsum([texts.tokens[key] or 1 for key in order])
    for start in range(0, len(order), ENCODED_AT_ONCE):
        progress("texts", start, len(order), share=tokens[start - 1] / tokens[-1] if start else 0.0)
        keys = order[start : start + ENCODED_AT_ONCE]
        ledger.add(keys, encoder.encode([texts.missing[key] for key in keys]))
    if order:
        progress("texts", len(order), len(order))


def _shortest_first(texts: _Texts) -> list[bytes]:
    return sorted(texts.missing, key=lambda key: (texts.tokens[key] or 0, key))


def _plan(texts: _Texts, encoder: Encoder, params: Params) -> Plan:
    read = [tokens for key in texts.missing if (tokens := texts.tokens[key]) is not None]
    if params.embed.long == "truncate" and encoder.window:
        read = [min(tokens, encoder.window) for tokens in read]
    known = sum(read) if len(read) == len(texts.missing) else None
    seconds = _expected_seconds(texts, encoder) if params.embed.provider == "local" else None
    return Plan(params.embed.model, len(texts.missing), known, seconds)


def _expected_seconds(texts: _Texts, encoder: Encoder) -> float:
    """Time a few texts of every length, neighbours in the order in which they are encoded."""
    order = _shortest_first(texts)
    encoder.encode([texts.missing[order[0]]])  # loads the model
    bands = [band for band in np.array_split(np.arange(len(order)), BANDS) if len(band)]
    return sum(_seconds_of(band, order, texts, encoder) for band in bands)


def _seconds_of(band: np.ndarray[Any, Any], order: list[bytes], texts: _Texts, encoder: Encoder) -> float:
    """Time some texts in the middle of a band of similar length, for the whole band; the faster of two times."""
    middle = max((len(band) - TIMED) // 2, 0)
    timed = [texts.missing[order[position]] for position in band[middle : middle + TIMED]]
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        encoder.encode(timed)
        seconds.append(time.perf_counter() - start)
    return min(seconds) * len(band) / len(timed)


def _duration(seconds: float) -> str:
    """A rough time.

    >>> _duration(20), _duration(100), _duration(5000)
    ('20 seconds', '2 minutes', '83 minutes')
    """
    return f"{seconds:.0f} seconds" if seconds < LONG else f"{seconds / 60:.0f} minutes"


def _table(keys: list[bytes], start: int, texts: _Texts, ledger: Vectors) -> pa.Table:
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
    truncated = [texts.truncated(key) for key in texts.tokens]
    return {
        "provider": section.provider,
        "model": section.model,
        "weights": encoder.identity,
        "precision": section.arithmetic,
        "long": section.long,
        "dimension": dimension,
        "window": encoder.window,
        "truncated": None if None in truncated else sum(map(bool, truncated)),
    }


STAGE = Stage(
    params=Params,
    whole=lambda params, inputs: embed(inputs.tables["normalize"], params, inputs.ledger(Vectors), inputs.progress),
    expect=expect,
    counts=counts,
)
