"""How far a language model as judge agrees with itself, by the rows that it was asked about more than once."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tasks.metrics.base import Floats
from tasks.pipeline.tables import Parts
from tasks.scores.columns import group_keys, hashed
from tasks.scores.estimates import is_one_cluster, silenced
from tasks.scores.human_labels import FEWEST, interval
from tasks.scores.metrics_report import SelfAgreementEntry
from tasks.scores.repeated_verdicts import REPEATED, verdicts_column


class _Repeated(NamedTuple):
    """The verdicts of one candidate's rows that have several, one after the other.

    rows: number of each verdict's row. groups: cluster of each row; None where no row has a group.
    """

    verdicts: Floats
    rows: NDArray[np.intp]
    groups: NDArray[np.intp] | None


def entries(load: Parts, judge: Parts, confidence: float, *, grouped: bool) -> dict[str, dict[str, SelfAgreementEntry]]:
    """Return candidate → score column → how far its verdicts agree with each other.

    Args:
        load: data/load.
        judge: data/judge.
        confidence: Of each interval.
        grouped: Whether any row has a group.
    """
    stated: Mapping[str, Mapping[str, Any]] = judge.about.get(REPEATED, {})
    found: dict[str, dict[str, SelfAgreementEntry]] = {}
    for metric, about in stated.items():
        for name, repeated in _by_candidate(load, judge, verdicts_column(metric), grouped=grouped).items():
            if entry := _entry(repeated, about, confidence):
                found.setdefault(name, {})[about["column"]] = entry
    return {name: found[name] for name in sorted(found)}


def noise(entries: Mapping[str, Mapping[str, SelfAgreementEntry]], judge: Parts) -> dict[tuple[str, str], float]:
    """Return the variance of a row's score that the judge adds, by candidate and measure."""
    measures = {about["column"]: about["measures"] for about in judge.about.get(REPEATED, {}).values()}
    every = [(name, column, entry["noise"]) for name, own in entries.items() for column, entry in own.items()]
    return {
        (name, measure): variance
        for name, column, variance in every
        if variance is not None
        for measure in measures[column]
    }


def _entry(repeated: _Repeated, about: Mapping[str, Any], confidence: float) -> SelfAgreementEntry | None:
    from tasks.statistics.agreement import self_agreement

    if np.unique(repeated.rows).size < FEWEST or is_one_cluster(repeated.groups):
        return None
    bounds = None if about["bounds"] is None else (float(about["bounds"][0]), float(about["bounds"][1]))
    with silenced():
        result = self_agreement(repeated.verdicts, repeated.rows, repeated.groups, bounds, confidence)
    is_known = bounds is not None and result.total > 0.0
    return {
        "n": result.n,
        "pairs": result.pairs,
        "equal": interval(result.equal),
        "distance": interval(result.distance) if result.distance and not about["is_binary"] else None,
        "noise": result.variance / about["draws"] if bounds is not None else None,
        "share": _share(result.variance, result.total, about["draws"]) if is_known else None,
    }


def _share(variance: float, total: float, draws: int) -> float:
    """Return the judge's share of the variance of a score that is the mean of so many verdicts."""
    own = variance / draws
    return own / (total - variance + own)


def _by_candidate(load: Parts, judge: Parts, column: str, *, grouped: bool) -> dict[str, _Repeated]:
    parts: dict[str, list[_Repeated]] = {}
    for number in range(len(judge)):
        for name, repeated in _of_part(load, judge, number, column, grouped=grouped):
            parts.setdefault(name, []).append(repeated)
    return {name: _joined(own) for name, own in parts.items()}


def _of_part(load: Parts, judge: Parts, number: int, column: str, *, grouped: bool) -> Iterator[tuple[str, _Repeated]]:
    rows = judge.part(number, ["id", "candidate", column])
    lists = rows[column].combine_chunks()
    counts = lists.value_lengths().fill_null(0).to_numpy()
    several = np.flatnonzero(counts > 1)
    names = rows["candidate"].combine_chunks().take(pa.array(several)).to_pylist()
    groups = _groups(load, number, several) if grouped else None
    chosen = lists.take(pa.array(several))
    values, sizes = chosen.flatten().to_numpy(zero_copy_only=False).astype(np.float64), counts[several]
    owners = np.repeat(np.arange(several.size), sizes)
    for name in sorted(set(names)):
        own = np.array([one == name for one in names], np.bool_)
        inside = own[owners]
        place = np.cumsum(own) - 1
        yield name, _Repeated(values[inside], place[owners[inside]], None if groups is None else groups[own])


def _groups(load: Parts, number: int, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the key of each row's cluster: its group, or else its id."""
    table = load.part(number, ["id", "group"]).take(pa.array(rows))
    return group_keys(table["group"], hashed(table["id"]))


def _joined(parts: Sequence[_Repeated]) -> _Repeated:
    offsets = np.cumsum([0, *(np.unique(one.rows).size for one in parts)])[:-1]
    groups = [one.groups for one in parts if one.groups is not None]
    return _Repeated(
        np.concatenate([one.verdicts for one in parts]),
        np.concatenate([one.rows + offset for one, offset in zip(parts, offsets, strict=True)]),
        np.concatenate(groups) if groups else None,
    )
