"""What the coverage benchmark found, one line a target: on the terminal, in reports/coverage.json, in docs/."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.coverage.cells import Cell
from benchmarks.pages import grid

SCHEMA = 1
DIGITS = 6
"""Decimals kept: a share of 4,000 draws has no more, and the last bits of a float may depend on the processor."""
MARK = "coverage"
_SIGNS = {"at least": "≥", "at most": "≤"}
Sections = Mapping[str, Sequence[Cell]]


@dataclass(frozen=True)
class Line:
    """One target of a topic, over all cells that have it.

    missed: how many cells do not reach it, three Monte Carlo standard errors allowed. worst, measured, error, draws:
    of the cell that misses it most, or else is nearest to it. others: what other methods give at worst, and the design.
    """

    topic: str
    measure: str
    sense: str
    target: float
    cells: int
    missed: int
    worst: str
    measured: float
    error: float
    draws: int
    others: tuple[tuple[str, float, str], ...]

    @property
    def reached(self) -> bool:
        """Whether every cell reaches the target."""
        return not self.missed


def lines(cells: Iterable[Cell]) -> list[Line]:
    """One line a target, in the order of the cells."""
    groups: dict[tuple[str, str, str, float], list[Cell]] = {}
    contrasts: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        if cell.target is None:
            contrasts.setdefault((cell.topic, cell.measure), []).append(cell)
        else:
            groups.setdefault((cell.topic, cell.measure, cell.sense, cell.target), []).append(cell)
    return [_line(key, group, contrasts.get(key[:2], [])) for key, group in groups.items()]


def _line(key: tuple[str, str, str, float], group: Sequence[Cell], contrasts: Sequence[Cell]) -> Line:
    sense = key[2]
    worst = min(group, key=lambda cell: (cell.reached, _margin(cell.measured, sense), cell.name))
    return Line(
        *key,
        cells=len(group),
        missed=sum(not cell.reached for cell in group),
        worst=worst.name,
        measured=worst.measured,
        error=worst.error,
        draws=worst.draws,
        others=_others(contrasts, sense),
    )


def _others(contrasts: Sequence[Cell], sense: str) -> tuple[tuple[str, float, str], ...]:
    """Each other method with its worst cell."""
    found: dict[str, tuple[float, str]] = {}
    for cell in contrasts:
        method, _, design = cell.name.partition(": ")
        here = (cell.measured, design)
        found[method] = min(found.get(method, here), here, key=lambda each: _margin(each[0], sense))
    return tuple((method, *worst) for method, worst in found.items())


def _margin(measured: float, sense: str) -> float:
    return measured if sense == "at least" else -measured


def table(found: Sequence[Line]) -> Table:
    """One row a target, for the terminal."""
    grid = Table(title="Coverage, false alarms, widths", title_justify="left")
    for name in ("topic", "measure", "cells", "target", "worst", "±", "where", "reached"):
        grid.add_column(name, justify="right" if name in {"cells", "target", "worst", "±"} else "left")
    for line in found:
        error = f"{line.error:.4f}" if line.draws else "exact"
        verdict = "yes" if line.reached else f"[bold red]no, {line.missed} of {line.cells}"
        worst = shown(line.measured, line.measure)
        grid.add_row(line.topic, line.measure, str(line.cells), _target(line), worst, error, line.worst, verdict)
    return grid


def markdown(content: Mapping[str, Any]) -> str:
    """The table of docs/explanation/intervals.md, made of the report."""
    rows = []
    for section in content["sections"].values():
        for each in section["targets"]:
            line = Line(**{**each, "others": tuple(map(tuple, each["others"]))})
            others = "; ".join(f"{name} {shown(value, line.measure)} ({at})" for name, value, at in line.others)
            cells = "" if line.cells == 1 else f", {line.cells} cells"
            result = f"{shown(line.measured, line.measure)} ({line.worst})"
            missed = "" if line.reached else f"; **missed** in {line.missed}"
            row = (f"{line.topic}: {line.measure}", f"{_target(line)}{cells}", f"{result}{missed}", others or "–")
            rows.append([cell.replace("|", "&#124;") for cell in row])
    return grid(("topic", "target", "measured, worst cell", "what others give, at worst"), rows)


def shown(value: float, measure: str) -> str:
    """A share in per cent; a ratio, that of widths for instance, as a multiple.

    >>> shown(0.91723, "coverage"), shown(1.00447, "mean width over Wilson's")
    ('91.7 %', '1.004 ×')
    """
    return f"{value:.3f} ×" if _is_ratio(measure) else f"{100.0 * value:.1f} %"


def _is_ratio(measure: str) -> bool:
    return "width" in measure or " over " in measure


def _target(line: Line) -> str:
    number = f"{line.target:g} ×" if _is_ratio(line.measure) else f"{100.0 * line.target:.4g} %"
    return f"{_SIGNS[line.sense]} {number}"


def report(sections: Sections, draws: int) -> dict[str, Any]:
    """All cells and targets of each section, rounded; the same cells give the same report."""
    content = {
        name: {"targets": [asdict(line) for line in lines(cells)], "cells": [cell._asdict() for cell in cells]}
        for name, cells in sections.items()
    }
    rounded: dict[str, Any] = _rounded({"schema": SCHEMA, "draws": draws, "sections": content})
    return rounded


def keep(content: Mapping[str, Any], order: Sequence[str], path: Path) -> dict[str, Any]:
    """Write the report, a line a cell, and return it; sections that were not measured now stay as they were."""
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    comparable = all(before.get(key) == content[key] for key in ("schema", "draws"))
    found = {**(before["sections"] if comparable else {}), **content["sections"]}
    merged = {**content, "sections": {name: found[name] for name in order if name in found}}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_dump(merged, depth=4) + "\n", encoding="utf-8")
    return merged


def _dump(value: Any, depth: int, indent: str = "") -> str:
    """JSON that is broken into lines down to a depth: a cell stays on one line."""
    if depth == 0 or not isinstance(value, dict | list) or not value:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    deeper = indent + " "
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {_dump(each, depth - 1, deeper)}" for key, each in value.items()]
    else:
        parts = [_dump(each, depth - 1, deeper) for each in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{deeper}" + f",\n{deeper}".join(parts) + f"\n{indent}{closing}"


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return round(value, DIGITS) if isinstance(value, float) else value
