"""Train the offline judge, and measure how often it is right on rows that it has not seen."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from tasks.errors import DataError
from tasks.models.offline import RIGHT, feature_names
from tasks.models.offline.feature_names import DIRECTIONS
from tasks.models.offline.features import facts
from tasks.models.offline.trees import FILE, Trees, calibrated, render
from tasks.pipeline.hashing import sha256
from tasks.text.normalization import normalize

RULES = FILE.with_name("rules.jsonl")
FOLDS, ITERATIONS, SEED, BINS = 5, 280, 20230521, 15
RULE_WEIGHT = 7.0
"""Of a written pair beside one of people's verdicts: the pairs are few, and the rules win over people."""
Floats = NDArray[np.float64]


class Labelled(NamedTuple):
    """An answer and its verdict; all of one group are in one fold.

    source: who gave the answer, or the rule a written pair is about. group: the question, or how a pair is worded.
    """

    question: str
    references: list[str]
    response: str
    verdict: bool
    source: str
    written: bool
    group: str


class Examples(NamedTuple):
    """Features, shape (n, k), verdicts, weights and folds, shape (n,).

    Weight 0: people call right what rules 5 and 7 call wrong; such a row is predicted, but nothing is learnt from it.
    """

    features: Floats
    verdicts: NDArray[np.bool_]
    weights: Floats
    folds: NDArray[np.int64]

    def take(self, which: NDArray[np.bool_]) -> "Examples":
        return Examples(self.features[which], self.verdicts[which], self.weights[which], self.folds[which])


def people(path: Path) -> Iterator[Labelled]:
    """Answers of EVOUNA that people judged, without improper questions; golden answers are separated by "/"."""
    for item in _json(path):
        if item["improper"] or not item["golden_answer"]:
            continue
        references = [text for text in item["golden_answer"].split("/") if text.strip()]
        for system in sorted(key.removeprefix("answer_") for key in item if key.startswith("answer_")):
            answer, verdict = item[f"answer_{system}"], item.get(f"judge_{system}")
            if answer and verdict is not None:
                yield Labelled(
                    item["question"], references, answer, verdict, system, written=False, group=item["question"]
                )


def written(path: Path) -> Iterator[Labelled]:
    """The written pairs of the rules; those worded alike have a group, else the question is one."""
    for line in path.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        source, group = f"rule {pair['rule']}", pair.get("group", pair["input"])
        yield Labelled(
            pair["input"], pair["references"], pair["response"], pair["verdict"], source, written=True, group=group
        )


def _json(path: Path) -> list[dict[str, Any]]:
    try:
        items = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{path}: not JSON: {error}; expected a list of objects, as EVOUNA's NQ.json") from error
    if not isinstance(items, list):
        raise DataError(f"{path}: a {type(items).__name__}; expected a list of objects, as EVOUNA's NQ.json")
    return items


def examples(rows: Sequence[Labelled]) -> Examples:
    """Rows as the model sees them."""
    of_rows = facts([row.question for row in rows], [row.references for row in rows], [row.response for row in rows])
    features, verdicts = of_rows.features, np.array([row.verdict for row in rows])
    made_up = np.array([row.written for row in rows])
    found, part = features[:, feature_names.EXACT] > 0, features[:, feature_names.PARTS] < 1
    against_rules = verdicts & (part | (found & ~_plain(features)))
    return Examples(
        features,
        verdicts,
        np.select([made_up, against_rules], [RULE_WEIGHT, 0.0], 1.0),
        np.array([_fold(row.group) for row in rows]),
    )


def _plain(features: Floats) -> NDArray[np.bool_]:
    """Rows without a hedge in the sentence of the match, doubts anywhere, and an alternative beside it."""
    against = features[:, [feature_names.HEDGE_NEAR, feature_names.DOUBTS, feature_names.OR_NEAR]]
    plain: NDArray[np.bool_] = (against == 0).all(axis=1)
    return plain


def _fold(group: str) -> int:
    return sha256(normalize(group))[0] % FOLDS


def boosted(train: Examples) -> HistGradientBoostingClassifier:
    """Trees that no fact can move against its direction."""
    taught = train.take(train.weights > 0)
    return HistGradientBoostingClassifier(
        learning_rate=0.05,
        max_iter=ITERATIONS,
        max_leaf_nodes=16,
        min_samples_leaf=10,  # few enough for pairs that are worded alike
        l2_regularization=2.0,
        max_features=0.5,
        monotonic_cst=list(DIRECTIONS.values()),
        early_stopping=False,
        random_state=SEED,
    ).fit(taught.features, taught.verdicts, taught.weights)


def held_out(rows: Examples) -> Floats:
    """The score of each row by a model that has not seen its question; shape (n,)."""
    scores = np.empty(len(rows.verdicts))
    for fold in range(FOLDS):
        inside = rows.folds == fold
        scores[inside] = boosted(rows.take(~inside)).decision_function(rows.features[inside])
    return scores


def calibration(scores: Floats, rows: Examples) -> Floats:
    """Slope and intercept of a logistic curve, of people's verdicts alone: the mix of the written pairs is made up."""
    counts = rows.weights == 1
    curve = LogisticRegression(C=np.inf).fit(scores[counts, None], rows.verdicts[counts])
    return np.array([curve.coef_[0, 0], curve.intercept_[0]])


def cross_validated(rows: Examples, scores: Floats) -> Floats:
    """Probabilities of the held-out scores, each calibrated on the other folds."""
    out = np.empty(len(scores))
    for fold in range(FOLDS):
        inside = rows.folds == fold
        out[inside] = calibrated(scores[inside], calibration(scores[~inside], rows.take(~inside)))
    return out


def exported(model: HistGradientBoostingClassifier, curve: Floats) -> Trees:
    """The trees of scikit-learn as our own."""
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
    """Expected calibration error over bins of equal mass. Source: Nixon et al. 2019."""
    order = np.argsort(probabilities, kind="stable")
    bins = [(probabilities[each], verdicts[each]) for each in np.array_split(order, BINS)]
    return float(sum(len(p) * abs(p.mean() - v.mean()) for p, v in bins) / len(order))


def contains(row: Labelled) -> bool:
    """The baseline: a reference, lower-case, without punctuation and articles, is a substring of the response."""
    response = _bare(row.response)
    return any(_bare(reference) in response for reference in row.references)


def _bare(text: str) -> str:
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", re.sub(r"[^\w\s]", "", text.lower())).split())


def report(rows: Sequence[Labelled], features: Floats, probabilities: Floats) -> Iterator[str]:
    """What is known of the judge's quality, line by line."""
    verdicts = np.array([row.verdict for row in rows])
    right = (probabilities >= RIGHT) == verdicts
    judged = ~np.array([row.written for row in rows])
    beside = "hedging or alternatives beside the match"
    plain = _plain(features)
    yield f"people's verdicts: {judged.sum()} rows, {FOLDS} folds by group, each row by a model that has not seen it"
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
    yield f"written pairs: {(~judged).sum()}, accuracy {right[~judged].mean():.4f}"
    for source in sorted(set(sources[~judged])):
        which = ~judged & (sources == source)
        yield f"    {source}: {right[which].mean():.4f} ({which.sum()})"


def trained(rows: Sequence[Labelled]) -> tuple[bytes, list[str]]:
    """The model of all rows as a file, and the report on models that had not seen the rows they are tried on."""
    seen = examples(rows)
    scores = held_out(seen)
    lines = [*report(rows, seen.features, cross_validated(seen, scores))]
    return render(exported(boosted(seen), calibration(scores, seen))), lines
