"""Preferences between candidates, from data/preference: win rates, position bias, strengths and ranks."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import repeat
from math import isfinite
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.estimates import metrics_report
from goldmeter.estimates.column_facts import QUESTION
from goldmeter.estimates.columns import hashed, lone_clusters
from goldmeter.estimates.estimates import ONE_CLUSTER, silenced
from goldmeter.estimates.human_labels import interval
from goldmeter.estimates.primary import PREFERRED_OVER
from goldmeter.metrics.base import Floats
from goldmeter.pipeline.tables import Parts
from goldmeter.pipeline.workers import Crew
from goldmeter.statistics.bradley_terry import PairSums, components, strengths, win_rate
from goldmeter.statistics.clusters import ClusterTotals, clustered_n_of_totals
from goldmeter.statistics.wilson import score_interval

Pair = tuple[str, str]
# Verdict → points of the second candidate.
POINTS = {"b": 1.0, "tie": 0.5, "a": 0.0}
MEASURED = ("answered", "identical")
# Numbers of a cluster besides the points and counts of each pair: comparisons in both orders, flips, points of the
# answer that was shown first.
_POSITION = 3


class PreferenceSums(NamedTuple):
    """What one or more parts of data/preference hold of p pairs.

    outcomes: wins, ties and losses of the second candidate, identical answers among the ties, comparisons in both
    orders, and flips among them; shape (p, 6). unmeasured: pair and status → rows. keys: of the clusters, shape (m,).
    items: sums of each cluster, shape (m, 2p + 3): points and counts of each pair, and what `_POSITION` says.
    """

    outcomes: NDArray[np.int64]
    unmeasured: Counter[tuple[int, str]]
    keys: NDArray[np.intp]
    items: Floats

    @classmethod
    def added(cls, parts: Iterable["PreferenceSums"]) -> "PreferenceSums":
        """The sums of parts; clusters may be in several."""
        outcomes, unmeasured, keys, items = zip(*parts, strict=True)
        distinct, places = np.unique(np.concatenate(keys), return_inverse=True)
        totals = np.zeros((len(distinct), items[0].shape[1]))
        np.add.at(totals, places, np.concatenate(items))
        return cls(np.sum(outcomes, axis=0), sum(unmeasured, Counter()), distinct, totals)


def pairs_of(table: Parts) -> list[Pair]:
    """Return the pairs of data/preference, in order."""
    found: set[Pair] = set()
    for part in table.read(["candidate_a", "candidate_b"]):
        distinct = part.group_by(["candidate_a", "candidate_b"]).aggregate([])
        found.update(zip(distinct["candidate_a"].to_pylist(), distinct["candidate_b"].to_pylist(), strict=True))
    return sorted(found)


def preference_sums(load: Parts, table: Parts, number: int, pairs: Sequence[Pair]) -> PreferenceSums:
    """Add up one part; a cluster is a group, else a question, else an id."""
    rows, p = table.part(number), len(pairs)
    place = {pair: number for number, pair in enumerate(pairs)}
    named = zip(rows["candidate_a"].to_pylist(), rows["candidate_b"].to_pylist(), strict=True)
    codes = np.array([place[pair] for pair in named], np.intp)
    verdicts, status = rows["verdict"].to_pylist(), rows["preference_status"].to_pylist()
    points = np.array([POINTS.get(verdict, np.nan) for verdict in verdicts])
    orders = [[POINTS.get(one, np.nan) for one in rows[f"verdict_{name}_first"].to_pylist()] for name in "ab"]
    a_first, b_first = np.array(orders, np.float64).reshape(2, -1)
    both = ~np.isnan(a_first) & ~np.isnan(b_first)
    flips = both & (a_first != b_first)
    first = np.where(both, (1.0 - a_first + b_first) / 2.0, 0.0)
    identical = np.array([one == "identical" for one in status], np.bool_)
    counted = [points == 1.0, points == 0.5, points == 0.0, identical, both, flips]  # noqa: PLR2004 (a tie)
    outcomes = np.stack([np.bincount(codes[each], minlength=p) for each in counted], axis=1)
    unmeasured = Counter((int(code), why) for code, why in zip(codes, status, strict=True) if why not in MEASURED)
    keys, cluster = np.unique(_clusters(load.part(number, _read(load)), rows["id"]), return_inverse=True)
    items = np.zeros((len(keys), 2 * p + _POSITION))
    measured = ~np.isnan(points)
    np.add.at(items, (cluster[measured], codes[measured]), points[measured])
    np.add.at(items, (cluster[measured], p + codes[measured]), 1.0)
    for offset, values in enumerate((both, flips, first)):
        items[:, 2 * p + offset] = np.bincount(cluster, values.astype(np.float64), len(keys))
    return PreferenceSums(outcomes.astype(np.int64), unmeasured, keys, items)


def entry(load: Parts, table: Parts, confidence: float, crew: Crew) -> metrics_report.PreferenceEntry | None:
    """Return what the preferences say; None if none was asked for.

    Args:
        load: data/load.
        table: data/preference; parts of one number have the same ids.
        confidence: Of each interval, and of all ranks together.
        crew: The processes among which parts are divided.
    """
    if not (facts := table.about) or not (pairs := pairs_of(table)):
        return None
    parts = range(len(table))
    sums = PreferenceSums.added(crew.map(preference_sums, repeat(load), repeat(table), parts, repeat(pairs)))
    grouped = load_has_groups(load)
    with silenced():
        result: metrics_report.PreferenceEntry = {
            "signature": facts["signature"],
            "prompt": facts["prompt"],
            "pairs": [_pair(sums, number, pair, confidence, grouped=grouped) for number, pair in enumerate(pairs)],
        }
        if position := _position(sums, confidence):
            result["position"] = position
        names = sorted({name for pair in pairs for name in pair})
        if len(names) > 2:  # noqa: PLR2004 (the win rate says it of two)
            ranked = _ranked(sums, pairs, names, confidence)
            if isinstance(ranked, str):
                result["not_ranked"] = ranked
            else:
                result["ranks"] = ranked
    return result


def load_has_groups(load: Parts) -> bool:
    """Whether some rows belong together: groups, or repeated answers to one question."""
    if QUESTION in load.schema.names:
        return True
    return any(part["group"].null_count < part.num_rows for part in load.read(["group"]))


def win_rates(found: metrics_report.PreferenceEntry | None) -> dict[str, dict[str, metrics_report.Limited]]:
    """Return candidate → measure such as `preferred_over.aurora` → its win rate."""
    rates: dict[str, dict[str, metrics_report.Limited]] = {}
    for pair in found["pairs"] if found else ():
        value, low, high = (pair["win_rate"][name] for name in ("value", "low", "high"))
        ours: metrics_report.Limited = {"value": value, "low": low, "high": high}
        theirs: metrics_report.Limited = {"value": _rest(value), "low": _rest(high), "high": _rest(low)}
        rates.setdefault(pair["b"], {})[f"{PREFERRED_OVER}{pair['a']}"] = ours
        rates.setdefault(pair["a"], {})[f"{PREFERRED_OVER}{pair['b']}"] = theirs
    return rates


def _rest(share: float | None) -> float | None:
    return None if share is None else round(1.0 - share, 6)


def _read(load: Parts) -> list[str]:
    return [name for name in ("id", "group", QUESTION) if name in load.schema.names]


def _clusters(load: pa.Table, ids: pa.ChunkedArray) -> NDArray[np.intp]:
    """Return the key of the cluster of each id; load: rows of data/load that have all ids."""
    own = hashed(load["id"])
    keys = lone_clusters(own)
    for name in (QUESTION, "group"):
        if name in load.column_names:
            known = pc.is_valid(load[name]).to_numpy()
            keys = np.where(known, hashed(load[name].fill_null("")).view(np.intp), keys)
    order = np.argsort(own, kind="stable")
    return np.asarray(keys[order[np.searchsorted(own, hashed(ids), sorter=order)]], np.intp)


def _pair(
    sums: PreferenceSums, number: int, pair: Pair, confidence: float, *, grouped: bool
) -> metrics_report.NamedPairEntry:
    p = len(sums.outcomes)
    wins, ties, losses, identical, both, flips = (int(count) for count in sums.outcomes[number])
    clusters = None
    if grouped:
        points, counts = sums.items[:, number], sums.items[:, p + number]
        used = counts > 0
        clusters = ClusterTotals(counts[used], (2.0 * points - counts)[used])
    rate: metrics_report.Interval = {"value": None, "low": 0.0, "high": 1.0, "method": ONE_CLUSTER}
    p_value: float | None = None
    if clusters is not None and len(clusters.size) == 1:
        rate["value"] = (wins + ties / 2.0) / (wins + ties + losses)
    else:
        found = win_rate(wins, ties, losses, clusters, confidence)
        rate, p_value = interval(found), found.p_value
    unmeasured = {why: count for (own, why), count in sorted(sums.unmeasured.items()) if own == number}
    return {
        "a": pair[0],
        "b": pair[1],
        "n": wins + ties + losses,
        "wins": wins,
        "ties": ties,
        "losses": losses,
        "identical": identical,
        "asked": both,
        "flips": flips,
        "win_rate": rate,
        "p_value": p_value,
        "unmeasured": unmeasured,
    }


def _position(sums: PreferenceSums, confidence: float) -> metrics_report.PositionEntry | None:
    """How far verdicts depend on the order of the answers; None if no pair was asked about in both orders."""
    size, flips, first = sums.items[:, -_POSITION:].T
    used = size > 0
    if not used.any():
        return None
    flipped, shown_first = (_share(ClusterTotals(size[used], each[used]), confidence) for each in (flips, first))
    return {"n": int(size.sum()), "flips": flipped, "first": shown_first}


def _share(clusters: ClusterTotals, confidence: float) -> metrics_report.Interval:
    """The mean of scores in [0, 1] over comparisons, those of one cluster depending on each other."""
    value = float(clusters.total.sum() / clusters.size.sum())
    if len(clusters.size) == 1:
        return {"value": value, "low": 0.0, "high": 1.0, "method": ONE_CLUSTER}
    n_eff, df = clustered_n_of_totals(clusters)
    low, high = score_interval(value, n_eff, df, confidence)
    return {"value": value, "low": min(low, value), "high": max(high, value), "method": "clustered"}


def _ranked(
    sums: PreferenceSums, pairs: Sequence[Pair], names: Sequence[str], confidence: float
) -> list[metrics_report.PreferenceRank] | str:
    """The ranks, the strongest first; or why there are none."""
    p, place = len(pairs), {name: number for number, name in enumerate(names)}
    numbered = [(place[a], place[b]) for a, b in pairs]
    added = PairSums.of_items(sums.items[:, : 2 * p])
    groups = components(len(names), numbered, added.counts)
    if len(groups) > 1:
        named = " | ".join(", ".join(names[one] for one in group) for group in groups)
        return f"comparisons do not connect all candidates: {named}"
    found = zip(names, strengths(len(names), numbered, added, confidence), strict=True)
    return [
        {
            "candidate": name,
            "rank": one.rank,
            "best": one.best,
            "worst": one.worst,
            "n": one.estimate.n,
            "strength": {
                "value": one.estimate.value,
                "low": one.estimate.low if isfinite(one.estimate.low) else None,
                "high": one.estimate.high if isfinite(one.estimate.high) else None,
            },
        }
        for name, one in sorted(found, key=lambda named: named[1].rank)
    ]
