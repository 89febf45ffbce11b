"""What would decide an undecided comparison, in words."""

from collections.abc import Sequence
from math import inf

from goldmeter.console.format import about, counted, number
from goldmeter.wording.comparison_document import JUDGE_ERRORS, MeasureEntry, NeededEntry, Unit

LABEL_COMMAND = "python -m flows.label"


def most_needed(needed: Sequence[NeededEntry | None]) -> NeededEntry | None:
    """The entry that asks for the most, one that no number decides before all; None where that of one is unknown."""
    known = [one for one in needed if one is not None]
    return max(known, key=lambda one: one["high"] or inf, default=None) if len(known) == len(needed) else None


def would_decide(needed: NeededEntry, unit: Unit, margin: float) -> str:
    """How many more rows, labels or groups could detect the smallest difference that matters, or why none would.

    margin: the smallest loss that matters, 0 for none.

    >>> would_decide({"unit": "row", "difference": 0.02, "low": 1310, "high": 1890}, "points", 0.0)
    '1,400 to 1,900 more rows could detect a difference of 2 points'
    >>> would_decide({"unit": "label", "difference": 0.01, "low": 57, "high": 57, "labelled": 9}, "points", 0.01)
    'labels on 57 more inputs could detect or exclude a loss of 1 point'
    >>> would_decide({"unit": "group", "difference": 0.02, "low": 1, "high": 1100}, "points", 0.0)
    'up to 1,100 more groups of rows could detect a difference of 2 points'
    >>> would_decide({"unit": "row", "difference": 0.02, "low": None, "high": None}, "points", 0.0)
    'no difference reaches 2 points; set gate.margin to the loss that matters'
    """
    size = amount(needed["difference"], unit)
    if needed["low"] is None or needed["high"] is None:
        if margin:
            return f"the loss is near gate.margin, {size}"
        return f"no difference reaches {size}; set gate.margin to the loss that matters"
    what = f"or exclude a loss of {size}" if margin else f"a difference of {size}"
    many = _many(needed["low"], needed["high"])
    if needed["unit"] == "label":
        return f"labels on {many}{' more' if needed.get('labelled') else ''} inputs could detect {what}"
    return f"{many} more {_items(needed)} could detect {what}"


def in_full(entry: MeasureEntry) -> str:
    """The same as a sentence, with what labels on these rows could detect; empty if it is decided or unknown."""
    needed, is_judged = entry["needed"], by_judge_alone(entry)
    if needed is None:
        return "Only human labels can decide it: the intervals include the judge's error." if is_judged else ""
    says = would_decide(needed, entry["unit"], entry["margin"])
    if 0 < needed.get("lacking", 0) < (needed["low"] or 0):
        here = f"labels on the {counted(needed['lacking'], 'input')} without one ({LABEL_COMMAND})"
        shown = amount(round(needed["all_show"], 2), entry["unit"])
        says = f"{here} could detect a difference of {shown}; {says}"
    error = " Intervals include the judge's error." if is_judged else ""
    look = " Choose how many before you look again: looking often is not free." if needed.get("labelled") else ""
    return f"{says[0].upper()}{says[1:]}.{look}{error}"


def by_judge_alone(entry: MeasureEntry) -> bool:
    """Whether the interval includes the judge's error, because no labels check it."""
    return not JUDGE_ERRORS.isdisjoint(entry["difference"].get("notes", ()))


def in_short(entry: MeasureEntry) -> str:
    """The larger number for a table cell, with what it counts if not rows; empty if it is decided or unknown."""
    needed = entry["needed"]
    if needed is None or needed["high"] is None:
        return ""
    return about(needed["high"]) + ("" if needed["unit"] in {"row", "labelled row"} else f" {needed['unit']}s")


def amount(share: float, unit: Unit) -> str:
    """A difference without a sign, in points or as a number.

    >>> amount(0.02, "points"), amount(0.01, "points"), amount(0.3, "score")
    ('2 points', '1 point', '0.300')
    """
    if unit != "points":
        return number(share)
    size = f"{100 * share:g}"
    return f"{size} point{'' if size == '1' else 's'}"


def _many(low: int, high: int) -> str:
    few, many = about(low), about(high)
    if 50 * low < high:
        return f"up to {many}"
    return few if few == many else f"{few} to {many}"


def _items(needed: NeededEntry) -> str:
    return f"{needed['unit']}{'' if needed['high'] == 1 else 's'}{' of rows' if needed['unit'] == 'group' else ''}"
