"""The example of 60 answers with criteria goes all the way: load to report, graded by a server that knows the truth."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from goldmeter.pipeline.yaml import parse_yaml
from goldmeter.runner import run
from tests.documents import blocks
from tests.judge_server import completion
from tests.own_judge import own_question
from tests.small_project import ROOT, edit
from tests.test_judge import server

__all__ = ["server"]
EXAMPLE = ROOT / "data/examples/rubric.jsonl"
ROWS = [json.loads(line) for line in EXAMPLE.read_text(encoding="utf-8").splitlines()]
POINTS = [3, 2, 1, 1, -2]
CAREFUL, BRIEF = "careful", "brief"


def truth(body: dict[str, Any]) -> Any:
    """A reply with the truth, which the records hold."""
    nonce, (question, answer, criteria) = own_question(body)
    [met] = [row["met"] for row in ROWS if (row["question"], row["answer"]) == (question, answer)]
    verdict = [{"criterion": int(n), "met": met[int(n) - 1]} for n in criteria]
    return completion(json.dumps({"nonce": nonce, "reason": "as known", "verdict": verdict}))


def expected(system: str) -> list[float]:
    won = [sum(p for p, met in zip(POINTS, row["met"], strict=True) if met) for row in ROWS if row["system"] == system]
    return [max(points, 0) / 7 for points in won]


def test_the_example_has_60_answers_with_criteria() -> None:
    assert len(ROWS) == 60
    assert len({(row["id"], row["system"]) for row in ROWS}) == 60
    for row in ROWS:
        points = [one["points"] if isinstance(one, dict) else 1 for one in row["criteria"]]
        assert (points, len(row["met"])) == (POINTS, 5)


@pytest.fixture
def example(project: Path, server: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the section of params.yaml that the guide shows."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-2b7e")
    server.script = truth
    shutil.copy(EXAMPLE, project / "data/examples")
    shutil.copytree(ROOT / "prompts", project / "prompts", dirs_exist_ok=True)
    guide = {block.mark: block.text for block in blocks(ROOT / "docs/how-to/llm-judge.md") if block.mark}
    shown = parse_yaml(guide["rubric"])

    def settings(content: dict[str, Any]) -> None:
        content["dataset"].update(group=None, **shown["dataset"])
        content["judge"].update(shown["judge"], base_url=server.url, canaries=False)
        content["gate"].update(primary="rubric.value")
        content["load"].update(part_rows=14)
        content["report"].update(max_chars=2000)
        content.update(lexical={"exact_match": {}}, semantic={})

    edit(settings)
    return project


@pytest.mark.exhaustive
@pytest.mark.usefixtures("example")
def test_the_example_goes_all_the_way(server: Any) -> None:
    for stage in ("load", "normalize", "lexical", "embed", "semantic", "judge", "aggregate", "report"):
        run(stage)

    document = json.loads(Path("reports/metrics.json").read_text(encoding="utf-8"))
    for system in (CAREFUL, BRIEF):
        entry = document["candidates"][system]["rubric"]
        assert entry["value"] == pytest.approx(sum(expected(system)) / 30, abs=1e-6)
        assert entry["pass_rate"]["value"] == pytest.approx(expected(system).count(1.0) / 30, abs=1e-6)
    assert len(server.calls) == 60
    assert len([*Path("data/judge").glob("*.parquet")]) > 1
    found = document["criteria"]["rubric"]
    assert found["different"] == 63
    assert [one["criterion"] for one in found["listed"]] == [
        "Answers the question in its first sentence.", "Blames the person who asks.",
        "Says what to do if that does not help.",
    ]  # fmt: skip
    assert [one["points"] for one in found["listed"]] == [[1, 1], [-2, -2], [1, 1]]
    blames = found["listed"][1]["candidates"]
    assert [(blames[name]["n"], blames[name]["value"]) for name in (CAREFUL, BRIEF)] == [(30, 0.0), (30, 0.233333)]
    assert 0.0 < blames[BRIEF]["low"] < 0.233333 < blames[BRIEF]["high"] < 0.5
    [pair] = document["comparisons"]
    assert pair["measures"]["rubric.value"]["verdict"] in {"better", "worse"}
    page = Path("reports/index.html").read_text(encoding="utf-8")
    assert "Blames the person who asks." in page
    assert "not met" in page, "the verdicts stand beside the rows to look at"

    edit(lambda content: content["load"].update(part_rows=1000))
    for stage in ("load", "normalize", "lexical", "embed", "semantic", "judge", "aggregate"):
        run(stage)

    assert len(server.calls) == 60
    assert json.loads(Path("reports/metrics.json").read_text(encoding="utf-8")) == document
