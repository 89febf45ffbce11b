"""Parallel text files: line n of each is one record."""

import gzip

import pytest

from goldmeter.dataset.sources import Record, records
from goldmeter.errors import DataError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def folder(**files):
        (tmp_path / "wmt").mkdir()
        for name, text in files.items():
            (tmp_path / "wmt" / f"{name}.txt").write_bytes(text.encode())
        return "wmt"

    return folder


def test_a_column_has_the_name_of_its_file(folder):
    path = folder(source="Hallo\nWelt\n", reference="Hello\r\nWorld", system="Hi\n\n")

    assert list(records(path, "*.txt")) == [
        Record("wmt", 1, {"line": "1", "reference": "Hello", "source": "Hallo", "system": "Hi"}),
        Record("wmt", 2, {"line": "2", "reference": "World", "source": "Welt", "system": ""}),
    ]


def test_lines_that_one_file_lacks_are_refused(folder):
    with pytest.raises(DataError, match=r"wmt/b\.txt: 1 lines, but wmt/a\.txt has 3: the first without a .* line 2"):
        list(records(folder(a="1\n2\n3\n", b="1\n"), "*.txt"))


def test_a_compressed_file_has_the_name_of_what_is_in_it(folder, tmp_path):
    path = folder(a="1\n")
    (tmp_path / "wmt/b.txt.gz").write_bytes(gzip.compress(b"x\n"))

    assert [record.values for record in records(path, "*.txt*")] == [{"line": "1", "a": "1", "b": "x"}]


def test_two_files_of_one_name_are_refused(folder, tmp_path):
    path = folder(a="1\n")
    (tmp_path / "wmt/a.txt.gz").write_bytes(gzip.compress(b"x\n"))

    with pytest.raises(DataError, match=r"a\.txt\.gz: the column 'a' is also in wmt/a\.txt"):
        list(records(path, "*.txt*"))


def test_a_text_file_alone_is_no_data_set(folder):
    with pytest.raises(DataError, match=r"unknown format '\.txt'"):
        records(f"{folder(a='x')}/a.txt")
