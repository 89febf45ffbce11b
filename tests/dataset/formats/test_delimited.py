"""TSV whose quotes are part of the text, and columns without a name."""

import csv

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goldmeter.dataset.sources import records
from goldmeter.dataset.texts import finite
from goldmeter.errors import DataError

TMP = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, content):
        (tmp_path / name).write_bytes(content.encode())
        return name

    return write


def read(path):
    return [record.values for record in records(path)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_quotes_that_break_a_tsv_file_are_text(write, end):
    path = write("a.tsv", end.join(["q\ta", '"Hi" he said\tx', '6" long\t', ""]))

    assert read(path) == [{"q": '"Hi" he said', "a": "x"}, {"q": '6" long', "a": None}]


def test_quoting_that_works_is_quoting(write):
    assert read(write("a.tsv", 'q\ta\n"x\ty"\t1\n')) == [{"q": "x\ty", "a": "1"}]


@pytest.mark.parametrize(
    "lines",
    [
        ['1\tx\t2\t"foo', '2\ty\t3\tbar"'],
        ['1\t"x\t2\tfoo', '2\ty"\t3\tbar'],
        ['1\t"x\t2\tfoo', "2\ty\t3\tbar", '3\ty"\t3\tbar'],
    ],
)
def test_quotes_that_would_join_whole_lines_are_text(write, lines):
    rows = read(write("a.tsv", "\n".join(["id\tq\tr\ta", *lines, "9\tz\t4\tc", ""])))

    assert [list(row.values()) for row in rows] == [*(line.split("\t") for line in lines), ["9", "z", "4", "c"]]


@pytest.mark.parametrize("text", ['q\n"x\ny"\n', 'q\ta\n"x\ny"\t1\n', 'q\ta\n"x\n\ty"\t1\n'])
def test_a_line_break_in_quotes_is_part_of_the_cell(write, text):
    rows = read(write("a.tsv", text))

    assert len(rows) == 1
    assert "\n" in rows[0]["q"]


def test_quotes_that_break_a_tsv_file_of_uneven_lines_are_refused(write):
    with pytest.raises(DataError, match=r"a\.tsv, line 2: the record that starts here: .* see its quotes"):
        read(write("a.tsv", 'q\ta\n"Hi" x\t1\n2\n'))


def test_quotes_that_break_a_csv_file_are_refused(write):
    with pytest.raises(DataError, match=r"a\.csv, line 2"):
        read(write("a.csv", 'q,a\n"Hi" x,1\n'))


def test_columns_without_a_name_are_numbered_and_told(write):
    path = write("a.csv", ",q, \n0,x,y\n")

    assert read(path) == [{"column_1": "0", "q": "x", "column_3": "y"}]
    assert records(path).notes == [
        "a.csv: column 1 of the header has no name (pandas writes such an index column); it is called column_1",
        "a.csv: column 3 of the header has no name (pandas writes such an index column); it is called column_3",
    ]


def test_a_numbered_name_that_is_taken_is_refused(write):
    with pytest.raises(DataError, match=r"line 1: the column name 'column_1' appears twice, in columns 1 and 2"):
        read(write("a.csv", ",column_1\n0,x\n"))


def test_names_for_all_columns_need_no_note(write):
    assert records(write("a.csv", "a,b\n1,2\n")).notes == []


cells = st.text(st.characters(exclude_characters="\t\r\n", exclude_categories=["Cs"]), min_size=1)


@TMP
@given(rows=st.lists(st.tuples(cells, cells), min_size=1))
def test_unquoted_cells_round_trip(tmp_path, rows):
    path = tmp_path / "a.tsv"
    path.write_bytes("\n".join(["a\tb", '"x" y\tz', *map("\t".join, rows)]).encode())

    assert [tuple(values.values()) for values in read(path)[1:]] == rows


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
@pytest.mark.parametrize("sign", [";", "\t", ",", "|"])
def test_the_delimiter_is_that_of_the_header(write, name, sign):
    path = write(name, f'q{sign}a\n"x{sign}y"{sign}0\nz{sign}"1"\n')

    assert read(path) == [{"q": f"x{sign}y", "a": "0"}, {"q": "z", "a": "1"}]


def test_decimal_commas_beside_semicolons_are_read(write):
    path = write("a.csv", "q;score\r\nWarum?;0,5\r\nEins, zwei;1,25\r\n")

    assert read(path) == [{"q": "Warum?", "score": "0,5"}, {"q": "Eins, zwei", "score": "1,25"}]
    assert [finite(row["score"]) for row in read(path)] == [0.5, 1.25]


def test_a_single_column_with_semicolons_stays_one(write):
    assert read(write("a.csv", "q; a\nx\ny;z;w\n")) == [{"q; a": "x"}, {"q; a": "y;z;w"}]


CELL = st.text('a ,;\t|"\n.1', max_size=6)


@TMP
@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=4), st.sampled_from(";\t|,"))
def test_what_was_written_with_any_delimiter_is_read(tmp_path_factory, rows, sign):
    path = tmp_path_factory.mktemp("any") / "a.csv"
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=sign, quoting=csv.QUOTE_ALL).writerows([("q", "a", "b"), *rows])

    assert [tuple(row.values()) for row in read(path)] == [tuple(cell or None for cell in row) for row in rows]


@given(st.floats(-1e6, 1e6).map(lambda number: f"{number:.4f}"))
def test_a_decimal_comma_is_a_point(text):
    assert finite(text.replace(".", ",")) == float(text)


@pytest.mark.parametrize("text", ["1,234", "12,345", "1,2,3", "1.000,5", ",5", "5,", "1,5e3", "", "nan", "∞,5"])
def test_what_may_be_a_thousand_or_a_list_is_no_number(text):
    assert finite(text) is None
