"""Columns with answers of systems, and columns with human labels of them; or one column of each, in long form."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from goldmeter.dataset.paths import Where
from goldmeter.dataset.proposal import names, verdicts
from goldmeter.dataset.proposal.columns import PLAIN_LEAVES, SINGLE, Column, Kind
from goldmeter.dataset.proposal.section import first, shown

FEWEST_SYSTEMS, MOST_SYSTEMS = 2, 50
# Records per question, on average, from which a column of systems' names is taken for the long form.
RECORDS_PER_QUESTION = 1.2
# Column of the labels of several raters, whose majority decides.
MOST_RATERS = 9
# The answer in a chat completion of an OpenAI-compatible server.
_OF_CHOICES = re.compile(r"\bchoices\[0\](?:\.message)?\.(?:content|text)$")


class Label(NamedTuple):
    """The columns of verdicts, several if there are several raters, and how they are read.

    by: who gave them, if nothing says that people did: the name of the column.
    """

    columns: tuple[Column, ...]
    reading: verdicts.Reading
    by: str = ""

    @property
    def option(self) -> str | dict[str, Any]:
        """The value of option `label`."""
        if len(self.columns) == 1:
            return verdicts.label(self.columns[0], {**self.reading.rule, **({"by": self.by} if self.by else {})})
        return {"columns": [column.name for column in self.columns], **self.reading.rule}


class System(NamedTuple):
    """The column of a system's answers, their labels, and why the user should check this."""

    response: Column
    label: Label | None
    unsure: str = ""

    @property
    def option(self) -> dict[str, Any]:
        """The value of `candidates.NAME`, or the part of the long form beside the column of the names."""
        return {"response": self.response.name} | ({"label": self.label.option} if self.label else {})


class Long(NamedTuple):
    """A column that names the system of each record, and what the records hold of it."""

    column: Column
    system: System

    @property
    def about(self) -> str:
        """The first systems, in words."""
        name, texts = shown(self.column.name), self.column.texts
        return f"one record a system: {name} names {self.column.distinct} ({first(texts)})"


def systems(columns: Sequence[Column], references: Sequence[Column]) -> dict[str, System]:
    """Name → system, from the columns without another role; empty if there is none."""
    if listed := _listed(columns):
        return listed
    responses = _responses(columns, references)
    unsure = {column.name: why for column, why in responses}
    named = [column for column, _ in responses]
    of_choice = len(named) == 1 and bool(_OF_CHOICES.search(named[0].name))
    called = [names.UNNAMED] if of_choice else names.candidate_names([column.name for column in named]) if named else []
    if _are_choices(called, references):
        return {}
    unsure |= _perhaps_right(named)
    return {
        name: _system(columns, name, response, unsure.get(response.name, ""), alone=len(called) == 1)
        for name, response in zip(called, named, strict=True)
    }


def _listed(columns: Sequence[Column]) -> dict[str, System]:
    """The systems of a list that has an object for each, such as `outputs[*].{generator, output}`.

    Empty if a column beside the list has the name of an answer.
    """
    if _by_name([column for column in columns if not column.leaf and column.kind != "list"], ()):
        return {}
    found: dict[str, System] = {}
    for place in dict.fromkeys(column.system for column in columns if column.system):
        own = [column for column in columns if column.system == place]
        response = _answer_of(own)
        if response and place[1] not in found:
            found[place[1]] = System(response, *_label_in(own))
    return found


def _answer_of(own: Sequence[Column]) -> Column | None:
    """The answer among what a list holds of a system: by its name, else its only text."""
    texts = [
        column
        for column in own
        if column.kind in {"text", "encoded", *SINGLE} and not isinstance(column.steps[-1], Where)
    ]
    fits: tuple[Callable[[str], object], ...] = (names.as_response, names.as_answers, PLAIN_LEAVES.__contains__)
    return next((column for fit in fits for column in texts if fit(column.leaf)), None)


