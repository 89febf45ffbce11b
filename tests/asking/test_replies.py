"""Verdicts belong to a server: its address, or the name it is given, is part of the key."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from goldmeter.pipeline.tables import Parts
from tests.judge_server import JudgeServer, serving
from tests.test_judge import judged, params, rows

ASKED = 3
"""The rows of the example that a judge is asked about."""


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[JudgeServer, JudgeServer]]:
    monkeypatch.setenv("JUDGE_KEY", "sk-0123456789")
    with serving() as one, serving() as other:
        yield one, other


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    return rows(tmp_path / "rows")


def test_another_server_with_a_model_of_the_same_name_is_asked(
    servers: tuple[JudgeServer, JudgeServer], parts: Parts, tmp_path: Path
) -> None:
    for server in servers:
        judged(parts, params(server), tmp_path / "store")
    judged(parts, params(servers[0]), tmp_path / "store")

    assert [len(server.calls) for server in servers] == [ASKED, ASKED]


def test_a_server_that_moves_keeps_its_verdicts_under_its_name(
    servers: tuple[JudgeServer, JudgeServer], parts: Parts, tmp_path: Path
) -> None:
    for server in servers:
        judged(parts, params(server, server="our-vllm"), tmp_path / "store")

    assert [len(server.calls) for server in servers] == [ASKED, 0]
