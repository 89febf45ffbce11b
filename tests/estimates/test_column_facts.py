"""Facts of score columns: what the metadata of tables holds, and which scores pass."""

import json

import numpy as np
import pytest

from goldmeter.estimates.column_facts import TO_FIT, ColumnFacts, stated, statement
from goldmeter.estimates.tables import facts_of
from goldmeter.metrics import base
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.judge.meaning_match import MeaningMatch

EXACT = ColumnFacts("exact_match", "lexical", "exact_match|v:1", (0.0, 1.0), rate_signature="exact_match|v:1|pass:1")
LATENCY = ColumnFacts("score_ms", "dataset", "score|name:ms|v:1", None, higher_is_better=False)


def test_metadata_has_these_keys() -> None:
    assert LATENCY.to_json() == {
        "metric": "score_ms",
        "family": "dataset",
        "options": {},
        "signature": "score|name:ms|v:1",
        "bounds": None,
        "higher_is_better": False,
        "corpus_is_mean": True,
    }
    assert EXACT.to_json() == LATENCY.to_json() | {
        "metric": "exact_match",
        "family": "lexical",
        "signature": "exact_match|v:1",
        "bounds": (0.0, 1.0),
        "higher_is_better": True,
        "threshold": None,
        "rate_signature": "exact_match|v:1|pass:1",
    }


@pytest.mark.parametrize("threshold", [0.5, TO_FIT])
def test_what_is_written_is_read_back(threshold: float | str) -> None:
    columns = facts_of(configure("lexical", "rouge", {"threshold": threshold}), {"norm": "NFKC"})

    written = json.dumps(statement(columns))

    assert stated(json.loads(written)) == columns
    assert json.loads(written)["columns"]["rouge_f1_score"]["threshold"] == threshold
    assert columns["rouge_f1_score"].awaits_threshold == (threshold == TO_FIT)
    assert TO_FIT == base.TO_FIT


def test_a_table_without_score_columns_states_none() -> None:
    assert stated({"truncated": 0}) == {}


def test_scores_from_the_threshold_on_pass() -> None:
    facts = ColumnFacts("f1", "lexical", "f1|v:1", (0.0, 1.0), threshold=0.25, rate_signature="f1|v:1|thr:0.25")
    lower = ColumnFacts("score_ms", "dataset", "ms", None, False, threshold=0.25, rate_signature="ms|thr:<=0.25")
    scores = np.array([0.0, 0.25, 1.0, np.nan])

    assert facts.passes(scores).tolist() == [False, True, True, False]
    assert lower.passes(scores).tolist() == [True, True, False, False]
    assert EXACT.passes(scores).tolist() == [False, False, True, False]
    assert (facts.rule, lower.rule, EXACT.rule) == ("from 0.25", "up to 0.25", "at 1")


def test_a_score_without_threshold_and_bounds_has_no_rule() -> None:
    with pytest.raises(ValueError, match="score_ms: neither a threshold nor bounds"):
        LATENCY.passes(np.array([1.0]))


def test_the_rule_of_several_draws_is_a_majority() -> None:
    metric = MeaningMatch()
    [facts] = facts_of(metric, {}).values()
    odd = ColumnFacts("exact_match", "lexical", "", (0.0, 1.0), rate_signature="exact_match|strip:|pass:>|v:1|pass:1")

    assert facts.rule == "above 0.5"
    assert metric.result(np.array([0.5, 2 / 3])).tolist() == ["fail", "pass"]
    assert odd.rule == "at 1"
