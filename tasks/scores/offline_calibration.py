"""Whether the offline judge's probabilities fit the human labels of a run, and what Platt scaling would gain."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from tasks.metrics.base import Floats
from tasks.scores.columns import Hashes, Mask, hashed
from tasks.scores.human_labels import LABEL, MOST_LABELLED
from tasks.scores.metrics_report import CalibrationEntry
from tasks.scores.score_parts import ScoreParts

# Column of data/judge: the offline judge's probability that the answer is right.
OFFLINE_MATCH = "offline_match"
# With fewer labelled rows a curve would fit their noise.
FEWEST_CALIBRATED = 50


class LabelledProbabilities(NamedTuple):
    """Rows with a label and a probability; n rows. keys: of the rows. clusters: of groups, else of ids; shape (n,)."""

    keys: Hashes
    clusters: Hashes
    labels: Mask
    probabilities: Floats


def labelled_probabilities(parts: ScoreParts, number: int) -> LabelledProbabilities:
    """Return the rows of a part that have a label and a probability."""
    rows = parts.load.part(number, ["id", "candidate", "group", LABEL])
    rows = rows.append_column(OFFLINE_MATCH, parts.judge.part(number, [OFFLINE_MATCH])[OFFLINE_MATCH])
    rows = rows.filter(pc.and_(rows[LABEL].is_valid(), rows[OFFLINE_MATCH].is_valid()))
    names = pc.binary_join_element_wise(rows["id"], rows["candidate"], "\0")
    clusters = hashed(pc.coalesce(rows["group"], rows["id"]))
    labels, probabilities = (rows[name].to_numpy() for name in (LABEL, OFFLINE_MATCH))
    return LabelledProbabilities(hashed(names), clusters, labels.astype(np.bool_), probabilities)


def calibration_entry(parts: Iterable[LabelledProbabilities], confidence: float) -> CalibrationEntry | None:
    """What labels say of the probabilities; None with few labels, and if they do not reject the calibration."""
    from tasks.statistics.calibration import calibration

    keys, clusters, labels, p = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(keys)[:MOST_LABELLED]
    clusters, labels, p = clusters[order], labels[order], p[order]
    tested = len(np.unique(clusters))
    if tested < FEWEST_CALIBRATED:
        return None
    found = calibration(p, labels, clusters)
    if found.p_value >= 1.0 - confidence:
        return None
    return {
        "n": len(p),
        "tested": tested,
        "p_value": found.p_value,
        "expected": float(p.mean()),
        "right": float(labels.mean()),
        "error": _squared_error(p, labels),
        "error_recalibrated": _squared_error(found.recalibrated, labels),
    }


def _squared_error(p: Floats, labels: NDArray[np.bool_]) -> float:
    return float(np.mean((p - labels) ** 2))
