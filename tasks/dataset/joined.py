"""Files that are joined to the questions: a candidate's answers, references, human labels."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from tasks.dataset.paths import flat, outermost
from tasks.dataset.settings import CandidateMapping, Dataset, Params
from tasks.dataset.sources import Record, Records, Value, as_text, records
from tasks.errors import DataError, ParamsError
from tasks.pipeline.hashing import sha256
from tasks.pipeline.tables import Parts

By = Literal["id", "input"]
# The table of the stage answer, those of its columns that say something of an answer, and rows read at once.
ANSWERS, BATCH_ROWS = Path("data/answer"), 1_000
ANSWER_VALUES = ("response", "latency", "input_tokens", "output_tokens", "cost")
BESIDE_PUNCTUATION = re.compile(r" (?=\W)|(?<=\W) ")
# Characters that are written in several ways, and mean the same in an answer.
ONE_FORM = str.maketrans("−–－—‒‐‑，：；．！？’‘＇“”", "-------,:;.!?'''" + '""')
# What an answer is written with and without: a closed list, because "C#", "5‰", "2 + 3" and "A*" need their signs. A
# comma, colon or point between digits belongs to the number, and so do a point before its digits, ' and " beside them.
# A hyphen between words is left out; before or after a digit, and at the start of a word, it is a sign.
PUNCTUATION = re.compile(
    r"""
    (?<!\d)[,:;](?=\d) (?<!^.) | [,:;](?!\d) | \.(?!\d) | \? | (?<!\d)! | (?<!\d)['"](?!\d)
    | […。、،؛؟।¿¡„‚‹›«»「」『』《》〈〉【】]
    | (?:(?<=[^\W\d_])-(?=[^\W\d_]{2,}+(?!\()) | (?<=[^\W\d_]{2})-(?=[^\W\d_](?!\()) | (?<=\d)-(?=[^\W\d_]{4,}+(?!\()))
    """,
    re.VERBOSE,
)
QUOTED = re.compile(r"""(['"])([^'"]*)\1""")
BRACKETS = re.compile(r"[()\[\]{}]")
# Brackets of a formula, of an amount as accountants write a loss, and of other numbers.
MEANT_BRACKETS = re.compile(r"[+*/^=<>|~\\]|-(?![^\W\d_]{2})|[(\[{][^()\[\]{}]*\d")
# Only where a word follows: "Vitamin A" and the option A keep theirs. Before a letter or number, "a" may be a name.
ARTICLE = re.compile(r"^an?\s+(?=[^\W\d_]{2})|(?<!\w)the\s+(?=\w)")


class Keys(NamedTuple):
    """What a question is joined by: its id, and its input without differences in white space."""

    id: str | None
    input: str | None


class Entry(NamedTuple):
    """A record of a joined file: its place, the values of the mapped columns, and the hash of the question it names."""

    file: str
    line: int
    values: Mapping[str, Value]
    asked: bytes | None = None


class Lost(NamedTuple):
    """An entry that becomes no row, and why."""

    entry: Entry
    key: str | None
    reason: str


@dataclass(frozen=True)
class Joined:
    """The entries of a file by the key of their question; all are in memory, with the values of mapped columns.

    place: the option of params.yaml. columns: those that the file has. keyless: entries without a key. is_asked: the
    answers are those that the stage answer asked for. problems: why asked answers are missing → how many.
    """

    place: str
    path: str
    by: By
    columns: frozenset[str]
    entries: Mapping[str, list[Entry]]
    keyless: Sequence[Lost] = field(default=())
    is_asked: bool = False
    problems: Mapping[str, int] = field(default_factory=dict)

    def key(self, keys: Keys) -> str | None:
        """Return the one of a question's keys that this file is joined by."""
        return keys.id if self.by == "id" else keys.input

    def of(self, keys: Keys) -> list[Entry]:
        """Return the entries of a question."""
        return [entry for entry in self._named(keys) if _asks(entry, keys)]

    def of_another(self, keys: Keys) -> list[Entry]:
        """Return the entries with the id of a question that name another question."""
        return [entry for entry in self._named(keys) if not _asks(entry, keys)]

    def _named(self, keys: Keys) -> list[Entry]:
        key = self.key(keys)
        return self.entries.get(key, []) if key is not None else []

    @property
    def has_questions(self) -> bool:
        """Whether entries that are joined by id name their question too."""
        return any(entry.asked is not None for entries in self.entries.values() for entry in entries)

    def others(self, known: frozenset[str]) -> Iterator[Lost]:
        """Yield the entries of questions that are not among the known ones."""
        for key, entries in self.entries.items():
            if key not in known:
                reason = f"no question in dataset.path has its {self.by}; see dataset.other_questions"
                yield from (Lost(entry, key if self.by == "id" else None, reason) for entry in entries)


def _asks(entry: Entry, keys: Keys) -> bool:
    """Whether an entry does not name another question; an entry without one is of any."""
    return entry.asked is None or keys.input is None or entry.asked == sha256(keys.input)


@dataclass(frozen=True)
class JoinedFiles:
    """All joined files of a mapping."""

    candidates: Mapping[str, Joined]
    references: Joined | None
    labels: Joined | None

    @property
    def all(self) -> list[tuple[str | None, Joined]]:
        """Each file of the user, with the candidate whose answers it has."""
        others = [(None, one) for one in (self.references, self.labels) if one]
        return [*((name, one) for name, one in self.candidates.items() if not one.is_asked), *others]


def questions(params: Params) -> Records:
    """Open the files of the questions.

    Raises:
        DataError: As `sources.records`, or a file is joined and matches dataset.pattern too.
    """
    dataset = params.dataset
    found = records(dataset.path, dataset.pattern, dataset.format)
    joined = {_checked_path(path, place, dataset).resolve() for path, place in _paths(dataset)}
    if both := [path for path in found.files if path.resolve() in joined]:
        raise DataError(
            f"dataset.pattern: {dataset.pattern!r} matches {both[0].as_posix()}, which is joined to the questions; "
            "choose a pattern that matches the files of the questions only"
        )
    return found


def read_joined(params: Params) -> JoinedFiles:
    """Read the joined files of a mapping into memory.

    Raises:
        DataError: A file can't be read, or lacks a column.
        ParamsError: A file is outside of the folder dataset.path.
    """
    dataset = params.dataset
    candidates = {name: _of_candidate(name, one, dataset) for name, one in dataset.named.items() if one.path}
    candidates |= asked_answers([*dataset.asked], "id" if dataset.id else "input")
    return JoinedFiles(candidates, _of_references(dataset), _of_labels(dataset))


def asked_answers(names: Sequence[str], by: By) -> dict[str, Joined]:
    """Read the answers of candidates that the stage answer asked; none where it has not run yet.

    Args:
        names: Of the candidates.
        by: What the questions of the data have: ids, or only inputs.
    """
    found: dict[str, dict[str, list[Entry]]] = {name: {} for name in names}
    problems: dict[str, Counter[str]] = {name: Counter() for name in names}
    parts = Parts(ANSWERS).read([by, "candidate", "problem", *ANSWER_VALUES]) if names and ANSWERS.exists() else ()
    rows = (row for part in parts for batch in part.to_batches(BATCH_ROWS) for row in batch.to_pylist())
    for number, row in enumerate(rows, 1):
        key = row[by] if by == "id" else same_input(row[by])
        if (name := row["candidate"]) in found:
            values = {column: as_text(row[column]) for column in ANSWER_VALUES}
            found[name].setdefault(key, []).append(Entry(ANSWERS.as_posix(), number, values))
            problems[name].update([row["problem"]] if row["response"] is None else [])
    columns = frozenset(ANSWER_VALUES)
    return {
        name: Joined(
            f"dataset.candidates.{name}",
            ANSWERS.as_posix(),
            by,
            columns,
            entries,
            is_asked=True,
            problems=dict(sorted(problems[name].items())),
        )
        for name, entries in found.items()
    }


def same_text(text: str) -> str:
    """Return the form in which the answer of a label and the answer of a candidate are compared.

    Case does not count, nor white space beside a punctuation mark: label files often hold answers that were retyped.

    >>> same_text("In the S-block "), same_text("in the s - block"), same_text("1 2 3")
    ('in the s-block', 'in the s-block', '1 2 3')
    """
    return BESIDE_PUNCTUATION.sub("", same_input(text).casefold())


def bare_text(text: str) -> str:
    """Return `same_text` without punctuation and English articles: labels are often of answers that were normalised.

    Only what says nothing is left out: signs and separators of a number count, and so do symbols such as $, %, # and &,
    brackets around a number, and an article without a word behind it.

    >>> bare_text("The Negev."), bare_text("John F. Kennedy"), bare_text("1,950: $–1.5"), bare_text("(A)")
    ('negev', 'john f kennedy', '1,950 $-1.5', 'a')
    """
    whole = same_text(text).translate(ONE_FORM)
    quoted = QUOTED.fullmatch(whole)
    bare = PUNCTUATION.sub(" ", ARTICLE.sub("", quoted[2] if quoted else whole))
    if not MEANT_BRACKETS.search(bare):
        bare = BRACKETS.sub(" ", bare)
    return " ".join(bare.split()) or whole


def same_input(text: str) -> str:
    """Return the form in which inputs are joined: runs of white space count as one."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def _of_candidate(name: str, candidate: CandidateMapping, dataset: Dataset) -> Joined:
    place = f"dataset.candidates.{name}"
    by: By = candidate.on or ("input" if candidate.input or not (candidate.id or dataset.id) else "id")
    column = (candidate.id or dataset.id) if by == "id" else (candidate.input or dataset.input)
    if column is None:
        raise ParamsError(f"{place}.on: {by}, but dataset.{by} names no column")
    labels = candidate.label.mapped if candidate.label else ()
    scores = [column for score in dataset.scores.values() for column in score.columns_of(name)]
    taken = [column for columns in candidate.resources.values() for column in columns]
    optional = [*labels, *([candidate.labelled] if candidate.labelled else []), *scores, *taken]
    wanted = {candidate.response: f"{place}.response"}
    if isinstance(dataset.draw, str):
        wanted[dataset.draw] = "dataset.draw"
    return _read(str(candidate.path), place, by, column, wanted, optional, dataset)


def _of_references(dataset: Dataset) -> Joined | None:
    given = dataset.references
    if given is None or given.path is None or given.column is None:
        return None
    wanted = {given.column: "dataset.references.column"}
    return _read(given.path, "dataset.references", *_by(given.id, given.input), wanted, (), dataset)


def _of_labels(dataset: Dataset) -> Joined | None:
    given = dataset.label_file
    if given is None:
        return None
    wanted = dict.fromkeys(given.label.mapped, "dataset.label_file.label")
    wanted |= {column: "dataset.label_file" for column in (given.candidate, given.response) if column}
    return _read(given.path, "dataset.label_file", *_by(given.id, given.input), wanted, (), dataset)


def _by(id_: str | None, input_: str | None) -> tuple[By, str]:
    return ("id", id_) if id_ else ("input", str(input_))


def _read(
    path: str, place: str, by: By, column: str, wanted: Mapping[str, str], optional: Iterable[str], dataset: Dataset
) -> Joined:
    if getattr(dataset, by) is None:
        raise ParamsError(f"{place}.{by}: joins by the {by}, but dataset.{by} names no column of the questions")
    whole = records(_checked_path(path, f"{place}.path", dataset))
    present: set[str] = set()
    entries: dict[str, list[Entry]] = {}
    keyless: list[Lost] = []
    named = [*dict.fromkeys([*wanted, *optional])]
    asked = dataset.input if by == "id" and dataset.input not in {*named, column} else None
    needed = replace(whole, columns=outermost([*named, column, *([asked] if asked else [])]))
    for record in flat(needed, {**wanted, column: f"{place}.{by}"}, [*optional, *([asked] if asked else [])]):
        values = {name: record.values[name] for name in named if name in record.values}
        present |= values.keys()
        question = _key(record.values.get(asked), "input") if asked else None
        entry = Entry(record.file, record.line, values, None if question is None else sha256(question))
        key = _key(record.values.get(column), by)
        if key is None:
            keyless.append(Lost(entry, None, f"{column}: no {by} to join by"))
        else:
            entries.setdefault(key, []).append(entry)
    return Joined(place, path, by, frozenset(present), entries, keyless)


def _key(value: Value, by: By) -> str | None:
    if not isinstance(value, str) or not value.strip():
        return None
    return value if by == "id" else same_input(value)


def _paths(dataset: Dataset) -> Iterator[tuple[str, str]]:
    for name, candidate in dataset.named.items():
        if candidate.path:
            yield candidate.path, f"dataset.candidates.{name}.path"
    if dataset.references and dataset.references.path:
        yield dataset.references.path, "dataset.references.path"
    if dataset.label_file:
        yield dataset.label_file.path, "dataset.label_file.path"


def _checked_path(path: str, place: str, dataset: Dataset) -> Path:
    """Return the path of a joined file; it must be in the folder dataset.path, because DVC watches nothing else."""
    folder = Path(dataset.path)
    if folder.is_dir():
        for file in (Path(path), folder / path):
            if file.exists() and file.resolve().is_relative_to(folder.resolve()):
                return file
        if not Path(path).exists():
            records(folder / path if Path(path).parts[:1] != folder.parts[:1] else path)  # raises, with similar names
    common = folder if folder.is_dir() else folder.parent
    raise ParamsError(
        f"{place}: {path} is not in the folder dataset.path, so changes of it would not be noticed; keep all files in "
        f"one folder, and set dataset.path: {common.as_posix()} and dataset.pattern: the name of the questions' file"
    )


def row_keys(record: Record, dataset: Dataset) -> Keys:
    """Return what a record of the questions is joined by."""
    by_id, by_input = (record.values.get(column) if column else None for column in (dataset.id, dataset.input))
    return Keys(_key(by_id, "id"), _key(by_input, "input"))
