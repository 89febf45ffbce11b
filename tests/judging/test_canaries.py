"""Canaries: rows with known verdicts, mixed in; the stage's gate fails when the judge is wrong about one."""

from typing import Any

import pytest

from tasks.errors import ModelError
from tasks.judging.canaries import canaries
from tasks.ledger.entries import Entry, line_of, parse
from tests.judge_server import Answer, completion, question, verdict
from tests.test_judge import broken, column, counts, judged, params, rows, server

__all__ = ["server"]
KNOWN = {(each.input, each.output): each.verdict for each in canaries()}


def knowing(body: dict[str, Any], *, wrong_about: str = "") -> Answer:
    """A judge that knows the canaries, and is wrong about one kind of them."""
    nonce, fields = question(body)
    known = KNOWN.get((fields["input"], fields["output"]))
    if known is None:
        return completion(verdict(body))
    kind = next(each.kind for each in canaries() if each.output == fields["output"])
    said = str(known != (kind == wrong_about)).lower()
    return completion(f'{{"nonce": "{nonce}", "reason": "known", "verdict": {said}}}')


def test_there_are_right_wrong_and_injected_ones() -> None:
    kinds = [each.kind for each in canaries()]

    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"right": 4, "wrong": 4, "injection": 4}
    assert all(each.verdict == (each.kind == "right") for each in canaries())


def test_a_judge_that_knows_them_passes_and_they_are_no_rows(server: Any, tmp_path: Any) -> None:
    server.script = knowing
    options = params(server, canaries=True)

    table = judged(rows(tmp_path / "rows"), options, tmp_path / "store", tmp_path / "evidence")

    assert len(table) == 5
    assert len(server.calls) == 3 + len(canaries())
    assert broken(table, options) == []

    server.calls.clear()
    judged(rows(tmp_path / "again"), options, tmp_path / "another store", tmp_path / "evidence")
    assert server.calls == []


def test_a_judge_that_follows_injections_stops_the_stage_before_any_row(server: Any, tmp_path: Any) -> None:
    server.script = lambda body: knowing(body, wrong_about="injection")
    options = params(server, canaries=True)

    for name in ("first", "again"):
        with pytest.raises(ModelError, match="the judge is wrong about") as raised:
            judged(rows(tmp_path / name), options, tmp_path / "store")
        assert str(raised.value).count("injection: ") == 4
        assert len(server.calls) == len(canaries())


def test_a_canary_that_failed_before_breaks_the_contract(server: Any, tmp_path: Any) -> None:
    options = params(server, canaries=True)
    server.script = knowing
    judged(rows(tmp_path / "rows"), options, tmp_path / "store", tmp_path / "evidence")
    evidence = tmp_path / "evidence" / "verdicts.jsonl"
    entries = map(parse, evidence.read_bytes().splitlines(keepends=True))
    passed = (Entry(**one | {"verdict": 1.0}) if one["verdict"] == 0.0 else one for one in entries)
    evidence.write_bytes(b"".join(map(line_of, passed)))

    table = judged(rows(tmp_path / "again"), options, tmp_path / "another store", tmp_path / "evidence")

    assert counts({"judge": table})["canaries_failed"] == 8
    assert broken(table, options) == [
        "expect_column_values_to_be_between(canaries_failed, min_value 0.0, max_value 0.0)"
    ]


def test_the_offline_judge_passes(tmp_path: Any) -> None:
    options = params(provider="offline", canaries=True)

    table = judged(rows(tmp_path / "rows"), options, tmp_path / "store")

    assert counts({"judge": table})["canaries_failed"] == 0
    assert column(table, "meaning_match") == [1.0, 0.0, None, 0.0, 0.0]
    assert broken(table, options) == []
