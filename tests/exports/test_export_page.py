"""docs/how-to/export.md: its commands, as printed."""

import json
import shlex
from importlib import import_module
from pathlib import Path

from tests.documents import blocks, commands
from tests.exports.conftest import with_derived_numbers
from tests.small_project import ROOT

PAGE = ROOT / "docs/how-to/export.md"


def test_the_commands_write_what_they_name(run: Path) -> None:
    with_derived_numbers(run)
    for block in blocks(PAGE):
        for command in commands(block) if block.runs else ():
            _, _, module, *arguments = shlex.split(command.line)
            named = "tasks.__main__" if module == "tasks" else module
            assert import_module(named).main(arguments) == command.status

    assert Path("junit.xml").read_text(encoding="utf-8").startswith("<?xml")
    assert Path("events.jsonl").stat().st_size
    assert sorted(path.name for path in Path("eee").iterdir()) == ["aurora.json", "borealis.json"]
    assert json.loads(Path("eee/aurora.json").read_text(encoding="utf-8"))["schema_version"] in PAGE.read_text("utf-8")
