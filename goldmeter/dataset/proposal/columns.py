"""The columns of the first records, and the kind of their values."""

import ast
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Literal, NamedTuple

from goldmeter.console.format import counted
from goldmeter.dataset.labels import LABELS
from goldmeter.dataset.paths import IS_MEMBER, Step, Steps, Where, lookup, written
from goldmeter.dataset.printed_lists import printed_list
from goldmeter.dataset.proposal import names
from goldmeter.dataset.proposal.names import Fit
from goldmeter.dataset.proposal.section import quoted, shown
from goldmeter.dataset.sources import Record, Value, as_text
from goldmeter.dataset.texts import UnusableValueError, finite
from goldmeter.pipeline.yaml import scalar

Kind = Literal["empty", "boolean", "number", "text", "list", "nested", "encoded"]
# Characters of a text that are read.
MOST_CHARS = 10_000
MOST_KEYS = 5
# Systems that the objects in lists name; and records below which each system may stand once.
MOST_SYSTEMS, FEWEST_LISTS = 50, 4
# Of nested records: how deep they are searched, members of an object, items of a list, and places below a column.
DEEPEST, MOST_MEMBERS, MOST_ITEMS, MOST_PLACES = 4, 60, 5, 200
# A list or an object of JSON or Python, written as text.
_ENCODED = re.compile(r"""\s*(?:\[\s*["'{\d\]].*\]|\{\s*["'}].*\})\s*\Z""", re.DOTALL)
# Last names of paths that say nothing about the role.
PLAIN_LEAVES = frozenset({"text", "content", "value", "values", "raw", "0"})
# Kinds with one text per record.
SINGLE: frozenset[Kind] = frozenset({"boolean", "number", "text"})
# Prefix of a comment that asks the user to check a value.
CHECK = "check: "


@dataclass(frozen=True)
class Column:
    """A column, or a place in nested records.

    name: As params.yaml names it: the column's name, or a path such as doc.question.
    cells: One value per record; null if it is missing or blank.
    leaf: Of a path, the last name in it; empty for a column.
    steps: Of a path, and of a column its name.
    """

    name: str
    cells: tuple[Value, ...]
    leaf: str = ""
    steps: Steps = ()

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """The values that are neither null nor blank."""
        return tuple(cell for cell in self.cells if cell is not None)

    @property
    def records(self) -> int:
        """Number of records."""
        return len(self.cells)

    @property
    def system(self) -> tuple[Steps, str] | None:
        """Of a place in a list with an object for each system: the path of the list, and the system."""
        return next(
            ((self.steps[:n], step.value) for n, step in enumerate(self.steps) if isinstance(step, Where)), None
        )

    def is_below(self, other: "Column") -> bool:
        """Whether it is a place in the other one's values."""
        return len(self.steps) > len(other.steps) > 0 and self.steps[: len(other.steps)] == other.steps

    def fit(self, fits: Callable[[str], Fit | None]) -> Fit | None:
        """How well the name fits a role, by a function of module names."""
        return fits(self.title)

    @property
    def title(self) -> str:
        """The name that says what it holds: of a path its last name, or what is before it if that says nothing."""
        if self.leaf in PLAIN_LEAVES:
            return self.name.removesuffix(self.leaf).rstrip(".")
        return self.leaf or self.name

    @cached_property
    def kind(self) -> Kind:
        """The kind of its values; "encoded" are lists or objects written as text, as in a cell of a CSV file."""
        if not self.values:
            return "empty"
        texts = self.texts
        if len(texts) == len(self.values):
            return _kind_of_texts(texts)
        return "list" if all(isinstance(value, str) or _is_texts(value) for value in self.values) else "nested"

    @cached_property
    def texts(self) -> list[str]:
        """The values that are texts."""
        return [value for value in self.values if isinstance(value, str)]

    @cached_property
    def distinct(self) -> int:
        """Number of distinct texts."""
        return len(set(self.texts))

    @cached_property
    def holds_lists(self) -> bool:
        """Whether its values are lists of texts, or texts that print them."""
        return self.kind == "list" or (self.kind == "encoded" and all(map(_prints_texts, self.texts)))

    @property
    def blank(self) -> int:
        """Number of records whose value is null or blank."""
        return self.records - len(self.values)

    @property
    def is_unique(self) -> bool:
        """Whether every record has a text of its own."""
        return self.distinct == self.records

    @property
    def about(self) -> str:
        """The kind of its values, in words."""
        words = {"empty": "empty", "boolean": "true and false", "number": "numbers", "list": "lists of texts"}
        if self.kind == "text":
            return counted(self.distinct, "value")
        if self.kind == "encoded":
            first = decoded(self.texts[0])
            return f"an object as text{_keys([first])}" if isinstance(first, dict) else "a list or an object as text"
        return words.get(self.kind) or self._shape

    @property
    def true(self) -> int:
        """Number of true values of a boolean column."""
        return sum(LABELS[text.strip().lower()] for text in self.texts)

    @property
    def longest(self) -> int:
        """Length of the longest text in characters."""
        return max(map(len, self.texts), default=0)

    @property
    def _shape(self) -> str:
        value = next((value for value in self.values if not isinstance(value, str)), None)
        if isinstance(value, dict):
            return f"an object{_keys([value])}"
        objects = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
        return f"a list of objects{_keys(objects)}" if objects else "a list"


