"""How the work of a stage that is called as a whole may be divided into parts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pyarrow as pa

Sections = TypeVar("Sections")
Piece = TypeVar("Piece")
Finding = TypeVar("Finding")


class Undivided(Exception):  # noqa: N818 (no error: the stage is called as a whole)
    """The stage must be called as a whole."""


@dataclass(frozen=True)
class Division(Generic[Sections, Piece, Finding]):
    """How a stage's work is divided. The three functions after the first may raise `Undivided`.

    Attributes:
        pays: Whether to divide it: worker processes start while `plan` is at work.
        plan: Returns what each part is made of.
        compute: Computes the tables of one part, and what `accept` has to know of it; in any process.
        accept: Checks that the parts are right together, given what was found of each; those that are not are computed
            again, once, of what it returns for their number.
    """

    pays: Callable[[Sections], bool]
    plan: Callable[[Sections], Sequence[Piece]]
    compute: Callable[[Piece, Sections], tuple[Mapping[str, pa.Table], Finding]]
    accept: Callable[[Sequence[Piece], Sequence[Finding], Sections], Mapping[int, Piece]]


AnyDivision = Division[Any, Any, Any]
