"""The release gate on real answers with human labels: false stops where nothing changed, and power where something did.

Nothing changed: a random half of a system's rows against its other half. Something changed: two systems on a random
half of the questions that both answered. Data: GOLDMETER_EVOUNA (a folder with NQ.json), GOLDMETER_NQ301 (a folder).

Use: python -m benchmarks.coverage.halves [--draws 200]
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import sqrt
from multiprocessing import Pool
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.coverage.cells import generator
from benchmarks.data import EVOUNA
from benchmarks.nq301 import FOLDER, nq301
from benchmarks.offline_judge.labelled import Labelled, human_labelled
from goldmeter.comparison import candidate_pairs, differences
from goldmeter.comparison.candidate_pairs import Families
from goldmeter.comparison.gate import Gate, decision
from goldmeter.comparison.pairing import pair
from goldmeter.dataset.description import LABEL as LABEL_FACTS
from goldmeter.estimates.columns import Candidate, ScoreColumn
from goldmeter.estimates.human_labels import LABEL
from goldmeter.estimates.primary import Primary
from goldmeter.estimates.tables import facts_of
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.pairs import Pairs
from goldmeter.wording.verdicts import Decision, Verdict

DRAWS = 200
# Metrics of words that need no normalised text; with the thresholds of params.yaml.
METRICS = ("exact_match", "f1", "bleu", "gleu", "rouge", "meteor", "non_llm_string_similarity")
THRESHOLD = 0.5
STOPPED, STOPPED_GUARDED = Decision.DO_NOT_SHIP, f"{Decision.DO_NOT_SHIP}, guarded"
ALONE, TOGETHER = "primary alone", "one family of all measures"
# Pairs that one family finds in nearly every half leave nothing to gain; over all pairs, this much more is to be found.
MOST_FOUND, LEAST_GAIN = 0.9, 1.3
GATE = Gate(primary=LABEL, metrics={}, margin=0.0, confidence=0.95, fail_on="worse", max_unmeasured=1.0)
GUARDED = GATE.model_copy(update={"metrics": dict.fromkeys(METRICS, 0.0)})
Rows = npt.NDArray[np.intp]


class Found(NamedTuple):
    """What was found on the random halves of one system, or of two: how often each event came up in `draws` draws."""

    name: str
    draws: int
    events: Mapping[str, int]


def systems(answers: Sequence[Labelled]) -> dict[str, Candidate]:
    """Each system's labels and scores of words; keys are the numbers of the questions."""
    numbers = {question: n for n, question in enumerate(dict.fromkeys(answer.question for answer in answers))}
    by_system: dict[str, dict[int, Labelled]] = {}
    for answer in answers:
        by_system.setdefault(answer.source, {})[numbers[answer.question]] = answer
    return {name: _candidate(name, own) for name, own in by_system.items()}


def decided(base: Candidate, head: Candidate, gate: Gate = GATE) -> Any:
    """The comparison of two systems: its pair and its decision, as `flows.compare` makes them."""
    pairs = [[pair(base, head)]]
    families = candidate_pairs.compare(pairs, gate, LABEL)
    [entry] = candidate_pairs.entries(families, pairs)
    primary = Primary(LABEL, "human labels of all systems")
    return entry, decision([entry], primary, gate, blocked=families.blocked)


def unchanged(candidate: Candidate, draws: int) -> Found:
    """Random halves of one system against each other: how often the gate stops a release, and its guards are wrong."""
    rng = generator("halves", candidate.name, len(candidate.keys))
    half = len(candidate.keys) // 2
    events = dict.fromkeys((STOPPED, STOPPED_GUARDED, "a guard differs", "any measure worse"), 0)
    for _ in range(draws):
        order = rng.permutation(len(candidate.keys))
        pairs = [[pair(*(_version(candidate, rows) for rows in (order[:half], order[half : 2 * half])))]]
        families = candidate_pairs.compare(pairs, GUARDED, LABEL)
        primary, guards = ([one.verdict for one in families.differences[role]] for role in ("primary", "guard"))
        events[STOPPED] += Verdict.WORSE in primary
        events[STOPPED_GUARDED] += Verdict.WORSE in [*primary, *guards]
        events["a guard differs"] += bool({Verdict.WORSE, Verdict.BETTER} & {*guards})
        events["any measure worse"] += any(one.verdict is Verdict.WORSE for one in _one_family(families))
    return Found(candidate.name, draws, events)


