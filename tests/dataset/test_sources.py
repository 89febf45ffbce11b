"""Reading user files: values stay as they are written; unreadable files are refused with file and line."""

import csv
import datetime as dt
import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goldmeter.dataset.readers import log
from goldmeter.dataset.sources import FORMATS, TEXT_FORMATS, Record, as_text, records
from goldmeter.errors import DataError

TMP = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, content):
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refusal(path, pattern=None):
    with pytest.raises(DataError) as caught:
        list(records(path, pattern))
    message = str(caught.value)
    assert len(message) < 600
    assert message.count("\n") < 5
    return message


def mended(path):
    """What is said of the file, and the line of Python below it run."""
    said, code = refusal(path).split("\n  ")
    exec(code)  # noqa: S102 (the line that was printed)
    return said


def read_or_refused(path):
    try:
        return list(records(path)), ""
    except DataError as error:
        return [], str(error)


# values as they are written


def test_csv_cells_are_text_and_empty_is_null(write):
    path = write("a.csv", "id,n,x,y\n007,1.50,NA,\n")

    assert list(records(path)) == [Record("a.csv", 2, {"id": "007", "n": "1.50", "x": "NA", "y": None})]


def test_json_numbers_and_booleans_are_their_source_text(write):
    text = '{"a": 1.50, "b": 1E400, "c": true, "d": null, "e": [1.0, false, {"f": -0}], "g": 12345678901234567890123}'
    path = write("a.jsonl", text)

    values = {"a": "1.50", "b": "1E400", "c": "true", "d": None, "e": ["1.0", "false", {"f": "-0"}]}
    assert next(iter(records(path))).values == values | {"g": "12345678901234567890123"}


def test_an_integer_of_5000_digits_is_text(write):
    path = write("a.jsonl", '{"a": ' + "9" * 5000 + "}")

    assert next(iter(records(path))).values == {"a": "9" * 5000}


def test_parquet_values_are_text(write):
    path = write("a.parquet", "")
    table = {
        "n": [7, None],
        "x": [1.5, float("nan")],
        "b": [True, None],
        "day": [dt.date(2024, 2, 29), None],
        "raw": [b"caf\xc3\xa9", None],
        "list": [["a", None], []],
        "struct": [{"n": 1}, None],
        "nothing": [None, None],
    }
    pq.write_table(pa.table(table), path)

    first, second = records(path)
    assert first == (
        "a.parquet",
        1,
        {"n": "7", "x": "1.5", "b": "true", "day": "2024-02-29", "raw": "café", "list": ["a", None]}
        | {"struct": {"n": "1"}, "nothing": None},
    )
    assert second.values == dict.fromkeys(table) | {"list": []}


