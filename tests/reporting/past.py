"""Histories as goldmeter/history writes them."""

import json
import random
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from goldmeter.history.store import SCHEMA

FIRST = datetime(2026, 9, 1, 2, tzinfo=UTC)
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)
METRICS = {
    "label": 0.81,
    "accuracy": 0.55,
    "bleu": 0.31,
    "exact_match": 0.21,
    "f1": 0.5,
    "gleu": 0.33,
    "meteor": 0.47,
    "non_llm_string_similarity": 0.44,
    "rouge_f1_score": 0.52,
    "rouge_precision": 0.58,
    "rouge_recall": 0.56,
    "string_presence": 0.62,
    "reference_match": 0.6,
    "semantic_similarity": 0.64,
    "meaning_match": 0.75,
}
UNGATED = {"rouge_precision", "rouge_recall"}


def entry(started=FIRST, candidate="aurora", metric="f1", rate=0.5, **others):
    """One row of the history; rate None: of a metric without a pass rate."""
    row = {
        "run": f"nightly-{started:%Y-%m-%d-%H%M%S}",
        "schedule": "nightly",
        "commit": "c" * 40,
        "code": "d" * 40,
        "data": "0a1b2c3d4e5f",
        "params": "e" * 40,
        "started": started,
        "seconds": 75.0,
        "cost": 0.0,
        "candidate": candidate,
        "metric": metric,
        "signature": f"{metric}|v:1",
        "value": 0.4,
        "low": 0.35,
        "high": 0.45,
        "n": 260,
        "n_not_asked": 0,
        "n_failed": 0,
    }
    if rate is not None:
        row |= {"pass_rate": rate, "pass_rate_low": rate - 0.05, "pass_rate_high": rate + 0.05, "threshold": 0.5}
    return row | others


def past(*rows):
    """A history of these rows."""
    return pa.Table.from_pylist([*rows], SCHEMA)


def floors(measure="f1", floor=0.45):
    """What the history keeps of a bet on a floor."""
    state = [floor, 1, 10, [0.0] * 7, 0.0, 0.0]
    return json.dumps({measure: {"floor": floor, "signature": f"{measure}|v:1", "state": state, "rows": 10}})


def nights(count=90, seed=7, dropped=None, candidates=("aurora", "borealis")):
    """Rows of nights of two candidates and fifteen metrics, against baseline v1.2; aurora drops on night `dropped`.

    The judge changes its model on night 30, and meaning_match has a floor.
    """
    chance = random.Random(seed)  # noqa: S311 - no secret
    rows = []
    for night in range(count):
        for place, candidate in enumerate(candidates):
            fallen = place == 0 and dropped is not None and night >= dropped
            for metric, level in METRICS.items():
                rate = level + 0.06 * place - 0.09 * fallen + chance.gauss(0, 0.008)
                rows.append(
                    _night(FIRST + night * DAY, candidate, metric, rate, level + 0.06 * place, night >= 30, fallen)
                )
    return rows


def _night(started, candidate, metric, rate, before, newer, fallen):
    others = {"value": rate - 0.1, "low": rate - 0.13, "high": rate - 0.07}
    if metric == "meaning_match":
        others |= {"signature": f"meaning_match|provider:offline|model:{'b2c3' if newer else '37a0'}|v:1"}
        others |= {"floors": floors(metric, 0.72)}
    if metric in UNGATED:
        return entry(started, candidate, metric, None, **others)
    others |= {"measure": metric, "baseline": "v1.2", "baseline_commit": "f" * 40, "look": 1, "level": 0.02}
    difference = rate - before + 0.01
    limits = {"difference_low": difference - 0.04, "difference_high": difference + 0.04}
    others |= {"difference": difference, "verdict": "worse" if fallen else "cannot tell", **limits}
    if fallen and metric in {"meaning_match", "label", "f1"}:
        others["alarm"] = f"{candidate}: {metric} is worse than in v1.2, {difference:+.3f}."
    return entry(started, candidate, metric, rate, **others)
