"""Questions of one's own to a judge, for tests: prompt files, and what a request made from one says."""

import json
import re
from pathlib import Path
from typing import Any

from tests.judge_server import Answer, completion, verdict

FENCED = re.compile(r"<data nonce=(\w+)>\n(.*)\n</data nonce=(\w+)>")
PROMPT = "Is it polite?\nQuestion: {{ input }}\nAnswer: {{ response }}\n"
LABELS = ["formal", "casual", "rude"]
# Metric → its options, one of each type of verdict.
METRICS: dict[str, Any] = {
    "politeness": {"prompt": "prompts/polite.txt", "scale": [1, 5], "threshold": 4},
    "warmth": {"prompt": "prompts/polite.txt", "scale": [0.0, 1.0], "threshold": 0.5},
    "in_scope": {"prompt": "prompts/polite.txt", "scale": "boolean"},
    "tone": {"prompt": "prompts/polite.txt", "labels": LABELS, "pass": ["formal", "casual"]},
}


def write_prompt(text: str = PROMPT, name: str = "polite.txt") -> str:
    """Write a prompt below the working directory; return its path."""
    path = Path("prompts", name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def is_own(body: dict[str, Any]) -> bool:
    """Whether a request is about a question of one's own."""
    return "\nnonce: " in body["messages"][1]["content"]


def own_question(body: dict[str, Any]) -> tuple[str, list[Any]]:
    """Nonce and data of a request."""
    message = body["messages"][1]["content"]
    found = FENCED.findall(message)
    nonce = message.rpartition("\nnonce: ")[2].partition("\n")[0]
    assert {each for begin, _, end in found for each in (begin, end)} == {nonce}
    return nonce, [json.loads(data) for _, data, _ in found]


def reply(body: dict[str, Any], verdict: object) -> str:
    """A reply with a verdict."""
    return json.dumps({"nonce": own_question(body)[0], "reason": "as asked", "verdict": verdict})


def schema(body: dict[str, Any]) -> dict[str, Any]:
    """The schema of the verdict that a request asks for."""
    found: dict[str, Any] = body["response_format"]["json_schema"]["schema"]["properties"]["verdict"]
    return found


def pleased(body: dict[str, Any]) -> Answer:
    """An honest judge of politeness: an answer that says please is as polite as can be, any other is rude."""
    if not is_own(body):
        return completion(verdict(body))
    polite = "please" in str(own_question(body)[1][-1])
    match schema(body):
        case {"type": "boolean"}:
            said: object = polite
        case {"type": "integer"}:
            said = 5 if polite else 2
        case {"type": "number"}:
            said = 0.9 if polite else 0.25
        case _:
            said = "formal" if polite else "rude"
    return completion(reply(body, said))
