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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import TextPairs, real_rows, real_sections, text_pairs
from benchmarks.machine import native_bf16
from benchmarks.measure import Cost, timed, typical
from benchmarks.report import Floor, Result, Table
from goldmeter.metrics.catalogue import configure
from goldmeter.models.embedding.batches import unit
from goldmeter.models.embedding.encoders import Embedding, open_encoder
from goldmeter.models.embedding.local import model_files

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
    table = Table(f"{distinct:,} distinct texts, {len(sample.responses):,} pairs", compared)
    return Result([table], [*_floors(compared)], {"name": name})


def compare(sample: TextPairs) -> list[dict[str, Any]]:
    """Time our encoder at both precisions and `SentenceTransformer(...).encode` in turns; one table row each."""
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
    costs = {name: typical(several) for name, several in timings.items()}
    return [
        {
            "encoder": name,
            "texts/s": len(texts) / cost.wall,
            "ratio": costs[PLAIN].wall / cost.wall,
            "ratio of cpu": costs[PLAIN].cpu / cost.cpu,
            **_changes(cosines[name], cosines[PLAIN]),
        }
        for name, cost in costs.items()
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


def _changes(cosines: Floats, plain: Floats) -> dict[str, Any]:
    """How far cosines of pairs are from the plain ones, and how many cross the threshold of semantic_similarity."""
    changes = np.abs(cosines - plain)
    metric = configure("semantic", "semantic_similarity", {})
    return {
        "largest change": float(changes.max()),
        "p99 of changes": float(np.percentile(changes, 99)),
        "verdicts changed": int((metric.result(cosines) != metric.result(plain)).sum()),
    }


def _floors(compared: Sequence[Mapping[str, Any]]) -> Iterator[Floor]:
    for row in compared:
        name, precision = row["encoder"], row["encoder"].partition(" ")[0]
        if name == "fp32" or (name == "bf16" and native_bf16()):
            yield Floor(f"{name}, distinct texts/s", "at least", SPEED[name], "x", row["ratio"])
        if limit := CHANGE.get(precision):
            yield Floor(f"{name}, largest change of a cosine", "at most", limit, "", row["largest change"])
