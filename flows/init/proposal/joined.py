"""Several files: the questions, the answers of one system each, references and human labels; joined by id or input."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from flows.init.proposal import Proposal, about, in_order, mapped, names
from flows.init.proposal.candidates import Label, System, label_of
from flows.init.proposal.chosen import Chosen
from flows.init.proposal.columns import CHECK, SINGLE, Column, columns
from flows.init.proposal.roles import Roles, roles
from flows.init.proposal.section import shown
from tasks.console.format import counted
from tasks.dataset.joined import bare_text, same_input
from tasks.dataset.sources import Record, records
from tasks.errors import DataError

# Records of a file that are read: the questions of the files are compared.
MOST_RECORDS = 50_000
# Share of the questions of the first file that another one must have.
FEWEST_SHARED = 0.5
# Share of the labelled questions that a file must have to hold them all but for a few.
COVERED = 0.95
# Records per question from which a file with labels is one of labels, and not of one system's answers.
REPEATED = 1.2
LISTED = 3


@dataclass(frozen=True)
class Part:
    """A file, and the roles of its columns."""

    name: str
    records: Sequence[Record]
    columns: Sequence[Column]
    found: Roles

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
        """The column of one system's answers."""
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
    questions = [_texts(part.asked or part.ids) for part in parts]
    shared = sum(map(len, questions)) - len(set().union(*questions))
    return len(headers) == 1 and shared < FEWEST_SHARED * min(map(len, questions))


def propose_joined(path: str, parts: Sequence[Part], chosen: Chosen, unreadable: Sequence[str] = ()) -> Proposal:
    """Propose how the files are joined.

    Args:
        path: Of the folder that holds them.
        parts: The files.
        chosen: What the user said about columns.
        unreadable: Why other files of the folder can't be read.

    Raises:
        DataError: If no file has the questions, none the answers, or none the references.
    """
    labels = sorted((part for part in parts if part.is_labels), key=label_rank)
    systems = [part for part in parts if part.is_system]
    base = _base(path, [part for part in parts if part not in labels], systems, labels)
    joins = {part.name: join_columns(base, part) for part in parts if part is not base}
    apart = [part for part in parts if part is not base and joins[part.name] is None]
    systems = [part for part in systems if part not in apart]
    if not systems:
        raise DataError(f"{path}: no file holds a system's answers to the questions of {base.name}")
    options = mapped(base.found, chosen) | {"path": path, "pattern": base.name}
    comments = about(base.found, base.records, chosen)
    options["candidates"] = _candidates(base, systems, joins, options["candidates"])
    comments |= _about_candidates(systems, base)
    references, told = references_file(base, parts, joins)
    options["references"] = references or options["references"]
    told = told or _other_references(base, systems)
    comments |= {"references": told} if told else {}
    if base.is_system and len(systems) > 1 and base.found.contexts.column:
        options |= {"contexts": None, "relevant": None}
        comments |= _about_contexts(base, base.found.contexts.column)
    lists = _with_lists(systems)
    if lists:
        options["lists"], comments["lists"] = _lists(lists, labels[0] if labels else None)
    if labels := [part for part in labels if part not in apart]:
        options["label_file"] = label_file(labels[0], joins[labels[0].name] or {})
        options["labels"] = "other"
        comments["label_file"] = about_labels(labels)
        comments["labels"] = f"{CHECK}how the labelled answers were chosen; all, if every answer is labelled"
        comments.pop("candidates", None)
    options["other_questions"], comments["other_questions"] = other_questions(base, [*systems, *labels[:1]])
    if not comments["other_questions"]:
        del comments["other_questions"]
    comments["pattern"] = f"the questions{' and the answers of one system' if base.is_system else ''}"
    left_out = [*(f"{part.name}: shares too few questions with {base.name}" for part in apart), *unreadable]
    read = f"{counted(len(parts), 'file')} with {sum(len(part.records) for part in parts):,} records"
    return Proposal(in_order(options), comments, base.found.unused, read, tuple(left_out))


def _base(path: str, parts: Sequence[Part], systems: Sequence[Part], labels: Sequence[Part]) -> Part:
    """The file of the questions: one without answers, else that of the system with the most."""
    asking = [part for part in parts if part.asked or part.ids]
    plain = [part for part in asking if part not in systems]
    plain.sort(key=lambda part: (part.asked is None, not part.found.references))
    if plain and plain[0].asked:
        return plain[0]
    having = [part for part in systems if part.asked and part.found.references] or [p for p in systems if p.asked]
    if not having:
        names_ = ", ".join(part.name for part in parts[:LISTED])
        raise DataError(f"{path}: no column of questions in {names_}; say which: --input COLUMN")
    return _fewest_labelled(having, labels) or max(having, key=lambda p: (len(_texts(p.asked)), not _with_lists([p])))


