"""Which rows of two candidates belong together."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.comparison.pairing import distinct, pair
from goldmeter.estimates.columns import Candidate

KEYS = st.sets(st.integers(0, 12))


def candidate(keys: set[int] | list[int], groups: list[int] | None = None) -> Candidate:
    ordered = np.array(sorted(keys), np.uint64)
    labels = None if groups is None else np.array(groups, np.intp)
    return Candidate("a", ordered, np.arange(len(ordered), dtype=np.intp)[::-1], [], labels, {})


def test_rows_with_equal_ids_are_paired_and_the_rest_is_listed() -> None:
    found = pair(candidate([1, 2, 5, 9]), candidate([2, 3, 9]))

    assert found.base_rows.tolist() == [1, 3]
    assert found.head_rows.tolist() == [0, 2]
    assert found.keys.tolist() == [2, 9]
    assert found.only_base.tolist() == [0, 2]
    assert found.only_head.tolist() == [1]
    assert found.changed.tolist() == []


def test_rows_that_were_asked_something_else_are_kept_out() -> None:
    found = pair(candidate([1, 2, 5]), candidate([1, 2, 5])).without(np.array([False, True, False]))

    assert found.keys.tolist() == [1, 5]
    assert found.changed.tolist() == [1]
    assert found.only_base.tolist() == found.only_head.tolist() == []


def test_clusters_are_those_of_head() -> None:
    found = pair(candidate([1, 2, 5], [0, 0, 0]), candidate([2, 5, 7], [4, 5, 5]))

    assert found.groups is not None
    assert found.groups.tolist() == [4, 5]
    assert pair(candidate([1]), candidate([1])).groups is None


@given(KEYS, KEYS, st.data())
def test_every_row_is_in_one_place(base: set[int], head: set[int], data: st.DataObject) -> None:
    changed = np.array([data.draw(st.booleans()) for _ in base & head], dtype=np.bool_)

    found = pair(candidate(base), candidate(head)).without(changed)

    assert sorted([*found.head_rows, *found.changed, *found.only_head]) == list(range(len(head)))
    assert len(found.base_rows) + int(changed.sum()) + len(found.only_base) == len(base)
    assert (found.base.keys[found.base_rows] == found.keys).all()


@given(KEYS, KEYS)
def test_exchanging_the_sides_exchanges_the_rows(base: set[int], head: set[int]) -> None:
    there, back = pair(candidate(base), candidate(head)), pair(candidate(head), candidate(base))

    assert there.keys.tolist() == back.keys.tolist()
    assert there.only_base.tolist() == back.only_head.tolist()
    assert there.only_head.tolist() == back.only_base.tolist()


WEAK = st.sets(st.integers(0, 40), max_size=20)


@given(WEAK, WEAK, st.integers(1, 4))
def test_ids_that_share_a_hash_are_told_apart(base: set[int], head: set[int], hashes: int) -> None:
    sides = distinct([weakly_hashed(sorted(ids), hashes) for ids in (base, head)])

    found = pair(*sides)

    old, new = (side.positions[rows] for side, rows in zip(sides, (found.base_rows, found.head_rows), strict=True))
    assert {*zip(old.tolist(), new.tolist(), strict=True)} == {(one, one) for one in base & head}
    assert {*sides[0].positions[found.only_base].tolist()} == base - head
    assert {*sides[1].positions[found.only_head].tolist()} == head - base
    assert all((np.diff(side.keys.astype(float)) > 0).all() for side in sides)


def test_questions_that_share_a_hash_are_told_apart() -> None:
    drawn = replace(candidate([1, 2, 3]), questions=np.array([7, 7, 7], np.uint64))
    different = replace(drawn, question_checks=np.array([1, 2, 2], np.uint64))
    same = replace(drawn, question_checks=np.array([2, 2, 2], np.uint64))

    assert [len(set(of_questions(one))) for one in distinct([different])] == [2]
    assert [len(set(of_questions(one))) for one in distinct([same])] == [1]


def weakly_hashed(ids: list[int], hashes: int) -> Candidate:
    """A candidate whose ids have one of `hashes` first hashes; positions: the ids."""
    order = sorted(ids, key=lambda one: (one % hashes, one))
    positions = np.array(order, np.intp)
    first, second = (positions % hashes).astype(np.uint64), positions.astype(np.uint64)
    return Candidate("a", first, positions, [], None, {}, checks=second)


def of_questions(one: Candidate) -> list[int]:
    assert one.questions is not None
    return one.questions.tolist()
