"""Fresh rows against floors: each row is bet once, and what the bets have won so far travels in the history."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.comparison.gate import VALUE
from tasks.comparison.measures import Measure, measures, untaught
from tasks.comparison.wording import cut
from tasks.console.format import count, number, visible
from tasks.errors import LedgerError, ParamsError
from tasks.monitoring.seen_rows import Contents
from tasks.scores.columns import Candidate, Mask

if TYPE_CHECKING:  # importing scipy takes half a second
    from tasks.statistics import DriftState

Entry = dict[str, Any]
"""What the history keeps of a bet: `floor`, `bounds`, `signature`; `state`: a DriftState as a list; `level`: the share
of false alarms it may take; `rows`, `mean`: fresh rows tonight and their mean; `nights`, `seen`: with fresh rows, and
those rows, since it began; `since`: when its alarm was raised, null: it is not."""


class Stream(NamedTuple):
    """One measure of one candidate that is held against a floor.

    contents: what each row was asked, shape (n,).
    """

    candidate: Candidate
    measure: Measure
    floor: float
    contents: Contents

    @property
    def metric(self) -> str:
        """The metric whose row of the history keeps it."""
        return self.measure.column.name

    @property
    def terms(self) -> dict[str, Any]:
        """What must be the same for a bet to go on."""
        return {"floor": self.floor, "bounds": [*(self.measure.bounds or ())], "signature": self.measure.signature}

    def fresh(self, seen: Contents) -> Mask:
        """Which rows to bet: measured, and of each content that is not in `seen` one; shape (n,)."""
        new = np.flatnonzero(~np.isnan(self.measure.values) & ~np.isin(self.contents, seen))
        _, first = np.unique(self.contents[new], return_index=True)
        chosen = np.zeros(len(self.contents), np.bool_)
        chosen[new[first]] = True
        return chosen


class Bets(NamedTuple):
    """What a night's bets came to: (candidate, metric) → measure → entry, and → alarms in words.

    contents: what any stream bet, ascending; no stream may bet it again.
    """

    entries: dict[tuple[str, str], dict[str, Entry]]
    alarms: dict[tuple[str, str], list[str]]
    contents: Contents


def streams(
    candidates: Mapping[str, Candidate], contents: Mapping[str, Contents], floors: Mapping[str, float], schedule: str
) -> list[Stream]:
    """Every floor of every candidate; contents: candidate → what its rows were asked.

    Raises ParamsError for a measure that is not there or has no mean to bet on, and a floor outside of its bounds.
    """
    return [
        Stream(candidate, _measure(candidate, name, floor, f"schedule.{schedule}.floors.{name}"), floor, contents[each])
        for each, candidate in candidates.items()
        for name, floor in floors.items()
    ]


def bet(each: Sequence[Stream], past: pa.Table, schedule: str, seen: Contents, alpha: float, started: datetime) -> Bets:
    """Bet the rows that no earlier night of this schedule has bet; past: the history.

    alpha: how often any of these streams may ever be a false alarm; each gets its equal share.
    A stream goes on where the schedule's newest entry of the same floor, bounds and signature stopped, or begins anew.
    An alarm stays raised until one of them changes, and is told each night, with the night since when. Rows of one
    group are one bet on a night; on another night they are another one, which should not hang on the first.
    """
    found, told, contents = dict[tuple[str, str], dict[str, Entry]](), dict[tuple[str, str], list[str]](), [seen[:0]]
    kept = past.filter(pc.and_(pc.equal(past["schedule"], schedule), pc.is_valid(past["floors"])))
    lines = kept.select(["candidate", "metric", "floors", "run"]).to_pylist()[::-1]
    for stream in each:
        fresh = stream.fresh(seen)
        entry = _entry(stream, _newest(lines, stream), fresh, alpha / len(each), started)
        key = (stream.candidate.name, stream.metric)
        found.setdefault(key, {})[stream.measure.name] = entry
        contents.append(stream.contents[fresh])
        if entry["since"] is not None:
            told.setdefault(key, []).append(sentence(stream, entry, started))
    return Bets(found, told, np.unique(np.concatenate(contents)))


def untested(each: Sequence[Stream], bets: Bets) -> dict[tuple[str, str], list[str]]:
    """(candidate, metric) → its floors against which no row of tonight was held, in words."""
    found: dict[tuple[str, str], list[str]] = {}
    for stream in each:
        key = (stream.candidate.name, stream.metric)
        if not bets.entries[key][stream.measure.name]["rows"]:
            found.setdefault(key, []).append(
                f"{_named(stream)}: nothing to hold against its floor of {stream.floor:g}: new data, but each row was "
                "asked on an earlier night or is not measured; the same questions need a baseline"
            )
    return found


def sentence(stream: Stream, entry: Entry, started: datetime) -> str:
    """An alarm in words: new tonight, or since when it stands."""
    below, floor = ("below", "floor") if stream.measure.higher_is_better else ("above", "limit")
    since = datetime.fromisoformat(entry["since"])
    when = "alarm of tonight" if since == started else f"alarm stands since {since:%Y-%m-%d %H:%M} UTC"
    mean = f"mean {number(entry['mean'])} of {count(entry['rows'])}" if entry["rows"] else "no"
    nights = "1 night" if entry["nights"] == 1 else f"{count(entry['nights'])} nights"
    rows = f"{mean} fresh rows tonight, {count(entry['seen'])} in {nights}"
    return f"{_named(stream)}: {below} its {floor} of {entry['floor']:g} ({when}); {rows}"


def _named(stream: Stream) -> str:
    return f"{visible(cut(stream.candidate.name))} {stream.measure.name}"


def _measure(candidate: Candidate, name: str, floor: float, where: str) -> Measure:
    known = measures(candidate)
    if name in untaught(candidate):
        raise ParamsError(f"{where}: its threshold is learnt anew from labels; set it, or give {name}{VALUE} a floor")
    if name not in known:
        raise ParamsError(f"{where}: no such measure; there is {', '.join(sorted(known))}")
    measure = known[name]
    if measure.kind == "corpus":
        raise ParamsError(
            f"{where}: a score of the corpus is no mean over rows; its pass rate, without {VALUE}, is one"
        )
    if measure.bounds is None:
        raise ParamsError(
            f"{where}: {measure.column.name} has no bounds, without which no row can be bet; give it some"
        )
    low, high = measure.bounds
    if not low < floor < high:
        raise ParamsError(f"{where}: {floor:g}: expected a number between {low:g} and {high:g}, and neither of them")
    return measure


def _newest(lines: Sequence[Mapping[str, Any]], stream: Stream) -> Entry | None:
    """The newest entry of the stream with its terms; lines: the newest first."""
    mine = (each for each in lines if (each["candidate"], each["metric"]) == (stream.candidate.name, stream.metric))
    return next(_same_terms(mine, stream), None)


def _same_terms(lines: Iterator[Mapping[str, Any]], stream: Stream) -> Iterator[Entry]:
    for line in lines:
        try:
            entry = json.loads(line["floors"]).get(stream.measure.name)
            if entry is not None and {name: entry[name] for name in stream.terms} == stream.terms:
                yield entry
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise _unreadable(line["run"], error) from None


def _entry(stream: Stream, before: Entry | None, fresh: Mask, level: float, started: datetime) -> Entry:
    rows = stream.measure.values[fresh]
    try:
        state = _after(stream, None if before is None else _state(before), fresh)
        since = _since(before) or (started if state.alarm(level) else None)
        seen = (before["seen"] if before else 0) + len(rows)
    except (ValueError, LookupError, TypeError) as error:
        raise _unreadable("an earlier night", error) from None
    return stream.terms | {
        "state": [*state],
        "level": level,
        "rows": len(rows),
        "mean": float(rows.mean()) if len(rows) else None,
        "nights": state.days,
        "seen": seen,
        "since": since and since.isoformat(),
    }


def _after(stream: Stream, state: "DriftState | None", fresh: Mask) -> "DriftState":
    """The state after tonight; a measure of which less is better is bet as its distance from the other end."""
    from tasks.statistics import drift_detector

    low, high = stream.measure.bounds or (0.0, 1.0)
    rows, floor, groups = stream.measure.values[fresh], stream.floor, stream.candidate.groups
    if not stream.measure.higher_is_better:
        rows, floor = low + high - rows, low + high - floor
    return drift_detector(state, rows, floor, None if groups is None else groups[fresh], (low, high))


def _since(entry: Entry | None) -> datetime | None:
    if entry is None or entry["since"] is None:
        return None
    return datetime.fromisoformat(entry["since"])


def _state(entry: Entry) -> "DriftState":
    from tasks.statistics import DriftState

    floor, days, bets, log_wealth, evidence, peak = entry["state"]
    return DriftState(floor, days, bets, tuple(log_wealth), evidence, peak)


def _unreadable(run: str, error: Exception) -> LedgerError:
    return LedgerError(f"the history's floors of {run} can't be read: {error!r}; put a sound copy in its place")
