import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given as given_any
from hypothesis import strategies as st

from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import ScoreColumn
from goldmeter.estimates.failures import ANOTHER_ANSWER, NOT_WRONG, OVER_LONG, WRONG_NUMBER
from goldmeter.reporting.notable_rows import Answers, Decisive, blank, in_order, notable_kinds
from goldmeter.reporting.survey import by_hash, by_name, in_turns, ordered, worst_of, worst_scores
from tests.reporting.made import ROWS, column, load_table, parts_of

NAN = float("nan")


def scores(name, values, *, not_asked=(), threshold=0.5, higher=True):
    facts = ColumnFacts.from_json(column(name, "lexical", threshold) | {"higher_is_better": higher})
    asked = np.isin(np.arange(len(values)), not_asked)
    scored, limit = np.array(values, dtype=np.float64), 1.0 if threshold is None else threshold
    return ScoreColumn(name, scored, asked, scored >= limit if higher else scored <= limit, None, facts)


def answers(ids, label, gated=(), closest=0, empty=(), names=None, by_label=False, failures=None):
    """The numbers of some rows; by_label, or with kinds of failures, the labels decide."""
    names, label = names or ["aurora"] * len(ids), np.array(label, dtype=np.float64)
    found = np.where(label == 0, ANOTHER_ANSWER, NOT_WRONG) if failures is None else np.array(failures)
    primary = Decisive(scores("label", label), "human labels", found.astype(np.int8))
    return Answers(
        ids=pa.chunked_array([pa.array(ids, pa.string())]),
        candidates=pa.chunked_array([pa.array(names, pa.string())]),
        names=sorted({*names}),
        label=label,
        gated=[*gated],
        blank=np.isin(np.arange(len(ids)), empty),
        primary=primary if by_label or failures is not None else None,
        closest=gated[closest] if gated and closest is not None else None,
        graded=gated[closest] if gated and closest is not None else None,
        right_elsewhere=np.zeros(len(ids), np.uint8),
    )


def kinds_of(given):
    """The kinds that some row is of, in the order of the page."""
    every = notable_kinds(given)
    order = in_order([int(kind.rows.sum()) for kind in every], by_failure=given.primary is not None)
    return [every[number] for number in order]


def turns(given, limit):
    """Id → number of the kind that chooses it."""
    return in_turns([ordered(worst_of(kind, given, limit), by_name) for kind in kinds_of(given)], limit)


def worth_reading(given, limit):
    """The positions of all answers to the ids most worth reading."""
    chosen = turns(given, limit)
    others = ordered(worst_scores(given, limit), by_hash)
    rows = {}
    for row, (key, name) in enumerate(zip(given.ids.to_pylist(), given.candidates.to_pylist(), strict=True)):
        rows.setdefault(key, []).append((name, row))
    positions = []
    for key in [*chosen, *(name for name in others if name not in chosen)]:
        if len(positions) + len(rows[key]) > limit:
            break
        positions += [row for _, row in sorted(rows[key])]
    return positions


def titles(given, limit=10):
    found = kinds_of(given)
    return [(key, found[kind].title) for key, kind in sorted(turns(given, limit).items(), key=lambda item: item[1])]


def test_wrong_answers_are_grouped_by_kind_of_failure_the_most_frequent_first():
    failures = [OVER_LONG, WRONG_NUMBER, WRONG_NUMBER, NOT_WRONG]
    given = answers(["a", "b", "c", "d"], [0, 0, 0, 1], [scores("f1", [0.2, 0.3, 0.1, 0.1])], failures=failures)

    assert titles(given) == [
        ("c", "Wrong number"),
        ("b", "Wrong number"),
        ("a", "Over-long"),
        ("d", "Labelled right, but f1 fails"),
    ]
    assert kinds_of(given)[0].why(1) == "Wrong by human labels: wrong number."


def test_only_the_primary_measure_and_the_closest_metric_name_rows():
    strict, closest = scores("bleu", [0.0] * 4), scores("f1", [0.9] * 4)

    given = answers(["a", "b", "c", "d"], [1, 1, 1, 0], [strict, closest], closest=1, by_label=True)

    assert [(kind.title, np.flatnonzero(kind.rows).tolist()) for kind in kinds_of(given)] == [
        ("Another answer", [3]),
        ("Labelled wrong, but f1 passes", [3]),
    ]


def test_right_by_one_and_wrong_by_the_other_is_a_list_in_each_direction():
    ids, names = ["a", "a", "b", "b", "c", "c", "d"], ["x", "y"] * 3 + ["x"]
    given = answers(ids, [1, 0, 0, 1, 0, 0, 0], names=names, by_label=True)

    lists = {kind.title: np.flatnonzero(kind.rows).tolist() for kind in kinds_of(given)}

    assert lists == {"Another answer": [1, 2, 4, 5, 6], "x right, y wrong": [1], "y right, x wrong": [2]}


def test_lists_of_candidates_whose_long_names_differ_in_the_middle_are_told_apart():
    names = [f"{'prompt ' * 20}v{number}{' of the last quarter' * 20}" for number in (13, 14)]
    given = answers(["a", "a", "b", "b"], [1, 0, 0, 1], names=names * 2, by_label=True)

    titles = [kind.title for kind in kinds_of(given)]

    assert len(titles) == len(set(titles)) == 3


def test_an_unmeasured_answer_is_not_right():
    given = answers(["a", "a"], [NAN, 0], names=["x", "y"], by_label=True)

    assert [kind.title for kind in kinds_of(given)] == ["Another answer"]


