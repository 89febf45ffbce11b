"""The judge's agreement with human labels by kind of question and of reference, from cross-validated probabilities."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from benchmarks.offline_judge.labelled import Labelled
from goldmeter.models.offline.kinds import question_kind, reference_kind
from goldmeter.models.offline.measured import Kind


def by_kind(rows: Sequence[Labelled], right: NDArray[np.bool_]) -> dict[str, dict[str, Kind]]:
    """Return "question" and "reference" → kind → figures; right: whether each row is judged as its label says."""
    kinds: Mapping[str, Callable[[Labelled], str | None]] = {
        "question": lambda row: question_kind(row.question),
        "reference": lambda row: reference_kind(row.references[0]),
    }
    return {name: dict(_figures(rows, right, kind_of)) for name, kind_of in kinds.items()}


def _figures(
    rows: Sequence[Labelled], right: NDArray[np.bool_], kind_of: Callable[[Labelled], str | None]
) -> Iterator[tuple[str, Kind]]:
    found = defaultdict(list)
    for row, is_right in zip(rows, right.tolist(), strict=True):
        found[kind_of(row)].append((row.question, is_right))
    for kind, each in sorted(found.items(), key=lambda item: -len(item[1])):
        if kind is not None:
            questions, share = len({question for question, _ in each}), sum(one for _, one in each) / len(each)
            low = round(wilson(share, questions), 3)
            yield kind, {"n": len(each), "questions": questions, "accuracy": round(share, 3), "low": low}


def wilson(share: float, n: int) -> float:
    """Return the lower 95 % limit of a share. Source: Wilson 1927.

    >>> round(wilson(0.9, 100), 3)
    0.826
    """
    z2 = norm.ppf(0.975) ** 2
    centre, half = share + z2 / (2 * n), np.sqrt(z2 * (share * (1 - share) + z2 / (4 * n)) / n)
    return float((centre - half) / (1 + z2 / n))
