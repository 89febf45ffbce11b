"""Files of a folder that differ in their columns, and columns without a name, through the load stage."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from goldmeter.dataset.settings import Params
from goldmeter.errors import DataError
from tasks.load import source
from tests.small_project import settings

STATED = settings()
NONE = {"slices": [], "scores": {}, "exclude": {}, "group": None, "phrases": None, "id": None}
MAPPING = NONE | {"pattern": "*", "input": "q", "references": "r", "candidates": {"m": {"response": "a"}}}


@pytest.fixture
def opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()

    def opened(**files):
        for name, text in files.items():
            (tmp_path / "in" / name.replace("_", ".")).write_text(text)
        return source(Params(dataset=STATED["dataset"] | MAPPING | {"path": "in"}, load=STATED["load"]))

    return opened


def test_the_error_names_the_file_that_lacks_a_column(opened):
    with pytest.raises(DataError) as caught:
        opened(a_csv="q,r,a\n1,2,3\n", b_csv="q,r,answer\n1,2,3\n", c_tsv="q\tr\ta\n1\t2\t3\n")
    assert str(caught.value) == (
        "dataset.candidates.m.response: in/b.csv has no column 'a', but in/a.csv has; "
        "choose files by dataset.pattern, or add the column to all (an empty cell is null)"
    )


def test_a_column_that_is_not_mapped_may_differ(opened):
    assert len(list(opened(a_csv="q,r,a\n1,2,3\n", b_csv="q,r,a,more\n1,2,3,4\n"))) == 2


def test_parquet_beside_csv_is_compared_too(opened, tmp_path):
    pq.write_table(pa.table({"q": ["1"], "r": ["2"]}), tmp_path / "in/b.parquet")

    with pytest.raises(DataError, match=r"in/b\.parquet has no column 'a'"):
        opened(a_csv="q,r,a\n1,2,3\n")


def test_records_without_a_header_may_lack_a_key(opened):
    lines = [json.dumps({"q": "1", "r": "2"} | more) for more in ({"a": "3"}, {})]

    assert len(list(opened(a_jsonl=lines[0], b_jsonl=lines[1]))) == 2


@pytest.mark.parametrize("suffix", ["jsonl", "json"])
def test_a_file_whose_records_call_a_column_otherwise_is_refused(opened, suffix):
    lines = [json.dumps([{"q": "1", "r": "2", key: "3"}]) for key in ("a", "answer")]
    texts = lines if suffix == "json" else [line[1:-1] for line in lines]

    with pytest.raises(DataError) as caught:
        opened(**{f"{name}_{suffix}": text for name, text in zip("ab", texts, strict=True)})
    assert str(caught.value) == (
        f"dataset.candidates.m.response: no record of in/b.{suffix} has 'a', but those of in/a.{suffix} have; "
        "instead it has 'answer'; choose files by dataset.pattern, or give the column one name"
    )


def test_keys_that_only_some_records_have_are_no_other_name(opened):
    full, more, bare = {"q": "1", "r": "2", "a": "3"}, {"q": "1", "r": "2", "note": "x"}, {"q": "1", "r": "2"}
    a, b, c = ("\n".join(map(json.dumps, rows)) for rows in ([full, more], [more], [bare, full]))

    assert len(list(opened(a_jsonl=a, b_jsonl=b, c_jsonl=c))) == 5


def test_a_column_without_a_name_is_told(opened, caplog):
    opened(a_csv=",q,r,a\n0,1,2,3\n")

    assert [record.message for record in caplog.records] == [
        "in/a.csv: column 1 of the header has no name (pandas writes such an index column); it is called column_1"
    ]
