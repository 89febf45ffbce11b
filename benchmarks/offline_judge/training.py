"""Train the offline judge, and measure its accuracy on rows that it was not trained on."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier  # type: ignore[import-untyped]

from benchmarks.offline_judge.counterfactual import counterfactual_pairs
from benchmarks.offline_judge.labelled import RULES, Labelled, human_labelled, written_pairs
from goldmeter.models.offline import RIGHT, feature_names, traps
from goldmeter.models.offline.feature_names import DIRECTIONS, FEATURES
from goldmeter.models.offline.features import TextRows, row_features
from goldmeter.models.offline.trees import Models, Trees, render
from goldmeter.models.offline.verdict import TRAP, marks_of
from goldmeter.pipeline.hashing import sha256
from goldmeter.text.normalization import normalize

FOLDS, SEED, BINS = 5, 20230521, 15
FEATURE_BINS = 64
# Weight of a written and of a counterfactual pair relative to a human label, in the model of traps.
RULE_WEIGHT, COUNTERFACTUAL_WEIGHT = 3.0, 1.0
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


class Size(NamedTuple):
    """How many trees of how many leaves a model has, and how it learns them."""

    iterations: int
    rate: float
    leaves: int
    rows_in_leaf: int


ANSWERS, TRAPS = Size(200, 0.06, 16, 20), Size(150, 0.1, 20, 10)


class Examples(NamedTuple):
    """Columns of `TRAP_COLUMNS`, shape (n, k); verdicts, weights, labels by people and folds, shape (n,).

    Weight in the model of traps; 0: human labels that contradict rules 5 and 7. The model of answers learns from all
    human labels alone.
    """

    features: Floats
    verdicts: Booleans
    weights: Floats
    labelled: Booleans
    folds: NDArray[np.int64]

    def take(self, which: Booleans) -> "Examples":
        features, verdicts, weights, labelled, folds = self
        return Examples(features[which], verdicts[which], weights[which], labelled[which], folds[which])


class Fitted(NamedTuple):
    """The two models as scikit-learn fits them."""

    answers: HistGradientBoostingClassifier
    traps: HistGradientBoostingClassifier

    def probabilities(self, features: Floats) -> Floats:
        """Return what the judge says of n rows without looking at values; features: of `Examples`."""
        answers = self.answers.predict_proba(features[:, : len(FEATURES)])[:, 1]
        traps = self.traps.predict_proba(features)[:, 1]
        combined: Floats = np.where((answers >= RIGHT) & (traps < TRAP), traps, answers)
        return combined


def training_rows(data: Path) -> list[Labelled]:
    """Return all rows that the judge is trained on: human labels first, then written and counterfactual pairs.

    data: NQ.json of EVOUNA, or a file of its form.
    """
    people = [*human_labelled(data)]
    return [*people, *written_pairs(RULES), *counterfactual_pairs(people)]


def examples(rows: Sequence[Labelled]) -> Examples:
    """Return rows as the models see them."""
    texts = TextRows.of(
        [row.question for row in rows], [row.references for row in rows], [row.response for row in rows]
    )
    features, verdicts = row_features(texts).features, np.array([row.verdict for row in rows], np.bool_)
    marks = marks_of(texts, features)
    is_written, is_made = (
        np.array([getattr(row, name) for row in rows], bool) for name in ("written", "counterfactual")
    )
    exact, part = features[:, feature_names.EXACT] > 0, marks[:, traps.MARKS.index("part of the reference")] > 0
    against_rules = verdicts & (part | (exact & ~_plain(marks)))
    return Examples(
        np.hstack([features, marks]),
        verdicts,
        np.select([is_made, is_written, against_rules], [COUNTERFACTUAL_WEIGHT, RULE_WEIGHT, 0.0], 1.0),
        ~is_written,
        np.array([sha256(normalize(row.group))[0] % FOLDS for row in rows]),
    )


def _plain(marks: Floats) -> Booleans:
    """Return rows without a hedge or an alternative beside the match."""
    kinds = [pattern.kind in {traps.HEDGED, traps.ALTERNATIVE} for pattern in traps.PATTERNS.values()]
    plain: Booleans = (marks[:, : len(kinds)][:, kinds] == 0).all(axis=1)
    return plain


def fitted(rows: Examples) -> Fitted:
    """Train both models."""
    answers, trapped = rows.take(rows.labelled), rows.take(rows.weights > 0)
    return Fitted(
        boosted(answers.features[:, : len(FEATURES)], answers.verdicts, np.ones(len(answers.verdicts)), ANSWERS),
        boosted(trapped.features, trapped.verdicts, trapped.weights, TRAPS),
    )


def boosted(features: Floats, verdicts: Booleans, weights: Floats, size: Size) -> HistGradientBoostingClassifier:
    """Train trees in which no feature of `DIRECTIONS` acts against its direction."""
    directions = [*DIRECTIONS.values()][: features.shape[1]]
    return HistGradientBoostingClassifier(
        learning_rate=size.rate,
        max_iter=size.iterations,
        max_leaf_nodes=size.leaves,
        max_bins=FEATURE_BINS,
        min_samples_leaf=size.rows_in_leaf,
        l2_regularization=2.0,
        max_features=0.5,
        monotonic_cst=directions + [0] * (features.shape[1] - len(directions)),
        early_stopping=False,
        random_state=SEED,
    ).fit(features, verdicts, weights)


def held_out(rows: Examples) -> Floats:
    """Return the probability of each row by models that were not trained on its question; shape (n,)."""
    out = np.empty(len(rows.verdicts))
    for fold in range(FOLDS):
        inside = rows.folds == fold
        out[inside] = fitted(rows.take(~inside)).probabilities(rows.features[inside])
    return out


def exported(model: HistGradientBoostingClassifier) -> Trees:
    """Convert the trees of scikit-learn to ours: their splits sorted by feature and threshold."""
    # Private API, written for scikit-learn 1.9.1, which has no public way to the nodes of its boosted trees. Only
    # training reads them; the judge itself runs without scikit-learn.
    splits, leaves = [], []
    for tree, predictors in enumerate(model._predictors):  # noqa: SLF001
        below, own = _flattened(predictors[0].nodes)
        splits += [(feature, threshold, tree, bits) for feature, threshold, bits in below]
        leaves.append(own)
    splits.sort(key=lambda split: split[:2])
    values = np.zeros((len(leaves), max(map(len, leaves))))
    for tree, own in enumerate(leaves):
        values[tree, : len(own)] = own
    features, thresholds, trees, remaining = zip(*splits, strict=True) if splits else ((),) * 4
    return Trees(
        np.searchsorted(np.array(features), np.arange(model.n_features_in_ + 1)).astype(np.int32),
        np.array(thresholds, np.float64),
        np.array(trees, np.int32),
        np.array(remaining, np.uint64),
        values,
        np.asarray(model._baseline_prediction, np.float64).ravel(),  # noqa: SLF001
    )


def _flattened(nodes: NDArray[np.void]) -> tuple[list[tuple[int, float, int]], list[float]]:
    """Return a tree's splits, each with the leaves that are not left of it as bits, and its leaves in order."""
    splits: list[tuple[int, float, int]] = []
    leaves: list[float] = []

    def descend(place: int) -> None:
        node = nodes[place]
        if node["is_leaf"]:
            leaves.append(float(node["value"]))
            return
        first = len(leaves)
        descend(node["left"])
        left = (1 << len(leaves)) - (1 << first)
        splits.append((int(node["feature_idx"]), float(node["num_threshold"]), ~left % 2**64))
        descend(node["right"])

    descend(0)
    return splits, leaves


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
    plain = _plain(features[:, len(FEATURES) :])
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
    lines = [*report(rows, training.features, held_out(training))]
    return render(Models(*map(exported, fitted(training)))), lines
