"""Thoughts that models write beside their answers, by the marks of their chat templates."""

import re
from typing import Final, NamedTuple

# Why a text without its thoughts is no answer.
THOUGHT_ONLY: Final = "the reply is a thought without an answer"
CUT_THOUGHT: Final = "the reply was cut off within a thought"


class Spoken(NamedTuple):
    """A text without its thoughts. is_cut: a thought does not end, so that the answer is missing."""

    text: str
    has_thought: bool = False
    is_cut: bool = False


def spoken(text: str, *, anywhere: bool = False) -> Spoken:
    """Return a text without its thoughts.

    Thoughts are what stands between <think> and </think> (or thinking, thought, reasoning, reflection,
    scratchpad, seed:think, [THINK], ◁think▷),
    what stands before a closing mark without an opening one, and each harmony channel but `final`.

    Args:
        text: What a model wrote.
        anywhere: Marks count wherever they stand. Else an opening one counts at the start of a line, a closing one
            without it if it is not quoted, and none within a code fence: an answer may be about such marks.

    >>> spoken("<think>Lyon? No.</think>\\n\\nParis")
    Spoken(text='Paris', has_thought=True, is_cut=False)
    >>> spoken("Use `<think>` tags.").text
    'Use `<think>` tags.'
    """
    if not any(sign in text for sign in _SIGNS):  # most texts
        return Spoken(text)
    outside, is_open = _outside_marks(text, anywhere=anywhere)
    final = _final_channel("".join(outside), anywhere=anywhere)
    if len(outside) == 1 and not is_open and final is None:
        return Spoken(text)
    said = "".join(outside) if final is None else "\n".join(final)
    return Spoken(_without_answer_tags(said), has_thought=True, is_cut=is_open or final == [])


def _outside_marks(text: str, *, anywhere: bool) -> tuple[list[str], bool]:
    """Return the pieces of a text outside of thoughts, one if there is none; and whether the last thought is open."""
    outside, start, inside = list[str](), 0, ""
    mentioned, last, in_fence = set[str](), 0, False
    for mark in _MARK.finditer(text):
        kind, is_closing = (mark["tag"] or mark[0][0]).casefold(), mark[0][1] == "/"
        if inside:
            if is_closing and kind == inside:
                start = last = mark.end()
                inside, in_fence = "", False
            continue
        before, is_first, last = text[last : mark.start()], last == start, mark.end()
        in_fence ^= before.count(_FENCE) % 2 == 1
        counts = anywhere or (not in_fence and _counts(before, is_first=is_first, is_closing=is_closing))
        if is_closing and kind in mentioned:
            mentioned.discard(kind)
        elif not counts:
            mentioned |= set() if is_closing else {kind}
        elif is_closing:
            outside, start, in_fence = [""], mark.end(), False
        else:
            outside.append(text[start : mark.start()])
            inside = kind
    return ([*outside, ""] if inside else [*outside, text[start:]]), bool(inside)


def _counts(before: str, *, is_first: bool, is_closing: bool) -> bool:
    """Return whether a mark outside of thoughts and fences is one of the chat template.

    before: text since the mark before it; is_first: or since a thought.
    """
    if is_closing:
        return not before.endswith(_QUOTES)
    _, line_end, line = before.rpartition("\n")
    return (is_first or bool(line_end)) and not line.strip(_BLANKS)


def _final_channel(text: str, *, anywhere: bool) -> list[str] | None:
    """Return the messages of the harmony channel `final`; None if there are no channels.

    Source: OpenAI (2025), harmony response format.
    """
    if joined := _BARE_CHANNELS.fullmatch(text):
        return [joined["final"]]
    if not (_CHANNEL.search(text) if anywhere else _FIRST_CHANNEL.match(text)):
        return None
    return [message["text"].strip() for message in _MESSAGE.finditer(text) if message["name"] == "final"]


def _without_answer_tags(text: str) -> str:
    """Return an answer without the <answer> marks that some models set around it behind a thought."""
    stripped = text.strip().removeprefix(_BOM).strip()
    if stripped[: len(_ANSWER)].casefold() != _ANSWER:
        return stripped
    return stripped[len(_ANSWER) :].removesuffix("</answer>").strip()


_ANSWER = "<answer>"
_BOM, _FENCE, _QUOTES, _BLANKS = "\ufeff", "```", ("`", '"', "'"), " \t\r\ufeff"
_SIGNS = ("<", "[", "◁", "assistantfinal")
_TAGS = "think|thinking|thought|reasoning|reflection|scratchpad|seed:think"
_MARK = re.compile(rf"</?(?P<tag>{_TAGS})>|\[/?THINK\]|◁/?think▷", re.IGNORECASE)
_CHANNEL = re.compile(r"<\|(?:channel|message)\|>")
_FIRST_CHANNEL = re.compile(r"\s*(?:<\|start\|>\w*)?\s*(?:<\|channel\|>|(?:analysis|commentary|final)<\|message\|>)")
_MESSAGE = re.compile(
    r"(?:<\|channel\|>|\A)\s*+(?P<name>\w++)[^<]*+(?:<\|constrain\|>[^<]*+)?<\|message\|>"
    r"(?P<text>.*?)(?=<\|(?:end|return|call|start|channel)\|>|\Z)",
    re.DOTALL,
)
# Special tokens are lost where a server decodes without them.
_BARE_CHANNELS = re.compile(r"\s*analysis(?=\S).*assistantfinal(?P<final>.*)", re.DOTALL)
