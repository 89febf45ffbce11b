"""What a scheduled run decides: the same rows against its baseline, new rows against its floors; and its records."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.comparison import of_versions
from goldmeter.comparison.gate import Gate
from goldmeter.comparison.of_versions import compare_versions
from goldmeter.errors import ComparisonError, DataError, ParamsError, VersionError
from goldmeter.estimates.column_facts import VALUE
from goldmeter.estimates.columns import Candidate, hashed
from goldmeter.estimates.metrics_report import METRICS, numbers, reading
from goldmeter.history import changes, floors, labelled_answers, store, targets
from goldmeter.history.changes import FreshRows
from goldmeter.history.floors import FloorStream, FloorTests
from goldmeter.history.labelled_answers import compare_options
from goldmeter.history.store import Row
from goldmeter.pipeline import git, params
from goldmeter.pipeline.hashing import sha256
from goldmeter.pipeline.schedule import FIXED, Schedule
from goldmeter.pipeline.tables import Parts
from goldmeter.statistics import alpha_spending
from goldmeter.versions.experiments import NAMESPACE, Experiment, Facts
from goldmeter.versions.version import WORKSPACE, Version, commit_of, versions
from goldmeter.wording import comparison_lines
from goldmeter.wording.alarms import Key, Look, losses, no_longer_worse, undecided
from goldmeter.wording.comparison_document import ComparisonDocument, MeasureEntry, PairEntry
from goldmeter.wording.verdicts import Verdict

# The fewest digits that are taken for the id of a commit.
SHORTEST = 7
_EXPERIMENT = re.compile(NAMESPACE + r"/[0-9a-f]{2}/[0-9a-f]{38}/(?P<name>.+)")


def check_baseline(name: str, baseline: str) -> str:
    """Return the commit of a schedule's baseline: a tag, an experiment, or a commit by its id.

    A tag that is moved is a new baseline, with a new series of looks.

    Args:
        name: The schedule's name, for messages.
        baseline: The version.

    Raises:
        ParamsError: The version is unknown, or is a branch or another name that moves.
    """
    where = f"schedule.{name}.baseline: {baseline}"
    commit = commit_of(baseline)
    if commit is None:
        raise ParamsError(f"{where}: neither git nor DVC knows such a version; expected {FIXED}")
    is_id = len(baseline) >= SHORTEST and commit.startswith(baseline.lower())
    if not (is_id or _is_fixed_ref(baseline) or _is_experiment(baseline)):
        raise ParamsError(f"{where}: expected {FIXED}; this names a branch, or a version by its way from another")
    return commit


def _is_fixed_ref(baseline: str) -> bool:
    full = git.answer("rev-parse", "--verify", "--quiet", "--symbolic-full-name", "--end-of-options", baseline) or ""
    return full.startswith("refs/tags/") or _EXPERIMENT.fullmatch(full) is not None


def _is_experiment(baseline: str) -> bool:
    """Whether it names an experiment, and git resolves it to nothing else."""
    if git.answer("rev-parse", "--verify", "--quiet", "--end-of-options", baseline):
        return False
    refs = git.answer("for-each-ref", "--format=%(refname)", NAMESPACE) or ""
    return any(ref["name"] == baseline for ref in map(_EXPERIMENT.fullmatch, refs.splitlines()) if ref)


class BaselineLook(NamedTuple):
    """A look at a baseline. number: from 1. level: of its decision. content: hash of what it compares."""

    number: int
    level: float
    content: str

    def gate(self, gate: Gate) -> Gate:
        """The gate at this look's level: the probability that any of its differences is wrong.

        It fails on a loss alone: levels fall from look to look, so that most differences are undecided.
        """
        return gate.model_copy(update={"confidence": 1.0 - self.level, "fail_on": "worse"})


def look_content(tables: Mapping[str, str | None], gate: Gate, alpha: float) -> str:
    """Hash what a look compares and by which rules.

    Args:
        tables: Path → hash in dvc.lock, None for a table that is not there.
        gate: The release gate.
        alpha: What all looks may spend together.
    """
    compared = [sorted(tables.items()), gate.model_dump(mode="json"), alpha]
    return sha256(json.dumps(compared, sort_keys=True)).hex()[:32]


def next_look(past: pa.Table, schedule: str, commit: str, content: str, alpha: float) -> BaselineLook:
    """The look that a run of this schedule takes at its baseline.

    A look at the same content as an earlier one repeats its number and level, which spends nothing. A baseline that
    is set again continues with the number after its last look.

    Args:
        past: The history.
        schedule: The schedule's name.
        commit: The baseline.
        content: Hash of what is compared.
        alpha: Probability that any of all looks at the baseline is a false alarm.
    """
    of_baseline = pc.and_(pc.equal(past["schedule"], schedule), pc.equal(past["baseline_commit"], commit))
    earlier = past.filter(pc.and_(of_baseline, pc.is_valid(past["look"])))
    same = earlier.filter(pc.equal(earlier["content"], content))
    number = pc.max(same["look"]).as_py() if len(same) else (pc.max(earlier["look"]).as_py() or 0) + 1
    return BaselineLook(number, alpha_spending(number, alpha), content)


def history_rows(experiment: Experiment, facts: Facts, schedule: str = "") -> list[Row]:
    """One row per (candidate, metric) of the run, without decisions.

    Raises:
        DataError: reports/metrics.json is missing, or not what aggregate writes.
    """
    shared = {"run": experiment.name, "commit": experiment.commit, "schedule": schedule, **facts._asdict()}
    with reading() as document:
        return [
            shared | {"candidate": candidate, "metric": metric} | numbers(entry)
            for candidate, metrics in document["candidates"].items()
            for metric, entry in metrics.items()
        ]


def compared(
    before: Sequence[Row], pairs: Sequence[PairEntry], baseline: str, commit: str, look: BaselineLook
) -> list[Row]:
    """The rows with the look at the baseline and the verdicts; of two measures of a metric the one that counts.

    A secondary measure is stored without a verdict: it decides nothing.
    """
    at_look = {
        "baseline": baseline,
        "baseline_commit": commit,
        "content": look.content,
        "look": look.number,
        "level": look.level,
    }
    measures: dict[Key, tuple[str, MeasureEntry]] = {}
    for pair in pairs:
        for name, measure in pair["measures"].items():
            key = (pair["head"], name.removesuffix(VALUE))
            if key not in measures or _rank(measure) < _rank(measures[key][1]):
                measures[key] = name, measure
    return [row | at_look | _decided(*measures.get((row["candidate"], row["metric"]), ("", None))) for row in before]


def with_floors(before: Sequence[Row], tests: FloorTests) -> list[Row]:
    """The rows with the e-processes of their floors."""
    entries = {key: json.dumps(entry, allow_nan=False) for key, entry in tests.entries.items()}
    return [row | {"floors": entries.get((row["candidate"], row["metric"]))} for row in before]


def with_fresh(before: Sequence[Row], found: FreshRows) -> list[Row]:
    """The rows with the fresh rows of the primary measure."""
    entries = {key: json.dumps(entry, allow_nan=False) for key, entry in found.entries.items()}
    return [row | {"fresh": entries.get((row["candidate"], row["metric"]))} for row in before]


def with_alarms(before: Sequence[Row], alarms: Mapping[Key, Sequence[str]]) -> list[Row]:
    """The rows with the alarms that are about them."""
    texts = {key: "; ".join(sentences) for key, sentences in alarms.items() if sentences}
    return [row | {"alarm": texts.get((row["candidate"], row["metric"]))} for row in before]


def _rank(measure: MeasureEntry) -> tuple[bool, int]:
    return measure["role"] == "secondary", Verdict(measure["verdict"]).gravity


def _decided(name: str, measure: MeasureEntry | None) -> Row:
    if measure is None:
        return {}
    difference = measure["difference"]
    return {
        "measure": name,
        "difference": difference["value"],
        "difference_low": difference["low"],
        "difference_high": difference["high"],
        "verdict": None if measure["role"] == "secondary" else measure["verdict"],
    }


Alarms = dict[Key, list[str]]
LOAD = "data/load"


class RunDecision(NamedTuple):
    """What a scheduled run decided. document: the comparison with the baseline; None when there is none.

    look, level: of the comparison. alarms: sentences; empty when all is well. over: the ends of earlier ones.
    status: 0 fine; 1 worse, or beyond a floor; 2 the comparison can't be made, or can't decide.
    """

    document: ComparisonDocument | None
    look: int | None
    level: float | None
    alarms: list[str]
    status: int
    over: list[str]


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
        run, past, fresh = history_rows(experiment, facts, name), store.read(), _FreshRows.read()
        streams = floors.streams(fresh.candidates, fresh.contents, schedule.floors, name)
        comparison = None if commit is None else _compare(name, schedule, commit, past, gate, alpha)
        tests = floors.update(streams, past, name, store.read_seen(seen_file), alpha, facts.started)
        store.add_seen(seen_file, tests.contents)
        # A floor may be added later, and then tests the rows that were compared with the first nights before.
        compared_file = seen_file.with_suffix(".compared.parquet")
        seen = store.read_seen(compared_file)
        moved = changes.update(*fresh, past, name, seen, 1.0 - gate.confidence, facts.started)
        store.add_seen(compared_file, moved.contents)
        untested = _untested(streams, tests, past, name, facts)
        tested = _together(_comparison_alarms(comparison, run), tests.alarms, moved.alarms, untested)
        missed, no_longer_missed = targets.alarms(past, name, schedule.floors, tested)
        alarms = _together(tested, missed)
        rows = with_fresh(with_floors(_with_comparison(comparison, run, schedule), tests), moved)
        store.append(with_alarms(rows, alarms))
    _add_labels()
    raised = [sentence for sentences in alarms.values() for sentence in sentences]
    over = [*_no_longer_worse(past, name, rows), *tests.over, *moved.over, *no_longer_missed]
    return _decision(comparison, raised, over)


def add_run(experiment: Experiment, facts: Facts) -> None:
    """Append the run in the working folder to the history without a decision; a run that is in it is not added again.

    Raises:
        DataError: reports/metrics.json is missing, or not what aggregate writes.
        LedgerError: The history can't be read or written.
    """
    store.append(history_rows(experiment, facts))
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


class _FreshRows(NamedTuple):
    """The candidates in the working folder, what their rows were asked, and the primary measure."""

    candidates: Mapping[str, Candidate]
    contents: Mapping[str, store.Contents]
    primary: str

    @classmethod
    def read(cls) -> "_FreshRows":
        with reading() as document:
            primary = document["primary"]["measure"] if "primary" in document else ""
        with versions([WORKSPACE]) as (workspace,):
            scores = of_versions.scores_of(workspace)
            candidates = scores.candidates({})
            contents = hashed(scores.load.whole(["content"])["content"])
        return cls(candidates, {name: contents[one.positions] for name, one in candidates.items()}, primary)


def _no_longer_worse(past: pa.Table, name: str, rows: Sequence[Row]) -> list[str]:
    """The losses against the same baseline that were the last verdict of the schedule's runs, and are none in this one.

    A comparison that is undecided ends no loss.
    """

    def of(row: Mapping[str, object]) -> tuple[object, ...]:
        return tuple(row.get(field) for field in ("candidate", "measure", "baseline_commit"))

    decided = {*Verdict} - {Verdict.CANNOT_TELL}
    earlier = past.filter(pc.equal(past["schedule"], name)).to_pylist()
    last = {of(line): line["verdict"] for line in earlier if line["verdict"] in decided}
    return [
        no_longer_worse(row["candidate"], row["measure"], row["baseline"])
        for row in rows
        if last.get(of(row)) == Verdict.WORSE and row["verdict"] in decided - {Verdict.WORSE}
    ]


def _compare(name: str, schedule: Schedule, commit: str, past: pa.Table, gate: Gate, alpha: float) -> _Comparison:
    """Take the look that is due; a look without a comparison spends nothing of alpha."""
    options = compare_options()
    with versions([str(schedule.baseline), WORKSPACE]) as (base, workspace):
        content = look_content(_hashes(workspace), gate, alpha)
        look = next_look(past, name, commit, content, alpha)
        try:
            labelled_answers.add(base.parts("load"))
            return _Comparison(commit, look, compare_versions(base, workspace, look.gate(gate), options))
        except (ComparisonError, VersionError, DataError) as error:
            return _Comparison(commit, look, None, " ".join(str(error).split()))


def _hashes(workspace: Version) -> dict[str, str | None]:
    """The tables that a comparison reads, each with its hash in dvc.lock; raises VersionError without any."""
    scores = (f"data/{name}" for name in of_versions.score_table_names(workspace))
    hashes = workspace.hashes()
    if hashes.get(LOAD) is None:
        raise VersionError(f"{workspace.name}: its dvc.lock has no {LOAD}: `dvc repro` writes it")
    return {out: hashes.get(out) for out in [LOAD, *scores, METRICS]}


def _with_comparison(comparison: _Comparison | None, run: Sequence[Row], schedule: Schedule) -> Sequence[Row]:
    if comparison is None or comparison.document is None:
        return run
    pairs = comparison.document["pairs"]
    return compared(run, pairs, str(schedule.baseline), comparison.commit, comparison.look)


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


def _decision(comparison: _Comparison | None, alarms: list[str], over: list[str]) -> RunDecision:
    if comparison is None or comparison.document is None:
        return RunDecision(None, None, None, alarms, 2 if comparison else int(bool(alarms)), over)
    status = comparison_lines.outcome(comparison.document).status or int(bool(alarms))
    return RunDecision(comparison.document, comparison.look.number, comparison.look.level, alarms, status, over)
