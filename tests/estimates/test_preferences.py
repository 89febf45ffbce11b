"""Preferences in reports/metrics.json: win rates, position bias, ranks and targets, whatever the parts."""

from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from goldmeter.errors import ParamsError
from goldmeter.estimates.preferences import entry, win_rates
from goldmeter.estimates.primary import decided
from goldmeter.judging.preference import SCHEMA
from goldmeter.pipeline.tables import Parts, describe, write_part
from goldmeter.pipeline.workers import Crew
from goldmeter.statistics.bradley_terry import PairSums, strengths, win_rate

FACTS = {"signature": "preference|provider:openai|model:m|v:1", "prompt": "prompts/preference.txt"}


def verdicts(
    key: str, a: str, b: str, first: str | None, second: str | None, status: str = "answered"
) -> dict[str, Any]:
    """A row of data/preference; first, second: the verdicts with a and with b shown first."""
    row = {"id": key, "candidate_a": a, "candidate_b": b, "preference_status": status}
    row |= {"verdict_a_first": first, "verdict_b_first": second}
    if status == "identical":
        return row | {"verdict": "tie"}
    return row | {"verdict": None if status != "answered" else first if first == second else "tie"}


def stored(folder: Path, rows: list[dict[str, Any]], parts: int = 1, **load: Any) -> tuple[Parts, Parts]:
    """data/load and data/preference; load: id → group or question."""
    ids = sorted({row["id"] for row in rows})
    for name in ("load", "preference"):
        (folder / name).mkdir(parents=True)
    for number in range(parts):
        own = ids[number::parts]
        columns: dict[str, Any] = {"id": own, "group": pa.nulls(len(own), pa.string())}
        columns |= {name: pa.array([values.get(key) for key in own], pa.string()) for name, values in load.items()}
        write_part(pa.table(columns), folder / "load", number)
        table = pa.Table.from_pylist([row for row in rows if row["id"] in own], SCHEMA)
        write_part(describe(table, FACTS), folder / "preference", number)
    return Parts(folder / "load"), Parts(folder / "preference")


def of(folder: Path, rows: list[dict[str, Any]], parts: int = 1, **load: Any) -> Any:
    return entry(*stored(folder, rows, parts, **load), 0.95, Crew())


PAIR = [
    *(verdicts(f"w{i}", "x", "y", "b", "b") for i in range(12)),
    *(verdicts(f"l{i}", "x", "y", "a", "a") for i in range(4)),
    *(verdicts(f"f{i}", "x", "y", "a", "b") for i in range(3)),  # the answer shown first wins
    verdicts("t", "x", "y", "tie", "tie"),
    verdicts("i", "x", "y", None, None, "identical"),
    verdicts("n", "x", "y", None, None, "no response"),
    verdicts("e", "x", "y", "a", None, "failed"),
]


def test_a_pair_has_its_counts_its_win_rate_and_what_is_missing(tmp_path: Path) -> None:
    found = of(tmp_path, PAIR)

    [pair] = found["pairs"]
    assert {name: pair[name] for name in ("n", "wins", "ties", "losses", "identical", "asked", "flips")} == {
        "n": 21, "wins": 12, "ties": 5, "losses": 4, "identical": 1, "asked": 20, "flips": 3
    }  # fmt: skip
    expected = win_rate(12, 5, 4)
    rate = pair["win_rate"]
    assert (rate["value"], rate["low"], rate["high"]) == (expected.value, expected.low, expected.high)
    assert (rate["method"], pair["p_value"]) == ("bonett-price+midp", expected.p_value)
    assert pair["unmeasured"] == {"failed": 1, "no response": 1}
    assert "ranks" not in found
    assert "not_ranked" not in found


def test_position_bias_is_the_share_of_flips_and_of_points_for_the_answer_shown_first(tmp_path: Path) -> None:
    position = of(tmp_path, PAIR)["position"]

    assert position["n"] == 20
    assert position["flips"]["value"] == 3 / 20
    assert position["first"]["value"] == (3 * 1.0 + 17 * 0.5) / 20
    assert position["first"]["low"] < 0.5 < position["first"]["high"]
    biased = of(tmp_path / "biased", [verdicts(str(i), "x", "y", "a", "b") for i in range(20)])["position"]
    assert biased["first"]["low"] > 0.5
    assert biased["flips"]["value"] == 1.0


