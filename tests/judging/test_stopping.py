"""A judge that stops when its rate is decided: what it asks, what it leaves, and what the report says of that."""

import json
import re
import signal
import time
from collections.abc import Iterator
from contextlib import chdir
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import pytest

from goldmeter.dataset.description import LABEL
from goldmeter.errors import ParamsError
from goldmeter.estimates import metrics_report
from goldmeter.estimates.column_facts import STOPPED, statement
from goldmeter.estimates.estimate_rows import BY_LOOKS
from goldmeter.history.decision import history_rows
from goldmeter.judging import preflight
from goldmeter.judging.verdict_table import judge
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.metrics.base import NOT_NEEDED
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.pipeline.params import check
from goldmeter.pipeline.run import RunJudge
from goldmeter.pipeline.tables import Parts, about, describe, write_part
from goldmeter.runner import run
from tests import small_project
from tests.history.made_nights import experiment, facts
from tests.judge_server import JudgeServer, Reply, completion, verdict
from tests.own_judge import METRICS, pleased, write_prompt
from tests.small_project import edit, write
from tests.test_judge import HOW, column, judged, params, rows, server
from tests.test_report import words_of

__all__ = ["server"]
STOP = {"stop": {"meaning_match": 0.8}}


def answers(count: int, right: int) -> list[tuple[str, str | None]]:
    """Of any ten answers, so many are right."""
    return [(f"q{i}", "Paris" if i % 10 < right else "London") for i in range(count)]


def test_it_stops_when_the_target_is_missed_for_certain(server: JudgeServer, tmp_path: Path) -> None:
    parts = rows(tmp_path / "rows", answers(200, 3), answers(400, 3)[200:])

    table = judged(parts, params(server, **STOP), tmp_path / "store")

    statuses, stopped = column(table, "judge_status"), about(table.schema)[STOPPED]
    assert statuses.count("answered") == len(server.calls) < 200
    assert statuses.count(NOT_NEEDED) == stopped["rows_left"] == stopped["calls_left"] == 400 - len(server.calls)
    assert stopped["decided"]
    assert stopped["limits"]["meaning_match"]["a"]["value"][1] < 0.8


