"""CSV and TSV loaded as columns: the same tables as one by one, or none."""

import csv
import json
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dataset.columnar.both_ways import params_for, require_same
from tests.dataset.columnar.mappings import MAPPINGS, values

pytestmark = pytest.mark.property
NAMES = ["id", "q", "ref", "ref2", "a", "b", "ok", "ok2", "labelled", "who", "s", "t", "skip"]


@st.composite
def lines(draw, delimiter=","):
    """Records as bytes: quoted where needed or everywhere, with line ends in cells, blank lines and either line end."""
    records = draw(st.lists(values(), max_size=6))
    names = draw(st.permutations(NAMES)) if draw(st.booleans()) else NAMES
    file = StringIO(newline="")
    style = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    writer = csv.writer(file, delimiter=delimiter, quoting=style, lineterminator=draw(st.sampled_from(["\n", "\r\n"])))
    writer.writerow(names)
    for number, record in enumerate(records):
        unique = {"id": f"r{number}"} if draw(st.integers(0, 9)) else {}
        cells = [_cell((record | unique).get(name)) for name in names]
        writer.writerow(
            [cell.replace("\0", "").replace("\r", draw(st.sampled_from(["", "", "\r\n"]))) for cell in cells]
        )
        file.write(draw(st.sampled_from(["", "", "", "\n", "\r\n"])))
    text = file.getvalue()
    text = text if draw(st.integers(0, 3)) else text.rstrip("\r\n")
    return draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) + text.encode(errors="replace")


def _cell(value):
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


@st.composite
def damaged(draw):
    """Records as bytes of which some are changed, doubled or gone."""
    content = draw(lines())
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(content)))
        put = draw(st.sampled_from(DAMAGE) | st.binary(max_size=2))
        content = content[:at] + put + content[at + draw(st.integers(0, 3)) :]
    return content


SIGNS = [b'"', b'""', b",", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xc3", b"\t", b" "]
DAMAGE = [*SIGNS, b'"\n', b',"', b'",', b'"a"b', b'a"b']
RECORDS = [*DAMAGE, b"id,q,ref,a\n", b"1,x,y,z\n"]


@st.composite
def tabs(draw):
    """Tab-separated records without quotes, and some with."""
    content = draw(lines(delimiter="\t"))
    return content if draw(st.booleans()) else content.replace(b'"', b"")


@given(lines() | damaged(), MAPPINGS)
def test_columns_give_what_records_give_or_nothing(content, mapping):
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.csv")
        path.write_bytes(content)

        require_same(params_for(path, **mapping))


@given(tabs(), MAPPINGS)
def test_columns_give_what_records_of_tsv_give_or_nothing(content, mapping):
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.tsv")
        path.write_bytes(content)

        require_same(params_for(path, **mapping))


@given(
    st.lists(st.binary(max_size=9) | st.sampled_from([*DAMAGE, b"id,q,ref,a\n", b"1,x,y,z\n"]), max_size=6).map(
        b"".join
    )
)
def test_random_bytes_are_left_to_the_other_way(content):
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.csv")
        path.write_bytes(content)

        require_same(params_for(path))
