"""The settings of params.yaml: the default of each, what is allowed, and what it means."""

import re
from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, RootModel

from goldmeter.metrics.base import Metric
from goldmeter.pipeline import params
from goldmeter.pipeline.defaults import PATH, defaults
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.reference import allowed
from goldmeter.reference.markdown import code, meanings, opening, option_notes, sentence, table
from goldmeter.reference.metrics import definition

NAME = "NAME"
"""Stands in a path for a name that the user chooses."""
_LINE = re.compile(r"(?P<indent> *)(?P<name>[^\s:#]+):(?P<value>(?: [^#\n]*?)?)(?:\s+# (?P<comment>.*))?")


class Line(NamedTuple):
    """What defaults.yaml says of a path."""

    value: str
    comment: str


class Option(NamedTuple):
    """An option of a section: Markdown."""

    path: str
    default: str
    allowed: str
    meaning: str


def sections() -> str:
    """One chapter a section of params.yaml: which stages see it, and its options."""
    return "\n\n".join(map(chapter, known()))


def known() -> list[str]:
    """The sections with defaults, in their order."""
    models = params.models()
    return [name for name in defaults() if name in models]


def chapter(section: str) -> str:
    """What a section is, which stages see it, and a row for each option."""
    head = ["option", "default", "allowed", "meaning"]
    rows = [[code(each.path), each.default, each.allowed, each.meaning] for each in options(section)]
    about = f"{opening(_lines()[section].comment)} {_seen_by(section)}".strip()
    return "\n\n".join([f"## {section}", about, table(head, rows)])


def options(section: str) -> list[Option]:
    """The options of a section, nested ones behind the one they belong to."""
    model = params.models()[section]
    rows = _metric_rows(section) if _lists_metrics(model) else _rows(section, model, _lines())
    first = {row.path: row for row in reversed([*rows])}  # forms of an option share some of theirs
    return [*reversed(first.values())]


def _lines() -> dict[str, Line]:
    return stated(PATH.read_text(encoding="utf-8"))


def stated(text: str) -> dict[str, Line]:
    """Path → its value and comment, of every line of block style.

    >>> stated("a:  # all\\n  b: {c: 1}   # one\\n  d:\\ne: 'x # y'\\n")["a.b"]
    Line(value='{c: 1}', comment='one')
    """
    found: dict[str, Line] = {}
    above: list[tuple[int, str]] = []
    for match in filter(None, map(_LINE.fullmatch, text.splitlines())):
        depth = len(match["indent"])
        above = [(indent, name) for indent, name in above if indent < depth] + [(depth, match["name"])]
        found[".".join(name for _, name in above)] = Line(match["value"].strip(), match["comment"] or "")
    return found


def _seen_by(section: str) -> str:
    """Which stages run again when the section, or a part of it, changes."""
    seen: dict[str, list[str]] = {}
    for stage in stages().values():
        for each in stage.params:
            if each == section or each.startswith(f"{section}."):
                seen.setdefault(each, []).append(code(stage.name))
    if not seen:
        return "No stage runs again when it changes."
    return " ".join(
        f"{'Seen' if each == section else f'{code(each)} is seen'} by {' and '.join(names)}."
        for each, names in seen.items()
    )


def _lists_metrics(model: type[BaseModel]) -> bool:
    return issubclass(model, RootModel) and _value_of(model.model_fields["root"].annotation) is Metric


def _metric_rows(section: str) -> Iterator[Option]:
    for path, line in _lines().items():
        if path.startswith(f"{section}."):
            name = path.rpartition(".")[2]
            yield Option(
                path, code(line.value), f"[its options](metrics.md#{name})", sentence(definition(section, name))
            )


def _rows(path: str, model: type[BaseModel], lines: dict[str, Line]) -> Iterator[Option]:
    """A row for each option below a path, nested ones behind the one they belong to."""
    if issubclass(model, RootModel):
        yield from _rows(f"{path}.{NAME}", _value_of(model.model_fields["root"].annotation), lines)
        return
    notes = option_notes(model, [*model.model_fields])
    for name, field in model.model_fields.items():
        here = f"{path}.{name}"
        line = lines.get(here) or _example(here, lines)
        meaning = sentence((line and line.comment) or notes.get(name) or meanings()["settings"].get(here, ""))
        nested = [*_nested(field.annotation, here)]
        has_lines = bool(nested) or any(each.startswith(f"{here}.") for each in lines)
        yield Option(here, _shown(line, nested=has_lines), allowed.of_field(field), meaning)
        for each, below in nested:
            yield from _rows(below, each, lines)


def _example(path: str, lines: dict[str, Line]) -> Line | None:
    """The first line whose path is this one when names take the place of NAME."""
    pattern = re.compile(re.escape(path).replace(NAME, r"[^.]+"))
    return next((line for each, line in lines.items() if pattern.fullmatch(each)), None) if NAME in path else None


def _shown(line: Line | None, *, nested: bool) -> str:
    if line is None:
        return ""
    return code(line.value) or ("" if nested else "none")


def _nested(annotation: Any, path: str) -> Iterator[tuple[type[BaseModel], str]]:
    """The models whose options stand below an option, one for each of its forms, and where."""
    inner = get_args(annotation)
    if get_origin(annotation) is Annotated:
        yield from _nested(inner[0], path)
    elif get_origin(annotation) in {Union, UnionType}:
        for form in inner:
            yield from _nested(form, path)
    else:
        for kind in (annotation, *inner):
            below = f"{path}.{NAME}" if kind is not annotation and _value_of(annotation) is kind else path
            if isinstance(kind, type) and issubclass(kind, BaseModel) and not issubclass(kind, Metric):
                yield kind, below
            elif below != path:
                yield from _nested(kind, below)


def _value_of(annotation: Any) -> Any:
    """The type of a mapping's values, None for another type."""
    inner = get_args(annotation)
    return inner[1] if len(inner) == 2 and inner[1] is not Ellipsis else None  # noqa: PLR2004 (key and value)
