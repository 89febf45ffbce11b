"""Hedges: what an answer calls possible it does not state, as "it could be spam"; "probably spam" it states."""

import re
from collections.abc import Sequence

from goldmeter.text.negation import Mark, joined

# Characters between a hedge and what it is of.
_LONGEST = 60
_ADVERBS = r"(?:\s+(?:also|well|just|easily|very well|possibly|potentially))*"
_HEDGE = re.compile(
    rf"(?<!\w)(?:(?:could|might|may)(?:\s+(?:it|this|that))?{_ADVERBS}"
    r"\s+(?:be|have been|mean|refer to|indicate|suggest|belong to|fall under|represent)"
    r"|it(?:'s| is)(?: also| just)? possible(?: that)?|maybe|perhaps|possibly|potentially|conceivably"
    r"|vielleicht|möglicherweise|eventuell|könnten?|peut-être|pourrait être|quizás?|tal vez|podría ser|talvez|pode ser"
    r"|forse|potrebbe essere|возможно|может быть)(?!\w)|可能(?!性)|也[许許]|或[许許]"
)
_BUT = r"(?<!\w)(?:but|however|probably|likely|so|aber|mais|pero|mas|ma|но)(?!\w)"
_GAP = re.compile(rf"(?:(?!{_BUT})[^.!?;:,\n。！？，])*")
_AFTER = re.compile(
    r"[\s\"'*`)\]]*(?:,?\s*(?:maybe|perhaps|possibly|vielleicht|peut-être|quizás?|forse)\s*(?:[.!?;,\n]|$)"
    r"|\s(?:is|are|remains?)(?: also| still)? (?:possible|conceivable|a possibility)(?!\w)"
    r"|\s(?:cannot|can ?not|can't) be (?:ruled out|excluded)(?!\w))"
)


def definite(folded: str, marks: Sequence[Mark]) -> list[Mark]:
    """Return the names that are stated, and not only called possible; all if several are called possible.

    Args:
        folded: The text in lower case.
        marks: The names in it, in their order.
    """
    hedges = [one for one in _HEDGE.finditer(folded) if not any(_overlap(one.span(), mark) for mark in marks)]
    if not hedges and not any(_AFTER.match(folded, mark.stop) for mark in marks):
        return [*marks]
    stated: list[Mark] = []
    last: Mark | None = None
    for mark in marks:
        listed = last is not None and joined(folded, last, mark)
        if listed or _is_hedged(folded, mark, hedges):
            last = mark
        else:
            stated, last = [*stated, mark], None
    return stated or ([*marks] if len({mark.label for mark in marks}) > 1 else [])


def _is_hedged(folded: str, mark: Mark, hedges: Sequence[re.Match[str]]) -> bool:
    if _AFTER.match(folded, mark.stop):
        return True
    before = [one.end() for one in hedges if one.end() <= mark.start <= one.end() + _LONGEST]
    return any(_GAP.fullmatch(folded, place, mark.start) for place in before)


def _overlap(span: tuple[int, int], mark: Mark) -> bool:
    return span[0] < mark.stop and mark.start < span[1]
