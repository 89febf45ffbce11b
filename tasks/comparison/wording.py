"""A comparison in words: the same cells for a terminal, for Markdown and for a page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tasks.console.format import count, counted, number

Row = Mapping[str, Any]
CUT = 60
NAMES = 3
SLICES = 5
SHOWN_FROM = 1e-3
"""What rows of one side alone must move a number by to be told on a terminal; documents have all."""
MEASURE_COLUMNS = ("measure", "before", "after", "difference", "verdict", "rows", "rows needed", "finds")
NAMES_MEAN = "a name stands for its pass rate, .value for the score"
FLIP_COLUMNS = ("input", "before", "after", "lost", "gained")
RELATIONS = {
    "better": "is better than",
    "worse": "is worse than",
    "no worse": "is no worse than",
    "cannot tell": "cannot be told from",
    "unchanged": "is the same as",
}
"""Verdict → what the newer candidate, or version, is beside the older one; the surest first."""


class Outcome(NamedTuple):
    """What the comparison says of the release, in one line, and the exit status that says the same."""

    sentence: str
    status: int


def outcome(document: Row) -> Outcome:
    """Whether the release may ship."""
    verdicts = [measure["verdict"] for pair in document["pairs"] for measure in pair["measures"].values()]
    worse = verdicts.count("worse")
    if not verdicts:
        return Outcome("The gate can't decide: nothing could be compared.", 2)
    if worse:
        beyond = " beyond the margin" if document["gate"]["margin"] else ""
        more = "; others could not be compared" if document["blocked"] else ""
        return Outcome(f"Worse: {worse} of {len(verdicts)} differences are wholly a loss{beyond}{more}.", 1)
    if document["blocked"]:
        return Outcome("The gate can't decide: something that it asks for could not be compared.", 2)
    if document["failed"]:
        return Outcome(f"Cannot tell: {verdicts.count('cannot tell')} of {len(verdicts)} differences are undecided.", 1)
    counted = {each: verdicts.count(each) for each in ("better", "no worse", "unchanged", "cannot tell")}
    return Outcome(f"Not worse: {', '.join(f'{n} {each}' for each, n in counted.items() if n)}{_few(document)}.", 0)


def _few(document: Row) -> str:
    """What must stand beside a good verdict on the smaller part of the older rows."""
    rows = [pair["rows"] for pair in document["pairs"]]
    shared = sum(each["shared"] for each in rows)
    older = shared + sum(each["only_base"] + each["data_changed"] for each in rows)
    return f"; but only {count(shared)} of {count(older)} older rows could be paired" if 2 * shared < older else ""


def title(document: Row, pair: Row) -> str:
    """Which candidates are compared."""
    same = pair["base"] == pair["head"]
    names = pair["base"] if same else f"{pair['base']} → {pair['head']}"
    return f"{names}: {document['base']['name']} → {document['head']['name']}"


def is_unchanged(pair: Row) -> bool:
    """Whether every measure is the same on every row."""
    return bool(pair["measures"]) and all(each["verdict"] == "unchanged" for each in pair["measures"].values())


def rows_line(pair: Row, measure: str | None = None) -> str:
    """How many rows were compared, and which were not; measure: by that one, which not every shared row may have."""
    rows = pair["rows"]
    n = rows["shared"] if measure is None else pair["measures"][measure]["n"]
    shared = f"{'' if n == rows['shared'] else f'{count(n)} of '}{counted(rows['shared'], 'shared row')}"
    rest = {"only before": rows["only_base"], "only after": rows["only_head"], "data changed": rows["data_changed"]}
    return ", ".join([shared, *(f"{count(n)} {name}" for name, n in rest.items() if n)])


def failed(pair: Row, measure: Row) -> int:
    """How many shared rows were asked for on both sides, and could not be measured on one or on both."""
    return int(pair["rows"]["shared"] - measure["n"] - measure["unmeasured"]["not_asked"])


def by(pair: Row, name: str) -> str:
    """By how much, as the end of a sentence with one of RELATIONS, and how many rows would tell."""
    measure = pair["measures"][name]
    if measure["verdict"] == "unchanged":
        return ""
    needed = f"; {counted(measure['rows_needed'], 'row')} would tell" if measure["rows_needed"] else ""
    if measure["verdict"] in {"better", "worse"}:
        return f" by {extent(measure['difference'])}{needed}"
    return f": {interval(measure['difference'])}{needed}"


def tally(pair: Row) -> dict[str, list[str]]:
    """Verdict → the measures that have it."""
    found = {each: [name for name, one in pair["measures"].items() if one["verdict"] == each] for each in RELATIONS}
    return {each: names for each, names in found.items() if names}


def measure_cells(name: str, measure: Row) -> list[str]:
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


def interval(difference: Row) -> str:
    """A difference with its sign and its limits; without limits where nothing is known of them."""
    if difference["low"] is None:
        return signed(difference["value"])
    low, high = signed(difference["low"]), signed(difference["high"])
    return f"{signed(difference['value'])} [{low}, {high}]"


def extent(difference: Row) -> str:
    """How large a difference is, beside a verdict that says which way: all of it lies on one side of zero.

    >>> extent({"value": -0.0404, "low": -0.0613, "high": -0.0195})
    '0.0404 [0.0195, 0.0613]'
    """
    if difference["low"] is None:
        return number(abs(difference["value"]))
    low, high = sorted(abs(difference[end]) for end in ("low", "high"))
    return f"{number(abs(difference['value']))} [{number(low)}, {number(high)}]"


def signed(value: float | None) -> str:
    """A number with its sign.

    >>> signed(0.0213), signed(-0.5), signed(0.0), signed(None)
    ('+0.0213', '−0.500', '0', '–')
    """
    return f"+{number(value)}" if value is not None and value > 0 else number(value)


def notes(pair: Row, *, bounds: bool = True) -> Iterator[str]:
    """What must be known beside the table; bounds: also what failed rows could change, where the table says it not."""
    yield from _not_compared(pair)
    yield from _cautions(pair["measures"])
    if bounds:
        yield from _unmeasured(pair["measures"])
    yield from _composition(pair["measures"])
    yield from _exploratory(pair)


def _not_compared(pair: Row) -> Iterator[str]:
    """Measures that were refused, and rows that were kept out."""
    for refused in pair["refused"]:
        blocks = "; the gate asks for it" if refused["blocks"] else ""
        yield f"{refused['measure']} not compared: {refused['reason']}{blocks}"
    if any("measured differently" in refused["reason"] for refused in pair["refused"]):
        yield "--rescore scores BASE again by HEAD's settings, where that needs no model"
    if pair.get("data_changed"):
        more = pair["rows"]["data_changed"] - min(len(pair["data_changed"]), NAMES)
        shown = ", ".join(pair["data_changed"][:NAMES])
        yield f"data changed, kept out: {shown}{f' and {count(more)} more' if more > 0 else ''}"


def candidates_notes(document: Row) -> Iterator[str]:
    """Candidates that only one side has."""
    for side, when in (("only_base", "before"), ("only_head", "after")):
        if names := document["candidates"][side]:
            dropped = ", --map OLD= says that one was dropped" if side == "only_base" else ""
            yield f"only {when}, not compared: {', '.join(names)} (--map OLD=NEW pairs renamed ones{dropped})"


def flips_line(pair: Row) -> str:
    """How many rows changed result, and where."""
    flips = pair["flips"]
    parts = [
        f"{verb}: {', '.join(f'{name} {count(n)}' for name, n in flips[verb].items())}"
        for verb in ("lost", "gained")
        if flips[verb]
    ]
    return "; ".join([f"{counted(flips['rows'], 'row')} changed result", *parts])


def flip_cells(row: Row, limit: int = CUT) -> list[str]:
    """The cells of a row that changed under FLIP_COLUMNS."""
    return [*(cut(row[name], limit) for name in ("input", "base", "head")), listed(row["lost"]), listed(row["gained"])]


def cut(text: str | None, limit: int = CUT) -> str:
    """A text on one line, or its beginning; no response as a dash."""
    line = "–" if text is None else " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _cautions(measures: Mapping[str, Row]) -> Iterator[str]:
    """What the statistics warned of, and the measures that it is about."""
    found: dict[str, list[str]] = {}
    for name, measure in measures.items():
        method, *warned = measure["difference"]["method"].split("; ")
        for caution in warned or ([method] if method.endswith("no interval") else []):
            found.setdefault(caution, []).append(name)
    yield from (f"{caution} ({listed(names)})" for caution, names in found.items())


def _unmeasured(measures: Mapping[str, Row]) -> Iterator[str]:
    """What failed on one side, and the differences had those rows been worst or best for the newer one."""
    found: dict[tuple[int, int], dict[str, list[str]]] = {}
    for name, measure in measures.items():
        left = measure["unmeasured"]
        if left["failed_base"] or left["failed_head"]:
            limits = "" if left["worst"] is None else f" {signed(left['worst'])} to {signed(left['best'])}"
            found.setdefault((left["failed_base"], left["failed_head"]), {}).setdefault(limits, []).append(name)
    for (before, after), by_limits in found.items():
        cases = "; ".join(f"{listed(names)}{limits}" for limits, names in by_limits.items())
        yield f"rows that could not be measured, before {count(before)}, after {count(after)}; with them {cases}"


def _composition(measures: Mapping[str, Row]) -> Iterator[str]:
    moved = [
        f"{name} {signed(split['head'] - split['base'])} ({signed(split['composition'])} by other rows)"
        for name, split in ((name, measure["split"]) for name, measure in measures.items())
        if split["composition"] is not None and abs(split["composition"]) >= SHOWN_FROM
    ]
    if moved:
        yield f"over all rows of either side, not only shared ones: {', '.join(moved)}"


def listed(names: Sequence[str], limit: int = NAMES) -> str:
    """Names in a row, the first few and how many more."""
    more = len(names) - limit
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:limit])} and {more} more"


def _exploratory(pair: Row) -> Iterator[str]:
    """Slices that stand out, the surest first."""
    notable = sorted((each for each in pair.get("slices", ()) if each["notable"]), key=lambda each: each["q_value"])
    for each in notable[:SLICES]:
        where = f"{each['measure']} where {each['slice']} = {each['value']}"
        yield f"exploratory: {where}: {interval(each['difference'])}, {counted(each['n'], 'row')}"
    if len(notable) > SLICES:
        more = counted(len(notable) - SLICES, "more slice stands out", "more slices stand out")
        yield f"exploratory: {more} (--json)"
