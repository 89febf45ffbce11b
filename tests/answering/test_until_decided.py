"""Systems with a model that are asked no more than the judge needs: what is asked, what it costs, and what is shown."""

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

import pyarrow as pa
import pytest

from goldmeter.answering import preflight
from goldmeter.asking import batch_dispatch
from goldmeter.dataset.preflight import parts
from goldmeter.errors import LedgerError, ParamsError
from goldmeter.estimates import metrics_report
from goldmeter.estimates.column_facts import STOPPED
from goldmeter.estimates.estimate_rows import BY_LOOKS, NO_INTERVAL
from goldmeter.judging import preflight as judge_preflight
from goldmeter.ledger import root
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.pipeline import params
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.pipeline.run import RunJudge
from goldmeter.pipeline.tables import about, write_part
from goldmeter.pipeline.yaml import dump_yaml
from goldmeter.runner import run
from tasks.answer import answer
from tests import small_project
from tests.judge_server import Answer, JudgeServer, Reply, completion, problem, serving, verdict
from tests.small_project import edit, write
from tests.test_judge import HOW

QUESTIONS = 200


@pytest.fixture(scope="module")
def running() -> Iterator[JudgeServer]:
    with serving() as server:
        yield server


@pytest.fixture
def server(running: JudgeServer, tmp_path: Path) -> Iterator[JudgeServer]:
    """A judge that tells right from wrong, and a system that is right about 3 of 10 questions."""
    small_project.make(tmp_path)
    with chdir(tmp_path):
        Path("prompts").mkdir()
        Path("prompts/answer.txt").write_text("{{ input }}\n", encoding="utf-8")
        running.calls.clear()
        running.script = reply
        write_questions()
        settle(running.url)
        yield running


def reply(body: dict[str, Any]) -> Answer:
    if body["model"] == "judge":
        return completion(verdict(body))
    number = int(body["messages"][-1]["content"].split()[-1].removesuffix("?"))
    return completion(f"answer {number}" if number % 10 < 3 else f"mistake {number}")


def write_questions(count: int = QUESTIONS, group: int = 2, unusable: int = 0) -> None:
    write(
        Path(),
        [
            {"id": f"q{i}", "question": f"Question {i}?", "references": [f"answer {i}"] * (i < count),
             "thread": f"t{i // group}", "topic": "xy"[i % 2], "language": "en",
             "aurora": f"It is answer {i}" if i % 10 < 2 else "no"}
            for i in range(count + unusable)
        ],
    )  # fmt: skip


def settle(url: str, **judge: Any) -> None:
    def change(content: dict[str, Any]) -> None:
        live = {"model": "m", "base_url": url, "seed": 1}
        content["dataset"]["candidates"] = {"live": live, "aurora": {"response": "aurora"}}
        content["lexical"], content["semantic"] = {"exact_match": {}}, {}
        content["judge"].update(provider="openai", base_url=url, model="judge", api_key_env=None, aliases="none.csv")
        content["judge"].update({"stop": {"meaning_match": 0.8}} | judge)
        content["run"]["judge"]["prices"] = {"m": {"input": 1000.0, "output": 0.0}}

    edit(change)


def asked(server: JudgeServer, model: str) -> int:
    return sum(body["model"] == model for body in server.calls)


def once(server: JudgeServer) -> bool:
    return len({json.dumps(body) for body in server.calls}) == len(server.calls)


def answered(how: RunJudge = HOW) -> pa.Table:
    """Run the stage without the runner, and publish its table."""
    with Verdicts(root() / "answer") as ledger:
        [part] = [each["answer"] for each in answer(params.for_stage("answer"), ledger, how)]
    Path("data/answer").mkdir(parents=True, exist_ok=True)
    write_part(part, Path("data/answer"), 0)
    return part


def requests_left() -> int:
    """The requests of the stage judge about the answers that were published, which its ledger lacks."""
    plan = judge_preflight.plan_next_run()
    assert plan is not None
    return plan.calls


