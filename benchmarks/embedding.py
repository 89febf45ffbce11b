"""The local encoder against plain sentence-transformers: speed, cosines and verdicts.

Data: responses and references of {name}, drawn at random. Plain: `SentenceTransformer(folder).encode(texts)`,
the same weights, all its defaults. Each encoder has seen 32 texts before; in turns, medians of {ROUNDS} rounds.

Changes are those of a pair's cosine against plain sentence-transformers in fp32; a verdict changes where the
cosine crosses the threshold of semantic_similarity. OpenVINO, on one thread, is compared where it
is installed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import TextPairs, real_rows, real_sections, text_pairs
from benchmarks.machine import native_bf16
from benchmarks.measure import Cost, timed, typical
from benchmarks.report import Floor, Result, Table
from tasks.metrics.catalogue import configure
from tasks.models.embedding.batches import unit
from tasks.models.embedding.encoders import Embedding, open_encoder
from tasks.models.embedding.local import model_files

ROUNDS = 3
PAIRS = 900
PLAIN = "sentence-transformers"
SPEED = {"fp32": 1.0, "bf16": 1.6}
"""Times the rate of plain sentence-transformers; bf16 on processors that multiply it themselves."""
CHANGE = {"fp32": 1e-6, "bf16": 5e-3}
"""Of a cosine, by precision."""
Floats = NDArray[np.float64]


def run() -> Result:
    """The section `embedding`."""
    name, rows = real_rows()
    sample = text_pairs(rows).sample(PAIRS)
    compared = compare(sample)
    distinct = len(set(chain(*sample)))
    table = Table(f"{distinct:,} distinct texts, {len(sample.responses):,} pairs", tuple(map(_row, compared)))
    return Result([table], [*_floors(compared)], {"name": name})


class Encoding(NamedTuple):
    """One encoder: distinct texts a second, times the rate of the plain one, and what changes against that one.

    largest, p99: of the absolute changes of a pair's cosine. verdicts: pairs that cross the threshold of
    semantic_similarity.
    """

    encoder: str
    rate: float
    ratio: float
    cpu_ratio: float
    largest: float
    p99: float
    verdicts: int


def compare(sample: TextPairs) -> list[Encoding]:
    """Our encoder at both precisions beside `SentenceTransformer(...).encode`, in turns."""
    texts = list(dict.fromkeys(chain(*sample)))
    encoders = _encoders()
    for encode in encoders.values():
        encode(texts[:32])
    timings: dict[str, list[Cost]] = {name: [] for name in encoders}
    cosines: dict[str, Floats] = {}
    for _ in range(ROUNDS):
        for name, encode in encoders.items():
            vectors, timing = timed(partial(encode, texts))
            timings[name].append(timing)
            cosines[name] = _cosines(sample, dict(zip(texts, unit(vectors, name), strict=True)))
    plain = typical(timings[PLAIN])
    return [
        Encoding(
            name,
            len(texts) / typical(timings[name]).wall,
            plain.wall / typical(timings[name]).wall,
            plain.cpu / typical(timings[name]).cpu,
            *_changes(cosines[name], cosines[PLAIN]),
        )
        for name in encoders
    ]


def _encoders() -> dict[str, Callable[[list[str]], Any]]:
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    section = real_sections()["embed"]
    backends = {"": "torch", " openvino": "openvino"} if find_spec("openvino") else {"": "torch"}
    ours = {
        f"{precision}{suffix}": open_encoder(Embedding(**{**section, "precision": precision, "backend": backend}))
        for suffix, backend in backends.items()
        for precision in SPEED
    }
    plain = SentenceTransformer(str(model_files(section["model"]).folder), local_files_only=True)
    return {PLAIN: plain.encode, **{name: encoder.encode for name, encoder in ours.items()}}


def _cosines(sample: TextPairs, vectors: Mapping[str, Floats]) -> Floats:
    return np.array([vectors[response] @ vectors[reference] for response, reference in zip(*sample, strict=True)])


def _changes(cosines: Floats, plain: Floats) -> tuple[float, float, int]:
    changes = np.abs(cosines - plain)
    metric = configure("semantic", "semantic_similarity", {})
    verdicts = metric.result(cosines) != metric.result(plain)
    return float(changes.max()), float(np.percentile(changes, 99)), int(verdicts.sum())


def _row(comparison: Encoding) -> dict[str, Any]:
    return {
        "encoder": comparison.encoder,
        "texts/s": comparison.rate,
        "ratio": comparison.ratio,
        "ratio of cpu": comparison.cpu_ratio,
        "largest change": comparison.largest,
        "p99 of changes": comparison.p99,
        "verdicts changed": comparison.verdicts,
    }


def _floors(compared: Sequence[Encoding]) -> Iterator[Floor]:
    for each in compared:
        if each.encoder == "fp32" or (each.encoder == "bf16" and native_bf16()):
            yield Floor(f"{each.encoder}, distinct texts/s", "at least", SPEED[each.encoder], "x", each.ratio)
        if limit := CHANGE.get(each.encoder.partition(" ")[0]):
            yield Floor(f"{each.encoder}, largest change of a cosine", "at most", limit, "", each.largest)
