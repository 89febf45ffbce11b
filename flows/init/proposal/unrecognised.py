"""The message if columns are not recognised: what is missing, what there is, and how to go on."""

from collections.abc import Collection, Iterator, Sequence

from flows.init.proposal import names
from flows.init.proposal.columns import Column
from flows.init.proposal.section import quoted, scalar, shown
from tasks.console.format import counted

MOST_COLUMNS = 30
MISSING = {
    "input": "the question, such as a column `question` (or a column `id` of unique values)",
    "references": "the right answers, such as a column `reference` or `references`",
    "candidates": "the answers of the system, such as a column `response`, or answer_A and answer_B of two systems",
}
_ROLES = {
    "input": names.as_input,
    "references": lambda name: names.as_references(name) or names.as_answers(name),
    "candidates": names.as_response,
}


def explain(
    path: str,
    columns: Sequence[Column],
    key: Column | None,
    asked: Column | None,
    references: Column | None,
    systems: Collection[str],
) -> str:
    """The message.

    Args:
        path: Of the records.
        columns: All columns.
        key: Column of the id; None if it was not recognised, as in what follows.
        asked: Column of the input.
        references: Column of the references.
        systems: Names of the systems; empty if none was recognised.
    """
    roles = zip(MISSING, (key or asked, references, systems), strict=True)
    missing = [role for role, found in roles if not found]
    unfit = [role for role in MISSING if role in missing or (role == "input" and not asked)]
    return "\n".join(
        [
            f"{path}: not recognised: {', '.join(missing)}",
            *(f"  {role}: {MISSING[role]}" for role in missing),
            *_unreadable(columns, unfit),
            *_listed(columns),
            "Say which it is (--input --references --candidate NAME=COLUMN), or write section dataset of params.yaml:",
            *_by_hand(path, key, asked, references),
        ]
    )


def _unreadable(columns: Sequence[Column], roles: Sequence[str]) -> Iterator[str]:
    """Columns with a fitting name whose values `load` does not accept, and what to do."""
    for role in roles:
        for column in columns:
            if not column.leaf and column.kind in {"nested", "encoded", "list"} and _ROLES[role](column.name):
                taken = "a text or a list of texts" if role == "references" else "a text"
                yield f"  {shown(column.name)}: {column.about}, but load takes {taken}{_way_out(column, columns)}"


def _way_out(column: Column, columns: Sequence[Column]) -> str:
    places = [
        each
        for each in columns
        if each.leaf and each.texts and each.name.startswith((f"{column.name}.", f"{column.name}["))
    ]
    return f"; name a place in it, such as {shown(places[0].name)}" if places else "; put that into its own column"


def _listed(columns: Sequence[Column]) -> Iterator[str]:
    top = sum(not column.leaf for column in columns)
    yield f"{counted(top, 'column')}, with a value of each:"
    for column in columns[:MOST_COLUMNS]:
        yield f"  {shown(column.name)}: {quoted(column.texts[0]) if column.texts else column.about}"
    if len(columns) > MOST_COLUMNS:
        yield f"  and {len(columns) - MOST_COLUMNS:,} more"


def _by_hand(path: str, key: Column | None, asked: Column | None, references: Column | None) -> Iterator[str]:
    yield f"  path: {scalar(path)}"
    if key:
        yield f"  id: {scalar(key.name)}"
    yield f"  input: {scalar(asked.name) if asked else '' if key else '…'}".rstrip()
    yield f"  references: {scalar(references.name) if references else '…'}"
    yield "  candidates: {mine: {response: …}}"
