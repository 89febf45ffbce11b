"""The normalize stage: which texts it adds, and that it changes nothing else."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.dataset.normalized import SCHEMA, Normalize
from goldmeter.pipeline import validation
from goldmeter.pipeline.tables import about
from tasks.normalize import Params, expect, normalize

TEXTS = pa.list_(pa.string())


def params(**options):
    return Params(normalize={"unicode": "NFKC", "case": True, "punctuation": True, "articles": False} | options)


def loaded(responses, references):
    n = len(responses)
    return pa.table(
        {
            "id": pa.array([f"r{i}" for i in range(n)]),
            "candidate": pa.array(["a"] * n),
            "input": pa.array(["What?"] * n, pa.string()),
            "response": pa.array(responses, pa.string()),
            "references": pa.array(references, TEXTS),
            "label": pa.array([None] * n, pa.bool_()),
            "phrases": pa.array([["x"]] * n, TEXTS),
            "content": pa.array(["0" * 64] * n),
        }
    )


def test_normalised_texts_stand_beside_the_texts():
    rows = loaded(["  PARIS!", None, "", "１,000"], [["Paris."], ["St. Moritz", "-5"], [], ["1000"]])

    table = normalize(rows, params())

    assert table.schema.remove_metadata() == SCHEMA
    assert table["response"].to_pylist() == ["  PARIS!", None, "", "１,000"]
    assert table["response_normalized"].to_pylist() == ["paris", None, "", "1000"]
    assert table["references_normalized"].to_pylist() == [["paris"], ["st moritz", "-5"], [], ["1000"]]
    assert table["phrases"].to_pylist() == [["x"]] * 4


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ({"unicode": "none"}, "the ｆ a"),
        ({"unicode": "NFC"}, "the ｆ a"),
        ({"case": False}, "The f A"),
        ({"punctuation": False}, "the f! a"),
        ({"articles": True}, "f"),
    ],
)
def test_options(option, expected):
    table = normalize(loaded(["The ｆ!  A"], [["x"]]), params(**option))

    assert table["response_normalized"].to_pylist() == [expected]
    assert about(table.schema) == {"normalize": params(**option).normalize.model_dump()}


def test_every_option_is_required():
    with pytest.raises(ValueError, match="4 validation errors"):
        Normalize()


@given(st.lists(st.tuples(st.none() | st.text(), st.lists(st.text(), max_size=2)), max_size=4))
def test_rows_keep_their_order_and_nulls(rows):
    responses, references = [r for r, _ in rows], [r for _, r in rows]

    table = normalize(loaded(responses, references), params())

    normalized = table["response_normalized"].to_pylist()
    assert table["id"].to_pylist() == [f"r{i}" for i in range(len(rows))]
    assert [text is None for text in normalized] == [text is None for text in responses]
    assert list(map(len, table["references_normalized"].to_pylist())) == list(map(len, references))
    assert normalized == [t if t is None else one(t) for t in responses]


def one(text):
    return normalize(loaded([text], [[]]), params())["response_normalized"][0].as_py()


def test_the_contract_holds_and_can_be_broken():
    table = normalize(loaded(["A", None], [["A"], ["B"]]), params())
    contract = expect(params())
    wrong = table.set_column(6, "response_normalized", pa.array([None, "b"]))

    good = [
        *validation.check_rows(table, contract.rows),
        *validation.check_counts(contract.counts, {"rows": 2, "rows_load": 2}),
    ]
    bad = [
        *validation.check_rows(wrong, contract.rows),
        *validation.check_counts(contract.counts, {"rows": 2, "rows_load": 3}),
    ]

    assert [each.failed for each in good] == [0, 0, 0, 0, 0, 0]
    assert [each.failed for each in bad] == [0, 0, 0, 1, 1, 1]
    assert contract.same_keys_as == "load"
