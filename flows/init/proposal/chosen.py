"""What the user said on the command line about the columns, which overrides a guess."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from flows.init.proposal import names
from flows.init.proposal.columns import Column
from flows.init.proposal.section import shown
from tasks.errors import DataError, did_you_mean

NONE = ""


@dataclass(frozen=True)
class Chosen:
    """Columns by role. None: guess; an empty name: no column.

    candidates: NAME=COLUMN or COLUMN each.
    labels: NAME=COLUMN or COLUMN each.
    systems: The column that names the system, of the long form.
    """

    id: str | None = None
    input: str | None = None
    references: Sequence[str] = ()
    candidates: Sequence[str] = ()
    systems: str | None = None
    labels: Sequence[str] = ()
    group: str | None = None
    slices: Sequence[str] | None = None
    contexts: str | None = None
    relevant: str | None = None
    draw: str | None = None
    separator: str | None = None
    comment: ClassVar[str] = "as chosen"


def column(path: str, found: Sequence[Column], name: str, option: str) -> Column:
    """The column, or place, of this name.

    Raises:
        DataError: There is none.
    """
    for each in found:
        if each.name == name:
            return each
    suggestion = did_you_mean(name, [each.name for each in found], shown)
    listed = ", ".join(shown(each.name) for each in found if not each.leaf)
    raise DataError(f"{option}: {path} has no column {name!r}{suggestion}\nexisting columns: {listed}")


def by_system(path: str, found: Sequence[Column], given: Sequence[str], option: str) -> dict[str, Column]:
    """System → column, from NAME=COLUMN or COLUMN each; a column alone is named by what differs."""
    columns = {column.name for column in found}
    pairs = [_pair(text, columns) for text in given]
    called = iter(names.candidate_names([name for own, name in pairs if not own])) if pairs else iter(())
    return {own or next(called): column(path, found, name, option) for own, name in pairs}


def labels(
    path: str, found: Sequence[Column], given: Sequence[str], systems: Mapping[str, object]
) -> Iterator[tuple[str, Column]]:
    """System and label column, from NAME=COLUMN or COLUMN each; a column alone is of the only system.

    Raises:
        DataError: There is no such column or system, or there are several systems.
    """
    columns = {column.name for column in found}
    for own, name in (_pair(text, columns) for text in given):
        if own and own not in systems:
            raise DataError(f"--label {own}={name}: no such system; there are {', '.join(map(shown, systems))}")
        if not own and len(systems) != 1:
            raise DataError(f"--label {name}: of which of the {len(systems)} systems? --label NAME={name}")
        yield own or next(iter(systems)), column(path, found, name, "--label")


def _pair(text: str, columns: set[str]) -> tuple[str, str]:
    """NAME=COLUMN as two; a column whose own name has a = stays one."""
    name, sign, rest = text.partition("=")
    return ("", text) if text in columns or not sign else (name, rest)
