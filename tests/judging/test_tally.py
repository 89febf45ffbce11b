"""The counts of a judge that may stop, against plain loops over the rows; and after which blocks it looks."""

from collections import Counter, defaultdict
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldmeter.judging.cascade import Division
from goldmeter.judging.stopping import BATCHES, FEWEST_GROUPS, LOOKS, shares_at
from goldmeter.judging.tally import Tally
from tests.test_judge import params

OPTIONS = params(provider="cascade", stop={"meaning_match": 0.8}).judge
COMPARED = params(provider="cascade", stop={"meaning_match": "difference"}).judge
NO_LEDGER = cast(Any, None)
# Group, system, answer, and the verdict on it if it has text.
ROWS = st.lists(
    st.tuples(st.sampled_from("pqrstu"), st.sampled_from("ab"), st.sampled_from(["Paris", " ", None]), st.booleans())
)


def table(
    rows: list[tuple[str, str, str | None, bool]], ids: list[int] | None = None, weights: list[float] | None = None
) -> pa.Table:
    texts: dict[str, list[str | None]] = {
        "id": [f"q{number}" for number in ids or range(len(rows))],
        "candidate": [system for _, system, _, _ in rows],
        "group": [group for group, *_ in rows],
        "input": ["?"] * len(rows),
        **{name: [answer for _, _, answer, _ in rows] for name in ("response", "response_normalized")},
    }
    columns = {name: pa.array(cells, pa.string()) for name, cells in texts.items()}
    references = pa.array([["Paris"]] * len(rows), pa.list_(pa.string()))
    columns |= dict.fromkeys(("references", "references_normalized", "phrases"), references)
    return pa.table(columns | ({} if weights is None else {"weight": pa.array(weights, pa.float64())}))


@settings(max_examples=40)
@given(st.lists(ROWS, min_size=1, max_size=4), st.sets(st.sampled_from("pqrstu")))
def test_blocks_are_counted_as_loops_over_their_rows_count_them(
    parts: list[list[tuple[str, str, str | None, bool]]], asked: set[str]
) -> None:
    verdicts = [np.array([float(right) for *_, right in rows]) for rows in parts]
    division = Division(lambda: map(table, parts), lambda: verdicts)
    known, to_come = defaultdict[str, list[float]](list), defaultdict[str, float](float)
    for group, system, answer, right in (row for rows in parts for row in rows):
        if answer is not None and group in asked:
            known[system].append(float(right and bool(answer.strip())))
        elif answer is not None:
            to_come[system] += 1.0

    tally = Tally(division, OPTIONS)
    tally.add(division.some(lambda part: np.isin(part["group"].to_pylist(), [*asked])), NO_LEDGER)

    assert tally.rows == sum(map(len, known.values())) + sum(to_come.values())
    assert tally.rows_asked == sum(map(len, known.values()))
    for system, rate in tally.followed("meaning_match").items():
        assert (rate.sizes.sum(), rate.totals.sum()) == (len(known[system]), pytest.approx(sum(known[system])))
        assert rate.to_come.sum() == to_come[system]
        assert max([*rate.sizes, *rate.to_come, 0.0]) <= rate.largest


# Of each id the group, and for two systems whether it has the row, the answer, and the verdict if it has text.
SIDE = st.tuples(st.sampled_from(["Paris", "London", " ", None]), st.booleans()) | st.none()


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.sampled_from("pqrstu"), SIDE, SIDE), min_size=1, max_size=20),
    st.sets(st.sampled_from("pqrstu")),
)
def test_two_systems_are_compared_on_the_rows_of_both_as_loops_compare_them(
    rows: list[tuple[str, tuple[str | None, bool] | None, tuple[str | None, bool] | None]], asked: set[str]
) -> None:
    every = [
        (number, (group, system, *side))
        for number, (group, *sides) in enumerate(rows)
        for system, side in zip("ab", sides, strict=True)
        if side is not None
    ]
    parts = [[one for one in every if one[1][1] == system] for system in "ab"]
    if not all(parts):
        return
    division = Division(
        lambda: (table([row for _, row in part], [number for number, _ in part]) for part in parts),
        lambda: [np.array([float(right) for _, (*_, right) in part]) for part in parts],
    )
    changes, to_come = defaultdict[str, list[float]](list), Counter[str]()
    discordant = changed = 0
    for group, base, head in rows:
        if base is None or head is None or base[0] is None or head[0] is None:
            continue
        older, newer = (
            float(right and bool(answer.strip())) for answer, right in ((base[0], base[1]), (head[0], head[1]))
        )
        if group not in asked:
            to_come[group] += 1
            continue
        changes[group].append(newer - older)
        discordant += newer != older
        changed += base[0] != head[0]

    tally = Tally(division, COMPARED)
    tally.add(division.some(lambda part: np.isin(part["group"].to_pylist(), [*asked])), NO_LEDGER)

    one = tally.differences()["a", "b"]
    places = [*tally.groups]
    assert dict(zip(places, one.sizes.tolist(), strict=True)) == {group: len(changes[group]) for group in places}
    assert dict(zip(places, one.changes.tolist(), strict=True)) == {group: sum(changes[group]) for group in places}
    assert dict(zip(places, one.to_come.tolist(), strict=True)) == {group: to_come[group] for group in places}
    assert (one.discordant, one.changed) == (discordant, changed)
    assert one.largest == max(Counter(group for group, base, head in rows if base and head).values(), default=1)


@given(st.lists(st.tuples(st.sampled_from("pqr"), st.booleans(), st.floats(0.0, 1e6)), min_size=1, max_size=12))
def test_with_weights_the_rate_is_that_of_weights_in_groups_no_heavier_than_the_heaviest(
    rows: list[tuple[str, bool, float]],
) -> None:
    weights, whole = [weight for *_, weight in rows], defaultdict[str, float](float)
    part = table([(group, "a", "Paris", right) for group, right, _ in rows], weights=weights)
    for group, _, weight in rows:
        whole[group] += weight
    verdicts = [np.array([float(right) for _, right, _ in rows])]
    division = Division(lambda: [part], lambda: verdicts)

    tally = Tally(division, OPTIONS)
    tally.add(division.some(lambda part: np.isin(part["group"].to_pylist(), ["p", "q"])), NO_LEDGER)

    rate = tally.followed("meaning_match")["a"]
    known = [(right, weight) for group, right, weight in rows if group != "r"]
    assert rate.sizes.sum() == pytest.approx(sum(weight for _, weight in known))
    assert rate.totals.sum() == pytest.approx(sum(weight for right, weight in known if right))
    assert rate.to_come.sum() == pytest.approx(whole["r"])
    assert rate.largest == pytest.approx(max(whole.values()) or 1.0)
    low, high = tally.limits()["meaning_match"]["a"]["weighted"]
    assert 0.0 <= low <= high <= 1.0


@given(st.integers(1, 10**7), st.booleans())
def test_looks_come_after_growing_shares_of_enough_groups(groups: int, by_batch: bool) -> None:
    shares = shares_at(groups, by_batch=by_batch)

    assert shares[-1] == 1.0
    assert len(shares) <= (BATCHES if by_batch else LOOKS)
    blocks = np.diff([0.0, *shares])
    assert len(shares) == 1 or min(blocks) * groups >= 0.999 * FEWEST_GROUPS
    if by_batch:
        assert all(later == before for before, later in zip(shares, blocks[1:], strict=False))
