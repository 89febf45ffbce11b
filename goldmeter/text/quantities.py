"""Quantities: numbers with unit and bound, ranges, times, dates and tuples, and when two of them are the same."""

import re
from datetime import date
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

from goldmeter.text.units import DECADE, POINTS, SHARE, Unit

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
