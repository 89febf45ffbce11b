"""Score columns, read by part or at once."""

from pathlib import Path

import numpy as np
import pytest

from goldmeter.estimates.columns import score_columns
from tests.reporting.made import ROWS, parts_of, tables


@pytest.mark.parametrize("part_rows", [1, 3, 8])
@pytest.mark.parametrize("name", ["load", "lexical", "semantic", "judge"])
def test_the_columns_of_the_parts_are_together_those_of_the_table(tmp_path: Path, name: str, part_rows: int) -> None:
    table = parts_of(tables(ROWS), tmp_path, part_rows)[name]

    whole = [*score_columns(table, {"f1": 0.3})]
    by_part = [[*score_columns(table, {"f1": 0.3}, part)] for part in range(len(table))]

    for number, column in enumerate(whole):
        pieces = [columns[number] for columns in by_part]
        assert {piece.name for piece in pieces} == {column.name}
        assert {piece.facts.signature for piece in pieces} == {column.facts.signature}
        np.testing.assert_array_equal(np.concatenate([piece.values for piece in pieces]), column.values)
        np.testing.assert_array_equal(np.concatenate([piece.not_asked for piece in pieces]), column.not_asked)
        if column.passed is not None:
            passed = [piece.passed for piece in pieces if piece.passed is not None]
            np.testing.assert_array_equal(np.concatenate(passed), column.passed)
