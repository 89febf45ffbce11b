"""params.yaml: checked as a whole, and handed out section by section, with the defaults of what it does not state."""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from goldmeter.errors import ParamsError, did_you_mean
from goldmeter.pipeline import revisions
from goldmeter.pipeline.defaults import completed, defaults
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.pipeline.run import Run
from goldmeter.pipeline.schedule import Schedule, Schedules
from goldmeter.pipeline.settings import OPTIONS, as_yaml, explain
from goldmeter.pipeline.stage import load_stage
from goldmeter.pipeline.yaml import flow, load_yaml, unstorable_keys

PATH = Path("params.yaml")
# Key of `run.retries` and `run.timeouts` whose value holds for the stages that they don't name.
DEFAULT = "default"
# A setting that a dep of dvc.yaml names, such as ${dataset.path}.
_NAMED = re.compile(r"\$\{([\w.]+)\}")
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


def check(content: dict[str, Any] | None = None) -> None:
    """Check the library and every section, so that a typo fails in the first second.

    Args:
        content: The content of params.yaml; None: read it.

    Raises:
        ParamsError: The project is of another library, or an option is wrong; the message names its full path.
    """
    revisions.check(stages())
    content, allowed = raw() if content is None else content, models()
    for name in content:
        if name not in allowed:
            suggestion = did_you_mean(name, allowed) or ";"
            raise ParamsError(
                f"{name}: unknown section of params.yaml{suggestion} allowed: {', '.join(sorted(allowed))}"
            )
    sections = {name: section(model, content, name) for name, model in allowed.items()}
    _require_what_dvc_reads(content, allowed)
    run_params(content)
    for stage in stages():
        load_stage(stage).check(sections)


def section(model: type[Model], content: dict[str, Any], name: str) -> Model:
    """Validate one section, with the defaults of what it does not state.

    Raises:
        ParamsError: It is missing and has no defaults, or an option is wrong; the message names the full path.
    """
    default = defaults().get(name)
    if name not in content and default is None:
        raise ParamsError(f"{name}: params.yaml lacks this section")
    stated = completed(model, content.get(name), default)
    options = {} if stated is None else stated
    if not isinstance(options, dict):
        raise ParamsError(f"{name}: expected {OPTIONS}, found {as_yaml(options)}")
    try:
        return model.model_validate(options)
    except ValidationError as error:
        raise ParamsError(explain(error, model, name)) from None


def effective(content: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return every section with the defaults of what params.yaml does not state, as values of YAML.

    Args:
        content: The content of params.yaml; None: read it.
    """
    stated, default = raw() if content is None else content, defaults()
    return {name: completed(model, stated.get(name), default.get(name)) for name, model in models().items()}


def option(section: str, name: str) -> Any:
    """Return an option of a section, or its default, unchecked: for what must not fail where params.yaml is wrong."""
    stated, default = raw().get(section), defaults()[section].get(name)
    return stated.get(name, default) if isinstance(stated, dict) else default


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


def run_params(content: dict[str, Any] | None = None) -> Run:
    """Return section `run`, which changes no number.

    Args:
        content: The content of params.yaml; None: read it.

    Raises:
        ParamsError: An option is wrong, or names a stage that does not exist.
    """
    run = section(Run, raw() if content is None else content, "run")
    for where, values in (("retries", run.retries), ("timeouts", run.timeouts)):
        if DEFAULT not in values:
            raise ParamsError(f"run.{where}.{DEFAULT}: missing; it stands for the stages that are not named")
        for name in values:
            if name not in stages() and name != DEFAULT:
                raise ParamsError(f"run.{where}.{name}: no such stage; allowed: {DEFAULT}, {', '.join(stages())}")
    return run


def _require_what_dvc_reads(content: dict[str, Any], sections: Collection[str]) -> None:
    """Raise ParamsError for a section or a setting that dvc.yaml names: DVC refuses a params.yaml without it."""
    named = [path for stage in stages().values() for path in (*stage.params, *_NAMED.findall(" ".join(stage.deps)))]
    for path in (path for path in dict.fromkeys(named) if path.partition(".")[0] in sections):
        inside: Any = content
        for name in path.split("."):
            if not isinstance(inside, dict) or name not in inside:
                kind = "this setting" if "." in path else "this section"
                written = _nested(path, defaults())
                raise ParamsError(f"{path}: params.yaml lacks {kind}, which dvc.yaml names; write {written}")
            inside = inside[name]


def _nested(path: str, default: Any) -> str:
    """A setting with its default on one line; of a section only its name."""
    names = path.split(".")
    for name in names:
        default = (default or {}).get(name)
    value = "{}" if len(names) == 1 else flow(default)
    for name in reversed(names[1:]):
        value = f"{{{name}: {value}}}"
    return f"{names[0]}: {value}"
