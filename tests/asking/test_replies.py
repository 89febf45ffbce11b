"""Verdicts belong to a server: its address is part of the key, and entries from before that are not paid for again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.judge import Params
from tasks.judging.rows import requests_about
from tasks.ledger.entries import Entry
from tasks.ledger.verdicts import Verdicts
from tasks.pipeline.tables import Parts
from tests.judge_server import JudgeServer, serving
from tests.test_judge import column, judged, params, rows

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


def old_entries(parts: Parts, options: Params) -> list[Entry]:
    """Replies to all requests as they were stored before keys held an address: every answer is wrong."""
    return [
        Entry(
            key=request.key_without_address, metric="meaning_match", prompt="p", draw=0, raw="{}", verdict=0.0,
            reason="of old", problem=None, model="judge-2024", asked=None, tokens=None, latency=0.1, attempts=1,
        )
        for part in parts
        for request in requests_about(part, options.judge)
    ]  # fmt: skip


def old_store(folder: Path, parts: Parts, options: Params) -> Path:
    with Verdicts(folder) as ledger:
        ledger.add(old_entries(parts, options))
    return folder


def old_evidence(folder: Path, parts: Parts, options: Params) -> Path:
    with Verdicts(folder / "elsewhere") as ledger:
        entries = old_entries(parts, options)
        ledger.add(entries)
        ledger.use(entry["key"] for entry in entries)
        ledger.write_evidence(folder / "evidence")
    return folder / "evidence"


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


def test_no_verdict_of_an_old_store_is_paid_for_again(
    servers: tuple[JudgeServer, JudgeServer], parts: Parts, tmp_path: Path
) -> None:
    one, other = servers
    store = old_store(tmp_path / "store", parts, params(one))

    table = judged(parts, params(one), store)
    judged(parts, params(other), store)
    again = judged(parts, params(one), store)

    assert "of old" in column(table, "meaning_match_reason")
    assert column(again, "meaning_match_reason") == column(table, "meaning_match_reason")
    assert [len(server.calls) for server in servers] == [0, ASKED]


def test_an_old_store_is_of_the_address_in_dvc_lock(
    servers: tuple[JudgeServer, JudgeServer], parts: Parts, tmp_path: Path
) -> None:
    one, other = servers
    store = old_store(tmp_path / "store", parts, params(one))

    for asked_at, server in ((one.url, other), (other.url, one)):
        with Verdicts(store, asked_at=asked_at) as ledger:
            [*_judge(parts, params(server), ledger)]

    assert [len(server.calls) for server in servers] == [0, ASKED]


def test_old_evidence_is_of_the_address_in_dvc_lock_whatever_the_store_belongs_to(
    servers: tuple[JudgeServer, JudgeServer], parts: Parts, tmp_path: Path
) -> None:
    one, other = servers
    store = old_store(tmp_path / "store", parts, params(one))
    evidence = old_evidence(tmp_path, parts, params(other))
    judged(parts, params(one), store)  # records that the store is of this server

    with Verdicts(store, asked_at=other.url) as ledger:
        ledger.take_in(evidence)
        [*_judge(parts, params(other), ledger)]
        ledger.write_evidence(evidence)

    assert [len(server.calls) for server in servers] == [0, 0]
    assert evidence.joinpath("verdicts.jsonl").read_text().count('"carried":true') == ASKED


def test_keys_of_openai_are_as_they_were(parts: Parts) -> None:
    options = params(base_url="https://api.openai.com/v1")

    for request in requests_about(parts.part(0), options.judge):
        assert request.key == request.key_without_address


def _judge(parts: Parts, options: Params, ledger: Verdicts) -> Iterator[object]:
    from tasks.judge import judge
    from tests.test_judge import HOW

    return judge(parts, options, ledger, HOW)
