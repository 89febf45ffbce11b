"""Train the offline judge, and measure its accuracy on rows that it was not trained on."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from benchmarks.offline_judge.counterfactual import counterfactual_pairs
from benchmarks.offline_judge.labelled import RULES, Labelled, human_labelled, written_pairs
from goldmeter.models.offline import RIGHT, feature_names
from goldmeter.models.offline.feature_names import DIRECTIONS
from goldmeter.models.offline.features import TextRows, row_features
from goldmeter.models.offline.trees import Trees, calibrated, render
from goldmeter.pipeline.hashing import sha256
from goldmeter.text.normalization import normalize

FOLDS, SEED, BINS = 5, 20230521, 15
ITERATIONS, LEARNING_RATE, LEAVES, FEATURE_BINS = 260, 0.08, 20, 64
# Weight of a written pair relative to a human label: the pairs are few, and rules outweigh labels.
RULE_WEIGHT = 7.0
# Weight of a counterfactual pair: there are many, and they are worded alike.
COUNTERFACTUAL_WEIGHT = 0.4
CALIBRATION_DIGITS = 6
Floats = NDArray[np.float64]


class Examples(NamedTuple):
    """Features, shape (n, k), and verdicts, weights and folds, shape (n,).

    Weight 0: human labels that contradict rules 5 and 7. Such a row is predicted, but not used in training.
    """

    features: Floats
    verdicts: NDArray[np.bool_]
    weights: Floats
    folds: NDArray[np.int64]

    def take(self, which: NDArray[np.bool_]) -> "Examples":
        return Examples(self.features[which], self.verdicts[which], self.weights[which], self.folds[which])


def training_rows(data: Path) -> list[Labelled]:
    """Return all rows that the judge is trained on: human labels first, then written and counterfactual pairs.

    data: NQ.json of EVOUNA, or a file of its form.
    """
    people = [*human_labelled(data)]
    return [*people, *written_pairs(RULES), *counterfactual_pairs(people)]


def examples(rows: Sequence[Labelled]) -> Examples:
    """Return rows as the model sees them."""
    texts = [row.question for row in rows], [row.references for row in rows], [row.response for row in rows]
    features, verdicts = row_features(TextRows.of(*texts)).features, np.array([row.verdict for row in rows])
    is_written, is_made = (np.array([getattr(row, name) for row in rows]) for name in ("written", "counterfactual"))
    exact, part = features[:, feature_names.EXACT] > 0, features[:, feature_names.PARTS] < 1
    against_rules = verdicts & (part | (exact & ~_plain(features)))
    return Examples(
        features,
        verdicts,
        np.select([is_made, is_written, against_rules], [COUNTERFACTUAL_WEIGHT, RULE_WEIGHT, 0.0], 1.0),
        np.array([sha256(normalize(row.group))[0] % FOLDS for row in rows]),
    )


def _plain(features: Floats) -> NDArray[np.bool_]:
    """Return rows without a hedge in the sentence of the match, doubts, and an alternative beside it."""
    against = features[:, [feature_names.HEDGE_NEAR, feature_names.DOUBTS, feature_names.OR_NEAR]]
    plain: NDArray[np.bool_] = (against == 0).all(axis=1)
    return plain


def boosted(train: Examples) -> HistGradientBoostingClassifier:
    """Train trees in which no feature acts against its direction."""
    weighted = train.take(train.weights > 0)
    return HistGradientBoostingClassifier(
        learning_rate=LEARNING_RATE,
        max_iter=ITERATIONS,
        max_leaf_nodes=LEAVES,
        max_bins=FEATURE_BINS,
        min_samples_leaf=10,  # few enough for pairs that are worded alike
        l2_regularization=2.0,
        max_features=0.5,
        monotonic_cst=list(DIRECTIONS.values()),
        early_stopping=False,
        random_state=SEED,
    ).fit(weighted.features, weighted.verdicts, weighted.weights)


def held_out(rows: Examples) -> Floats:
    """Return the score of each row by a model that was not trained on its question; shape (n,)."""
    scores = np.empty(len(rows.verdicts))
    for fold in range(FOLDS):
        inside = rows.folds == fold
        scores[inside] = boosted(rows.take(~inside)).decision_function(rows.features[inside])
    return scores


def calibration(scores: Floats, rows: Examples) -> Floats:
    """Fit slope and intercept of a logistic curve to human labels alone: the mix of written pairs is arbitrary.

    Rounded, because their last digits depend on the machine.
    """
    counts = rows.weights == 1
    curve = LogisticRegression(C=np.inf).fit(scores[counts, None], rows.verdicts[counts])
    return np.round([curve.coef_[0, 0], curve.intercept_[0]], CALIBRATION_DIGITS)


def cross_validated(rows: Examples, scores: Floats) -> Floats:
    """Return probabilities of the held-out scores, each calibrated on the other folds."""
    out = np.empty(len(scores))
    for fold in range(FOLDS):
        inside = rows.folds == fold
        out[inside] = calibrated(scores[inside], calibration(scores[~inside], rows.take(~inside)))
    return out


def exported(model: HistGradientBoostingClassifier, curve: Floats) -> Trees:
    """Convert the trees of scikit-learn to ours."""
    # Private API, written for scikit-learn 1.9.1, which has no public way to the nodes of its boosted trees. Only
    # training reads them; the judge itself runs without scikit-learn.
    nodes = [predictors[0].nodes for predictors in model._predictors]  # noqa: SLF001
    starts = np.cumsum([0, *map(len, nodes)])[:-1]
    joined = np.concatenate(nodes)
    shift = np.repeat(starts, [*map(len, nodes)])
    leaf = joined["is_leaf"].astype(bool)
    return Trees(
        np.where(leaf, 0, joined["feature_idx"]).astype(np.int32),
        np.where(leaf, 0.0, joined["num_threshold"]),
        np.where(leaf, -1, joined["left"] + shift).astype(np.int32),
        np.where(leaf, -1, joined["right"] + shift).astype(np.int32),
        np.where(leaf, joined["value"], 0.0),
        starts.astype(np.int32),
        np.asarray(model._baseline_prediction, np.float64).ravel(),  # noqa: SLF001
        curve,
    )


def calibration_error(probabilities: Floats, verdicts: NDArray[np.bool_]) -> float:
    """Return the expected calibration error over bins of equal mass. Source: Nixon et al. 2019."""
    order = np.argsort(probabilities, kind="stable")
    bins = [(probabilities[rows], verdicts[rows]) for rows in np.array_split(order, min(BINS, len(order)))]
    return float(sum(len(p) * abs(p.mean() - v.mean()) for p, v in bins) / len(order))


def contains(row: Labelled) -> bool:
    """Return the baseline's verdict: the response contains a reference, without case, punctuation and articles."""
    response = _bare(row.response)
    return any(_bare(reference) in response for reference in row.references)


