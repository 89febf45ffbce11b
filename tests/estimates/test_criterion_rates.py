"""How often each criterion is met: sums of parts, and the criteria that are listed."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from goldmeter.dataset.mapping import CRITERIA
from goldmeter.errors import DataError
from goldmeter.estimates import criterion_rates
from goldmeter.estimates.column_facts import ColumnFacts, statement
from goldmeter.estimates.criterion_rates import counted, criteria_entry, criteria_sums, rubrics
from goldmeter.estimates.score_parts import ScoreParts
from goldmeter.estimates.sums import summed
from goldmeter.pipeline.tables import Parts, describe, write_part

# Question → criteria with points; None: not measured.
ROWS: list[tuple[str, str, list[tuple[str, float]], list[float] | None]] = [
    ("1", "a", [("polite", 1), ("names it", 3)], [1.0, 0.0]),
    ("1", "b", [("polite", 1), ("names it", 3)], [0.0, 1.0]),
    ("2", "a", [("rude", -1), ("polite", 2)], [1.0, 1.0]),
    ("2", "b", [("rude", -1), ("polite", 2)], None),
    ("3", "a", [("polite", 1)], [0.5]),
    ("4", "a", [("rude", -2), ("own", 1)], [0.0, 1.0]),
]
FACTS = ColumnFacts(metric="rubric", family="judge", signature="", bounds=(0.0, 1.0))


def parts_of(folder: Path, sizes: list[int], group: bool = False) -> ScoreParts:
    start = 0
    for name in ("load", "judge"):
        (folder / name).mkdir(parents=True)
    for number, size in enumerate(sizes):
        some = ROWS[start : start + size]
        start += size
        keys = {"id": [one[0] for one in some], "candidate": [one[1] for one in some]}
        listed = [[{"text": text, "points": points} for text, points in one[2]] for one in some]
        groups = pa.array([f"g{int(one[0]) % 2}" if group else None for one in some], pa.string())
        load = pa.table(keys | {"group": groups, "criteria": pa.array(listed, CRITERIA)})
        judge = pa.table(keys | {"rubric_met": pa.array([one[3] for one in some], pa.list_(pa.float64()))})
        judge = judge.append_column("rubric", pa.nulls(size, pa.float64()))
        write_part(describe(load, statement({})), folder / "load", number)
        write_part(describe(judge, statement({"rubric": FACTS})), folder / "judge", number)
    return ScoreParts(Parts(folder / "load"), (Parts(folder / "judge"),), Parts(folder / "judge"))


def entry(parts: ScoreParts, *, grouped: bool = False) -> Any:
    numbers = range(len(parts.load))
    count = summed(counted(parts, number, "rubric") for number in numbers)
    sums = summed(
        criteria_sums(parts, number, "rubric", count.listed, grouped=grouped, guarantee=False) for number in numbers
    )
    return criteria_entry(count, sums, 0.95, guarantee=False)


def test_the_criteria_of_several_questions_are_listed_with_their_rates(tmp_path: Path) -> None:
    found = entry(parts_of(tmp_path, [6]))

    assert found["different"] == 4
    assert [(one["criterion"], one["questions"], one["points"]) for one in found["listed"]] == [
        ("polite", 3, [1.0, 2.0]), ("rude", 2, [-2.0, -1.0]),
    ]  # fmt: skip
    polite, rude = (
        {name: (one["n"], one["value"]) for name, one in of["candidates"].items()} for of in found["listed"]
    )
    assert polite == {"a": (3, pytest.approx(2.5 / 3)), "b": (1, 0.0)}
    assert rude == {"a": (2, 0.5)}
    interval = found["listed"][1]["candidates"]["a"]
    assert 0.0 < interval["low"] < 0.5 < interval["high"] < 1.0


@pytest.mark.parametrize("sizes", [[2, 4], [4, 2], [2, 2, 1, 1]])
@pytest.mark.parametrize("grouped", [False, True])
def test_parts_change_nothing(sizes: list[int], tmp_path: Path, *, grouped: bool) -> None:
    whole = entry(parts_of(tmp_path / "one", [6], grouped), grouped=grouped)

    assert entry(parts_of(tmp_path / "several", sizes, grouped), grouped=grouped) == whole


def test_rows_of_one_group_count_together(tmp_path: Path) -> None:
    alone = entry(parts_of(tmp_path / "alone", [6]))["listed"][0]["candidates"]["a"]
    grouped = entry(parts_of(tmp_path / "grouped", [6], group=True), grouped=True)["listed"][0]["candidates"]["a"]

    assert alone["value"] == grouped["value"]
    assert alone["method"] != grouped["method"]


def test_only_so_many_criteria_are_listed_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = parts_of(tmp_path, [2, 2, 2])
    monkeypatch.setattr(criterion_rates, "MOST_LISTED", 1)
    monkeypatch.setattr(criterion_rates, "MOST_COUNTED", 2)

    found = entry(parts)

    assert [one["criterion"] for one in found["listed"]] == ["polite"]
    assert found["listed"][0]["candidates"]["a"]["n"] == 3
    assert found["different"] == 2


def test_verdicts_on_other_criteria_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "ROWS", [("1", "a", [("polite", 1.0)], [1.0, 0.0])])

    with pytest.raises(DataError, match="verdicts of other criteria"):
        entry(parts_of(tmp_path, [1]))


def test_only_columns_of_lists_are_of_rubrics(tmp_path: Path) -> None:
    parts = parts_of(tmp_path, [6])
    assert rubrics(parts.judge) == ["rubric"]

    (tmp_path / "other").mkdir()
    table = pa.table({"id": ["1"], "candidate": ["a"], "all": [1.0], "all_met": np.ones(1)})
    write_part(describe(table, statement({"all": FACTS, "all_met": FACTS})), tmp_path / "other", 0)
    assert rubrics(Parts(tmp_path / "other")) == []
