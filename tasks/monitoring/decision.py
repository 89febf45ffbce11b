"""What a scheduled run decides: the same rows against its baseline, new rows against its floors."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tasks.comparison import version_scores
from tasks.comparison.compare import compare_versions
from tasks.comparison.gate import Gate
from tasks.errors import ComparisonError, DataError, VersionError
from tasks.monitoring import baseline, floors, labelled_answers, records, store
from tasks.monitoring.baseline import BaselineLook, check_baseline
from tasks.monitoring.floors import FloorStream, FloorTests
from tasks.monitoring.labelled_answers import compare_options
from tasks.monitoring.store import Row
from tasks.pipeline import params
from tasks.pipeline.schedule import Schedule
from tasks.pipeline.tables import Parts
from tasks.scores.columns import hashed
from tasks.scores.metrics_report import METRICS
from tasks.versions.experiments import Experiment, Facts
from tasks.versions.version import WORKSPACE, Version, versions
from tasks.wording import comparison_lines
from tasks.wording.alarms import Key, Look, losses, undecided
from tasks.wording.comparison_document import ComparisonDocument

Alarms = dict[Key, list[str]]
LOAD = "data/load"


class RunDecision(NamedTuple):
    """What a scheduled run decided. document: the comparison with the baseline; None when there is none.

    look, level: of the comparison. alarms: sentences; empty when all is well.
    status: 0 fine; 1 worse, or beyond a floor; 2 the comparison can't be made, or can't decide.
    """

    document: ComparisonDocument | None
    look: int | None
    level: float | None
    alarms: list[str]
    status: int


class _Comparison(NamedTuple):
    """A look at the baseline. document: None when there is no comparison; error: the reason."""

    commit: str
    look: BaselineLook
    document: ComparisonDocument | None
    error: str = ""

    @property
    def problems(self) -> list[str]:
        """What is wrong with the comparison as a whole, in words."""
        if self.document is None:
            return [f"No comparison with the baseline: {self.error}"]
        return undecided(self.document)


def decide(name: str, schedule: Schedule, experiment: Experiment, facts: Facts) -> RunDecision:
    """Decide on the run in the working folder and append it to the history; a run that is in it is not added again.

    Args:
        name: The schedule's name in params.yaml.
        schedule: Its settings.
        experiment: The recorded run.
        facts: Its commit, hashes, times and cost.

    Raises:
        ParamsError: The baseline is a name that moves, or a floor can't be tested.
        DataError, VersionError, LedgerError: The tables, the baseline or the history can't be read.
    """
    commit = None if schedule.baseline is None else check_baseline(name, schedule.baseline)
    gate = params.section(Gate, params.raw(), "gate")
    alpha = alpha_share(gate, schedule)
    seen_file = store.seen_path(name)
    with store.exclusive(seen_file.with_suffix(".lock")):
        run, past, streams = records.rows(experiment, facts, name), store.read(), _streams(name, schedule)
        comparison = None if commit is None else _compare(name, schedule, commit, past, gate, alpha)
        tests = floors.update(streams, past, name, store.read_seen(seen_file), alpha, facts.started)
        store.add_seen(seen_file, tests.contents)
        untested = _untested(streams, tests, past, name, facts)
        alarms = _together(_comparison_alarms(comparison, run), tests.alarms, untested)
        rows = records.with_floors(_with_comparison(comparison, run, schedule), tests)
        store.append(records.with_alarms(rows, alarms))
    _add_labels()
    return _decision(comparison, [sentence for sentences in alarms.values() for sentence in sentences])


def add_run(experiment: Experiment, facts: Facts) -> None:
    """Append the run in the working folder to the history without a decision; a run that is in it is not added again.

    Raises:
        DataError: reports/metrics.json is missing, or not what aggregate writes.
        LedgerError: The history can't be read or written.
    """
    store.append(records.rows(experiment, facts))
    _add_labels()


def alpha_share(gate: Gate, schedule: Schedule) -> float:
    """The probability of any false alarm in all looks at the baseline, or in all tests of floors, however many runs.

    It is 1 - gate.confidence, halved when the schedule has both a baseline and floors. It holds while baseline,
    candidates, floors and signatures stay the same: a test of changed ones starts anew.
    """
    alpha = 1.0 - gate.confidence
    return alpha / 2.0 if schedule.baseline is not None and schedule.floors else alpha


def _add_labels() -> None:
    """Add the labelled answers of the run in the working folder; a pipeline without a load stage has none."""
    load = Parts(Path(LOAD))
    if load.folder.is_dir():
        labelled_answers.add(load)


def _streams(name: str, schedule: Schedule) -> list[FloorStream]:
    """Every floor on every candidate in the working folder."""
    if not schedule.floors:
        return []
    with versions([WORKSPACE]) as (workspace,):
        scores = version_scores.scores_of(workspace)
        candidates = scores.candidates({})
        contents = hashed(scores.load.whole(["content"])["content"])
    by_candidate = {name: contents[candidate.positions] for name, candidate in candidates.items()}
    return floors.streams(candidates, by_candidate, schedule.floors, name)


def _compare(name: str, schedule: Schedule, commit: str, past: pa.Table, gate: Gate, alpha: float) -> _Comparison:
    """Take the look that is due; a look without a comparison spends nothing of alpha."""
    options = compare_options()
    with versions([str(schedule.baseline), WORKSPACE]) as (base, workspace):
        content = baseline.content(_hashes(workspace), gate, alpha)
        look = baseline.next_look(past, name, commit, content, alpha)
        try:
            labelled_answers.add(base.parts("load"))
            return _Comparison(commit, look, compare_versions(base, workspace, look.gate(gate), options))
        except (ComparisonError, VersionError, DataError) as error:
            return _Comparison(commit, look, None, " ".join(str(error).split()))


def _hashes(workspace: Version) -> dict[str, str | None]:
    """The tables that a comparison reads, each with its hash in dvc.lock; raises VersionError without any."""
    scores = (f"data/{name}" for name in version_scores.score_table_names(workspace))
    hashes = workspace.hashes()
    if hashes.get(LOAD) is None:
        raise VersionError(f"{workspace.name}: its dvc.lock has no {LOAD}: `dvc repro` writes it")
    return {out: hashes.get(out) for out in [LOAD, *scores, METRICS]}


def _with_comparison(comparison: _Comparison | None, run: Sequence[Row], schedule: Schedule) -> Sequence[Row]:
    if comparison is None or comparison.document is None:
        return run
    pairs = comparison.document["pairs"]
    return records.compared(run, pairs, str(schedule.baseline), comparison.commit, comparison.look)


def _untested(streams: Sequence[FloorStream], tests: FloorTests, past: pa.Table, name: str, facts: Facts) -> Alarms:
    """Floors without new rows, although the data set changed since the schedule's last run, in words."""
    earlier = past.filter(pc.equal(past["schedule"], name))["data"]
    return floors.untested(streams, tests) if len(earlier) and earlier[-1].as_py() != facts.data else {}


def _comparison_alarms(comparison: _Comparison | None, run: Sequence[Row]) -> Alarms:
    """The alarms of the comparison; those about all of it belong to the run's first row."""
    if comparison is None:
        return {}
    first = next(((row["candidate"], row["metric"]) for row in run), ("", ""))
    worse = {}
    if comparison.document is not None:
        worse = losses(comparison.document, Look(comparison.look.number, comparison.look.level))
    return _together({first: comparison.problems} if comparison.problems else {}, worse)


def _together(*alarms: Alarms) -> Alarms:
    keys = dict.fromkeys(key for part in alarms for key in part)
    return {key: [sentence for part in alarms for sentence in part.get(key, ())] for key in keys}


def _decision(comparison: _Comparison | None, alarms: list[str]) -> RunDecision:
    if comparison is None or comparison.document is None:
        return RunDecision(None, None, None, alarms, 2 if comparison else int(bool(alarms)))
    status = comparison_lines.outcome(comparison.document).status or int(bool(alarms))
    return RunDecision(comparison.document, comparison.look.number, comparison.look.level, alarms, status)
