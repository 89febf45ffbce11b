"""Compressed files: read as what is in them, and refused when they are damaged."""

import bz2
import gzip
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from goldmeter.dataset.formats import text_lines
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError

TEXT = "".join(f'{{"a": "{number * 7919}"}}\n' for number in range(50)).encode()


def zipped(path, content, *names):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, content)


WRITERS = {
    ".gz": lambda path, content: path.write_bytes(gzip.compress(content)),
    ".bz2": lambda path, content: path.write_bytes(bz2.compress(content)),
    ".zst": lambda path, content: path.write_bytes(pa.compress(content, codec="zstd", asbytes=True)),
    ".zip": lambda path, content: zipped(path, content, "a.jsonl", "__MACOSX/._a.jsonl"),
}


def read(path):
    return [record.values for record in records(path)]


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_compressed_file_is_read_as_what_is_in_it(tmp_path, suffix):
    (tmp_path / "a.jsonl").write_bytes(TEXT)
    WRITERS[suffix](tmp_path / f"b.jsonl{suffix}", TEXT)

    assert read(tmp_path / f"b.jsonl{suffix}") == read(tmp_path / "a.jsonl")
    assert [record.line for record in records(tmp_path / f"b.jsonl{suffix}")] == list(range(1, 51))


def test_several_frames_are_one_file(tmp_path):
    half = len(TEXT) // 2
    parts = [pa.compress(part, codec="zstd", asbytes=True) for part in (TEXT[:half], TEXT[half:])]
    (tmp_path / "a.jsonl.zst").write_bytes(b"".join(parts))
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(TEXT[:half]) + gzip.compress(TEXT[half:]))

    assert len(read(tmp_path / "a.jsonl.zst")) == len(read(tmp_path / "a.jsonl.gz")) == 50


@pytest.mark.parametrize("suffix", WRITERS)
def test_bytes_that_are_not_utf8_have_their_place(tmp_path, suffix):
    WRITERS[suffix](tmp_path / f"a.jsonl{suffix}", b'{"a": 1}\ncaf\xe9')

    with pytest.raises(DataError, match="line 2: byte 0xe9 at byte offset 12 is not UTF-8"):
        read(tmp_path / f"a.jsonl{suffix}")


@pytest.mark.parametrize("names", [["a.jsonl", "b.jsonl"], []])
def test_a_zip_of_several_files_is_refused(tmp_path, names):
    zipped(tmp_path / "a.zip", TEXT, *names)

    with pytest.raises(DataError, match=f"a .zip must hold one file, this one holds {len(names)}; unpack it"):
        read(tmp_path / "a.zip")


def test_a_zip_of_a_version_that_is_not_known_is_refused(tmp_path):
    zipped(tmp_path / "a.zip", TEXT, "a.jsonl")
    content = bytearray((tmp_path / "a.zip").read_bytes())
    content[content.index(b"PK\x01\x02") + 6] = 209  # "version needed to extract" (APPNOTE.TXT, 4.3.12)
    (tmp_path / "a.zip").write_bytes(content)

    with pytest.raises(DataError, match=r"a\.zip: can't be read as \.zip: zip file version 20\.9"):
        read(tmp_path / "a.zip")


def test_tables_are_not_read_compressed(tmp_path):
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(b""))

    with pytest.raises(DataError, match=r"unknown format '\.parquet'"):
        read(tmp_path / "a.parquet.gz")


def test_a_member_that_has_no_name_is_no_file(tmp_path):
    zipped(tmp_path / "a.zip", TEXT, ".")

    with pytest.raises(DataError, match=r"a \.zip must hold one file, this one holds 0"):
        read(tmp_path / "a.zip")


@pytest.mark.parametrize("suffix", ["", *WRITERS])
def test_a_line_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(text_lines, "LONGEST_LINE", 100)
    content = b'{"a": "%s"}\n' % (b"x" * 90) + b'{"a": "%s"}\n' % (b"x" * 91)
    WRITERS.get(suffix, Path.write_bytes)(tmp_path / f"a.jsonl{suffix}", content)

    with pytest.raises(DataError, match="line 2: longer than 100 bytes; is it one record a line"):
        read(tmp_path / f"a.jsonl{suffix}")


def test_a_text_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(text_lines, "LARGEST_TEXT", 100)
    (tmp_path / "a.json").write_text("[" + '{"a": 1},\n' * 20 + '{"a": 1}]')

    with pytest.raises(DataError, match="more than 100 characters, which would be read at once; split it"):
        read(tmp_path / "a.json")
