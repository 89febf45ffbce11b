"""Quantities: numbers with unit and bound, ranges, times, dates and tuples, and when two of them are the same."""

import csv
import re
from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple


class Unit(NamedTuple):
    """A unit: `dimension`, and size × number + zero is the quantity in the dimension's own unit."""

    dimension: str
    size: Fraction
    zero: Fraction = Fraction(0)


# Share (of units.csv), percentage points and decades: without them a number says something else.
SHARE, POINTS, DECADE = "%", "pp", "decade"
# Names of each unit, its size and dimension; of symbols the case counts.
_LISTED = Path(__file__).with_name("units.csv")
_CELSIUS = Unit("K", Fraction(1), Fraction("273.15"))
_FAHRENHEIT = Unit("K", Fraction(5, 9), Fraction("459.67") * Fraction(5, 9))
_TEMPERATURES = {"celsius": _CELSIUS, "centigrade": _CELSIUS, "c": _CELSIUS, "fahrenheit": _FAHRENHEIT}
_TEMPERATURES |= {"f": _FAHRENHEIT, "k": Unit("K", Fraction(1)), "kelvin": Unit("K", Fraction(1))}
_POWERS = {"²": 2, "2": 2, "³": 3, "3": 3, "square": 2, "sq": 2, "cubic": 3, "cu": 3}


# The first word or sign of a unit; most numbers have another one behind them, or none.
_FIRST = re.compile(r"[\s-]?([A-Za-zµμ]+|[%‰$€£¥₹₩°º])")


class Written(NamedTuple):
    """A unit and the end of its name in a text."""

    unit: Unit
    stop: int


def unit_at(text: str, place: int) -> Written | None:
    """Return the unit that a text goes on with, directly or after one blank or hyphen; None without one.

    >>> unit_at("5 km/h", 1)
    Written(unit=Unit(dimension='m/s', size=Fraction(5, 18), zero=Fraction(0, 1)), stop=6)
    """
    word = _FIRST.match(text, place)
    if not word or (word[1].lower() not in _first_words() and word[1] not in _first_words()):
        return None
    match = _pattern().match(text, place)
    if not match:
        return None
    if temperature := match["scale"] or match["celsius"]:
        return Written(_TEMPERATURES[temperature.lower()], match.end())
    if match["points"]:
        return Written(Unit(POINTS, Fraction(1)), match.end())
    if not match["name"]:  # degrees of an angle or of any scale
        return Written(Unit("", Fraction(1)), match.end())
    unit = _raised(_named(match["name"]), match["prefix"] or match["power"])
    if match["per"]:
        other = _raised(_named(match["per"]), match["per_power"])
        unit = Unit(f"{unit.dimension}/{other.dimension}", unit.size / other.size)
    return Written(unit, match.end())


@cache
def unit(name: str) -> Unit | None:
    """Return the unit of a name without a power, case ignored where no symbol has it; None for no unit."""
    return _table().get(name) or _table().get(name.lower())


def _named(name: str) -> Unit:
    return _table().get(name) or _table()[name.lower()]


def _raised(base: Unit, power: str | None) -> Unit:
    """Return the unit to the power that is written beside it."""
    exponent = _POWERS[power.lower().strip(". ^")] if power else 1
    if exponent == 1:
        return base
    return Unit(f"{base.dimension}^{exponent}", base.size**exponent)


@cache
def _rows() -> list[dict[str, str]]:
    with _LISTED.open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


@cache
def _table() -> dict[str, Unit]:
    table = {name: Unit(row["dimension"], Fraction(row["size"])) for row in _rows() for name in row["names"].split()}
    return table | {"per cent": table["percent"]}


@cache
def _pattern() -> re.Pattern[str]:
    symbols = {name for row in _rows() if row["case"] == "this" for name in row["names"].split()}
    listed = [rf"(?i:{re.escape(name)})" if name not in symbols else re.escape(name) for name in _by_length(_table())]
    names = "|".join(listed)
    power = r"\s?\^[23]|[²³]|(?<=[mdt])[23](?!\d)"
    return re.compile(
        rf"[\s-]?(?:(?P<points>(?i:percent(?:age)?|%)[\s-]points?|pp)"
        rf"|(?:°|º|(?i:deg(?:ree)?s?))(?:\s?(?P<scale>(?i:celsius|centigrade|fahrenheit|kelvin)|[CFK])|)"
        rf"|(?P<celsius>(?i:celsius|centigrade|fahrenheit)|[CF])"
        rf"|(?:(?P<prefix>(?i:square|sq\.?|cubic|cu\.?))[\s-])?(?P<name>{names})(?P<power>{power})?"
        rf"(?:(?:\s?/\s?|\s(?i:per|an?)\s)(?P<per>{'|'.join(listed)})(?P<per_power>{power})?)?"
        r")(?!(?<=\w)[^\W_])"
    )


@cache
def _first_words() -> frozenset[str]:
    others = "square sq cubic cu percent percentage pp per deg degree degrees celsius centigrade fahrenheit C F ° º"
    return frozenset({*others.split(), *(re.split(r"[ -]", name)[0] for name in _table())})


def _by_length(names: Mapping[str, Unit]) -> list[str]:
    return sorted(names, key=lambda name: (-len(name), name))


NO_UNIT = Unit("", Fraction(1))


