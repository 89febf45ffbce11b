"""Notes beside a comparison: what was not compared, and what limits a difference."""

from collections.abc import Iterator, Mapping, Sequence

from goldmeter.console.format import count, counted, listed
from goldmeter.estimates.estimates import ONE_CLUSTER
from goldmeter.wording.comparison_document import ComparisonDocument, MeasureEntry, PairEntry
from goldmeter.wording.comparison_lines import NAMES, by_weight, interval, resources, signed, unit_of
from goldmeter.wording.verdicts import Verdict

SLICES = 5
# The smallest effect of unpaired rows that is mentioned beside the table.
LEAST_COMPOSITION = 1e-3
RESOURCES_MEAN = (
    "latency in seconds, cost in US dollars, of the rows as they are: less is better; the intervals of such guards "
    "hold together, and those of the others"
)


def notes(pair: PairEntry, *, bounds: bool = True, every: bool = True) -> Iterator[str]:
    """Notes beside the table.

    Args:
        pair: Two candidates.
        bounds: With the effect that failed rows could have, for tables that lack it.
        every: Also what decides nothing; else each note begins as an item of a list.
    """
    if not every:
        decisive = {name: one for name, one in pair["measures"].items() if one["role"] != "secondary"}
        said = [*_not_compared(pair), *_plain(decisive), *_cautions(decisive), *_unmeasured(decisive)]
        yield from (f"· {note}" for note in said)
        return
    yield from _not_compared(pair)
    if resources(pair):
        yield RESOURCES_MEAN
    yield from _plain(pair["measures"])
    yield from _duplicates(pair)
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
    if any("differing" in refused for refused in pair["refused"]):
        yield "--rescore scores BASE again by HEAD's settings, where that needs no model"
    yield from _draws(pair)
    if stale := pair["rows"].get("stale_labels", 0):
        yield f"{counted(stale, 'label is', 'labels are')} of another answer (stale), and not measured"
    if ids := pair.get("data_changed"):
        more = pair["rows"]["data_changed"] - min(len(ids), NAMES)
        yield f"data changed, kept out: {', '.join(ids[:NAMES])}{f' and {count(more)} more' if more > 0 else ''}"


def _plain(measures: Mapping[str, MeasureEntry]) -> Iterator[str]:
    """The differences of the rows as they are, beside those by a mix."""
    plain: dict[str, list[str]] = {}
    for name, one in measures.items():
        if "plain" in one and one["role"] != "secondary" and one["verdict"] != Verdict.UNCHANGED:
            text = f"{name} {interval(one['plain']['difference'], one['unit'])}"
            plain.setdefault(one["plain"]["without"], []).append(text)
    for option, texts in plain.items():
        yield f"differences by {option}; of the rows as they are: {', '.join(texts)}"


def _draws(pair: PairEntry) -> Iterator[str]:
    """What is left out of a comparison by rows, or weighs more, where the numbers of draws differ."""
    rows = pair["rows"]
    draws = rows.get("draws")
    if draws is None:
        return
    before, after = (number_of_draws(each) for each in (draws["base"], draws["head"]))
    if alone := rows["only_base"] + rows["only_head"]:
        yield (
            f"{before} answers per question before, {after} after: by rows, each answer is compared with the one of "
            f"its number, so {counted(alone, 'answer')} without a partner are left out; by question, pass@k and pass^k "
            "use all answers"
        )
    if any(len({*sizes}) > 1 for sizes in (draws["base"], draws["head"])):
        yield "questions with more answers weigh more by rows; by question, each weighs the same"


def number_of_draws(sizes: Sequence[int]) -> str:
    """The numbers of answers per question in words.

    >>> number_of_draws([10, 10]), number_of_draws([3, 5])
    ('10', '3 to 5')
    """
    return " to ".join(dict.fromkeys(map(count, sizes)))


def _duplicates(pair: PairEntry) -> Iterator[str]:
    """Measures that say the same of every row."""
    for names in pair["duplicates"]:
        yield f"{listed(names, len(names))} correlate 1.00 row by row: they are one measure, not {len(names)}"


def candidates_notes(document: ComparisonDocument) -> Iterator[str]:
    """Notes on candidates that only one version has."""
    unpaired = document["candidates"]
    dropped = ", --map OLD= says that one was dropped"
    for names, when, more in ((unpaired["only_base"], "before", dropped), (unpaired["only_head"], "after", "")):
        if names:
            yield f"only {when}, not compared: {', '.join(names)} (--map OLD=NEW pairs renamed ones{more})"


def _cautions(measures: Mapping[str, MeasureEntry]) -> Iterator[str]:
    """Warnings in the methods of the differences, and the measures that have them."""
    measures_by_caution: dict[str, list[str]] = {}
    for name, measure in measures.items():
        difference = measure["difference"]
        alone = [ONE_CLUSTER] if difference["method"] == ONE_CLUSTER else []
        for caution in difference.get("notes") or alone:
            measures_by_caution.setdefault(caution, []).append(name)
    yield from (f"{caution} ({listed(names)})" for caution, names in measures_by_caution.items())


def _unmeasured(measures: Mapping[str, MeasureEntry]) -> Iterator[str]:
    """Rows that failed in one version, and the differences if they had the worst or the best values for HEAD."""
    found: dict[tuple[int, int], dict[str, list[str]]] = {}
    for name, measure in measures.items():
        left = measure["unmeasured"]
        if left["failed_base"] or left["failed_head"]:
            unit = measure["unit"]
            limits = "" if left["worst"] is None else f" {signed(left['worst'], unit)} to {signed(left['best'], unit)}"
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
            unit = measure["unit"]
            moved.append(f"{name} {signed(change, unit)} ({signed(others, unit)} by other rows)")
    if moved:
        yield f"over all rows of either side, not only shared ones: {', '.join(moved)}"


def _exploratory(pair: PairEntry) -> Iterator[str]:
    """Slices that stand out by a measure that decides, the smallest q value first."""
    notable = [part for part in pair.get("slices", ()) if part["notable"]]
    others = by_weight(pair)[1]
    decisive = [part for part in notable if part["measure"] not in others]
    decisive.sort(key=lambda part: part["q_value"] or 0)
    for part in decisive[:SLICES]:
        where = f"{part['measure']} where {part['slice']} = {part['value']}"
        unit = unit_of(pair, part["measure"])
        yield f"exploratory: {where}: {interval(part['difference'], unit)}, {counted(part['n'], 'row')}"
    if unlisted := len(notable) - len(decisive[:SLICES]):
        more = counted(unlisted, "more slice stands out", "more slices stand out")
        yield f"exploratory: {more} (--json)"
