"""Several files: the questions, the answers of one system each, references and human labels; joined by id or input."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from goldmeter.console.format import counted
from goldmeter.dataset.proposal import names
from goldmeter.dataset.proposal.candidates import System
from goldmeter.dataset.proposal.columns import CHECK, Column
from goldmeter.dataset.proposal.given import Chosen
from goldmeter.dataset.proposal.parts import (
    LISTED,
    Joins,
    Part,
    join_columns,
    label_rank,
    other_questions,
    proposal_of,
    references_file,
    texts,
    with_labels,
)
from goldmeter.dataset.proposal.proposal import Proposal, about, mapped
from goldmeter.dataset.proposal.section import shown
from goldmeter.dataset.texts import bare_text, same_input
from goldmeter.errors import DataError

# Share of the labelled questions that a file must have to hold them all but for a few.
COVERED = 0.95


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
    also = f"; {base.name} also has the questions" if any(part is base for part in systems) else ""
    comments["candidates"] = f"one file each{also}"
    references, told = references_file(base, parts, joins)
    options["references"] = references or options["references"]
    told = told or _other_references(base, systems)
    comments |= {"references": told} if told else {}
    if base.is_system and len(systems) > 1 and base.found.contexts.column:
        options |= {"contexts": None, "relevant": None}
        contexts = shown(base.found.contexts.column.name)
        comments |= {
            "contexts": f"none: {contexts} of {base.name} would count for the other systems too",
            "relevant": "",
        }
    lists = _with_lists(systems)
    if lists:
        options["lists"], comments["lists"] = _lists(lists, labels[0] if labels else None)
    labels = [part for part in labels if part not in apart]
    options, comments = with_labels(labels, joins, options, comments)
    if labels:
        comments.pop("candidates", None)
    options["other_questions"], comments["other_questions"] = other_questions(base, [*systems, *labels[:1]])
    comments["pattern"] = f"the questions{' and the answers of one system' if base.is_system else ''}"
    of_references = [part for part in parts if references and part.name == references["path"]]
    used = [*systems, *labels, *of_references]
    return proposal_of(parts, base, options, comments, used, unreadable, joins)


def _base(path: str, parts: Sequence[Part], systems: Sequence[Part], labels: Sequence[Part]) -> Part:
    """The file of the questions: one without answers, else that of the system with the most."""
    asking = [part for part in parts if part.asked or part.ids]
    plain = [part for part in asking if part not in systems]
    plain.sort(key=lambda part: (part.asked is None, part.label is not None, not part.found.references))
    if plain and plain[0].asked:
        return plain[0]
    having = [part for part in systems if part.asked and part.found.references] or [p for p in systems if p.asked]
    if not having:
        listed = ", ".join(part.name for part in parts[:LISTED])
        raise DataError(f"{path}: no column of questions in {listed}; say which: --input COLUMN")
    return _fewest_labelled(having, labels) or max(having, key=lambda p: (len(texts(p.asked)), not _with_lists([p])))


def _fewest_labelled(systems: Sequence[Part], labels: Sequence[Part]) -> Part | None:
    """The smallest file with the labelled questions; None without labels."""
    judged = texts(labels[0].asked) if labels else set()
    covered = {part.name: len(judged & texts(part.asked)) for part in systems}
    most = max(covered.values())
    having = [part for part in systems if most and covered[part.name] >= COVERED * most]
    return min(having, key=lambda part: (len(texts(part.asked)), bool(_with_lists([part]))), default=None)


def _candidates(base: Part, systems: Sequence[Part], joins: Joins, own: Mapping[str, Any]) -> dict[str, Any]:
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
    of = f"{counted(len(answers), 'answer')} of {', '.join(part.name for part in having[:LISTED])}"
    told = f"{CHECK}{of} {'is a list' if len(answers) == 1 else 'are lists'}"
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


# A file with one answer per record and a column that names the system, beside files of references and labels


def long_file(parts: Sequence[Part]) -> Part | None:
    """The largest file in long form; None if there is none, or other files hold the answers."""
    longs = [part for part in parts if part.found.long]
    if not longs or any(part.is_system and not part.found.references for part in parts):
        return None
    return max(longs, key=lambda part: len(part.records))


def propose_long(
    path: str, base: Part, parts: Sequence[Part], chosen: Chosen, unreadable: Sequence[str] = ()
) -> Proposal:
    """Propose how the other files are joined to the one in long form.

    Args:
        path: Of the folder that holds them.
        base: The file in long form.
        parts: All files.
        chosen: What the user said about columns.
        unreadable: Why other files of the folder can't be read.

    Raises:
        DataError: No file has references.
    """
    joins = {part.name: join_columns(base, part) for part in parts if part is not base}
    options = mapped(base.found, chosen) | {"path": path, "pattern": base.name}
    comments = about(base.found, base.records, chosen) | {"pattern": "the answers"}
    references, told = references_file(base, parts, joins)
    used = []
    if references:
        options["references"] = references
        comments["references"] = told
        used += [part for part in parts if part.name == references["path"]]
    if not (base.found.long and base.found.long.system.label):
        labels = sorted((p for p in parts if p is not base and p.is_labels and joins[p.name]), key=label_rank)
        options, comments = with_labels(labels, joins, options, comments)
        used += labels
    if options["input"] is None and (asking := [part.name for part in parts if part.asked]):
        comments["input"] = (
            f"{CHECK}none: the questions of {asking[0]} can't be joined to answers in one file; a judge would not see "
            f"what was asked. Copy them to a column of {base.name}"
        )
    options["other_questions"], comments["other_questions"] = other_questions(base, used)
    return proposal_of(parts, base, options, comments, used, unreadable, joins)
