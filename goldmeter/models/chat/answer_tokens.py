"""The probability that a verdict is true, from the log-probabilities of the token that states it."""

import re
from collections.abc import Mapping, Sequence
from math import exp, isfinite
from typing import Any, Final, NamedTuple

# Other tokens that are asked for at each place.
ALTERNATIVES: Final = 5
# How a verdict begins; a token may hold a part of it, with the quotation mark or the colon before it.
_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0")
_MARKS: Final = " \t\r\n\"':"
# Logarithms of probabilities may be above 0 by as much, through rounding.
_ROUNDING: Final = 1e-4
# Smallest sum of the probabilities of both verdicts; below it, the token is none of a verdict.
_LEAST: Final = 0.5


class Token(NamedTuple):
    """A token of a reply. likely: token → log-probability of those that were likely in its place, itself included."""

    text: str
    likely: Mapping[str, float]


def tokens_of(choice: Mapping[str, Any]) -> list[Token] | None:
    """Return the tokens of a choice of a completion; None where the server tells no log-probabilities, or odd ones."""
    try:
        content = choice["logprobs"]["content"]
        return [Token(_text(one), _likely(one)) for one in content] or None
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def true_probability(tokens: Sequence[Token], field: str) -> float | None:
    """Return the probability that the field of a reply is true, given what the reply says before it.

    It is the sum over all spellings at the field's first token; what the server does not list counts for the verdict
    that was not given.

    Args:
        tokens: Of the whole reply.
        field: The verdict's name.

    Returns:
        None where the place of the verdict is not certain, or no verdict is likely there.

    >>> likely = {" true": -0.105, " false": -2.303}
    >>> round(true_probability([Token('{"verdict":', {}), Token(" true", likely), Token("}", {})], "verdict"), 2)
    0.9
    """
    text, places = "".join(token.text for token in tokens), list[int]()
    for place, token in enumerate(tokens):
        places += [place] * len(token.text)
    found = [*re.finditer(rf"""["']{re.escape(field)}["']\s*:\s*["']?(?=(\w))""", text)]
    if len(found) != 1:
        return None
    said = tokens[places[found[0].start(1)]]
    is_true = _verdict(said.text)
    sums = {True: 0.0, False: 0.0}
    for other, logarithm in said.likely.items():
        if (verdict := _verdict(other)) is not None:
            sums[verdict] += exp(logarithm)
    if is_true is None or sum(sums.values()) < _LEAST:
        return None
    sums[not is_true] += max(0.0, 1.0 - sum(map(exp, said.likely.values())))
    return min(1.0, max(0.0, sums[True] / sum(sums.values())))


def _verdict(token: str) -> bool | None:
    """Return which verdict a token begins; None if it begins none.

    >>> _verdict(' "Yes'), _verdict("fal"), _verdict("}")
    (True, False, None)
    """
    word = token.strip(_MARKS + ",}").casefold()
    for verdict, words in ((True, _TRUE), (False, _FALSE)):
        if word and any(one.startswith(word) for one in words):
            return verdict
    return None


def _text(one: Mapping[str, Any]) -> str:
    if not isinstance(one["token"], str):
        raise TypeError
    return str(one["token"])


def _likely(one: Mapping[str, Any]) -> dict[str, float]:
    listed = [one, *(one.get("top_logprobs") or ())]
    return {_text(other): _logarithm(other["logprob"]) for other in listed}


def _logarithm(value: Any) -> float:
    if type(value) not in {int, float} or not isfinite(value) or value > _ROUNDING:
        raise ValueError
    return min(float(value), 0.0)
