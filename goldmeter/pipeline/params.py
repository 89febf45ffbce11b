"""params.yaml: checked as a whole, and handed out section by section."""

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from goldmeter.errors import ParamsError
from goldmeter.pipeline import revisions
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.pipeline.run import Run
from goldmeter.pipeline.schedule import Schedule, Schedules
from goldmeter.pipeline.settings import OPTIONS, as_yaml, explain
from goldmeter.pipeline.stage import load_stage
from goldmeter.pipeline.yaml import load_yaml, unstorable_keys

PATH = Path("params.yaml")
# Key of `run.retries` and `run.timeouts` whose value holds for the stages that they don't name.
DEFAULT = "default"
Model = TypeVar("Model", bound=BaseModel)


def raw(path: Path = PATH) -> dict[str, Any]:
    """Read params.yaml as it is written.

    Raises:
        ParamsError: There is no such file, it is not a mapping of sections, or DVC can't store one of its names.
    """
    try:
        content = load_yaml(path)
    except FileNotFoundError:
        raise ParamsError(f"{path}: not found; run from the folder that holds it") from None
    if not isinstance(content, dict):
        kind = "nothing" if content is None else f"a {type(content).__name__}"
        raise ParamsError(f"{path}: expected sections, found {kind}")
    for *above, name in unstorable_keys(content):
        where = ".".join(above) or str(path)
        raise ParamsError(
            f"{where}: the name {as_yaml(name)} has {len(name)} characters and a blank; DVC would fold it and could "
            "not read its dvc.lock again. Shorten it, or write - or _ for the blanks"
        )
    return content


def models() -> dict[str, Any]:
    """Return the model of every section, by name."""
    sections: dict[str, Any] = {"run": Run, "schedule": Schedules}
    for stage in stages():
        sections |= {name: field.annotation for name, field in load_stage(stage).params.model_fields.items()}
    return sections


def check() -> None:
    """Check the library and every section, so that a typo fails in the first second.

    Raises:
        ParamsError: The project is of another library, or an option is wrong; the message names its full path.
    """
    revisions.check(stages())
    content, allowed = raw(), models()
    for name in content:
        if name not in allowed:
            raise ParamsError(f"{name}: unknown section of params.yaml; allowed: {', '.join(sorted(allowed))}")
    sections = {name: section(model, content, name) for name, model in allowed.items()}
    run_params()
    for stage in stages():
        load_stage(stage).check(sections)


def section(model: type[Model], content: dict[str, Any], name: str) -> Model:
    """Validate one section.

    Raises:
        ParamsError: It is missing, or an option is wrong; the message names the full path.
    """
    if name not in content:
        raise ParamsError(f"{name}: params.yaml lacks this section")
    options = {} if content[name] is None else content[name]
    if not isinstance(options, dict):
        raise ParamsError(f"{name}: expected {OPTIONS}, found {as_yaml(options)}")
    try:
        return model.model_validate(options)
    except ValidationError as error:
        raise ParamsError(explain(error, model, name)) from None


def for_stage(stage: str) -> Any:
    """Return the sections that the stage reads, as its `Params`."""
    model, content = load_stage(stage).params, raw()
    return model(**{name: section(field.annotation, content, name) for name, field in model.model_fields.items()})


def schedules(content: dict[str, Any] | None = None) -> dict[str, Schedule]:
    """Return the schedules by name.

    Args:
        content: The content of params.yaml; None: read it.
    """
    return section(Schedules, raw() if content is None else content, "schedule").root


def run_params() -> Run:
    """Return section `run`, which changes no number.

    Raises:
        ParamsError: An option is wrong, or names a stage that does not exist.
    """
    run = section(Run, raw(), "run")
    for option, values in (("retries", run.retries), ("timeouts", run.timeouts)):
        if DEFAULT not in values:
            raise ParamsError(f"run.{option}.{DEFAULT}: missing; it stands for the stages that are not named")
        for name in values:
            if name not in stages() and name != DEFAULT:
                raise ParamsError(f"run.{option}.{name}: no such stage; allowed: {DEFAULT}, {', '.join(stages())}")
    return run
