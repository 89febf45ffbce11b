"""Arrow files, and folders of `datasets`; readers/logs/make_datasets.py wrote one with datasets 5.2.0."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import feather

from goldmeter.dataset.formats import arrow as module
from goldmeter.dataset.formats.arrow import arrow
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError

SAVED = Path(__file__).parents[1] / "readers/logs/datasets"
TABLE = pa.table({"a": ["x", "é", None], "b": [[1], [], None]})


def read(path, pattern=None):
    return [record.values for record in records(path, pattern)]


def write(path, options=pa.ipc.new_stream):
    with options(path, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=2)
    return path


@pytest.mark.parametrize("options", [pa.ipc.new_stream, pa.ipc.new_file])
def test_streams_and_files_are_read(tmp_path, options):
    path = write(tmp_path / "a.arrow", options)

    assert read(path) == [{"a": "x", "b": ["1"]}, {"a": "é", "b": []}, {"a": None, "b": None}]
    assert [record.line for record in records(path)] == [1, 2, 3]


@pytest.mark.parametrize("folder", [SAVED, SAVED / "test"])
@pytest.mark.parametrize("pattern", [None, "*"])
def test_a_saved_data_set_is_read_in_the_order_of_its_files(folder, pattern):
    assert read(folder, pattern) == [
        {"id": "1", "question": "1?", "answers": ["one"]},
        {"id": "2", "question": "2?", "answers": ["two", "2"]},
        {"id": "3", "question": "3?", "answers": []},
    ]


def test_a_data_set_of_several_splits_asks_for_one(tmp_path):
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')

    with pytest.raises(DataError, match=r"the splits train, test; name one in dataset\.path, such as .*train"):
        read(tmp_path)


def test_a_file_that_the_state_lists_must_be_there(tmp_path):
    shutil.copytree(SAVED / "test", tmp_path / "test")
    (tmp_path / "test/data-00001-of-00002.arrow").unlink()

    with pytest.raises(DataError, match=r"data-00001-of-00002\.arrow: not there, but state\.json lists it"):
        read(tmp_path / "test")


@pytest.mark.parametrize("state", ["{", "[]", '{"_data_files": [1]}', "{}"])
def test_a_state_that_is_none_is_refused(tmp_path, state):
    (tmp_path / "state.json").write_text(state)

    with pytest.raises(DataError, match=r"state\.json: "):
        read(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("state.json", {"_data_files": []}, r"state\.json: it lists no file"),
        (
            "state.json",
            {"_data_files": [{"filename": "../out.arrow"}]},
            "'../out.arrow' is no name of something",
        ),
        ("state.json", {"_data_files": [{"filename": "/etc/passwd"}]}, "'/etc/passwd' is no name"),
        ("state.json", {"_data_files": [{"filename": "a\0"}]}, "is no name"),
        ("dataset_dict.json", {"splits": ["../other"]}, r"dataset_dict\.json: '../other' is no name"),
        ("dataset_dict.json", {"splits": ["a/../../other"]}, "is no name"),
        ("dataset_dict.json", {"splits": ["."]}, r"'\.' is no name"),
    ],
)
def test_a_data_set_never_leaves_its_folder(tmp_path, name, content, message):
    write(tmp_path / "out.arrow")
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / name).write_text(json.dumps(content))

    with pytest.raises(DataError, match=message):
        read(tmp_path / "saved")


def test_a_stream_cut_between_its_batches_is_refused(tmp_path):
    path = write(tmp_path / "a.arrow")
    content = path.read_bytes()
    for end in range(len(content)):
        path.write_bytes(content[:end])
        with pytest.raises(DataError, match=r"a\.arrow"):
            read(path)


def test_the_counts_of_the_fixture_are_its_own():
    info = json.loads((SAVED / "test/dataset_info.json").read_text())

    assert set(info["features"]) == {"id", "question", "answers"}


@pytest.mark.parametrize("options", [pa.ipc.new_stream, pa.ipc.new_file])
def test_a_column_that_is_not_needed_is_not_read(tmp_path, options):
    table = pa.table({"more": pa.array([0], pa.timestamp("us", tz="Mars/Phobos")), "a": ["x"]})
    with options(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)

    assert [*arrow(tmp_path / "a.arrow", frozenset({"a"}))] == [(1, {"more": None, "a": "x"})]
    with pytest.raises(DataError, match=r"a\.arrow, near row 1: not readable as Arrow: unknown time zone"):
        [*arrow(tmp_path / "a.arrow")]


@pytest.mark.parametrize("column", [pa.nulls(10_000_000), pa.array([0] * 10_000_000, pa.int64())])
def test_a_batch_that_is_far_larger_than_the_file_is_refused(tmp_path, column, monkeypatch):
    monkeypatch.setattr(module, "LARGEST_DECODED", 1 << 20)
    monkeypatch.setattr(module, "MOST_ROWS_PER_BYTE", 1_000)
    feather.write_feather(pa.table({"a": column}), tmp_path / "a.arrow", "zstd", chunksize=len(column))

    with pytest.raises(DataError, match=r"a\.arrow: 10,000,000 rows (in a file|have 80,000,000 bytes)"):
        [*arrow(tmp_path / "a.arrow")]
