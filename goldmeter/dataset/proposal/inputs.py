"""What the user named: a file, a folder of pieces of one table, or files to be joined."""

import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from goldmeter.console.format import counted
from goldmeter.dataset.formats.arrow import saved_files
from goldmeter.dataset.formats.text_lines import LINE, column_names
from goldmeter.dataset.proposal import candidates, names, verdicts
from goldmeter.dataset.proposal.candidates import System, keys
from goldmeter.dataset.proposal.columns import CHECK, Column, columns
from goldmeter.dataset.proposal.given import ALL, Chosen, has_known_suffix, read_sample
from goldmeter.dataset.proposal.parts import (
    LISTED,
    Joins,
    Part,
    are_pieces,
    join_columns,
    label_rank,
    marked,
    other_questions,
    proposal_of,
    read_part,
    references_file,
    texts,
    with_labels,
)
from goldmeter.dataset.proposal.proposal import Proposal, about, mapped, proposal, propose
from goldmeter.dataset.proposal.retrieval import ABOUT
from goldmeter.dataset.proposal.roles import is_slice
from goldmeter.dataset.proposal.section import first, shown
from goldmeter.dataset.readers import READERS, detect
from goldmeter.dataset.readers.log import HUMAN, RATER, SCORE, VERDICT
from goldmeter.dataset.sources import Record, is_text, records
from goldmeter.dataset.texts import bare_text, same_input
from goldmeter.errors import DataError, GoldmeterError
from goldmeter.estimates.column_facts import RESOURCES

# Files of a folder up to which their questions are compared; more are pieces of one table.
MOST_FILES = 60


def propose_for(paths: Sequence[str], pattern: str | None, chosen: Chosen) -> Proposal:
    """Propose a mapping for a file, a folder, or several files.

    Args:
        paths: Of the files, or of the folder.
        pattern: Of a folder: which files, which are then pieces of one table; None: find out.
        chosen: What the user said about columns.

    Raises:
        DataError: If nothing can be proposed.
    """
    if len(paths) != 1:
        return _of_files(paths, pattern, chosen)
    (path,) = paths
    # A log that is a table has columns of its own, too, which the user may name.
    if (tool := tool_of(path, pattern)) and not (READERS[tool].is_table and chosen.names_columns):
        return propose_log(path, tool)
    if pattern is None and Path(path).is_dir():
        if texts := _texts_of(Path(path)):
            return _parallel(texts, chosen, path)
        parts, unreadable = _parts(Path(path), chosen)
        if len(parts) > 1 and not are_pieces(parts):
            return _joined(path, parts, chosen, unreadable)
    return propose(path, read_sample(path, pattern), chosen)


def _of_files(paths: Sequence[str], pattern: str | None, chosen: Chosen) -> Proposal:
    if all(Path(path).is_file() and is_text(Path(path)) for path in paths):
        return _parallel(paths, chosen)
    folder = _common_folder(paths)
    if all(tool_of(path, pattern) for path in paths):
        return _log_of_folder(folder, paths)
    return _joined(folder, [read_part(Path(folder), Path(path), chosen) for path in paths], chosen)


def _texts_of(folder: Path) -> list[str]:
    """The files of a folder of parallel text files; none if it holds others."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] != ".")
    return [path.as_posix() for path in files] if files and all(map(is_text, files)) else []


def _parallel(paths: Sequence[str], chosen: Chosen, folder: str | None = None) -> Proposal:
    """Propose the mapping of parallel text files, whose lines of one number are a record.

    Args:
        paths: Of the files, whose roles are found by their names; none: `chosen` names a file for each role.
        chosen: What the user said about files, or about columns, which have their names.
        folder: That is read as a whole.

    Raises:
        DataError: No file is named, one can't be read, or has fewer lines than another.
    """
    files = list(dict.fromkeys(paths)) or chosen.files
    if not files:
        raise DataError("name DATA, or parallel text files: --input src.txt --references ref.txt --candidate hyp.txt")
    path = folder or _common_folder(files)
    pattern = ALL if folder else [Path(file).relative_to(path).as_posix() for file in files]
    by_file = dict(zip(files, column_names([Path(file) for file in files]), strict=True))
    # A segment may stand twice.
    chosen = replace(chosen, id=LINE if chosen.id is None else chosen.id)
    return propose(path, read_sample(path, pattern), chosen.renamed(by_file))


def _joined(path: str, parts: Sequence[Part], chosen: Chosen, unreadable: Sequence[str] = ()) -> Proposal:
    parts = marked(parts)
    long = long_file(parts)
    if long is not None:
        return propose_long(path, long, parts, chosen, unreadable)
    return propose_joined(path, parts, chosen, unreadable)


def _log_of_folder(folder: str, paths: Sequence[str]) -> Proposal:
    """Propose the mapping of several logs, which must be all of a folder.

    Raises:
        DataError: The folder holds other files, or the logs are of several tools.
    """
    tools = sorted({str(tool_of(path, None)) for path in paths})
    others = {path for path in Path(folder).rglob("*") if path.is_file()} - set(map(Path, paths))
    if len(tools) > 1 or others:
        why = f"of several tools: {', '.join(tools)}" if len(tools) > 1 else f"and {folder} holds other files"
        raise DataError(f"{', '.join(paths)}: logs {why}; put the logs of one tool into a folder of their own")
    return propose_log(folder, tools[0])


def _common_folder(paths: Sequence[str]) -> str:
    """The folder that holds all files.

    Raises:
        DataError: One of them is a folder.
    """
    for path in paths:
        if Path(path).is_dir():
            raise DataError(f"{path}: a folder; name one folder, or several files")
    return Path(os.path.commonpath([Path(path).parent for path in paths])).as_posix()


def _parts(folder: Path, chosen: Chosen) -> tuple[list[Part], list[str]]:
    """The files of a folder, and why others can't be read."""
    files = sorted(
        path for path in folder.iterdir() if path.is_file() and path.name[0] != "." and has_known_suffix(path)
    )
    if saved_files(folder) is not None or not 1 < len(files) <= MOST_FILES:
        return [], []
    parts, unreadable = list[Part](), list[str]()
    for file in files:
        try:
            parts.append(read_part(folder, file, chosen))
        except GoldmeterError as error:
            unreadable.append(str(error).splitlines()[0])
    return parts, unreadable


