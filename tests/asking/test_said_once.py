"""While calls run: a line when nothing came for a while, and one for a server that names another model."""

from pathlib import Path
from typing import Any

import pytest

from goldmeter.asking import dispatch
from goldmeter.asking.model_calls import is_other_model
from tests.judge_server import JudgeServer, Reply, completion, verdict
from tests.test_judge import judged, params, rows, server

__all__ = ["server"]
MANY: list[tuple[str, str | None]] = [(f"q{i}", "Paris") for i in range(6)]


def test_calls_that_wait_are_counted_when_no_reply_comes(
    server: JudgeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "QUIET", 0.01)
    monkeypatch.setattr(dispatch, "POLL", 0.02)
    server.script = lambda body: Reply(*completion(verdict(body)), delay=0.3)

    judged(rows(tmp_path / "rows", MANY), params(server), tmp_path / "store")

    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("no reply for ")]
    assert said
    assert "calls wait, the longest for 0 s" in said[0]


@pytest.mark.parametrize(("model", "lines"), [("judge-2026-01", 0), ("llama-3", 1)])
def test_a_server_that_names_another_model_is_told_once(
    server: JudgeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str, lines: int
) -> None:
    server.script = lambda body: completion(verdict(body), model=model)

    judged(rows(tmp_path / "rows", MANY), params(server), tmp_path / "store")

    said: Any = capsys.readouterr().err
    assert said.count("judge: judge was asked for, and the server names llama-3 as its model") == lines


@pytest.mark.parametrize(
    ("asked", "named", "is_other"),
    [
        ("gpt-5-mini", "gpt-5-mini-2026-08-07", False),
        ("gemini-flash", "models/gemini-flash", False),
        ("openai/gpt-5", "gpt-5", False),
        ("qwen3:8b", "/models/llama-3-8b.gguf", True),
        ("gpt-5", "gpt-4o", True),
    ],
)
def test_which_names_are_those_of_another_model(asked: str, named: str, is_other: bool) -> None:
    assert is_other_model(asked, named) == is_other
