"""Alarms of scheduled runs in words: losses against the baseline, undecided gates, and scores beyond floors."""

from datetime import datetime
from typing import NamedTuple

from goldmeter.console.format import CUT, abridged, abridged_apart, count, cut, listed, number, rate, visible
from goldmeter.estimates.column_facts import VALUE
from goldmeter.wording import comparison_lines
from goldmeter.wording.comparison_document import ComparisonDocument, PairEntry
from goldmeter.wording.comparison_lines import extent
from goldmeter.wording.verdicts import Decision, Verdict

# Characters of a row's id in a sentence: ids that are hashes of the input have 64.
LONGEST_ID = 20
# Candidate and metric.
Key = tuple[str, str]


class Look(NamedTuple):
    """A look at a baseline: its number, from 1, and the level of its decision."""

    number: int
    level: float


class BeyondFloor(NamedTuple):
    """A measure of a candidate beyond its floor, or its limit if less is better.

    candidate: its name, shortened. is_share: whether floor and mean are shares. mean: of the rows new in this run, None
    without any; rows: their number. seen, nights: rows and runs with new rows since the test began. since: when the
    alarm was raised; started: when the run started.
    """

    candidate: str
    measure: str
    floor: float
    is_share: bool
    higher_is_better: bool
    mean: float | None
    rows: int
    seen: int
    nights: int
    since: datetime
    started: datetime


def beyond_floor(alarm: BeyondFloor) -> str:
    """An alarm of a floor: new in this run, or since when it is raised."""
    below, floor = ("below", "floor") if alarm.higher_is_better else ("above", "limit")
    mean = f"mean {_figure(alarm.mean, is_share=alarm.is_share)} of {count(alarm.rows)}" if alarm.rows else "no"
    nights = "1 night" if alarm.nights == 1 else f"{count(alarm.nights)} nights"
    rows = f"{mean} fresh rows tonight, {count(alarm.seen)} in {nights}"
    limit = _figure(alarm.floor, is_share=alarm.is_share)
    when = _when(alarm.since, alarm.started)
    return f"{visible(alarm.candidate)} {alarm.measure}: {below} its {floor} of {limit} ({when}); {rows}"


class Changed(NamedTuple):
    """The fresh rows of the last nights against those of the first.

    candidate: its name, shortened. is_share: whether the means are shares. first, last: the means of `reference`
    nights and of the last `nights`, which have `rows` fresh rows. since: when the alarm was raised; started: when the
    run started. is_fresh: whether the run has fresh rows. is_over: whether the alarm ends.
    """

    candidate: str
    measure: str
    is_share: bool
    first: float
    last: float
    reference: int
    nights: int
    rows: int
    since: datetime
    started: datetime
    is_fresh: bool = True
    is_over: bool = False


def changed(alarm: Changed) -> str:
    """An alarm of a change against the first nights, new in this run or since when it stands; or its end."""
    moved = "fell" if alarm.last < alarm.first else "rose"
    nights = f"in {alarm.nights} nights" if alarm.nights > 1 else "tonight" if alarm.is_fresh else "in the last night"
    first, last = (_figure(mean, is_share=alarm.is_share) for mean in (alarm.first, alarm.last))
    when = _over(alarm.since) if alarm.is_over else _when(alarm.since, alarm.started)
    return (
        f"{visible(alarm.candidate)} {alarm.measure}: {'back' if alarm.is_over else moved} to {last} of "
        f"{count(alarm.rows)} fresh rows {nights}, from {first} in the first {alarm.reference} nights ({when})"
    )


def floor_held(candidate: str, measure: str, floor: float, since: datetime, *, is_share: bool) -> str:
    """The end of an alarm of a floor."""
    return f"{visible(candidate)} {measure}: back at its floor of {_figure(floor, is_share=is_share)} ({_over(since)})"


