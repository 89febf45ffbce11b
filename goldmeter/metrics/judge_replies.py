"""The one verdict that a judge's reply states outside of its thoughts, or the name of what is wrong with the reply."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from goldmeter.metrics.verdict_types import Verdict, VerdictType
from goldmeter.text.stated_objects import Stated, stated_objects, unquoted
from goldmeter.text.thoughts import CUT_THOUGHT, THOUGHT_ONLY, spoken

# Why a reply is no verdict.
NO_TEXT: Final = "the reply has no text"
REFUSED: Final = "the reply refuses to answer"
CUT_OBJECT: Final = "the reply ends within its object"
NO_OBJECT: Final = "the reply is not one JSON object"
SEVERAL: Final = "the reply has several objects that differ"
OTHER_FIELDS: Final = "the reply has other fields than asked for"
WRONG_NONCE: Final = "the reply does not carry the nonce"
WRONG_TYPE: Final = "the reply has a field of a wrong type"


def verdict_in(reply: str, nonce: str, kind: VerdictType) -> Verdict:
    """Return the verdict of the one object in a reply that has the asked fields, and the nonce.

    Prose, fences, thoughts and other objects may stand around it. None of these objects may state another verdict.

    Raises:
        ValueError: There is no such object; the message says why.
    """
    stated = _stated(reply)
    found, problems, others = list[Verdict](), list[str](), [*stated.broken]
    for one in stated.objects:
        try:
            found.append(_said(one, nonce, kind))
        except ValueError as problem:
            problems.append(str(problem))
            others.append(str(one))
    if not found:
        raise ValueError(_problem(stated, problems))
    last = found[-1]
    values = [value for one in stated.objects for value in _values(one, kind.field)]
    is_contradicted = any(_says(value, kind) not in (None, (last.score, last.met)) for value in values)
    # A text that can't be read as an object, or is one in a string of another object, may state another verdict.
    if is_contradicted or any(nonce in text for text in others) or any(kind.field in text for text in stated.broken):
        raise ValueError(SEVERAL)
    return last


def _stated(reply: str) -> Stated:
    """Return the objects outside of thoughts. Raises ValueError if nothing is there."""
    whole = stated_objects(reply)
    if whole.is_whole:  # its strings may hold marks of thoughts
        return whole
    said = spoken(unquoted(reply), anywhere=True)
    if said.is_cut:
        raise ValueError(CUT_THOUGHT)
    if not said.text.strip():
        raise ValueError(THOUGHT_ONLY if said.has_thought else NO_TEXT)
    stated = stated_objects(said.text)
    if not stated.objects and not stated.broken:
        raise ValueError(REFUSED if _REFUSAL.match(said.text) else NO_OBJECT)
    return stated


def _said(values: Mapping[str, Any], nonce: str, kind: VerdictType) -> Verdict:
    """Return what an object says. Raises ValueError if it is not the one that was asked for."""
    if values.keys() != {"nonce", "reason", kind.field}:
        raise ValueError(OTHER_FIELDS)
    if values["nonce"] != nonce:
        raise ValueError(WRONG_NONCE)
    score, reason = kind.read(values[kind.field]), values["reason"]
    if score is None or not isinstance(reason, str):
        raise ValueError(WRONG_TYPE)
    return Verdict(score, reason.encode("utf-8", "replace").decode("utf-8"), kind.met(values[kind.field]))


def _problem(stated: Stated, problems: list[str]) -> str:
    """Return why none of the objects is a verdict; those of the last one, unless one merely lacks the nonce."""
    if not problems:
        return CUT_OBJECT if stated.is_cut else NO_OBJECT
    return WRONG_NONCE if WRONG_NONCE in problems else problems[-1]


def _says(value: object, kind: VerdictType) -> object:
    """Return what a value states as a verdict; None if it is none."""
    try:
        score = kind.read(value)
    except ValueError as problem:  # a verdict with a fault
        return str(problem)
    return None if score is None else (score, kind.met(value))


def _values(value: object, field: str) -> Iterator[object]:
    """Yield the values of a field in an object and in all that it holds."""
    if isinstance(value, dict):
        if field in value:
            yield value[field]
        for inner in value.values():
            yield from _values(inner, field)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(inner, field)


_REFUSAL = re.compile(
    r"(?:I['’]?m |I am )?(?:very )?(?:sorry|unable)\b|I (?:can['’]?t|cannot|won['’]t)\b|As an AI\b", re.IGNORECASE
)
