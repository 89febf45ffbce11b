"""Repeated answers of one candidate: groups, unmeasured draws, and advice in words."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import Candidate, ScoreColumn
from goldmeter.estimates.estimate_rows import BY_LOOKS
from goldmeter.estimates.repeated_answers import advice, by_question, entry, names, parsed
from goldmeter.statistics import variance_split
from goldmeter.statistics.stopping import confidence_sequence

FACTS = ColumnFacts("f1", "lexical", "f1|v:1", (0.0, 1.0), threshold=0.5, rate_signature="f1|v:1|pass:0.5")


def candidate(results: list[str], groups: list[int] | None = None) -> Candidate:
    """A candidate with one question per text, one sign per draw: + passes, . fails, - is unmeasured, ? not asked."""
    signs = np.array([*"".join(results)])
    values = np.select([signs == "+", signs == "."], [1.0, 0.0], np.nan)
    column = ScoreColumn("f1", values, signs == "?", FACTS.passes(values), None, FACTS)
    sizes = [len(text) for text in results]
    rows = np.arange(len(signs))
    of = np.repeat(np.arange(len(results)), sizes)
    clusters = None if groups is None else np.repeat(groups, sizes)
    return Candidate("a", rows.astype(np.uint64), rows, [column], clusters, {}, questions=of.astype(np.uint64))


def test_questions_of_one_group_are_one_cluster() -> None:
    results = ["++", "++", "..", ".."] * 12
    alone, grouped = (
        entry(candidate(results, groups), candidate(results).columns[0], (1, 2), 0.95)
        for groups in (list(range(48)), [i // 2 for i in range(48)])
    )

    assert alone is not None
    assert grouped is not None
    assert (alone["pass_at"]["2"]["method"], grouped["pass_at"]["2"]["method"]) == ("blaker", "cr2")


def test_a_single_group_has_no_interval() -> None:
    one = candidate(["++", ".."], [7, 7])

    found = entry(one, one.columns[0], (1,), 0.95)

    assert found is not None
    assert [found["pass_at"]["1"][name] for name in ("value", "low", "high", "method")] == [
        0.5,
        0.0,
        1.0,
        "one cluster: no interval",
    ]


@pytest.mark.parametrize("size", [1, 2])
def test_where_a_judge_could_stop_the_limits_are_those_of_a_sequence_of_groups(size: int) -> None:
    one = candidate(["+.", "++", "..", "++"] * 12, [i // size for i in range(48)])
    column = replace(one.columns[0], facts=replace(FACTS, stopped=True))

    found = entry(one, column, (1,), 0.95)

    assert found is not None
    totals = np.tile([0.5, 1.0, 0.0, 1.0], 12).reshape(-1, size).sum(axis=1)
    limits = confidence_sequence(totals, np.full(len(totals), float(size)), float(size))
    assert (found["pass_at"]["1"]["low"], found["pass_at"]["1"]["high"]) == limits
    assert found["pass_at"]["1"]["method"] == BY_LOOKS
    assert "spread" not in found


def test_a_question_lacks_answers_by_design_or_because_some_failed() -> None:
    found = by_question(candidate(["++", "+", "+-", "+?"]), (2,), ["f1"])

    assert found is not None
    at = found.columns[0]
    assert np.isnan(at.values).tolist() == [False, True, True, True]
    assert at.not_asked.tolist() == [False, True, False, True]
    assert at.facts.signature == "f1|v:1|pass:0.5|pass@2"
    assert not at.facts.has_pass_rate


def test_a_column_without_a_pass_rate_has_no_entry() -> None:
    one = candidate(["++"])
    ungated = ScoreColumn("x", one.columns[0].values, one.columns[0].not_asked, None, None, FACTS)

    assert entry(one, ungated, (1,), 0.95) is None


@pytest.mark.parametrize(
    ("results", "start"),
    [
        (["++", ".."] * 10, "More questions help more than more draws: twice the questions"),
        (["+.", ".+"] * 10, "More draws help about as much as more questions: twice the draws"),
        (["++"] * 10, "All draws have the same result; only more questions"),
    ],
)
def test_advice_names_what_helps(results: list[str], start: str) -> None:
    one = candidate(results)
    split = variance_split(one.columns[0].values, one.questions)

    assert split is not None
    assert advice(split).startswith(start)


@given(st.text(), st.integers(1, 10**9 - 1))
def test_a_name_is_read_as_it_was_written(column: str, k: int) -> None:
    for name in names(column, (k,)):
        assert parsed(name) == ((column, k) if column else None)
