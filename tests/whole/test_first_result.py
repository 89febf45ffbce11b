"""A newcomer's way to a first result of one's own: two commands, and no file to edit, whatever the task."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.whole.conftest import Project

pytestmark = [pytest.mark.long, pytest.mark.exhaustive]
ROWS = 12
WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
STORY = "The council of {0} met on Monday and decided to repair {1} bridges before winter, for {1} million."


def line(task: str, n: int) -> dict[str, Any]:
    """A record of a task; every third answer is wrong."""
    right = n % 3 > 0
    if task == "classification":
        label, other = (("spam", "offer", "letter")[m % 3] for m in (n, n // 2))
        return {"text": f"Mail {n}: hello", "gold": label, "model_a": label if right else "spam", "model_b": other}
    if task == "summary":
        long = " ".join(STORY.format(f"town {n + m}", WORDS[(n + m) % ROWS]) for m in range(12))
        summary = STORY.format(f"town {n}", WORDS[n])
        return {"document": long, "summary": summary, "model_a": summary if right else "Nothing.", "model_b": summary}
    if task == "number":
        asked = f"Tom has {n} apples and buys {n + 2} more. How many apples does he have?"
        return {"question": asked, "answer": f"{n} + {n + 2} = {2 * n + 2}\n#### {2 * n + 2}",
                "model_a": f"It is {2 * n + 2 * right}.", "model_b": f"The sum is {2 * n + 2}."}  # fmt: skip
    if task == "choice":
        options, letter = [WORDS[(n + m) % ROWS] for m in range(4)], "ABCD"[n % 4]
        return {"question": f"Which is the word of {n}?", "choices": options, "answer": letter,
                "model_a": letter if right else "A", "model_b": "ABCD"[n * n % 4]}  # fmt: skip
    said = WORDS[n] if right else "no"
    return {"question": f"How is {n + 1} written?", "answer": WORDS[n], "model_a": said, "model_b": f"So: {WORDS[n]}."}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A folder that holds nothing but data."""
    return Project.empty(tmp_path_factory.mktemp("first"))


@pytest.mark.parametrize("task", ["qa", "classification", "summary", "number", "choice"])
def test_two_commands_and_no_edit_lead_to_a_report(folder: Any, task: str) -> None:
    data = Path(folder.folder, f"data/{task}.jsonl")
    data.parent.mkdir(parents=True, exist_ok=True)
    data.write_text("".join(json.dumps(line(task, n)) + "\n" for n in range(ROWS)), encoding="utf-8")

    said = folder.run("python", "-m", "goldmeter", "init", f"data/{task}.jsonl")
    folder.run("dvc", "repro", "--quiet")

    document = json.loads(folder.read("reports/metrics.json"))
    assert "the run stops" not in said
    assert {*document["candidates"]} == {*document["headlines"]} == {"a", "b"}
    assert document["dataset"]["rows"] == 2 * ROWS
    assert 'id="glance-title"' in folder.read("reports/index.html")
