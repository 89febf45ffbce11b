"""Differences of human labels on a random part of the rows, with what other measures say of all rows."""

from dataclasses import replace

import numpy as np
import pytest

from tasks.comparison.differences import Compared, compared, powered, uncorrected
from tasks.comparison.measures import measures
from tasks.comparison.pairing import pair
from tasks.scores.column_facts import ColumnFacts
from tasks.scores.columns import Candidate, ScoreColumn

LABEL = ColumnFacts("label", "dataset", "label|v:1", (0.0, 1.0), rate_signature="label|v:1|pass:1")
MATCH = replace(LABEL, metric="meaning_match", family="judge", signature="meaning_match|v:1")
ROWS = 600


def candidate(name: str, truth: np.ndarray, labelled: np.ndarray, *, random: bool, groups: bool = False) -> Candidate:
    """A candidate whose judge errs on every tenth row."""
    verdicts = np.where(np.arange(ROWS) % 10 == 3, 1.0 - truth, truth)
    label = np.where(labelled, truth, np.nan)
    columns = [
        ScoreColumn("label", label, ~labelled, LABEL.passes(label), None, LABEL),
        ScoreColumn("meaning_match", verdicts, np.zeros(ROWS, np.bool_), MATCH.passes(verdicts), None, MATCH),
    ]
    clusters = np.arange(ROWS) // 3 if groups else None
    return Candidate(
        name, np.arange(ROWS, dtype=np.uint64), np.arange(ROWS), columns, clusters, {}, labels_random=random
    )


def labels(*, part: float = 0.2, random: bool = True, groups: bool = False) -> Compared:
    rng = np.random.default_rng(4)
    base, head = (rng.random(ROWS) < p for p in (0.6, 0.75))
    labelled = rng.random(ROWS) < part
    both = (
        candidate(name, y.astype(float), labelled, random=random, groups=groups)
        for name, y in (("a", base), ("b", head))
    )
    pairing = pair(*both)
    return compared(pairing, measures(pairing.base)["label"], measures(pairing.head)["label"])


@pytest.mark.parametrize("groups", [False, True])
def test_a_random_part_is_combined_with_the_other_measures(groups: bool) -> None:
    one = labels(groups=groups)

    estimate, alone = powered(one, 0.95), uncorrected(one, 0.95)

    assert estimate is not None
    assert estimate.method == "ppi"
    assert estimate.high - estimate.low < 0.8 * (alone.high - alone.low)
    assert estimate.n == one.measured.sum()


@pytest.mark.parametrize("changed", [{"random": False}, {"part": 1.1}, {"part": 0.01}])
def test_labels_that_were_selected_or_are_on_all_or_hardly_any_rows_stay_alone(changed: dict[str, float]) -> None:
    assert powered(labels(**changed), 0.95) is None  # type: ignore[arg-type]


def test_other_measures_stay_as_they_are() -> None:
    pairing = labels().pairing

    judge = compared(pairing, measures(pairing.base)["meaning_match"], measures(pairing.head)["meaning_match"])

    assert powered(judge, 0.95) is None
