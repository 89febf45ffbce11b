"""Labels that are said to be random: a part of the rows that is unlike all rows is not taken for one."""

from dataclasses import replace

import numpy as np
import pytest

from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import Candidate, ScoreColumn
from goldmeter.estimates.headline import headlines
from goldmeter.estimates.human_labels import with_few_labelled
from goldmeter.estimates.labelled_rate import selected, without_random
from goldmeter.estimates.primary import Primary, Reason
from goldmeter.estimates.signature import VerdictSource
from goldmeter.wording import evidence
from tests.estimates.test_headline import entries, summed

LABEL = ColumnFacts("label", "dataset", "label|v:1", (0.0, 1.0), rate_signature="label|v:1|pass:1")
MATCH = replace(LABEL, metric="meaning_match", family="judge", signature="meaning_match|provider:offline|model:x|v:1")
F1 = replace(LABEL, metric="f1", family="lexical", signature="f1|v:1", rate_signature=None)
ROWS = 1000


def candidate(labelled: np.ndarray, rng: np.random.Generator, groups: np.ndarray | None = None) -> Candidate:
    """A candidate of which a judge calls 80 % right, and people nearly the same answers."""
    of_groups = np.arange(ROWS) if groups is None else groups
    right = (rng.random(ROWS) < 0.8)[of_groups]
    verdicts, words = right.astype(float), np.clip(rng.normal(0.4, 0.2, ROWS) + 0.3 * right, 0, 1)
    label = np.where(labelled, verdicts, np.nan)
    asked = np.zeros(ROWS, np.bool_)
    columns = [
        ScoreColumn("label", label, ~labelled, LABEL.passes(label), None, LABEL),
        ScoreColumn("meaning_match", verdicts, asked, MATCH.passes(verdicts), None, MATCH),
        ScoreColumn("f1", words, asked, None, None, F1),
    ]
    keys = np.arange(ROWS, dtype=np.uint64)
    return Candidate("a", keys, np.arange(ROWS), columns, groups, {}, labels_random=True)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("n", [12, 50, 400])
def test_a_random_part_is_nearly_never_taken_for_a_selected_one(n: int, grouped: bool) -> None:
    found, draws = 0, 150
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        groups = np.arange(ROWS) // 4 if grouped else None
        labelled = np.isin(groups, rng.permutation(ROWS // 4)[: n // 4]) if grouped else rng.permutation(ROWS) < n
        one = candidate(labelled, rng, groups)
        found += bool(selected([with_few_labelled(one, None)], [summed(one)]))

    assert found <= 1


def test_labels_where_the_judge_is_low_are_told_and_correct_no_rate() -> None:
    rng = np.random.default_rng(1)
    one = candidate(np.zeros(ROWS, np.bool_), rng)
    wrong = one.columns[1].values == 0.0
    labelled = rng.permutation(ROWS) < 60 + 200 * wrong
    label = np.where(labelled, one.columns[1].values, np.nan)
    first = ScoreColumn("label", label, ~labelled, LABEL.passes(label), None, LABEL)
    one = replace(one, columns=[first, *one.columns[1:]])

    found = selected([with_few_labelled(one, None)], [summed(one)])

    assert found["a"]["measure"] == "meaning_match"
    assert found["a"]["p_value"] < 0.001
    assert found["a"]["labelled"] < 0.7 < found["a"]["all"]
    scored = without_random([summed(one)], found)
    judge = VerdictSource.of(MATCH.signature)
    decides = Primary("meaning_match", Reason.SOME_LABELS)
    shown = headlines(decides, scored, {"a": entries(one)}, judge, 0.95)
    assert (shown["a"]["measure"], shown["a"]["status"]) == ("meaning_match", "estimated")
    assert "do not correct it" in shown["a"]["note"]
    [line] = evidence.selected_labels({"selected_labels": found})  # type: ignore[typeddict-item]
    assert line.startswith(
        "The labels of a are not of a random part of the answers, as dataset.labels says: meaning_match"
    )


def test_labels_of_all_rows_of_a_design_or_of_selected_rows_are_not_tested() -> None:
    rng = np.random.default_rng(2)
    every = candidate(np.ones(ROWS, np.bool_), rng)
    first = np.arange(ROWS) < 100
    designed = replace(candidate(first, rng), label_probability=np.where(first, 0.5, np.nan))
    chosen = replace(candidate(first, rng), labels_random=False)

    for one in (every, designed, chosen):
        assert selected([with_few_labelled(one, None)], [summed(one)]) == {}
