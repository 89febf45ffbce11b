"""Whether the judge errs by length: how its error changes with that of the answer, or reference, at equal label."""

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.estimates.columns import Candidate
from goldmeter.estimates.estimates import UNBOUNDED
from goldmeter.estimates.human_labels import FEWEST, LABEL
from goldmeter.estimates.metrics_report import LengthBiasEntry, LengthSlope
from goldmeter.estimates.primary import VERDICT
from goldmeter.estimates.sums import column_of
from goldmeter.metrics.base import Floats
from goldmeter.statistics.corpus import Replicates, jackknife_interval


class _Errors(NamedTuple):
    """The verdict less the label of each answer that has both, n of them, each of shape (n,).

    doublings: the base-2 logarithm of the length. right: whether the label is positive.
    """

    values: Floats
    doublings: Floats
    right: NDArray[np.intp]
    clusters: NDArray[np.intp]


def length_bias(
    candidates: Sequence[Candidate], confidence: float, *, of_references: bool = False
) -> LengthBiasEntry | None:
    """Regress verdict less label on the base-2 logarithm of the answer's length, with an intercept for each label.

    The intercepts keep a judge from being accused where long answers are more often wrong; in the regression of all
    systems, each system has its own. The intervals are by the jackknife over questions: the answers of all systems to
    one are deleted together.

    Args:
        candidates: Their labelled rows.
        confidence: Of the intervals.
        of_references: By the length of the longest reference in place of the answer's.

    Returns:
        None without a system that has enough labels and verdicts, and without errors.

    Source: Dubois et al. 2024, "Length-Controlled AlpacaEval", on a judge's preference as a linear model with a term
    for length; MacKinnon & White 1985 for the jackknife.
    """
    errors = {one.name: found for one in candidates if (found := _errors(one, int(of_references))) is not None}
    systems = {name: slope for name, of in errors.items() if (slope := _slope([of], confidence)) is not None}
    together = _slope([*errors.values()], confidence)
    return None if together is None else {"all": together, "systems": systems}


def _errors(candidate: Candidate, of: int) -> _Errors | None:
    label, verdict = column_of(candidate, LABEL), column_of(candidate, VERDICT)
    if label is None or verdict is None or candidate.lengths is None:
        return None
    every = candidate.lengths[:, of]
    both = ~np.isnan(label.values) & ~np.isnan(verdict.values) & (every > 0)
    if np.count_nonzero(both) < FEWEST:
        return None
    labels, lengths = label.values[both], every[both]
    right = (labels > 0.5).astype(np.intp)  # noqa: PLR2004 (of 0 and 1)
    return _Errors(verdict.values[both] - labels, np.log2(lengths), right, candidate.cluster_keys[both])


def _slope(errors: Sequence[_Errors], confidence: float) -> LengthSlope | None:
    """Return the common slope of some systems; None if these rows do not determine it and its interval."""
    clusters, codes = np.unique(
        np.concatenate([np.empty(0, np.intp), *(of.clusters for of in errors)]), return_inverse=True
    )
    if len(clusters) < 2:  # noqa: PLR2004 (no spread)
        return None
    own = np.split(codes, np.cumsum([len(of.values) for of in errors])[:-1])
    each = [_products(of, places, len(clusters)) for of, places in zip(errors, own, strict=True)]
    products = np.sum(each, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        every, *without = products[:, 0] / products[:, 1]
    n = sum(len(of.values) for of in errors)
    found = jackknife_interval(every, Replicates.of(np.array(without)).error, len(clusters), n, confidence, UNBOUNDED)
    if not isfinite(found.high - found.low) or found.low == found.high:
        return None
    return {"value": found.value, "low": found.low, "high": found.high, "n": n}


def _products(of: _Errors, codes: NDArray[np.intp], clusters: int) -> Floats:
    """Return the sums of x·y and x² of one system's rows around the means of their label.

    Args:
        of: Its rows; x is `doublings`, y `values`.
        codes: The cluster of each row, shape (n,).
        clusters: Their number.

    Returns:
        Shape (1 + clusters, 2): of all rows, then of all but those of each cluster.
    """
    x, y = of.doublings - of.doublings.mean(), of.values
    sums = np.zeros((clusters, 2, 5))
    np.add.at(sums, (codes, of.right), np.stack([np.ones_like(x), x, y, x * x, x * y], axis=-1))
    total = sums.sum(axis=0, keepdims=True)
    n, x, y, xx, xy = np.moveaxis(np.concatenate([total, total - sums]), -1, 0)
    rows = np.maximum(n, 1.0)
    products: Floats = np.stack([xy - x * y / rows, xx - x * x / rows], axis=-1).sum(axis=1)
    return products
