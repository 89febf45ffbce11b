"""What flows.init proposes for the records in docs/how-to/own-data.md is what that page writes by hand."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from goldmeter.dataset.proposal.given import Chosen
from goldmeter.dataset.proposal.inputs import propose_for
from goldmeter.pipeline.yaml import parse_yaml
from tests.documents import blocks
from tests.small_project import ROOT

BLOCKS = blocks(ROOT / "docs/how-to/own-data.md")
RECORDS = {
    block.mark.partition(": ")[2]: block.text for block in BLOCKS if block.mark.startswith(("file: ", "shape: "))
}
EVERY = [parse_yaml(block.text)["dataset"] for block in BLOCKS if block.kind == "yaml"]
# The columns of what answers took are named by hand.
MAPPINGS = [one for one in EVERY if not any("latency" in columns for columns in one["candidates"].values())]
EMPTY: tuple[Any, ...] = (None, [])


@pytest.mark.parametrize("written", MAPPINGS, ids=lambda mapping: mapping["path"])
def test_a_shape_of_the_page_is_proposed_as_the_page_maps_it(
    written: Mapping[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in RECORDS.items():
        Path(name).parent.mkdir(exist_ok=True, parents=True)
        Path(name).write_text(text, encoding="utf-8")

    proposal = propose_for([written["path"]], None, Chosen())

    assert {option: proposal.options[option] for option in written} == written
    assert proposal.left_out == ()
