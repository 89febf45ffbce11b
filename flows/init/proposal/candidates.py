"""Columns with answers of systems, and columns with human labels of them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flows.init.proposal import names
from flows.init.proposal.columns import SINGLE, Column
from flows.init.proposal.section import quoted, shown
from tasks.dataset.sources import Record
from tasks.errors import DataError

FEWEST_SYSTEMS, MOST_SYSTEMS = 2, 50
NAMED = 3


class System(NamedTuple):
    """The column of a system's answers, the column of their labels, and why the user should check this."""

    response: Column
    label: Column | None
    unsure: str = ""


def systems(columns: Sequence[Column], references: Column | None) -> dict[str, System]:
    """Name → system, from the columns without another role; empty if there is none."""
    sure = _by_name(columns, references)
    found = sure | _by_label(columns)
    guessed = set() if sure else _by_family(columns) - found
    responses = [column for column in columns if column.name in found | guessed]
    called = names.candidate_names([column.name for column in responses]) if responses else []
    if _are_choices(called, references):
        return {}
    unsure = dict.fromkeys(guessed, "only its name says that it holds answers") | _perhaps_right(responses)
    labels = [
        _labels(columns, name, response, alone=len(called) == 1)
        for name, response in zip(called, responses, strict=True)
    ]
    return {
        name: System(response, next(iter(own), None), "; ".join(filter(None, [unsure.get(response.name), _or(own)])))
        for name, response, own in zip(called, responses, labels, strict=True)
    }


def require_one_record_a_question(
    path: str, records: Sequence[Record], asked: str | None, columns: Sequence[Column]
) -> None:
    """Raise DataError if each record holds the answer of one of several systems, which a column names.

    Args:
        path: Of the records, for the message.
        records: The first records.
        asked: Name of the column of the input.
        columns: The columns without a role.
    """
    for column in columns:
        if asked is None or not names.SYSTEMS & set(names.words(column.name)):
            continue
        if column.kind not in SINGLE or not FEWEST_SYSTEMS <= column.distinct <= MOST_SYSTEMS:
            continue
        pairs = [(str(record.values.get(asked)), str(record.values.get(column.name))) for record in records]
        if len({question for question, _ in pairs}) < len(set(pairs)) == len(pairs):
            raise DataError(f"{path}: {_one_column_a_system(column, asked)}")


def _by_name(columns: Sequence[Column], references: Column | None) -> set[str]:
    """Columns that are named like answers; columns of numbers only if the references are numbers too."""
    kinds = {"text", "boolean", "encoded"} | ({"number"} if references and references.kind == "number" else set())
    texts = [column for column in columns if column.kind in kinds]
    named = {column.name for column in texts if names.as_response(column.name) and not _is_label(column)}
    answers = [column.name for column in texts if names.as_answers(column.name) and not _is_label(column)]
    several = len(answers) > 1
    return named | {name for name in answers if references or several}


def _is_label(column: Column) -> bool:
    return column.kind == "boolean" and names.key_of_label(column.name) is not None


def _by_label(columns: Sequence[Column]) -> set[str]:
    """Columns after which a label is named, such as aurora if there is aurora_correct."""
    about = {names.key_of_label(column.name) for column in columns if column.kind == "boolean"} - {None, ""}
    return {column.name for column in columns if column.kind == "text" and names.key(column.name) in about}


def _by_family(columns: Sequence[Column]) -> set[str]:
    """Columns of mostly distinct texts that are named like a model."""
    texts = [column for column in columns if column.kind == "text" and 2 * column.distinct > len(column.values)]
    return {column.name for column in texts if names.names_a_system(column.name)}


def _are_choices(called: Sequence[str], references: Column | None) -> bool:
    """Whether the columns are the choices of a multiple-choice question: the references are their names."""
    right = set() if references is None else {text.strip().casefold() for text in references.texts}
    return bool(right) and len(called) > 1 and right <= {names.key(name) for name in called}


def _perhaps_right(responses: Sequence[Column]) -> dict[str, str]:
    """Columns that are just called answers, if there are several → why the user should check them."""
    plain = [column.name for column in responses if names.key(column.name) in names.ANSWERS]
    return dict.fromkeys(plain, "a system's answers, or right ones?") if len(responses) > 1 else {}


def _labels(columns: Sequence[Column], name: str, response: Column, *, alone: bool) -> list[Column]:
    """The boolean columns that are named after the system: human labels first, verdicts of a model last."""
    own = set(_keys(name, response, alone=alone))
    named = [c for c in columns if c.kind == "boolean" and c is not response and names.key_of_label(c.name) in own]
    return sorted(named, key=lambda column: names.whose_verdict(column.name))


def _or(labels: Sequence[Column]) -> str:
    """Why the user should check the label, if there are several."""
    named = [shown(column.name) for column in labels]
    return f"label {named[0]}, or: {', '.join(named[1:])}" if len(named) > 1 else ""


def _keys(name: str, response: Column, *, alone: bool) -> Iterator[str]:
    """The keys by which the name of a label may refer to this system."""
    yield names.key(name)
    yield names.key(response.name)
    if alone:
        yield from ("", *names.ANSWERS, *names.RESPONSES)


def _one_column_a_system(column: Column, asked: str) -> str:
    values = list(dict.fromkeys(column.texts))
    systems = ", ".join(map(quoted, values[:NAMED])) + (", …" if len(values) > NAMED else "")
    return (
        f"column {shown(column.name)} says which of {len(values)} systems each record belongs to ({systems}), but load "
        "takes one record per question, with a column of answers per system: pandas' pivot, with "
        f"index={shown(asked)} and the columns that go with it, columns={shown(column.name)} and the answers as "
        "values, makes such a table"
    )