def _label_in(own: Sequence[Column]) -> tuple[Label | None, str]:
    """The verdict among what a list holds of a system, and why the user should check it."""
    for column in own:
        reading = verdicts.reading(column) if names.key_of_label(column.leaf) == "" else None
        if reading:
            return Label((column,), reading, "" if names.is_peoples(column.leaf) else column.leaf), reading.doubt
    return None, ""


def chosen_systems(columns: Sequence[Column], chosen: Mapping[str, Column]) -> dict[str, System]:
    """The systems whose columns the user named."""
    return {name: _system(columns, name, response, "", alone=len(chosen) == 1) for name, response in chosen.items()}


def find_long(
    columns: Sequence[Column], question: Column | None, references: Sequence[Column], response: Column | None = None
) -> Long | None:
    """The long form: each record holds the answer of one of several systems, which a column names.

    Args:
        columns: The columns without another role.
        question: What a question's records share: the input, or the id.
        references: Columns of the references.
        response: The column of the answers, if the user named it.
    """
    named = (column for column in columns if question and _may_name_systems(column, question))
    return next(filter(None, (as_long(columns, column, references, response) for column in named)), None)


def as_long(
    columns: Sequence[Column], column: Column, references: Sequence[Column], response: Column | None = None
) -> Long | None:
    """The long form with this column of systems' names; None without a column of answers."""
    others = [each for each in columns if each is not column]
    if response is None:
        found = _responses(others, references)
        plain = [pair for pair in found if names.key(pair[0].name) in {*names.ANSWERS, *names.RESPONSES}]
        response, _ = next(iter(plain or found), (None, ""))
        also = [shown(each.name) for each, _ in found if each is not response]
    else:
        also = []
    if response is None:
        return None
    system = _system(others, "", response, f"or response: {', '.join(also)}" if also else "", alone=True)
    return Long(column, system)