def of_target(candidate: str, target: str, verdict: str) -> str:
    """A target that is not met, or that is no longer missed."""
    return f"{_visible(candidate)}: target {verdict}: {target}"


def no_longer_worse(candidate: str, measure: str, baseline: str) -> str:
    """The end of a loss against a baseline."""
    return f"{visible(candidate)} {measure}: no longer worse than {_visible(baseline)}"


def _over(since: datetime) -> str:
    return f"over, raised {since:%Y-%m-%d %H:%M} UTC"


def _when(since: datetime, started: datetime) -> str:
    return "alarm of tonight" if since == started else f"alarm stands since {since:%Y-%m-%d %H:%M} UTC"


def untested_floor(candidate: str, measure: str, floor: float, *, is_share: bool) -> str:
    """A floor for which a run with other data has no new row."""
    return (
        f"{visible(candidate)} {measure}: nothing to hold against its floor of {_figure(floor, is_share=is_share)}: "
        "new data, but each row was asked on an earlier night or is not measured; the same questions need a baseline"
    )


def _figure(value: float | None, *, is_share: bool) -> str:
    return rate(value) if is_share else number(value)


def losses(document: ComparisonDocument, look: Look) -> dict[Key, list[str]]:
    """The primary measures and guards that are worse, in words: by how much, and which rows."""
    sentences: dict[Key, list[str]] = {}
    shown = _shown(document)
    for pair in document["pairs"]:
        for name, measure in pair["measures"].items():
            if measure["verdict"] == Verdict.WORSE and measure["role"] != "secondary":
                key = (pair["head"], name.removesuffix(VALUE))
                sentences.setdefault(key, []).append(f"{shown[pair['head']]} {_loss(document, pair, name, look)}")
    return sentences


def undecided(document: ComparisonDocument) -> list[str]:
    """Why the gate fails or can't decide, except for measures that are worse, which have sentences of their own."""
    status = comparison_lines.outcome(document).status
    if status == 0 or (document["decision"]["verdict"] == Decision.DO_NOT_SHIP and not document["blocked"]):
        return []
    shown = _shown(document)
    reasons = [
        f"{shown[pair['head']]} {refused['measure']}: {refused['reason']}"
        for pair in document["pairs"]
        for refused in pair["refused"]
        if refused["blocks"]
    ]
    if gone := document["candidates"]["only_base"]:
        reasons.append(f"only in the baseline: {listed([_visible(name) for name in gone])}")
    about = f" {'; '.join(reasons)}" if reasons else ""
    says = comparison_lines.outcome(document).sentence
    sentence = f"Compared with {_visible(document['base']['name'])}: {says}{about}"
    return [" ".join(sentence.split())]


def _loss(document: ComparisonDocument, pair: PairEntry, name: str, look: Look) -> str:
    measure = pair["measures"][name]
    ids = [visible(cut(row["id"], LONGEST_ID)) for row in pair["flips"]["worst"] if name in row["lost"]]
    lost = pair["flips"]["lost"].get(name, 0)
    first, more = ids[: comparison_lines.NAMES], lost - min(len(ids), comparison_lines.NAMES)
    which = f"; rows lost: {', '.join(first)}{f' and {count(more)} more' if more else ''}" if first else ""
    return (
        f"{name}: worse than {_visible(document['base']['name'])}"
        f" by {extent(measure['difference'], measure['unit'])} on {count(measure['n'])} rows"
        f" (look {look.number}, level {look.level:.2g}){which}"
    )


def _shown(document: ComparisonDocument) -> dict[str, str]:
    """HEAD's compared candidates → their names for a sentence, never two equal ones."""
    short = abridged_apart([pair["head"] for pair in document["pairs"]], CUT)
    return {name: visible(" ".join(text.split())) for name, text in short.items()}


def _visible(text: str) -> str:
    """A name on one line, without characters that hide or reorder the text around it."""
    return visible(abridged(" ".join(text.split()), CUT))
