"""Past claims tested: the paired difference of each run and its predecessor, corrected for the number of runs tried."""

import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from goldmeter.comparison.found_logs import Found, Hashes, Run
from goldmeter.console.format import points
from goldmeter.dataset.readers import tables
from goldmeter.statistics.arrays import BoolArray, Bounds, FloatArray
from goldmeter.statistics.clusters import FewClusters
from goldmeter.statistics.paired import PairedDifference, paired_difference
from goldmeter.wording.claims import SCHEMA, AdoptDocument, ClaimEntry, FileEntry, RunEntry, Shown

CONFIDENCE = 0.95
SAME_DATE = "both have one date: which came first is not known"
# Runs with fewer questions in common, as a share of the smaller, are of different data.
SHARED = 0.5
# Parts of a name that say a version, a date or a number: with a digit, or one of these words.
VERSION = re.compile(r"[^\W\d_]*\d[\w.]*|\b(?:latest|preview|final|new|old|base|head|v)\b", re.IGNORECASE)
PART = re.compile(r"[\W_]+")
# Opaque names, such as the ids of MLflow's runs.
OPAQUE = re.compile(r"(?:\w+-)?[0-9a-f]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
Series = tuple[str, str, str]
"""Tool, task, and family of systems."""


class Pair(NamedTuple):
    """A run and its predecessor, by their positions; and the score that decides, None without one."""

    base: int
    head: int
    score: str | None


def document(found: Found, folder: str, score: str | None = None) -> AdoptDocument:
    """Test the claim of each pair of successive runs.

    Runs succeed each other if tool, task and family of systems are equal and they share half of their questions.

    Args:
        found: What was found below a folder.
        folder: Its name.
        score: The score that decides; None: of each series the one that most rows have.
    """
    runs = found.runs
    series: dict[Series, list[int]] = defaultdict(list)
    for position, family in enumerate(families(runs)):
        series[runs[position].tool, runs[position].task, family].append(position)
    scores: dict[int, str | None] = {}
    claims: list[ClaimEntry] = []
    for positions in series.values():
        chosen = _score([runs[position] for position in positions], score)
        scores |= dict.fromkeys(positions, chosen)
        pairs = [Pair(base, head, chosen) for base, head in _successive(runs, positions)]
        claims += _claims(runs, pairs)
    entries = [_entry(run, scores[position]) for position, run in enumerate(runs)]
    left: list[FileEntry] = [{"file": one.file, "reason": one.reason} for one in found.not_read]
    return {"schema": SCHEMA, "folder": folder, "files": found.files, "runs": entries, "claims": claims,
            "not_read": left}  # fmt: skip


def families(runs: Sequence[Run]) -> list[str]:
    """Return the family of each run's system: its name without versions, unless one log has two of a family.

    It is empty if the log names no system, whose name is then that of the file.
    """
    names = ["" if run.system == tables.stem(Path(run.file)) else family(run.system) for run in runs]
    in_log = Counter((run.file, run.task, name) for run, name in zip(runs, names, strict=True))
    shared = {(run.tool, name) for run, name in zip(runs, names, strict=True) if in_log[run.file, run.task, name] > 1}
    return [run.system if (run.tool, name) in shared else name for run, name in zip(runs, names, strict=True)]


def family(system: str) -> str:
    """Return the name of a system without versions, dates and numbers.

    >>> family("openai:gpt-4o-mini-2024-07-18"), family("gpt-4.1-mini"), family("run_2024-05-01")
    ('openai gpt mini', 'gpt mini', 'run')
    """
    return " ".join(filter(None, PART.split(VERSION.sub(" ", OPAQUE.sub(" ", system))))).lower()


def _successive(runs: Sequence[Run], positions: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield each run with the latest earlier one of its questions; without one, with the latest of its ids."""
    for place, head in enumerate(positions):
        earlier = positions[:place][::-1]
        same = next((base for base in earlier if _share(runs[base], runs[head], "keys") >= SHARED), None)
        if same is None:
            same = next((base for base in earlier if _share(runs[base], runs[head], "ids") >= SHARED), None)
        if same is not None:
            yield same, head


def _share(base: Run, head: Run, name: str) -> float:
    mine, others = getattr(base, name), getattr(head, name)
    return len(np.intersect1d(mine, others)) / max(min(len(mine), len(others)), 1)


def _score(runs: Sequence[Run], named: str | None) -> str | None:
    """Return the named score, or the one that most runs have, then most rows; the first of several."""
    names = dict.fromkeys(name for run in runs for name in run.sums)
    if named is not None:
        return named if named in names else None

    def size(name: str) -> tuple[int, int]:
        return sum(name in run.sums for run in runs), sum(run.sums[name][0] for run in runs if name in run.sums)

    return max(names, key=size, default=None)


class _Differences(NamedTuple):
    """Oriented differences of shared questions, of those measured in both and of all with unmeasured ones as 0.

    lost: of all, 1 where only the base is measured, and -1 where only the head is.
    """

    measured: FloatArray
    of_all: FloatArray | None
    lost: FloatArray
    is_measured: BoolArray
    groups: Hashes | None
    is_share: bool


def _differences(runs: Sequence[Run], pair: Pair) -> _Differences | None:
    base, head = runs[pair.base], runs[pair.head]
    if pair.score is None or pair.score not in base.scores or pair.score not in head.scores:
        return None
    _, mine, others = np.intersect1d(base.keys, head.keys, assume_unique=True, return_indices=True)
    before, after = base.scores[pair.score][mine], head.scores[pair.score][others]
    sign = _sign(base, head, pair.score)
    there = ~(np.isnan(before) | np.isnan(after))
    if there.sum() < 2:  # noqa: PLR2004 (no spread)
        return None
    is_share, lost = _is_share(base, head, pair.score), np.isnan(after) * 1.0 - np.isnan(before)
    of_all = np.nan_to_num(after) - np.nan_to_num(before) if sign > 0 and is_share else None
    groups = None if head.groups is None else head.groups[others]
    return _Differences(sign * (after - before)[there], of_all, lost, there, groups, is_share)


def _sign(base: Run, head: Run, score: str) -> float:
    return -1.0 if score in base.lower_is_better | head.lower_is_better else 1.0


def _is_share(base: Run, head: Run, score: str) -> bool:
    values = np.concatenate([run.scores[score] for run in (base, head) if score in run.scores] or [np.empty(0)])
    return bool(np.all((values >= 0.0) & (values <= 1.0) | np.isnan(values)))


def _claims(runs: Sequence[Run], pairs: Sequence[Pair]) -> Iterator[ClaimEntry]:
    """Yield the claims of a series, tested by Holm's steps at Šidák's levels.

    The smallest p value is tested at the level of all tests, the next one at that of one test less; those from the
    first that is not rejected on have its level. Šidák's inequality holds at any correlation of normal differences.

    Source: Holm 1979; Šidák 1967; Holland & Copenhaver 1987.
    """
    found = [_differences(runs, pair) for pair in pairs]
    p_values = {place: _tested(one, CONFIDENCE).p_value for place, one in enumerate(found) if one is not None}
    left, steps = len(p_values), dict[int, int]()
    for place in sorted(p_values, key=p_values.__getitem__):
        steps[place] = left
        left -= p_values[place] < 1.0 - CONFIDENCE ** (1.0 / left)
    for place, pair in enumerate(pairs):
        level = CONFIDENCE ** (1.0 / steps.get(place, 1))
        yield _claim(runs, pair, found[place], level, len(p_values))


def _claim(runs: Sequence[Run], pair: Pair, found: _Differences | None, level: float, tests: int) -> ClaimEntry:
    base, head, score = runs[pair.base], runs[pair.head], pair.score
    shared = len(np.intersect1d(base.keys, head.keys))
    sums = [run.sums[score] for run in (base, head) if score in run.sums] if score is not None else []
    rates = [total / n for n, total in sums if n]
    claimed = _sign(base, head, score) * (rates[1] - rates[0]) if score is not None and rates[1:] else None
    result = None if found is None else _tested(found, level)
    verdict: Shown = Shown.NOT_COMPARED
    why: str | None = _why_not(base, head, score, shared)
    if found is not None and result is not None and claimed is not None:
        verdict, why = _verdict(found, result, claimed, level)
    if base.date == head.date:
        why = f"{why}; {SAME_DATE}" if why else SAME_DATE
    return {
        "base": pair.base,
        "head": pair.head,
        "score": score,
        "is_share": score is not None and _is_share(base, head, score),
        "claimed": _finite(claimed),
        "shared": shared if found is None else len(found.measured),
        "only_base": len(base.keys) - shared,
        "only_head": len(head.keys) - shared,
        "difference": result and result.value,
        "low": _finite(result and result.low),
        "high": _finite(result and result.high),
        "p_value": result and result.p_value,
        "method": result and str(result.method),
        "tests": tests,
        "confidence": level,
        "verdict": verdict,
        "why": why,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None


def _tested(found: _Differences, level: float) -> PairedDifference:
    groups = None if found.groups is None else found.groups[found.is_measured]
    return _paired(found.measured, groups, level, (0.0, 1.0) if found.is_share else (-np.inf, np.inf))


def _paired(
    differences: FloatArray, groups: Hashes | None, level: float, bounds: Bounds = (0.0, 1.0)
) -> PairedDifference:
    clusters = groups if groups is not None and 1 < len(np.unique(groups)) < len(groups) else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewClusters)
        return paired_difference(differences, clusters, bounds, level)


def _verdict(found: _Differences, result: PairedDifference, claimed: float, level: float) -> tuple[Shown, str | None]:
    if result.low > 0.0:
        of_all = None if found.of_all is None else _paired(found.of_all, found.groups, level)
        if of_all and of_all.low <= 0.0 and _paired(found.lost, found.groups, level).low > 0.0:
            return Shown.UNMEASURED, f"{points(of_all.value)} points with unmeasured answers as wrong ones"
        return Shown.REAL_WIN, None if claimed > 0.0 else "the logs' own rates claim none: they are of other rows"
    if result.high < 0.0:
        return Shown.REAL_LOSS, None if claimed < 0.0 else "the logs' own rates claim none: they are of other rows"
    if abs(claimed) < 1e-12:  # noqa: PLR2004 (rounding)
        return Shown.UNCHANGED, None
    return (Shown.WIN_NOT_SHOWN if claimed > 0.0 else Shown.LOSS_NOT_SHOWN), None


def _why_not(base: Run, head: Run, score: str | None, shared: int) -> str:
    if not shared:
        return "ids agree, but the questions' texts differ or are not in the logs; --by-id pairs rows by id"
    if score is None or not all(score in run.scores for run in (base, head)):
        return "no score in numbers that both have"
    return "fewer than two questions that both measured"


def _entry(run: Run, score: str | None) -> RunEntry:
    measured, total = run.sums.get(score or "", (0, 0.0))
    is_good_share = score in run.scores and _is_share(run, run, str(score)) and _sign(run, run, str(score)) > 0.0
    return {
        "tool": run.tool,
        "file": run.file,
        "system": run.system,
        "task": run.task,
        "date": run.date.isoformat(),
        "dated_by": run.dated_by,
        "rows": run.rows,
        "score": score if measured else None,
        "measured": measured,
        "rate": _finite(total / measured) if measured else None,
        "rate_of_all": total / run.rows if measured and is_good_share else None,
        "labels_by_people": run.labels,
    }
