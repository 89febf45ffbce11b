"""params.yaml: read once, checked whole, handed out section by section."""

from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from tasks.errors import ParamsError
from tasks.pipeline import stages
from tasks.run import Run
from tasks.section import explain

PATH = Path("params.yaml")
Model = TypeVar("Model", bound=BaseModel)


def raw(path: Path = PATH) -> dict[str, Any]:
    """params.yaml as it is written.

    Raises ParamsError when there is none, or it is not a mapping of sections.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ParamsError(f"{path}: not found; run from the folder that holds it") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ParamsError(f"{path}: not readable as YAML: {error}") from None
    if not isinstance(content, dict):
        raise ParamsError(f"{path}: expected sections, found {type(content).__name__}")
    return content


def models() -> dict[str, Any]:
    """Section → its model; the model of a section stands in its stage's module."""
    sections: dict[str, Any] = {"run": Run}
    for stage in stages():
        fields = import_module(f"tasks.{stage}").Params.model_fields
        sections |= {name: field.annotation for name, field in fields.items()}
    return sections


def check() -> None:
    """Check every section, so that a typo fails in the first second; raises ParamsError with the full path."""
    content, known = raw(), models()
    for name in content:
        if name not in known:
            raise ParamsError(f"{name}: unknown section of params.yaml; allowed: {', '.join(sorted(known))}")
    for name, model in known.items():
        section(model, content, name)


def section(model: type[Model], content: dict[str, Any], name: str) -> Model:
    """One section as its model; raises ParamsError with the full path of what is wrong."""
    if name not in content:
        raise ParamsError(f"{name}: params.yaml lacks this section")
    try:
        return model.model_validate(content[name])
    except ValidationError as error:
        raise ParamsError(explain(error, model, name)) from None


def for_stage(stage: str) -> Any:
    """What the stage sees: its `Params`, with only the sections it lists."""
    model, content = import_module(f"tasks.{stage}").Params, raw()
    return model(**{name: section(field.annotation, content, name) for name, field in model.model_fields.items()})


def run_params() -> Run:
    """How to run: no part of any number."""
    return section(Run, raw(), "run")
