"""A comparison in words: sentences and table cells for the terminal, for Markdown and for the page."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tasks.comparison.document import ChangedRow, ComparisonDocument, DifferenceEntry, MeasureEntry, PairEntry
from tasks.comparison.gate import Verdict
from tasks.console.format import CUT, count, counted, cut, listed, number

NAMES = 3
SLICES = 5
# The smallest effect of unpaired rows that is mentioned beside the table.
LEAST_COMPOSITION = 1e-3
MEASURE_COLUMNS = ("measure", "before", "after", "difference", "verdict", "rows", "rows needed", "finds")
NAMES_MEAN = "a name stands for its pass rate, .value for the score"
CHANGED_ROW_COLUMNS = ("input", "before", "after", "lost", "gained")
# Verdict → how the newer candidate, or version, relates to the older one; the clearest verdict first.
RELATIONS: dict[Verdict, str] = {
    "better": "is better than",
    "worse": "is worse than",
    "no worse": "is no worse than",
    "cannot tell": "cannot be told from",
    "unchanged": "is the same as",
}


class GateOutcome(NamedTuple):
    """The decision on the release in one sentence, and the exit status that stands for it."""

    sentence: str
    status: int


def outcome(document: ComparisonDocument) -> GateOutcome:
    """Decide whether the release may ship."""
    verdicts = [measure["verdict"] for pair in document["pairs"] for measure in pair["measures"].values()]
    worse = verdicts.count("worse")
    if not verdicts:
        return GateOutcome("The gate can't decide: nothing could be compared.", 2)
    if worse:
        beyond = " beyond the margin" if document["gate"]["margin"] else ""
        more = "; others could not be compared" if document["blocked"] else ""
        return GateOutcome(f"Worse: {worse} of {len(verdicts)} differences are wholly a loss{beyond}{more}.", 1)
    if document["blocked"]:
        return GateOutcome("The gate can't decide: something that it asks for could not be compared.", 2)
    if document["failed"]:
        undecided = verdicts.count("cannot tell")
        return GateOutcome(f"Cannot tell: {undecided} of {len(verdicts)} differences are undecided.", 1)
    numbers = {name: verdicts.count(name) for name in ("better", "no worse", "unchanged", "cannot tell")}
    return GateOutcome(f"Not worse: {', '.join(f'{n} {name}' for name, n in numbers.items() if n)}{_few(document)}.", 0)


def _few(document: ComparisonDocument) -> str:
    """A warning when less than half of the older rows could be paired."""
    rows = [pair["rows"] for pair in document["pairs"]]
    shared = sum(counts["shared"] for counts in rows)
    older = shared + sum(counts["only_base"] + counts["data_changed"] for counts in rows)
    return f"; but only {count(shared)} of {count(older)} older rows could be paired" if 2 * shared < older else ""


def title(document: ComparisonDocument, pair: PairEntry) -> str:
    """Which candidates are compared."""
    same = pair["base"] == pair["head"]
    names = pair["base"] if same else f"{pair['base']} → {pair['head']}"
    return f"{names}: {document['base']['name']} → {document['head']['name']}"


def is_unchanged(pair: PairEntry) -> bool:
    """Whether every measure is the same on every row."""
    return bool(pair["measures"]) and all(one["verdict"] == "unchanged" for one in pair["measures"].values())


def rows_line(pair: PairEntry, measure: str | None = None) -> str:
    """How many rows were compared, and how many were not; measure: count the rows that have this measure."""
    rows = pair["rows"]
    n = rows["shared"] if measure is None else pair["measures"][measure]["n"]
    shared = f"{'' if n == rows['shared'] else f'{count(n)} of '}{counted(rows['shared'], 'shared row')}"
    rest = {"only before": rows["only_base"], "only after": rows["only_head"], "data changed": rows["data_changed"]}
    return ", ".join([shared, *(f"{count(n)} {name}" for name, n in rest.items() if n)])


def failed(pair: PairEntry, measure: MeasureEntry) -> int:
    """How many shared rows were asked for in both versions, and could not be measured in one or both."""
    return int(pair["rows"]["shared"] - measure["n"] - measure["unmeasured"]["not_asked"])


def by(pair: PairEntry, name: str) -> str:
    """The end of a sentence with one of RELATIONS: the size of the difference, and how many rows would decide."""
    measure = pair["measures"][name]
    if measure["verdict"] == "unchanged":
        return ""
    needed = f"; {counted(measure['rows_needed'], 'row')} would decide" if measure["rows_needed"] else ""
    if measure["verdict"] in {"better", "worse"}:
        return f" by {extent(measure['difference'])}{needed}"
    return f": {interval(measure['difference'])}{needed}"


def tally(pair: PairEntry) -> dict[Verdict, list[str]]:
    """Verdict → the measures that have it."""
    measures = pair["measures"].items()
    names = {verdict: [name for name, one in measures if one["verdict"] == verdict] for verdict in RELATIONS}
    return {verdict: those for verdict, those in names.items() if those}


def measure_cells(name: str, measure: MeasureEntry) -> list[str]:
    """The cells of one measure under MEASURE_COLUMNS."""
    difference = measure["difference"]
    return [
        name,
        number(measure["base"]),
        number(measure["head"]),
        "0" if measure["verdict"] == "unchanged" else interval(difference),
        measure["verdict"],
        count(measure["n"]),
        count(measure["rows_needed"]) if measure["rows_needed"] else "",
        "" if measure["detectable"] is None else f"±{number(measure['detectable'])}",
    ]


def interval(difference: DifferenceEntry) -> str:
    """A difference with its sign and its limits; unknown limits are left out."""
    if difference["low"] is None:
        return signed(difference["value"])
    low, high = signed(difference["low"]), signed(difference["high"])
    return f"{signed(difference['value'])} [{low}, {high}]"


def extent(difference: DifferenceEntry) -> str:
    """The size of a difference without its sign, for a sentence that states the direction: its interval excludes zero.

    >>> extent({"value": -0.0404, "low": -0.0613, "high": -0.0195})
    '0.0404 [0.0195, 0.0613]'
    """
    ends = (difference["value"], difference["low"], difference["high"])
    value, low, high = (None if end is None else abs(end) for end in ends)
    if low is None or high is None:
        return number(value)
    return f"{number(value)} [{number(min(low, high))}, {number(max(low, high))}]"


def signed(value: float | None) -> str:
    """A number with its sign.

    >>> signed(0.0213), signed(-0.5), signed(0.0), signed(None)
    ('+0.0213', '−0.500', '0', '–')
    """
    return f"+{number(value)}" if value is not None and value > 0 else number(value)


def notes(pair: PairEntry, *, bounds: bool = True) -> Iterator[str]:
    """Notes beside the table; bounds: with the effect that failed rows could have, for tables that lack it."""
    yield from _not_compared(pair)
    yield from _cautions(pair["measures"])
    if bounds:
        yield from _unmeasured(pair["measures"])
    yield from _composition(pair["measures"])
    yield from _exploratory(pair)


def _not_compared(pair: PairEntry) -> Iterator[str]:
    """Measures that were refused, and rows that were left out."""
    for refused in pair["refused"]:
        blocks = "; the gate asks for it" if refused["blocks"] else ""
        yield f"{refused['measure']} not compared: {refused['reason']}{blocks}"
    if any("measured differently" in refused["reason"] for refused in pair["refused"]):
        yield "--rescore scores BASE again by HEAD's settings, where that needs no model"
    if ids := pair.get("data_changed"):
        more = pair["rows"]["data_changed"] - min(len(ids), NAMES)
        yield f"data changed, kept out: {', '.join(ids[:NAMES])}{f' and {count(more)} more' if more > 0 else ''}"


def candidates_notes(document: ComparisonDocument) -> Iterator[str]:
    """Notes on candidates that only one version has."""
    unpaired = document["candidates"]
    dropped = ", --map OLD= says that one was dropped"
    for names, when, more in ((unpaired["only_base"], "before", dropped), (unpaired["only_head"], "after", "")):
        if names:
            yield f"only {when}, not compared: {', '.join(names)} (--map OLD=NEW pairs renamed ones{more})"


def changed_rows_line(pair: PairEntry) -> str:
    """How many rows changed result, in all and by measure."""
    changed = pair["flips"]
    parts = [
        f"{verb}: {', '.join(f'{name} {count(n)}' for name, n in by_measure.items())}"
        for verb, by_measure in (("lost", changed["lost"]), ("gained", changed["gained"]))
        if by_measure
    ]
    return "; ".join([f"{counted(changed['rows'], 'row')} changed result", *parts])


def changed_row_cells(row: ChangedRow, limit: int = CUT) -> list[str]:
    """The cells of a changed row under CHANGED_ROW_COLUMNS."""
    texts = (row["input"], row["base"], row["head"])
    return [*(cut(text, limit) for text in texts), listed(row["lost"]), listed(row["gained"])]


def _cautions(measures: Mapping[str, MeasureEntry]) -> Iterator[str]:
    """Warnings in the methods of the differences, and the measures that have them."""
    measures_by_caution: dict[str, list[str]] = {}
    for name, measure in measures.items():
        method, *warned = measure["difference"]["method"].split("; ")
        for caution in warned or ([method] if method.endswith("no interval") else []):
            measures_by_caution.setdefault(caution, []).append(name)
    yield from (f"{caution} ({listed(names)})" for caution, names in measures_by_caution.items())


def _unmeasured(measures: Mapping[str, MeasureEntry]) -> Iterator[str]:
    """Rows that failed in one version, and the differences if they had the worst or the best values for HEAD."""
    found: dict[tuple[int, int], dict[str, list[str]]] = {}
    for name, measure in measures.items():
        left = measure["unmeasured"]
        if left["failed_base"] or left["failed_head"]:
            limits = "" if left["worst"] is None else f" {signed(left['worst'])} to {signed(left['best'])}"
            found.setdefault((left["failed_base"], left["failed_head"]), {}).setdefault(limits, []).append(name)
    for (before, after), by_limits in found.items():
        cases = "; ".join(f"{listed(names)}{limits}" for limits, names in by_limits.items())
        yield f"rows that could not be measured, before {count(before)}, after {count(after)}; with them {cases}"


def _composition(measures: Mapping[str, MeasureEntry]) -> Iterator[str]:
    moved = []
    for name, measure in measures.items():
        split, others = measure["split"], measure["split"]["composition"]
        if others is not None and abs(others) >= LEAST_COMPOSITION:
            change = (split["head"] or 0.0) - (split["base"] or 0.0)  # both are numbers where their difference is one
            moved.append(f"{name} {signed(change)} ({signed(others)} by other rows)")
    if moved:
        yield f"over all rows of either side, not only shared ones: {', '.join(moved)}"


def _exploratory(pair: PairEntry) -> Iterator[str]:
    """Slices that stand out, the smallest q value first."""
    notable = [part for part in pair.get("slices", ()) if part["notable"]]
    notable.sort(key=lambda part: part["q_value"] or 0)
    for part in notable[:SLICES]:
        where = f"{part['measure']} where {part['slice']} = {part['value']}"
        yield f"exploratory: {where}: {interval(part['difference'])}, {counted(part['n'], 'row')}"
    if len(notable) > SLICES:
        more = counted(len(notable) - SLICES, "more slice stands out", "more slices stand out")
        yield f"exploratory: {more} (--json)"