def raters(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns of several raters' verdicts."""
    found = [column for column in columns if names.is_raters(column.name) and verdicts.reading(column)]
    return tuple(found[:MOST_RATERS])


def stray_verdicts(columns: Sequence[Column]) -> list[Column]:
    """Columns of verdicts that belong to no system that is known."""
    return [column for column in columns if (found := verdicts.reading(column)) and found.sure and not column.leaf]


def label_of(columns: Sequence[Column], name: str, response: Column, *, alone: bool) -> tuple[Label | None, str]:
    """The labels of a system, and why the user should check them."""
    own = _labels(columns, name, response, alone=alone)
    several = raters(columns) if alone else ()
    if own and (_is_peoples(own[0], name) or not several):
        found = verdicts.reading(own[0])
        doubts = [_or(own), found.doubt if found else ""]
        by = "" if _is_peoples(own[0], name) else names.without_system(own[0].name, name)
        return (Label((own[0],), found, by), "; ".join(filter(None, doubts))) if found else (None, "")
    rule = verdicts.reading(several[0]) if several else None
    if rule is None:
        return None, ""
    return Label(several, rule), f"label: the majority of {len(several)} raters" if len(several) > 1 else ""


def _is_peoples(column: Column, system: str) -> bool:
    """Whether a column's name says that people gave the verdicts; the name of a system in it says nothing of that."""
    return names.is_peoples(column.name if system == names.UNNAMED else names.without_system(column.name, system))


def _system(columns: Sequence[Column], name: str, response: Column, unsure: str, *, alone: bool) -> System:
    label, doubt = label_of(columns, name, response, alone=alone)
    return System(response, label, "; ".join(filter(None, [unsure, doubt])))


def _may_name_systems(column: Column, question: Column) -> bool:
    """Whether the column's name and values are those of systems that answered the same questions."""
    if column.kind not in SINGLE or not column.fit(names.as_system):
        return False
    if not FEWEST_SYSTEMS <= column.distinct <= MOST_SYSTEMS:
        return False
    pairs = {(str(asked), str(name)) for asked, name in zip(question.cells, column.cells, strict=True) if name}
    return len(pairs) >= RECORDS_PER_QUESTION * len({asked for asked, _ in pairs})


def _responses(columns: Sequence[Column], references: Sequence[Column]) -> list[tuple[Column, str]]:
    """The columns of answers, each with why it may be none."""
    top = [column for column in columns if not column.leaf]
    nested = [column for column in columns if column.leaf and not column.system and "[1]" not in column.name]
    sure = _by_name(top, references) or _plain_numbers(top)
    found = sure | _by_label(top)
    guessed = set() if sure else _by_family(top, references) - found
    if not found | guessed:
        top, found = nested, _by_name(nested, references) | {c.name for c in nested if _OF_CHOICES.search(c.name)}
        guessed = set() if found else _by_place(nested)
    only_name = {**dict.fromkeys(guessed, "only its name says that it holds answers")}
    return [(column, only_name.get(column.name, "")) for column in top if column.name in found | guessed]


def _by_name(columns: Sequence[Column], references: Sequence[Column]) -> set[str]:
    """Columns that are named like answers; columns of numbers only if the references are numbers too."""
    kinds: set[Kind] = {"text", "boolean", "encoded", "list"}
    kinds |= {"number"} if any(column.kind == "number" for column in references) else set()
    texts = [column for column in columns if column.kind in kinds and not _is_label(column)]
    named = {column.name for column in texts if column.fit(names.as_response)}
    answers = [column.name for column in texts if not column.holds_lists and column.fit(names.as_answers)]
    several = len(answers) > 1
    return named | {name for name in answers if references or several}


def _plain_numbers(columns: Sequence[Column]) -> set[str]:
    """Columns of numbers that are just called response or the like, if no other column has the answers."""
    numbers = [column for column in columns if column.kind == "number" and names.key(column.name) in names.RESPONSES]
    return {column.name for column in numbers}


def _is_label(column: Column) -> bool:
    return names.key_of_label(column.name) is not None and verdicts.reading(column) is not None


def _by_label(columns: Sequence[Column]) -> set[str]:
    """Columns after which a label is named, such as aurora if there is aurora_correct."""
    about = {names.key_of_label(column.name) for column in columns if verdicts.reading(column)} - {None, ""}
    return {column.name for column in columns if column.kind == "text" and names.key(column.name) in about}


def _by_family(columns: Sequence[Column], references: Sequence[Column]) -> set[str]:
    """Columns named like a model, of mostly distinct texts or of values that references have.

    Beside one of them also those named alike, and those of one text: a system that always says that it does not know.
    """
    kinds = {"text"} | {one.kind for one in references if one.kind in {"number", "boolean"}}
    right = {str(value) for one in references for value in one.values}
    named = [
        column
        for column in columns
        if column.kind in kinds and names.names_a_system(column.name) and not _is_label(column)
    ]
    sure = [one for one in named if 2 * one.distinct > len(one.values) or right & set(map(str, one.values))]
    stems = {tuple(names.words(one.name)[:-1]) for one in sure}
    alike = [one for one in named if (stem := tuple(names.words(one.name)[:-1])) and stem in stems]
    own = tuple(one.name for one in sure)
    constant = [one for one in named if own and one.distinct == 1 and not one.name.startswith(own)]
    constant = [one for one in constant if not names.is_attribute(one.name)]
    return {column.name for column in (*sure, *alike, *constant)}


def _by_place(columns: Sequence[Column]) -> set[str]:
    """Texts of an object that is named like answers, such as those of {"responses": {"gpt4": "…", "fid": "…"}}."""
    texts = [column for column in columns if column.kind == "text" and not names.is_attribute(column.leaf)]
    above = {column.name: column.name.removesuffix(column.leaf).rstrip(".") for column in texts}
    return {name for name, place in above.items() if names.as_response(place) or names.as_answers(place)}


def _are_choices(called: Sequence[str], references: Sequence[Column]) -> bool:
    """Whether the columns are the choices of a multiple-choice question: the references are their names."""
    right = {text.strip().casefold() for column in references for text in column.texts}
    return bool(right) and len(called) > 1 and right <= {names.key(name) for name in called}


def _perhaps_right(responses: Sequence[Column]) -> dict[str, str]:
    """Columns that are just called answers, if there are several → why the user should check them."""
    plain = [column.name for column in responses if names.key(column.name) in names.ANSWERS]
    return dict.fromkeys(plain, "a system's answers, or right ones?") if len(responses) > 1 else {}


def _labels(columns: Sequence[Column], name: str, response: Column, *, alone: bool) -> list[Column]:
    """The columns of verdicts that are named after the system: human labels first, verdicts of a model last.

    alone: Whether it is the only system. Then a column can be its label by the values alone, with any name.
    """
    own = set(_keys(name, response, alone=alone))
    named = [column for column in columns if column is not response and _is_label_of(column, own, alone=alone)]
    return sorted(named, key=lambda column: names.whose_verdict(column.name))


def _is_label_of(column: Column, own: Collection[str], *, alone: bool) -> bool:
    found = verdicts.reading(column)
    if found is None or column.leaf:
        return False
    return names.key_of_label(column.name) in own or (alone and found.sure and not names.is_raters(column.name))


def _or(labels: Sequence[Column]) -> str:
    """Why the user should check the label, if there are several."""
    named = [shown(column.name) for column in labels]
    return f"label {named[0]}, or: {', '.join(named[1:])}" if len(named) > 1 else ""


def _keys(name: str, response: Column, *, alone: bool) -> Iterator[str]:
    """The keys by which the name of a label may refer to this system."""
    if name:
        yield names.key(name)
    yield names.key(response.name)
    if alone:
        yield from ("", *names.ANSWERS, *names.RESPONSES)


# Ids of records, and answers that repeat: several of one system to one question

# Share of the questions that must have several answers for these to be draws, and not duplicates.
USUAL = 0.5
Key = tuple[Hashable, ...]


class Repeats(NamedTuple):
    """Option `draw`: a column, true (numbered in the order of the records) or None; the column; and the reason."""

    option: str | bool | None
    column: Column | None = None
    comment: str = ""
    unsure: str = ""


def keys(*columns: Column | None) -> list[Key]:
    """What the records hold in these columns, for comparison."""
    cells = [column.cells for column in columns if column is not None]
    return [tuple(map(str, row)) for row in zip(*cells, strict=True)]


def determines(key: Column, other: Column | None) -> bool:
    """Whether records with the same key hold the same in the other column."""
    return other is None or len(set(keys(key))) == len(set(keys(key, other)))


def repeats(left: Sequence[Column], question: Sequence[Key], responses: Sequence[Column]) -> Repeats:
    """Whether systems answered a question several times, and what numbers the answers.

    Args:
        left: Columns without a role.
        question: Of each record, its question, and its system in long form.
        responses: Columns of the answers.
    """
    counts = Counter(question)
    most = max(counts.values(), default=1)
    several = sum(count > 1 for count in counts.values())
    if not responses or most == 1 or several < USUAL * len(counts):
        return Repeats(None)
    for column in left:
        numbering = column.kind in SINGLE and names.DRAWS & set(names.words(column.leaf or column.name))
        if numbering and column.blank == 0 and _numbers(column, question):
            return Repeats(column.name, column, f"numbers the {most} answers to each question")
    if not _differ(question, responses):
        return Repeats(None)
    told = f"{several:,} of {len(counts):,} questions stand up to {most} times with other answers: repeated answers?"
    return Repeats(option=True, unsure=told)


def _numbers(column: Column, question: Sequence[Key]) -> bool:
    pairs = list(zip(question, column.cells, strict=True))
    return len(set(pairs)) == len(pairs)


def _differ(question: Sequence[Key], responses: Sequence[Column]) -> bool:
    """Whether a system gave several answers to a question."""
    answers: dict[Key, set[str]] = defaultdict(set)
    for key, row in zip(question, zip(*(column.cells for column in responses), strict=True), strict=True):
        answers[key].add(str(row))
    return any(len(own) > 1 for own in answers.values())
