"""Ninety scheduled runs of many teams: the share of false alarms, and how soon a drop raises one.

{TEAMS} teams with {candidates} candidates and {metrics} metrics, correlated by {ALIKE}, and {ROWS}
rows a night, {NIGHTS} nights. Same rows: every night's answers are as good as the baseline's, row by row.
Fresh rows: the floor is {FLOOR}, where every metric stays, or one metric of one candidate falls to 0.80.

Levels, bets and verdicts come from goldmeter/history and goldmeter/comparison; only git and files are left out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy.special import ndtri

from benchmarks.coverage.cells import generator
from benchmarks.report import Floor, Result, Table
from goldmeter.comparison import candidate_pairs
from goldmeter.comparison.gate import Gate
from goldmeter.comparison.pairing import pair
from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import Candidate, ScoreColumn
from goldmeter.history import decision, floors, store
from goldmeter.history.store import Contents
from goldmeter.metrics.base import Floats
from goldmeter.versions.experiments import Facts

TEAMS, NIGHTS, ROWS = 200, 90, 100
FLOOR = 0.85
CANDIDATES = ("aurora", "borealis")
METRICS = ("accuracy", "f1", "meaning_match", "similarity")
"""The last is a score in bounds, the others pass or fail."""
ALIKE = 0.6
"""Correlation of two metrics of an answer."""
PRIMARY, *GUARDS = METRICS
GATE = Gate(
    primary=PRIMARY,
    metrics=dict.fromkeys(GUARDS, 0.0),
    margin=0.0,
    confidence=0.95,
    fail_on="worse",
    max_unmeasured=0.05,
)
ALPHA = 1.0 - GATE.confidence
START = datetime(2026, 1, 1, 2, tzinfo=UTC)
NAME, COMMIT = "nightly", "c" * 40
EARLY = (0, {7: 0.50, 14: 0.90, 30: 0.99})
LATE = (30, {14: 0.55, 30: 0.99})
"""Good nights at 0.87 before a drop to 0.80, and how often it is to be told within how many nights."""
ONE: Mapping[str, float] = {"accuracy": FLOOR}
TWO: Mapping[str, float] = {"accuracy": FLOOR, "f1": FLOOR}
Seeing = Callable[[pa.Table, str, str, str, float], decision.BaselineLook]


class Told(NamedTuple):
    """How many of so many teams were told something within some nights."""

    what: str
    hits: int
    teams: int
    sense: str
    target: float | None

    @property
    def share(self) -> float:
        """Their share."""
        return self.hits / self.teams


def run() -> Result:
    """The section `nights`."""
    quiet, drops = [*unchanged(TEAMS, NIGHTS)], [*dropped(TEAMS)]
    targets = [
        Floor(each.what, "at most" if each.sense == "at most" else "at least", each.target, "of teams", each.share)
        for each in [*quiet, *drops]
        if each.target is not None
    ]
    facts = {"candidates": len(CANDIDATES), "metrics": len(METRICS)}
    return Result([_table("Nothing changed", quiet), _table("A drop of 5 points", drops)], targets, facts)


def unchanged(teams: int, nights: int) -> Iterator[Told]:
    """How many teams are alarmed although nothing changed: at the same rows, and at fresh ones."""
    same = sum(same_rows(team, nights) < inf for team in range(teams))
    yield Told(f"same rows, {len(CANDIDATES) * len(METRICS)} measures", same, teams, "at most", ALPHA)
    for limits in (ONE, TWO):
        hits = sum(fresh_rows(team, [FLOOR] * nights, limits) < inf for team in range(teams))
        what = f"fresh rows at the floor, {len(limits) * len(CANDIDATES)} floors × candidates"
        yield Told(what, hits, teams, "at most", ALPHA)


def dropped(teams: int) -> Iterator[Told]:
    """How many teams are told of a drop of 5 points of one metric of one candidate, night by night."""
    for (good, targets), limits in ((EARLY, ONE), (LATE, ONE), (EARLY, TWO), (LATE, TWO)):
        rates = [0.87] * good + [0.80] * max(targets)
        days = np.array([fresh_rows(team, rates, limits) for team in range(teams)]) - good
        for within, target in targets.items():
            what = f"after {good} good nights, within {within}; {len(limits) * len(CANDIDATES)} floors × candidates"
            hits = int(((days > 0) & (days <= within)).sum())
            yield Told(what, hits, teams, "at least", target if limits is ONE else None)


def same_rows(team: int, nights: int, seeing: Seeing = decision.next_look) -> float:
    """The first night on which the gate fails although answers are as good as the baseline's; infinite if none."""
    rng = generator("nights", "same rows", team)
    rates = rng.beta(8.0, 2.0, (len(CANDIDATES), ROWS))
    baseline, past = _answers(rng, rates), store.SCHEMA.empty_table()
    for night in range(1, nights + 1):
        look = seeing(past, NAME, COMMIT, f"night {night}", ALPHA)
        pairs = [[pair(old, new)] for old, new in zip(baseline, _answers(rng, rates), strict=True)]
        if GATE.fails(candidate_pairs.compare(pairs, look.gate(GATE), PRIMARY).verdicts):
            return night
        past = _appended(past, decision.compared([_row(night, CANDIDATES[0])], [], "v1", COMMIT, look))
    return inf