def _fewest_labelled(systems: Sequence[Part], labels: Sequence[Part]) -> Part | None:
    """The smallest file with the labelled questions; None without labels."""
    judged = _texts(labels[0].asked) if labels else set()
    covered = {part.name: len(judged & _texts(part.asked)) for part in systems}
    most = max(covered.values())
    having = [part for part in systems if most and covered[part.name] >= COVERED * most]
    return min(having, key=lambda part: (len(_texts(part.asked)), bool(_with_lists([part]))), default=None)


def join_columns(base: Part, part: Part) -> dict[str, Any] | None:
    """What the file is joined by: the options `id`, or `input`; None if it shares too few questions."""
    for option, own, other in (("id", base.found.id.column, part.ids), ("input", base.asked, part.asked)):
        if own is None or other is None:
            continue
        mine, theirs = _texts(own), _texts(other)
        if len(mine & theirs) >= FEWEST_SHARED * min(len(mine), len(theirs)) and mine & theirs:
            if option == "id" and _contradicts(base, part):
                continue
            return {option: other.name}
    return None


def _contradicts(base: Part, part: Part) -> bool:
    """Whether both files hold questions, and the same ids stand for different ones."""
    mine, theirs = _by_id(base), _by_id(part)
    both = mine.keys() & theirs.keys()
    return bool(both) and sum(mine[key] == theirs[key] for key in both) < FEWEST_SHARED * len(both)


def _by_id(part: Part) -> dict[str, str]:
    if part.ids is None or part.asked is None:
        return {}
    return {str(key): str(text) for key, text in zip(part.ids.cells, part.asked.cells, strict=True) if key and text}


def _texts(column: Column | None) -> set[str]:
    return set(map(str, column.values)) if column else set()


def _candidates(
    base: Part, systems: Sequence[Part], joins: Mapping[str, dict[str, Any] | None], own: Mapping[str, Any]
) -> dict[str, Any]:
    """Name → columns, and file; named by what differs between the files' names."""
    found: dict[str, Any] = {}
    called = _called(systems)
    for name, part in zip(called, systems, strict=True):
        if part is base and len(own) > 1:
            found |= own
        else:
            found[name] = _candidate(part) | ({} if part is base else _place(base, part, joins[part.name] or {}))
    return found


def _called(systems: Sequence[Part]) -> list[str]:
    """Names for the systems: what each file's only model is called, else the parts of the files' names that differ."""
    said = [next((c.texts[0] for c in part.columns if not c.leaf and c.fit(names.as_system) and c.distinct == 1), "")
            for part in systems]  # fmt: skip
    if all(said) and len(set(said)) == len(said):
        return names.file_names(said)
    return names.file_names([Path(part.name).name.partition(".")[0] for part in systems])


def _candidate(part: Part) -> dict[str, Any]:
    response = part.response or Column("", ())
    return System(response, part.label).option


def _place(base: Part, part: Part, join: Mapping[str, Any]) -> dict[str, Any]:
    """The file of a system, and what it is joined by where this is not what `dataset` says."""
    (option, column), *_ = join.items()
    usual = base.found.id.name if option == "id" else base.found.input.name
    if column != usual:
        return {"path": part.name, option: column}
    return {"path": part.name} | ({"on": "input"} if option == "input" and base.found.id.column else {})


def _about_candidates(systems: Sequence[Part], base: Part) -> dict[str, str]:
    one = [part.name for part in systems if part is base]
    told = f"one file each; {one[0]} also has the questions" if one else "one file each"
    return {"candidates": told}


def references_file(
    base: Part, parts: Sequence[Part], joins: Mapping[str, dict[str, Any] | None]
) -> tuple[dict[str, Any] | None, str]:
    """The file of the references, if the questions' file has none.

    Raises:
        DataError: If no file has references.
    """
    if base.found.references:
        return None, ""
    for part in sorted(parts, key=lambda part: (part.is_system, part.is_labels)):
        if part is not base and part.found.references and (join := joins[part.name]):
            return {"path": part.name, **join, "column": part.found.references[0].name}, ""
    raise DataError(f"{base.name}: no file has references to its questions; say which column: --references COLUMN")


