import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tasks.reporting.histograms import distribution, histogram
from tasks.scores.column_facts import ColumnFacts
from tasks.scores.columns import ScoreColumn
from tests.reporting.made import column

SWATCHES = {"aurora": "var(--c0)", "borealis": "var(--c1)"}
ROWS = {"aurora": np.array([0, 1, 2, 3]), "borealis": np.array([4, 5])}


def scores(values, threshold=0.5, bounds=(0.0, 1.0)):
    values = np.array(values, dtype=np.float64)
    facts = ColumnFacts.from_json(column("f1", "lexical", threshold, bounds))
    return ScoreColumn("f1", values, np.isnan(values), None, None, facts)


def drawn(values=(0.0, 0.1, 1.0, np.nan, 0.6, 0.55), **options):
    return distribution(scores(values, **options), ROWS, 2)


def test_shares_are_of_the_measured_rows_and_the_upper_bound_is_in_the_last_bin():
    found = drawn()

    assert found.edges.tolist() == [0.0, 0.5, 1.0]
    assert found.shares["aurora"] == pytest.approx([2 / 3, 1 / 3])
    assert found.shares["borealis"].tolist() == [0.0, 1.0]


def test_the_description_tells_what_the_eye_sees():
    assert drawn().description == (
        "aurora: median 0.100, middle half 0.0500 to 0.550; borealis: median 0.575, middle half 0.562 to 0.588"
    )


@pytest.mark.parametrize("values", [(0, 1, 1, np.nan, 0, 1), (np.nan,) * 6])
def test_only_bounds_or_nothing_has_no_distribution(values):
    assert drawn(values) is None


def test_unknown_bounds_are_those_of_the_values():
    assert drawn((2, 3, 4, 5, 6, 8), bounds=None).edges.tolist() == [2.0, 5.0, 8.0]


def test_a_candidate_without_scores_is_left_out():
    assert list(drawn((0.2, 0.3, 0.4, 0.5, np.nan, np.nan)).shares) == ["aurora"]


def test_the_svg_is_well_formed_the_same_every_time_and_has_no_ids():
    first, second = (histogram(drawn(), SWATCHES) for _ in range(2))

    assert ET.fromstring(first).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - our own
    assert first == second
    assert not re.search(r'\sid="|<style|<script|href="', first)


def test_candidates_keep_their_colour_and_the_threshold_is_drawn():
    svg = histogram(drawn((0.2, np.nan, np.nan, np.nan, 0.6, 0.55)), SWATCHES)

    assert 'fill="var(--c0)"' in svg
    assert 'fill="var(--c1)"' in svg
    assert svg.count("stroke-dasharray") == 2
    assert "stroke-dasharray" not in histogram(drawn(threshold=None), SWATCHES)


def test_hostile_names_are_escaped():
    rows = {"<script>&\"'": np.arange(6)}
    svg = histogram(distribution(scores([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), rows, 2), dict.fromkeys(rows, "var(--c0)"))

    assert "<script>" not in svg
    assert "&lt;script" in svg
    ET.fromstring(svg)  # noqa: S314 - our own
