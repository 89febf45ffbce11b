"""Dates and times of a text: days, months of a year, days of a month (English month names), times of day."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from typing import Literal, NamedTuple

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
NOON = 12


class Moment(NamedTuple):
    """A date, or the numbers of a part of one, and its place.

    Attributes:
        value: A day; or year and month, month and day, hours and minutes and, unless they are 0, seconds.
        kind: What the numbers are.
        start: Place of its first character.
        stop: Place after its last one.
    """

    value: date | tuple[int, ...]
    kind: Literal["day", "year-month", "month-day", ":"]
    start: int
    stop: int


def moments(text: str, order: Literal["dmy", "mdy"] | None = None) -> Iterator[Moment]:
    """Yield dates and times, which do not overlap; 12:30 may also be a ratio.

    Args:
        text: The text.
        order: Order of day and month in 3/4/2025; None reads it only if one of both is no month.

    >>> [moment.value for moment in moments("3 April 2025 at 1:05 pm; May 1945")]
    [datetime.date(2025, 4, 3), (1945, 5), (13, 5)]
    """
    days: list[Moment] = []

    def blank(match: re.Match[str]) -> str:
        if moment := _moment(match, order):
            days.append(moment)
        return " " * len(match[0]) if moment else match[0]

    without_days = _DATE.sub(blank, text) if _has_date(text) else text
    yield from days
    for match in _CLOCK.finditer(without_days) if _HAS_TIME.search(without_days) else ():
        hour, minute, second = (int(part or 0) for part in match.group("hour", "minute", "second"))
        half = (match["half"] or "").lower()
        if half and 1 <= hour <= NOON:
            hour = hour % NOON + NOON * (half == "p")
        elif match["minute"] is None and not match["clock"]:
            continue
        yield Moment((hour, minute, second) if second else (hour, minute), ":", *match.span())


def _has_date(text: str) -> bool:
    lower = text.lower()
    return bool(_IN_FIGURES.search(text)) or any(month in lower for month in MONTHS)


def _moment(match: re.Match[str], order: Literal["dmy", "mdy"] | None) -> Moment | None:
    parts = {name[:-1]: value for name, value in match.groupdict().items() if value and name[-1].isdecimal()}
    kind = str(match.lastgroup)[-1]
    year, month, day = (parts.get(name, "") for name in ("year", "month", "day"))
    number = MONTHS.index(month[:3].lower()) + 1 if month.isalpha() else int(month)
    if kind == "5":
        return Moment((int(year), number), "year-month", *match.span())
    if kind in {"6", "7"}:
        return Moment((number, int(day)), "month-day", *match.span())
    days = [int(day), number]
    if kind == "4" and (order == "mdy" or (order is None and match["apart"] == "/" and number > len(MONTHS))):
        days.reverse()
    if kind == "4" and order is None and match["apart"] == "/" and max(days) <= len(MONTHS):
        return None
    with suppress(ValueError):  # no such day
        return Moment(date(int(year), days[1], days[0]), "day", *match.span())
    return None


_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
# In front of or behind a day without a year, "may" and "march" are verbs.
_NAME = rf"(?!(?-i:may|mar|march|jan|dec)\b){_MONTH}"
_TH = r"(?:st|nd|rd|th)?"
_TIME = r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
_DATE = re.compile(
    r"(?<!\d)(?<!\d[.,/:-])(?:(?P<year1>\d{4})(?P<apart1>[-/])(?P<month1>\d{1,2})(?P=apart1)(?P<day1>\d{1,2})"
    rf"{_TIME}(?P<kind1>)"
    rf"|(?<![^\W\d_])(?P<month2>{_MONTH})\.?\s(?P<day2>\d{{1,2}}){_TH},?\s(?P<year2>\d{{4}})(?P<kind2>)"
    rf"|(?P<day3>\d{{1,2}}){_TH}\s(?:of\s)?(?P<month3>{_MONTH})\.?,?\s(?P<year3>\d{{4}})(?P<kind3>)"
    r"|(?P<day4>\d{1,2})(?P<apart>[/.])(?P<month4>\d{1,2})(?P=apart)(?P<year4>\d{4})(?P<kind4>)"
    rf"|(?<![^\W\d_])(?P<month5>{_NAME})\.?,?\s(?:of\s)?(?P<year5>[12]\d{{3}})(?P<kind5>)"
    rf"|(?<![^\W\d_])(?P<month6>{_NAME})\.?\s(?P<day6>\d{{1,2}}){_TH}(?![\d%,.:]\d|[%\d])(?P<kind6>)"
    rf"|(?P<day7>\d{{1,2}}){_TH}\s(?:of\s)?(?P<month7>{_NAME})(?![^\W_])(?P<kind7>))(?!\d)",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(?<![\w:./,])(?P<hour>[01]?\d|2[0-4])(?:(?::(?P<minute>[0-5]\d))(?::(?P<second>[0-5]\d))?(?![\d:]|[.,]\d)"
    r"|(?=\s?[ap]\.?m|\s?o['’]clock))(?:\s?(?P<half>[ap])(?:\.m\.|m\b\.?)|(?P<clock>\s?o['’]clock\b))?(?!\w)",
    re.IGNORECASE,
)
# Cheaper than the patterns above, for texts without dates or times.
_IN_FIGURES = re.compile(r"\d[-/.]\d{1,2}[-/.]\d")
_HAS_TIME = re.compile(r"\d:\d|\d\s?(?:[ap]\.?m|o['’]c)", re.IGNORECASE)
