"""Sequential test of new rows against a minimum score; the e-process is stored in the history."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypedDict, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.comparison.measures import Measure, measures, without_threshold
from goldmeter.console.format import CUT, abridged_apart
from goldmeter.errors import LedgerError, ParamsError
from goldmeter.estimates.column_facts import VALUE
from goldmeter.estimates.columns import Candidate, Mask
from goldmeter.history.changes import fresh
from goldmeter.history.store import Contents
from goldmeter.statistics import DriftState, drift_detector
from goldmeter.wording.alarms import BeyondFloor, beyond_floor, floor_held, untested_floor


class EProcessEntry(TypedDict):
    """The e-process of one floor, as the history stores it.

    state: a DriftState as a list. level: the probability of a false alarm. rows, mean: new rows in this run.
    nights, seen: runs with new rows, and those rows, since the test began. since: when its alarm was raised. recovery:
    while it stands, the state of the opposite test, whose alarm says that the mean is back.
    """

    floor: float
    bounds: list[float]
    signature: str
    state: list[Any]
    level: float
    rows: int
    mean: float | None
    nights: int
    seen: int
    since: str | None
    recovery: list[Any] | None


class FloorStream(NamedTuple):
    """One measure of one candidate that is tested against a floor.

    contents: what each row was asked, shape (n,). shown: the candidate's name in a sentence, shortened.
    """

    candidate: Candidate
    measure: Measure
    floor: float
    contents: Contents
    shown: str

    @property
    def key(self) -> tuple[str, str]:
        """The candidate and the metric whose row of the history stores the e-process."""
        return self.candidate.name, self.measure.column.name

    @property
    def terms(self) -> dict[str, Any]:
        """What must stay the same for the e-process to continue."""
        return {"floor": self.floor, "bounds": [*(self.measure.bounds or ())], "signature": self.measure.signature}

    def fresh(self, seen: Contents) -> Mask:
        """Which rows are new, shape (n,)."""
        return fresh(self.measure, self.contents, seen)


class FloorTests(NamedTuple):
    """The tests of a run. entries: (candidate, metric) → measure → e-process. alarms: (candidate, metric) → sentences.

    over: sentences on alarms that ended. contents: the contents that any stream tested, ascending; no stream may test
    them again.
    """

    entries: dict[tuple[str, str], dict[str, EProcessEntry]]
    alarms: dict[tuple[str, str], list[str]]
    contents: Contents
    over: Sequence[str] = ()


def streams(
    candidates: Mapping[str, Candidate], contents: Mapping[str, Contents], floors: Mapping[str, float], schedule: str
) -> list[FloorStream]:
    """Every floor of every candidate.

    Args:
        candidates: Name → candidate.
        contents: Name of a candidate → hashes of what its rows were asked.
        floors: Measure → its floor.
        schedule: The schedule's name.

    Raises:
        ParamsError: A measure is missing or is no bounded mean over rows, or a floor is outside of its bounds.
    """
    where, shown = f"schedule.{schedule}.floors", abridged_apart(candidates, CUT)
    return [
        FloorStream(candidate, _measure(candidate, name, floor, f"{where}.{name}"), floor, contents[key], shown[key])
        for key, candidate in candidates.items()
        for name, floor in floors.items()
    ]


def update(
    streams: Sequence[FloorStream], past: pa.Table, schedule: str, seen: Contents, alpha: float, started: datetime
) -> FloorTests:
    """Update every e-process with the rows that no earlier run of this schedule has tested.

    An e-process continues from the schedule's newest entry with the same floor, bounds and signature, or begins anew.
    An alarm stays raised, and is repeated at every run, until one of them changes, or the rows since show as surely
    that the mean is back; the test then begins anew. The rows of one group in one run count as one observation.

    Args:
        streams: What to test.
        past: The history.
        schedule: The schedule's name.
        seen: Contents that earlier runs tested, ascending.
        alpha: Probability that any of these streams ever raises a false alarm; each gets an equal share.
        started: When the run started.
    """
    entries: dict[tuple[str, str], dict[str, EProcessEntry]] = {}
    alarms: dict[tuple[str, str], list[str]] = {}
    over: list[str] = []
    contents = [seen[:0]]
    tested = past.filter(pc.and_(pc.equal(past["schedule"], schedule), pc.is_valid(past["floors"])))
    lines = tested.select(["candidate", "metric", "floors", "run"]).to_pylist()[::-1]
    for stream in streams:
        chosen = stream.fresh(seen)
        before = _newest(lines, stream)
        entry = _entry(stream, before, chosen, alpha / len(streams), started)
        entries.setdefault(stream.key, {})[stream.measure.name] = entry
        contents.append(stream.contents[chosen])
        if entry["since"] is not None:
            alarms.setdefault(stream.key, []).append(beyond_floor(beyond(stream, entry, started)))
        elif before and before["since"]:
            since, measure = datetime.fromisoformat(before["since"]), stream.measure
            over.append(floor_held(stream.shown, measure.name, stream.floor, since, is_share=measure.is_share))
    return FloorTests(entries, alarms, np.unique(np.concatenate(contents)), over)


def untested(streams: Sequence[FloorStream], tests: FloorTests) -> dict[tuple[str, str], list[str]]:
    """(candidate, metric) → its floors for which the run has no new row, in words."""
    sentences: dict[tuple[str, str], list[str]] = {}
    for stream in streams:
        if not tests.entries[stream.key][stream.measure.name]["rows"]:
            measure = stream.measure
            said = untested_floor(stream.shown, measure.name, stream.floor, is_share=measure.is_share)
            sentences.setdefault(stream.key, []).append(said)
    return sentences


def beyond(stream: FloorStream, entry: EProcessEntry, started: datetime) -> BeyondFloor:
    """The facts of an alarm."""
    return BeyondFloor(
        candidate=stream.shown,
        measure=stream.measure.name,
        floor=entry["floor"],
        is_share=stream.measure.is_share,
        higher_is_better=stream.measure.higher_is_better,
        mean=entry["mean"],
        rows=entry["rows"],
        seen=entry["seen"],
        nights=entry["nights"],
        since=datetime.fromisoformat(str(entry["since"])),
        started=started,
    )


def _measure(candidate: Candidate, name: str, floor: float, where: str) -> Measure:
    available = measures(candidate)
    if name in without_threshold(candidate):
        raise ParamsError(f"{where}: its threshold is learnt anew from labels; set it, or give {name}{VALUE} a floor")
    if name not in available:
        raise ParamsError(f"{where}: no such measure; there is {', '.join(sorted(available))}")
    measure = available[name]
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


def _newest(lines: Sequence[Mapping[str, Any]], stream: FloorStream) -> EProcessEntry | None:
    """The newest entry of the stream with its terms; lines: the newest first."""
    for line in lines:
        if (line["candidate"], line["metric"]) != stream.key:
            continue
        try:
            entry = json.loads(line["floors"]).get(stream.measure.name)
            if entry is not None and {name: entry[name] for name in stream.terms} == stream.terms:
                return cast(EProcessEntry, entry)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise _unreadable(line["run"], error) from None
    return None


def _entry(
    stream: FloorStream, before: EProcessEntry | None, chosen: Mask, level: float, started: datetime
) -> EProcessEntry:
    rows, recovery = stream.measure.values[chosen], None
    try:
        if before and before["since"]:
            earlier = before["recovery"]
            recovery = _after(stream, _state(earlier) if earlier else None, chosen, recovering=True)
            before, recovery = (None, None) if recovery.alarm(level) else (before, recovery)
        state = _after(stream, None if before is None else _state(before["state"]), chosen)
        raised = before["since"] if before else None
        since = datetime.fromisoformat(raised) if raised else started if state.alarm(level) else None
        seen = (before["seen"] if before else 0) + len(rows)
    except (ValueError, LookupError, TypeError) as error:
        raise _unreadable("an earlier night", error) from None
    return {
        "floor": stream.floor,
        "bounds": [*(stream.measure.bounds or ())],
        "signature": stream.measure.signature,
        "state": [*state],
        "level": level,
        "rows": len(rows),
        "mean": float(rows.mean()) if len(rows) else None,
        "nights": state.days,
        "seen": seen,
        "since": None if since is None else since.isoformat(),
        "recovery": None if recovery is None else [*recovery],
    }


def _after(stream: FloorStream, state: DriftState | None, chosen: Mask, *, recovering: bool = False) -> DriftState:
    """The state after this run; a measure for which lower is better, and a recovery, are mirrored within the bounds."""
    low, high = stream.measure.bounds or (0.0, 1.0)
    rows, floor, groups = stream.measure.values[chosen], stream.floor, stream.candidate.groups
    if stream.measure.higher_is_better == recovering:
        rows, floor = low + high - rows, low + high - floor
    return drift_detector(state, rows, floor, None if groups is None else groups[chosen], (low, high))


def _state(stored: list[Any]) -> DriftState:
    floor, days, bets, log_wealth, evidence, peak = stored
    return DriftState(floor, days, bets, tuple(log_wealth), evidence, peak)


def _unreadable(run: str, error: Exception) -> LedgerError:
    return LedgerError(f"the history's floors of {run} can't be read: {error!r}; put a sound copy in its place")