def test_lines_are_those_a_record_starts_on(write):
    tabular = 'a,b\n\n"two\nlines",1\r\n\r\n3,"x ""y"""\n'
    pretty = '[\n {"a": 1,\n  "b": 2},\n\n {"a": 3}\n]\n'
    lines = '\n{"a": 1}\r\n  \n{"a": "\u2028\x85"}'

    assert [(r.line, r.values["b"]) for r in records(write("a.csv", tabular))] == [(3, "1"), (6, 'x "y"')]
    assert [(r.line, r.values["a"]) for r in records(write("a.json", pretty))] == [(2, "1"), (5, "3")]
    assert [(r.line, r.values["a"]) for r in records(write("a.jsonl", lines))] == [
        (2, "1"),
        (4, "\u2028\x85"),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_csv_line_ends(write, end):
    path = write("a.csv", end.join(["a,b", "1,2", "3,4", ""]))

    assert [(r.line, r.values) for r in records(path)] == [
        (2, {"a": "1", "b": "2"}),
        (3, {"a": "3", "b": "4"}),
    ]


@pytest.mark.parametrize("end", [".jsonl", ".json", ".csv", ".tsv"])
def test_a_byte_order_mark_is_no_part_of_the_first_name(write, end):
    body = {".jsonl": '{"a": "1"}', ".json": '[{"a": "1"}]', ".csv": "a\n1\n", ".tsv": "a\n1\n"}[end]

    path = write("a" + end, b"\xef\xbb\xbf" + body.encode())

    assert next(iter(records(path))).values == {"a": "1"}


def test_tsv_is_split_at_tabs_only(write):
    assert next(iter(records(write("a.TSV", "a\tb\n1,2\t😀\n")))).values == {"a": "1,2", "b": "😀"}


def test_nul_characters_are_kept(write):
    assert next(iter(records(write("a.csv", "a,b\nx\0y,\0\n")))).values == {"a": "x\0y", "b": "\0"}
    assert next(iter(records(write("a.jsonl", r'{"a": "x\u0000y"}')))).values == {"a": "x\0y"}


def test_a_cell_of_ten_megabytes(write):
    path = write("a.csv", "a,b\n" + "x" * 10_000_000 + ",1\n")

    assert len(next(iter(records(path))).values["a"]) == 10_000_000


def test_a_folder_is_read_in_the_order_of_its_paths(write):
    for name in ["in/b.csv", "in/a.csv", "in/.gitignore", "in/c.txt"]:
        write(name, f"name\n{name}\n")

    assert [(r.file, r.values["name"]) for r in records("in", "*.csv")] == [
        ("in/a.csv",) * 2,
        ("in/b.csv",) * 2,
    ]


def test_hidden_files_match_no_pattern(write):
    write("in/a.csv", "a\n1\n")
    write("in/.gitignore", "/a.csv\n")

    assert [r.file for r in records("in", "*")] == ["in/a.csv"]


def test_records_can_be_iterated_again(write):
    source = records(write("a.csv", "a\n1\n2\n"))

    assert [r.line for r in source] == [r.line for r in source] == [2, 3]


# what is refused


def test_missing_file_names_its_neighbours(write):
    write("answers.csv", "a\n1\n")

    assert refusal("answer.csv") == ("answer.csv: no such file or folder; see dataset.path; did you mean answers.csv?")


@pytest.mark.usefixtures("write")
def test_missing_folder():
    assert refusal("nowhere/at/all.csv") == "nowhere/at/all.csv: no such file or folder; see dataset.path"


def test_an_address_is_fetched_by_dvc():
    assert refusal("s3://bucket/a.csv") == (
        "s3://bucket/a.csv: fetch it first, by dvc import-url s3://bucket/a.csv, "
        "and name the local file in dataset.path"
    )


def test_a_pattern_that_matches_nothing(write):
    for number in range(12):
        write(f"in/{number:02d}.csv", "a\n1\n")

    assert refusal("in", "*.json") == (
        "in: no file matches dataset.pattern '*.json'; it holds 00.csv, 01.csv, 02.csv, 03.csv, 04.csv, 05.csv, "
        "06.csv, 07.csv, 08.csv, 09.csv, and 2 more"
    )


@pytest.mark.parametrize("pattern", ["/etc/*", "**x"])
def test_a_pattern_that_is_none(write, pattern):
    write("in/a.csv", "a\n1\n")

    assert refusal("in", pattern).startswith(f"dataset.pattern: '{pattern}' can't be used: ")


def test_a_folder_needs_a_pattern(write):
    write("in/a.csv", "a\n1\n")

    assert refusal("in") == "in: a folder; say which of its files in dataset.pattern, such as *.jsonl"


def test_unknown_formats_name_the_known_ones(write):
    assert refusal(write("a.xls", "")) == (
        "a.xls: unknown format '.xls'; allowed: .jsonl, .json, .csv, .tsv, .parquet, .arrow, .xlsx, "
        "of which text may be compressed (.gz, .bz2, .zst, .zip)"
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *((f"a{end}", "") for end in TEXT_FORMATS),
        ("a.jsonl", b"\xef\xbb\xbf\n \n"),
        ("a.json", "[ ]"),
        ("a.csv", "a,b\n"),
    ],
)
def test_files_without_a_record(write, name, content):
    assert refusal(write(name, content)) == f"{name}: empty, no record in it"


def test_a_parquet_file_without_rows(write):
    path = write("a.parquet", "")
    pq.write_table(pa.table({"a": pa.array([], pa.string())}), path)

    assert refusal(path) == "a.parquet: empty, no record in it"


