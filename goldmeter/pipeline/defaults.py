"""The defaults of params.yaml, in defaults.yaml, for what a project's own does not state."""

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, RootModel

from goldmeter.pipeline.settings import Section
from goldmeter.pipeline.yaml import load_yaml

PATH = Path(__file__).with_name("defaults.yaml")


def defaults() -> dict[str, Any]:
    """Return the default of every setting, by section; a section of a project's own stage has none here."""
    content: dict[str, Any] = load_yaml(PATH)
    return content


def completed(model: type[BaseModel], stated: Any, default: Any) -> Any:
    """Return what is stated, with the defaults of the options that it leaves out.

    A list of metrics, and any other mapping by names that the user chooses, is taken as it is stated.

    Args:
        model: Of the section, or of options in it.
        stated: As in params.yaml; None: nothing is.
        default: As in defaults.yaml.
    """
    if not isinstance(default, Mapping) or not isinstance(stated, dict | None):
        return deepcopy(default) if stated is None else stated
    if issubclass(model, RootModel):
        return _each_completed(model, stated, default)
    options = {} if stated is None else stated
    offered = model.defaults_beside(options, default) if issubclass(model, Section) else default
    found = {name: _option(model, name, options, offered[name]) for name in offered if name in model.model_fields}
    lacking = [name for name, value in found.items() if value is None and not takes_none(model, name)]
    return {name: value for name, value in found.items() if name not in lacking} | {
        name: value for name, value in options.items() if name not in found
    }


def takes_none(model: type[BaseModel], name: str) -> bool:
    """Return whether an empty value of the option is one of its values."""
    annotation = model.model_fields[name].annotation
    return annotation is Any or (get_origin(annotation) in {Union, UnionType} and NoneType in get_args(annotation))


def _option(model: type[BaseModel], name: str, options: Mapping[str, Any], default: Any) -> Any:
    if name not in options or (options[name] is None and not takes_none(model, name)):
        return deepcopy(default)
    annotation = model.model_fields[name].annotation
    is_section = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return completed(annotation, options[name], default) if is_section else options[name]  # type: ignore[arg-type]


def _each_completed(model: type[BaseModel], stated: dict[str, Any] | None, default: Mapping[str, Any]) -> Any:
    """Options by names: all by default, or those that are stated, with the defaults of the first one."""
    if stated is None:
        return deepcopy(default)
    _, kind = get_args(model.model_fields["root"].annotation)
    if not issubclass(kind, Section) or not default:
        return stated
    first = next(iter(default.values()))
    return {name: completed(kind, {} if options is None else options, first) for name, options in stated.items()}
