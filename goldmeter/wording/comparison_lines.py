"""A comparison in words: sentences and table cells for the terminal, for Markdown and for the page."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from goldmeter.console.format import CUT, count, counted, cut, listed, number, points, points_interval, rate
from goldmeter.estimates.column_facts import VALUE, resource_measures
from goldmeter.estimates.headline import deciding
from goldmeter.estimates.metrics_report import Limited
from goldmeter.wording import comparison_document, more_data
from goldmeter.wording.verdicts import RELATIONS, Decision, Verdict

NAMES = 3
# Measures that a comparison shows first.
MOST = 6
MEASURE_COLUMNS = ("measure", "before", "after", "difference", "verdict", "rows", "more rows", "finds")
# McNemar's table: the results of the rows before, by their results after.
CROSSED_COLUMNS = ("", "right after", "wrong after")
NAMES_MEAN = "a name stands for its pass rate, .value for the score; differences of rates in percentage points"
CHANGED_ROW_COLUMNS = ("input", "before", "after", "lost", "gained")


class GateOutcome(NamedTuple):
    """The decision on the release in one sentence, and the exit status of it."""

    sentence: str
    status: int


def outcome(document: comparison_document.ComparisonDocument) -> GateOutcome:
    """The decision in one sentence, and the exit status: 0 ship or undecided, 1 stopped, 2 the gate can't decide."""
    decision = document["decision"]
    stopped = " gate.fail_on stops it." if document["failed"] and decision["verdict"] == Decision.UNDECIDED else ""
    sentence = f"{decision['sentence']}{stopped}{_few(document)}"
    if decision["verdict"] == Decision.DO_NOT_SHIP:
        return GateOutcome(sentence, 1)
    if document["blocked"]:
        return GateOutcome(sentence, 2)
    return GateOutcome(sentence, 1 if document["failed"] else 0)


def _few(document: comparison_document.ComparisonDocument) -> str:
    """A warning when more of the older rows could not be paired than may be unmeasured."""
    rows = [pair["rows"] for pair in document["pairs"]]
    shared = sum(counts["shared"] for counts in rows)
    older = shared + sum(counts["only_base"] + counts["data_changed"] for counts in rows)
    if older - shared <= document["gate"]["max_unmeasured"] * older:
        return ""
    return f" Only {count(shared)} of {count(older)} older rows could be paired."


def title(document: comparison_document.ComparisonDocument, pair: comparison_document.PairEntry) -> str:
    """Which candidates are compared."""
    same = pair["base"] == pair["head"]
    names = pair["base"] if same else f"{pair['base']} → {pair['head']}"
    return f"{names}: {document['base']['name']} → {document['head']['name']}"


def is_unchanged(pair: comparison_document.PairEntry) -> bool:
    """Whether every measure is the same on every row."""
    return bool(pair["measures"]) and all(one["verdict"] == Verdict.UNCHANGED for one in pair["measures"].values())


def rows_line(pair: comparison_document.PairEntry, measure: str | None = None) -> str:
    """How many rows were compared, and how many were not; measure: count the rows that have this measure."""
    rows = pair["rows"]
    n = rows["shared"] if measure is None else pair["measures"][measure]["n"]
    shared = f"{'' if n == rows['shared'] else f'{count(n)} of '}{counted(rows['shared'], 'shared row')}"
    rest = {"only before": rows["only_base"], "only after": rows["only_head"], "data changed": rows["data_changed"]}
    return ", ".join([shared, *(f"{count(n)} {name}" for name, n in rest.items() if n)])


def failed(pair: comparison_document.PairEntry, measure: comparison_document.MeasureEntry) -> int:
    """How many shared rows were asked for in both versions, and could not be measured in one or both."""
    # Labels of designs, n of them in each version, may be of other rows in each.
    if "per" in measure or "designed" in measure:
        left = measure["unmeasured"]
        return max(left["failed_base"], left["failed_head"])
    return int(pair["rows"]["shared"] - measure["n"] - measure["unmeasured"]["not_asked"])


