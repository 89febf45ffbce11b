"""The signature of a score as a value: its metric, and how it was made, field by field."""

from collections.abc import Mapping
from typing import NamedTuple

ABSENT = "absent"


class FieldChange(NamedTuple):
    """A field that differs between two signatures; as a text, with both values."""

    name: str
    was: str
    now: str

    def __str__(self) -> str:
        """The change in words.

        >>> str(FieldChange("tok", "13a", "char"))
        'tok was 13a, is char'
        """
        return f"{self.name} was {self.was}, is {self.now}"


class Signature(NamedTuple):
    """A signature such as `f1|tok:13a|v:1`; fields: by name, in the order in which it states them."""

    metric: str
    fields: Mapping[str, str]

    @classmethod
    def of(cls, text: str) -> "Signature":
        """Read a signature.

        >>> Signature.of("f1|tok:13a|v:1")
        Signature(metric='f1', fields={'tok': '13a', 'v': '1'})
        """
        metric, *fields = text.split("|")
        return cls(metric, dict(field.partition(":")[::2] for field in fields))


def changes(base: str, head: str) -> tuple[FieldChange, ...]:
    """Which fields of two signatures differ.

    >>> [str(change) for change in changes("f1|tok:13a|v:1", "f1|tok:char|v:1")]
    ['tok was 13a, is char']
    """
    before, after = ({"metric": one.metric, **one.fields} for one in map(Signature.of, (base, head)))
    named = tuple(
        FieldChange(name, before.get(name, ABSENT), after.get(name, ABSENT))
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    )
    if not named and base != head:  # a value, such as the text of a filter, may hold what separates fields
        return (FieldChange("signature", base, head),)
    return named
