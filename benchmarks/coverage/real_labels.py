"""Prediction-powered means on real answers: how well people's verdicts of some rows estimate those of all.

Use: python -m benchmarks.coverage.real_labels FILE (EVOUNA's NQ.json).
"""

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.coverage.cells import Cell, Floats, generator
from benchmarks.coverage.ppi import Draw, cells, reached
from tasks.metrics import score
from tasks.statistics.cross_fit import cross_fitted

SCORES = (
    "exact_match",
    "accuracy",
    "string_presence",
    "f1",
    "bleu",
    "gleu",
    "rouge",
    "meteor",
    "non_llm_string_similarity",
)


def study_of_real_answers(path: Path, labels: int = 150, draws: int = 500) -> Iterator[Cell]:
    """Take people's verdicts of some rows, estimate those of all, and compare what the score may be.

    `path`: EVOUNA's NQ.json. The truth is the mean verdict over all rows of a system.
    """
    for system in ("fid", "gpt35", "chatgpt", "gpt4", "newbing"):
        y, x = _answers(path, system)
        for way, dataset in product(WAYS, (False, True)):
            draw = partial(_real, y=y, x=x, labels=labels, way=way, dataset=dataset)
            found = reached(draw, generator("real answers", system, labels), draws)
            target = "these rows" if dataset else "rows like these"
            yield from cells("PPI, real answers", f"{system}, {way}, {target}", found)


def _answers(path: Path, system: str) -> tuple[Floats, Floats]:
    rows = [row for row in json.loads(path.read_text()) if not row["improper"] and row["golden_answer"]]
    rows = [row for row in rows if row[f"judge_{system}"] is not None and row[f"answer_{system}"] is not None]
    answers = [row[f"answer_{system}"] for row in rows]
    references = [row["golden_answer"].split("/") for row in rows]
    y = np.array([row[f"judge_{system}"] for row in rows], dtype=np.float64)
    return y, np.column_stack([score(name, answers, references) for name in SCORES])


def _real(rng: np.random.Generator, y: Floats, x: Floats, labels: int, way: str, *, dataset: bool) -> Draw:
    order = rng.permutation(y.size)
    a, b = order[:labels], order[labels:]
    f, rest = WAYS[way](y[a], x[a], x[b])
    return Draw(y[a], f, rest, float(y.mean()), {"dataset": dataset})


def _fixed(name: str, _y: Floats, inside: Floats, outside: Floats) -> tuple[Floats, Floats]:
    column = SCORES.index(name)
    return inside[:, column], outside[:, column]


def _chosen(y: Floats, inside: Floats, outside: Floats) -> tuple[Floats, Floats]:
    varying = np.flatnonzero(inside.std(axis=0) > 0.0)
    best = max(varying, key=lambda column: float(np.corrcoef(inside[:, column], y)[0, 1]))
    return inside[:, best], outside[:, best]


WAYS: dict[str, Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]] = {
    "string presence": partial(_fixed, "string_presence"),
    "token F1": partial(_fixed, "f1"),
    "best correlated": _chosen,
    "nine cross-fitted": cross_fitted,
}

if __name__ == "__main__":
    for cell in study_of_real_answers(Path(sys.argv[1])):
        print(f"{cell.name}: {cell.measure} {cell.measured:.3f}")
