"""What a type of an option allows, in words."""

from collections.abc import Iterable, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import AfterValidator, BaseModel
from pydantic.fields import FieldInfo

from goldmeter.metrics.base import Metric
from goldmeter.text.tokenizers import TOKENIZERS, checked_tokenizer_name

SIGNS = {Ge: "≥", Gt: ">", Le: "≤", Lt: "<"}
SIMPLE = {str: "text", bool: "`true`, `false`", int: "whole number", float: "number", NoneType: "none", Any: "anything"}


def of_field(field: FieldInfo) -> str:
    """What a field of a model takes.

    >>> class Example(BaseModel):
    ...     draws: Annotated[int, Ge(1)] | None
    ...     share: Annotated[float, Ge(0), Le(1)]
    ...     form: Literal["NFC", "none"]
    ...     slices: tuple[str, ...]
    >>> [of_field(field) for field in Example.model_fields.values()]
    ['whole number ≥ 1, or none', 'number, 0 to 1', '`NFC`, `none`', 'list of text']
    """
    return words(field.annotation, field.metadata)


def words(kind: Any, metadata: Sequence[Any] = ()) -> str:
    """What a type takes, with what its metadata say."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return words(inner[0], [*_flat(inner[1:]), *metadata])
    if origin in {Union, UnionType}:
        return _union(inner, metadata)
    if origin is not None:
        return _of_several(origin, inner)
    if _is_model(kind):
        return "options"
    if any(isinstance(each, AfterValidator) and each.func is checked_tokenizer_name for each in metadata):
        return _listed(TOKENIZERS)
    return SIMPLE[kind] + _bounds(metadata)


def _of_several(origin: Any, inner: Sequence[Any]) -> str:
    """What a type takes that is made of others or of values."""
    if origin is Literal:
        return _listed(inner)
    if origin is dict:
        return f"name → {words(inner[1])}"
    if _is_model(inner[0]) and issubclass(inner[0], Metric):
        return "metric → its options"
    several = len(inner) == 1 or inner[-1] is Ellipsis
    return f"list of {words(inner[0])}" if several else f"[{', '.join(map(words, inner))}]"


def _listed(values: Iterable[object]) -> str:
    return ", ".join(f"`{str(value).lower() if isinstance(value, bool) else value}`" for value in values)


def _union(members: Sequence[Any], metadata: Sequence[Any]) -> str:
    some = [each for each in members if each is not NoneType]
    said = [words(each, metadata) for each in some]
    return ", or ".join([", ".join(dict.fromkeys(said)), *(["none"] if len(some) < len(members) else [])])


def _bounds(metadata: Sequence[Any]) -> str:
    """What the limits of a number say; the pattern of a text is explained where the option is."""
    limits = {type(each): getattr(each, type(each).__name__.lower()) for each in _flat(metadata) if type(each) in SIGNS}
    if set(limits) == {Ge, Le}:
        return f", {_number(limits[Ge])} to {_number(limits[Le])}"
    said = ", ".join(f"{SIGNS[kind]} {_number(limit)}" for kind, limit in limits.items())
    return f" {said}" if said else ""


def _number(limit: float) -> str:
    return f"{limit:,.0f}" if limit == int(limit) else f"{limit:g}"


def _flat(metadata: Sequence[Any]) -> list[Any]:
    """The metadata, with those that stand in a Field of an Annotated type."""
    return [one for each in metadata for one in (each.metadata if isinstance(each, FieldInfo) else [each])]


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
