"""What a scheduled run decides: the same rows against its baseline, fresh rows against its floors; then it is kept."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tasks.comparison import version_scores, wording
from tasks.comparison.compare import Request, compare_versions
from tasks.comparison.gate import Gate
from tasks.errors import ComparisonError, DataError, VersionError
from tasks.monitoring import baseline_looks, floors, records, seen_rows, store
from tasks.monitoring.baseline import check_baseline
from tasks.monitoring.baseline_looks import Look
from tasks.monitoring.floors import Bets, Stream
from tasks.monitoring.store import Row
from tasks.pipeline import params
from tasks.pipeline.schedule import Schedule
from tasks.reporting.settings import Report
from tasks.scores.columns import hashed
from tasks.scores.metrics_report import METRICS
from tasks.versions.experiments import Experiment, Facts
from tasks.versions.version import WORKSPACE, Version, versions

Document = Mapping[str, Any]
Alarms = dict[records.Key, list[str]]
TABLES = (*(f"data/{name}" for name in ("load", *version_scores.SCORES)), METRICS)
"""What a comparison reads."""


class Night(NamedTuple):
    """What a night found. document: the comparison, as `flows.compare --json` has it; None when there is none.

    look, level: of the comparison. alarms: sentences; none when all is well.
    status: 0 fine; 1 worse, or beyond a floor; 2 the comparison can't be made, or can't decide.
    """

    document: Document | None
    look: int | None
    level: float | None
    alarms: list[str]
    status: int


class _Comparison(NamedTuple):
    """A look at the baseline; error: why there is none."""

    commit: str
    look: Look
    document: Document
    error: str | None = None

    @property
    def problems(self) -> list[str]:
        """What is wrong with the comparison as a whole, in words."""
        return [f"No comparison with the baseline: {self.error}"] if self.error else records.undecided(self.document)


def night(name: str, schedule: Schedule, experiment: Experiment, facts: Facts) -> Night:
    """Decide on the run in the working folder, and append it to the history; a run that is there is not added again.

    Raises ParamsError for a baseline that moves and a floor that can't be, before anything is spent; DataError,
    VersionError and LedgerError when what lies here or in the history can't be read.
    """
    commit = None if schedule.baseline is None else check_baseline(name, schedule.baseline)
    gate = params.section(Gate, params.raw(), "gate")
    alpha = share(gate, schedule)
    bet_on = seen_rows.path(name)
    with store.exclusive(bet_on.with_suffix(".lock")):
        run, past, streams = records.rows(experiment, facts, name), store.read(), _streams(name, schedule)
        comparison = None if commit is None else _compare(name, schedule, commit, past, gate, alpha)
        bets = floors.bet(streams, past, name, seen_rows.read(bet_on), alpha, facts.started)
        seen_rows.add(bet_on, bets.contents)
        told = _together(_about(comparison, run), bets.alarms, _untested(streams, bets, past, name, facts))
        store.append(records.with_alarms(records.with_bets(_with(comparison, run, schedule), bets), told))
    return _night(comparison, [sentence for each in told.values() for sentence in each])


def share(gate: Gate, schedule: Schedule) -> float:
    """How often all looks at the baseline, or all bets on floors, may raise a false alarm, however many nights follow.

    It is 1 - gate.confidence: half of it for each where there are both, so that so few teams at most are alarmed
    falsely. It holds while baseline, candidates, floors and signatures stay; what is changed is watched anew.
    """
    alpha = 1.0 - gate.confidence
    return alpha / 2.0 if schedule.baseline is not None and schedule.floors else alpha


def _streams(name: str, schedule: Schedule) -> list[Stream]:
    """Every floor on every candidate in the working folder."""
    if not schedule.floors:
        return []
    with versions([WORKSPACE]) as (here,):
        side = version_scores.side(here)
        candidates = side.candidates({})
        asked = hashed(side.load.whole(["content"])["content"])
    contents = {each: asked[candidate.positions] for each, candidate in candidates.items()}
    return floors.streams(candidates, contents, schedule.floors, name)


def _compare(name: str, schedule: Schedule, commit: str, past: pa.Table, gate: Gate, alpha: float) -> _Comparison:
    """Take the look that is due; one that shows nothing spends nothing."""
    request = Request(flips=params.section(Report, params.raw(), "report").rows_to_look_at)
    with versions([str(schedule.baseline), WORKSPACE]) as (base, here):
        look = baseline_looks.look(past, name, commit, baseline_looks.content(_hashes(here), gate, alpha), alpha)
        try:
            return _Comparison(commit, look, compare_versions(base, here, look.gate(gate), request))
        except (ComparisonError, VersionError, DataError) as error:
            return _Comparison(commit, look, {}, " ".join(str(error).split()))


def _hashes(here: Version) -> dict[str, str | None]:
    """The tables that a comparison reads, each with its hash in dvc.lock; raises VersionError without any."""
    found = here.hashes(TABLES)
    if found[TABLES[0]] is None:
        raise VersionError(f"{here.name}: its dvc.lock has no {TABLES[0]}: `dvc repro` writes it")
    return found


def _with(comparison: _Comparison | None, run: Sequence[Row], schedule: Schedule) -> Sequence[Row]:
    if comparison is None or comparison.error:
        return run
    return records.compared(run, comparison.document, str(schedule.baseline), comparison.commit, comparison.look)


def _untested(each: Sequence[Stream], bets: Bets, past: pa.Table, name: str, facts: Facts) -> Alarms:
    """Floors that watch nothing although the data set is another one than last time, in words."""
    mine = past.filter(pc.equal(past["schedule"], name))["data"]
    return floors.untested(each, bets) if len(mine) and mine[-1].as_py() != facts.data else {}


def _about(comparison: _Comparison | None, run: Sequence[Row]) -> Alarms:
    """What the comparison tells; what is about all of it stands at the run's first row."""
    if comparison is None:
        return {}
    first = next(((row["candidate"], row["metric"]) for row in run), ("", ""))
    lost = {} if comparison.error else records.losses(comparison.document, comparison.look)
    return _together({first: comparison.problems} if comparison.problems else {}, lost)


def _together(*alarms: Alarms) -> Alarms:
    keys = dict.fromkeys(key for each in alarms for key in each)
    return {key: [sentence for each in alarms for sentence in each.get(key, ())] for key in keys}


def _night(comparison: _Comparison | None, alarms: list[str]) -> Night:
    if comparison is None:
        return Night(None, None, None, alarms, 1 if alarms else 0)
    if comparison.error:
        return Night(None, None, None, alarms, 2)
    status = wording.outcome(comparison.document).status
    status = 1 if alarms and status == 0 else status
    return Night(comparison.document, comparison.look.number, comparison.look.level, alarms, status)
