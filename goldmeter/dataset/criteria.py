"""The criteria by which a judge grades the answer of a row: texts, each with the points that an answer wins by it."""

from typing import TypedDict

from goldmeter.dataset.paths import quoted
from goldmeter.dataset.sources import DECODER, Value, as_text
from goldmeter.dataset.texts import UnusableValueError, checked_text, finite

# Criteria of a row, and points of one criterion, at most.
MOST_CRITERIA, MOST_POINTS = 1_000, 1e9
# Keys of a criterion; those of HealthBench are understood, its tags are not used.
TEXT, POINTS, OTHERS = ("text", "criterion"), "points", ("tags",)


class StatedCriterion(TypedDict):
    """One criterion. points: not 0; negative for a fault."""

    text: str
    points: float


def criteria(value: Value, column: str, max_chars: int) -> list[StatedCriterion] | None:
    """Read a list of texts (1 point each) or of objects {text, points}, the same as JSON in a text, or one text.

    Returns:
        The criteria; None if there are none.

    Raises:
        UnusableValueError: One can't be used, two are the same, or none has positive points, so that no score exists.
    """
    items = _items(value, column)
    if len(items) > MOST_CRITERIA:
        raise UnusableValueError(f"{column}: {len(items):,} criteria; {MOST_CRITERIA:,} are the most")
    found = [_criterion(item, f"{column}, criterion {n}", max_chars) for n, item in enumerate(items, 1)]
    first: dict[str, int] = {}
    for n, one in enumerate(found, 1):
        if (earlier := first.setdefault(one["text"], n)) != n:
            raise UnusableValueError(f"{column}: criteria {earlier} and {n} are the same")
    if found and max(one["points"] for one in found) < 0:
        raise UnusableValueError(f"{column}: no criterion has positive points, so that there is nothing to win")
    return found or None


def _items(value: Value, column: str) -> list[Value]:
    if isinstance(value, str) and value.lstrip()[:1] in {"[", "{"}:
        try:
            value = as_text(DECODER.decode(value.strip()))
        except (ValueError, RecursionError):
            raise UnusableValueError(f"{column}: begins as JSON, but is none; expected a list") from None
    if isinstance(value, dict):
        raise UnusableValueError(f"{column}: an object where a list of criteria is expected")
    if isinstance(value, list):
        return value
    return [value] if value is not None and value.strip() else []


def _criterion(item: Value, place: str, max_chars: int) -> StatedCriterion:
    given = item if isinstance(item, dict) else {"text": item}
    names = [name for name in TEXT if name in given]
    unknown = sorted(given.keys() - {*TEXT, POINTS, *OTHERS})
    if len(names) != 1 or unknown:
        what = f"unknown key {quoted(unknown[0])}" if unknown else "one text is needed"
        raise UnusableValueError(f"{place}: {what}; expected a text, or {{text, points}}")
    text = checked_text(given[names[0]], place, max_chars)
    if text is None or not text.strip():
        raise UnusableValueError(f"{place}: no text")
    stated = given.get(POINTS)
    points = 1.0 if stated is None else finite(stated)
    if not points or abs(points) > MOST_POINTS:
        raise UnusableValueError(f"{place}: points must be a number other than 0, {MOST_POINTS:g} at most")
    return {"text": text, "points": points}
