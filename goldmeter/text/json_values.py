"""JSON values of texts: parsed strictly, with numbers as Decimal, and compared field by field."""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from itertools import chain, starmap
from typing import Any, Literal, NamedTuple

import numpy as np

from goldmeter.text.json_objects import unique_members
from goldmeter.text.normalization import normalize
from goldmeter.text.numbers import MAX_DIGITS, MAX_EXPONENT
from goldmeter.text.quantities import Quantity, Tolerance, Value, close
from goldmeter.text.quantity_reader import stated, whole

MAX_DEPTH = 100
FENCE = "```"
BOM = "\ufeff"


class Parsed(NamedTuple):
    """A JSON value, its numbers as Decimal; or the problem why a text is no JSON."""

    value: Any
    problem: str | None = None


def parsed(text: str) -> Parsed:
    """Parse a text; if the whole is no JSON, the last of its fenced blocks that is.

    A byte order mark before the value is no part of it. Repeated keys, NaN and Infinity, nesting deeper than
    MAX_DEPTH and huge numbers are no JSON here.

    >>> parsed('```json\\n{"total": 1.50}\\n```').value
    {'total': Decimal('1.50')}
    """
    whole = _parsed(text)
    if not whole.problem:
        return whole
    blocks, cut, widest = _blocks(text)
    last = _parsed(blocks[-1]) if blocks else whole
    tried = chain(map(_parsed, cut), [last], map(_parsed, [*reversed(blocks[:-1]), *widest]))
    return next((one for one in tried if not one.problem), last)


def _parsed(text: str) -> Parsed:
    try:
        value = _DECODER.decode(text.strip().removeprefix(BOM).strip())
        if text.count("[") + text.count("{") > MAX_DEPTH:
            _check_depth(value, MAX_DEPTH)
    except RecursionError:
        return Parsed(None, _TOO_DEEP)
    except ValueError as error:
        return Parsed(None, f"no JSON: {error}")
    return Parsed(value)


class _Blocks(NamedTuple):
    """What is between fences, without the name of the language.

    closed: in the order of the text. cut: the last one, if it ends with the text. widest: from the first fence anywhere
    to the last one.
    """

    closed: list[str]
    cut: list[str]
    widest: list[str]


def _blocks(text: str) -> _Blocks:
    """Return the fenced blocks of a text.

    A fence is at the start of a line, or behind a closing one; a closing one may end its line. Within a JSON string no
    fence is at either, because a string is on one line.
    """
    found = _Blocks([], [], [])
    opening = _OPENING.search(text)
    while opening:
        closing = _CLOSING.search(text, opening.end())
        block = text[opening.end() : closing.start() if closing else len(text)]
        (found.closed if closing else found.cut).append(_bare(block))
        opening = closing and (_ON_THE_LINE.match(text, closing.end()) or _OPENING.search(text, closing.end()))
    first, last = text.find(FENCE), text.rfind(FENCE)
    if first < last:
        found.widest.append(_bare(text[first + len(FENCE) : last]))
    return found


def _bare(block: str) -> str:
    return _LANGUAGE.sub("", block, count=1)


def _check_depth(value: Any, left: int) -> None:
    if left == 0:
        raise RecursionError
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_depth(inner, left - 1)


def _integer(text: str) -> Decimal:
    if len(text) > MAX_DIGITS:
        raise ValueError("a number is too large")
    return Decimal(text)


