"""Print the settings that runs use, and where each comes from; or explain one."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, RootModel

from goldmeter.console.json_output import print_json
from goldmeter.console.terminal import console, plain, say
from goldmeter.errors import ParamsError, did_you_mean
from goldmeter.metrics.catalogue import names
from goldmeter.pipeline import params
from goldmeter.pipeline.defaults import defaults
from goldmeter.pipeline.overrides import override
from goldmeter.pipeline.params_text import ParamsText
from goldmeter.pipeline.settings import Section
from goldmeter.pipeline.yaml import flow, load_yaml
from goldmeter.reference import metrics, settings

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

    every = {option.path: option for name in settings.known() for option in settings.options(name)}
    listed = {f"{place}.{name}": (family, name) for place, family in _METRICS.items() for name in names(family)}
    if setting is None or setting in settings.known():
        for name in settings.known() if setting is None else [setting]:
            console().print(Markdown(settings.chapter(name)))
    elif setting in listed:
        console().print(Markdown(metrics.chapter(*listed[setting])))
    elif found := [option for path, option in every.items() if f"{path}.".startswith(f"{setting}.")]:
        for option in found:
            say(f"{option.path}: {option.meaning.replace('`', '')}")
            say(f"  default: {option.default.strip('`') or '–'}; allowed: {option.allowed.replace('`', '')}")
    else:
        raise ParamsError(_unknown(setting, [*settings.known(), *every, *listed]))


def _unknown(setting: str, allowed: Sequence[str]) -> str:
    suggestion = did_you_mean(setting, allowed) or ";"
    return f"{setting}: unknown setting{suggestion} `goldmeter params` lists all"
