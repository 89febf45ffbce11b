"""The decision on a release with three reasons in words."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from goldmeter.console.format import count, counted, level, listed, number, points
from goldmeter.estimates.human_labels import LABEL
from goldmeter.estimates.primary import VERDICT, Primary, Reason
from goldmeter.estimates.signature import VerdictSource
from goldmeter.wording.comparison_document import (
    MaximumEntry,
    MeasureEntry,
    NeededEntry,
    PairEntry,
)
from goldmeter.wording.comparison_lines import interval
from goldmeter.wording.more_data import amount, in_full, would_decide
from goldmeter.wording.verdicts import Decision, Verdict

REASONS = 3
# Verdicts that a decision to ship states if all have it.
CLEAR = frozenset({Verdict.BETTER, Verdict.UNCHANGED})


class Decisive(NamedTuple):
    """A measure of one pair of candidates that the decision goes by."""

    pair: PairEntry
    name: str
    entry: MeasureEntry


class Release(NamedTuple):
    """What the decision on a release goes by.

    decisive, guards: the primary measure and the guards of all pairs, the gravest first. worse, undecided: of them.
    needed: what would decide. blocked: whether something that the gate asks for could not be compared.
    """

    decision: Decision
    decisive: Sequence[Decisive]
    guards: Sequence[Decisive]
    worse: Sequence[Decisive]
    undecided: Sequence[Decisive]
    needed: NeededEntry | None
    blocked: bool


def sentence(release: Release) -> str:
    """The decision in one line."""
    says, decisive = release.decision, release.decisive
    if says is Decision.DO_NOT_SHIP:
        gravest = release.worse[0]
        others = len({one.name for one in release.worse} - {gravest.name})
        heads = len({one.pair["head"] for one in release.worse} - {gravest.pair["head"]})
        more = f", and by {counted(others, 'other measure')}" if others else ""
        more += f", and {counted(heads, 'other candidate')}" if heads else ""
        more += "; something else could not be compared" if release.blocked else ""
        by = f"{_guard(gravest)}{_source(gravest)}{_size(gravest, several=_are_several(release))}"
        return f"{says.capitalize()}: {Verdict.WORSE} by {by}{more}."
    if says is Decision.SHIP:
        verdicts = {one.entry["verdict"] for one in decisive}
        shared = next(iter(verdicts)) if len(verdicts) == 1 else Verdict.NO_WORSE
        shared = shared if shared in CLEAR else Verdict.NO_WORSE
        size = "" if shared == Verdict.UNCHANGED else _size(decisive[0], several=_are_several(release))
        return f"{says.capitalize()}: {shared} by {_source(decisive[0])}{size}."
    if release.blocked or not decisive:
        what = "something that the gate asks for" if decisive else "the primary measure"
        return f"{says.capitalize()}: {what} could not be compared."
    return f"{says.capitalize()}: {_what_would_decide(release.undecided, release.needed)}."


def reasons(release: Release, pairs: Sequence[PairEntry], primary: Primary, confidence: float) -> list[str]:
    """What the decision rests on, at most REASONS sentences, the weightiest first.

    confidence: of the gate.
    """
    return [*_reasons(release, pairs, primary, confidence)][:REASONS]


def source(name: str, signature: str) -> str:
    """Who says so: human labels, the offline judge, or a model; else the measure's name.

    >>> source("label", ""), source(VERDICT, f"{VERDICT}|v:1|provider:offline"), source("f1", "f1|v:1")
    ('human labels', 'the offline judge', 'f1')
    >>> source(VERDICT, f"{VERDICT}|provider:cascade|model:m")
    'the cascade of the offline judge and m'
    """
    if name == LABEL:
        return "human labels"
    if name != VERDICT:
        return name
    judge = VerdictSource.of(signature)
    if judge.has_offline:
        return judge.name
    return f"judge {judge.model or name}"


def significance(entry: MeasureEntry, by: str, confidence: str) -> str:
    """The conclusion from one difference, in the terms of the field.

    Args:
        entry: The difference.
        by: Who says so.
        confidence: The confidence of the interval, in words.
    """
    if "maximum" in entry:
        return f"{_by_maximum(entry, entry['maximum'], by, confidence)}."
    loss = f" of more than {amount(entry['margin'], entry['unit'])}" if entry["margin"] else ""
    items = entry.get("per", "row")
    if entry["verdict"] == Verdict.UNCHANGED:
        return f"No row changed ({by}, {counted(entry['n'], items)})."
    figures = f"({by}: {_difference(entry, confidence)}, {counted(entry['n'], items)})"
    if entry["verdict"] == Verdict.CANNOT_TELL:
        return f"Cannot tell {figures}. {in_full(entry)}".rstrip()
    gain, lost = ("improvement", "loss") if entry["higher_is_better"] else ("decrease", "increase")
    conclusions = {
        Verdict.BETTER: f"Significant {gain}{loss}",
        Verdict.WORSE: f"Significant {lost}{loss}",
        Verdict.NO_WORSE: f"No {lost}{loss}",
        Verdict.DIFFERENT: f"Significant difference{loss}",
    }
    return f"{conclusions[entry['verdict']]} {figures}."


def _reasons(release: Release, pairs: Sequence[PairEntry], primary: Primary, confidence: float) -> Iterator[str]:
    decisive, guards = release.decisive, release.guards
    several = len(pairs) > 1
    held = f"{'simultaneous ' if several else ''}{level(confidence)} CI"
    refused = [(pair, each) for pair in pairs for each in pair["refused"] if each["blocks"]]
    for pair, each in refused[:1]:
        yield f"{_of(pair, several=several)}{each['measure']} could not be compared: {each['reason']}."
    stopping = [one for one in guards if one.entry["verdict"] == Verdict.WORSE]
    for one in decisive[:1]:
        yield f"{_of(one.pair, several=several)}{significance(one.entry, _basis(one, primary), held)}"
    for one in stopping[:1]:
        yield f"{_of(one.pair, several=several)}Guard {one.name}: {significance(one.entry, one.name, held)}"
    for one in decisive[:1]:
        if (crossed := one.pair["crossed"]) is not None and one.entry["verdict"] != Verdict.UNCHANGED:
            yield (
                f"{counted(crossed['gained'], 'row')} became right, {count(crossed['lost'])} wrong; "
                f"{count(crossed['both'])} right in both, {count(crossed['neither'])} in neither."
            )
    if guards and not stopping:
        gravest = guards[0]
        yield f"Guard {gravest.name}: {significance(gravest.entry, gravest.name, held)}"
    if several:
        yield _others(decisive[1:])
    if primary.name == VERDICT and decisive:
        yield f"{VERDICT} decides: {primary.reason}."


def _by_maximum(entry: MeasureEntry, maximum: MaximumEntry, by: str, confidence: str) -> str:
    says = {Verdict.WORSE: "Above", Verdict.NO_WORSE: "At most"}.get(
        entry["verdict"], "Neither surely above nor surely below"
    )
    limits = f"{confidence} {number(maximum['low'])} to {number(maximum['high'])}"
    return (
        f"{says} the maximum of {number(maximum['max'])} "
        f"({by}: {number(entry['head'])}, {limits}, {counted(entry['n'], 'row')})"
    )


def _what_would_decide(undecided: Sequence[Decisive], needed: NeededEntry | None) -> str:
    if needed is None:
        return f"no significant difference by {_source(undecided[0])}"
    entry = next(one.entry for one in undecided if one.entry["needed"] == needed)
    return would_decide(needed, entry["unit"], entry["margin"])


def _others(decisive: Sequence[Decisive]) -> str:
    by_verdict: dict[str, list[str]] = {}
    for one in decisive:
        by_verdict.setdefault(one.entry["verdict"], []).append(one.pair["head"])
    told = "; ".join(f"{listed(names)}: {verdict}" for verdict, names in by_verdict.items())
    return f"Other candidates: {told}." if told else "No other candidate has the primary measure."


def _of(pair: PairEntry, *, several: bool) -> str:
    return f"{pair['head']}: " if several else ""


def _are_several(release: Release) -> bool:
    """Whether several candidates are compared, so that one has to be named."""
    return len({one.pair["head"] for one in (*release.decisive, *release.guards)}) > 1


def _size(one: Decisive, *, several: bool) -> str:
    """The difference with its limits, after a comma; several: whether the candidate is named. Empty if unknown."""
    if "maximum" in one.entry or one.entry["difference"]["value"] is None:
        return ""
    of = f"{one.pair['head']} " if several else ""
    return f", {of}{interval(one.entry['difference'], one.entry['unit'])}"


def _guard(one: Decisive) -> str:
    return "the guard " if one.entry["role"] == "guard" else ""


def _source(one: Decisive) -> str:
    return source(one.name, one.entry["signature"])


def _basis(one: Decisive, primary: Primary) -> str:
    """Who says so; a judge whose verdicts no labels check is said to be unchecked."""
    unchecked = one.name == VERDICT and primary.reason is Reason.NO_LABELS
    return f"{_source(one)}, not checked on your data" if unchecked else _source(one)


def _difference(entry: MeasureEntry, confidence: str) -> str:
    limits = entry["difference"]
    value, low, high = limits["value"], limits["low"], limits["high"]
    if entry["unit"] == "points":
        between = "no interval" if low is None else f"{confidence} {points(low)} to {points(high)}"
        return f"{points(value)} points, {between}{_plain(entry)}"
    between = "no interval" if low is None else f"{confidence} {number(low)} to {number(high)}"
    return f"{'+' if (value or 0) > 0 else ''}{number(value)}, {between}{_plain(entry)}"


def _plain(entry: MeasureEntry) -> str:
    """What the rows as they are say, beside a weighted difference."""
    if "plain" not in entry:
        return ""
    value = entry["plain"]["difference"]["value"]
    return (
        f", by {entry['plain']['without']}; {points(value) if entry['unit'] == 'points' else number(value)} without it"
    )
