"""Excel workbooks, written by openpyxl."""

import datetime as dt

import pytest
from openpyxl import Workbook

from goldmeter.dataset.sources import records
from goldmeter.errors import DataError


def write(path, *sheets):
    workbook = Workbook()
    for number, rows in enumerate(sheets):
        sheet = workbook.create_sheet(f"s{number}") if number else workbook.active
        for row in rows:
            sheet.append(row)
    workbook.save(path)
    return path


@pytest.fixture
def workbook(tmp_path):
    return lambda *sheets: write(tmp_path / "a.xlsx", *sheets)


def test_a_workbook_that_would_fill_the_memory_is_refused(workbook, monkeypatch):
    path = workbook([["q"], ["Why?"]])
    monkeypatch.setattr("goldmeter.dataset.formats.excel.LARGEST_TEXT", 1_000)

    with pytest.raises(
        DataError, match=r"a\.xlsx: [0-9,]+ bytes when unpacked; at most 1,000 are read; save it as \.csv"
    ):
        [*records(path)]


def test_cells_are_text(workbook):
    day = dt.datetime(2026, 1, 2)  # noqa: DTZ001 (Excel knows no time zones)
    path = workbook([["q", "n", "x", "b", "day"], ["Why?", 7, 1.5, True, day], [], ["é", None, None, False, None]])

    assert [(record.line, record.values) for record in records(path)] == [
        (2, {"q": "Why?", "n": "7", "x": "1.5", "b": "true", "day": "2026-01-02T00:00:00"}),
        (4, {"q": "é", "n": None, "x": None, "b": "false", "day": None}),
    ]


def test_empty_sheets_are_passed_over(workbook):
    assert [record.values for record in records(workbook([], [["a"], ["x"]]))] == [{"a": "x"}]


def test_a_column_without_a_name_is_numbered(workbook):
    assert [record.values for record in records(workbook([[None, "a"], [0, "x"]]))] == [{"column_1": "0", "a": "x"}]


@pytest.mark.parametrize(
    ("sheets", "message"),
    [
        ([[["a"], [1]], [["b"], [2]]], "sheets with data: Sheet, s1; save the one to read as .csv"),
        (
            [[["a", "b"], [1, "=A2+1"]]],
            "row 2, column 2: the formula '=A2+1' has no value; open and save the file in Ex",
        ),
        ([[["a", "b"], [1, "#N/A"]]], "row 2, column 2: the error #N/A; correct or empty the cell"),
        ([[["a"], [1, 2]]], "row 2: 2 cells, but the header has 1"),
        ([[["a", "a"], [1, 2]]], "row 1: the column name 'a' appears twice"),
        ([[]], "empty, no record in it"),
    ],
)
def test_what_can_not_be_read_is_named(workbook, sheets, message):
    with pytest.raises(DataError) as caught:
        list(records(workbook(*sheets)))
    assert message in str(caught.value)
