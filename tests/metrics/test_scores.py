"""Several metrics in one call: the numbers of separate calls, texts tokenised and embedded once, any kind of column."""

import json
from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import ParamsError
from goldmeter.metrics import frame, score, scores
from goldmeter.metrics.base import NO_RESPONSE
from goldmeter.metrics.catalogue import configure, names
from goldmeter.text import tokens
from goldmeter.text.columns import list_column, text_column

RESPONSES = ["It is Paris.", "London", None, " "]
REFERENCES = ["Paris", ["Rome", "Oslo"], "Bonn", "Bern"]
INPUTS = ["Capital of France?", "Capital of Norway?", "Capital?", "Capital?"]
COLUMNS = {
    "list": list,
    "tuple": tuple,
    "NumPy array": lambda texts: np.array(texts, object),
    "pandas Series": lambda texts: pd.Series(texts, index=[9, 8, 7, 6]),
    "pandas objects": lambda texts: pd.Series(texts, dtype=object),
    "categories": lambda texts: pd.Series(texts).astype("category"),
    "Arrow array": pa.array,
    "Arrow chunks": lambda texts: pa.chunked_array([texts[:1], texts[1:]], pa.large_string()),
    "Arrow dictionary": lambda texts: pa.array(texts).dictionary_encode(),
}  # fmt: skip


def test_each_column_is_what_the_metric_alone_gives() -> None:
    lexical = {name: {} for name in names("lexical")}

    together = scores(lexical, RESPONSES, REFERENCES)

    for name in lexical:
        column = configure("lexical", name, {}).column
        np.testing.assert_array_equal(together[column], score(name, RESPONSES, REFERENCES))
    assert {"rouge_precision", "rouge_recall", "rouge_f1_score"} <= set(together.columns)
    assert together.index.tolist() == [0, 1, 2, 3]


def test_families_are_mixed() -> None:
    mixed = {
        "bleu": {"profile": "azure"},
        "similarity": {"with_query": True},
        "meaning_match": {},
        "offline_match": None,
    }

    together = scores(mixed, RESPONSES, REFERENCES, inputs=INPUTS)

    assert together.columns.tolist() == ["bleu", "similarity", "meaning_match", "in_domain", "offline_match"]
    for name, options in mixed.items():
        alone = score(name, RESPONSES, REFERENCES, inputs=INPUTS, **(options or {}))
        np.testing.assert_allclose(together[name], alone, atol=2e-6)
    assert together["meaning_match"].tolist()[:2] == [1.0, 0.0]
    assert together["offline_match"].between(0, 1).tolist() == [True, True, False, True]


def test_texts_are_tokenised_and_embedded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    embedded, split = [], []
    monkeypatch.setattr(frame, "_embed", lambda: lambda texts: embedded.append(texts) or np.eye(len(texts)))
    monkeypatch.setattr(
        "goldmeter.metrics.pairs.tokens", lambda *args, **kw: split.append(args) or tokens.tokens(*args, **kw)
    )

    scores(["bleu", "gleu", "meteor", "semantic_similarity", "reference_match"], ["a b", "c"], ["a b", "d"])

    assert [sorted(texts) for texts in embedded] == [["a b", "c", "d"]]
    assert len(split) == 1


def test_details_explain_the_scores() -> None:
    explained = scores(["f1", "meaning_match"], RESPONSES, REFERENCES, ids=["a", "b", "c", "d"], details=True)

    assert explained.columns.tolist() == [
        *("f1", "f1_result", "f1_details"),
        *("meaning_match", "meaning_match_result", "meaning_match_reason", "in_domain"),
    ]
    assert explained.index.name == "id"
    assert explained.loc["c", "f1_result"] == "unmeasured"
    assert json.loads(explained.loc["c", "f1_details"]) == {"unmeasured": NO_RESPONSE}
    assert "Paris" in explained.loc["a", "meaning_match_reason"]


def test_rows_that_a_metric_does_not_apply_to_are_told_from_failures() -> None:
    responses, references = ["It is 4.", "Oslo", None, "x"], ["4", "Oslo", "5", []]

    told = scores(["number", "meaning_match", "bleu"], responses, references)

    assert told["number_not_asked"].tolist() == [False, True, False, True]
    assert told["meaning_match_not_asked"].tolist() == [False, False, False, True]
    assert told["number"].isna().tolist() == [False, True, True, True]
    assert "number_not_asked" not in scores(["number"], responses[:1], references[:1])


@pytest.mark.parametrize("kind", [pa.list_, pa.large_list, pa.list_view, lambda of: pa.list_(of, 1)])
@pytest.mark.parametrize("chunked", [False, True])
def test_references_may_be_any_lists_of_arrow(kind: Callable[..., pa.DataType], chunked: bool) -> None:
    lists = pa.array([["a"], ["b"]], kind(pa.string()))

    assert score("f1", ["a", "a"], pa.chunked_array([lists]) if chunked else lists).tolist() == [1.0, 0.0]


