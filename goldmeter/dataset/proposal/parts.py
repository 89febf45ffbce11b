"""A file of several, the roles of its columns, and what joins it to the questions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from goldmeter.console.format import counted
from goldmeter.dataset.proposal import names
from goldmeter.dataset.proposal.candidates import Label, label_of
from goldmeter.dataset.proposal.columns import CHECK, SINGLE, Column, columns
from goldmeter.dataset.proposal.given import Chosen
from goldmeter.dataset.proposal.proposal import Proposal, proposal
from goldmeter.dataset.proposal.roles import Roles, roles
from goldmeter.dataset.proposal.section import shown
from goldmeter.dataset.sources import Record, Value, records
from goldmeter.dataset.texts import bare_text, same_input
from goldmeter.errors import DataError
from goldmeter.pipeline.yaml import flow

# Records of a file that are read: the questions of the files are compared.
MOST_RECORDS = 50_000
# Share of the questions of the first file that another one must have.
FEWEST_SHARED = 0.5
# Records per question from which a file with labels is one of labels, and not of one system's answers.
REPEATED = 1.2
LISTED = 3
Joins = Mapping[str, dict[str, Any] | None]


@dataclass(frozen=True)
class Part:
    """A file, and the roles of its columns.

    labelled: The column of the answers that it labels, if these are answers of other files.
    """

    name: str
    records: Sequence[Record]
    columns: Sequence[Column]
    found: Roles
    labelled: Column | None = None

    @cached_property
    def ids(self) -> Column | None:
        """The column that is named like an id."""
        named = [(fit, column) for column in self.columns if column.kind in SINGLE and (fit := column.fit(names.as_id))]
        return self.found.id.column or (min(named, key=lambda pair: pair[0])[1] if named else None)

    @cached_property
    def asked(self) -> Column | None:
        """The column of the questions."""
        return self.found.input.column

    @cached_property
    def response(self) -> Column | None:
        """The column of one system's answers, or of those that it labels."""
        if self.labelled:
            return self.labelled
        if self.found.answering:
            return next(iter(self.found.answering.values())).response
        taken = {column.name for column in (self.asked, self.ids, *self.found.references) if column}
        texts = [c for c in self.columns if c.name not in taken and c.kind in {"text", "list"} and not c.leaf]
        fitting = [c for c in texts if c.fit(names.as_response) or c.fit(names.as_answers)]
        return fitting[0] if fitting else None

    @cached_property
    def system_names(self) -> Column | None:
        """The column that names the system of each record."""
        named = [c for c in self.columns if c.kind in SINGLE and not c.leaf and c.fit(names.as_system)]
        return next((column for column in named if column.distinct > 1), None)

    @cached_property
    def label(self) -> Label | None:
        """The column of human labels."""
        if self.found.answering:
            return next(iter(self.found.answering.values())).label
        response = self.response or Column("", ())
        return label_of(self.columns, "", response, alone=True)[0]

    @property
    def is_labels(self) -> bool:
        """Whether it holds human labels of the answers in other files."""
        if self.label is None or not (self.response or self.system_names):
            return False
        if self.labelled:
            return True
        question = self.asked or self.ids
        repeated = question is not None and len(question.values) > REPEATED * len(set(map(str, question.values)))
        return repeated or self.response is None

    @property
    def is_system(self) -> bool:
        """Whether it holds the answers of one system."""
        return self.response is not None and not self.is_labels and self.found.long is None


def read_part(folder: Path, file: Path, chosen: Chosen) -> Part:
    """Read a file, and find the roles of its columns.

    Raises:
        DataError: If it can't be read.
    """
    found = list(islice(records(file), MOST_RECORDS))
    header = columns(found)
    present = {column.name for column in header}
    own = Chosen(
        id=chosen.id if chosen.id in present else None,
        input=chosen.input if chosen.input in present else None,
        references=[name for name in chosen.references if name in present],
    )
    return Part(file.relative_to(folder).as_posix(), found, header, roles(str(file), found, own, alone=False))


def are_pieces(parts: Sequence[Part]) -> bool:
    """Whether the files are pieces of one table: the same columns, and no question in two of them."""
    headers = {tuple(sorted({c.name for c in part.columns if not c.leaf})) for part in parts}
    questions = [texts(part.asked or part.ids) for part in parts]
    shared = sum(map(len, questions)) - len(set().union(*questions))
    return len(headers) == 1 and shared < FEWEST_SHARED * min(map(len, questions))


def join_columns(base: Part, part: Part) -> dict[str, Any] | None:
    """What the file is joined by: the options `id`, or `input`; None if it shares too few questions."""
    for option, own, other in (("id", base.found.id.column, part.ids), ("input", base.asked, part.asked)):
        if own is None or other is None:
            continue
        mine, theirs = texts(own), texts(other)
        if len(mine & theirs) >= FEWEST_SHARED * min(len(mine), len(theirs)) and mine & theirs:
            if option == "id" and _contradicts(base, part):
                continue
            return {option: other.name}
    return None


def references_file(base: Part, parts: Sequence[Part], joins: Joins) -> tuple[dict[str, Any] | None, str]:
    """The file of the references and the comment on it, if the questions' file has none.

    Raises:
        DataError: If no file has references.
    """
    if base.found.references:
        return None, ""
    having = [part for part in parts if part is not base and part.found.references and joins[part.name]]
    having.sort(key=lambda part: (part.is_system, part.is_labels, part.label is not None))
    if not having:
        raise DataError(f"{base.name}: no file has references to its questions; say which column: --references COLUMN")
    (first, *_), others = having, [part for part in having[1:] if part.label is None]
    column = first.found.references[0].name
    return {"path": first.name, **(joins[first.name] or {}), "column": column}, _about_references(first, others)


