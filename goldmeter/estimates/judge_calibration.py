"""Whether a judge's probabilities fit the human labels of a run, and the recalibrated ones if not."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.estimates.columns import Hashes, Mask, hashed, probability_columns
from goldmeter.estimates.human_labels import LABEL, MOST_LABELLED
from goldmeter.estimates.metrics_report import CalibrationEntry, ReliabilityEntry
from goldmeter.estimates.score_parts import ScoreParts
from goldmeter.metrics.base import Floats
from goldmeter.statistics import FewClusters, mean_interval
from goldmeter.statistics.calibration import Calibration, calibration

PROBABILITY = "probability"
# With fewer labelled rows a curve would fit their noise.
FEWEST_CALIBRATED = 50
# Groups of a reliability diagram, and the fewest rows of one.
MOST_GROUPS, FEWEST_IN_GROUP = 10, 20


class LabelledProbabilities(NamedTuple):
    """The n rows of a part that have a label and a probability, of its `rows` ones.

    keys: of the rows. clusters: of groups, else of ids. places: of the rows in the part. Each of shape (n,).
    """

    keys: Hashes
    clusters: Hashes
    places: NDArray[np.intp]
    labels: Mask
    probabilities: Floats
    rows: int


def labelled_probabilities(parts: ScoreParts, number: int, column: str | None = None) -> LabelledProbabilities:
    """Return the rows of a part that have a label and a probability.

    column: of data/judge; None: the judge's, else the offline judge's.
    """
    column = column or probability_columns(parts.judge)[-1]
    rows = parts.load.part(number, ["id", "candidate", "group", LABEL])
    rows = rows.append_column(PROBABILITY, parts.judge.part(number, [column])[column])
    both = pc.and_(rows[LABEL].is_valid(), rows[PROBABILITY].is_valid()).to_numpy()
    labelled = rows.filter(pa.array(both))
    names = pc.binary_join_element_wise(labelled["id"], labelled["candidate"], "\0")
    clusters = hashed(pc.coalesce(labelled["group"], labelled["id"]))
    labels, probabilities = (labelled[name].to_numpy() for name in (LABEL, PROBABILITY))
    places = np.flatnonzero(both)
    return LabelledProbabilities(hashed(names), clusters, places, labels.astype(np.bool_), probabilities, rows.num_rows)


@dataclass(frozen=True)
class Recalibration:
    """What labels that reject the probabilities say of them, and the probabilities that fit these labels.

    Attributes:
        entry: Of reports/metrics.json.
        places: Of the labelled rows among the rows of all parts, shape (n,).
        calibration: Of the labelled rows.
    """

    entry: CalibrationEntry
    places: NDArray[np.intp]
    calibration: Calibration

    def of(self, p: Floats) -> Floats:
        """Return the recalibrated probabilities of all rows; those of labelled rows do not depend on their own labels.

        Args:
            p: Of the rows of all parts, shape (rows,), NaN without one.
        """
        scaled = np.full(len(p), np.nan)
        known = ~np.isnan(p)
        scaled[known] = self.calibration.of(p[known])
        scaled[self.places] = self.calibration.recalibrated
        return scaled


class Probabilities(NamedTuple):
    """The probabilities of each row of data/judge that its answer is right.

    p: the offline judge's, and those of another judge that states some, shape (rows, k), NaN where there is none.
    unsampled: rows that are unmeasured because of sampling alone, shape (rows,).
    """

    p: Floats
    unsampled: Mask


def joined(parts: Iterable[LabelledProbabilities]) -> LabelledProbabilities:
    """Return the rows of all parts, MOST_LABELLED at most, chosen and in the order of their keys' hashes.

    Args:
        parts: In their order.

    Returns:
        The rows; their places are among the rows of all parts.
    """
    every = [*parts]
    starts = np.cumsum([0, *(part.rows for part in every)])
    moved = [part._replace(places=start + part.places) for start, part in zip(starts, every, strict=False)]
    order = np.argsort(np.concatenate([part.keys for part in every]))[:MOST_LABELLED]
    keys, clusters, places, labels, p = (
        np.concatenate([part[field] for part in moved])[order]
        for field in range(len(LabelledProbabilities._fields) - 1)
    )
    return LabelledProbabilities(keys, clusters, places, labels, p, int(starts[-1]))


def reliability(labelled: LabelledProbabilities, confidence: float) -> list[ReliabilityEntry]:
    """Return the share of right answers, by the labels, in groups of rows with about equal probabilities, lowest first.

    Groups have about equal numbers of rows, FEWEST_IN_GROUP at least; rows with equal probabilities are in one. Their
    intervals hold one by one. Empty with fewer than two groups.
    """
    p, labels, clusters = labelled.probabilities, labelled.labels.astype(np.float64), labelled.clusters
    groups = min(MOST_GROUPS, p.size // FEWEST_IN_GROUP)
    inner = np.unique(np.quantile(p, np.arange(1, groups) / groups)) if groups > 1 else np.empty(0)
    codes = np.searchsorted(inner, p, side="right")
    found: list[ReliabilityEntry] = []
    for code in np.unique(codes):
        own = codes == code
        together = np.unique(clusters[own]).size
        grouped = clusters[own] if 1 < together < own.sum() else None
        with warnings.catch_warnings(action="ignore", category=FewClusters):  # the chart says how few rows there are
            right = mean_interval(labels[own], grouped, confidence=confidence)
        low, high = (right.low, right.high) if together > 1 else (None, None)
        found.append(
            {
                "low": float(p[own].min()),
                "high": float(p[own].max()),
                "expected": float(p[own].mean()),
                "right": {"value": right.value, "low": low, "high": high},
                "n": int(own.sum()),
            }
        )
    return found if len(found) > 1 else []


def recalibration(labelled: LabelledProbabilities, confidence: float) -> Recalibration | None:
    """Return how to recalibrate; None with few labels, and if they do not reject the calibration."""
    clusters, labels, p = labelled.clusters, labelled.labels, labelled.probabilities
    tested = len(np.unique(clusters))
    if tested < FEWEST_CALIBRATED:
        return None
    found = calibration(p, labels, clusters)
    if found.p_value >= 1.0 - confidence:
        return None
    intercept, slope = found.curves.mean(axis=0).tolist()
    entry: CalibrationEntry = {
        "n": len(p),
        "tested": tested,
        "p_value": found.p_value,
        "expected": float(p.mean()),
        "right": float(labels.mean()),
        "error": _squared_error(p, labels),
        "error_recalibrated": _squared_error(found.recalibrated, labels),
        "intercept": intercept,
        "slope": slope,
    }
    return Recalibration(entry, labelled.places, found)


def _squared_error(p: Floats, labels: NDArray[np.bool_]) -> float:
    return float(np.mean((p - labels) ** 2))
