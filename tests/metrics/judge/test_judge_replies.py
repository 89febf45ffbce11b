"""Replies of judges: the verdict outside of thoughts, or a named refusal; never another verdict."""

import json
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.metrics.judge_replies import (
    CUT_OBJECT,
    NO_OBJECT,
    NO_TEXT,
    OTHER_FIELDS,
    REFUSED,
    SEVERAL,
    WRONG_NONCE,
    WRONG_TYPE,
    verdict_in,
)
from goldmeter.metrics.verdict_types import Boolean, Criterion, Rubric
from goldmeter.text.thoughts import CUT_THOUGHT, THOUGHT_ONLY

FIELDS = {"nonce": "N7", "reason": "The same city.", "verdict": True}
RIGHT, WRONG = json.dumps(FIELDS), json.dumps(FIELDS | {"verdict": False})
FINAL = "<|end|><|start|>assistant<|channel|>final<|message|>"
READ = [
    RIGHT,
    f"<think>\nIs it {WRONG}?\n</think>\n\n{RIGHT}",
    f"<think>\n\n</think>\n\n{RIGHT}",
    f"Is it {WRONG}?\n</think>\n{RIGHT}",
    f"[THINK]{WRONG}[/THINK]{RIGHT}",
    f"<|channel|>analysis<|message|>{WRONG}{FINAL}{RIGHT}<|return|>",
    f"analysis{WRONG}assistantfinal{RIGHT}",
    f"Here is my grade:\n```json\n{RIGHT}\n```\nI hope it helps!",
    f"```\n```json\n{RIGHT}\n```\n```",
    f"```json\n<think>{WRONG}</think>\n{RIGHT}\n```",
    f"{RIGHT}\n\nTell me if you need more.",
    f"\ufeff{RIGHT}",
    str(FIELDS),
    json.dumps(FIELDS | {"verdict": "true"}),
    json.dumps(FIELDS | {"verdict": "Yes"}),
    json.dumps(RIGHT),
    f"[{RIGHT}]",
    f"{RIGHT}\n{RIGHT}",
    f'The data are {{"input": "Where?", "output": "Paris"}}.\n{RIGHT}',
    json.dumps(FIELDS | {"reason": 'It holds </think> and <think> and {"verdict": false}.'}),
]


@pytest.mark.parametrize("reply", READ)
def test_a_verdict_is_read(reply: str) -> None:
    assert verdict_in(reply, "N7", Boolean()).score == 1.0


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", NO_TEXT),
        ("I'm sorry, but I can't assess this.", REFUSED),
        ("I cannot help with that.", REFUSED),
        ("It is right.", NO_OBJECT),
        ("true", NO_OBJECT),
        (f"<think>{RIGHT}</think>", THOUGHT_ONLY),
        (f"<think>{RIGHT}", CUT_THOUGHT),
        (f"{RIGHT}<think>But", CUT_THOUGHT),
        (f"<|channel|>analysis<|message|>{RIGHT}", CUT_THOUGHT),
        (RIGHT[:-3], CUT_OBJECT),
        (f"{RIGHT} {WRONG}", SEVERAL),
        (f'{{"verdict": false}} {RIGHT}', SEVERAL),
        (f'{{"draft": {{"verdict": "no"}}}} {RIGHT}', SEVERAL),
        (f"{RIGHT} or {{verdict: false}}", SEVERAL),
        (f"{RIGHT} or {json.dumps(WRONG)}", SEVERAL),
        (f"{RIGHT} or {json.dumps({'draft': WRONG})}", SEVERAL),
        (f'{RIGHT} {{"nonce": "N7", "verdict": fal', SEVERAL),
        (RIGHT.replace("N7", "N8"), WRONG_NONCE),
        (json.dumps(FIELDS | {"more": 1}), OTHER_FIELDS),
        (json.dumps({"answer": FIELDS}), OTHER_FIELDS),
        (json.dumps(FIELDS | {"verdict": "maybe"}), WRONG_TYPE),
        (json.dumps(FIELDS | {"reason": None}), WRONG_TYPE),
        (RIGHT.replace('"reason"', '"verdict": false, "reason"'), NO_OBJECT),
    ],
)
def test_a_refused_reply_has_the_name_of_its_fault(reply: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        verdict_in(reply, "N7", Boolean())


def test_criteria_in_words_are_met_and_those_of_another_object_contradict() -> None:
    kind = Rubric(criteria=(Criterion("a", 1.0), Criterion("b", 1.0)))
    met = [{"criterion": 1, "met": "yes"}, {"criterion": 2, "met": False}]
    reply = json.dumps({"nonce": "N", "reason": "", "verdict": met})

    assert verdict_in(reply, "N", kind) == (0.5, "", "10")
    with pytest.raises(ValueError, match=SEVERAL):
        verdict_in(f"{reply} {json.dumps({'verdict': met[:1]})}", "N", kind)


Wrapper = Callable[[str, str], str]
"""From a text with a verdict, and an object with the opposite one, to a text with the former verdict."""
WRAPPERS: list[Wrapper] = [  # a server says itself that it cut a reply off
    lambda text, other: f"<think>{other}</think>{text}",
    lambda text, other: f"<think>\n{other}\n\n</think>\n{text}\n",
    lambda text, _: f"<think></think>{text}",
    lambda text, other: f"{other}</think>{text}",
    lambda text, other: f"<thinking>No. {other}</thinking> {text}",
    lambda text, other: f"[THINK]{other}[/THINK]{text}",
    lambda text, other: f"<|channel|>analysis<|message|>{other}{FINAL}{text}",
    lambda text, _: f"<|start|>assistant<|channel|>final <|constrain|>json<|message|>{text}<|return|>",
    lambda text, other: f"analysis{other}assistantfinal{text}",
    lambda text, _: f"```json\n{text}\n```",
    lambda text, _: f"```\n{text}```",
    lambda text, _: f"It's my verdict:\n{text}",
    lambda text, _: f"{text}\nThat isn't all {{x}}.",
    lambda text, _: f"<answer>{text}</answer>",
    lambda text, _: f"\ufeff{text}",
    lambda text, _: f"[{text}]",
    lambda text, _: json.dumps(text),
    lambda text, _: json.dumps({"verdict_object": text}),
    lambda text, other: f"{text}{other}",
    lambda text, other: f"{other}{text}",
    lambda text, other: f"{text}<think>{other}",
]
PRINTED = [json.dumps, str, lambda one: json.dumps(one | {"verdict": "yes" if one["verdict"] else "no"})]


@given(
    st.booleans(),
    st.sampled_from(PRINTED),
    st.sampled_from(PRINTED),
    st.lists(st.sampled_from(WRAPPERS), max_size=5),
    st.text(alphabet="ab'\"{}<>\n\\", max_size=8),
)
def test_no_nesting_of_wrappers_turns_a_verdict_around(
    verdict: bool,
    printed: Callable[..., str],
    other_printed: Callable[..., str],
    wrappers: list[Wrapper],
    reason: str,
) -> None:
    text = printed(FIELDS | {"verdict": verdict, "reason": reason})
    other = other_printed(FIELDS | {"verdict": not verdict})
    for wrapper in wrappers:
        text = wrapper(text, other)

    with suppress(ValueError):
        assert verdict_in(text, "N7", Boolean()).score == float(verdict)


@given(st.text(alphabet="{}[]\"'<>/|think: N7,verdictruefalsenonce\n", max_size=80))
def test_any_text_without_the_nonce_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="the reply"):
        verdict_in(text, "N8", Boolean())
