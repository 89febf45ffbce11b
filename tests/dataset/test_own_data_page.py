"""The shapes of data in docs/how-to/own-data.md: each mapping loads the records beside it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from goldmeter.pipeline.yaml import parse_yaml
from tasks.load import Params, load, source
from tests.documents import blocks
from tests.small_project import ROOT, settings

PAGE = ROOT / "docs/how-to/own-data.md"


def shapes() -> Iterator[tuple[dict[str, str], dict[str, Any], int]]:
    """Yield the files, the mapping and the number of rows of each shape."""
    files: dict[str, str] = {}
    for block in blocks(PAGE):
        name, _, value = block.mark.partition(": ")
        if name == "shape":
            files[value] = block.text
        elif name == "rows":
            yield files, parse_yaml(block.text)["dataset"], int(value)
            files = {}


@pytest.mark.parametrize(("files", "mapping", "rows"), shapes(), ids=lambda value: getattr(value, "get", str)("path"))
def test_a_mapping_loads_the_records_beside_it(
    files: dict[str, str], mapping: dict[str, Any], rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    sections = settings()
    params = Params(dataset=sections["dataset"] | mapping, load=sections["load"])

    (part,) = load(source(params), params)

    assert (part["load"].num_rows, part["load_rejected"].num_rows) == (rows, 0)
    labelled = part["load"]["label"].drop_null().to_pylist()
    assert sorted(labelled) == {"data/long.jsonl": [False, True], "data/joined": [False, True, True]}.get(
        params.dataset.path, []
    )
