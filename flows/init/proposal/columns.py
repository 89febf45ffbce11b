"""The columns of the first records, and the kind of their values."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Literal

from flows.init.proposal.section import shown
from tasks.console.format import counted
from tasks.dataset.mapping import LABELS
from tasks.dataset.sources import Record, Value

Kind = Literal["empty", "boolean", "number", "text", "list", "nested", "encoded"]
# Characters of a text that are read.
MOST_CHARS = 10_000
MOST_KEYS = 5
# A list or an object of JSON or Python, written as text.
_ENCODED = re.compile(r"""\s*(?:\[\s*["'{\d\]].*\]|\{\s*["'}].*\})\s*\Z""", re.DOTALL)
# Kinds with one text per record.
SINGLE: frozenset[Kind] = frozenset({"boolean", "number", "text"})


@dataclass(frozen=True)
class Column:
    """A column: its values that are neither null nor blank, and the number of records."""

    name: str
    values: tuple[Value, ...]
    records: int

    @cached_property
    def kind(self) -> Kind:
        """The kind of its values; "encoded" are lists or objects written as text, as in a cell of a CSV file."""
        if not self.values:
            return "empty"
        texts = self.texts
        if len(texts) == len(self.values):
            return _kind_of_texts(texts)
        return "list" if all(isinstance(value, str) or _is_texts(value) for value in self.values) else "nested"

    @cached_property
    def texts(self) -> list[str]:
        """The values that are texts."""
        return [value for value in self.values if isinstance(value, str)]

    @cached_property
    def distinct(self) -> int:
        """Number of distinct texts."""
        return len(set(self.texts))

    @property
    def blank(self) -> int:
        """Number of records whose value is null or blank."""
        return self.records - len(self.values)

    @property
    def is_unique(self) -> bool:
        """Whether every record has a text of its own."""
        return self.distinct == self.records

    @property
    def about(self) -> str:
        """The kind of its values, in words."""
        words = {"empty": "empty", "boolean": "true and false", "number": "numbers", "list": "lists of texts"}
        if self.kind == "text":
            return counted(self.distinct, "value")
        return words.get(self.kind) or ("a list or an object as text" if self.kind == "encoded" else self._shape)

    @property
    def true(self) -> int:
        """Number of true values of a boolean column."""
        return sum(LABELS[text.strip().lower()] for text in self.texts)

    @property
    def longest(self) -> int:
        """Length of the longest text in characters."""
        return max(map(len, self.texts), default=0)

    @property
    def _shape(self) -> str:
        value = next((value for value in self.values if not isinstance(value, str)), None)
        if isinstance(value, dict):
            return f"an object{_keys([value])}"
        objects = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
        return f"a list of objects{_keys(objects)}" if objects else "a list"


def columns(records: Sequence[Record]) -> list[Column]:
    """The columns in order of appearance, without those whose name can't be written to params.yaml."""
    values: dict[str, list[Value]] = {}
    for record in records:
        for name, value in record.values.items():
            of_column = values.setdefault(name, [])
            if value not in (None, [], {}) and not (isinstance(value, str) and not value.strip()):
                of_column.append(value[:MOST_CHARS] if isinstance(value, str) else value)
    return [
        Column(name, tuple(own), len(records))
        for name, own in values.items()
        if name and name.encode(errors="ignore").decode() == name  # a lone surrogate is no UTF-8
    ]


def _kind_of_texts(texts: Sequence[str]) -> Kind:
    if all(text.strip().lower() in LABELS for text in texts):
        return "boolean"
    if all(map(_is_number, texts)):
        return "number"
    return "encoded" if 2 * sum(map(bool, map(_ENCODED.match, texts))) > len(texts) else "text"


def _is_number(text: str) -> bool:
    try:
        return "_" not in text and isfinite(float(text))
    except ValueError:
        return False


def _is_texts(value: Value) -> bool:
    return isinstance(value, list) and all(item is None or isinstance(item, str) for item in value)


def _keys(objects: Iterable[dict[str, Value]]) -> str:
    names = list(dict.fromkeys(key for each in objects for key in each))
    more = ", …" if len(names) > MOST_KEYS else ""
    return f" with {', '.join(map(shown, names[:MOST_KEYS]))}{more}" if names else ""
