"""The rows that a judge is asked about: filters, and a sample by hash that is the same on every run."""

import math
from collections.abc import Callable, Iterable, Mapping
from operator import ge, gt, le, lt
from typing import Any, Literal, Self

from pydantic import StrictFloat, StrictInt, StrictStr, field_validator, model_validator

from goldmeter.metrics.aliases import ALIASES
from goldmeter.pipeline.hashing import sha256
from goldmeter.pipeline.settings import Section

Operator = Literal["=", "!=", "contains", "not_contains", ">", ">=", "<", "<=", "is_empty", "is_not_empty"]
COLUMNS = (
    "id", "candidate", "input", "response", "references", "phrases", "response_normalized", "references_normalized",
)  # fmt: skip
ORDER: Mapping[str, Callable[[float, float], bool]] = {">": gt, ">=": ge, "<": lt, "<=": le}


class Filter(Section):
    """One condition on a row. A list (references) meets it if one of its texts does; a negation, if none does."""

    field: str
    operator: Operator
    value: StrictStr | StrictInt | StrictFloat | None

    @field_validator("field")
    @classmethod
    def _known_field(cls, field: str) -> str:
        if field not in COLUMNS and field not in ALIASES:
            raise ValueError(f"unknown field {field!r}; allowed: {', '.join(COLUMNS)}")
        return ALIASES.get(field, field)

    @model_validator(mode="after")
    def _value_fits(self) -> Self:
        if self.operator in {"is_empty", "is_not_empty"}:
            if self.value is not None:
                raise ValueError(f"{self.operator} compares with nothing: value must be null")
        elif self.value is None:
            raise ValueError(f"{self.operator} needs a value")
        elif self.operator in ORDER and _number(self.value) is None:
            raise ValueError(f"{self.operator} compares numbers, and {self.value!r} is not a number")
        return self

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Whether a row meets the condition."""
        cell = row[self.field]
        texts = [text for text in (cell if isinstance(cell, list) else [cell]) if text is not None]
        match self.operator:
            case "=" | "!=":
                return any(text == str(self.value) for text in texts) == (self.operator == "=")
            case "contains" | "not_contains":
                return any(str(self.value) in text for text in texts) == (self.operator == "contains")
            case "is_empty" | "is_not_empty":
                return any(text.strip() for text in texts) == (self.operator == "is_not_empty")
        return any(_compare(self.operator, text, self.value) for text in texts)


def sampled(ids: Iterable[str], seed: int | str, rate: float) -> list[bool]:
    """Return whether each id is in the sample; the sample of a larger rate contains that of a smaller one."""
    limit = rate * 2.0**64
    return [int.from_bytes(sha256(f"{seed}:{row}")[:8]) < limit for row in ids]


def _compare(operator: str, text: str, value: float | str | None) -> bool:
    left, right = _number(text), _number(value)
    return left is not None and right is not None and ORDER[operator](left, right)


def _number(text: float | str | None) -> float | None:
    try:
        number = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return None if math.isnan(number) else number