def _number(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:  # an exponent that Decimal has no room for
        raise ValueError("a number is too large") from None
    if len(text) > MAX_DIGITS or abs(number.adjusted()) > MAX_EXPONENT:
        raise ValueError("a number is too large")
    return number


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


_TOO_DEEP = f"no JSON: nested deeper than {MAX_DEPTH}"
_OPENING = re.compile(rf"^(?:[^\S\n]|{BOM})*{FENCE}", re.MULTILINE)
_CLOSING = re.compile(rf"^[^\S\n]*{FENCE}|{FENCE}[^\S\n]*$", re.MULTILINE)
_ON_THE_LINE = re.compile(rf"[^\n]*?{FENCE}")
_LANGUAGE = re.compile(r"\s*(?:json\w*)?\s*", re.IGNORECASE)
_DECODER = json.JSONDecoder(
    object_pairs_hook=unique_members, parse_int=_integer, parse_float=_number, parse_constant=_constant
)


Comparer = Literal["exact", "text", "number", "set", "ignore", "ordered", "unordered"]
Outcome = Literal["right", "wrong", "missing", "extra"]
Path = tuple[str | int, ...]
# Pairs of unequal items up to which lists are matched; longer ones are compared in order.
MAX_PAIRS = 10_000
# Fields compared in the search for best pairs, of all lists of one value; lists after it are compared in order.
MAX_COMPARED = 200_000
ROOT = "$"
OF_FIELDS = frozenset({"exact", "text", "number", "set", "ignore"})
OF_LISTS = frozenset({"ordered", "unordered"})
_NESTED = (dict, list)
_ABSENT = object()
_EXAMPLES = "total, lines[].price, or ['a.b'] for a name with a point"
_QUOTED = r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*["]"""
_STEP = re.compile(rf"""\.(?P<name>[^.\[\]'"]+)|\[\]|\[(?P<quoted>{_QUOTED})\]""")


class Field(NamedTuple):
    """What became of one field: the response has it right or wrong, lacks it, or has it in addition."""

    outcome: Outcome
    path: Path


class Rules(NamedTuple):
    """How values are compared.

    Attributes:
        compare: Pattern of paths, such as `lines[].price`, to the comparer there.
        value: Comparer of scalars that have none.
        lists: Comparer of lists that have none.
        tolerance: Of comparer number.
    """

    compare: Mapping[str, Comparer]
    value: Literal["exact", "text", "number"] = "exact"
    lists: Literal["ordered", "unordered"] = "ordered"
    tolerance: Tolerance = Tolerance()


def fields(response: Any, reference: Any, rules: Rules) -> list[Field]:
    """Compare two values of `goldmeter.text.json_values`.

    >>> fields({"a": 1, "b": 2}, {"a": 1, "c": 3}, Rules({}))
    [Field(outcome='right', path=('a',)), Field(outcome='missing', path=('c',)), Field(outcome='extra', path=('b',))]
    """
    found: list[Field] = []
    _Comparison(rules).compare(response, reference, (), "", found)
    return found


def leaves(value: Any, outcome: Outcome, rules: Rules) -> list[Field]:
    """Return every field of one value with the same outcome."""
    found: list[Field] = []
    _Comparison(rules).leaves(value, outcome, (), "", found)
    return found


def pattern(path: Path) -> str:
    """Return a path with [] for every index; equal for all items of a list.

    >>> pattern(("lines", 0, "unit.price")), pattern(())
    ("lines[]['unit.price']", '$')
    """
    return "".join("[]" if isinstance(step, int) else _named(step) for step in path).removeprefix(".") or ROOT


def shown(path: Path) -> str:
    """Return a path as text.

    >>> shown(("lines", 0, "price"))
    'lines[0].price'
    """
    return "".join(f"[{step}]" if isinstance(step, int) else _named(step) for step in path).removeprefix(".") or ROOT


def require_pattern(where: str) -> None:
    """Check that a pattern may be that of a path, as `pattern` writes it.

    Raises:
        ValueError: It is malformed, or written in another way.
    """
    steps: list[str | int] = []
    text, end = _from_root(where), 0
    while end < len(text) and (step := _STEP.match(text, end)):
        try:
            steps.append(ast.literal_eval(step["quoted"]) if step["quoted"] else step["name"] or 0)
        except (SyntaxError, ValueError):
            break
        end = step.end()
    if end < len(text):
        raise ValueError(f"{where!r} is no path, from {text[end:]!r} on; write {_EXAMPLES}")
    if where.startswith(("$.", "$[")):
        raise ValueError(f"{where!r}: leave out the $; write {_EXAMPLES}")
    if where not in (ROOT, written := pattern(tuple(steps))):
        raise ValueError(f"{where!r}: write {written}")


def _from_root(where: str) -> str:
    """Return a pattern with a point before a name at its beginning."""
    return "" if where == ROOT else where if where.startswith("[") else f".{where}"


@lru_cache(maxsize=1 << 12)
def _named(name: str) -> str:
    is_plain = name and name != ROOT and not set(name) & set(".[]'\"")
    return f".{name}" if is_plain else f"[{name!r}]"


class _Comparison:
    """Collects the fields of two values; where no path has a comparer of its own, their patterns stay empty."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._left = MAX_COMPARED
        self._is_plain = not rules.compare and rules.value == "exact"
        # Patterns as they are put together on the way down.
        self._chosen = {_from_root(where): comparer for where, comparer in rules.compare.items()}

    def compare(self, response: Any, reference: Any, path: Path, where: str, found: list[Field]) -> None:
        """Append the fields of both values; `where` is the pattern of the path."""
        comparer = self._comparer(reference, where)
        if comparer == "object":
            if isinstance(response, dict) and response:
                self._objects(response, reference, path, where, found)
                return
        elif comparer in OF_LISTS:
            if isinstance(response, list) and response:
                self._lists(response, reference, path, where, found, matched=comparer == "unordered")
                return
        elif comparer == "ignore":
            return
        elif self._is_field(response, where):
            found.append(Field("right" if self._equal(response, reference, comparer) else "wrong", path))
            return
        self.leaves(reference, "missing", path, where, found)
        self.leaves(response, "extra", path, where, found)

    def leaves(self, value: Any, outcome: Outcome, path: Path, where: str, found: list[Field]) -> None:
        """Append every field of a value."""
        comparer = self._comparer(value, where)
        if comparer == "object":
            for name, member in value.items():
                self.leaves(member, outcome, (*path, name), self._of_member(where, name), found)
        elif comparer in OF_LISTS:
            inner = self._of_items(where)
            for index, item in enumerate(value):
                self.leaves(item, outcome, (*path, index), inner, found)
        elif comparer != "ignore":
            found.append(Field(outcome, path))

    def _of_member(self, where: str, name: str) -> str:
        return where + _named(name) if self._chosen else ""

    def _of_items(self, where: str) -> str:
        return f"{where}[]" if self._chosen else ""

    def _comparer(self, value: Any, where: str) -> str:
        """Return the comparer of a value; `object` for one whose members are compared."""
        chosen = self._chosen.get(where) if self._chosen else None
        if chosen in OF_FIELDS:
            return str(chosen)
        if not value or type(value) not in _NESTED:
            return self._rules.value
        return "object" if isinstance(value, dict) else chosen or self._rules.lists

    def _is_field(self, value: Any, where: str) -> bool:
        return type(value) not in _NESTED or self._comparer(value, where) in OF_FIELDS

    def _equal(self, response: Any, reference: Any, comparer: str) -> bool:
        if comparer == "exact":
            return _same(response, reference)
        if comparer == "set" and isinstance(response, list) and isinstance(reference, list):
            return {*map(_frozen, response)} == {*map(_frozen, reference)}
        if comparer == "text" and isinstance(response, str) and isinstance(reference, str):
            return _normalized(response) == _normalized(reference)
        if comparer == "number":
            given, expected = _exact_number(response), _exact_number(reference)
            if given is not None and expected is not None:
                return close(given, expected, self._rules.tolerance)
        return _same(response, reference)

    def _objects(
        self, response: Mapping[str, Any], reference: Mapping[str, Any], path: Path, where: str, found: list[Field]
    ) -> None:
        for name, expected in reference.items():
            given = response.get(name, _ABSENT)
            if given is _ABSENT:
                self.leaves(expected, "missing", (*path, name), self._of_member(where, name), found)
            elif self._is_plain and type(expected) not in _NESTED and type(given) not in _NESTED:
                is_right = given == expected and type(given) is type(expected)  # most fields; a call takes longer
                found.append(Field("right" if is_right else "wrong", (*path, name)))
            else:
                self.compare(given, expected, (*path, name), self._of_member(where, name), found)
        for name, given in response.items():
            if name not in reference:
                self.leaves(given, "extra", (*path, name), self._of_member(where, name), found)

    def _lists(
        self,
        response: Sequence[Any],
        reference: Sequence[Any],
        path: Path,
        where: str,
        found: list[Field],
        *,
        matched: bool,
    ) -> None:
        """Append the fields of two lists; the index is that in the reference, of extra items that in the response."""
        inner = self._of_items(where)
        if matched:
            pairs = sorted(self._matched(response, reference, path, inner), key=lambda pair: pair[1])
            found += [field for *_, fields in pairs for field in fields]
            missing = _others(reference, [j for _, j, _ in pairs])
            extra = _others(response, [i for i, *_ in pairs])
        else:
            common = min(len(response), len(reference))
            for index in range(common):
                self.compare(response[index], reference[index], (*path, index), inner, found)
            missing, extra = [*range(common, len(reference))], [*range(common, len(response))]
        for j in missing:
            self.leaves(reference[j], "missing", (*path, j), inner, found)
        for i in extra:
            self.leaves(response[i], "extra", (*path, i), inner, found)

    def _matched(
        self, response: Sequence[Any], reference: Sequence[Any], path: Path, where: str
    ) -> list[tuple[int, int, list[Field]]]:
        """Return which item is compared with which, and their fields; `where` is the pattern of the items."""

        def pair(i: int, j: int) -> tuple[int, int, list[Field]]:
            compared: list[Field] = []
            self.compare(response[i], reference[j], (*path, j), where, compared)
            return i, j, compared

        same = _equal_items(response, reference)
        given = _others(response, [i for i, _ in same])
        expected = _others(reference, [j for _, j in same])
        if not self._affords([response[i] for i in given], [reference[j] for j in expected]):
            return [*starmap(pair, [*same, *zip(given, expected, strict=False)])]
        return [*starmap(pair, same), *_best([[pair(i, j) for j in expected] for i in given])]

    def _affords(self, response: Sequence[Any], reference: Sequence[Any]) -> bool:
        """Return whether each item may be compared with each, and count these comparisons."""
        if len(response) * len(reference) > MAX_PAIRS or self._left <= 0:
            return False
        cost = len(response) * _size(reference) + len(reference) * _size(response)
        affords = cost <= self._left
        self._left -= cost if affords else 0
        return affords


def _size(value: Any) -> int:
    """Return the number of values in a value, itself too."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_size, inner))


def _equal_items(response: Sequence[Any], reference: Sequence[Any]) -> list[tuple[int, int]]:
    """Return pairs of equal items, each item in at most one pair."""
    places: dict[Any, list[int]] = {}
    for i in reversed(range(len(response))):
        places.setdefault(_frozen(response[i]), []).append(i)
    frozen = ((j, _frozen(item)) for j, item in enumerate(reference))
    return [(places[item].pop(), j) for j, item in frozen if places.get(item)]


def _best(pairs: Sequence[Sequence[tuple[int, int, list[Field]]]]) -> list[tuple[int, int, list[Field]]]:
    """Return the pairs, one per item, that have most fields right in all; without those that have none."""
    if not pairs or not pairs[0]:
        return []
    from scipy.optimize import linear_sum_assignment  # importing scipy takes half a second

    right = np.array([[sum(field.outcome == "right" for field in found) for *_, found in row] for row in pairs])
    rows, columns = linear_sum_assignment(right, maximize=True)
    return [pairs[i][j] for i, j in zip(rows.tolist(), columns.tolist(), strict=True) if right[i, j]]


def _others(items: Sequence[Any], taken: Sequence[int]) -> list[int]:
    """Return the indices of items that are not taken, in order."""
    return sorted({*range(len(items))} - {*taken})


def _same(response: Any, reference: Any) -> bool:
    if type(response) is not type(reference):
        return False
    return bool(_frozen(response) == _frozen(reference) if type(response) in _NESTED else response == reference)


def _frozen(value: Any) -> Any:
    """Return a hashable form of a value; equal only for values of equal types: true is not 1."""
    if isinstance(value, dict):
        return dict, frozenset((name, _frozen(member)) for name, member in value.items())
    if isinstance(value, list):
        return list, tuple(map(_frozen, value))
    return type(value), value


def _exact_number(value: Any) -> Value | None:
    """Return a number, or the one quantity that a string states, such as "$1,200"; in words if it is all of it."""
    if isinstance(value, Decimal):
        return Quantity(Fraction(value))
    found = stated(value) if isinstance(value, str) else []
    if len(found) != 1 or (found[0].in_words and whole(value) is None):
        return None
    return found[0].value


@lru_cache(maxsize=1 << 14)
def _normalized(text: str) -> str:
    return normalize(text)
