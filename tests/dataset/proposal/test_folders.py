"""Folders whose files are compressed, parallel texts, or a saved data set."""

import gzip
import shutil

import pytest

from goldmeter.dataset.proposal.given import read_sample
from tests.small_project import ROOT

SAVED = ROOT / "tests/dataset/readers/logs/datasets"


def test_compressed_files_are_of_the_format_in_them(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"q,a\n1,2\n"))
    (tmp_path / "notes.md").write_text("no data")

    sample = read_sample(str(tmp_path))

    assert (sample.pattern, [record.values for record in sample.records]) == ("*.csv.gz", [{"q": "1", "a": "2"}])


def test_parallel_texts_are_one_table(tmp_path):
    for name in ("source", "system"):
        (tmp_path / f"{name}.txt").write_text(f"{name}\n")

    sample = read_sample(str(tmp_path))

    assert (sample.pattern, sample.records[0].values) == ("*", {"line": "1", "source": "source", "system": "system"})


def test_texts_beside_a_table_are_none(tmp_path):
    (tmp_path / "readme.txt").write_text("about")
    (tmp_path / "a.csv").write_text("q\n1\n")

    assert read_sample(str(tmp_path)).pattern == "*.csv"


@pytest.mark.parametrize("folder", ["datasets", "datasets/test"])
def test_a_saved_data_set_is_read_by_its_state(tmp_path, folder):
    shutil.copytree(SAVED, tmp_path / "datasets")

    sample = read_sample(str(tmp_path / folder))

    assert (sample.pattern, len(sample.records)) == ("*", 3)
