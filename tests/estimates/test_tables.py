"""Score tables: what stands in them, what their metadata says, and what their contract finds."""

from typing import Any

import pyarrow as pa

from goldmeter.estimates.tables import expect_metric, row_facts, score_table
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.pairs import Pairs
from goldmeter.pipeline.tables import about, describe
from goldmeter.pipeline.validation import check

NORMALIZE = {"unicode": "NFKC", "case": True, "punctuation": True, "articles": False}


def table(**facts: Any) -> pa.Table:
    keys = describe(pa.table({"id": ["a", "b", "c"], "candidate": ["x"] * 3}), facts)
    options = {"accuracy": {}, "bleu": {"threshold": 0.5}, "rouge": {}}
    metrics = {name: configure("lexical", name, own) for name, own in options.items()}
    return score_table(keys, Pairs.of(["Paris", "", None], ["Paris", "Rome", "Bonn"]), metrics)


def test_a_row_has_scores_results_and_the_reason_for_what_is_missing() -> None:
    scores = table().to_pylist()

    assert [row["accuracy"] for row in scores] == [1.0, 0.0, None]
    assert [row["accuracy_result"] for row in scores] == ["pass", "fail", "unmeasured"]
    assert [row["rouge_f1_score"] for row in scores] == [1.0, 0.0, None]
    assert scores[1]["rouge_details"] == '{"note": "empty response"}'
    assert scores[2]["bleu_details"] == '{"unmeasured": "no response"}'
    assert scores[2]["bleu_stats"] == [0.0] * 10


def test_the_metadata_says_how_each_number_was_made() -> None:
    columns = about(table().schema)["columns"]

    assert columns["bleu"]["signature"] == "bleu|order:4|smooth:method4|eff:yes|tok:13a+cjk|case:mixed|refs:pooled|v:1"
    assert columns["bleu"]["rate_signature"].endswith("|v:1|thr:0.5")
    assert columns["accuracy"]["rate_signature"].endswith("|pass:1")
    assert "rate_signature" not in columns["rouge_recall"]


def test_what_was_done_to_the_texts_before_is_part_of_the_signature() -> None:
    plain, changed = table(normalize=NORMALIZE), table(normalize=NORMALIZE | {"articles": True})
    wrong = table(normalize=NORMALIZE, missing_response="wrong")

    def signature(of: pa.Table, column: str) -> str:
        return str(about(of.schema)["columns"][column]["signature"])

    assert "|norm:NFKC+case+punctuation|" in signature(plain, "accuracy")
    assert signature(plain, "accuracy") != signature(changed, "accuracy")
    assert signature(plain, "bleu") == signature(changed, "bleu")
    assert "|missing:wrong|" in signature(wrong, "bleu")


def test_missing_responses_that_stay_unmeasured_need_no_word() -> None:
    schema = describe(pa.table({}), {"missing_response": "unmeasured"}).schema

    assert row_facts(schema, reads_normalized=True) == {}


def test_the_contract_finds_results_that_do_not_follow_from_the_score() -> None:
    metric = configure("lexical", "bleu", {"threshold": 0.5})
    frame = table().to_pandas()

    def broken(**columns: Any) -> list[str]:
        return [each.columns for each in check(frame.assign(**columns), expect_metric(metric)) if each.failed]

    assert broken() == []
    for wrong in (["fail", "fail", "unmeasured"], ["pass", "fail", None], ["pass", "fail", "fail"], ["pass", "", "?"]):
        assert broken(bleu_result=wrong) == ["bleu, bleu_result, pass_from 0.5"]
    assert broken(bleu=[1.0, 0.0, 2.0])[0].startswith("bleu, min_value 0.0, max_value 1.0")