def test_the_systems_are_asked_what_the_judge_needs_and_the_page_says_what_that_saved(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_questions(unusable=2)
    preflight.show()
    assert capsys.readouterr().out.startswith("answer: live: at most 200 calls to m ")

    run("answer")
    answers, verdicts, said = asked(server, "m"), asked(server, "judge"), capsys.readouterr().err
    for stage in [*stages()][1:]:
        run(stage)

    document = json.loads(Path(metrics_report.METRICS).read_text(encoding="utf-8"))
    stopped, live = document["stopped"], document["candidates"]["live"]
    assert 0 < answers < QUESTIONS / 2
    assert (asked(server, "m"), asked(server, "judge")) == (answers, verdicts)
    assert stopped["decided"]
    assert stopped["rows_left"] == stopped["calls_left"] == 2 * (QUESTIONS - answers)
    assert stopped["answers_left"]["live"]["calls"] == QUESTIONS - answers
    assert [live["meaning_match"]["low"], live["meaning_match"]["high"]] == pytest.approx(
        stopped["limits"]["meaning_match"]["live"]["value"], abs=1e-6
    )
    assert {name: live["exact_match"][name] for name in ("n", "n_failed", "low", "high", "method")} == {
        "n": answers, "n_failed": 0, "low": 0.0, "high": 1.0, "method": NO_INTERVAL,
    }  # fmt: skip
    assert document["resources"]["live"]["cost"]["mean"]["low"] is None
    [pair] = document["comparisons"]
    by = {name: pair["measures"][name]["difference"]["method"] for name in ("exact_match", "meaning_match")}
    assert all(method.startswith(BY_LOOKS) for method in by.values())
    assert document["targets"]["live"]["meaning_match"]["verdict"] == "not met"
    assert f"answer: live: {QUESTIONS - answers} calls, " in said
    assert "answer: live: at most 200 calls" in said
    assert "judge: at most 420 calls" in said
    page = Path("reports/index.html").read_text(encoding="utf-8")
    assert re.search(rf"{QUESTIONS - answers} more answers \(about \$[\d.]+\) and \d+ calls of the judge", page)
    preflight.show()
    judge_preflight.show()
    assert capsys.readouterr().out.endswith(
        "answer: no call: the ledger has every answer\njudge: no call: the ledger has every verdict\n"
    )


@pytest.mark.parametrize("lacking", ["answer", "judge"])
def test_a_fresh_clone_without_what_was_paid_for_is_refused_before_it_is_paid_again(
    server: JudgeServer, lacking: str
) -> None:
    locked = {"path": f"data/ledger/{lacking}", "hash": "md5", "md5": f"{'a' * 32}.dir", "size": 9, "nfiles": 1}
    content = {"schema": "2.0", "stages": {lacking: {"cmd": "echo", "outs": [locked]}}}
    Path("dvc.lock").write_text(dump_yaml(content), encoding="utf-8")

    with pytest.raises(LedgerError, match=f"data/ledger/{lacking}: missing.*`dvc pull data/ledger/{lacking}` brings"):
        answered()

    assert asked(server, "judge") == 0
    assert lacking == "judge" or not server.calls
    Path(locked["path"]).mkdir(parents=True)
    assert answered().num_rows
    assert once(server)


def test_going_on_later_asks_only_the_rest(server: JudgeServer) -> None:
    first = answered()
    calls = len(server.calls)
    assert answered().equals(first)
    assert len(server.calls) == calls

    edit(lambda content: content["judge"].update(stop={}))
    whole = answered()

    assert STOPPED not in about(whole.schema)
    assert asked(server, "m") == whole.num_rows == QUESTIONS
    assert once(server)
    edit(lambda content: content["judge"].update(stop={"meaning_match": 0.8}))
    assert answered().equals(first)
    assert once(server)


TROUBLE = (
    completion("<think>Hm.</think>Paris"), completion("x" * 60), completion(" "), problem(500),
    completion(None, refusal="I won't."), completion(" a\tb  \u0130\x00 "),
)  # fmt: skip


@pytest.mark.parametrize(("dataset", "draws"), [({}, 1), ({"id": None}, 1), ({"group": None}, 1), ({}, 2)])
def test_the_stage_judge_finds_the_verdict_of_each_answer(
    server: JudgeServer, dataset: dict[str, Any], draws: int
) -> None:
    def troubled(body: dict[str, Any]) -> Answer:
        said = str(body["messages"][-1]["content"])
        number = int(said.rsplit(maxsplit=1)[-1].removesuffix("?")) if body["model"] == "m" else 0
        return TROUBLE[number // 2 % 6] if number % 2 else reply(body)

    server.script = troubled
    edit(lambda content: content["dataset"].update(dataset))
    edit(lambda content: content["load"].update(max_chars=50))
    edit(lambda content: content["dataset"]["candidates"]["live"].update(draws=draws))

    table = answered(HOW.model_copy(update={"retries": 0}))

    assert table["response"].null_count > 0
    assert set(table["id"].value_counts().field("counts").to_pylist()) == {draws}
    assert table.num_rows < draws * QUESTIONS
    assert requests_left() == 0
    assert not any("(to come)" in str(body["messages"]) for body in server.calls)
    loaded = list(parts())
    ids = {one.partition("#")[0] for part in loaded for one in part["id"].to_pylist()}
    assert ids <= {*table["id"].to_pylist()}
    assert about(loaded[0].schema)[STOPPED] == about(table.schema)[STOPPED]


def test_one_budget_is_for_answers_and_verdicts(server: JudgeServer) -> None:
    budget = HOW.budget.model_copy(update={"max_calls": 100})

    answered(HOW.model_copy(update={"budget": budget}))

    assert len(server.calls) == 100


@pytest.mark.parametrize(
    ("rows", "target", "message"),
    [(200, 0.9, "no verdicts can show a rate of 90.0 %"), (30, 0.8, "live has 15 rows or groups to judge, too few")],
)
def test_what_can_not_be_decided_is_refused_before_a_call(
    server: JudgeServer, rows: int, target: float, message: str
) -> None:
    write_questions(rows)
    settle(server.url, stop={"meaning_match": target})

    with pytest.raises(ParamsError, match=re.escape(message)):
        answered()
    assert not server.calls


def test_batches_of_answers_and_of_verdicts_follow_each_other(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FIRST_PAUSE", "LONGEST_PAUSE"):
        monkeypatch.setattr(batch_dispatch, name, 0.01)

    table = answered(HOW.model_copy(update={"batch": True}))

    assert 0 < table.num_rows < QUESTIONS
    # Canaries, and the first call to each model, which detects what its server supports, are single ones.
    assert server.batches.asked.total() + len(server.calls) == 3 * table.num_rows + 20
    assert requests_left() == 0


def test_a_cascade_asks_about_the_answers_that_its_offline_judge_leaves(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    settle(server.url, provider="cascade", band=[0.02, 0.98])

    table = answered()

    answers = table.num_rows
    said = {(body["model"], str(body["messages"][-1])) for body in server.calls}
    assert len(said) == len(server.calls)
    assert answers == asked(server, "m") < QUESTIONS
    assert 20 < asked(server, "judge") < 2 * answers
    assert requests_left() == 0
    stopped = about(table.schema)[STOPPED]
    assert stopped["decided"]
    assert stopped["rows_left"] == 2 * (QUESTIONS - answers)
    assert 0 < stopped["calls_left"] <= stopped["rows_left"]
    assert re.search(r"\(judge\.stop\); at most [\d,]+ calls, ", capsys.readouterr().err)
    assert answered().equals(table)
    assert len(said) == len(server.calls)


def ask_in(folder: Path) -> None:
    with chdir(folder):
        answered()


@pytest.mark.long
def test_a_run_that_is_killed_pays_each_call_once(server: JudgeServer, tmp_path: Path) -> None:
    context, rng = get_context("spawn"), Random(5)  # noqa: S311
    server.script = lambda body: Reply(*reply(body), delay=0.02)
    for _ in range(3):
        moment = len(server.calls) + rng.randint(5, 40)
        process = context.Process(target=ask_in, args=(tmp_path,))
        process.start()
        while process.is_alive() and len(server.calls) < moment:
            time.sleep(0.001)
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
    under_way = 3 * HOW.concurrency  # their replies came after the kill

    table = answered()

    assert table.num_rows <= asked(server, "m") <= table.num_rows + under_way
    judged = 2 * table.num_rows + 20
    assert judged <= asked(server, "judge") <= judged + under_way
    paid = len(server.calls)
    assert answered().equals(table)
    assert (len(server.calls), requests_left()) == (paid, 0)