def _about_references(part: Part, others: Sequence[Part]) -> str:
    """By which name they are found, and what is uncertain."""
    column = shown(part.found.references[0].name)
    also = f"; or those of {', '.join(other.name for other in others[:LISTED])}" if others else ""
    if part.label:
        return f"{CHECK}{column} of {part.name}, which also holds verdicts: are these the right answers?{also}"
    if part.found.about_references.startswith(CHECK):
        return f"{part.found.about_references}{also}"
    return f"{CHECK if others else ''}by its name, in a file of its own{also}"


def label_rank(part: Part) -> tuple[int, str]:
    """Files of human labels first, by the file's name."""
    label = part.label.columns[0].name if part.label else ""
    return min(names.whose_verdict(Path(part.name).stem), names.whose_verdict(label)), part.name


def with_labels(
    labels: Sequence[Part], joins: Joins, options: Mapping[str, Any], comments: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Options and comments with the file of human labels, the first of these, if there is one."""
    if not labels:
        return dict(options), dict(comments)
    label = {"label_file": _label_file(labels[0], joins[labels[0].name] or {}), "labels": "other"}
    about = {
        "label_file": _about_labels(labels),
        "labels": f"{CHECK}how the labelled answers were chosen; all, if every answer is labelled",
    }
    return {**options, **label}, {**comments, **about}


def _label_file(part: Part, join: Mapping[str, Any]) -> dict[str, Any]:
    label = part.label
    by = {"candidate": part.system_names.name} if part.system_names else {}
    by |= {"response": part.response.name} if part.response else {}
    return {"path": part.name, **join, **by, "label": label._replace(by="").option if label else None}


def _about_labels(labels: Sequence[Part]) -> str:
    part, others = labels[0], ", ".join(part.name for part in labels[1:])
    by = "" if part.system_names else "joined by the text of the answer"
    if of_other_files := part.labelled and bool(part.found.answering):
        by = "its answers are those of other files; if they are of a system of its own, name it in candidates"
    if others:
        return f"{CHECK}{'; '.join(filter(None, ['by its name', by]))}; or: {others}"
    doubts = part.label.reading.doubt if part.label else ""
    needs_check = bool(doubts) or of_other_files
    return f"{CHECK if needs_check else ''}{'; '.join(filter(None, [doubts, by]))}"


def other_questions(base: Part, parts: Sequence[Part]) -> tuple[str, str]:
    """Option `other_questions`, and which files have questions that are not asked."""
    more = list(_more(base, parts))
    if not more:
        return "reject", ""
    named = ", ".join(f"{part.name} {number:,}" for part, number in more[:LISTED])
    return "leave_out", f"{CHECK}questions that {shown(base.name, 60)} lacks: {named}{', …' * (len(more) > LISTED)}"


def proposal_of(
    parts: Sequence[Part],
    base: Part,
    options: Mapping[str, Any],
    comments: Mapping[str, str],
    used: Sequence[Part],
    unreadable: Sequence[str],
    joins: Joins,
) -> Proposal:
    """The proposal, with a note on each file that is not used.

    Args:
        parts: All files.
        base: That of the questions, or of answers in long form.
        options: By name.
        comments: On options; empty ones are left out.
        used: The files that have a role, without the base.
        unreadable: Why other files of the folder can't be read.
        joins: What each file is joined by.
    """
    left = [part for part in parts if part is not base and not any(part is other for other in used)]
    left_out = [f"{part.name}: {_why_unused(part, base, joins[part.name])}" for part in left]
    read = f"{counted(len(parts), 'file')} with {counted(sum(len(part.records) for part in parts), 'record')}"
    return proposal(options, comments, base.found.unused, read, (*left_out, *unreadable))


def _why_unused(part: Part, base: Part, join: Mapping[str, Any] | None) -> str:
    """Why the file is not used, and what to write if it should be."""
    if join is None:
        return f"shares too few questions with {base.name}"
    place = {"path": part.name, **join}
    if part.is_labels:
        return f"labels; to use them, label_file: {flow(_label_file(part, join))}"
    if part.label:
        label = part.label._replace(by="").option
        return (
            f"not clear on which answers its verdicts are; label_file: {flow(place)[:-1]}, response: …, "
            f"label: {flow(label)}}}"
        )
    if part.found.references:
        column = part.found.references[0].name
        return f"not needed beside {base.name}; its references: {flow({**place, 'column': column})}"
    return f"no column of answers, references or labels is recognised; if it has one, name it beside {flow(place)}"


def _more(base: Part, parts: Sequence[Part]) -> Iterator[tuple[Part, int]]:
    for part in parts:
        own, asked = (base.asked, part.asked) if base.asked and part.asked else (base.ids, part.ids)
        if number := len(texts(asked) - texts(own)):
            yield part, number


def _contradicts(base: Part, part: Part) -> bool:
    """Whether both files hold questions, and an id stands for different questions in them."""
    mine, theirs = _by_id(base), _by_id(part)
    both = mine.keys() & theirs.keys()
    return bool(both) and sum(mine[key] == theirs[key] for key in both) < FEWEST_SHARED * len(both)


def _by_id(part: Part) -> dict[str, str]:
    if part.ids is None or part.asked is None:
        return {}
    return {str(key): str(text) for key, text in zip(part.ids.cells, part.asked.cells, strict=True) if key and text}


def texts(column: Column | None) -> set[str]:
    return set(map(str, column.values)) if column else set()


# Files of labels by their content: the answers in them are those of other files

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