def fresh_rows(team: int, rates: Sequence[float], limits: Mapping[str, float]) -> float:
    """The first night with an alarm; rates: night by night the first metric of the first candidate.

    The other metrics and candidates stay at the floor, where false alarms are most likely, if the first does, and
    well above it otherwise.
    """
    rng = generator("nights", "fresh rows", team, *rates, *limits)
    past, seen = store.SCHEMA.empty_table(), np.zeros(0, np.uint64)
    others = FLOOR if set(rates) == {FLOOR} else 0.95
    for night, rate in enumerate(rates, 1):
        share = np.full((len(CANDIDATES), ROWS), others)
        answers = _answers(rng, share, first=rate)
        asked: Contents = rng.integers(0, 2**63, ROWS).astype(np.uint64)
        streams = floors.streams({each.name: each for each in answers}, dict.fromkeys(CANDIDATES, asked), limits, NAME)
        bets = floors.update(streams, past, NAME, seen, ALPHA, START + timedelta(days=night))
        if bets.alarms:
            return night
        seen = np.union1d(seen, bets.contents)
        made = [_row(night, candidate, metric) for candidate in CANDIDATES for metric in limits]
        past = _appended(past, decision.with_floors(made, bets))
    return inf


def _answers(rng: np.random.Generator, rates: Floats, first: float | None = None) -> list[Candidate]:
    """Each candidate's scores; rates: how likely each row passes, shape (candidates, rows)."""
    return [_candidate(rng, name, rate, None if number else first)
            for number, (name, rate) in enumerate(zip(CANDIDATES, rates, strict=True))]  # fmt: skip


def _candidate(rng: np.random.Generator, name: str, rate: Floats, first: float | None) -> Candidate:
    common, own = rng.standard_normal(ROWS), rng.standard_normal((len(METRICS), ROWS))
    latent = sqrt(ALIKE) * common + sqrt(1.0 - ALIKE) * own
    passed = [latent[k] < ndtri(first if first is not None and k == 0 else rate) for k in range(len(METRICS) - 1)]
    score = np.clip(rate - 0.1 * latent[-1], 0.0, 1.0)
    columns = [*map(_binary, METRICS, passed), _column(METRICS[-1], score)]
    positions = np.arange(ROWS)
    return Candidate(name, positions.astype(np.uint64), positions, columns, None, {})


def _binary(name: str, passed: Any) -> ScoreColumn:
    column = _column(name, passed.astype(np.float64))
    return column.with_threshold(1.0, f"{name}|v:1|pass:1")


def _column(name: str, values: Floats) -> ScoreColumn:
    facts = ColumnFacts(name, "lexical", f"{name}|v:1", (0.0, 1.0))
    return ScoreColumn(name, values, np.zeros(ROWS, np.bool_), None, None, facts)


def _row(night: int, candidate: str, metric: str = METRICS[0]) -> store.Row:
    facts = Facts(START + timedelta(days=night), 1.0, "", "", "", 0.0, None)
    known = {"run": f"{NAME}-{night}", "commit": COMMIT, "schedule": NAME, **facts._asdict()}
    return known | {"candidate": candidate, "metric": metric, "signature": "", "n": ROWS, "n_not_asked": 0,
                    "n_failed": 0}  # fmt: skip


def _appended(past: pa.Table, more: Sequence[store.Row]) -> pa.Table:
    return pa.concat_tables([past, store.table(more)]).combine_chunks()


def _table(title: str, told: Sequence[Told]) -> Table:
    return Table(title, tuple({"teams": each.what, "told": each.hits, "of": each.teams} for each in told))
