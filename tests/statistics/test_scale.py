"""What the report's statistics take of many rows."""

from benchmarks.coverage.scale import scale


def test_memory_beside_the_columns_stays_small() -> None:
    _, peak = scale(rows=100_000, metrics=15)

    assert peak < 3 * 15 * 100_000 * 8  # three times the columns; a million rows: 360 MB
