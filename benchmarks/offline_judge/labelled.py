"""Labelled answers that the offline judge is trained on: human labels and written pairs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from goldmeter.errors import DataError

RULES = Path(__file__).with_name("rules.jsonl")


class Labelled(NamedTuple):
    """An answer and its verdict; all rows of one group are in one fold.

    Attributes:
        question: The question.
        references: The accepted answers.
        response: The answer.
        verdict: Whether the answer is right.
        source: The system that gave the answer, the rule that a written pair illustrates.
        written: The pair was written for a rule, or made from a training question.
        group: The question, or the wording of a written pair.
        counterfactual: The pair was made from a training question; the source is its family.
    """

    question: str
    references: list[str]
    response: str
    verdict: bool
    source: str
    written: bool
    group: str
    counterfactual: bool = False


def human_labelled(path: Path) -> Iterator[Labelled]:
    """Yield the answers of EVOUNA with human labels, without improper questions; "/" separates golden answers."""
    for item in _json(path):
        if item["improper"] or not item["golden_answer"]:
            continue
        references = [text for text in item["golden_answer"].split("/") if text.strip()]
        for system in sorted(key.removeprefix("answer_") for key in item if key.startswith("answer_")):
            answer, verdict = item[f"answer_{system}"], item.get(f"judge_{system}")
            if answer and verdict is not None:
                yield Labelled(
                    item["question"], references, answer, verdict, system, written=False, group=item["question"]
                )


def written_pairs(path: Path) -> Iterator[Labelled]:
    """Yield the written pairs of the rules; pairs with similar wording have a group, else the question is the group."""
    for line in path.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        source, group = f"rule {pair['rule']}", pair.get("group", pair["input"])
        yield Labelled(
            pair["input"], pair["references"], pair["response"], pair["verdict"], source, written=True, group=group
        )


def _json(path: Path) -> list[dict[str, Any]]:
    try:
        items = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{path}: not JSON: {error}; expected a list of objects, as EVOUNA's NQ.json") from error
    if not isinstance(items, list):
        raise DataError(f"{path}: a {type(items).__name__}; expected a list of objects, as EVOUNA's NQ.json")
    return items
