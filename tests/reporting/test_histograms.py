import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.console.format import number
from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.reporting.histograms import Bins, distribution, histogram, joined, quartile_bins
from tests.reporting.made import column

SWATCHES = {"aurora": "var(--c0)", "borealis": "var(--c1)"}
ROWS = {"aurora": np.array([0, 1, 2, 3]), "borealis": np.array([4, 5])}


def drawn(values=(0.0, 0.1, 1.0, np.nan, 0.6, 0.55), threshold=0.5, bounds=(0.0, 1.0), rows=None, cut=()):
    """The distribution of some scores; cut: where they are divided into parts."""
    rows = rows or ROWS
    facts = ColumnFacts.from_json(column("f1", "lexical", threshold, bounds))
    scores, codes = np.array(values, dtype=np.float64), np.zeros(len(values), np.intp)
    for place, own in enumerate(rows.values()):
        codes[own] = place
    low, high = (np.nanmin(scores), np.nanmax(scores)) if bounds is None else bounds
    bins, parts = Bins(low, high), [*zip(np.split(scores, cut), np.split(codes, cut), strict=True)]
    first, *others = [bins.counts(*part, len(rows)) for part in parts]
    counts = sum(others, start=first)
    near = joined([bins.values(*part, quartile_bins(counts)) for part in parts])
    return distribution("f1", facts, bins, counts, near, [*rows])


def test_shares_are_of_the_measured_rows_and_the_upper_bound_is_in_the_last_bin():
    found = drawn()
    aurora = {0: 1 / 3, 2: 1 / 3, 19: 1 / 3}

    assert found.edges.tolist() == pytest.approx([edge / 20 for edge in range(21)])
    assert found.shares["aurora"].tolist() == pytest.approx([aurora.get(place, 0) for place in range(20)])
    assert np.flatnonzero(found.shares["borealis"]).tolist() == [11]


@given(
    st.lists(st.floats(-1, 3) | st.sampled_from([-1.0, 0.3, 1 / 3, 3.0, np.nan]), min_size=1, max_size=60),
    st.sampled_from([None, (-1.0, 3.0), (-1.5, 3.3)]),
    st.data(),
)
def test_counts_and_quartiles_are_those_of_numpy_whatever_the_parts(values, bounds, data):
    scores = np.array(values)
    cut = sorted(data.draw(st.lists(st.integers(0, len(values)), max_size=4)))
    codes = data.draw(st.lists(st.integers(0, 1), min_size=len(values), max_size=len(values)))
    rows = {name: np.flatnonzero(np.array(codes) == place) for place, name in enumerate(("x", "y"))}
    measured = {name: scores[own][~np.isnan(scores[own])] for name, own in rows.items()}
    if np.isnan(scores).all():
        return

    found = drawn(values, bounds=bounds, rows=rows, cut=cut)

    if found is None:
        assert len({value for own in measured.values() for value in own.tolist()}) <= 2
        return
    said = []
    for name, own in measured.items():
        assert (name in found.shares) == bool(own.size)
        if own.size:
            low, middle, high = (number(float(one)) for one in np.quantile(own, [0.25, 0.5, 0.75]))
            said.append(f"{name}: median {middle}, middle half {low} to {high}")
            np.testing.assert_array_equal(found.shares[name], np.histogram(own, found.edges)[0] / own.size)
    assert found.description == "; ".join(said)


def test_the_description_tells_what_the_eye_sees():
    assert drawn().description == (
        "aurora: median 0.100, middle half 0.0500 to 0.550; borealis: median 0.575, middle half 0.562 to 0.588"
    )


@pytest.mark.parametrize("values", [(0, 1, 1, np.nan, 0, 1), (np.nan,) * 6])
def test_only_bounds_or_nothing_has_no_distribution(values):
    assert drawn(values) is None


def test_unknown_bounds_are_those_of_the_values():
    assert drawn((2, 3, 4, 5, 6, 8), bounds=None).edges[[0, 10, 20]].tolist() == [2.0, 5.0, 8.0]


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
    svg = histogram(drawn([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], rows=rows), dict.fromkeys(rows, "var(--c0)"))

    assert "<script>" not in svg
    assert "&lt;script" in svg
    ET.fromstring(svg)  # noqa: S314 - our own