TRIPLES = [
    verdicts(f"q{i}", a, b, said, said)
    for i in range(24)
    for a, b, said in (("x", "y", "ab"[i % 3 > 0]), ("x", "z", "b"), ("y", "z", "ab"[i % 4 > 0]))
]


def test_three_candidates_have_ranks_by_the_sandwich_over_questions(tmp_path: Path) -> None:
    found = of(tmp_path, TRIPLES)

    points = [[float(i % 3 > 0), 1.0, float(i % 4 > 0)] for i in range(24)]
    expected = strengths(3, [*combinations(range(3), 2)], PairSums.of(points))
    assert [one["candidate"] for one in found["ranks"]] == ["z", "y", "x"]
    for one in found["ranks"]:
        same = expected["xyz".index(one["candidate"])]
        assert (one["rank"], one["best"], one["worst"], one["n"]) == (same.rank, same.best, same.worst, 48)
        assert one["strength"]["value"] == pytest.approx(same.estimate.value)
    assert (found["ranks"][0]["best"], found["ranks"][0]["worst"]) == (1, 1)


@pytest.mark.parametrize("name", ["group", "question"])
def test_groups_and_repeated_answers_are_clusters_also_across_parts(tmp_path: Path, name: str) -> None:
    groups = {f"q{i}": f"g{i // 3}" for i in range(24)}

    found = of(tmp_path / "one", TRIPLES, **{name: groups})

    alone = of(tmp_path / "alone", TRIPLES)
    assert found["pairs"][0]["win_rate"]["method"] == "clustered"
    assert found["pairs"][0]["win_rate"]["value"] == alone["pairs"][0]["win_rate"]["value"]
    assert found["pairs"][0]["win_rate"] != alone["pairs"][0]["win_rate"]
    assert of(tmp_path / "five", TRIPLES, 5, **{name: groups}) == found
    assert of(tmp_path / "turned", TRIPLES[::-1], 2, **{name: groups}) == found


def test_one_group_has_no_interval(tmp_path: Path) -> None:
    found = of(tmp_path, TRIPLES, group=dict.fromkeys((f"q{i}" for i in range(24)), "g"))

    assert (found["pairs"][0]["win_rate"]["low"], found["pairs"][0]["win_rate"]["high"]) == (0.0, 1.0)
    assert found["position"]["first"]["method"] == "one cluster: no interval"
    assert {(one["best"], one["worst"]) for one in found["ranks"]} == {(1, 3)}


def test_candidates_that_comparisons_do_not_connect_are_not_ranked(tmp_path: Path) -> None:
    rows = [verdicts("q1", "u", "v", "a", "a"), verdicts("q1", "x", "y", "a", "a")]

    found = of(tmp_path, rows)

    assert found["not_ranked"] == "comparisons do not connect all candidates: u, v | x, y"
    assert "ranks" not in found


def test_nothing_measured_and_nothing_asked_for(tmp_path: Path) -> None:
    found = of(tmp_path / "unmeasured", [verdicts("q1", "x", "y", None, None, "no response")])

    assert found["pairs"][0]["win_rate"]["value"] is None
    assert "position" not in found
    load, table = stored(tmp_path / "off", [])
    write_part(SCHEMA.empty_table(), tmp_path / "off/preference", 0)
    assert entry(load, Parts(table.folder), 0.95, Crew()) is None


def test_a_target_of_a_win_rate_is_one_of_those_compared_with_the_named_one(tmp_path: Path) -> None:
    rates = win_rates(of(tmp_path, PAIR))

    assert rates["y"]["preferred_over.x"]["value"] == pytest.approx(14.5 / 21)
    assert rates["x"]["preferred_over.y"]["high"] == pytest.approx(1.0 - rates["y"]["preferred_over.x"]["low"])
    found = decided({"preferred_over.x": 0.5, "f1": 0.5}, {**rates, "z": {"f1": {"value": 1, "low": 0.9, "high": 1}}})
    assert found["y"]["preferred_over.x"] == {"target": 0.5, "verdict": "met"}
    assert "preferred_over.x" not in found["x"]
    assert "preferred_over.x" not in found["z"]
    assert found["x"]["f1"]["verdict"] == "undecided"
    with pytest.raises(ParamsError, match=r"report\.targets\.preferred_over\.w: unknown measure"):
        decided({"preferred_over.w": 0.5}, rates)
