"""Measures of classification in reports/metrics.json: counts, confusions, differences, and what is no class."""

import numpy as np
import pytest

from goldmeter.statistics.confusion import NO_CLASS, class_differences, class_measures
from tests.reporting.made import inputs
from tests.reporting.made_classes import ANSWERS, CLASSES, class_rows, lexical


def entries(rows, folder, options=None, part_rows=100):
    document = inputs(rows, folder, part_rows, extra=lexical(rows, options))[1]["reports/metrics.json"]
    return document.get("classes", {}).get("class_match")


def test_counts_measures_and_confusions_of_a_candidate(tmp_path):
    found = entries(class_rows(), tmp_path)

    own = found["candidates"]["borealis"]
    assert found["labels"] == CLASSES
    assert found["given"]
    assert (own["n"], own["no_class"], own["two_classes"]) == (9, 1, 0)
    assert own["matrix"] == [[1, 2, 0, 0, 0], [0, 2, 0, 0, 1], [1, 0, 2, 0, 0], [0, 0, 0, 0, 0]]
    assert own["confused"] == [
        {"expected": "billing", "named": "login", "n": 2},
        {"expected": "other", "named": "billing", "n": 1},
    ]
    true, named = [0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 1, 1, 1, NO_CLASS, 1, 0, 2, 2]
    expected = class_measures(true, named, 4)
    for name, one in expected.measures.items():
        assert own["measures"][name]["value"] == pytest.approx(one.value, abs=1e-6)
        assert own["measures"][name]["low"] == pytest.approx(one.low, abs=1e-6)
    assert own["accuracy"]["value"] == pytest.approx(5 / 9, abs=1e-6)
    assert own["classes"]["login"]["n"] == 3
    assert own["classes"]["login"]["n_named"] == 4
    assert own["classes"]["spam"]["recall"]["value"] is None


def test_two_classes_and_no_response(tmp_path):
    own = entries(class_rows(), tmp_path)["candidates"]["aurora"]

    assert (own["n"], own["no_class"], own["two_classes"]) == (8, 0, 1)


def test_candidates_are_compared_on_the_rows_of_both(tmp_path):
    (found,) = entries(class_rows(), tmp_path)["differences"]

    true, base, head = [0, 0, 0, 1, 1, 2, 2, 2], [0, 0, 1, 1, 1, 2, NO_CLASS, 2], [0, 1, 1, 1, NO_CLASS, 0, 2, 2]
    assert (found["base"], found["head"], found["n"]) == ("aurora", "borealis", 8)
    for name, one in class_differences(true, base, head, 4).items():
        assert found["measures"][name]["value"] == pytest.approx(one.value, abs=1e-6)


def test_what_is_no_class_is_counted_and_named_with_its_row(tmp_path):
    found = entries(class_rows(), tmp_path)

    assert found["no_class_references"] == 2
    assert found["strays"] == [{"id": "q09", "reference": "refund"}]
    assert found["without_reference"] == ["spam"]


def test_the_number_of_parts_and_the_order_of_rows_do_not_matter(tmp_path):
    rows = class_rows()

    whole = entries(rows, tmp_path / "whole")
    parts = entries(rows[::-1], tmp_path / "parts", part_rows=4)

    assert parts == whole


def test_without_classes_they_are_those_of_the_references(tmp_path):
    found = entries(class_rows(), tmp_path, {})

    assert (found["given"], found["labels"]) == (False, ["billing", "login", "other", "refund"])
    assert found["candidates"]["aurora"]["no_class"] == 2  # "It is about billing.", "other or login"
    assert found["without_reference"] == []


def test_a_metric_under_a_name_of_the_users(tmp_path):
    rows = class_rows()
    table = lexical(rows, {"metric": "class_match", "classes": CLASSES}, name="intent")

    document = inputs(rows, tmp_path, extra=table)[1]["reports/metrics.json"]

    assert document["classes"]["intent"]["labels"] == CLASSES


def test_free_text_is_no_classification(tmp_path):
    answers = [(f"q{i:03}", f"answer {i}", f"answer {i}", "no") for i in range(210)]

    assert entries(class_rows(answers), tmp_path, {}) is None


def test_a_single_class_is_no_classification(tmp_path):
    answers = [(f"q{i:03}", "spam", "spam", "ham") for i in range(10)]

    assert entries(class_rows(answers), tmp_path, {}) is None


def test_references_that_are_all_no_class_are_named(tmp_path):
    answers = [(key, "refund", *others) for key, _, *others in ANSWERS]

    found = entries(class_rows(answers), tmp_path)

    assert (found["candidates"], found["no_class_references"]) == ({}, 19)  # one answer is missing


def test_intervals_are_wider_for_rows_in_groups(tmp_path):
    rng = np.random.default_rng(4)
    answers = [
        (
            f"q{i:03}",
            CLASSES[i // 10 % 3],
            CLASSES[i // 10 % 3] if rng.random() < 0.1 or i // 10 % 4 else "spam",
            "other",
        )
        for i in range(200)
    ]
    alone, rows = class_rows(answers), class_rows(answers)
    table = lexical(rows)
    for place, each in enumerate(rows):
        each.update(question=f"g{place // 20}", draw=place % 20)

    own = [
        inputs(some, tmp_path / name, extra=table)[1]["reports/metrics.json"]["classes"]["class_match"]["candidates"]
        for name, some in (("alone", alone), ("groups", rows))
    ]

    widths = [
        found["aurora"]["measures"]["macro_f1"]["high"] - found["aurora"]["measures"]["macro_f1"]["low"]
        for found in own
    ]
    assert widths[1] > 1.5 * widths[0]
