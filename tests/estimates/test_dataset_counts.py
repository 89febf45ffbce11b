"""Counts and the hash of the data set, from parts of any size."""

from pathlib import Path

import pyarrow as pa
import pytest

from goldmeter.estimates.dataset_counts import PartCounts, dataset_counts, part_counts
from goldmeter.estimates.metrics_report import DatasetCounts
from goldmeter.pipeline.tables import Parts, write_part
from tasks.load import load
from tests.test_load import params, records

NAMES = "xyz"
LONG = {"column": "model", "response": "a"}
WIDE = {name: {"response": name} for name in NAMES}
IDS = [str(i) for i in range(7)]


def counted(folder: Path, values: list[dict[str, str]], candidates: dict[str, object], part_rows: int) -> DatasetCounts:
    folder.mkdir()
    given = params(candidates=candidates)
    given = given.model_copy(update={"load": given.load.model_copy(update={"part_rows": part_rows})})
    for number, part in enumerate(load(records(*values), given)):
        write_part(part["load"], folder, number)
    parts = Parts(folder)
    counts = sum((part_counts(parts, number) for number in range(len(parts))), PartCounts())
    nothing = folder.with_suffix(".none")
    nothing.mkdir()
    write_part(pa.table({"reason": pa.array([], pa.string())}), nothing, 0)
    return dataset_counts(counts, parts, Parts(nothing), parts)


@pytest.mark.parametrize("part_rows", [3, 4, 100])
def test_ids_of_the_long_form_count_once_however_their_rows_are_divided(tmp_path: Path, part_rows: int) -> None:
    asked = [{"id": i, "q": f"Question {i}?", "ref": f"Answer {i}"} for i in IDS]
    long = [one | {"model": name, "a": "so"} for name in NAMES for one in asked]
    wide = [one | dict.fromkeys(NAMES, "so") for one in asked]

    found = counted(tmp_path / "long", long, LONG, part_rows)

    assert (found["rows"], found["ids"]) == (21, 7)
    assert found == counted(tmp_path / "wide", wide, WIDE, 100)
