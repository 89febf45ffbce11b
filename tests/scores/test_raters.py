"""Several raters of one answer: their agreement, the mean label, and metrics beside one of them."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.scores import human_labels, rater_agreement
from tasks.scores.columns import NOT_RATED, ratings_of
from tests.scores.test_human_labels import BINARY, LABEL, NAN, candidate, column

# Ten answers: two people agree on eight; a third is asked about the two others.
FIRST = [1, 1, 1, 1, 1, 0, 0, 0, 1, 0]
SECOND = [1, 1, 1, 1, 1, 0, 0, 0, 0, 1]
THIRD = [NOT_RATED] * 8 + [1, 0]
VERDICTS = [1, 1, 1, 1, 0, 0, 0, 1, 1, 1]


def rated(*ratings, groups=None, verdicts=VERDICTS):
    label = column("label", [1, 1, 1, 1, 1, 0, 0, 0, NAN, NAN], LABEL)
    one = candidate(label, column("exact_match", verdicts, BINARY), groups=groups)
    return replace(one, ratings=np.array(ratings, np.int8).T)


def test_two_people_and_a_metric_are_compared_with_one_person():
    found = rater_agreement.raters_entry(rated(FIRST, SECOND), 0.95)

    assert (found["n"], found["n_rated"], found["adjudicators"]) == (10, 10, [])
    assert found["pair"]["value"] == 0.8
    assert found["alpha"]["value"] == pytest.approx(1 - 19 * 2 / (12 * 8))  # 2 pairs differ; 12 of 20 say right
    assert found["mean_label"]["value"] == 0.6
    same = found["metrics"]["exact_match"]
    assert same["value"]["value"] == 0.7  # six of the eight that agree, and half of the two others
    assert same["difference"]["value"] == pytest.approx(-0.1)
    assert same["difference"]["low"] < -0.1 < same["difference"]["high"]
    assert "label" not in found["metrics"]


def test_who_is_asked_only_where_others_differ_says_nothing_of_agreement():
    with_third, without = (rater_agreement.raters_entry(rated(FIRST, SECOND, *more), 0.95) for more in ([THIRD], []))

    assert with_third["adjudicators"] == [3]
    assert {**with_third, "adjudicators": []} == without


def test_raters_of_a_random_part_all_count():
    third = [1, NOT_RATED] * 5

    assert rater_agreement.raters_entry(rated(FIRST, SECOND, third), 0.95)["adjudicators"] == []


def test_rows_with_one_rating_count_for_the_mean_label_alone():
    wide = rated([*FIRST], [*SECOND[:9], NOT_RATED], [NOT_RATED] * 10)

    assert rater_agreement.raters_entry(wide, 0.95) is None  # nine pairs are too few

    label = column("label", [1.0] * 12, LABEL)
    ratings = np.array([[1, 1]] * 10 + [[0, NOT_RATED], [NOT_RATED, NOT_RATED]], np.int8)
    found = rater_agreement.raters_entry(replace(candidate(label), ratings=ratings), 0.95)

    assert (found["n"], found["n_rated"]) == (10, 11)
    assert found["mean_label"]["value"] == pytest.approx(10 / 11)
    assert (found["alpha"]["value"], found["alpha"]["method"]) == (None, "one category of ratings")


def test_unmeasured_verdicts_are_left_out_and_few_say_nothing():
    assert rater_agreement.raters_entry(rated(FIRST, SECOND, verdicts=[*VERDICTS[:9], NAN]), 0.95)["metrics"] == {}


def test_groups_widen_the_intervals_and_one_group_says_nothing():
    alone = rater_agreement.raters_entry(rated(FIRST, SECOND), 0.95)["pair"]
    grouped = rater_agreement.raters_entry(rated(FIRST, SECOND, groups=[0, 1, 2, 3, 4, 5, 6, 7, 8, 8]), 0.95)["pair"]

    assert grouped["low"] < alone["low"]
    assert rater_agreement.raters_entry(rated(FIRST, SECOND, groups=[0] * 10), 0.95) is None


def test_without_ratings_there_is_nothing():
    assert rater_agreement.raters_entry(candidate(column("label", FIRST, LABEL)), 0.95) is None


def test_rows_on_which_raters_differ_count_although_they_have_no_label():
    few = human_labels.with_few_labelled(rated(FIRST, SECOND), None)

    assert len(few.keys) == 10


def test_ratings_of_parts_of_different_width_are_one_table():
    two, three = rated(FIRST, SECOND), rated(FIRST, SECOND, THIRD)

    [both] = human_labels.joined([[two], [three]])

    assert both.ratings.shape == (20, 3)
    assert (both.ratings[:, 2] == NOT_RATED).sum() == 18


LISTS = st.lists(st.none() | st.lists(st.none() | st.booleans(), max_size=4), max_size=9)


@given(LISTS)
def test_lists_of_ratings_become_a_table(lists):
    found = ratings_of(pa.chunked_array([pa.array(lists, pa.list_(pa.bool_()))]))

    for row, given_ratings in zip(found.tolist(), lists, strict=True):
        expected = [NOT_RATED if one is None else int(one) for one in given_ratings or []]
        assert row == expected + [NOT_RATED] * (found.shape[1] - len(expected))


@given(st.lists(st.lists(st.sampled_from([-1, 0, 1]), min_size=3, max_size=3), min_size=1, max_size=12))
def test_any_ratings_have_an_entry_or_none(rows):
    n = len(rows)
    one = candidate(column("label", [NAN] * n, LABEL), column("exact_match", [1, 0] * n, BINARY).rows(np.arange(n)))

    found = rater_agreement.raters_entry(replace(one, ratings=np.array(rows, np.int8)), 0.95)

    if found:
        assert 0 <= found["pair"]["low"] <= found["pair"]["value"] <= found["pair"]["high"] <= 1
