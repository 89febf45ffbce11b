"""Print the settings that runs use, and where each comes from; or explain one."""

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, RootModel

from goldmeter.console.json_output import print_json
from goldmeter.console.terminal import console, plain, say
from goldmeter.errors import ParamsError, did_you_mean
from goldmeter.metrics.base import Metric
from goldmeter.metrics.catalogue import names
from goldmeter.pipeline import params
from goldmeter.pipeline.defaults import PATH, defaults
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.pipeline.overrides import override
from goldmeter.pipeline.params_text import ParamsText
from goldmeter.pipeline.settings import Section
from goldmeter.pipeline.yaml import flow, load_yaml
from goldmeter.reference import allowed, metrics
from goldmeter.reference.markdown import code, meanings, opening, option_notes, sentence, table
from goldmeter.reference.metrics import definition

DEFAULT, COMMAND_LINE, NONE = "default", "-S", "none"
# The lists whose entries are metrics, which have chapters of their own.
_METRICS = {"lexical": "lexical", "semantic": "semantic", "judge.metrics": "judge"}


class Setting(NamedTuple):
    """A setting in force. source: the line of params.yaml, `default` or `-S`."""

    path: str
    value: Any
    source: str


def show(setting: str | None, changes: Sequence[str], *, explained: bool, written: bool, is_json: bool) -> None:
    """Print the settings, or the meaning of one.

    Args:
        setting: Only this one and those below it; None: all.
        changes: Values of the command line.
        explained: Print the meaning instead.
        written: Also write the changes into params.yaml.
        is_json: Print the settings as JSON.

    Raises:
        ParamsError: There is no such setting, or params.yaml or a change is wrong.
    """
    if explained:
        _explain(setting)
        return
    found = in_force(changes)
    wanted = [each for each in found if setting is None or f"{each.path}.".startswith(f"{setting}.")]
    if not wanted:
        raise ParamsError(_unknown(str(setting), [*params.models(), *(each.path for each in found)]))
    if written:
        override(params.PATH, changes)
        found = in_force()
        wanted = [each for each in found if each.path in {one.path for one in wanted}]
    if is_json:
        print_json({"settings": wanted})
        return
    from rich.table import Table

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for each in wanted:
        value = NONE if each.value is None else flow(each.value)
        table.add_row(
            plain(each.path), plain(value), plain(each.source), style="" if each.source == DEFAULT else "bold"
        )
    console().print(table)


def in_force(changes: Sequence[str] = ()) -> list[Setting]:
    """Return every setting of params.yaml and of the command line, and every default beside them, checked.

    Raises:
        ParamsError: params.yaml or a change is wrong.
    """
    params.check()
    content, lines = params.raw(), ParamsText(params.PATH.read_bytes().decode()).lines()
    before = {path: value for name, model, value in _sections(content) for path, value in _leaves(name, model, value)}
    changed = _changed(changes) if changes else content
    return [
        Setting(
            path, value, COMMAND_LINE if path not in before or value != before[path] else _place(path, value, lines)
        )
        for name, model, section in _sections(changed)
        for path, value in _leaves(name, model, section)
    ]


def _place(path: str, value: Any, lines: Mapping[str, tuple[int, bool]]) -> str:
    line, is_stated = lines.get(path, (0, False))
    return f"{params.PATH}:{line}" if is_stated or (line and value is None) else DEFAULT


def _changed(changes: Sequence[str]) -> dict[str, Any]:
    """params.yaml with these values, checked."""
    with tempfile.TemporaryDirectory(prefix="goldmeter-") as folder:
        copy = Path(folder, params.PATH.name)
        shutil.copyfile(params.PATH, copy)
        override(copy, changes)
        content: dict[str, Any] = load_yaml(copy)
    params.check(content)
    return content


def _sections(content: dict[str, Any]) -> Iterator[tuple[str, type[BaseModel], Any]]:
    models, values = params.models(), params.effective(content)
    yield from ((name, models[name], values[name]) for name in sorted(models, key=[*defaults(), *models].index))


def _leaves(path: str, model: type[BaseModel], value: Any) -> Iterator[tuple[str, Any]]:
    """Path and value of each option that is no section of others; of a list of metrics, of each."""
    if not isinstance(value, Mapping) or not value:
        yield path, value
        return
    if issubclass(model, RootModel):
        _, kind = get_args(model.model_fields["root"].annotation)
        for name, each in value.items():
            yield from (
                _leaves(f"{path}.{name}", kind, each) if issubclass(kind, Section) else [(f"{path}.{name}", each)]
            )
        return
    for name, each in value.items():
        inner = model.model_fields[name].annotation if name in model.model_fields else None
        is_section = isinstance(inner, type) and issubclass(inner, BaseModel)
        yield from _leaves(f"{path}.{name}", inner, each) if is_section else [(f"{path}.{name}", each)]  # type: ignore[arg-type]


def _explain(setting: str | None) -> None:
    """Print what docs/reference says of a section, a setting or a metric."""
    from rich.markdown import Markdown

    every = {option.path: option for name in known() for option in options(name)}
    listed = {f"{place}.{name}": (family, name) for place, family in _METRICS.items() for name in names(family)}
    if setting is None or setting in known():
        for name in known() if setting is None else [setting]:
            console().print(Markdown(chapter(name)))
    elif setting in listed:
        console().print(Markdown(metrics.chapter(*listed[setting])))
    elif found := [option for path, option in every.items() if f"{path}.".startswith(f"{setting}.")]:
        for option in found:
            say(f"{option.path}: {option.meaning.replace('`', '')}")
            say(f"  default: {option.default.strip('`') or '–'}; allowed: {option.allowed.replace('`', '')}")
    else:
        raise ParamsError(_unknown(setting, [*known(), *every, *listed]))


def _unknown(setting: str, allowed: Sequence[str]) -> str:
    suggestion = did_you_mean(setting, allowed) or ";"
    return f"{setting}: unknown setting{suggestion} `goldmeter params` lists all"


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
