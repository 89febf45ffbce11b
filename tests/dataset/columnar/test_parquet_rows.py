"""Parquet loaded as columns: the same tables as one by one, or none."""

import datetime as dt
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.dataset.sources import records
from tests.dataset.columnar.both_ways import as_columns, params_for, require_same
from tests.dataset.columnar.mappings import MAPPINGS, TEXTS

pytestmark = pytest.mark.property
TYPES = {
    "s": [pa.string(), pa.float64(), pa.float32(), pa.int64(), pa.int8()],
    "ok": [pa.string(), pa.bool_(), pa.int32()],
    "who": [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.null()],
    "ref": [pa.string(), pa.list_(pa.string()), pa.large_list(pa.large_string()), pa.list_(pa.int64()),
            pa.list_(pa.list_(pa.string()))],
    "skip": [pa.string(), pa.bool_()],
    "t": [pa.list_(pa.string()), pa.struct({"a": pa.string()}), pa.string()],
}  # fmt: skip


def of_type(kind):
    """Values of an Arrow type."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return st.none() | st.lists(of_type(kind.value_type), max_size=3)
    if pa.types.is_struct(kind):
        return st.fixed_dictionaries({field.name: of_type(field.type) for field in kind})
    if pa.types.is_floating(kind):
        return st.none() | st.sampled_from([0.0, 0.5, 1.0, 1e16, 1e-5, 0.1, float("nan"), float("inf")])
    if pa.types.is_integer(kind):
        return st.none() | st.integers(-2, 3)
    if pa.types.is_boolean(kind):
        return st.none() | st.booleans()
    return st.none() if pa.types.is_null(kind) else st.none() | TEXTS.filter(_is_unicode)


def _is_unicode(text):
    return text.isprintable() or not any(0xD800 <= ord(sign) < 0xE000 for sign in text)


@st.composite
def tables(draw):
    """A file of some row groups, its columns of any type that texts or lists have."""
    rows = draw(st.integers(0, 6))
    columns = {
        "id": pa.array([f"r{number // draw(st.sampled_from([1, 1, 1, 2]))}" for number in range(rows)], pa.string())
    }
    for name in ("q", "ref", "ref2", "a", "b", "ok", "ok2", "labelled", "who", "s", "t", "skip"):
        kind = draw(st.sampled_from(TYPES.get(name, [pa.string()])))
        cells = draw(st.lists(of_type(kind), min_size=rows, max_size=rows))
        columns[name] = pa.array(cells, kind.value_type if pa.types.is_dictionary(kind) else kind).cast(kind)
    file = BytesIO()
    pq.write_table(pa.table(columns), file, row_group_size=draw(st.integers(1, 4)))
    return file.getvalue()


@st.composite
def damaged(draw):
    """A file of which some bytes are changed."""
    content = bytearray(draw(tables()))
    for _ in range(draw(st.integers(1, 2))):
        content[draw(st.integers(0, len(content) - 1))] = draw(st.integers(0, 255))
    return bytes(content)


@given(tables() | damaged(), MAPPINGS)
def test_columns_give_what_records_give_or_nothing(content, mapping):
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.parquet")
        path.write_bytes(content)

        require_same(params_for(path, **mapping))


@pytest.mark.parametrize(
    "column",
    [
        pa.array([b"\xff"]), pa.array([dt.date(2024, 5, 1)]), pa.array([2**62], pa.timestamp("us")),
        pa.array([b"\xff"]).view(pa.string()),
    ],
)  # fmt: skip
def test_types_that_might_stop_the_run_are_left_to_the_other_way(column, tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["1"], "q": ["?"], "ref": ["x"], "a": ["y"], "more": column}), path)

    assert not require_same(params_for(path, slices=["more"]))


def test_numbers_and_lists_of_texts_are_covered(tmp_path):
    path = tmp_path / "a.parquet"
    columns = {"id": [1, 2, 3], "q": ["?"] * 3, "ref": [["x"], ["y", None, " "], ["z"]], "a": [True, None, False]}
    pq.write_table(pa.table({**columns, "s": [0.1, 1e16, None]}), path, row_group_size=2)

    assert require_same(params_for(path, slices=["s"], scores={"x": "s"}, limits={"part_rows": 2}))


def test_a_text_that_all_rows_share_is_in_memory_once(tmp_path):
    path, longest = tmp_path / "a.parquet", 1_000_000
    shared = pa.DictionaryArray.from_arrays(pa.array([0] * 5_000, pa.int32()), ["x" * longest])
    columns = {name: ["y"] * 5_000 for name in ("id", "q", "ref", "a")}
    pq.write_table(pa.table({**columns, "more": shared}), path, compression="zstd", store_schema=False)

    texts = {id(record.values["more"]) for record in records(path)}

    assert len(texts) <= 5  # one of each batch, instead of 5 GB


def test_texts_that_would_be_too_large_when_they_are_decoded_are_left_to_the_other_way(tmp_path):
    path = tmp_path / "a.parquet"
    shared = pa.DictionaryArray.from_arrays(pa.array([0] * 2_000, pa.int32()), ["x" * 1_000_000])
    columns = {name: ["y"] * 2_000 for name in ("id", "q", "ref")}
    pq.write_table(pa.table({**columns, "a": shared}), path, compression="zstd", store_schema=False)

    assert as_columns(params_for(path, limits={"part_rows": 2_000})) is None


def test_lists_of_texts_that_would_be_too_large_are_left_to_the_other_way(tmp_path):
    path = tmp_path / "a.parquet"
    shared = pa.DictionaryArray.from_arrays(pa.array([0] * 5_000, pa.int32()), ["x" * 1_000_000])
    lists = pa.ListArray.from_arrays(pa.array(range(0, 5_001, 50), pa.int32()), shared)
    columns = {name: ["y"] * 100 for name in ("id", "q", "a")}
    pq.write_table(pa.table({**columns, "ref": lists}), path, compression="zstd", store_schema=False)

    assert as_columns(params_for(path)) is None
