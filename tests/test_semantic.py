"""The semantic stage: scores from the evidence's vectors, what signs them, and the contract of the table."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pydantic import ValidationError

from goldmeter.errors import LedgerError
from goldmeter.estimates.embedded_texts import embed
from goldmeter.estimates.tables import Semantic
from goldmeter.ledger.vectors import VectorEvidence, Vectors
from goldmeter.metrics import score
from goldmeter.pipeline import validation
from goldmeter.pipeline.tables import Parts, about, write_part
from tasks.semantic import Params, expect, semantic
from tests.test_embed import LOCAL
from tests.test_embed import normalized as rows_of

METRICS = {
    "semantic_similarity": {"threshold": 0.7},
    "similarity": {},
    "reference_match": {"aggregation": "mean"},
    "semantic_list_contains": {},
}
RESPONSES = ["Paris", "It is Rome.", None, " ", "東京", "no idea"]
REFERENCES = [["Paris", "Paris, France"], ["Rome"], ["x"], ["y"], ["Tokyo", "東京"], ["forty-two"]]


def normalized():
    return rows_of(RESPONSES, REFERENCES)


def params(**options):
    return Params(embed=LOCAL | options, semantic=METRICS)


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    """The evidence that the embed stage leaves for the rows above."""
    folder = tmp_path_factory.mktemp("ledger")
    write_part(normalized(), folder, 0)
    ledger = Vectors(folder / "store")
    for _ in embed(Parts(folder), params(), ledger, folder):
        pass
    ledger.write_evidence(folder / "evidence")
    return VectorEvidence(folder / "evidence")


@pytest.fixture(scope="module")
def table(evidence):
    """The scores of the rows above."""
    return semantic(normalized(), params(), evidence)


def test_scores_are_those_of_the_metrics(table):
    assert table["id"].to_pylist() == ["r0", "r1", "r2", "r3", "r4", "r5"]
    for name, options in METRICS.items():
        expected = score(name, RESPONSES, REFERENCES, **options)
        assert table[name].to_numpy() == pytest.approx(expected, abs=2e-6, nan_ok=True)
        assert table[name].null_count == 1
        assert not np.isnan(table[name].drop_null().to_numpy()).any()


def test_results_follow_from_scores(table):
    assert table["semantic_similarity_result"].to_pylist() == ["pass", "pass", "unmeasured", "fail", "pass", "fail"]
    assert table["similarity"].to_pylist()[:1] == [5.0]
    assert json.loads(table["semantic_list_contains_details"][2].as_py()) == {"unmeasured": "no response"}


def test_signatures_hold_weights_and_precision(table):
    columns = about(table.schema)["columns"]

    signature = columns["semantic_similarity"]["signature"]
    assert signature.startswith("semantic_similarity|scale:clip|weights:53aa51172d14/")
    assert signature.endswith("|precision:fp32|long:truncate|v:1")
    assert columns["semantic_similarity"]["rate_signature"] == f"{signature}|thr:0.7"
    assert columns["similarity"]["bounds"] == [1.0, 5.0]
    assert {column["family"] for column in columns.values()} == {"semantic"}


def test_parts_change_no_score(table, evidence):
    rows = normalized()

    parts = [semantic(rows.slice(start, 2), params(), evidence) for start in (0, 2, 4)]

    assert pa.concat_tables(parts).equals(table)


def test_vectors_of_another_precision_are_not_taken(evidence):
    with pytest.raises(LedgerError, match="vectors are not there"):
        semantic(normalized(), params(precision="bf16"), evidence)


def test_the_table_keeps_its_contract(table):
    contract = expect(params())

    checks = validation.check_rows(table, contract.rows)
    checks += validation.check_counts(contract.counts, {"rows": 6, "rows_normalize": 6})

    assert [each for each in checks if each.failed] == []
    assert contract.same_keys_as == "normalize"


def test_a_score_out_of_bounds_breaks_the_contract(table):
    frame = table.to_pandas()
    frame.loc[0, "similarity"] = 5.5
    frame.loc[1, "semantic_similarity_result"] = "fail"

    failed = [each.columns for each in validation.check(frame, expect(params()).rows) if each.failed]

    assert len(failed) == 2
    assert failed[0].startswith("semantic_similarity, semantic_similarity_result")
    assert failed[1].startswith("similarity")


def test_an_unknown_metric_names_those_there_are():
    with pytest.raises(ValidationError, match=r"did you mean similarity"):
        Semantic.model_validate({"similarit": {}})


def test_no_metrics_give_keys_only(evidence):
    table = semantic(normalized(), Params(embed=LOCAL, semantic={}), evidence)

    assert table.column_names == ["id", "candidate"]
