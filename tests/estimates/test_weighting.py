"""Weights of rows and mixes: what params.yaml may say, what can't be combined, and weighted numbers of a run."""

import json
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from goldmeter.errors import ParamsError
from goldmeter.estimates.column_facts import SPLIT_IDS
from goldmeter.estimates.primary import Targets
from goldmeter.estimates.weighting import check_weighting
from goldmeter.pipeline.tables import about, describe
from goldmeter.reporting.metrics_document import Aggregate, aggregate
from tests.test_aggregate import PARAMS, lexical, rows, run, stored

MIX = {"topic": {"a": 1.0}}


@pytest.mark.parametrize("given", [{"mix": MIX}, {"weight": "n"}])
@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"labels": "designed"}, "{}: not possible with dataset.labels: designed"),
        ({"has_draws": True}, "{}: not possible with repeated answers"),
        ({"guarantee": True}, "{}: not possible with aggregate.guarantee"),
        ({"floors": {"label": 0.8}}, "schedule.nightly.floors: not possible with {}"),
    ],
)
def test_what_can_not_be_combined_is_refused_before_a_run(
    given: dict[str, Any], changed: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ParamsError) as refused:
        check_weighting(sections(**given, **changed))

    assert str(refused.value).startswith(reason.format("aggregate.mix" if "mix" in given else "dataset.weight"))


def test_a_mix_of_no_slice_column_and_two_weightings_are_refused() -> None:
    with pytest.raises(ParamsError, match=r"aggregate\.mix\.topic: no column of dataset\.slices; there is: language"):
        check_weighting(sections(mix=MIX, slices=["language"]))
    with pytest.raises(ParamsError, match=r"dataset\.weight: not possible with aggregate\.mix"):
        check_weighting(sections(mix=MIX, weight="n"))
    check_weighting(sections())


def sections(**changed: Any) -> dict[str, Any]:
    options = {
        "slices": ["topic"], "labels": "all", "has_draws": False, "guarantee": False, "floors": {}, "mix": {},
        "weight": None,
    } | changed  # fmt: skip
    dataset = {name: options[name] for name in ("slices", "labels", "has_draws", "weight")}
    return {
        "aggregate": SimpleNamespace(mix=options["mix"], guarantee=options["guarantee"]),
        "dataset": SimpleNamespace(**dataset),
        "schedule": SimpleNamespace(root={"nightly": SimpleNamespace(floors=options["floors"])}),
    }


def weighted_rows(weights: Any, labels: list[bool | None], groups: list[str | None] | None = None) -> pa.Table:
    load = rows(labels, groups)
    facts = about(load.schema) | {"weight": "n", SPLIT_IDS: False}
    return describe(load.append_column("weight", pa.array(weights, pa.float64())), facts)


def document(folder: Path, weights: Any, right: Any, groups: Any = None, **options: Any) -> dict[str, Any]:
    folder.mkdir()
    n = len(weights)
    load = weighted_rows(weights, [None] * n, groups)
    params = PARAMS.model_copy(update=options)
    _, made = run(folder, load, lexical(["x" if one else "y" for one in right], ["x"] * n), params)
    found: dict[str, Any] = json.loads(made["reports/metrics.json"])
    return found


def test_headlines_and_targets_go_by_weights_beside_the_rows_as_they_are(tmp_path: Path) -> None:
    targets = Targets(targets={"exact_match": 0.6})
    found = document(tmp_path / "a", [3.0, 1.0] * 100, [False, True] * 100, report=targets)

    entry, headline = found["candidates"]["a"]["exact_match"], found["headlines"]["a"]
    assert (entry["value"], entry["weighted"]["value"]) == (0.5, 0.25)
    assert entry["weighted"]["n_eff"] == 160.0  # 400²/1000
    assert entry["weighted"]["pass_rate"]["value"] == 0.25
    assert entry["weighted"]["low"] < 0.25 < entry["weighted"]["high"] < 0.36
    assert (headline["value"], headline["plain"]["value"]) == (0.25, 0.5)
    assert "by the weights of dataset.weight (n, worth 160 rows)" in headline["note"]
    assert found["weighting"] == {"option": "dataset.weight", "column": "n"}
    assert found["targets"]["a"]["exact_match"]["verdict"] == "not met"


