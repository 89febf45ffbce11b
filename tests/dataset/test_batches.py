"""Batches of records: where they are cut is seen in no row, id, draw or message."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goldmeter.errors import DataError
from tasks.load import load, source
from tests.test_load import params

LONG = {"column": "model", "response": "a"}
WIDE = {"m": {"response": "a"}, "n": {"response": "model", "label": "label"}}
JOINED = {"m": {"response": "a", "path": "others.jsonl"}, "n": {"response": "a"}}
LABELS = {"path": "others.jsonl", "id": "id", "response": "a", "label": "label"}
SHAPES: dict[str, dict[str, Any]] = {
    "wide": {"candidates": WIDE},
    "no ids": {"candidates": WIDE, "id": None},
    "long": {"candidates": LONG},
    "draws": {"candidates": LONG, "draw": True},
    "numbered draws": {"candidates": LONG, "draw": "n"},
    "lists": {"candidates": WIDE, "lists": "draws"},
    "limit": {"candidates": LONG, "limit": 3},
    "joined": {"candidates": JOINED},
    "references": {"candidates": WIDE, "references": {"path": "others.jsonl", "id": "id", "column": "ref"}},
    "labels": {"candidates": {"m": {"response": "a"}}, "label_file": LABELS},
}
record = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["1", "2", 3, None]),
        "q": st.sampled_from(["Who?", "Who ?", "Why?", None]),
        "ref": st.sampled_from(["r", ["s", "r"], ["r", "s"], " "]),
        "model": st.sampled_from(["x", "y", "z", "\ud800"]),
        "n": st.sampled_from(["1", "2", "x"]),
        "a": st.sampled_from([None, "a", "A.", ["b", "a"]]),
        "label": st.sampled_from(["yes", "no", None] * 5 + ["perhaps"]),
    }
)


@pytest.mark.parametrize("shape", SHAPES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    questions=st.lists(record, min_size=1, max_size=8),
    others=st.lists(record, max_size=6),
    ends=st.sets(st.integers(1, 7)),
)
def test_batches_cut_anywhere_give_the_same(
    shape: str, tmp_path: Path, questions: list[Any], others: list[Any], ends: set[int]
) -> None:
    usable = {"id": "0", "q": "Who?", "ref": "r", "model": "x", "n": "1", "a": "a", "label": "yes"}
    for name, values in (("questions", questions), ("others", others)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in [*values, usable]))
    given_ = params(path=str(tmp_path), pattern="questions.jsonl", limits={"part_rows": 5}, **SHAPES[shape])

    def outcome() -> Any:
        try:
            parts = [*load(source(given_), given_)]
        except DataError as error:
            return str(error)
        return [(part["load"].schema.metadata, *(table.to_pylist() for table in part.values())) for part in parts]

    whole = outcome()
    with patch("goldmeter.dataset.formats.json_records.blocks", cut_behind(ends)):
        assert outcome() == whole


def cut_behind(ends: set[int]) -> Callable[..., Iterator[list[Any]]]:
    def blocks(items: Iterable[Any], _: Any) -> Iterator[list[Any]]:
        block: list[Any] = []
        for number, item in enumerate(items, 1):
            block.append(item)
            if number in ends:
                yield block
                block = []
        if block:
            yield block

    return blocks
