"""params.yaml: read once, checked whole, handed out section by section."""

from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from tasks.errors import ParamsError
from tasks.pipeline.run import Run
from tasks.pipeline.schedule import Schedule, Schedules
from tasks.pipeline.settings import OPTIONS, explain, shown
from tasks.pipeline.stages import stages
from tasks.pipeline.yaml import load_yaml

PATH = Path("params.yaml")
DEFAULT = "default"
"""What stands in `run.retries` and `run.timeouts` for the stages they don't name."""
Model = TypeVar("Model", bound=BaseModel)


def raw(path: Path = PATH) -> dict[str, Any]:
    """params.yaml as it is written.

    Raises ParamsError when there is none, or it is not a mapping of sections.
    """
    try:
        content = load_yaml(path)
    except FileNotFoundError:
        raise ParamsError(f"{path}: not found; run from the folder that holds it") from None
    if not isinstance(content, dict):
        found = "nothing" if content is None else f"a {type(content).__name__}"
        raise ParamsError(f"{path}: expected sections, found {found}")
    return content


def models() -> dict[str, Any]:
    """Section → its model; the model of a section stands in its stage's module."""
    sections: dict[str, Any] = {"run": Run, "schedule": Schedules}
    for stage in stages():
        sections |= {name: field.annotation for name, field in _seen_by(stage).model_fields.items()}
    return sections


def _seen_by(stage: str) -> Any:
    """`Params` of the stage's module: the sections it sees."""
    try:
        return import_module(f"tasks.{stage}").Params
    except ModuleNotFoundError as error:
        if error.name != f"tasks.{stage}":
            raise
        raise ParamsError(f"dvc.yaml: the stage {stage} has no module tasks/{stage}.py") from None


def check() -> None:
    """Check every section, so that a typo fails in the first second; raises ParamsError with the full path."""
    content, known = raw(), models()
    for name in content:
        if name not in known:
            raise ParamsError(f"{name}: unknown section of params.yaml; allowed: {', '.join(sorted(known))}")
    for name, model in known.items():
        section(model, content, name)
    run_params()


def section(model: type[Model], content: dict[str, Any], name: str) -> Model:
    """One section as its model; raises ParamsError with the full path of what is wrong."""
    if name not in content:
        raise ParamsError(f"{name}: params.yaml lacks this section")
    options = {} if content[name] is None else content[name]
    if not isinstance(options, dict):
        raise ParamsError(f"{name}: expected {OPTIONS}, found {shown(options)}")
    try:
        return model.model_validate(options)
    except ValidationError as error:
        raise ParamsError(explain(error, model, name)) from None


def for_stage(stage: str) -> Any:
    """What the stage sees: its `Params`, with only the sections it lists."""
    model, content = _seen_by(stage), raw()
    return model(**{name: section(field.annotation, content, name) for name, field in model.model_fields.items()})


def schedules(content: dict[str, Any] | None = None) -> dict[str, Schedule]:
    """Name → schedule, of params.yaml or its content; raises ParamsError with the full path of what is wrong."""
    return section(Schedules, raw() if content is None else content, "schedule").root


def run_params() -> Run:
    """How to run: no part of any number; raises ParamsError for a stage that there is not."""
    run = section(Run, raw(), "run")
    for option, values in (("retries", run.retries), ("timeouts", run.timeouts)):
        if DEFAULT not in values:
            raise ParamsError(f"run.{option}.{DEFAULT}: missing; it stands for the stages that are not named")
        for name in values:
            if name not in stages() and name != DEFAULT:
                raise ParamsError(f"run.{option}.{name}: no such stage; allowed: {DEFAULT}, {', '.join(stages())}")
    return run