def lead(document: comparison_document.ComparisonDocument, *, every: bool = True) -> list[str]:
    """The decision first: its sentence, its reasons, and the worst slice; not every: only if that differs for sure."""
    decision = document["decision"]
    worst = decision["worst_slice"]
    if worst and not every:
        low, high = worst["difference"]["low"], worst["difference"]["high"]
        worst = worst if low is not None and high is not None and (low > 0 or high < 0) else None
    return [outcome(document).sentence, *decision["reasons"], *([worst_slice_line(document, worst)] if worst else [])]


def worst_slice_line(document: comparison_document.ComparisonDocument, part: comparison_document.WorstSlice) -> str:
    """The worst slice of the primary measure in words."""
    [pair, *_] = [one for one in document["pairs"] if part["measure"] in one["measures"]]
    of = f"{part['candidate']}, " if len(document["pairs"]) > 1 else ""
    size = interval(part["difference"], unit_of(pair, part["measure"]))
    return f"Worst slice: {of}{part['slice']} = {part['value']}, {size}, {counted(part['n'], 'row')} (exploratory)."


def crossed_cells(pair: comparison_document.PairEntry) -> list[list[str]]:
    """The rows of McNemar's table under CROSSED_COLUMNS; none where the primary measure is no pass rate."""
    crossed = pair["crossed"]
    if crossed is None:
        return []
    return [
        ["right before", count(crossed["both"]), f"{count(crossed['lost'])} lost"],
        ["wrong before", f"{count(crossed['gained'])} gained", count(crossed["neither"])],
    ]


def unit_of(pair: comparison_document.PairEntry, name: str) -> comparison_document.Unit:
    """The unit of a measure's differences; that of a score if it was not compared."""
    return pair["measures"][name]["unit"] if name in pair["measures"] else "score"


def by(pair: comparison_document.PairEntry, name: str) -> str:
    """The end of a sentence with one of RELATIONS: the difference, and what would decide."""
    measure = pair["measures"][name]
    if measure["verdict"] == Verdict.UNCHANGED:
        return ""
    needed = f"; {says}" if (says := would_decide(measure)) else ""
    if measure["verdict"] in {Verdict.BETTER, Verdict.WORSE}:
        return f" by {extent(measure['difference'], measure['unit'])}{needed}"
    return f": {interval(measure['difference'], measure['unit'])}{needed}"


def by_weight(
    pair: comparison_document.PairEntry,
) -> tuple[dict[str, comparison_document.MeasureEntry], dict[str, comparison_document.MeasureEntry]]:
    """The measures of answers that decide, the primary one first, and the others; without what answers took."""
    measures = [(name, one) for name, one in pair["measures"].items() if name not in resources(pair)]
    decisive = {name: one for name, one in measures if one["role"] != "secondary"}
    return decisive, {name: one for name, one in measures if name not in decisive}


def resources(pair: comparison_document.PairEntry) -> dict[str, comparison_document.MeasureEntry]:
    """The measures of what answers took: latency, tokens and cost."""
    names = resource_measures()
    return {name: one for name, one in pair["measures"].items() if name in names}


class First(NamedTuple):
    """The measures to decide by, and a line on the others; empty without others."""

    measures: dict[str, comparison_document.MeasureEntry]
    rest: str


def first(pair: comparison_document.PairEntry) -> First:
    """The primary measure and the guards, then those that moved most, without those that say the same as another."""
    decisive = {name: one for name, one in pair["measures"].items() if one["role"] != "secondary"}
    others = [name for name, one in pair["measures"].items() if name not in decisive]
    moved = sorted((name for name in others if _moved(pair["measures"][name])), key=lambda name: -_size(pair, name))
    shown = dict(list(decisive.items())[:MOST])
    same = list[str]()
    for name in moved:
        if any(_is_same(pair["measures"][name], one) for one in shown.values()):
            same.append(name)
        elif len(shown) < MOST:
            shown[name] = pair["measures"][name]
    left = len(pair["measures"]) - len(shown)
    said = " with the same difference" if len(same) == left else f", {len(same)} of them with the same difference"
    return First(shown, f"{left} more{said if same else ''}: --all" if left else "")


