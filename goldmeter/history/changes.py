"""Changes of fresh rows against a schedule's first nights, whether or not a floor is crossed; kept in the history."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from math import inf, isfinite, sqrt
from typing import Any, NamedTuple, TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.comparison.measures import Measure, measures, without_threshold
from goldmeter.console.format import CUT, abridged_apart
from goldmeter.errors import LedgerError
from goldmeter.estimates.columns import Candidate, Mask
from goldmeter.history.store import Contents
from goldmeter.metrics.base import Floats
from goldmeter.statistics.change import FEWEST, Night, change, week
from goldmeter.wording.alarms import Changed, changed

Key = tuple[str, str]


class _Terms(TypedDict):
    """What must stay the same for nights to be compared."""

    measure: str
    signature: str


class FreshEntry(_Terms):
    """The fresh rows of a night, as the history stores them: their number, mean and its standard error.

    since: when an alarm was raised that stands. nights: how many nights it is about, in
    the night that raised it.
    """

    rows: int
    mean: float
    error: float
    since: str | None
    nights: int


class FreshRows(NamedTuple):
    """The fresh rows of a run. entries: (candidate, metric) → entry. alarms: the same → sentences.

    over: sentences on alarms that ended. contents: what the fresh rows were asked, ascending.
    """

    entries: dict[Key, FreshEntry]
    alarms: dict[Key, list[str]]
    over: list[str]
    contents: Contents


def update(
    candidates: Mapping[str, Candidate],
    contents: Mapping[str, Contents],
    measure: str,
    past: pa.Table,
    schedule: str,
    seen: Contents,
    alpha: float,
    started: datetime,
) -> FreshRows:
    """Compare the fresh rows of the last nights with those of the first, for the primary measure of every candidate.

    Scores without bounds and of a corpus are no means of rows that can be compared so, and are left out; so are nights
    whose judge stopped early.

    Args:
        candidates: Name → candidate.
        contents: Name of a candidate → hashes of what its rows were asked.
        measure: The primary measure.
        past: The history.
        schedule: The schedule's name.
        seen: Contents that earlier runs tested, ascending.
        alpha: Probability of any false alarm in 90 nights.
        started: When the run started.

    Raises:
        LedgerError: The history's entries can't be read.
    """
    shown = abridged_apart(candidates, CUT)
    watched = {name: found for name, one in candidates.items() if (found := _watched(one, measure)) is not None}
    earlier = past.filter(pc.and_(pc.equal(past["schedule"], schedule), pc.is_valid(past["fresh"])))
    lines = earlier.select(["candidate", "metric", "started", "fresh", "run"]).to_pylist()
    entries: dict[Key, FreshEntry] = {}
    alarms: dict[Key, list[str]] = {}
    over: list[str] = []
    tested = [seen[:0]]
    for name, of in watched.items():
        key, groups = (name, of.column.name), candidates[name].groups
        nights = [(line["started"], one) for line in lines if (one := _read(line, key, of)) is not None]
        chosen = fresh(of, contents[name], seen)
        if chosen.any():
            tested.append(contents[name][chosen])
            entries[key] = _entry(of, of.values[chosen], None if groups is None else groups[chosen])
            nights.append((started, entries[key]))
        if alarm := _found(nights, of, shown[name], alpha / len(watched), started):
            if alarm.is_over:
                over.append(changed(alarm))
            else:
                alarms[key] = [changed(alarm)]
    return FreshRows(entries, alarms, over, np.unique(np.concatenate(tested)))


def _watched(candidate: Candidate, name: str) -> Measure | None:
    measure = measures(candidate).get(name)
    if measure is None or name in without_threshold(candidate) or measure.kind == "corpus":
        return None
    if measure.column.facts.stopped:  # its standard error is that of a fixed number of rows
        return None
    return measure if measure.bounds is not None and all(map(isfinite, measure.bounds)) else None


def _entry(measure: Measure, rows: Floats, groups: Any) -> FreshEntry:
    """The night's rows in units of the scale.

    The error counts one more row that is off by the full scale: rows that are all equal would have an error of 0.
    """
    low = (measure.bounds or (0.0, 1.0))[0]
    scores = (rows - low) / measure.scale
    mean = float(scores.mean())
    rest = scores - mean
    sums = rest if groups is None else np.bincount(np.unique(groups, return_inverse=True)[1], rest)
    error = sqrt(float(sums @ sums) + 1.0) / len(rows)
    return {**_terms(measure), "rows": len(rows), "mean": mean, "error": error, "since": None, "nights": 0}


def _terms(measure: Measure) -> _Terms:
    return {"measure": measure.name, "signature": measure.signature}


def _read(line: Mapping[str, Any], key: Key, measure: Measure) -> FreshEntry | None:
    """The entry of an earlier night, if it is of the same measure, measured the same way."""
    if (line["candidate"], line["metric"]) != key:
        return None
    try:
        entry: FreshEntry = json.loads(line["fresh"])
        is_same = {name: entry[name] for name in ("measure", "signature")} == _terms(measure)
        is_sound = isfinite(entry["mean"]) and 0.0 < entry["error"] < inf and entry["rows"] > 0
    except (ValueError, LookupError, TypeError) as error:
        raise _unreadable(line["run"], repr(error)) from None
    if not is_sound:
        raise _unreadable(line["run"], "numbers outside of their ranges")
    return entry if is_same else None


def _unreadable(run: str, why: str) -> LedgerError:
    return LedgerError(f"the history's fresh rows of {run} can't be read: {why}; put a sound copy in its place")


def _found(
    nights: Sequence[tuple[datetime, FreshEntry]], measure: Measure, shown: str, alpha: float, started: datetime
) -> Changed | None:
    """The alarm, or its end, of the newest night, whose entry then says since when it stands; None without."""
    if not nights:
        return None
    is_fresh = nights[-1][0] == started
    before = [entry for when, entry in nights if when < started]
    since = before[-1]["since"] if before else None
    listed = _nights(nights)
    found = change(listed, standing=since is not None, alpha=alpha)
    is_over = found is None and since is not None and is_fresh
    shows = week(listed) if is_over else found
    if shows is None:
        return None
    raised = started if since is None else datetime.fromisoformat(since)
    if not is_over:
        entry = nights[-1][1]
        entry["since"] = raised.isoformat()
        entry["nights"] = shows.nights if since is None else 1
    low, width = (measure.bounds or (0.0, 1.0))[0], measure.scale
    return Changed(
        candidate=shown,
        measure=measure.name,
        is_share=measure.is_share,
        first=low + width * shows.first,
        last=low + width * shows.last,
        reference=shows.reference,
        nights=shows.nights,
        rows=shows.rows,
        since=raised,
        started=started,
        is_fresh=is_fresh,
        is_over=is_over,
    )


def _nights(nights: Sequence[tuple[datetime, FreshEntry]]) -> list[Night]:
    """The nights for the test; those of an alarm are the last ones that it is about, but for the very first."""
    alarmed: set[int] = set()
    for place, (_, entry) in enumerate(nights):
        if entry["since"] is not None:
            alarmed.update(range(max(FEWEST, place + 1 - entry["nights"]), place + 1))
    return [
        Night(one["mean"], one["error"], one["rows"], when.weekday(), place in alarmed)
        for place, (when, one) in enumerate(nights)
    ]


def fresh(measure: Measure, contents: Contents, seen: Contents) -> Mask:
    """Which rows are new: one measured row of each content that is not in `seen`; shape (n,)."""
    new = np.flatnonzero(~np.isnan(measure.values) & ~np.isin(contents, seen))
    _, first = np.unique(contents[new], return_index=True)
    chosen = np.zeros(len(contents), np.bool_)
    chosen[new[first]] = True
    return chosen
