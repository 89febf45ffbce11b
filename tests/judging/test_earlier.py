"""Verdicts of judges by the settings of earlier commits: what the ledger holds of the rows, without a call."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from goldmeter.judging.earlier import committed_judges, earlier_verdicts, one_more
from goldmeter.judging.rows import requests_about
from goldmeter.judging.settings import Judge
from goldmeter.ledger import open_store
from goldmeter.ledger.entries import Entry
from goldmeter.pipeline.yaml import dump_yaml

N = 20


@pytest.fixture(autouse=True)
def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOLDMETER_LEDGER", str(tmp_path / "ledger"))
    git("init", "-q", "-b", "main")


def git(*command: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=e@x", *command], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(judge: object, **prompts: str) -> str:
    Path("params.yaml").write_text(dump_yaml({"judge": judge}), encoding="utf-8")
    Path("prompts").mkdir(exist_ok=True)
    for name, text in prompts.items():
        Path(f"prompts/{name}.txt").write_text(text, encoding="utf-8")
    git("add", "-A")
    git("commit", "-q", "-m", "settings")
    return git("rev-parse", "--short", "HEAD")


def asked(model: str, **options: object) -> dict[str, object]:
    return {"provider": "openai", "model": model, "metrics": {"meaning_match": {}}, **options}


def rows(n: int = N, **columns: list[str | None]) -> pa.Table:
    texts: list[str | None] = [f"answer {number}" for number in range(n)]
    found = {
        "id": [f"q{number}" for number in range(n)],
        "candidate": ["a"] * n,
        "input": [f"Question {number}?" for number in range(n)],
        "response": texts,
        "response_normalized": texts,
        **columns,
    }
    lists = pa.array([["right"]] * n, pa.list_(pa.string()))
    empty = pa.nulls(n, pa.list_(pa.string()))
    return pa.table({**found, "references": lists, "references_normalized": lists, "phrases": empty})


def reply(part: pa.Table, judge: Judge, verdicts: Iterator[float]) -> None:
    """Put the reply of a judge to every request about some rows into the ledger."""
    entries = [
        Entry(
            key=one.key, metric=one.question.name, prompt="", draw=one.draw, raw="{}", verdict=verdict, reason="",
            problem=None, model="m", asked=None, tokens=None, latency=0.0, attempts=1,
        )
        for one, verdict in zip(requests_about(part, judge), verdicts, strict=False)
    ]  # fmt: skip
    with open_store("judge") as store:
        store.add(entries)  # type: ignore[arg-type]


def judges() -> dict[str, Judge]:
    return dict(committed_judges())


def every(value: float) -> Iterator[float]:
    return iter([value] * 1000)


def test_judges_of_all_branches_are_read_newest_first() -> None:
    first = commit(asked("one"))
    git("checkout", "-q", "-b", "other")
    second = commit(asked("two"))
    git("checkout", "-q", "main")
    commit({"provider": "offline"})

    found = committed_judges()

    assert [(name, one.model) for name, one in found] == [(second, "two"), (first, "one")]


def test_each_juror_and_each_metric_is_a_judge_of_its_own_that_is_asked_about_all_rows() -> None:
    panel = [{"model": "one"}, {"model": "two"}]
    metrics = {"meaning_match": {}, "similarity_judge": {}}
    commit(asked("m", panel=panel, metrics=metrics, sampling_rate=0.1))

    found = [(one.model, one.metrics[0].name, one.sampling_rate, one.panel) for _, one in committed_judges()]

    assert found == [(model, name, 1.0, None) for model in ("one", "two") for name in metrics]


def test_the_verdicts_of_earlier_settings_are_those_of_the_ledger() -> None:
    first, second = commit(asked("one")), commit(asked("two"))
    reply(rows(), judges()[first], iter([1.0, 0.0] * 10))
    commit(asked("three"))

    [found] = earlier_verdicts(rows(), committed_judges())

    assert (found.column, found.commit) == ("meaning_match", first)
    assert "model:one" in found.signature
    assert found.values.tolist() == [1.0, 0.0] * 10
    assert second in judges()


def test_an_empty_answer_is_wrong_and_none_is_unmeasured() -> None:
    answers: list[str | None] = ["", None, *("x" for _ in range(N - 2))]
    part = rows(response=answers)
    name = commit(asked("one"))
    reply(part, judges()[name], every(1.0))

    [found] = earlier_verdicts(part, committed_judges())

    assert found.values[:3] == pytest.approx([0.0, np.nan, 1.0], nan_ok=True)


def test_verdicts_on_a_part_of_the_answers_are_no_reading() -> None:
    name = commit(asked("one"))
    reply(rows().slice(0, 17), judges()[name], every(1.0))

    assert [*earlier_verdicts(rows(), committed_judges())] == []


def test_equal_requests_of_several_commits_are_one_reading() -> None:
    commit(asked("one"))
    newest = commit(asked("one", sampling_rate=0.5))
    reply(rows(), judges()[newest], every(1.0))

    assert [one.commit for one in earlier_verdicts(rows(), committed_judges())] == [newest]


def test_a_prompt_is_read_as_it_was() -> None:
    own = {"strict": {"prompt": "prompts/strict.txt", "scale": "boolean"}}
    first = commit(asked("m", metrics=own), strict="Is {{ response }} right?")
    reply(rows(), judges()[first], every(0.0))
    commit(asked("m", metrics=own), strict="Is {{ response }} quite right?")
    Path("prompts/strict.txt").unlink()

    found = [*earlier_verdicts(rows(), committed_judges())]

    assert [(one.column, one.commit, one.values.sum()) for one in found] == [("strict", first, 0.0)]


@pytest.mark.parametrize("text", ["judge: [1]", "judge: {no_option: 1}", "a: [", "[]", "judge: {provider: openai, x: "])
def test_settings_that_are_no_longer_read_are_left_out(text: str) -> None:
    Path("params.yaml").write_text(text, encoding="utf-8")
    git("add", "-A")
    git("commit", "-q", "-m", "other")

    assert committed_judges() == []


def test_outside_of_git_there_is_no_earlier_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    subprocess.run(["rm", "-rf", str(tmp_path / ".git")], check=True)

    assert committed_judges() == []


def test_one_more_judge_is_planned_by_the_price_of_its_model() -> None:
    prices = {"m": {"input": 1000.0, "output": 0.0}}
    Path("params.yaml").write_text(
        dump_yaml({"judge": {"provider": "offline", "model": "m"}, "run": {"judge": {"prices": prices}}}),
        encoding="utf-8",
    )

    few, more = one_more(rows()), one_more(rows(21_000))

    assert (few.model, few.calls, more.calls) == ("m", N, 21_000)
    assert few.dollars == pytest.approx(few.tokens / 1000.0, rel=0.5)
    assert one_more(rows(), {"m"}).model == "m"
    assert one_more(rows(), {"other"}).model == "m"
    assert more.tokens / more.calls == pytest.approx(few.tokens / few.calls, rel=0.1)