# Logs of other tools, which `goldmeter.dataset.readers` turns into records with the same columns for all tools

MOST_RECORDS = 50_000
# Files of a log's folder, at any depth.
DEEP = "**/*"
METADATA = "metadata."
DRAWN = "the log numbers several answers to a question; intervals are by question"


def tool_of(path: str, pattern: str | None) -> str | None:
    """The tool whose logs are at the path; None if it is none of those that are known."""
    return detect(path) if pattern is None and Path(path).exists() else None


def propose_log(path: str, tool: str) -> Proposal:
    """Propose the mapping of a tool's logs.

    Raises:
        DataError: A log can't be read.
    """
    pattern = DEEP if Path(path).is_dir() else "*"
    found = list(islice(records(path, pattern, tool), MOST_RECORDS))
    by_name = {column.name: column for column in columns(found)}
    label, about_label = _label(by_name)
    scores = _grades(by_name, _flat(label)) | _scores(by_name)
    questions = len({str(record.values.get("group") or record.values.get("id")) for record in found})
    slices = [column for name, column in by_name.items() if name.startswith(METADATA) and is_slice(column, questions)]
    slices = [column for column in slices if _is_of_questions(column, by_name["candidate"])]
    options = {
        "path": path,
        "pattern": pattern,
        "format": tool,
        "id": "id",
        "draw": _draw(by_name),
        "input": _if_filled(by_name, "input"),
        "references": _if_filled(by_name, "references"),
        "candidates": {"column": "candidate", "response": "response", **label, **_taken(by_name)},
        "labels": _labelled(label, by_name)[0],
        "group": _if_filled(by_name, "group"),
        "slices": [column.name for column in slices],
        "contexts": _if_filled(by_name, "contexts"),
        "scores": scores,
    }
    comments = {
        "format": f"recognised by its content: logs of {tool}",
        "draw": DRAWN if options["draw"] else "",
        "id": "the columns below are those of every tool's log, as the reader names them",
        "references": "" if options["references"] else f"{CHECK}no record has one; see load.require_references",
        "candidates": "; ".join(filter(None, [about_label, _about(by_name, found)])),
        "labels": _labelled(label, by_name)[1],
        "slices": ", ".join(f"{shown(column.name)}: {column.distinct} values" for column in slices),
        "contexts": ABOUT if options["contexts"] else "",
        "scores": _about_scores(scores, tool, complete=len(found) < MOST_RECORDS),
    }
    used = {*_flat(options), "error"}
    unused = [column for name, column in by_name.items() if name not in used and not column.leaf]
    read = f"its {counted(len(found), 'record')}"
    return proposal(options, comments, unused, read, ())


def _is_of_questions(column: Column, systems: Column) -> bool:
    """Whether the column is neither the question itself, nor one value for each system, such as its prompt."""
    of_systems = len(set(keys(systems, column))) == systems.distinct == column.distinct > 1
    return not of_systems and not names.as_input(column.name.removeprefix(METADATA))


def _draw(by_name: Mapping[str, Column]) -> str | bool | None:
    """The column of draws; true if only some systems have it, so that the others' answers are numbered too."""
    column = by_name.get("draw")
    if column is None or not column.values:
        return None
    return True if column.blank else column.name


def _if_filled(by_name: Mapping[str, Column], name: str) -> str | None:
    return name if name in by_name and by_name[name].values else None


def _taken(by_name: Mapping[str, Column]) -> dict[str, str]:
    """The columns of what answers took; a tool may write 0 where it does not know."""
    return {
        name: name for name in RESOURCES if name in by_name and any(float(text) > 0.0 for text in by_name[name].texts)
    }