def _bare(text: str) -> str:
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", re.sub(r"[^\w\s]", "", text.lower())).split())


def report(rows: Sequence[Labelled], features: Floats, probabilities: Floats) -> Iterator[str]:
    """Yield the judge's quality, line by line."""
    verdicts = np.array([row.verdict for row in rows])
    right = (probabilities >= RIGHT) == verdicts
    judged = ~np.array([row.written for row in rows])
    beside = "hedging or alternatives beside the match"
    plain = _plain(features)
    yield f"human labels: {judged.sum()} rows, {FOLDS} folds by group, each row predicted by a model not trained on it"
    yield f"  accuracy {right[judged].mean():.4f}"
    yield f"  without {beside} {right[judged & plain].mean():.4f} ({(judged & plain).sum()})"
    error = calibration_error(probabilities[judged], verdicts[judged])
    yield f"  expected calibration error {error:.4f} ({BINS} bins of equal mass)"
    sources = np.array([row.source for row in rows])
    baseline = np.array([contains(row) for row in rows]) == verdicts
    yield f"  substring matching {baseline[judged].mean():.4f}"
    for source in sorted(set(sources[judged])):
        which = judged & (sources == source)
        substring = baseline[which].mean()
        yield f"    {source}: {right[which].mean():.4f}, substring matching {substring:.4f} ({which.sum()})"
    made = np.array([row.counterfactual for row in rows])
    for name, chosen in (("written pairs", ~judged & ~made), ("counterfactual pairs", made)):
        if not chosen.any():
            continue
        yield f"{name}: {chosen.sum()}, accuracy {right[chosen].mean():.4f}"
        for source in sorted(set(sources[chosen])):
            which = chosen & (sources == source)
            yield f"    {source}: {right[which].mean():.4f} ({which.sum()})"


def trained(rows: Sequence[Labelled]) -> tuple[bytes, list[str]]:
    """Train on all rows; return the model's file, and a report on models that predict rows they were not trained on."""
    training = examples(rows)
    scores = held_out(training)
    lines = [*report(rows, training.features, cross_validated(training, scores))]
    return render(exported(boosted(training), calibration(scores, training))), lines
