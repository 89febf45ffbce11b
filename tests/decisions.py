"""Replies of servers with decision models, in both of their forms."""

import json
import re
from collections.abc import Callable
from typing import Any

from tests.judge_server import KNOWN, Answer

# Name of a statement and the text that it is about → its probability.
Probability = Callable[[str, str], float]


def answered(body: dict[str, Any], probability: Probability) -> Answer:
    """A reply that gives each statement a probability."""
    if "state" in body:
        answers: Any = {name: {"type": "noul", "noul": probability(name, body["state"])} for name in body["questions"]}
        return 200, {"model": "decider-1", "answers": answers, "usage": {"prompt_tokens": 90, "completion_tokens": 1}}
    named = [(one["name"], probability(one["name"], body["input"])) for one in body["questions"]]
    answers = [{"type": "predicate", "name": name, "probability": p} for name, p in named]
    details = {
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 91,
    }
    return 200, {
        "model": "decider-1",
        "answers": answers,
        "usage": {"input_tokens": 90, "output_tokens": 1, **details},
    }


def honest(body: dict[str, Any]) -> Answer:
    """A server that says .9 of answers with an accepted one, else .2; it knows the canaries."""
    return answered(body, lambda _, text: 0.9 if is_right(text) else 0.2)


def is_right(text: str) -> bool:
    """Whether the message about a row holds a right answer."""
    match = re.match(r"<data nonce=\w+>\n(.*)\n</data nonce=\w+>", text, re.DOTALL)
    assert match
    fields = json.loads(match[1])
    contains = any(truth.lower() in fields["output"].lower() for truth in fields["ground_truth"])
    return KNOWN.get((fields["input"], fields["output"]), contains)
