"""A judge that stops early with several metrics, draws, samples, a cascade, a panel, or batches."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from goldmeter.asking import batch_dispatch
from goldmeter.errors import BatchesAtWorkError
from goldmeter.estimates.column_facts import STOPPED
from goldmeter.judging.followed_difference import RateDifference
from goldmeter.judging.stopping import shares_at
from goldmeter.metrics.base import NOT_NEEDED, NOT_SAMPLED
from goldmeter.pipeline.tables import Parts, about, write_part
from goldmeter.statistics.stopping import confidence_sequence
from tests.judge_server import JudgeServer, completion, question, serving, verdict
from tests.judging.test_panel import HONEST, LENIENT, STRICT, panel
from tests.judging.test_stopping import STOP, answers
from tests.own_judge import METRICS, pleased, write_prompt
from tests.test_judge import HOW, column, judged, params, rows, server

__all__ = ["server"]
BATCH = HOW.model_copy(update={"batch": True})


def sequence(scores: list[float | None]) -> Any:
    """The limits of the mean of scores from 0 to 1, of those that are known."""
    known = np.array([score for score in scores if score is not None], np.float64)
    return pytest.approx(confidence_sequence(known, np.ones(len(known)), 1.0), abs=1e-9)


def passing(table: pa.Table, name: str) -> list[float | None]:
    """Of each row 1 if it passes, 0 if it fails, None without a verdict."""
    return [{"pass": 1.0, "fail": 0.0}.get(result) for result in column(table, f"{name}_result")]


def test_other_metrics_have_limits_at_the_stop_of_the_one_that_decides(
    server: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_prompt()
    server.script = pleased
    own = {name: METRICS[name] for name in ("politeness", "tone")}
    said: list[tuple[str, str | None]] = [
        (f"q{i}", ("London" if i % 10 > 2 else "Paris") + ", please" * (i % 3 > 0)) for i in range(300)
    ]

    table = judged(rows(tmp_path / "rows", said), params(server, metrics=own, **STOP), tmp_path / "store")

    stopped = about(table.schema)[STOPPED]
    limits = {name: by_system["a"] for name, by_system in stopped["limits"].items()}
    asked = 300 - stopped["rows_left"]
    assert asked < 300
    assert len(server.calls) == 3 * asked
    assert stopped["calls_left"] == 3 * stopped["rows_left"]
    assert {name for name in limits if "passing" in limits[name]} == {"meaning_match", "politeness", "tone"}
    for name in ("meaning_match", "politeness", "tone"):
        assert limits[name]["passing"] == sequence(passing(table, name))
    rude = [None if score is None else 1.0 - score for score in passing(table, "tone")]
    assert limits["tone_rude"]["value"] == sequence(rude)
    scaled = [None if score is None else (score - 1.0) / 4.0 for score in column(table, "politeness")]
    assert [(limit - 1.0) / 4.0 for limit in limits["politeness"]["value"]] == sequence(scaled)


def two_of_three(body: dict[str, Any]) -> Any:
    """True in two of three draws."""
    return completion(json.dumps({"nonce": question(body)[0], "reason": "r", "verdict": body["seed"] % 3 > 0}))


def test_with_draws_the_mean_of_the_verdict_is_followed_and_a_majority_passes(
    server: JudgeServer, tmp_path: Path
) -> None:
    server.script = two_of_three
    options = params(server, draws=3, stop={"meaning_match": 0.85})

    table = judged(rows(tmp_path / "rows", answers(300, 10)), options, tmp_path / "store")

    stopped = about(table.schema)[STOPPED]
    limits, asked = stopped["limits"]["meaning_match"]["a"], 300 - stopped["rows_left"]
    assert len(server.calls) == 3 * asked < 900
    assert limits["value"] == sequence([2 / 3] * asked)
    assert limits["passing"] == sequence([1.0] * asked)
    assert stopped["decided"]


def test_with_draws_two_systems_are_compared_by_majorities(server: JudgeServer, tmp_path: Path) -> None:
    server.script = lambda body: (
        two_of_three(body) if "Paris" in question(body)[1]["output"] else completion(verdict(body))
    )
    parts = rows(tmp_path / "rows", answers(150, 10), answers(150, 0))
    names = pa.array(["b"] * 150)
    write_part(parts.part(1).set_column(1, "candidate", names), tmp_path / "rows", 1)

    options = params(server, draws=3, stop={"meaning_match": "difference"})
    table = judged(Parts(tmp_path / "rows"), options, tmp_path / "store")

    stopped = about(table.schema)[STOPPED]
    n = (300 - stopped["rows_left"]) / 2
    majorities = RateDifference(np.full(int(n), -1.0), np.ones(int(n)), n, n, np.empty(0), 1.0, True, 0.95)
    assert stopped["decided"]
    assert stopped["looks"][-1]["limits"]["b − a"] == pytest.approx(majorities.shown, abs=1e-6)


def test_a_second_question_is_part_of_no_rate(server: JudgeServer, tmp_path: Path) -> None:
    table = judged(rows(tmp_path / "rows", answers(300, 3)), params(server, retest=0.3, **STOP), tmp_path / "store")

    stopped = about(table.schema)[STOPPED]
    asked, twice = 300 - stopped["rows_left"], column(table, "judge_agree").count(True)
    assert len(server.calls) == asked + twice
    assert stopped["calls_left"] > stopped["rows_left"] > twice > 0
    assert stopped["limits"]["meaning_match"]["a"]["value"] == sequence(column(table, "meaning_match"))


def test_rows_that_are_not_in_the_sample_are_none_that_are_left(server: JudgeServer, tmp_path: Path) -> None:
    options = params(server, sampling_rate=0.5, **STOP)

    table = judged(rows(tmp_path / "rows", answers(600, 3)), options, tmp_path / "store")

    statuses, stopped = column(table, "judge_status"), about(table.schema)[STOPPED]
    assert stopped["rows"] == 600 - statuses.count(NOT_SAMPLED) < 400
    assert stopped["rows_left"] == statuses.count(NOT_NEEDED) == stopped["rows"] - len(server.calls) > 0


def test_what_the_offline_judge_decides_needs_no_call(server: JudgeServer, tmp_path: Path) -> None:
    said = ["It is Paris.", "I am not sure, it may be Paris or Lyon.", "London"]
    parts = rows(tmp_path / "rows", [(f"q{i}", said[i % 3]) for i in range(300)], [("e1", " "), ("e2", None)])
    options = params(server, provider="cascade", band=[0.02, 0.98], **STOP)

    table = judged(parts, options, tmp_path / "store")

    stopped, by = about(table.schema)[STOPPED], column(table, "judged_by")
    asked = stopped["rows"] - stopped["rows_left"]
    assert stopped["decided"]
    assert stopped["rows"] == 301
    assert len(server.calls) == by.count("language model") < asked < 301
    assert stopped["calls_left"] + len(server.calls) == 100
    assert stopped["limits"]["meaning_match"]["a"]["value"] == sequence(column(table, "meaning_match"))
    assert judged(parts, options, tmp_path / "store").equals(table)


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[JudgeServer]]:
    monkeypatch.setenv("JUDGE_KEY", "sk-canary-78")
    with ExitStack() as stack:
        yield [stack.enter_context(serving()) for _ in range(3)]


def test_of_a_panel_the_pooled_verdict_decides(
    servers: list[JudgeServer], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for one, behaviour in zip(servers, (HONEST, LENIENT, STRICT), strict=True):
        one.script = behaviour

    table = judged(rows(tmp_path / "rows", answers(300, 3)), panel(*servers, **STOP), tmp_path / "store")

    stopped = about(table.schema)[STOPPED]
    asked = 300 - stopped["rows_left"]
    assert [len(one.calls) for one in servers] == [asked] * 3
    assert stopped["calls_left"] == 3 * stopped["rows_left"] > 0
    assert [*stopped["tokens_left"]] == ["m0", "m1", "m2"]
    assert stopped["limits"]["meaning_match"]["a"]["value"] == sequence(column(table, "meaning_match"))
    assert f"{stopped['calls_left']:,} calls, about " in capsys.readouterr().err


def test_each_block_is_a_batch_and_a_run_that_ends_before_costs_nothing_twice(
    server: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"FIRST_PAUSE": 0.01, "LONGEST_PAUSE": 0.02, "CERTAIN": 0.1}.items():
        monkeypatch.setattr(batch_dispatch, name, value)
    parts, options = rows(tmp_path / "rows", answers(700, 5)), params(server, **STOP)
    how = BATCH.model_copy(update={"batch_wait": 0.0})
    with pytest.raises(BatchesAtWorkError):
        judged(parts, options, tmp_path / "store", how=how)

    table = judged(Parts(tmp_path / "rows"), options, tmp_path / "store", how=BATCH)

    stopped = about(table.schema)[STOPPED]
    looks = [look["rows"] for look in stopped["looks"]]
    sizes = np.diff([0, *looks])
    assert len(looks) == len(server.batches.batches) < len(shares_at(700, by_batch=True)) == 6
    assert all(later > 0.7 * sum(sizes[: place + 1]) for place, later in enumerate(sizes[1:]))
    assert set(server.batches.asked.values()) == {1}
    assert server.batches.asked.total() + len(server.calls) == 700 - stopped["rows_left"] == looks[-1]
    assert stopped["decided"]
