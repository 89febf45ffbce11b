"""The offline judge's table by column against the same row by row."""

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.estimates.column_facts import ColumnFacts, statement
from goldmeter.judging.cascade import offline_table
from goldmeter.judging.rows import schema_of
from goldmeter.judging.sampling import sampled
from goldmeter.judging.settings import Judge, default_metric
from goldmeter.judging.statuses import STATUSES, statuses
from goldmeter.metrics.base import (
    DISABLED,
    EMPTY_RESPONSE,
    FILTERED,
    NO_REFERENCE,
    NO_RESPONSE,
    NOT_SAMPLED,
)
from goldmeter.models import offline
from goldmeter.pipeline.tables import describe
from tests.hostile_texts import TEXTS
from tests.test_judge import params

CELL = st.sampled_from(
    [None, "", " \n", "\x1c\u2028", "\x85", "\u200b", "Paris", "It is Paris, I think.", "5", "Это", "NYC", "\x00"]
    + [text[:60] for text in TEXTS]
)
LIST = st.lists(CELL.filter(lambda text: text is not None), max_size=3)
TEXTS_OF_ROW = ("input", "response", "response_normalized")
SCHEMA = schema_of(map(default_metric, ["meaning_match", "similarity_judge"]))
LISTS = ("references", "references_normalized", "phrases")
ROW = st.fixed_dictionaries({**dict.fromkeys(TEXTS_OF_ROW, CELL), **dict.fromkeys(LISTS, LIST)})
COLUMNS = (*TEXTS_OF_ROW, *LISTS[:2])
OPTIONS = st.fixed_dictionaries(
    {
        "provider": st.sampled_from(["offline", "offline", "none"]),
        "sampling_rate": st.sampled_from([0.0, 0.5, 1.0]),
        "filters": st.sampled_from(
            [
                [],
                [{"field": "references", "operator": "contains", "value": "a"}],
                [
                    {"field": "response", "operator": "is_not_empty", "value": None},
                    {"field": "id", "operator": ">", "value": 1},
                ],
            ]
        ),
        "variables": st.fixed_dictionaries(
            {name: st.sampled_from(COLUMNS) for name in ("input", "ground_truth", "output")}
        ),
    }
)
TEXT_LISTS = pa.list_(pa.string())
LABELLED = statement({"label": ColumnFacts(metric="label", family="dataset", signature="label|v:1", bounds=(0.0, 1.0))})


def part(rows: list[dict[str, Any]], *, labelled: bool = True) -> pa.Table:
    keys = {"id": [str(i) for i in range(len(rows))], "candidate": ["a"] * len(rows)}
    columns = keys | {name: [row[name] for row in rows] for name in (*TEXTS_OF_ROW, *LISTS)}
    schema = pa.schema({name: TEXT_LISTS if name in LISTS else pa.string() for name in columns})
    return describe(pa.table(columns, schema), LABELLED if labelled else {})


def listed(cell: Any) -> list[str]:
    return [text for text in (cell if isinstance(cell, list) else [cell]) if text and text.strip()]


def joined(cell: Any) -> str | None:
    return " ".join(cell) if isinstance(cell, list) else cell


def status(row: dict[str, Any], options: Judge, *, is_sampled: bool) -> str:
    if options.provider == "none":
        return DISABLED
    if not all(condition.holds(row) for condition in options.filters):
        return FILTERED
    if not is_sampled:
        return NOT_SAMPLED
    if row[options.variables.output] is None:
        return NO_RESPONSE
    if not listed(row[options.variables.ground_truth]):
        return NO_REFERENCE
    return "answered" if listed(row[options.variables.output]) else EMPTY_RESPONSE


def row_of(row: dict[str, Any], options: Judge) -> dict[str, Any]:
    """The row of the table, from the row of data/normalize."""
    [is_sampled] = sampled([row["id"]], options.seed, options.sampling_rate)
    said, names = status(row, options, is_sampled=is_sampled), options.variables
    judged = offline.judge([joined(row[names.input])], [listed(row[names.ground_truth])], [joined(row[names.output])])
    probability, reason, outside = judged.probabilities[0], judged.reasons[0], judged.outside[0]
    score = {"answered": float(probability >= offline.RIGHT), EMPTY_RESPONSE: 0.0}.get(said)
    outside = outside if options.provider == "offline" else None
    return {
        "id": row["id"],
        "candidate": row["candidate"],
        "meaning_match": score,
        "meaning_match_result": {None: "unmeasured", 0.0: "fail", 1.0: "pass"}[score],
        "meaning_match_probability": {"answered": float(probability), EMPTY_RESPONSE: 0.0}.get(said),
        "meaning_match_reason": reason if said == "answered" else None,
        "similarity_judge": None,
        "similarity_judge_result": "unmeasured",
        "offline_match": None if np.isnan(probability) else float(probability),
        "judge_status": said,
        "judge_reason": {"answered": None, DISABLED: "judge disabled"}.get(said, said),
        "judge_sampled": is_sampled and options.provider != "none",
        "judge_draws": int(said == "answered"),
        "judge_agree": None,
        "in_domain": outside is None,
        "domain_reason": outside,
    }


@given(st.lists(ROW, max_size=6), OPTIONS)
def test_the_table_by_column_is_the_table_by_row(rows: list[dict[str, Any]], chosen: dict[str, Any]) -> None:
    options, table = params(**chosen).judge, part(rows)

    built = offline_table(table, options)

    assert built.schema.equals(SCHEMA)
    assert built.to_pylist() == [row_of(row, options) for row in table.to_pylist()]
    assert offline_table(table.slice(1), options).equals(built.slice(1))


@given(st.lists(ROW, max_size=6), OPTIONS)
def test_a_server_is_asked_about_the_rows_that_the_offline_judge_would_answer(
    rows: list[dict[str, Any]], chosen: dict[str, Any]
) -> None:
    server, alone = (params(**{**chosen, "provider": provider}).judge for provider in ("openai", "offline"))
    table = part(rows)

    assert [STATUSES[k] for k in statuses(table, server)] == offline_table(table, alone)["judge_status"].to_pylist()


def test_without_judge_and_labels_nothing_is_judged(monkeypatch: Any) -> None:
    rows = [{name: ["Paris"] if name in LISTS else "Paris" for name in (*TEXTS_OF_ROW, *LISTS)}]
    disabled = params(provider="none").judge
    assert offline_table(part(rows), disabled)["offline_match"].null_count == 0

    monkeypatch.setattr(offline, "judge_columns", None)
    table = offline_table(part(rows, labelled=False), disabled)

    assert table["offline_match"].to_pylist() == [None]
    assert table.drop_columns("offline_match").equals(
        pa.Table.from_pylist([row_of(part(rows).to_pylist()[0], disabled)], SCHEMA).drop_columns("offline_match")
    )