def test_equal_weights_change_nothing(tmp_path: Path) -> None:
    found = document(tmp_path / "a", [0.1] * 30, [True] * 25 + [False] * 5)["candidates"]["a"]["exact_match"]

    names = ("value", "low", "high")
    assert [found["weighted"][name] for name in names] == [found[name] for name in names]
    assert found["weighted"]["n_eff"] == 30


def test_a_row_of_weight_0_does_not_count(tmp_path: Path) -> None:
    one = document(tmp_path / "a", [1.0, 2.0, 3.0, 0.0] * 10, [True, False, True, False] * 10)
    other = document(tmp_path / "b", [1.0, 2.0, 3.0] * 10, [True, False, True] * 10)

    weighted = [each["candidates"]["a"]["exact_match"]["weighted"] for each in (one, other)]
    assert weighted[0] == weighted[1]
    assert weighted[0]["value"] == pytest.approx(4 / 6, abs=1e-6)


def test_weights_of_0_alone_and_corpus_scores_allow_no_claim(tmp_path: Path) -> None:
    nothing = document(tmp_path / "a", [0.0] * 20, [True] * 20)
    some = document(tmp_path / "b", [1.0, 2.0] * 10, [True] * 20)

    assert nothing["headlines"]["a"]["status"] == "unknown"
    assert "every measured row has weight 0" in nothing["headlines"]["a"]["note"]
    bleu = some["candidates"]["a"]["bleu"]["weighted"]
    assert (bleu["value"], bleu["pass_rate"]["value"]) == (None, 1.0)
    assert "corpus score" in bleu["missing"]


def test_weights_times_a_constant_change_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    weights, right = rng.lognormal(size=50), rng.random(50) < 0.8

    first, *others = [
        document(tmp_path / str(i), weights * factor, right)["candidates"]["a"]["exact_match"]["weighted"]
        for i, factor in enumerate((1.0, 1e-300, 1e300, 3.0))
    ]

    for other in others:
        assert [other[key] for key in ("value", "low", "high")] == pytest.approx(
            [first[key] for key in ("value", "low", "high")], abs=2e-6
        )


@pytest.mark.parametrize("groups", [None, [f"g{i % 20}" for i in range(90)]])
@pytest.mark.parametrize("by", ["weight", "mix"])
def test_parts_change_no_weighted_number(tmp_path: Path, groups: list[str | None] | None, by: str) -> None:
    weights = np.random.default_rng(2).lognormal(sigma=1.5, size=90)
    labels = [i % 7 > 0 for i in range(90)]
    load = weighted_rows(weights, labels, groups) if by == "weight" else rows(labels, groups)
    mix = settings({"topic": {"even": 0.2, "odd": 0.8}} if by == "mix" else {})
    scores = lexical(["x", "y", "x z"] * 30, ["x"] * 90)

    def document(name: str, *cuts: int) -> str:
        pieces = [slice(start, end) for start, end in pairwise([0, *cuts, 90])]
        empty = pa.table({"id": pa.array([], pa.string()), "reason": pa.array([], pa.string())})
        unscored = load.select(["id", "candidate"]).replace_schema_metadata()
        tables = {"load": load, "lexical": scores, "embed": unscored, "semantic": unscored, "judge": unscored}
        (tmp_path / name).mkdir()
        parts = {
            kind: stored(tmp_path / name / kind, *(table[piece] for piece in pieces)) for kind, table in tables.items()
        }
        parts["load_rejected"] = stored(tmp_path / name / "load_rejected", empty)
        [made] = aggregate(parts, PARAMS.model_copy(update={"aggregate": mix}))
        return str(made["reports/metrics.json"])

    whole = document("whole")

    assert json.loads(whole)["candidates"]["a"]["exact_match"]["weighted"]["n_eff"] < (60 if by == "weight" else 90)
    assert document("parts", 1, 20, 64) == whole


def test_grouped_rows_get_a_wider_weighted_interval(tmp_path: Path) -> None:
    weights, right = [1.0, 2.0] * 50, [True] * 60 + [False] * 40
    loose = document(tmp_path / "a", weights, right)["candidates"]["a"]["exact_match"]["weighted"]
    grouped = document(tmp_path / "b", weights, right, [f"g{i // 10}" for i in range(100)])
    wide = grouped["candidates"]["a"]["exact_match"]["weighted"]

    assert (wide["value"], wide["n_eff"]) == (loose["value"], loose["n_eff"])
    assert wide["high"] - wide["low"] > 1.5 * (loose["high"] - loose["low"])


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
