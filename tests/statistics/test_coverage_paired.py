"""A few cells of the benchmark of paired differences: an interval that broke does not pass."""

import pytest

from benchmarks.coverage import paired


@pytest.mark.parametrize("n", [10, 20, 50])
def test_binary_rows_are_covered_at_all_35_chances(n: int) -> None:
    for cell in paired.binary_cells(n):
        assert cell.reached, cell


@pytest.mark.parametrize("n", [10, 20, 50])
def test_binary_rows_are_covered_at_a_corrected_confidence(n: int) -> None:
    for cell in paired.binary_cells(n, 0.9973, target=0.995):
        assert cell.reached, cell


@pytest.mark.parametrize(
    ("shape", "n"),
    [("normal, sd .3", 300), ("+.482 against -.9", 20), ("+.039 against -.961", 300), ("10 % lose", 300)],
)
def test_bounded_rows_are_covered(shape: str, n: int) -> None:
    for cell in paired.bounded_cells(shape, n, 4000):
        assert cell.reached, cell


@pytest.mark.parametrize(("sizes", "p", "loss"), [("equal", 0.5, 0.05), ("unequal", 0.5, 0.0), ("unequal", 0.98, 0.3)])
def test_clusters_are_covered(sizes: paired.Sizes, p: float, loss: float) -> None:
    cell = paired.clustered_cell(0.3, sizes, 100, p, loss, 2000)

    assert cell.reached, cell


def test_corpus_scores_are_covered() -> None:
    cell = paired.corpus_cell(100, 1000, grouped=True)

    assert cell.reached, cell
