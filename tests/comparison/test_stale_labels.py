"""A label belongs to the answer that was labelled: left with another answer it is unmeasured, and lets nothing pass."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.comparison.blocks import LabelledAnswers, left_in_place
from goldmeter.comparison.of_versions import compare_versions, pairings, scores_of
from goldmeter.versions.version import Version
from tests.comparison.sample import Row, answers, gate, version

N = 40


def labelled(responses: str, labels: str, status: str | None = None) -> list[Row]:
    """Answers by sign as in `answers`; labels by sign: `+` right, `.` wrong, `-` none."""
    values = {"+": True, ".": False, "-": None}
    rows = answers(responses)
    return [row | {"label": values[sign], "label_status": status} for row, sign in zip(rows, labels, strict=True)]


def labels_of(base: Version, head: Version) -> tuple[list[float], list[bool], int]:
    """Of HEAD's only candidate: labels, which of them failed, and how many are stale."""
    [[found]] = pairings(scores_of(base), scores_of(head), [("aurora", "aurora")], base.folder / "blocks")
    [column] = [column for column in found.head.columns if column.name == "label"]
    order = np.argsort(found.head.positions)
    failed = np.isnan(column.values) & ~column.not_asked
    return column.values[order].tolist(), failed[order].tolist(), len(found.stale)


def test_a_label_left_with_a_changed_answer_is_unmeasured_and_counted(tmp_path: Path) -> None:
    base, head = (version(tmp_path / name, labelled(text, "++++")) for name, text in (("a", "++++"), ("b", "+..+")))

    values, failed, stale = labels_of(base, head)

    assert failed == [False, True, True, False]
    assert values == pytest.approx([1.0, np.nan, np.nan, 1.0], nan_ok=True)
    assert stale == 2


def test_labels_given_anew_count_where_they_are_as_before(tmp_path: Path) -> None:
    base = version(tmp_path / "a", labelled("++++", "++++"))
    head = version(tmp_path / "b", labelled("+...", "++.+"))

    assert labels_of(base, head) == ([1.0, 1.0, 0.0, 1.0], [False] * 4, 0)


def test_labels_that_the_label_file_confirms_count(tmp_path: Path) -> None:
    base = version(tmp_path / "a", labelled("++++", "++++"))
    head = version(tmp_path / "b", labelled("....", "++++", "confirmed"))

    assert labels_of(base, head) == ([1.0] * 4, [False] * 4, 0)


def test_a_label_that_load_found_stale_failed_in_a_comparison(tmp_path: Path) -> None:
    base = version(tmp_path / "a", labelled("++++", "++++"))
    stale = labelled("....", "----", "stale")
    head = version(tmp_path / "b", [labelled("++++", "++++")[0], *stale[1:]])

    values, failed, count = labels_of(base, head)

    assert failed == [False, True, True, True]
    assert np.isnan(values).tolist() == [False, True, True, True]
    assert count == 3


@pytest.mark.parametrize("chosen", [{"primary": "label"}, {"primary": "label", "fail_on": "cannot_tell"}])
def test_stale_labels_let_no_release_pass(tmp_path: Path, chosen: dict[str, Any]) -> None:
    base = version(tmp_path / "a", labelled("+" * N, "+" * N))
    head = version(tmp_path / "b", labelled("+" * (N // 2) + "." * (N // 2), "+" * N))

    document = compare_versions(base, head, gate(**chosen))
    [pair] = document["pairs"]

    assert document["blocked"]
    assert pair["rows"]["stale_labels"] == N // 2
    assert [refused["measure"] for refused in pair["refused"] if refused["blocks"]] == ["label"]


LABELS = st.sampled_from([0.0, 1.0, np.nan])
ROWS = st.lists(st.tuples(st.integers(0, 2), LABELS, st.integers(0, 2), LABELS, st.booleans()), min_size=1, max_size=20)


@given(ROWS)
def test_only_unconfirmed_labels_of_changed_answers_are_left_in_place_all_or_none(rows: list[Any]) -> None:
    before, old, after, new, confirmed = map(np.array, zip(*rows, strict=True))
    none = np.zeros(len(rows), np.bool_)

    found = left_in_place(
        LabelledAnswers(before.astype(np.uint64), old, none), LabelledAnswers(after.astype(np.uint64), new, confirmed)
    )

    eligible = (before != after) & ~confirmed & ~np.isnan(old) & ~np.isnan(new)
    assert found.tolist() in (eligible.tolist(), none.tolist())
    assert not (found & (old != new)).any()