def _moved(measure: comparison_document.MeasureEntry) -> bool:
    return measure["verdict"] != Verdict.UNCHANGED and measure["difference"]["value"] is not None


def _size(pair: comparison_document.PairEntry, name: str) -> float:
    """The size of a difference in widths of its interval; without limits, the size itself."""
    found = pair["measures"][name]["difference"]
    value, low, high = found["value"] or 0.0, found["low"], found["high"]
    return abs(value) if low is None or high is None or high <= low else abs(value) / (high - low)


def _is_same(one: comparison_document.MeasureEntry, other: comparison_document.MeasureEntry) -> bool:
    """Whether two measures have the same values, as far as they are shown, and the same verdict."""
    levels = [[level_of(each[side], each["unit"]) for side in ("base", "head")] for each in (one, other)]
    return levels[0] == levels[1] and one["verdict"] == other["verdict"]


def changed_answers(pair: comparison_document.PairEntry) -> list[str]:
    """The answers that changed result, worst first, a line each, and how many more there are."""
    worst = pair["flips"]["worst"][:NAMES]
    lines = []
    for row in worst:
        asked, before, after = (cut(text, CUT) for text in (row["input"], row["base"], row["head"]))
        lines.append(f"· {'lost' if row['lost'] else 'gained'}: {asked}: {before} → {after}")
    more = pair["flips"]["rows"] - len(worst)
    return [*lines, *([f"· {counted(more, 'more answer')} changed result by some measure"] if more > 0 else [])]


# Kind of rows that are named → its words.
NAMED = {
    "newly_wrong": "newly wrong",
    "newly_right": "newly right",
    "only_base": "only before",
    "only_head": "only after",
    "data_changed": "data changed",
}


class NamedKind(NamedTuple):
    """Rows of one kind: how many, in words; ids of the first, how many more; whether the newer version has them."""

    says: str
    ids: list[str]
    more: int
    are_in_head: bool


def named_rows(pair: comparison_document.PairEntry, primary: str, most: int = NAMES) -> list[NamedKind]:
    """The rows that became wrong or right by the measure that decides, and those left out; without kinds of no row."""
    decides, _ = deciding(pair, primary) or (primary, None)
    changed, rate = pair["flips"], decides.removesuffix(VALUE)
    both: Mapping[str, Any] = {"newly_wrong": changed["lost"].get(rate), "newly_right": changed["gained"].get(rate)}
    counts, ids = {**both, **pair["rows"]}, {**both, **pair}
    return [
        NamedKind(f"{count(n)} {says}", ids[kind][:most], n - min(len(ids[kind]), most), kind != "only_base")
        for kind, says in NAMED.items()
        if (n := counts.get(kind)) and isinstance(ids.get(kind), list)
    ]


def named_rows_line(pair: comparison_document.PairEntry, primary: str) -> str:
    """The same in one line; empty without such rows."""
    kinds = named_rows(pair, primary)
    of = [listed([*(cut(key, CUT) for key in one.ids), *[""] * one.more], len(one.ids)) for one in kinds]
    return ", ".join(f"{one.says} ({ids})" if one.ids else one.says for one, ids in zip(kinds, of, strict=True))


def tally(measures: Mapping[str, comparison_document.MeasureEntry]) -> dict[Verdict, list[str]]:
    """Verdict → the measures that have it."""
    names = {verdict: [name for name, one in measures.items() if one["verdict"] == verdict] for verdict in RELATIONS}
    return {verdict: those for verdict, those in names.items() if those}


def measure_cells(name: str, measure: comparison_document.MeasureEntry) -> list[str]:
    """The cells of one measure under MEASURE_COLUMNS."""
    unit = measure["unit"]
    role = "" if measure["role"] == "secondary" else f" ({measure['role']})"
    difference = "0" if measure["verdict"] == Verdict.UNCHANGED else bare_interval(measure["difference"], unit)
    return [
        f"{name}{role}",
        level_of(measure["base"], unit),
        level_of(measure["head"], unit),
        difference,
        measure["verdict"] + (f", maximum {number(measure['maximum']['max'])}" if "maximum" in measure else ""),
        counted(measure["n"], "question") if "per" in measure else count(measure["n"]),
        more_data.in_short(measure),
        "" if measure["detectable"] is None else f"±{signed(measure['detectable'], unit).removeprefix('+')}",
    ]


