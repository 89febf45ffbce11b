"""Sections of params.yaml as frozen models without unknown options, and the messages about wrong ones."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Tag, ValidationError, ValidationInfo, field_validator

from goldmeter.errors import ParamsError, did_you_mean


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        # A port that is no number raises ValueError where it is read.
        known = parts.scheme in {"http", "https"} and parts.hostname and parts.username is None and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise ValueError("expected http://host/v1 or https://host/v1, without a user")
    return url


Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]
# A name or an address of a server; it stands in signatures, which use | and blanks.
ServerName = Annotated[str, Field(pattern=r"^[\w.:/@\[\]-]+$")]
ServerUrl = Annotated[str, AfterValidator(_address)]
MOST_LINES, LONGEST = 20, 60
OPTIONS = "options, such as {a: 1}"
# Kind of a pydantic error → what the message asks the user to write.
EXPECTED = {
    "model_type": OPTIONS,
    "dict_type": OPTIONS,
    "tuple_type": "a list, such as [a, b]",
    "list_type": "a list, such as [a, b]",
    "string_type": "text",
}
# Tag of a form of an option that pydantic puts into an error's path, and that users never wrote: see `Tag`.
TAG = "|"
UNION_MEMBERS = {"string_type": "str", "bool_type": "bool", "int_type": "int", "float_type": "float"}


class Section(BaseModel):
    """Base of the models of sections, and of the model that lists the sections which a stage reads."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def defaults_beside(cls, stated: Mapping[str, Any], default: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG003
        """Return the defaults beside the options that are stated, of which one may replace another's default."""
        return default

    @field_validator("*", mode="before")
    @classmethod
    def _truth_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        kinds = _kinds(cls.model_fields[str(info.field_name)].annotation)
        if isinstance(value, bool) and bool not in kinds and (int in kinds or float in kinds):
            raise ValueError("expected text or a number" if str in kinds else "expected a number")
        return value


def explain(error: ValidationError, model: type[BaseModel], path: str) -> str:
    """Describe what is wrong, one line per option: its full path, the problem, what is allowed."""
    lines = dict.fromkeys(_line(details, model, path) for details in error.errors())
    more = [f"and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    return "\n".join([*lines][:MOST_LINES] + more)


def as_yaml(value: Any) -> str:
    """Format a value as in YAML, cut to the length of a line."""
    simple = value is None or isinstance(value, bool)
    text = json.dumps(value) if simple else repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _line(error: Any, model: type[BaseModel], path: str) -> str:
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, ParamsError):  # it carries its own path
        return str(cause)
    loc, kind = tuple(step for step in error["loc"] if not _is_tag(step)), error["type"]
    if kind in UNION_MEMBERS and loc[-1:] == (UNION_MEMBERS[kind],):  # of a union, each member complains
        return f"{'.'.join([path, *map(str, loc[:-1])])}: expected a single value, found {as_yaml(error['input'])}"
    named = loc[-1:] == ("[key]",)
    about = (loc[:-1] if named else loc) or _first_named(model, error["msg"])
    where = ".".join([path, *map(str, about)])
    if error["type"] == "extra_forbidden":
        fields = _model_at(model, error["loc"][:-1]).model_fields
        allowed = sorted(field.alias or name for name, field in fields.items())
        suggestion = did_you_mean(str(loc[-1]), allowed) or ";"
        return f"{where}: unknown option{suggestion} allowed: {', '.join(allowed)}"
    if error["type"] == "missing":
        return f"{where}: missing, and has no default"
    if kind in EXPECTED:
        needs_quotes = kind == "string_type" and isinstance(error["input"], bool | int | float)
        quotes = "; write it in quotes" if needs_quotes else ""
        return f"{where}: expected {EXPECTED[kind]}, found {as_yaml(error['input'])}{quotes}"
    given = "" if isinstance(error["input"], dict) else f" (given: {as_yaml(error['input'])})"
    problem = error["msg"].removeprefix("Value error, ")
    for subject in ("Input", "String", "Dictionary"):
        problem = problem.removeprefix(f"{subject} ")
    return f"{where}: {'the name ' if named else ''}{problem}{given}"


def _first_named(model: type[BaseModel], message: str) -> tuple[str, ...]:
    """The option that a rule about the whole section refers to: the first that its message names."""
    return tuple(word for word in re.findall(r"\w+", message) if word in model.model_fields)[:1]


def _kinds(annotation: Any) -> list[Any]:
    """The annotation and, recursively, its arguments."""
    return [annotation, *(kind for inner in get_args(annotation) for kind in _kinds(inner))]


def _model_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> type[BaseModel]:
    """The nested model at the path; the nearest one if the path is not a field."""
    forms: list[Any] = []
    for step in loc:
        if _is_tag(step):
            forms = [kind for kind in forms if any(isinstance(one, Tag) and one.tag == step for one in get_args(kind))]
        else:
            field = model.model_fields.get(str(step)) or model.model_fields.get("root")
            forms = [] if field is None else _kinds(field.annotation)
        nested = [part for kind in forms for part in _kinds(kind)]
        model = next((part for part in nested if isinstance(part, type) and issubclass(part, BaseModel)), model)
    return model


def _is_tag(step: int | str) -> bool:
    return isinstance(step, str) and step.startswith(TAG)
