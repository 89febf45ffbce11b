"""Results as tables and floors: printed as they come, and kept in reports/benchmarks.json.

A section is a module. How it is measured stands in the paragraphs of its docstring, which the report quotes; names in
braces are constants of the module, or facts of the run.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import floor, isfinite, log10
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from rich.console import Console
from rich.table import Table as Grid

SCHEMA = 1
DIGITS = 4
"""Significant digits of a number in the report; timings are no better than that."""
Value = str | int | float | bool | None


@dataclass(frozen=True)
class Table:
    """Rows with the same columns; a column's name holds its unit."""

    title: str
    rows: Sequence[Mapping[str, Value]]


@dataclass(frozen=True)
class Floor:
    """What a number must reach, and what was measured."""

    what: str
    sense: Literal["at least", "at most"]
    target: float
    unit: str
    measured: float

    @property
    def met(self) -> bool:
        """Whether the number reaches the target."""
        return self.measured >= self.target if self.sense == "at least" else self.measured <= self.target


@dataclass(frozen=True)
class Result:
    """What a section measured. facts: what the docstring of its module names in braces."""

    tables: Sequence[Table]
    floors: Sequence[Floor]
    facts: Mapping[str, Value] = field(default_factory=dict)


def show(section: ModuleType, result: Result, console: Console) -> None:
    """Print a section."""
    console.rule(f"[bold]{name_of(section)}")
    for line in _about(section, result):
        console.print(f"· {line}", style="dim", highlight=False)
    for table in result.tables:
        console.print(_grid(table.title, table.rows))
    floors: list[Mapping[str, Value]] = [
        {
            "floor": each.what,
            "target": f"{each.sense} {_shown(each.target)} {each.unit}".strip(),
            "measured": each.measured,
            "met": each.met,
        }
        for each in result.floors
    ]
    if floors:
        console.print(_grid("Floors", floors))


def name_of(section: ModuleType) -> str:
    """The name of a section."""
    return section.__name__.rpartition(".")[2]


def keep(section: ModuleType, result: Result, seconds: float, machine: Mapping[str, Any], path: Path) -> None:
    """Write a section into the report; those of an earlier run stay if this machine measured them too."""
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    same = before.get("schema") == SCHEMA and before.get("machine") == _rounded(machine)
    measured = {
        "seconds": seconds,
        "about": _about(section, result),
        "tables": [asdict(table) for table in result.tables],
        "floors": [{**asdict(each), "met": each.met} for each in result.floors],
    }
    sections = {**(before["sections"] if same else {}), name_of(section): measured}
    content = {"schema": SCHEMA, "machine": machine, "sections": sections}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(_rounded(content), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _about(section: ModuleType, result: Result) -> list[str]:
    """How it was measured, a paragraph each."""
    paragraphs = (section.__doc__ or "").format_map({**vars(section), **result.facts}).split("\n\n")[1:]
    return [" ".join(each.split()) for each in paragraphs]


def _grid(title: str, rows: Sequence[Mapping[str, Value]]) -> Grid:
    grid = Grid(title=title, title_justify="left")
    for number, column in enumerate(rows[0]):
        grid.add_column(column, justify="left" if isinstance(rows[0][column], str) else "right", no_wrap=number == 0)
    for row in rows:
        grid.add_row(*map(_shown, row.values()))
    return grid


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "[bold red]no"
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    value = _rounded(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{DIGITS}g}"


def _rounded(value: Any) -> Any:
    """The value with every float in it cut to the digits of the report."""
    if isinstance(value, Mapping):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    if not isinstance(value, float) or value == 0 or not isfinite(value):
        return value
    place = DIGITS - 1 - floor(log10(abs(value)))
    return int(round(value, place)) if place <= 0 else round(value, place)
