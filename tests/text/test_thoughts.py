"""Thoughts are told from answers by the marks of chat templates, and answers about such marks stay as they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.text.thoughts import Spoken, spoken

FINAL = "<|start|>assistant<|channel|>final<|message|>"
PAIRS = [
    ("<think>", "</think>"),
    ("<THINKING>\n", "\n</thinking>\n\n"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<seed:think>", "</seed:think>"),
    ("<scratchpad>\n", "</scratchpad>\n"),
    ("", "</think>"),
    ("", "\n[/THINK]\n"),
    ("<|channel|>analysis<|message|>", f"<|end|>{FINAL}"),
    ("analysis<|message|>", "<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>"),
    ("analysis", "assistantfinal"),
]


@pytest.mark.parametrize(("begin", "end"), PAIRS)
@pytest.mark.parametrize("anywhere", [False, True])
def test_an_answer_stands_behind_its_thought(begin: str, end: str, anywhere: bool) -> None:
    assert spoken(f"{begin}Is it Lyon?{end}Paris", anywhere=anywhere) == Spoken("Paris", has_thought=True)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>\n\n</think>\n\nParis", "Paris"),
        ("\ufeff<think>a</think><think>b</think>Paris", "Paris"),
        ("<think>a <think> b</think> c</think>Paris", "Paris"),
        ("Let me see.\n<thinking>a</thinking>\nParis", "Let me see.\n\nParis"),
        ("<reasoning>a</reasoning><answer>Paris</answer>", "Paris"),
        ("<think>a</think><answer>Paris", "Paris"),
        (f"<|channel|>analysis<|message|>a<|end|>{FINAL}Paris<|return|>", "Paris"),
        ("<think>a</think>", ""),
    ],
)
def test_what_is_said_is_left(text: str, answer: str) -> None:
    assert spoken(text) == Spoken(answer, has_thought=True)


@pytest.mark.parametrize("text", ["<think>Paris", "[THINK] It is Paris. But wait", "Paris\n<think>no", "<think>\n"])
def test_a_thought_without_an_end_is_cut(text: str) -> None:
    assert spoken(text).is_cut


@pytest.mark.parametrize(
    "text", ["<|channel|>analysis<|message|>It is Paris", "<|channel|>commentary<|message|>a<|end|>"]
)
def test_channels_without_a_final_one_are_cut(text: str) -> None:
    assert spoken(text) == Spoken("", has_thought=True, is_cut=True)


ABOUT = [
    "Models write <think> and </think> around thoughts.",
    "`</think>` ends it",
    'print("</think>")',
    "```\n<think>\na\n</think>\n```",
    "The token is <|channel|>analysis.",
    "I think, therefore I am [1].",
    " Paris ",
    "<answer>Paris</answer>",
    "analysis of the final",
]


@pytest.mark.parametrize("text", ABOUT)
def test_an_answer_about_marks_stays_as_it_is(text: str) -> None:
    assert spoken(text) == Spoken(text)


@pytest.mark.parametrize("text", ABOUT[:5])
def test_in_a_reply_marks_count_anywhere(text: str) -> None:
    assert spoken(text, anywhere=True).has_thought


PIECES = st.lists(st.sampled_from([*[mark for pair in PAIRS for mark in pair], "a", "\n", "`", "```", "<answer>"]))


@given(PIECES.map("".join), st.booleans())
def test_nothing_is_said_that_the_text_does_not_hold(text: str, anywhere: bool) -> None:
    found = spoken(text, anywhere=anywhere)

    assert set(found.text) <= {*text, "\n"}
    assert found.has_thought or found == Spoken(text)


@given(st.text(alphabet="abc {}\"'\n", max_size=30), st.sampled_from(PAIRS[:6]), st.text(alphabet="xyz", min_size=1))
def test_a_thought_never_becomes_the_answer(thought: str, pair: tuple[str, str], answer: str) -> None:
    assert spoken(f"{pair[0]}{thought}!{pair[1]}{answer}", anywhere=True).text == answer


@pytest.mark.parametrize(
    "piece",
    [
        "<think>x",
        "a</think>",
        "<|channel|>",
        "<answer> ",
        "analysis<|message|>",
        "`<think>",
        "`</think>",
        "a <think>x</think>",
    ],
)
def test_hostile_repetition_takes_no_long(piece: str) -> None:
    assert isinstance(spoken(piece * 100_000), Spoken)
    assert isinstance(spoken("<|channel|>" + "a" * 50_000, anywhere=True), Spoken)
