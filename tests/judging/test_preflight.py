"""What the next run will ask of the judge is said before any stage runs."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from goldmeter.asking.budget import REPLY_TOKENS
from goldmeter.errors import ModelError
from goldmeter.judging import preflight
from goldmeter.judging.canaries import canaries
from goldmeter.judging.plan import Plan
from goldmeter.pipeline.run import Price
from goldmeter.runner import run
from tests.judge_server import serving
from tests.small_project import ROWS, edit, write

pytestmark = pytest.mark.usefixtures("project")
KEY = "sk-canary-77d1b0a2"
# Two candidates answer each question.
CALLS = len(canaries()) + 2 * len(ROWS)


@pytest.fixture(autouse=True)
def without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def ask_a_server(url: str = "http://127.0.0.1:9/v1", **options: Any) -> None:
    edit(lambda content: content["judge"].update({"provider": "openai", "base_url": url, **options}))


def test_a_provider_that_asks_no_server_makes_no_call(capsys: pytest.CaptureFixture[str]) -> None:
    preflight.show()
    preflight.require_key(retry_failed=False)

    assert capsys.readouterr().out == "judge: no call: judge.provider asks no server\n"


def test_calls_tokens_money_and_the_variable_to_set(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_a_server()

    preflight.show()

    said, key = capsys.readouterr().out.splitlines()
    assert said.startswith(f"judge: {CALLS} calls to gpt-5-mini at http://127.0.0.1:9/v1, about ")
    of_canaries = r"20 of these calls, about 1\d,\d{3} tokens, \$0\.01, are canaries \(judge\.canaries\)"
    assert re.search(rf"tokens, \$0\.01; {of_canaries}$", said)
    assert key == "set the environment variable OPENAI_API_KEY to the key (judge.api_key_env)"
    with pytest.raises(ModelError, match=rf"judge: {CALLS} calls .* set the environment variable OPENAI_API_KEY"):
        preflight.require_key(retry_failed=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    preflight.require_key(retry_failed=False)


def test_what_the_ledger_has_is_not_asked_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as server:
        ask_a_server(server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        for stage in ("load", "normalize", "judge"):
            run(stage)
        monkeypatch.delenv("OPENAI_API_KEY")
        capsys.readouterr()

        preflight.show()
        preflight.require_key(retry_failed=False)
        assert capsys.readouterr().out == "judge: no call: the ledger has every verdict\n"

        write_with_one_new_row()
        preflight.show()
        assert capsys.readouterr().out.startswith("judge: 2 calls to gpt-5-mini")
        plan = preflight.plan_next_run()
        assert plan
        assert plan.reply_tokens == 10  # of the replies in the ledger
        assert len(server.calls) == CALLS
        assert not [path for path in Path().rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_of_a_cascade_it_is_said_which_rows_go_to_which_judge_and_what_that_saves(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = 2 * len(ROWS)
    with serving() as server:
        ask_a_server(server.url, provider="cascade")
        preflight.show()
        calls, divided, key = capsys.readouterr().out.splitlines()
        match = re.fullmatch(
            rf"judge: the offline judge decides (\d+) of {rows} rows \(judge\.band\), gpt-5-mini judges (\d+); "
            r"this saves (\d+) calls, about [\d,]+ tokens, \$0\.\d\d; "
            r"by human labels, \d+ of the \d+ that it passes are right, and \d+ of the \d+ that it fails are wrong",
            divided,
        )
        assert match
        decided, asked, saved = map(int, match.groups())
        assert 0 < asked < rows
        assert (decided + asked, saved) == (rows, decided)
        assert calls.startswith(f"judge: {len(canaries()) + asked} calls to gpt-5-mini at ")
        assert key.startswith("set the environment variable")
        with pytest.raises(ModelError, match=f"judge: {len(canaries()) + asked} calls"):
            preflight.require_key(retry_failed=False)

        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        for stage in ("load", "normalize", "judge"):
            run(stage)
        assert len(server.calls) == len(canaries()) + asked
        capsys.readouterr()
        preflight.show()
        assert capsys.readouterr().out == f"judge: no call: the ledger has every verdict\n{divided}\n"

        edit(lambda content: [one.update(label=None) for one in content["dataset"]["candidates"].values()])
        ask_a_server(server.url)
        run("judge")  # all others are judged by the server, too
        ask_a_server(server.url, provider="cascade")
        capsys.readouterr()
        preflight.show()
        assert capsys.readouterr().out.endswith("this saves 0 calls, about 0 tokens, $0.00\n")


def test_of_a_cascade_it_is_said_how_often_human_labels_agree_with_what_the_offline_judge_decides(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [
        {**row, "aurora": f"answer {i}", "aurora_correct": [True, False, None][i % 3]}
        | {"borealis": "I don't know.", "borealis_correct": i < 2}
        for i, row in enumerate(ROWS)
    ]
    write(Path(), rows)
    ask_a_server(provider="cascade", band=[0.5, 0.5])

    preflight.show()

    said = capsys.readouterr().out
    assert (
        "judge: the offline judge decides 20 of 20 rows (judge.band), gpt-5-mini judges 0; this saves 20 calls" in said
    )
    assert "; by human labels, 4 of the 7 that it passes are right, and 8 of the 10 that it fails are wrong\n" in said


def write_with_one_new_row() -> None:
    write(Path(), [*ROWS, {**ROWS[0], "id": "new", "question": "New?"}])


def test_a_model_without_a_price_is_named() -> None:
    plan = Plan("m", "http://here/v1", 3, 1000, None, None)

    assert str(plan) == "3 calls to m at http://here/v1, about 1,240 tokens (run.judge.prices has no m)"
    assert str(replace(plan, canaries=2, canary_prompt=700.0)).endswith(
        " tokens (run.judge.prices has no m); 2 of these calls, about 860 tokens, are canaries (judge.canaries)"
    )


def test_second_questions_are_part_of_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    ask_a_server(retest=1.0, canaries=False)

    preflight.show()

    again = 2 * len(ROWS)
    said = capsys.readouterr().out
    assert said.startswith(f"judge: {2 * again} calls to ")
    assert f"; {again} of these calls ask about a row once more (judge.retest)\n" in said


def test_the_cost_is_that_of_requests_and_replies() -> None:
    plan = Plan("m", "http://here/v1", 1_000, 1_000_000, Price(input=2, output=10), None)

    assert str(plan).endswith(f"about {1_000_000 + 1_000 * REPLY_TOKENS:,} tokens, $2.80")
