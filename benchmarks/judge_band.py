"""How the rows of a data set divide between the judges of a cascade, and how often the offline judge is right.

Then the same of bands that labels of some of its questions teach, on the other questions.

No row is judged by a model that saw its question.

Use: python -m benchmarks.judge_band NQ.json [NQ301/] (EVOUNA's file, and the folder of NQ301)
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from benchmarks.judge_bias import judged_held_out
from benchmarks.nq301 import nq301
from benchmarks.offline_judge.labelled import Labelled
from benchmarks.offline_judge.training import training_rows
from goldmeter.judging.cascade import is_decided
from goldmeter.metrics.base import Floats
from goldmeter.models import offline
from goldmeter.statistics.threshold import risk_band

BANDS = ((0.02, 0.98), (0.05, 0.95), (0.1, 0.9), (0.2, 0.8), (0.0, 0.95))

SIZES, SHARES, DRAWS, SEED = (100, 200, 500, 1_000), (0.02, 0.05, 0.1), 100, 1

HEAD = """| data set | band | decided offline | of these right | of those that pass | of those that fail | of the rest |
|---|---|---|---|---|---|---|"""
LEARNT = """
| data set | questions (labels) | at most wrong | found | decided offline | of these wrong | more than stated |
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


def learnt(name: str, rows: Sequence[Labelled], probabilities: Floats) -> Iterator[str]:
    """Yield what bands learnt on random questions decide on the others; arguments: as of `lines`."""
    verdicts = np.array([row.verdict for row in rows])
    questions = np.unique([row.question for row in rows], return_inverse=True)[1]
    wrong = (probabilities >= offline.RIGHT) != verdicts
    count = int(questions.max()) + 1
    for size, share in product([size for size in SIZES if 2 * size <= count], SHARES):
        rng, found = np.random.default_rng(SEED), np.empty((DRAWS, 3))
        for draw in found:
            inside = np.isin(questions, rng.permutation(count)[:size])
            band = risk_band(probabilities[inside], verdicts[inside], share, questions[inside])
            rest = probabilities[~inside]
            decided = (rest < band.low) | (rest > band.high)
            draw[:] = inside.sum(), decided.mean(), wrong[~inside][decided].mean() if decided.any() else 0.0
        labels, decides, error = found.T
        mean = f"{decides @ error / decides.sum():.3f}" if decides.any() else "–"
        yield (
            f"| {name} | {size:,} ({labels.mean():,.0f}) | {share:g} | {np.mean(decides > 0.0):.0%} | "
            f"{decides.mean():.0%} | {mean} | {np.mean(error > share):.0%} |"
        )


def main(arguments: Sequence[str]) -> None:
    """Measure and print the tables of docs/how-to/llm-judge.md."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judge_band", description=__doc__)
    parser.add_argument("nq", type=Path, help="NQ.json of EVOUNA")
    parser.add_argument("nq301", type=Path, nargs="?", help="the folder of NQ301")
    chosen = parser.parse_args(arguments)
    trained = training_rows(chosen.nq)
    nq = [row for row in trained if not row.written]
    others = {"NQ301": [*nq301(chosen.nq301)]} if chosen.nq301 else {}
    known, elsewhere = judged_held_out(trained, others)
    sets = {"EVOUNA-NQ": (nq, known)} | {one.name: (others[one.name], one.probabilities) for one in elsewhere}
    with threadpool_limits(limits=1):
        print(HEAD, *(line for name, judged in sets.items() for line in lines(name, *judged)), sep="\n", flush=True)
        print(LEARNT, *(line for name, judged in sets.items() for line in learnt(name, *judged)), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
