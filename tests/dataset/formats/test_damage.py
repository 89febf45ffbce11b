"""Damaged files of every format: one cut off is refused, one with a wrong byte is read or refused, with its name."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from goldmeter.dataset.sources import records
from goldmeter.errors import DataError
from tests.dataset.formats.test_text_lines import TEXT, WRITERS

TABLE = pa.table({"a": ["x", "é", None], "b": [[1], [], None]})
TMP = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def _arrow(path: Path, options: Callable[..., pa.ipc.RecordBatchStreamWriter]) -> None:
    with options(path, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=2)


def _excel(path: Path) -> None:
    workbook = Workbook()
    for row in (["a", "b"], ["x", 1], ["y", 2]):
        workbook.active.append(row)
    workbook.save(path)


FILES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "Parquet": ("a.parquet", partial(pq.write_table, TABLE)),
    "Arrow stream": ("a.arrow", partial(_arrow, options=pa.ipc.new_stream)),
    "Arrow file": ("a.arrow", partial(_arrow, options=pa.ipc.new_file)),
    "Excel": ("a.xlsx", _excel),
    **{suffix: (f"a.jsonl{suffix}", partial(write, content=TEXT)) for suffix, write in WRITERS.items()},
}


@pytest.mark.parametrize("kind", FILES)
@TMP
@given(place=st.integers(0, 100_000), byte=st.integers(0, 255))
def test_a_wrong_byte_is_read_or_refused(tmp_path: Path, kind: str, place: int, byte: int) -> None:
    name, write = FILES[kind]
    write(tmp_path / name)
    content = bytearray((tmp_path / name).read_bytes())
    content[place % len(content)] = byte
    (tmp_path / name).write_bytes(content)

    try:
        assert [*records(tmp_path / name)]
    except DataError as error:
        assert name in str(error)  # noqa: PT017 (either outcome is right)


@pytest.mark.parametrize("kind", FILES)
@TMP
@given(end=st.integers(0, 100_000))
def test_what_is_cut_off_is_refused(tmp_path: Path, kind: str, end: int) -> None:
    name, write = FILES[kind]
    write(tmp_path / name)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: end % len(content)])

    with pytest.raises(DataError, match=name):
        [*records(tmp_path / name)]
