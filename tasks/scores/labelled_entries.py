"""Entries of reports/metrics.json with what human labels and verdicts of some rows say of all rows."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow.compute as pc

from tasks.metrics.base import NOT_SAMPLED
from tasks.pipeline.tables import Parts
from tasks.scores import graded_labels, human_labels, metrics_report
from tasks.scores.columns import Candidate
from tasks.scores.estimates import rounded
from tasks.scores.offline_calibration import OFFLINE_MATCH, RECALIBRATED, Probabilities, Recalibration
from tasks.scores.primary import VERDICT
from tasks.scores.sums import CandidateSums


def with_labels(
    tree: metrics_report.Candidates,
    labels: Sequence[Candidate],
    fitted: Mapping[str, float],
    confidence: float,
    in_sample: Callable[[], metrics_report.InSampleEntry | None] | None,
) -> metrics_report.Candidates:
    """Add to the entries their agreement with human labels; labels: the candidates' labelled rows.

    Metrics whose threshold was fitted on these labels are skipped: their agreement would be optimistic; `thresholds`
    holds a cross-validated figure. in_sample: returns what to say of the agreement of the offline judge.
    """
    for candidate in labels:
        for column in candidate.columns:
            if column.name in fitted or not (agreement := human_labels.agreement(candidate, column, confidence)):
                continue
            entry = tree[candidate.name][column.name]
            entry["agreement"] = rounded(agreement)
            if column.name == VERDICT and in_sample and (seen := in_sample()):
                entry["agreement"]["in_sample"] = rounded(seen)
    return tree


def with_few(
    tree: metrics_report.Candidates,
    scored: Sequence[CandidateSums],
    whole: Callable[[], Sequence[Candidate]],
    offline: Callable[[], Probabilities],
    confidence: float,
) -> metrics_report.Candidates:
    """Add to the entries estimates from few labels or verdicts, and scores of all rows.

    Recalibrated probabilities fit human labels; for a language model's verdicts those of the offline judge are used.
    """
    wanted = {
        (candidate.name, column.name)
        for candidate in scored
        for column in candidate.columns
        if (
            column.name == human_labels.LABEL
            and candidate.labels_random
            and (candidate.labels_designed or 0 < column.n_measured < column.n_rows)
        )
        or (column.facts.family == "judge" and column.n_measured and column.not_asked)
        or (
            column.facts.by_people
            and candidate.labels_random
            and not candidate.labels_designed
            and 0 < column.n_measured < column.n_rows
        )
    }
    if not wanted:
        return tree
    found = offline()
    for candidate in whole():
        own, is_scaled = candidate.positions, found.are_recalibrated(candidate)
        for column in candidate.columns:
            if (candidate.name, column.name) not in wanted:
                continue
            if column.name == human_labels.LABEL:
                ppi = human_labels.prediction_powered(
                    candidate, found.of_labels[own], confidence, random=candidate.labels_random, recalibrated=is_scaled
                )
                if ppi and is_scaled:
                    ppi["signature"] = f"{column.facts.signature}|{RECALIBRATED}"
            elif column.facts.by_people:
                ppi = graded_labels.prediction_powered(candidate, column, found.of_labels[own], confidence)
            else:
                p, unsampled = found.p[own], found.unsampled[own]
                ppi = human_labels.prediction_powered_judge(candidate, column, p, unsampled, confidence)
            if ppi:
                tree[candidate.name][column.name]["ppi"] = rounded(ppi)
    return tree


def is_recalibrated(entries: metrics_report.Candidates) -> bool:
    """Whether a value from human labels has recalibrated probabilities as a part."""
    labels = [metrics[human_labels.LABEL] for metrics in entries.values() if human_labels.LABEL in metrics]
    signatures = [entry.get("ppi", entry).get("signature", "") for entry in labels]
    return any(signature.endswith(RECALIBRATED) for signature in signatures)


def offline_probabilities(judge: Parts, recalibration: Recalibration | None) -> Probabilities:
    """The offline judge's probabilities; recalibration: None if labels do not reject them."""
    if OFFLINE_MATCH not in judge.schema.names:
        nothing = np.full(judge.rows, np.nan)
        return Probabilities(nothing, nothing, np.zeros(judge.rows, dtype=np.bool_))
    rows = judge.whole([OFFLINE_MATCH, "judge_status"])
    unsampled = pc.equal(rows["judge_status"], NOT_SAMPLED).to_numpy(zero_copy_only=False)
    p = rows[OFFLINE_MATCH].to_numpy(zero_copy_only=False)
    return Probabilities(p, recalibration.of(p) if recalibration else p, np.asarray(unsampled, dtype=np.bool_))