def test_it_stops_when_the_target_is_met_for_certain_and_says_what_was_saved(
    server: JudgeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = judged(
        rows(tmp_path / "rows", answers(400, 10)), params(server, stop={"meaning_match": 0.7}), tmp_path / "s"
    )

    stopped = about(table.schema)[STOPPED]
    assert stopped["decided"]
    assert stopped["limits"]["meaning_match"]["a"]["value"][0] > 0.7
    assert f"stopped after {len(server.calls)} of 400 rows (judge.stop); {stopped['calls_left']} calls, " in (
        capsys.readouterr().err
    )


def test_a_metric_of_ones_own_stops_by_its_pass_rate(
    server: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_prompt()
    server.script = pleased
    asked = {"metrics": {"politeness": METRICS["politeness"]}, "meaning_match": None, "stop": {"politeness": 0.9}}
    polite = [(f"q{i}", "Paris, please" if i % 2 else "Paris") for i in range(200)]

    table = judged(rows(tmp_path / "rows", polite), params(server, **asked), tmp_path / "store")

    stopped = about(table.schema)[STOPPED]
    assert stopped["decided"]
    assert stopped["limits"]["politeness"]["a"]["passing"][1] < 0.9
    assert column(table, "politeness_result").count("unmeasured") == stopped["rows_left"] == 200 - len(server.calls)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    small_project.make(tmp_path)
    with chdir(tmp_path):
        yield tmp_path


def write_rows(count: int, right: int, group: int = 1) -> None:
    """Questions in groups, of any ten of which one system answers so many."""
    write(
        Path(),
        [
            {"id": f"q{i}", "question": f"Question {i}?", "references": [f"answer {i}"], "thread": f"t{i // group}",
             "topic": "xy"[i % 2], "language": "en", "aurora": f"answer {i}" if i % 10 < right else f"mistake {i}",
             "weight": 0.25 + i // group % 3}
            for i in range(count)
        ],
    )  # fmt: skip


def settle(url: str, **judge: Any) -> None:
    def change(content: dict[str, Any]) -> None:
        content["dataset"]["candidates"] = {"aurora": {"response": "aurora"}}
        content["lexical"], content["semantic"] = {"exact_match": {}}, {}
        content["judge"].update(provider="openai", base_url=url, model="m", api_key_env=None, aliases="none.csv")
        content["judge"].update(judge)
        content["run"]["judge"]["prices"] = {"m": {"input": 1000.0, "output": 0.0}}

    edit(change)


@pytest.mark.usefixtures("project")
def test_the_report_shows_the_limits_of_the_sequence_and_what_was_saved(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(400, 3, group=2)
    settle(server.url, **STOP)
    edit(lambda content: content["dataset"].update(weight="weight"))
    preflight.show()
    assert capsys.readouterr().out.startswith("judge: at most 420 calls to m ")

    for stage in stages():
        run(stage)
    capsys.readouterr()

    document = json.loads(Path(metrics_report.METRICS).read_text(encoding="utf-8"))
    verdicts, stopped = document["candidates"]["aurora"]["meaning_match"], document["stopped"]
    assert [verdicts["low"], verdicts["high"]] == pytest.approx(
        stopped["limits"]["meaning_match"]["aurora"]["value"], abs=1e-6
    )
    weighted = verdicts["weighted"]
    by_weight = stopped["limits"]["meaning_match"]["aurora"]["weighted"]
    assert [weighted["low"], weighted["high"]] == pytest.approx(by_weight, abs=1e-6)
    assert verdicts["n"] + stopped["rows_left"] == 400
    assert verdicts["n_not_asked"] == stopped["rows_left"]
    assert verdicts["n_failed"] == 0
    statuses = column(Parts(Path("data/judge")).whole(), "judge_status")
    assert statuses[::2] == statuses[1::2]
    assert [(one["low"], one["high"]) for one in verdicts["slices"]["topic"].values()] == [(0.0, 1.0)] * 2
    assert document["targets"]["aurora"]["meaning_match"] == {"target": 0.8, "verdict": "not met"}
    [night] = [row for row in history_rows(experiment(), facts()) if row["metric"] == "meaning_match"]
    assert (night["low"], night["high"], night["n"]) == (verdicts["low"], verdicts["high"], verdicts["n"])
    assert (night["n_failed"], night["n_not_asked"]) == (0, stopped["rows_left"])
    preflight.show()
    assert capsys.readouterr().out == "judge: no call: the ledger has every verdict\n"
    page = Path("reports/index.html").read_text(encoding="utf-8")
    assert f"{stopped['calls_left']} calls were not needed" in page
    assert f"{verdicts['n']} of 400 answers" in words_of(page)
    assert "not needed (judge.stop)" in page
    assert "aurora is certain to miss it." in page
    assert [*stopped["looks"][-1]["limits"]["aurora"]] == pytest.approx(
        [document["headlines"]["aurora"][end] for end in ("low", "high")], abs=1e-6
    )


def write_systems(**right: int) -> None:
    """300 questions with two draws each, of any ten of which the systems answer so many."""
    write(
        Path(),
        [
            {"id": f"q{i // 2}", "question": f"Question {i // 2}?", "references": [f"answer {i // 2}"], "draw": i % 2,
             "thread": None, "topic": "x", "language": "en"}
            | {name: f"answer {i // 2}" if i % 10 < known else f"mistake {i}" for name, known in right.items()}
            for i in range(600)
        ],
    )  # fmt: skip


@pytest.mark.usefixtures("project")
def test_it_stops_when_one_system_is_better_for_certain_and_the_page_says_which_by_the_same_limits(
    server: JudgeServer,
) -> None:
    systems = {"aurora": 9, "borealis": 4, "cirrus": 4}
    write_systems(**systems)
    settle(server.url, stop={"meaning_match": "difference"})
    every = {name: {"response": name} for name in systems}
    edit(lambda content: content["dataset"].update(candidates=every, draw="draw"))

    for stage in stages():
        run(stage)

    document = json.loads(Path(metrics_report.METRICS).read_text(encoding="utf-8"))
    stopped, pair = document["stopped"], document["comparisons"][0]
    assert stopped["decided"]
    assert "target" not in stopped
    assert stopped["rows_left"] > 1200
    [limits] = [look["limits"]["borealis − aurora"] for look in stopped["looks"][-1:]]
    difference = pair["measures"]["meaning_match"]
    assert (difference["verdict"], difference["n"]) == ("worse", (1800 - stopped["rows_left"]) / 3)
    assert limits == pytest.approx([difference["difference"][end] for end in ("low", "high")], abs=1e-6)
    assert limits[1] < 0.0
    assert difference["difference"]["method"].startswith(BY_LOOKS)
    aurora = document["candidates"]["aurora"]["meaning_match"]
    whole = stopped["limits"]["meaning_match"]["aurora"]["value"]
    for one in (aurora, aurora["pass_at"]["1"]):
        assert [one["low"], one["high"]] == pytest.approx(whole, abs=1e-6)
        assert one["method"] == BY_LOOKS
    assert aurora["pass_at"]["1"]["n_questions"] == difference["n"] / 2
    page = Path("reports/index.html").read_text(encoding="utf-8")
    assert "It is better than every other candidate." in words_of(page)
    assert "until which is best was decided (judge.stop)" in words_of(page)


def stop_by(url: str, folder: Path) -> None:
    judged(Parts(folder / "rows"), params(base_url=url, **STOP), folder / "store")


@pytest.mark.long
def test_a_run_that_is_killed_pays_each_call_once_and_going_on_pays_the_rest(
    server: JudgeServer, tmp_path: Path
) -> None:
    parts, context, rng = rows(tmp_path / "rows", answers(400, 6)), get_context("forkserver"), Random(5)  # noqa: S311
    server.script = lambda body: Reply(200, completion(verdict(body))[1], delay=0.02)
    context.set_forkserver_preload([__name__])
    for _ in range(3):
        moment = len(server.calls) + rng.randint(5, 25)
        process = context.Process(target=stop_by, args=(server.url, tmp_path))
        process.start()
        while process.is_alive() and len(server.calls) < moment:
            time.sleep(0.001)
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
    under_way = 3 * HOW.concurrency  # their replies came after the kill

    table = judged(parts, params(server, **STOP), tmp_path / "store")

    stopped, paid = about(table.schema)[STOPPED], len(server.calls)
    asked = 400 - stopped["rows_left"]
    assert stopped["calls_left"] == stopped["rows_left"] > 0
    assert asked <= paid <= asked + under_way
    assert judged(parts, params(server, **STOP), tmp_path / "store").equals(table)
    assert len(server.calls) == paid
    whole = judged(parts, params(server), tmp_path / "store")
    assert set(column(whole, "judge_status")) == {"answered"}
    assert len(server.calls) == paid + stopped["calls_left"]
    assert judged(parts, params(server, **STOP), tmp_path / "store").equals(table)


def test_it_stops_when_the_judges_own_error_leaves_the_target_open(server: JudgeServer, tmp_path: Path) -> None:
    parts = rows(tmp_path / "rows", answers(600, 8))

    table = judged(parts, params(server, **STOP), tmp_path / "store")

    assert not about(table.schema)[STOPPED]["decided"]
    assert len(server.calls) < 400


def test_what_can_not_be_decided_is_refused_before_a_call(server: JudgeServer, tmp_path: Path) -> None:
    few, many = rows(tmp_path / "few", answers(30, 9)), rows(tmp_path / "many", answers(100, 9))
    silent = rows(tmp_path / "silent", [(f"q{i}", None) for i in range(100)])
    refused: list[tuple[Parts, float | str, RunJudge, str]] = [
        (few, 0.8, HOW, "a has 30 rows or groups to judge, too few to show a rate of 80.0 % if every one passes"),
        (many, "difference", HOW, "one system differs from none"),
        (many, 0.9, HOW, "no verdicts can show a rate of 90.0 %: the judge's own error"),
        (silent, 0.8, HOW, "a has no answer to judge"),
    ]

    for parts, target, how, message in refused:
        with pytest.raises(ParamsError, match=re.escape(message)):
            judged(parts, params(server, stop={"meaning_match": target}), tmp_path / "store", how=how)
    assert not server.calls


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"provider": "offline"}, "stop needs a language model as judge, not provider offline"),
        ({"stop": {"politeness": 0.5}}, "stop needs its measure among metrics, with a pass rate"),
        ({"preference": {}}, "stop needs preference empty"),
        ({"stop": {"meaning_match": 1.0}}, "judge.stop.meaning_match"),
        ({"stop": {"meaning_match": "best"}}, "judge.stop.meaning_match"),
        ({"stop": {"meaning_match": 0.5, "similarity_judge": 0.5}}, "judge.stop"),
    ],
)
def test_settings_that_do_not_go_with_a_stop_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParamsError, match=re.escape(message)):
        params(**(STOP | options))


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("gate", "primary"), "exact_match", "the measure that decides is exact_match"),
        (("report", "targets"), {"meaning_match": 0.85}, "0.8, but report.targets.meaning_match is 0.85"),
        (("aggregate", "confidence"), 0.9, "aggregate.confidence is 0.9"),
        (("gate", "confidence"), 0.9, "gate.confidence is 0.9"),
        (("aggregate", "mix"), {"topic": {"x": 1.0}}, "not with aggregate.mix"),
    ],
)
def test_other_sections_may_not_contradict_it(path: tuple[str, str], value: Any, message: str) -> None:
    settle("http://127.0.0.1:9/v1", **STOP)

    edit(lambda content: content[path[0]].update({path[1]: value}))

    with pytest.raises(ParamsError, match=re.escape(message)):
        check()


