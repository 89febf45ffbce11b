"""Estimates by a panel: intervals over rows and jurors, over all rows and in slices, and what the report says of it."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import Candidate, ScoreColumn, Slices
from goldmeter.estimates.panel_estimates import Panel, entry, over_jurors, with_jurors
from goldmeter.estimates.verdict_columns import JURORS, VOTES, Votes
from goldmeter.pipeline.tables import Parts, describe, write_part
from goldmeter.statistics import Method

RIGHT = Votes({"meaning_match": None}, is_majority=True, is_correctness=True)
RATED = Votes({"similarity_judge": None}, is_majority=False, is_correctness=False)
TONE = Votes({"tone": [1.0, 0.0], "tone_kind": [1.0, 0.0], "tone_rude": [0.0, 1.0]}, True, False)
N = 40
# A strict, a fair and a lenient juror; the last row is blank and has no votes.
BINARY = np.array([[i % 4 == 0, i % 2 == 0, i % 4 < 3] for i in range(N - 1)], float).tolist()
NUMBERS = np.array([[1.0, 3.0, 5.0 - i % 2] for i in range(N - 1)]).tolist()
LABELS = (1.0 - np.array(BINARY)).tolist()


def judge_table(folder: Path, **votes: Votes) -> Parts:
    columns = {"meaning_match": BINARY, "similarity_judge": NUMBERS, "tone": LABELS}
    table = pa.table(
        {"id": [f"q{i}" for i in range(N)]}
        | {f"{name}_votes": pa.array([*columns[name], None], pa.list_(pa.float64())) for name in votes}
    )
    facts = {JURORS: ["a", "b", "c"], VOTES: {name: one.to_json() for name, one in votes.items()}}
    folder.mkdir()
    write_part(describe(table, facts if votes else {}), folder, 0)
    return Parts(folder)


def column(name: str, values: list[float], bounds: tuple[float, float], threshold: float | None = None) -> ScoreColumn:
    facts = ColumnFacts(name, "judge", name, bounds, threshold=threshold, rate_signature=f"{name}|pass:>0.5")
    scores = np.array(values)
    passed = scores > 0.5 if threshold is None else scores >= threshold
    return ScoreColumn(name, scores, np.zeros(N, np.bool_), passed, None, facts)


def one(*columns: ScoreColumn) -> Candidate:
    label = column("label", [float(i % 2 == 0) for i in range(N)], (0.0, 1.0))
    slices = {"topic": Slices(["x", "y"], np.arange(N) // 20)}
    return Candidate("a", np.arange(N, dtype=np.uint64), np.arange(N), [label, *columns], None, slices)


def row(name: str, bounds: tuple[float, float], threshold: float | None = None, **where: str) -> dict:
    width = bounds[1] - bounds[0]
    value, low, high = (bounds[0] + width * share for share in (0.5, 0.45, 0.55))
    passes = {"pass_value": 0.5, "pass_low": 0.4, "pass_high": 0.6, "threshold": threshold}
    limits = {"low": low, "high": high, "lower_bound": bounds[0], "upper_bound": bounds[1]}
    facts = {"candidate": "a", "metric": name, "slice": None, "n": N, "method": Method("rows")}
    return {**facts, "value": value, **limits, **passes, **where}


def test_intervals_take_in_jurors_over_all_rows_and_in_slices(tmp_path: Path) -> None:
    majority = [float(np.mean(votes) > 0.5) for votes in BINARY] + [0.0]
    candidate = one(
        column("meaning_match", majority, (0.0, 1.0)),
        column("similarity_judge", [3.0] * N, (1.0, 5.0), 3.0),
        column("tone", majority, (0.0, 1.0)),
        column("tone_kind", majority, (0.0, 1.0)),
        column("tone_rude", majority, (0.0, 1.0)),
        column("f1", majority, (0.0, 1.0)),
    )
    rows = [
        row("meaning_match", (0.0, 1.0)),
        row("meaning_match", (0.0, 1.0), slice="topic", slice_value="y"),
        row("similarity_judge", (1.0, 5.0), 3.0),
        row("tone", (0.0, 1.0)),
        row("tone_rude", (0.0, 1.0)),
        row("f1", (0.0, 1.0)),
    ]

    judge = judge_table(tmp_path / "judge", meaning_match=RIGHT, similarity_judge=RATED, tone=TONE)
    found, stated = over_jurors(rows, judge, lambda: [candidate], 0.95)

    for before, after in zip(rows[:-1], found[:-1], strict=True):
        assert after["method"] == Method("rows+jurors")
        assert before["lower_bound"] <= after["low"] < before["low"]
        assert before["high"] < after["high"] <= before["upper_bound"]
    assert found[0]["pass_low"] < 0.4
    assert found[3]["low"] == pytest.approx(found[0]["low"])  # the label of a vote is that of the same juror
    assert found[-1] == rows[-1]
    votes = stated["panel"]["candidates"]["a"]["meaning_match"]
    assert (votes["n"], votes["ties"]) == (39, 0)
    assert votes["not_unanimous"] == pytest.approx(20 / 39)
    assert (votes["low_of_rows"], votes["high_of_rows"]) == (0.45, 0.55)
    assert [juror["accuracy"]["value"] for juror in votes["jurors"]] == pytest.approx([29 / 39, 1.0, 29 / 39])
    assert [juror["mean"] for juror in votes["jurors"]] == pytest.approx([10 / 39, 20 / 39, 30 / 39])
    rated = stated["panel"]["candidates"]["a"]["similarity_judge"]
    assert rated["not_unanimous"] == 1.0
    assert rated["pair"]["value"] == pytest.approx(1 / 3)  # of 1, 3 and 5 or 4 two pass
    assert rated["jurors"][0]["accuracy"] is None


def test_without_a_panel_nothing_changes(tmp_path: Path) -> None:
    rows = [row("meaning_match", (0.0, 1.0))]

    assert over_jurors(rows, judge_table(tmp_path / "judge"), list, 0.95) == (rows, {})


def test_one_juror_with_votes_says_nothing_of_others() -> None:
    votes = np.full((N, 3), np.nan)
    votes[:, 1] = 1.0
    panel = Panel(["a", "b", "c"], {"meaning_match": RIGHT}, {"meaning_match": votes})
    candidate = one(column("meaning_match", [1.0] * N, (0.0, 1.0)))

    [found] = with_jurors([row("meaning_match", (0.0, 1.0))], panel, [candidate], 0.95)
    assert str(found["method"]) == "rows; one juror voted"
    assert found["low"] == 0.45
    jurors = entry(panel, [row("meaning_match", (0.0, 1.0))], [candidate], 0.95)["candidates"]["a"]["meaning_match"]
    assert [(juror["votes"], juror["missing"]) for juror in jurors["jurors"]] == [(0, N), (N, 0), (0, N)]
    assert jurors["pair"] is None
