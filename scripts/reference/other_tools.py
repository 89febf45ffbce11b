"""The comparison with other tools as Markdown: what each has, and where it was seen."""

from pathlib import Path
from typing import Any, Literal, NamedTuple

from goldmeter.pipeline.yaml import load_yaml
from goldmeter.reference.markdown import code, table

TABLE = Path(__file__).with_suffix(".yaml")
OURS = "goldmeter"
NOT_FOUND = "not found"
Group = Literal["statistics", "platforms"]


class Tool(NamedTuple):
    """What was read of a tool: a version, and an address."""

    version: str
    group: Group
    read: str


class Proof(NamedTuple):
    """Why a cell of goldmeter holds: a page, as docs/explanation/ links it, and a test, `path::name`."""

    answer: str
    page: str
    test: str = ""


class Seen(NamedTuple):
    """What another tool has, and the places in what was read of it."""

    answer: str
    places: list[str]


class Question(NamedTuple):
    """A row: goldmeter's answer, and those of the tools in which one was found."""

    asks: str
    ours: Proof
    theirs: dict[str, Seen]


def tools() -> dict[str, Tool]:
    """Return the other tools, by name."""
    return {name: Tool(**given) for name, given in load_yaml(TABLE)["tools"].items()}


def questions() -> list[Question]:
    """Return the rows.

    Raises:
        KeyError: A row names no such tool.
    """
    return [_question(given) for given in load_yaml(TABLE)["questions"]]


def comparison(group: Group) -> str:
    """One row a question: goldmeter, linked to the page that explains it, and the tools of a group."""
    names = [name for name, tool in tools().items() if tool.group == group]
    rows = [
        [one.asks, f"[{one.ours.answer}]({one.ours.page})", *(_found(one.theirs.get(name)) for name in names)]
        for one in questions()
    ]
    return table(["", OURS, *names], rows)


def proofs() -> str:
    """One row a question that has one: the test of goldmeter's answer."""
    return table(["", "test"], ([one.asks, code(one.ours.test)] for one in questions() if one.ours.test))


def sources() -> str:
    """One row a tool: what was read, and where each answer was seen."""
    rows = []
    for name, tool in tools().items():
        places = dict.fromkeys(place for one in questions() if name in one.theirs for place in one.theirs[name].places)
        rows.append([f"[{name}, {tool.version}]({tool.read})", ", ".join(map(code, places))])
    return table(["read", "seen in"], rows)


def _question(given: dict[str, Any]) -> Question:
    known = tools()
    cells = {name: cell for name, cell in given.items() if name not in {"asks", OURS} and known[name]}
    theirs = {name: Seen(answer, places.split(", ")) for name, (answer, places) in cells.items()}
    return Question(given["asks"], Proof(*given[OURS]), theirs)


def _found(seen: Seen | None) -> str:
    return seen.answer if seen else NOT_FOUND