def _flat(options: Mapping[str, object]) -> set[str]:
    """The columns that are used."""
    used: set[str] = set()
    for value in options.values():
        if isinstance(value, Mapping):
            used |= _flat(value)
        elif isinstance(value, list):
            used.update(value)
        else:
            used.add(str(value))
    return used


def _scores(by_name: Mapping[str, Column]) -> dict[str, Any]:
    """Name → column of each score with a value, with bounds if it is binary; a name has letters, digits and _ only."""
    scores: dict[str, Any] = {}
    for column in by_name.values():
        if column.name.startswith(SCORE) and column.kind in {"number", "boolean"}:
            plain = re.sub(r"\W+", "_", column.name.removeprefix(SCORE), flags=re.ASCII).strip("_")
            name = plain if plain[:1].isalpha() else f"score_{plain}"
            scores.setdefault(name, {"column": column.name, "bounds": [0, 1]} if _is_binary(column) else column.name)
    return scores


def _said(by_name: Mapping[str, Column]) -> dict[str, tuple[list[Column], Column]]:
    """The columns of what people said, one for each rater, by its name; and all their values as one column."""
    said: dict[str, list[Column]] = {}
    for column in by_name.values():
        if column.name.startswith(HUMAN):
            said.setdefault(column.name.partition(RATER)[0].removeprefix(HUMAN), []).append(column)
    return {
        name: (own, Column(name, tuple(cell for column in own for cell in column.cells))) for name, own in said.items()
    }


def _label(by_name: Mapping[str, Column]) -> tuple[dict[str, Any], str]:
    """The option `label` and a comment: what people said, if the log says that they did; else words of a tool.

    Several raters' columns are those of the first name that can be read; a tool's words are a score of their name.
    """
    said = _said(by_name)
    for name, (own, both) in said.items():
        if reading := verdicts.reading(both) or verdicts.of_named_grades(both):
            others = ", ".join(shown(other) for other in said if other != name)
            comment = reading.doubt or (f"or: {others}" if others else "")
            option = candidates.Label(tuple(own), reading).option
            return {"label": option}, f"{CHECK}label: {comment}" if comment else ""
    for column in by_name.values():
        by = column.name.removeprefix(VERDICT)
        if column.name.startswith(VERDICT) and f"{SCORE}{by}" not in by_name and (rule := verdicts.reading(column)):
            return {"label": candidates.Label((column,), rule, by).option}, f"the words of {shown(by)} are a score"
    return {}, ""


def _grades(by_name: Mapping[str, Column], labels: Container[str]) -> dict[str, Any]:
    """Name → the columns of people's numbers that are no labels; bounds are the smallest and the largest, and 0."""
    grades: dict[str, Any] = {}
    for name, (own, both) in _said(by_name).items():
        if both.kind != "number" or own[0].name in labels:
            continue
        bounds = [min(0.0, *map(float, both.texts)), max(0.0, *map(float, both.texts))]
        plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
        grades[plain] = {"columns": [column.name for column in own], "bounds": bounds, "human": True}
    return grades


def _labelled(label: Mapping[str, Any], by_name: Mapping[str, Column]) -> tuple[str, str]:
    """Option `labels`, and its comment."""
    option = label.get("label", {})
    named = {"column": option} if isinstance(option, str) else option
    if not named or "by" in named:
        return "all", ""
    own = [by_name[name] for name in named.get("columns", [named.get("column")])]
    some = sum(any(cell is not None for cell in cells) for cells in zip(*(column.cells for column in own), strict=True))
    answers = len(by_name["response"].values)
    return (
        ("all", "") if some >= answers else ("other", f"{CHECK}{some:,} of {answers:,} answers are labelled; random?")
    )


def _is_binary(column: Column) -> bool:
    return {text.strip() for text in column.texts} <= {"0", "1", "0.0", "1.0"}


def _about_scores(scores: Mapping[str, Any], tool: str, *, complete: bool) -> str:
    binary = [name for name, score in scores.items() if isinstance(score, Mapping) and "human" not in score]
    people = [name for name, score in scores.items() if isinstance(score, Mapping) and "human" in score]
    of = "" if complete else f" of the first {MOST_RECORDS:,}"
    bounds = f"; bounds [0, 1], as all values of {', '.join(binary)}{of} are 0 or 1" if binary else ""
    grades = f"; grades of people: {', '.join(people)}, whose bounds are those of the data" if people else ""
    return f"{CHECK if people else ''}the scores of {tool}{bounds}{grades}" if scores else ""


def _about(by_name: Mapping[str, Column], found: Sequence[Record]) -> str:
    """The systems, and the answers that are missing."""
    systems = by_name["candidate"]
    lacking = sum(record.values.get("response") is None for record in found)
    gaps = f"; {lacking:,} of {len(found):,} answers are missing or failed, and count as unmeasured" if lacking else ""
    return f"{counted(systems.distinct, 'system')} ({first(systems.texts)}){gaps}"


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
