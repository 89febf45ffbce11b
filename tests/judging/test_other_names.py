"""The user's table of names that mean the same."""

import csv
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import DataError
from goldmeter.judging.other_names import accepted, accepted_columns, folded, hash_of, other_names

NAMES = st.sampled_from(["USA", "us", " United  States", "Genève", "Geneva", "Ⅳ", "iv", "z", "ß", "SS", "x,y", '"q"'])
TABLES = st.lists(st.lists(NAMES, min_size=2, max_size=5), max_size=5)


def table(folder: Path, text: str, encoding: str = "utf-8") -> str:
    path = folder / "names.csv"
    path.write_text(text, encoding=encoding, newline="")
    return str(path)


def test_a_line_for_each_thing(tmp_path: Path) -> None:
    path = table(tmp_path, '# countries\n\nUSA, US,"United States, the"\r\nGenève,Geneva\n', "utf-8-sig")

    names = other_names(path)

    assert accepted(["us", "GENEVA", "Rome"], names) == [
        "us", "USA", "United States, the", "GENEVA", "Genève", "Rome"
    ]  # fmt: skip


def test_a_name_of_two_things_gets_the_names_of_both_and_nothing_follows(tmp_path: Path) -> None:
    names = other_names(table(tmp_path, "Georgia,Sakartvelo\nGeorgia,Peach State\n"))

    assert accepted(["Georgia"], names) == ["Georgia", "Sakartvelo", "Peach State"]
    assert accepted(["Sakartvelo"], names) == ["Sakartvelo", "Georgia"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a,b\nalone\n", "line 2: expected at least two names, separated by commas"),
        ("a, A ,\n", "line 1: expected at least two names"),
        ('a,b\n"c\n', "line 2: unexpected end of data"),
        ("a,b\n" + ",".join(f"n{i}" for i in range(1001)), "line 2: 1,001 names; at most 1,000"),
    ],
)
def test_a_line_that_names_nothing_is_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        other_names(table(tmp_path, text))


def test_what_is_no_table_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert other_names(str(tmp_path / "none.csv")) == {}
    for path, problem in [(".", "Is a directory"), ("binary", "can't decode")]:
        with pytest.raises(DataError, match=problem):
            other_names(str(tmp_path / path))


def test_a_table_that_was_changed_is_read_again(tmp_path: Path) -> None:
    path = table(tmp_path, "# nothing yet\n")
    assert (other_names(path), hash_of(path)) == ({}, "")

    table(tmp_path, "a,b\n")

    assert other_names(path) == {"a": ["b"], "b": ["a"]}
    assert len(hash_of(path)) == 12


@given(things=TABLES, rows=st.lists(st.lists(st.none() | NAMES | st.text(max_size=3), max_size=4), max_size=6))
def test_columns_say_what_rows_say(tmp_path_factory: pytest.TempPathFactory, things: list, rows: list) -> None:
    path = tmp_path_factory.mktemp("names") / "names.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(one for one in things if len({*map(folded, one)}) > 1)
    names = other_names(str(path))
    texts = pa.array([text for row in rows for text in row], pa.string())
    offsets = np.cumsum([0, *map(len, rows)])

    found, ends = accepted_columns(texts, offsets, names)

    expected = [[n for text in row for n in (accepted([text], names) if text else [text])] for row in rows]
    assert [found.to_pylist()[a:b] for a, b in pairwise(ends)] == expected