def test_human_labels_and_weights_of_a_difference_are_refused(server: JudgeServer, tmp_path: Path) -> None:
    parts = rows(tmp_path / "rows", answers(100, 9))
    part = parts.part(0)

    difference = {"stop": {"meaning_match": "difference"}}
    for about_part, stop, message in (
        (statement({"label": LABEL}), STOP, "human labels decide"),
        ({"weight": "w"}, difference, "dataset.weight"),
    ):
        write_part(describe(part, about_part), tmp_path / "rows", 0)
        with pytest.raises(ParamsError, match=message):
            judged(Parts(tmp_path / "rows"), params(server, **stop), tmp_path / "store")
    assert not server.calls


def test_what_the_stage_answer_has_asked_again_is_not_asked_once_more(server: JudgeServer, tmp_path: Path) -> None:
    part = rows(tmp_path / "rows", answers(5, 9)).part(0)
    write_part(describe(part, {STOPPED: {}}), tmp_path / "rows", 0)
    server.script = lambda _: completion("no verdict")

    with Verdicts(tmp_path / "store") as ledger:
        for again in (False, True):
            assert [*judge(Parts(tmp_path / "rows"), params(server), ledger, HOW, retry_failed=again)]

    assert len(server.calls) == 10


def test_one_budget_is_for_all_blocks(server: JudgeServer, tmp_path: Path) -> None:
    limits = HOW.model_copy(update={"budget": HOW.budget.model_copy(update={"max_calls": 60})})

    table = judged(rows(tmp_path / "rows", answers(400, 8)), params(server, **STOP), tmp_path / "store", how=limits)

    assert len(server.calls) == 60
    assert column(table, "judge_status").count("failed") > 0
