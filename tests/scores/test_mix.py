"""Shares of slices in real traffic: what params.yaml may say, and that parts change no number."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tasks.aggregate import Aggregate, Params, aggregate
from tests.test_aggregate import PARAMS, lexical, rows, stored

COUNTS = st.dictionaries(st.text(min_size=1), st.integers(1, 1000), min_size=1, max_size=20)


def settings(mix: Any) -> Aggregate:
    return Aggregate.model_validate({**PARAMS.aggregate.model_dump(), "mix": mix})


@given(COUNTS)
def test_shares_of_counts_are_accepted_and_add_up_to_one(counts: dict[str, int]) -> None:
    total = sum(counts.values())
    mix = settings({"topic": {name: count / total for name, count in counts.items()}}).chosen_mix

    assert mix is not None
    assert sum(mix.shares.values()) == pytest.approx(1.0, abs=1e-12)
    assert [*mix.shares] == [*counts]


@pytest.mark.parametrize(
    ("mix", "reason"),
    [
        ({"topic": {"a": 0.5, "b": 0.4}}, "the shares of topic add up to 0.9; expected 1"),
        ({"topic": {}}, "add up to 0"),
        ({"topic": {"a": 1.5, "b": -0.5}}, "greater than 0"),
        ({"topic": {"a": float("nan")}}, "finite number"),
        ({"topic": {"a": 1.0}, "language": {"en": 1.0}}, "one slice column, found topic, language"),
        ({"topic": "a"}, "valid dictionary"),
        ("topic", "valid dictionary"),
    ],
)
def test_what_is_no_mix_is_refused(mix: Any, reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        settings(mix)


def test_values_that_yaml_reads_as_numbers_are_text_as_in_slices() -> None:
    mix = settings({"year": {2024: 0.5, True: 0.5}}).chosen_mix

    assert mix is not None
    assert mix.shares == {"2024": 0.5, "true": 0.5}


def test_parts_change_no_number_by_the_mix(tmp_path: Path) -> None:
    groups = [f"g{i // 3}" for i in range(90)]
    load, scores = rows([i % 7 > 0 for i in range(90)], groups), lexical(["x", "y", "x"] * 30, ["x"] * 90)
    aggregated = settings({"topic": {"even": 0.2, "odd": 0.8}})
    params: Params = PARAMS.model_copy(update={"aggregate": aggregated})

    def document(name: str, *cuts: int) -> dict[str, Any]:
        ends = [0, *cuts, 90]
        pieces = [slice(start, end) for start, end in pairwise(ends)]
        empty = pa.table({"id": pa.array([], pa.string()), "reason": pa.array([], pa.string())})
        unscored = load.select(["id", "candidate"]).replace_schema_metadata()
        tables = {"load": load, "lexical": scores, "embed": unscored, "semantic": unscored, "judge": unscored}
        (tmp_path / name).mkdir()
        parts = {
            kind: stored(tmp_path / name / kind, *(table[piece] for piece in pieces)) for kind, table in tables.items()
        }
        parts["load_rejected"] = stored(tmp_path / name / "load_rejected", empty)
        [made] = aggregate(parts, params)
        found: dict[str, Any] = json.loads(made["reports/metrics.json"])
        return found

    whole = document("whole")

    assert whole["candidates"]["a"]["exact_match"]["weighted"]["n_eff"] is not None
    assert document("parts", 1, 20, 64) == whole
