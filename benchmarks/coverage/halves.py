"""The gate on real answers without a true change: a random half of a system's rows against the other half.

Use: python -m benchmarks.coverage.halves FOLDER [SYSTEM] (FOLDER: an evaluated run with its data/).
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tasks.comparison.candidate_pairs import compare
from tasks.comparison.gate import Gate
from tasks.comparison.pairing import pair
from tasks.comparison.version_scores import scores_of
from tasks.scores.columns import Candidate
from tasks.versions.version import Version

DRAWS = 200


def false_alarms(candidate: Candidate, gate: Gate, draws: int = DRAWS, seed: int = 1) -> int:
    """How many of `draws` splits the gate calls worse, though both halves are of one system."""
    rng = np.random.default_rng(seed)
    half = len(candidate.keys) // 2
    alarms = 0
    for _ in range(draws):
        order = rng.permutation(len(candidate.keys))
        base, head = (_version(candidate, rows) for rows in (order[:half], order[half : 2 * half]))
        alarms += "worse" in compare([pair(base, head)], gate, "label").verdicts
    return alarms


def _version(candidate: Candidate, rows: npt.NDArray[np.intp]) -> Candidate:
    """Some rows of a candidate as those of a version, the ids 0, 1, 2, …; without groups, which the split has cut."""
    keys: dict[str, Any] = {"keys": np.arange(len(rows), dtype=np.uint64), "positions": rows, "groups": None}
    return replace(candidate, columns=[column.rows(rows) for column in candidate.columns], slices={}, **keys)


def main(arguments: Sequence[str]) -> None:
    """Print the false alarms of every system, or of one, by all pass rates together and by people's labels alone."""
    folder, *systems = arguments
    found = scores_of(Version(folder, Path(folder), None))
    for name, candidate in found.candidates(found.fitted).items():
        if systems and name not in systems:
            continue
        for metrics in (None, ("label",)):
            gate = Gate(primary=None, metrics=metrics, margin=0.0, confidence=0.95, fail_on="worse", max_unmeasured=1.0)
            what = "all pass rates" if metrics is None else "label"
            print(f"{name}, {what}: {false_alarms(candidate, gate)} of {DRAWS} called worse")


if __name__ == "__main__":
    main(sys.argv[1:])
