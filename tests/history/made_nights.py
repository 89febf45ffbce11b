"""Rows of a history, candidates in memory, and a night in a project under git and DVC."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import Candidate, ScoreColumn
from goldmeter.history import decision
from goldmeter.history.decision import RunDecision
from goldmeter.pipeline import contents, params
from goldmeter.pipeline.schedule import Schedule
from goldmeter.pipeline.yaml import dump_yaml
from goldmeter.versions.experiments import Experiment, Facts
from tests.comparison.sample import Row, version

FIRST = datetime(2026, 11, 1, 2, tzinfo=UTC)
NUMBERS = {"value": 0.5, "low": 0.4, "high": 0.6, "n": 10, "n_not_asked": 0, "n_failed": 0, "signature": "f1|v:1"}


def facts(night: int = 1) -> Facts:
    return Facts(FIRST + timedelta(days=night - 1), 60.0, "d" * 32, "p" * 40, "c" * 40, 0.0, None)


def experiment(night: int = 1) -> Experiment:
    return Experiment(f"nightly-{night}", f"{night:040x}")


def line(night: int = 1, **others: Any) -> dict[str, Any]:
    """A row of the history."""
    known = {"run": experiment(night).name, "commit": experiment(night).commit, "schedule": "nightly"}
    return known | facts(night)._asdict() | {"candidate": "aurora", "metric": "f1"} | NUMBERS | others


def candidate(
    values: Sequence[float], name: str = "aurora", groups: Sequence[int] | None = None, **changed: Any
) -> Candidate:
    """A candidate with the metric `f1`, whose pass rate and value have these numbers; NaN is unmeasured."""
    numbers = np.asarray(values, np.float64)
    described = replace(ColumnFacts("f1", "lexical", "f1|v:1", (0.0, 1.0)), **changed)
    column = ScoreColumn("f1", numbers, np.isnan(numbers), None, None, described).with_threshold(
        0.5, f"{described.signature}≥.5"
    )
    positions = np.arange(len(numbers))
    clusters = None if groups is None else np.asarray(groups, np.intp)
    return Candidate(name, positions.astype(np.uint64), positions, [column], clusters, {})


def schedule(**options: Any) -> Schedule:
    """The schedule of params.yaml with other options."""
    return params.schedules()["nightly"].model_copy(update=options)


def run_night(
    rows: Sequence[Row], night: int, options: Schedule, name: str = "nightly", data: str = "d" * 32
) -> RunDecision:
    """A night in the working folder, as if its stages had made the tables of these rows."""
    score(rows)
    return decision.decide(name, options, experiment(night), facts(night)._replace(data=data))


def score(rows: Sequence[Row], **made: Any) -> None:
    """As if the stages had made the tables of these rows, and aggregate its report."""
    version(Path(), rows, **made)
    outs = [
        {"path": f"data/{name}", "md5": contents.dvc_hash(Path("data", name))}
        for name in ("load", "normalize", "lexical")
    ]
    lock = {"schema": "2.0", "stages": {"score": {"cmd": "echo", "outs": outs}}}
    Path("dvc.lock").write_text(dump_yaml(lock), encoding="utf-8")
    write_metrics({each["candidate"]: ["exact_match", "f1", "bleu"] for each in rows})


def write_metrics(candidates: Mapping[str, Sequence[str]]) -> None:
    rate = {"value": 0.5, "low": 0.4, "high": 0.6, "threshold": 0.5, "signature": "f1|v:1≥.5"}
    tree = {each: {name: NUMBERS | {"pass_rate": rate} for name in names} for each, names in candidates.items()}
    Path("reports").mkdir(exist_ok=True)
    Path("reports/metrics.json").write_text(json.dumps({"schema": 1, "candidates": tree, "thresholds": {}}), "utf-8")