def test_ids_may_be_tuples() -> None:
    assert scores(["f1"], ["a"], ["a"], ids=[("a", 0)]).index.tolist() == [("a", 0)]


@pytest.mark.parametrize("kind", COLUMNS)
def test_any_kind_of_column_is_taken(kind: str) -> None:
    column = COLUMNS[kind]

    taken = scores(["exact_match"], column(["a", None, "c", "d"]), column(["a", "b", "x", "d"]))

    assert taken["exact_match"].fillna(-1).tolist() == [1.0, -1.0, 0.0, 1.0]


@pytest.mark.parametrize("missing", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT])
def test_what_is_missing_is_no_response_and_no_reference(missing: object) -> None:
    assert np.isnan(score("f1", ["a", missing], ["a", "a"])).tolist() == [False, True]
    with pytest.raises(ValueError, match="references, row 1: a reference is a string; found "):
        score("f1", ["a", "a"], ["a", missing])


@pytest.mark.parametrize("wrong", [42, 4.5, True, b"a", ["a"], {"a": 1}, np.int64(3)])
def test_what_is_no_text_is_named_by_its_row(wrong: object) -> None:
    with pytest.raises(TypeError, match=r"responses, row 1: expected text, found .*; str.. makes a text"):
        scores(["f1"], ["a", wrong], ["a", "a"])
    with pytest.raises(TypeError, match="references, row 2: expected text, found "):
        scores(["f1"], ["a"] * 3, ["a", ["b", "c"], ["d", wrong]])


@pytest.mark.parametrize(
    ("responses", "message"),
    [
        ("Paris", "responses: expected a list with one entry per row, not one string"),
        (np.array("Paris"), "responses: expected a list with one entry per row, not one string"),
        ({"Paris"}, "not set"),
        ({0: "Paris"}, "not dict"),
        (pd.DataFrame({"a": ["Paris"]}), "not DataFrame"),
        (pa.table({"a": ["Paris"]}), "not Table"),
        (7, "not int"),
        (pa.array([1]), "expected an Arrow array of strings, not of int64"),
    ],
)
def test_what_is_no_column_is_refused(responses: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        scores(["f1"], responses, ["Paris"])


def test_wrong_calls_say_what_is_wrong() -> None:
    with pytest.raises(TypeError, match=r"metrics: expected \{'f1': \{\}\} or a list of names"):
        scores("f1", ["a"], ["a"])
    with pytest.raises(ParamsError, match="unknown metric 'blue'"):
        scores({"blue": {}}, ["a"], ["a"])
    with pytest.raises(ParamsError, match="offline_match: unknown option 'x'"):
        scores({"offline_match": {"x": 1}}, ["a"], ["a"])
    with pytest.raises(ValueError, match="1 responses, but 2 ids"):
        scores(["f1"], ["a"], ["a"], ids=[1, 2])
    with pytest.raises(ValueError, match="1 responses, but 2 inputs"):
        scores(["f1"], ["a"], ["a"], inputs=["?", "?"])


def test_no_rows_are_a_table_without_rows() -> None:
    assert scores(["f1", "bleu"], [], []).shape == (0, 2)


@given(texts=st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]))))
def test_a_column_of_texts_is_kept_as_it_is(texts: list[str | None]) -> None:
    assert text_column("responses", texts).to_pylist() == texts
    assert text_column("responses", pd.Series(texts, dtype=object)).to_pylist() == texts


@given(lists=st.lists(st.none() | st.lists(st.text(st.characters(exclude_categories=["Cs"])))))
def test_a_column_of_lists_is_kept_as_it_is(lists: list[list[str] | None]) -> None:
    assert list_column("phrases", lists, missing=True).to_pylist() == lists
    assert list_column("phrases", pa.array(lists, pa.list_(pa.string())), missing=True).to_pylist() == lists


def test_the_four_comparison_modes_of_accuracy_in_one_call() -> None:
    modes = {
        "accuracy": {},
        "accuracy_case": {"metric": "accuracy", "case_sensitive": True},
        "accuracy_raw": {"metric": "accuracy", "normalize_text": False},
        "accuracy_raw_case": {"metric": "accuracy", "normalize_text": False, "case_sensitive": True},
    }

    found = scores(modes, ["Paris!", "London"], ["paris", "London"])

    assert found.mean().to_dict() == {
        "accuracy": 1.0, "accuracy_case": 0.5, "accuracy_raw": 0.5, "accuracy_raw_case": 0.5,
    }  # fmt: skip


def test_a_name_of_the_users_for_a_metric_of_another_family() -> None:
    found = scores({"close": {"metric": "semantic_similarity", "scale": "half"}}, RESPONSES, REFERENCES)

    assert found["close"].tolist() == pytest.approx(
        score("semantic_similarity", RESPONSES, REFERENCES, scale="half").tolist(), nan_ok=True
    )
    with pytest.raises(ParamsError, match=r"^rouge_recall: rouge has the column rouge_recall too"):
        scores({"rouge": {}, "rouge_recall": {"metric": "f1"}}, RESPONSES, REFERENCES)