class Choice(NamedTuple):
    """The column for an option, or None, and the reason."""

    column: Column | None
    comment: str = ""

    @property
    def name(self) -> str | None:
        """The column's name."""
        return None if self.column is None else self.column.name


def columns(records: Sequence[Record]) -> list[Column]:
    """The columns in order of appearance, each followed by what is nested in it.

    Without those whose name can't be written to params.yaml.
    """
    names = dict.fromkeys(name for record in records for name in record.values)
    top = [
        Column(name, tuple(_cell(record.values.get(name)) for record in records), "", (name,))
        for name in names
        if _is_writable(name)
    ]
    return [each for column in top for each in (column, *islice(_below(column), MOST_PLACES))]


def unnamable(records: Sequence[Record]) -> list[str]:
    """The columns whose name can't be written to params.yaml."""
    return [name for name in dict.fromkeys(n for record in records for n in record.values) if not _is_writable(name)]


def _below(column: Column) -> Iterator[Column]:
    """What is nested in the values of a column: the members of objects, and the items of lists of them.

    Items are told apart by the system that they name, else by their position; then the first ones count.
    """
    if column.kind != "nested" or len(column.steps) > DEEPEST:
        return
    for key in _systems(column) or _members(column.values):
        cells = tuple(_cell(lookup({"": cell}, ("", key))) for cell in column.cells)
        steps = (*column.steps, key)
        place = Column(written(steps), cells, key if isinstance(key, str) else column.leaf or column.name, steps)
        if not (isinstance(column.steps[-1], Where) and key == column.steps[-1].member):
            yield place
            yield from _below(place)


def _systems(column: Column) -> list[Step]:
    """The steps to the objects of each system, if the values are lists of objects that name one and hold its text."""
    lists = [[item for item in value if isinstance(item, dict)] for value in column.values if isinstance(value, list)]
    items = [item for each in lists for item in each]
    for member in dict.fromkeys(key for item in items for key in item):
        of = [item.get(member) for item in items]
        texts = [value for value in of if isinstance(value, str) and any(map(str.isalpha, value))]
        values = dict.fromkeys(texts)
        once = all(len({str(item.get(member)) for item in each}) == len(each) for each in lists)
        few = len(values) <= MOST_SYSTEMS and (len(items) >= 2 * len(values) or len(lists) < FEWEST_LISTS)
        if len(texts) == len(items) and once and few and _names_systems(member, column.title, items[0]):
            return [Where(member, value) for value in values]
    return []


def _names_systems(member: str, title: str, item: Mapping[str, Value]) -> bool:
    """Whether a member of the items of a list names a system, and another one has the name of an answer."""
    of_answers = bool(names.as_response(title) or names.as_answers(title))
    named = bool(names.as_system(member)) or names.key(member) == "generator"
    listed = of_answers or names.is_systems(title)
    texts = [key for key in item if key != member]
    answers = [key for key in texts if names.as_response(key) or names.as_answers(key)]
    plain = [key for key in texts if key in PLAIN_LEAVES and listed]
    is_name = names.key(member) == "name" and listed
    return bool(IS_MEMBER.fullmatch(member)) and (named or is_name) and bool(answers or plain)


def _members(values: Iterable[Value]) -> list[Step]:
    """The keys of the objects among the values, and the positions in lists that hold objects or lists."""
    keys: dict[Step, None] = {}
    for value in values:
        if isinstance(value, dict):
            keys.update(dict.fromkeys(filter(_is_writable, value)))
        elif isinstance(value, list) and not _is_texts(value):
            keys.update(dict.fromkeys(range(min(len(value), MOST_ITEMS))))
    return list(islice(keys, MOST_MEMBERS))


def _is_writable(name: str) -> bool:
    return bool(name) and name.encode(errors="ignore").decode() == name  # a lone surrogate is no UTF-8


def _cell(value: Value) -> Value:
    if value in (None, [], {}) or (isinstance(value, str) and not value.strip()):
        return None
    return value[:MOST_CHARS] if isinstance(value, str) else value


def decoded(text: str) -> Value:
    """The list or object of JSON or Python that a text holds; None for any other text.

    >>> decoded("{'a': 1}"), decoded('["a"]'), decoded("[sic]")
    ({'a': '1'}, ['a'], None)
    """
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(text.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return as_text(value) if isinstance(value, list | dict) else None
    return None


def _kind_of_texts(texts: Sequence[str]) -> Kind:
    if all(text.strip().lower() in LABELS for text in texts):
        return "boolean"
    if all(finite(text) is not None for text in texts):
        return "number"
    return "encoded" if 2 * sum(map(bool, map(_ENCODED.match, texts))) > len(texts) else "text"


def _prints_texts(text: str) -> bool:
    try:
        return printed_list(text) is not None
    except UnusableValueError:
        return False


def _is_texts(value: Value) -> bool:
    return isinstance(value, list) and all(item is None or isinstance(item, str) for item in value)


def _keys(objects: Iterable[dict[str, Value]]) -> str:
    names = list(dict.fromkeys(key for each in objects for key in each))
    more = ", …" if len(names) > MOST_KEYS else ""
    return f" with {', '.join(map(shown, names[:MOST_KEYS]))}{more}" if names else ""


# The message if columns are not recognised: what is missing, what there is, and how to go on

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
