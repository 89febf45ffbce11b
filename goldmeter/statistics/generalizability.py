"""Where the variance of an estimate comes from, by judges and settings of them crossed with rows (Brennan 2001)."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Sources(NamedTuple):
    """What the mean of these rows, as one setting of one judge scores them, varies with, by what would be drawn anew.

    rows: other questions. draws: other answers to them; None if unknown, and then in rows. judges, settings: another
    judge, and another setting of it; None where there is a single one.
    """

    rows: float
    draws: float | None
    judges: float | None
    settings: float | None


def sources(
    scores: npt.ArrayLike, judges: Sequence[Hashable], of_draws: float | None = None, design_effect: float = 1.0
) -> Sources:
    """Split the variance by the analysis of variance; negative estimates become 0.

    Args:
        scores: Shape (rows, settings), float64, at least two rows, without NaN.
        judges: The judge of each setting, shape (settings,).
        of_draws: Mean variance of a row's score that is due to draws.
        design_effect: Factor by which groups of rows inflate the variance.

    Source: Brennan 2001, Generalizability Theory, chapters 3 and 5.

    >>> found = sources([[1, 1, 0], [0, 0, 0], [1, 1, 1], [1, 1, 0]], ["a", "a", "b"])
    >>> round(found.rows, 4), round(found.judges, 4), found.settings  # judges: 1/8 less 3/4 of 1/36, for interactions
    (0.0625, 0.1042, 0.0)
    """
    x = np.asarray(scores, np.float64)
    n, k = x.shape
    names = list(dict.fromkeys(judges))
    codes = np.array([names.index(one) for one in judges])
    sizes, means = np.bincount(codes), x.mean(axis=0)
    by_judge = np.bincount(codes, weights=means) / sizes
    rest = x - means - x.mean(axis=1)[:, None] + x.mean()
    crossed = float((rest**2).sum()) / (n - 1) / max(k - 1, 1) / n
    within = k - len(names)
    settings = max(float(((means - by_judge[codes]) ** 2).sum()) / within - crossed, 0.0) if within else None
    judged = None
    if len(names) > 1:
        judged = max(float(by_judge.var(ddof=1)) - ((settings or 0.0) + crossed) * float((1.0 / sizes).mean()), 0.0)
    total = float(x.var(axis=0, ddof=1).mean()) * design_effect / n
    draws = None if of_draws is None else min(of_draws / n, total)
    return Sources(total - (draws or 0.0), draws, judged, settings)