def test_of_many_candidates_the_best_is_compared_with_the_next_three():
    names = [f"c{number}" for number in range(6)]
    given = answers(["a"] * 6, [1, 0, 0, 0, 0, 0], names=names, by_label=True)

    assert [kind.title for kind in kinds_of(given)][1:] == [f"c0 right, c{n} wrong" for n in (1, 2, 3)]


def test_failed_is_worth_a_look_and_not_asked_is_not():
    given = answers(["a", "b"], [NAN, NAN], [scores("f1", [NAN, NAN], not_asked=[1])], closest=None)

    (kind,) = kinds_of(given)

    assert (kind.title, kind.rows.tolist()) == ("Could not be measured", [True, False])
    assert kind.why(0) == "1 of 1 metrics could not measure it."


def test_without_a_primary_pass_rate_the_worst_scores_stand_for_wrong_answers():
    given = answers(["a", "b", "c", "d"], [NAN] * 4, [scores("f1", [0.2, 0.1, 0.9, 0.0])], empty=[3])

    assert titles(given) == [("d", "Empty answers"), ("b", "Worst f1"), ("a", "Worst f1")]
    assert kinds_of(given)[-1].why(1) == "Its f1 is 0.100; it passes from 0.5."


@pytest.mark.parametrize("label", [[0, 1, NAN], [NAN, NAN, NAN]])
def test_without_any_gated_metric_only_empty_answers_are_worth_a_look(label):
    given = answers(["a", "b", "c"], label, empty=[2])

    assert titles(given) == [("c", "Empty answers")]


def test_kinds_take_turns_and_an_id_stands_once():
    label = [0, 0, 0, 1, 1, 1]
    given = answers(list("abcdef"), label, [scores("f1", [1.0, 1.0, 1.0, 0.0, 0.0, 0.0])])

    chosen = titles(given, limit=4)

    assert [each for each, _ in chosen] == ["d", "f", "a", "e"]
    assert len(titles(given, limit=100)) == 6


def test_worth_reading_are_the_kinds_in_turns_then_the_lowest_scores_then_any():
    values = [0.9, 0.1, 0.7, 0.2, NAN, NAN, 0.8]
    given = answers(list("abcdefg"), [NAN] * 7, [scores("f1", values, not_asked=[4, 5])], empty=[6])
    found = kinds_of(given)

    assert [each.title for each in found] == ["Empty answers", "Worst f1"]
    assert worth_reading(given, 5) == [6, 1, 3, 2, 0]
    assert sorted(worth_reading(given, 7)[5:]) == [4, 5]


def test_worth_reading_keeps_the_answers_to_an_id_together_and_never_more_than_wanted():
    ids, names = ["b", "a", "b", "a", "c"], ["y", "y", "x", "x", "x"]
    given = answers(ids, [NAN] * 5, [scores("f1", [0.1, 0.9, 0.9, 0.8, 0.7])], names=names)

    assert [worth_reading(given, limit) for limit in (1, 2, 3, 5)] == [
        [],
        [2, 0],
        [2, 0, 4],
        [2, 0, 4, 3, 1],
    ]


def test_where_lower_is_better_the_highest_scores_are_worth_reading():
    given = answers(["a", "b", "c"], [NAN] * 3, [scores("errors", [0.1, 0.4, 0.3], higher=False)])

    assert worth_reading(given, 2) == [1, 2]


@given_any(
    st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from("xyz"), st.sampled_from([0.0, 0.4, 0.6, NAN])),
        unique_by=lambda each: each[:2],
    ),
    st.integers(0, 12),
    st.randoms(use_true_random=False),
)
def test_the_choice_is_the_same_whatever_the_order_of_the_rows(rows, limit, random):
    def chosen(rows):
        ids, names, values = ([*each] for each in zip(*rows, strict=True)) if rows else ([], [], [])
        given = answers([f"q{i}" for i in ids], [NAN] * len(rows), [scores("f1", values)], names=names)
        return [rows[i][:2] for i in worth_reading(given, limit)], [*turns(given, limit).items()]

    shuffled = random.sample(rows, len(rows))
    worth, _ = chosen(rows)

    assert chosen(shuffled) == chosen(rows)
    assert len(worth) <= limit
    assert sorted(worth) == sorted(each[:2] for each in rows if each[0] in {key for key, _ in worth})


def test_lower_is_better_turns_passing_round():
    assert scores("errors", [0.1, 0.5, 0.9, NAN], higher=False).passed.tolist() == [True, True, False, False]


def test_a_binary_metric_passes_at_its_upper_bound():
    assert scores("exact_match", [1.0, 0.0, NAN], threshold=None).passed.tolist() == [True, False, False]


@pytest.mark.parametrize("part_rows", [1, 3, 8])
def test_texts_are_taken_by_position_across_parts(tmp_path, part_rows):
    table = parts_of({"load": load_table(ROWS)}, tmp_path, part_rows)["load"]

    assert table.take(["id", "response"], [6, 0, 2]) == {
        0: {"id": "q1", "response": "Paris"},
        2: {"id": "q2", "response": "The capital"},
        6: {"id": "q4", "response": "Lutetia"},
    }


def test_blank_is_white_space_and_not_null():
    rows = [ROWS[0] | {"response": text} for text in ("", " \n\t\u3000", None, " x ")]

    assert blank(load_table(rows)["response"]).tolist() == [
        True,
        True,
        False,
        False,
    ]