def changed(base: Candidate, head: Candidate, draws: int) -> Found:
    """Two systems on random halves of their questions: how often the labels differ significantly, in either family."""
    shared = np.intersect1d(base.keys, head.keys)
    rng = generator("halves", base.name, head.name, len(shared))
    events = {ALONE: 0, TOGETHER: 0}
    for _ in range(draws):
        half = rng.permutation(shared)[: len(shared) // 2]
        pairs = [[pair(*(_asked(one, half) for one in (base, head)))]]
        families = candidate_pairs.compare(pairs, GUARDED, LABEL)
        [alone] = families.differences["primary"]
        events[ALONE] += alone.verdict in {Verdict.BETTER, Verdict.WORSE}
        together = next(one for one in _one_family(families) if one.compared.head.name == LABEL)
        events[TOGETHER] += together.verdict in {Verdict.BETTER, Verdict.WORSE}
    return Found(f"{base.name} – {head.name}", draws, events)


def _one_family(families: Families) -> list[differences.Difference]:
    """All measures corrected together, as the gate did before it had a primary measure."""
    compared = [one.compared for family in families.differences.values() for one in family]
    return differences.family(compared, [0.0] * len(compared), GATE.confidence)[0]


def _candidate(name: str, answers: Mapping[int, Labelled]) -> Candidate:
    rows = sorted(answers)
    pairs = Pairs.of([answers[row].response for row in rows], [list(answers[row].references) for row in rows])
    labels = np.array([answers[row].verdict for row in rows], np.float64)
    columns = [ScoreColumn(LABEL, labels, np.zeros(len(rows), np.bool_), labels == 1, None, LABEL_FACTS)]
    for metric_name in METRICS:
        options = {} if metric_name == "exact_match" else {"threshold": THRESHOLD}
        metric = configure("lexical", metric_name, options)
        facts = facts_of(metric, {})[metric.column]
        values = metric.column_scores(metric.stats(pairs))[metric.column]
        columns.append(
            ScoreColumn(metric_name, values, np.zeros(len(rows), np.bool_), facts.passes(values), None, facts)
        )
    return Candidate(name, np.array(rows, np.uint64), np.arange(len(rows)), columns, None, {})


def _version(candidate: Candidate, rows: Rows) -> Candidate:
    """Some rows of a candidate as those of a version, the ids 0, 1, 2, …"""
    keys: dict[str, Any] = {"keys": np.arange(len(rows), dtype=np.uint64), "positions": rows}
    return replace(candidate, columns=[column.rows(rows) for column in candidate.columns], **keys)


def _asked(candidate: Candidate, keys: npt.NDArray[np.uint64]) -> Candidate:
    rows = np.flatnonzero(np.isin(candidate.keys, keys))
    columns = [column.rows(rows) for column in candidate.columns]
    return replace(candidate, keys=candidate.keys[rows], positions=rows, columns=columns)


def real_answers() -> Iterator[tuple[str, list[Labelled]]]:
    """Name and answers of each data set that is there."""
    if EVOUNA.exists():
        yield "EVOUNA-NQ", [*human_labelled(EVOUNA)]
    if FOLDER.exists():
        yield "NQ301", [*nq301(FOLDER)]


def main(arguments: Sequence[str]) -> int:
    """Print what was found; returns 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage.halves", description=__doc__)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    same: list[Found] = []
    different: list[Found] = []
    for name, answers in real_answers():
        candidates = systems(answers)
        calls: list[Callable[[], Found]] = [partial(unchanged, one, options.draws) for one in candidates.values()]
        calls += [partial(changed, *both, options.draws) for both in combinations(candidates.values(), 2)]
        with Pool(options.processes) as pool:
            found = pool.map(_call, calls, chunksize=1)
        for one in found:
            print(f"{name}, {one.name}: " + ", ".join(f"{event} {n}" for event, n in one.events.items()))
        same += found[: len(candidates)]
        different += found[len(candidates) :]
        _conclusion(name, found[: len(candidates)], found[len(candidates) :])
    if not same:
        sys.exit("no data: GOLDMETER_EVOUNA names a folder with NQ.json, GOLDMETER_NQ301 a folder")
    return 0 if _conclusion("together", same, different) else 1


def _conclusion(name: str, same: Sequence[Found], different: Sequence[Found]) -> bool:
    """Print the shares over all systems and pairs; whether they are on target."""
    stops = [_rate(name, same, event, 0.05) for event in (STOPPED, STOPPED_GUARDED, "a guard differs")]
    _rate(name, same, "any measure worse", None)
    open_pairs = [one for one in different if one.events[TOGETHER] < MOST_FOUND * one.draws]
    ratios = [_power(f"{name}: {what}", pairs) for what, pairs in (("all", different), ("open", open_pairs))]
    return all(stops) and ratios[0] >= LEAST_GAIN


def _power(name: str, pairs: Sequence[Found]) -> float:
    alone, together = (sum(one.events[event] for one in pairs) for event in (ALONE, TOGETHER))
    draws = sum(one.draws for one in pairs)
    ratio = alone / together if together else float("inf")
    print(f"{name} {len(pairs)} pairs: power {alone / draws:.1%} alone, {together / draws:.1%} together, {ratio:.2f} ×")
    return ratio


def _rate(name: str, found: Sequence[Found], event: str, target: float | None) -> bool:
    """Print how often an event came up over all systems; returns whether its share is on target, given 3 errors."""
    share = sum(one.events[event] for one in found) / sum(one.draws for one in found)
    error = sqrt(share * (1.0 - share) / sum(one.draws for one in found))
    print(f"{name}: {event}: {share:.1%} ± {error:.1%}" + (f" (at most {target:.0%})" if target else ""))
    return target is None or share - 3.0 * error <= target


def _call(study: Callable[[], Found]) -> Found:
    return study()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
