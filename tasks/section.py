"""What every section of params.yaml is: a frozen model that refuses unknown options and hides no defaults."""

from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from tasks.errors import ParamsError


class Section(BaseModel):
    """Base of the sections' models, and of the model that lists the sections a stage sees."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def explain(error: ValidationError, model: type[BaseModel], path: str) -> str:
    """What is wrong, one line an option: its full path, the problem, what is allowed."""
    return "\n".join(_line(each, model, path) for each in error.errors())


def _line(error: Any, model: type[BaseModel], path: str) -> str:
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, ParamsError):  # it carries its own path
        return str(cause)
    where = ".".join([path, *map(str, error["loc"])])
    if error["type"] == "extra_forbidden":
        allowed = sorted(_model_at(model, error["loc"][:-1]).model_fields)
        near = get_close_matches(str(error["loc"][-1]), allowed, n=1)
        return f"{where}: unknown option{f'; did you mean {near[0]}?' if near else ''} allowed: {', '.join(allowed)}"
    if error["type"] == "missing":
        return f"{where}: missing; params.yaml states every value"
    given = "" if isinstance(error["input"], dict) else f" (given: {error['input']!r})"
    return f"{where}: {error['msg'].removeprefix('Value error, ')}{given}"


def _model_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> type[BaseModel]:
    """The nested model that the path leads to; the nearest one where the path is no field."""
    for step in loc:
        field = model.model_fields.get(str(step))
        inner = [] if field is None else [field.annotation, *get_args(field.annotation)]
        nested = [each for kind in inner for each in (kind, *get_args(kind))]
        model = next((each for each in nested if isinstance(each, type) and issubclass(each, BaseModel)), model)
    return model