def measure_sentence(name: str, measure: comparison_document.MeasureEntry) -> str:
    """One measure with its verdict, both values and their difference."""
    unit = measure["unit"]
    before, after = (level_of(measure[side], unit) for side in ("base", "head"))
    counts = counted(measure["n"], "question" if "per" in measure else "row")
    difference = interval(measure["difference"], unit)
    return f"{name}: {measure['verdict']}, {before} → {after}, {difference}, {counts}"


def would_decide(measure: comparison_document.MeasureEntry) -> str:
    """What would decide; empty if it is decided, or unknown."""
    needed = measure["needed"]
    return more_data.would_decide(needed, measure["unit"], measure["margin"]) if needed else ""


def level_of(value: float | None, unit: comparison_document.Unit) -> str:
    """The value of a measure: a share in percent, or a number.

    >>> level_of(0.787, "points"), level_of(3.25, "score")
    ('78.7 %', '3.25')
    """
    return rate(value) if unit == "points" else number(value)


def interval(difference: Limited, unit: comparison_document.Unit) -> str:
    """A difference with its sign, unit and limits; unknown limits are left out.

    >>> interval({"value": 0.0704, "low": -0.038, "high": 0.174}, "points")
    '+7.0 points [−3.8, +17.4]'
    """
    if unit == "points":
        return points_interval(difference["value"], difference["low"], difference["high"])
    return bare_interval(difference, unit)


def bare_interval(difference: Limited, unit: comparison_document.Unit) -> str:
    """A difference with its sign and limits, for a table that names the unit.

    >>> bare_interval({"value": 0.0704, "low": -0.038, "high": 0.174}, "points")
    '+7.0 [−3.8, +17.4]'
    """
    if difference["low"] is None:
        return signed(difference["value"], unit)
    return (
        f"{signed(difference['value'], unit)} [{signed(difference['low'], unit)}, {signed(difference['high'], unit)}]"
    )


def extent(difference: Limited, unit: comparison_document.Unit) -> str:
    """The size of a difference without its sign, for a sentence that states the direction: its interval excludes zero.

    >>> extent({"value": -0.0404, "low": -0.0613, "high": -0.0204}, "points")
    '4.0 points [2.0, 6.1]'
    """
    ends = (difference["value"], difference["low"], difference["high"])
    value, low, high = (None if end is None else abs(end) for end in ends)
    size = signed(value, unit).removeprefix("+") + (" points" if unit == "points" else "")
    if low is None or high is None:
        return size
    limits = (signed(limit, unit).removeprefix("+") for limit in (min(low, high), max(low, high)))
    return f"{size} [{', '.join(limits)}]"


def signed(value: float | None, unit: comparison_document.Unit = "score") -> str:
    """A difference with its sign, in percentage points or as a number.

    >>> signed(0.0213), signed(-0.5, "points"), signed(9e-6, "points"), signed(None)
    ('+0.0213', '−50.0', '+0.0', '–')
    """
    if unit == "points":
        return points(value)
    return f"+{number(value)}" if value is not None and value > 0 else number(value)


def changed_rows_line(pair: comparison_document.PairEntry) -> str:
    """How many rows changed result, in all and by the measures that decide, the primary one first."""
    changed, (decisive, _) = pair["flips"], by_weight(pair)
    parts = [
        f"{verb}: {listed([f'{name} {count(by_measure[name])}' for name in decisive if name in by_measure])}"
        for verb, by_measure in (("lost", changed["lost"]), ("gained", changed["gained"]))
        if any(name in by_measure for name in decisive)
    ]
    return "; ".join([f"{counted(changed['rows'], 'row')} changed result by some measure", *parts])


def changed_row_cells(row: comparison_document.ChangedRow, limit: int = CUT) -> list[str]:
    """The cells of a changed row under CHANGED_ROW_COLUMNS."""
    texts = (row["input"], row["base"], row["head"])
    return [*(cut(text, limit) for text in texts), listed(row["lost"]), listed(row["gained"])]
