"""Metrics of retrieval by hand and against a plain implementation; what they are not asked about."""

import math
from itertools import count

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.metrics import scores
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.pairs import Pairs

RETRIEVAL = ["context_precision", "context_recall", "context_ndcg", "context_mrr"]
# Hits at the ranks 2 and 4, and at 1, 2 and 3, discounted.
LATE, IDEAL = 1 / math.log2(3) + 1 / math.log2(5), 1 + 1 / math.log2(3) + 1 / 2
IDS = st.lists(st.sampled_from("abcdef"), max_size=6)


def of(contexts: list[str] | None, relevant: list[str] | None, **options: object) -> dict[str, float]:
    metrics = {name: dict(options) for name in RETRIEVAL}
    frame = scores(metrics, ["x"], ["x"], contexts=[contexts], relevant=[relevant])
    return {name: frame[name].tolist()[0] for name in RETRIEVAL}


@pytest.mark.parametrize(
    ("contexts", "relevant", "options", "expected"),
    [
        (["a", "b", "c", "d"], ["b", "d", "e"], {}, [0.5, 2 / 3, LATE / IDEAL, 0.5]),
        (["a", "b", "c", "d"], ["b", "d", "e"], {"k": 2}, [0.5, 1 / 3, 1 / (1 + math.log2(3)), 0.5]),
        (["a"], ["a"], {"k": 5}, [1.0, 1.0, 1.0, 1.0]),
        (["a", "a", "b"], ["b"], {}, [0.5, 1.0, 1 / math.log2(3), 0.5]),
        ([], ["a"], {}, [0.0, 0.0, 0.0, 0.0]),
        (["a"], ["A"], {}, [0.0, 0.0, 0.0, 0.0]),
    ],
)  # fmt: skip
def test_by_hand(contexts: list[str], relevant: list[str], options: dict[str, int], expected: list[float]) -> None:
    assert [*of(contexts, relevant, **options).values()] == pytest.approx(expected)


@given(contexts=IDS, relevant=IDS.filter(bool), k=st.none() | st.integers(1, 8))
def test_a_plain_implementation_gives_the_same(contexts: list[str], relevant: list[str], k: int | None) -> None:
    seen: list[str] = []
    for context in contexts:
        if context not in seen:
            seen.append(context)
    seen = seen[:k] if k else seen
    gains = [1 if context in relevant else 0 for context in seen]
    best = sorted([1] * len(set(relevant)), reverse=True)[:k] if k else [1] * len(set(relevant))
    dcg, ideal = (
        sum(gain / math.log2(rank + 1) for gain, rank in zip(side, count(1), strict=False)) for side in (gains, best)
    )

    assert [*of(contexts, relevant, **({"k": k} if k else {})).values()] == pytest.approx(
        [
            sum(gains) / len(gains) if gains else 0.0,
            sum(gains) / len(set(relevant)),
            dcg / ideal,
            max((gain / rank for gain, rank in zip(gains, count(1), strict=False)), default=0.0),
        ]
    )


@pytest.mark.parametrize(("contexts", "relevant"), [(None, ["a"]), (["a"], None), (["a"], []), (None, None)])
def test_rows_without_contexts_or_relevant_ones_are_not_asked(contexts: object, relevant: object) -> None:
    assert all(np.isnan(score) for score in of(contexts, relevant).values())


@pytest.mark.parametrize("name", [*RETRIEVAL, "context_reference_recall"])
def test_without_the_columns_no_row_is_asked(name: str) -> None:
    metric, pairs = configure("lexical", name, {}), Pairs.of(["x"], ["x"])

    assert not metric.applies(pairs).any()
    assert np.isnan(metric.score(metric.row_stats(pairs))).all()


@pytest.mark.parametrize("response", [None, " ", "x"])
def test_the_response_does_not_matter(response: str | None) -> None:
    names = [*RETRIEVAL, "context_reference_recall"]
    frame = scores(names, [response], ["Oslo"], contexts=[["Oslo", "Bergen"]], relevant=[["Oslo"]])

    assert frame.loc[0].tolist() == [0.5, 1.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("contexts", "references", "expected"),
    [
        (["Oslo is the capital.", "Norway lies in Europe."], ["the capital of Norway"], 2 / 3),  # capital, of, norway
        (["Oslo"], ["Bergen", "Oslo"], 1.0),
        (["Oslo"], ["Oslo Oslo"], 0.5),
        ([], ["Oslo"], 0.0),
        (["東京です"], ["東京"], 1.0),
        (None, ["Oslo"], math.nan),
        (["Oslo"], [], math.nan),
    ],
)
def test_the_words_of_the_reference_in_the_contexts(contexts: object, references: list[str], expected: float) -> None:
    frame = scores(["context_reference_recall"], ["x"], [references], contexts=[contexts])

    assert frame["context_reference_recall"].tolist() == pytest.approx([expected], nan_ok=True)


def test_contexts_may_be_an_arrow_column() -> None:
    lists = pa.array([["a"], None], pa.list_(pa.string()))

    frame = scores(["context_recall"], ["x", "x"], ["x", "x"], contexts=lists, relevant=lists)

    assert frame["context_recall"].tolist() == pytest.approx([1.0, math.nan], nan_ok=True)
