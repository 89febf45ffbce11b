"""What the next run will ask of the judge is said before any stage runs."""

from pathlib import Path
from typing import Any

import pytest

from tasks.errors import ModelError
from tasks.judging import preflight
from tasks.judging.budget import REPLY_TOKENS
from tasks.judging.plan import Plan
from tasks.pipeline.run import Price
from tasks.runner import run
from tests.judge_server import serving
from tests.small_project import ROWS, edit, write

pytestmark = pytest.mark.usefixtures("project")
KEY = "sk-canary-77d1b0a2"


@pytest.fixture(autouse=True)
def without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def ask_a_server(url: str = "http://127.0.0.1:9/v1", **options: Any) -> None:
    edit(lambda content: content["judge"].update({"provider": "openai", "base_url": url, **options}))


def test_a_provider_that_asks_no_server_makes_no_call(capsys: pytest.CaptureFixture[str]) -> None:
    preflight.show()
    preflight.require_key(retry_failed=False)

    assert capsys.readouterr().out == "judge: no call: judge.provider asks no server\n"


def test_calls_tokens_money_and_the_variable_to_set(capsys: pytest.CaptureFixture[str]) -> None:
    ask_a_server()

    preflight.show()

    said, key = capsys.readouterr().out.splitlines()
    assert said.startswith("judge: 20 calls to gpt-5-mini at http://127.0.0.1:9/v1, about ")
    assert "$0.0" in said
    assert key == "set the environment variable OPENAI_API_KEY to the key (judge.api_key_env)"
    with pytest.raises(ModelError, match=r"judge: 20 calls .* set the environment variable OPENAI_API_KEY"):
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
        assert len(server.calls) == 20
        assert not [path for path in Path().rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def write_with_one_new_row() -> None:
    write(Path(), [*ROWS, {**ROWS[0], "id": "new", "question": "New?"}])


def test_a_key_that_is_set_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    ask_a_server()
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    preflight.require_key(retry_failed=False)


def test_a_model_without_a_price_is_named() -> None:
    plan = Plan("m", "http://here/v1", 3, 1000, None, None)

    assert str(plan) == "3 calls to m at http://here/v1, about 1,240 tokens (run.judge.prices has no m)"


def test_the_cost_is_that_of_requests_and_replies() -> None:
    plan = Plan("m", "http://here/v1", 1_000, 1_000_000, Price(input=2, output=10), None)

    assert str(plan).endswith(f"about {1_000_000 + 1_000 * REPLY_TOKENS:,} tokens, $2.80")
