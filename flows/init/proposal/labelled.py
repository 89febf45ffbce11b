"""Files of labels by their content: the answers in them are those of other files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from flows.init.proposal import names
from flows.init.proposal.columns import SINGLE, Column
from flows.init.proposal.parts import Part
from tasks.dataset.joined import bare_text, same_input
from tasks.dataset.sources import Value

# Share of the answers in a file with verdicts that must be those of other files, for it to hold labels of them.
FEWEST_FOUND = 0.95
Pair = tuple[str, str]


def marked(parts: Sequence[Part]) -> list[Part]:
    """The files; those with verdicts on the answers of other files know the column of these answers."""
    by_id = _questions(parts)
    answers = {pair for part in parts if part.label is None for pair in _answers(part, by_id)}
    return [_marked(part, by_id, answers) if part.label else part for part in parts]


def _marked(part: Part, by_id: Mapping[str, str], answers: set[Pair]) -> Part:
    """The file with the column whose texts are answers of other files, if there is one."""
    shares = [(_share(set(_pairs(part, column, by_id)), answers), column) for column in _may_hold_answers(part)]
    share, labelled = max(shares, key=lambda pair: pair[0], default=(0.0, None))
    if labelled is None or share < FEWEST_FOUND:
        return part
    references = tuple(column for column in part.found.references if column.name != labelled.name)
    return replace(part, labelled=labelled, found=part.found._replace(references=references))


def _may_hold_answers(part: Part) -> Iterator[Column]:
    """Columns that may hold answers: neither the question, its id, a verdict or a system's name, nor references."""
    others = [part.asked, part.ids, part.system_names, *(part.label.columns if part.label else ())]
    taken = {column.name for column in others if column}
    for column in part.columns:
        may_be = column.kind in {*SINGLE, "list"} and not column.leaf and not column.fit(names.as_references)
        if may_be and column.name not in taken:
            yield column


def _share(pairs: set[Pair], answers: set[Pair]) -> float:
    return len(pairs & answers) / len(pairs) if pairs else 0.0


def _answers(part: Part, by_id: Mapping[str, str]) -> Iterator[Pair]:
    """The question and the text of each answer of the systems of a file."""
    several = [system.response for system in part.found.answering.values()]
    for column in several or ([part.response] if part.response else []):
        yield from _pairs(part, column, by_id)


def _pairs(part: Part, column: Column, by_id: Mapping[str, str]) -> Iterator[Pair]:
    """The question and the text in each cell of a column; of a list its items, and all of them."""
    asked = part.asked.cells if part.asked else [by_id.get(str(key)) for key in part.ids.cells] if part.ids else ()
    for question, cell in zip(asked, column.cells if asked else (), strict=True):
        if question is not None:
            yield from ((same_input(str(question)), bare_text(text)) for text in _texts(cell))


def _texts(cell: Value) -> Iterable[str]:
    if isinstance(cell, list):
        items = [str(item) for item in cell]
        return [*items, "\n".join(items)]
    return [] if cell is None else [str(cell)]


def _questions(parts: Sequence[Part]) -> dict[str, str]:
    """Id → question, from the files that hold both."""
    both = [(part.ids, part.asked) for part in parts if part.ids and part.asked]
    rows = (zip(ids.cells, asked.cells, strict=True) for ids, asked in both)
    return {str(key): str(text) for each in rows for key, text in each if key is not None and text is not None}
