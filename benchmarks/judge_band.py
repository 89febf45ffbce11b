"""How the rows of a data set divide between the judges of a cascade, and how often the offline judge is right.

No row is judged by a model that saw its question.

Use: python -m benchmarks.judge_band NQ.json [NQ301/] (EVOUNA's file, and the folder of NQ301)
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from benchmarks.judge_bias import judged_elsewhere
from benchmarks.nq301 import nq301
from tasks.judging.cascade import is_decided
from tasks.metrics.base import Floats
from tasks.models import offline
from tasks.models.offline.training import (
    RULES,
    Labelled,
    cross_validated,
    examples,
    held_out,
    human_labelled,
    written_pairs,
)

BANDS = ((0.02, 0.98), (0.05, 0.95), (0.1, 0.9), (0.2, 0.8), (0.0, 0.95))

HEAD = """| data set | band | decided offline | of these right | of those that pass | of those that fail | of the rest |
|---|---|---|---|---|---|---|"""


def lines(name: str, rows: Sequence[Labelled], probabilities: Floats) -> Iterator[str]:
    """Yield a row of the table for each band; probabilities: of models that did not see the question, shape (n,)."""
    verdicts = np.array([row.verdict for row in rows])
    shipped = offline.judge(*zip(*((row.question, row.references, row.response) for row in rows), strict=True))
    right = (probabilities >= offline.RIGHT) == verdicts
    for band in BANDS:
        decided = is_decided(shipped._replace(probabilities=probabilities), band)
        fails = decided & (probabilities < band[0])
        kinds = (decided, decided & ~fails, fails, ~decided)
        rates = [right[rows].mean() if rows.any() else np.nan for rows in kinds]
        figures = " | ".join("" if np.isnan(rate) else f"{rate:.3f}" for rate in rates)
        yield f"| {name} | {band[0]:g} to {band[1]:g} | {decided.mean():.0%} | {figures} |"


def main(arguments: Sequence[str]) -> None:
    """Measure and print the table of docs/how-to/llm-judge.md."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judge_band", description=__doc__)
    parser.add_argument("nq", type=Path, help="NQ.json of EVOUNA")
    parser.add_argument("nq301", type=Path, nargs="?", help="the folder of NQ301")
    chosen = parser.parse_args(arguments)
    nq = [*human_labelled(chosen.nq)]
    trained = [*nq, *written_pairs(RULES)]
    with threadpool_limits(limits=1):  # as in training: the same numbers on any number of cores
        training = examples(trained)
        print(HEAD)
        print("\n".join(lines("EVOUNA-NQ", nq, cross_validated(training, held_out(training))[: len(nq)])), flush=True)
        if chosen.nq301:
            rows = [*nq301(chosen.nq301)]
            print("\n".join(lines("NQ301", rows, judged_elsewhere("NQ301", rows, trained, training).probabilities)))


if __name__ == "__main__":
    main(sys.argv[1:])
