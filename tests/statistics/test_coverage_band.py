"""The band of a cascade that labels teach: one cell of its study; `make coverage` has them all."""

import pytest

from benchmarks.coverage.band import ANSWERS, exceeded


@pytest.mark.parametrize("answers", [1, ANSWERS])
def test_seldom_is_more_wrong_outside_of_the_band_than_was_stated(answers: int) -> None:
    [cell] = exceeded("a lenient judge", 0.1, 300, answers, 100)

    assert cell.reached, cell