def _other_references(base: Part, systems: Sequence[Part]) -> str:
    """The comment on references where the files of systems do not have the same."""
    mine = _by_question(base)
    for part in systems:
        theirs = _by_question(part) if part is not base else {}
        both = mine.keys() & theirs.keys()
        if others := sum(mine[key] != theirs[key] for key in both):
            asked = f"{others:,} of {len(both):,} questions of {part.name}"
            return f"{CHECK}those of {base.name} count for all systems; {asked} have others there"
    return ""


def _by_question(part: Part) -> dict[str, list[str]]:
    """Each question → its references."""
    if part.asked is None or not part.found.references:
        return {}
    given = zip(*(column.cells for column in part.found.references), strict=True)
    return {str(text): list(map(str, each)) for text, each in zip(part.asked.cells, given, strict=True) if text}


def _about_contexts(base: Part, contexts: Column) -> dict[str, str]:
    comment = f"none: {shown(contexts.name)} of {base.name} would count for the other systems too"
    return {"contexts": comment, "relevant": ""}


def _with_lists(systems: Sequence[Part]) -> list[Part]:
    return [
        part for part in systems if part.response and any(isinstance(value, list) for value in part.response.values)
    ]


def _lists(having: Sequence[Part], labels: Part | None) -> tuple[str, str]:
    """Option `lists` for files with lists as answers: as the labels have these answers, else joined; and what it is."""
    answers = [answer for part in having for answer in _asked_lists(part)]
    labelled = set() if labels is None else _labelled_answers(labels)
    of_first = sum((question, bare_text(str(items[0]))) in labelled for question, items in answers if items)
    of_joined = sum((question, bare_text("\n".join(map(str, items)))) in labelled for question, items in answers)
    told = f"{CHECK}{len(answers):,} answers of {', '.join(part.name for part in having[:LISTED])} are lists"
    if labels is not None and of_first > of_joined:
        return "first", f"{told}; {labels.name} has labels of {of_first:,} first items; or: join, draws"
    return "join", f"{told}; or: first, draws"


def _asked_lists(part: Part) -> Iterator[tuple[str, list[Any]]]:
    """Yield the question and the items of each answer that is a list."""
    asked, response = part.asked or part.ids, part.response
    for question, items in zip(asked.cells, response.cells, strict=True) if asked and response else ():
        if isinstance(items, list):
            yield same_input(str(question)), items


def _labelled_answers(part: Part) -> set[tuple[str, str]]:
    """The question and the text of each answer in a file of labels."""
    asked, response = part.asked or part.ids, part.response
    pairs = zip(asked.cells, response.cells, strict=True) if asked and response else ()
    return {(same_input(str(question)), bare_text(str(answer))) for question, answer in pairs}


def label_file(part: Part, join: Mapping[str, Any]) -> dict[str, Any]:
    label = part.label
    by = {"candidate": part.system_names.name} if part.system_names else {}
    by |= {"response": part.response.name} if part.response else {}
    return {"path": part.name, **join, **by, "label": label.option if label else None}


def about_labels(labels: Sequence[Part]) -> str:
    others = ", ".join(part.name for part in labels[1:])
    by = "" if labels[0].system_names else "joined by the text of the answer"
    if others:
        return f"{CHECK}{'; '.join(filter(None, ['by its name', by]))}; or: {others}"
    return by


def label_rank(part: Part) -> tuple[int, str]:
    """Files of human labels first, by the file's name."""
    label = part.label.columns[0].name if part.label else ""
    return min(names.whose_verdict(Path(part.name).stem), names.whose_verdict(label)), part.name


def other_questions(base: Part, parts: Sequence[Part]) -> tuple[str, str]:
    """Option `other_questions`, and which files have questions that are not asked."""
    more = list(_more(base, parts))
    if not more:
        return "reject", ""
    named = ", ".join(f"{part.name} {number:,}" for part, number in more[:LISTED])
    return "leave_out", f"{CHECK}questions that {shown(base.name, 60)} lacks: {named}{', …' * (len(more) > LISTED)}"


def _more(base: Part, parts: Sequence[Part]) -> Iterator[tuple[Part, int]]:
    for part in parts:
        own, asked = (base.asked, part.asked) if base.asked and part.asked else (base.ids, part.ids)
        if number := len(_texts(asked) - _texts(own)):
            yield part, number