class Quantity(NamedTuple):
    """A number and what it counts.

    Attributes:
        number: With its magnitude: 5 thousand is 5000, and 5 % is 1/20.
        unit: Its unit; dimension "" without one that is known.
        bound: <, ≤, > or ≥ if the quantity only limits a number.
    """

    number: Fraction
    unit: Unit = NO_UNIT
    bound: "Bound" = ""

    @property
    def size(self) -> Fraction:
        """The quantity in the unit of its dimension."""
        return self.number if self.unit.dimension == SHARE else self.number * self.unit.size + self.unit.zero


class Tuple(NamedTuple):
    """Values that belong together: form "()" and the like of brackets, "-" of ranges and scores, ":", "±", ….

    (2, 4) is not [2, 4].
    """

    form: str
    parts: "tuple[Value, ...]"


Value = Quantity | Tuple | date


class Found(NamedTuple):
    """A value and its place in the text; `in_words`: it has no digit."""

    value: Value
    start: int
    stop: int
    in_words: bool = False


class Reading(NamedTuple):
    """How quantities are read.

    Attributes:
        decimal: Decimal separator.
        thousands: Groups of digits may be separated by the other of comma and point, by ' or _ or a narrow space.
        percent: 5 % is a share, 1/20; or 5.
        units: Units beside the known ones, with the factor of each; their quantities are plain numbers.
        dates: Order of day and month in 3/4/2025; None reads it only if one of both is no month.
    """

    decimal: Literal[".", ","] = "."
    thousands: bool = True
    percent: Literal["hundredth", "ignore"] = "hundredth"
    units: tuple[tuple[str, Fraction], ...] = ()
    dates: Literal["dmy", "mdy"] | None = None


class Tolerance(NamedTuple):
    """Largest difference of close numbers: the larger of `absolute`, and `relative` times the expected number."""

    relative: Fraction = Fraction(0)
    absolute: Fraction = Fraction(0)


Bound = Literal["", "<", "≤", ">", "≥"]
EXACT = Tolerance()
# Forms of a month of a year and of a day without a year.
DATE_FORMS = frozenset({"year-month", "month-day"})
# Difference of quantities that were converted to another unit and rounded: "100 miles" are "161 km".
CONVERTED = Tolerance(relative=Fraction("0.004"))
Asked = Literal["percent", "count", "any"]


@lru_cache(maxsize=1 << 12)
def asked_for(question: str) -> Asked:
    """Return what a question asks for: a percentage, a count or measure (no share), or anything."""
    if _ASKS_PERCENT.search(question):
        return "percent"
    return "count" if _ASKS_COUNT.search(question) else "any"


def close(value: Value, expected: Value, tolerance: Tolerance = EXACT, asked: Asked = "any") -> bool:
    """Return whether a value is the expected one, or a number that differs from it by at most the tolerance.

    A unit that only one of both has is ignored. 50 % is 0.5, unless the question asks for a count or a percentage; 50
    then is 50 % if it asks for a percentage.

    >>> close(Quantity(Fraction(11, 10)), Quantity(Fraction(1)), Tolerance(relative=Fraction("0.1")))
    True
    """
    if isinstance(value, Quantity) and isinstance(expected, Quantity):
        return value.bound == expected.bound and _same_number(value, expected, tolerance, asked)
    if isinstance(value, Tuple) and isinstance(expected, Tuple):
        same_form = (value.form, len(value.parts)) == (expected.form, len(expected.parts))
        pairs = zip(value.parts, expected.parts, strict=False)
        return same_form and all(close(one, other, tolerance, asked) for one, other in pairs)
    return value == expected


def is_part(value: Value, other: Value) -> bool:
    """Return whether one of two dates, or parts of dates, contains the other: April 2025 and 2025, 2001–02 and 2001."""
    if isinstance(value, Quantity) and isinstance(other, Quantity):
        return False
    first, second = _date_numbers(value), _date_numbers(other)
    return bool(first and second) and (first <= second or second <= first)


def _date_numbers(value: Value) -> set[Fraction]:
    if isinstance(value, date):
        return {Fraction(value.year), Fraction(value.month), Fraction(value.day)}
    if isinstance(value, Quantity):
        return {value.number} if 1000 <= value.number <= 2100 else set()  # noqa: PLR2004
    numbers = {part.number for part in value.parts if isinstance(part, Quantity)}
    are_years = value.form == "-" and all(1000 <= number <= 2100 for number in numbers)  # noqa: PLR2004
    return numbers if are_years or value.form in DATE_FORMS else set()


def _same_number(value: Quantity, expected: Quantity, tolerance: Tolerance, asked: Asked) -> bool:
    here, there = value.unit.dimension, expected.unit.dimension
    first, second = value.number, expected.number
    if here != there and here and there:
        return {here, there} == {"kg", "£"} and {value.unit.size, expected.unit.size} == {_POUND, 1} and first == second
    if here == there and here:
        first, second = value.size, expected.size
    elif {here, there} & {DECADE, POINTS}:
        return False
    elif SHARE in {here, there} and asked != "any":
        first, second = (number * 100 if of == SHARE else number for number, of in ((first, here), (second, there)))
        if asked == "count":
            return False
    if first == second:
        return True
    limit = max(tolerance.absolute, tolerance.relative * abs(second)) if any(tolerance) else 0
    return abs(first - second) <= limit


_POUND = Fraction("0.45359237")
_ASKS_PERCENT = re.compile(r"\bper\s?cent|%", re.IGNORECASE)
_ASKS_COUNT = re.compile(
    r"\b(?:how (?:many|old|long|far|tall|high|deep|wide|heavy|fast|big|large)|when|what (?:year|date|time|day)"
    r"|which year)\b",
    re.IGNORECASE,
)
