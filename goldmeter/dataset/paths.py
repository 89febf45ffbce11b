"""Paths into nested records: `doc.question`, `choices[0].message.content`, `outputs[model='a'].text`, `['a.b'].c`."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from goldmeter.dataset.record import Record, Value, as_text
from goldmeter.errors import DataError, did_you_mean


class Where(NamedTuple):
    """Steps into a list: to its first object whose member has this value, written as text."""

    member: str
    value: str


# A name steps into an object, and, if it is a number, into a list; an integer only into a list, -1 is its last item.
Step: TypeAlias = str | int | Where
Steps: TypeAlias = tuple[Step, ...]

# Columns that an error message lists.
COLUMNS_LISTED = 30
# Characters of a value that an error message quotes.
QUOTED_LENGTH = 60
# Existing paths that are remembered to suggest one, their depth, and the items of a list that are looked at.
SUGGESTED, DEPTH, ITEMS = 2_000, 8, 3
_MISSING: Final = object()
_STEP = re.compile(
    r"""(?P<dot>^|\.)(?P<name>[^.\[\]]+)
    |\[(?P<index>-?[0-9]{1,9})\]
    |\[(?P<member>[^\W\d][\w-]*=)?(?P<quote>['"])(?P<quoted>(?:(?!(?P=quote)|\\).|\\.)*)(?P=quote)\]""",
    re.VERBOSE | re.DOTALL,
)
# Names that `Where` can be written with.
IS_MEMBER = re.compile(r"[^\W\d][\w-]*")


def parse(text: str) -> Steps | None:
    r"""Return the steps of a path; None if the text is not one.

    >>> parse("choices[0].message.content"), parse("['a.b'].c"), parse("a["), parse("outputs[model='x'].text")[1]
    (('choices', 0, 'message', 'content'), ('a.b', 'c'), None, Where(member='model', value='x'))
    """
    steps: list[Step] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None or ((match["index"] or match["member"]) and not steps):
            return None
        if match["index"]:
            steps.append(int(match["index"]))
        elif match["name"]:
            steps.append(match["name"])
        else:
            quoted = re.sub(r"\\(.)", r"\1", match["quoted"], flags=re.DOTALL)
            steps.append(Where(match["member"][:-1], quoted) if match["member"] else quoted)
        position = match.end()
    return tuple(steps) or None


def quoted_step(name: str) -> str:
    r"""Write the name of a column so that dots and brackets in it are no steps.

    >>> quoted_step("a.b"), quoted_step("it's")
    ("['a.b']", "['it\\'s']")
    """
    return f"[{_in_quotes(name)}]"


def _in_quotes(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def lookup(values: Mapping[str, Value], steps: Steps) -> Value:
    """Return the value at the path; None where it does not lead."""
    found = _found(values, steps)
    return None if found is _MISSING else found  # type: ignore[return-value]  # mypy does not narrow sentinels


def leads(values: Mapping[str, Value], steps: Steps) -> bool:
    """Return whether the path leads to a value, which may be null."""
    return _found(values, steps) is not _MISSING


def steps_into(name: str) -> Steps | None:
    """Return the steps of a name that may be a path into nested values; None if it can only be a column."""
    steps = parse(name)
    return None if steps == (name,) else steps


def outermost(names: Iterable[str]) -> frozenset[str]:
    """Return the columns that names stand for, as columns or as paths into them."""
    paths = (steps for name in names if (steps := steps_into(name)) is not None)
    return frozenset([*names, *(str(steps[0]) for steps in paths)])


def require_columns(records: Iterable[Record], wanted: Mapping[str, str], optional: Iterable[str] = ()) -> None:
    """Require each wanted name in a record: a column of this very name, or a path into nested values.

    Args:
        records: They are iterated once, to the end only if a name can be a path.
        wanted: Column or path → its place in params.yaml.
        optional: Those that no record needs to have.

    Raises:
        DataError: A wanted name is in no record, or is a column in one record and a path in another.
    """
    paths = {name: steps for name in [*wanted, *optional] if (steps := steps_into(name)) is not None}
    survey = _Survey(wanted, paths)
    for record in records:
        survey.add(record)
        if survey.is_complete:
            break
    survey.require(wanted)


class _Survey:
    """Which names are columns and which lead into nested values."""

    def __init__(self, wanted: Mapping[str, str], paths: Mapping[str, Steps]) -> None:
        self.paths = paths
        self.missing = dict.fromkeys(wanted)
        self.columns: dict[str, None] = {}
        self.exact: set[str] = set()
        self.nested: set[str] = set()
        self.first: dict[str, None] = {}

    @property
    def is_complete(self) -> bool:
        return not self.missing and not self.paths

    def add(self, record: Record) -> None:
        for name in [name for name in self.missing if name in record.values]:
            del self.missing[name]
        for name, steps in self.paths.items():
            if name in record.values:
                self.exact.add(name)
            if name not in self.nested and _found(record.values, steps) is not _MISSING:
                self.nested.add(name)
                self.missing.pop(name, None)
        if self.missing and len(self.first) < SUGGESTED:
            self.first.update(dict.fromkeys(_existing(record.values)))
        if self.missing:
            self.columns.update(dict.fromkeys(record.values))

    def require(self, wanted: Mapping[str, str]) -> None:
        for name in [*self.exact & self.nested]:
            raise DataError(
                f"{wanted.get(name, 'dataset')}: {quoted(name)} is a column in the data and also leads into nested "
                f"values; write {quoted_step(name)} for the column"
            )
        if self.missing and self.columns:
            lines = [self._missing(wanted[name], name) for name in self.missing]
            listed = [quoted(column) for column in self.columns][:COLUMNS_LISTED]
            more = ["…"] * (len(self.columns) > COLUMNS_LISTED)
            raise DataError("\n".join([*lines[:COLUMNS_LISTED], f"existing columns: {', '.join(listed + more)}"]))

    def _missing(self, place: str, name: str) -> str:
        paths = [*self.columns, *self.first]
        near = did_you_mean(name, paths, quoted) or self._beside(name)
        return f"{place}: no record has a column {quoted(name)}{near}"

    def _beside(self, name: str) -> str:
        """Name what the longest existing beginning of the path has."""
        steps = self.paths.get(name, ())
        for length in range(len(steps) - 1, 0, -1):
            start = written(steps[:length])
            inside = [path for path in self.first if path != start and path.startswith((f"{start}.", f"{start}["))]
            if inside:
                return f"; {quoted(start)} has {', '.join(map(quoted, inside[:COLUMNS_LISTED]))}"
        return ""


def written(steps: Sequence[Step]) -> str:
    """Write steps as a path.

    >>> written(("doc", "a.b", 0, "c"))
    "doc['a.b'][0].c"
    """
    text = ""
    for step in steps:
        if isinstance(step, Where):
            text += f"[{step.member}={_in_quotes(step.value)}]"
        elif isinstance(step, int):
            text += f"[{step}]"
        elif not step or any(sign in step for sign in ".[]"):
            text += quoted_step(step)
        else:
            text += f".{step}" if text else step
    return text


def quoted(value: object) -> str:
    """Return the value as an error message quotes it."""
    text = repr(value)
    return text if len(text) <= QUOTED_LENGTH else f"{text[:QUOTED_LENGTH]}…"


def _found(values: Mapping[str, Value], steps: Steps) -> object:
    value: object = values
    for step in steps:
        value = _descend(value, step)
        if value is _MISSING:
            break
    return value


def _descend(value: object, step: Step) -> object:
    if isinstance(step, Where):
        items = [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
        return next((item for item in items if as_text(item.get(step.member)) == step.value), _MISSING)
    if isinstance(value, Mapping):
        return value.get(step, _MISSING)
    if isinstance(value, list):
        index = _index(step)
        return value[index] if index is not None and -len(value) <= index < len(value) else _MISSING
    return _MISSING


def _index(step: str | int) -> int | None:
    if isinstance(step, int):
        return step
    return int(step) if step.isascii() and step.isdigit() and len(step) < 10 else None  # noqa: PLR2004 (digits)


def _existing(values: Mapping[str, Value]) -> Iterator[str]:
    """Yield the paths of a record, an outer one before those inside it."""
    open_: deque[tuple[Steps, Value]] = deque(((name,), value) for name, value in values.items())
    while open_:
        steps, value = open_.popleft()
        if len(steps) > 1:
            yield written(steps)
        if len(steps) < DEPTH and len(open_) < SUGGESTED:
            inside: Iterable[tuple[Step, Value]] = ()
            if isinstance(value, dict):
                inside = value.items()
            elif isinstance(value, list):
                inside = enumerate(value[:ITEMS])
            open_ += [((*steps, step), item) for step, item in islice(inside, SUGGESTED)]