@pytest.mark.parametrize(
    ("name", "content", "place", "problem"),
    [
        ("a.jsonl", '{"a": 1}\n{"a": 1,\n', "line 2, column 9", "Expecting property name enclosed in double quotes"),
        ("a.jsonl", '{"a": 1} {"a": 2}\n', "line 1, column 10", "more text after the end; found '{\"a\": 2}'"),
        ("a.jsonl", '{"a": "x\ty"}\n', "line 1, column 9", "Invalid control character"),
        ("a.jsonl", '{"a": 1}\n  {"a": NaN}\n', "line 2, column 3", "NaN is not a JSON number; use null"),
        ("a.jsonl", '{"a": [-Infinity]}', "line 1, column 1", "-Infinity is not a JSON number"),
        ("a.jsonl", '{"a": 1, "b": 2, "a": 3}', "line 1, column 1", "the key 'a' appears twice in one object"),
        ("a.jsonl", '{"x": {"a": 1, "a": 1}}', "line 1, column 1", "the key 'a' appears twice in one object"),
        ("a.jsonl", '{"a": ' + "[" * 100_000, "line 1, column 1", "nested too deep"),
        ("a.json", '[{"a": 1},\n {"a" 2}]', "line 2, column 7", "Expecting ':' delimiter; found '2}]'"),
        ("a.json", '[{"a": 1},\n {"a": 2, "a": 2}]', "line 2, column 2", "the key 'a' appears twice"),
        ("a.json", '[{"a": 1}\n {"a": 2}]', "line 2, column 2", "expected ',' or ']'"),
        ("a.json", '[{"a": 1},]', "line 1, column 11", "Expecting value"),
        ("a.json", '[{"a": 1}', "line 1, column 10", "expected ',' or ']'; found the end"),
        ("a.json", '[{"a": 1}]\n]', "line 2, column 1", "more text after the end"),
        ("a.json", '{"a": 1}\n{"a": 2}', "line 1, column 1", "expected a list of objects (one object a line"),
    ],
)  # fmt: skip
def test_malformed_json_has_line_and_column(write, name, content, place, problem):
    message = refusal(write(name, content))

    assert message.startswith(f"{name}, {place}: not JSON: {problem}")


@pytest.mark.parametrize(
    ("value", "found"),
    [("[1]", "a list"), ("null", "null"), ('"x"', "the value 'x'"), ("7", "the value '7'")],
)
def test_json_that_is_no_object(write, value, found):
    expected = f'line 2: expected an object like {{"input": …}}, found {found}'

    assert refusal(write("a.jsonl", f'{{"a": 1}}\n{value}\n')) == f"a.jsonl, {expected}"
    assert refusal(write("a.json", f'[{{"a": 1}},\n{value}]')) == f"a.json, {expected}"


@pytest.mark.parametrize("end", [".jsonl", ".json", ".csv", ".tsv"])
def test_bytes_that_are_not_utf8(write, end):
    path = write("a" + end, b"\xef\xbb\xbfa\n".replace(b"a", b'{"a": 1}' if "j" in end else b"a") + b"caf\xe9\n")
    if end == ".json":
        path = write("a.json", b'\xef\xbb\xbf[{"a":1}\ncaf\xe9')

    offset = {".jsonl": 15, ".json": 15, ".csv": 8, ".tsv": 8}[end]
    said = mended(path)
    assert said == (
        f"a{end}, line 2: byte 0xe9 at byte offset {offset} is not UTF-8; save the file as UTF-8; "
        "if it is a Western Windows file, in Python:"
    )
    assert Path(f"a-utf8{end}").read_bytes().endswith("café".encode() + b"\n" * (end != ".json"))


def test_a_bad_byte_right_after_the_byte_order_mark(write):
    assert "line 1: byte 0xff at byte offset 3 is" in refusal(write("a.csv", b"\xef\xbb\xbf\xff"))


@TMP
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5))
@pytest.mark.parametrize("mark", ["utf-16-le", "utf-16-be"])
def test_utf16_is_read_as_the_same_text_in_utf8(write, mark, texts):
    lines = "".join(f"{json.dumps({'a': text}, ensure_ascii=False)}\n" for text in texts)
    plain = write("plain.jsonl", lines)

    path = write("a.jsonl", f"\ufeff{lines}".encode(mark))
    packed = write("a.jsonl.gz", gzip.compress(path.read_bytes()))

    assert log.head_of(path) == log.head_of(packed) == log.head_of(plain)
    assert [record.values for record in records(str(path))] == [{"a": text} for text in texts]
    assert [record.values for record in records(str(packed))] == [{"a": text} for text in texts]


@pytest.mark.parametrize("content", [b"\xff\xfea", b"\xff\xfe\x00\xd8a\x00", b"\xfe\xff\xd8\x00\x00a"])
def test_what_only_begins_as_utf16_is_refused(write, content):
    assert refusal(write("a.csv", content)).startswith("a.csv: begins as UTF-16 and is none: ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n\n3\n", "line 4: expected 2 fields, found 1; see its quotes"),
        ('a,b\n"x\ny",2\n1,2,3\n', "line 4: expected 2 fields, found 3; see its quotes"),
        ("a,b,a\n1,2,3\n", "line 1: the column name 'a' appears twice, in columns 1 and 3"),
        (
            'a,b\n1,2\n"never closed,2\n3,4\n',
            "line 3: the record that starts here: unexpected end of data; see its quotes",
        ),
        ('a,b\n"x"y,2\n', "line 2: the record that starts here: ',' expected after '\"'; see its quotes"),
    ],
)
def test_malformed_csv_has_its_line(write, content, message):
    assert refusal(write("a.csv", content)) == f"a.csv, {message}"


def test_csv_cells_have_a_limit(write, monkeypatch):
    monkeypatch.setattr("goldmeter.dataset.formats.delimited.LONGEST_CELL", 20)
    path = write("a.csv", 'a,b\n1,2\n"' + "x\n" * 20)

    assert refusal(path).startswith("a.csv, line 3: the record that starts here: field larger than field limit (20)")


def test_parquet_that_is_none(write):
    path = write("a.parquet", "PAR1 no parquet PAR1")

    assert refusal(path).startswith("a.parquet, near row 1: not readable as Parquet: ")


def test_parquet_with_two_columns_of_one_name(write):
    path = write("a.parquet", "")
    pq.write_table(pa.Table.from_arrays([pa.array(["x"])] * 2, names=["a", "a"]), path)

    assert refusal(path) == "a.parquet: the column name 'a' appears twice, in columns 1 and 2"


def test_parquet_bytes_that_are_no_text(write):
    path = write("a.parquet", "")
    pq.write_table(pa.table({"a": [b"fine", b"\xff"]}), path)

    assert refusal(path).startswith("a.parquet, near row 2: not readable as Parquet: 'utf-8' codec can't decode")


def test_names_of_files_that_are_no_text(write):
    name = b"caf\xe9.csv".decode(errors="surrogateescape")

    assert next(iter(records(write(name, "a\n1\n")))).file == "caf\\xe9.csv"


# properties

text = st.text()
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3))
objects = st.lists(st.dictionaries(text, values, max_size=4), min_size=1, max_size=5)


@TMP
@given(objects=objects, ascii_only=st.booleans(), indent=st.none() | st.just(1))
def test_json_objects_round_trip(tmp_path, objects, ascii_only, indent):
    lines, whole = tmp_path / "a.jsonl", tmp_path / "a.json"
    lines.write_bytes("\n".join(json.dumps(o, ensure_ascii=ascii_only) for o in objects).encode())
    whole.write_bytes(json.dumps(objects, ensure_ascii=ascii_only, indent=indent).encode())

    assert [r.values for r in records(lines)] == as_text(objects)
    assert [r.values for r in records(whole)] == as_text(objects)
    assert [r.line for r in records(lines)] == list(range(1, len(objects) + 1))


@TMP
@given(
    rows=st.lists(st.tuples(text, text), min_size=1, max_size=5),
    delimiter=st.sampled_from([",", "\t"]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_csv_cells_round_trip(tmp_path, rows, delimiter, end):
    path = tmp_path / ("a.csv" if delimiter == "," else "a.tsv")
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator=end).writerows([("a", "b"), *rows])

    assert [tuple(r.values.values()) for r in records(path)] == [(a or None, b or None) for a, b in rows]


tokens = [*"{}[],:-.e1", '"', "\\", '"a"', "null", "NaN", "\n", "\0", "\u2028"]
json_like = st.lists(st.sampled_from(tokens)).map(lambda parts: "".join(parts).encode())
csv_like = st.lists(st.sampled_from(["a", "b", ",", '"', '""', "\n", "\r\n", "\r", "\t", "\0", " ", "é"])).map(
    lambda parts: "".join(parts).encode()
)


@TMP
@given(content=st.binary() | json_like | csv_like, end=st.sampled_from(list(FORMATS)))
def test_any_bytes_are_read_or_refused(tmp_path, content, end):
    path = tmp_path / f"a{end}"
    path.write_bytes(content)

    found, message = read_or_refused(path)
    assert found or path.name in message


@pytest.mark.parametrize("pattern", ["../*.jsonl", "a/../../*.jsonl"])
def test_a_pattern_that_leaves_the_folder_is_refused(tmp_path, pattern):
    (tmp_path / "in").mkdir()
    (tmp_path / "out.jsonl").write_text("{}")

    with pytest.raises(DataError, match=r"leaves the folder; name the folder of the files in dataset\.path"):
        records(tmp_path / "in", pattern)
