"""Reason of each verdict: the deciding fact in one short sentence."""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.models.offline import feature_names
from tasks.models.offline.features import RowFeatures
from tasks.models.offline.lexicon import BE, BELIEF, CERTAIN, END, KNOW
from tasks.models.offline.texts import Texts

# Characters of a text that a reason quotes.
QUOTED_LENGTH = 60
WHOLE = 0.999


class Reason(NamedTuple):
    """A sentence and its conditions.

    Attributes:
        sentence: Template of the sentence.
        feature: Column of the feature that must exceed `above`.
        above: The limit.
        exact: The whole reference must be in the response.
        clue: Kind of the word to quote, which must exist; -1 for none.
    """

    sentence: str
    feature: int
    above: float = 0.0
    exact: bool = False
    clue: int = -1


RIGHT = (
    Reason("the answer is the accepted answer {reference}", feature_names.EQUAL),
    Reason("the accepted answer {reference} stands in the answer", feature_names.EXACT),
    Reason("{match} and the accepted answer {reference}: one is the initials of the other", feature_names.INITIALS),
    Reason("{match} is short for the accepted answer {reference}, or the other way round", feature_names.ABBREVIATED),
    Reason("every word of the accepted answer {reference} occurs", feature_names.RECALL, above=WHOLE),
    Reason("the accepted answer {reference} occurs, but for a typing error", feature_names.MISSPELT),
    Reason("{match} stands for the accepted answer {reference}", feature_names.RUN),
    Reason("{match} is like the accepted answer {reference}", feature_names.SOFT_RECALL),
)
_of_match = partial(Reason, exact=True)
_negation = partial(_of_match, feature=feature_names.NEGATION_NEAR, clue=feature_names.NEGATION_CLUE)
WRONG = (
    _negation("a negation ({clue}) stands beside the accepted answer {reference}", above=0.5),
    _of_match(
        "another candidate ({clue}) stands beside the accepted answer {reference}",
        feature_names.OR_NEAR,
        clue=feature_names.OTHER_CLUE,
    ),
    _of_match("other candidates stand beside the accepted answer {reference}", feature_names.OR_NEAR),
    _of_match(
        "a hedge ({clue}) stands beside the accepted answer {reference}",
        feature_names.HEDGES,
        clue=feature_names.HEDGE_CLUE,
    ),
    Reason("the answer says that it does not know ({clue})", feature_names.REFUSAL, clue=feature_names.REFUSAL_CLUE),
    _negation("a negation ({clue}) stands near the accepted answer {reference}"),
    _of_match("other names or numbers come before the accepted answer {reference}", feature_names.NAMES_BEFORE),
    _of_match("the accepted answer {reference} stands among other names or numbers", feature_names.NAMES),
    _of_match("the accepted answer {reference} occurs, but not as the answer", feature_names.EXACT),
    Reason(
        "the number {clue} is not that of the accepted answer {reference}",
        feature_names.NUMBER_CONFLICT,
        clue=feature_names.NUMBER_CLUE,
    ),
    Reason("{match} is another word than the accepted answer {reference}", feature_names.OTHER_WORD),
    Reason(
        "the words of the accepted answer {reference} occur, but not as the answer", feature_names.RECALL, above=WHOLE
    ),
    Reason("only a part of the accepted answer {reference} occurs", feature_names.SOFT_RECALL),
)
NOTHING_AGAINST = Reason("nothing in the answer speaks against the accepted answer {reference}", 0)
NOTHING_FOR = Reason("no word of an accepted answer occurs", 0)
# All reasons in the order in which they are tried: those of right answers, then those of wrong ones.
_ALL = (*RIGHT, NOTHING_AGAINST, *WRONG, NOTHING_FOR)


def reasons(rows: RowFeatures, verdicts: NDArray[np.bool_]) -> list[str]:
    """Return the reason for each row's verdict.

    Args:
        rows: The features that the verdicts come from.
        verdicts: Whether each row is right, shape (n,).
    """
    first = _first(rows, verdicts)
    sentences = np.empty(len(verdicts), object)
    quoted = _Quoted(rows.distinct)
    for number, reason in enumerate(_ALL):
        which = np.flatnonzero(first == number)
        if len(which):
            sentences[which] = _sentences(reason, rows, which, quoted)
    listed: list[str] = sentences.tolist()
    return listed


def _first(rows: RowFeatures, verdicts: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Return the first reason of each row whose conditions hold, as an index of `_ALL`; shape (n,)."""
    exact, has_match = rows.features[:, feature_names.EXACT] > 0, rows.spans[:, 0] >= 0
    first = np.where(verdicts, np.int8(len(RIGHT)), np.int8(len(_ALL) - 1))
    for number, reason in reversed([*enumerate(_ALL)]):
        if reason in {NOTHING_AGAINST, NOTHING_FOR}:
            continue
        holds = (rows.features[:, reason.feature] > reason.above) & (verdicts == (number < len(RIGHT)))
        if reason.exact:
            holds &= exact
        if reason.clue >= 0:
            holds &= rows.clues[:, reason.clue] >= 0
        if "{match}" in reason.sentence:
            holds &= has_match
        first[holds] = number
    return first


def _sentences(reason: Reason, rows: RowFeatures, which: NDArray[np.int64], quoted: "_Quoted") -> list[str]:
    """Return the sentence of each of some rows."""
    if "{" not in reason.sentence:
        return [reason.sentence] * len(which)
    quotes = {"reference": map(quoted.__getitem__, rows.texts[which, 2].tolist())}
    if "{match}" in reason.sentence:
        quotes["match"] = map(_quoted, rows.quoted(*rows.spans[which].T))
    if reason.clue >= 0:
        quotes["clue"] = map(_quoted, rows.quoted(*_phrases(rows, reason.clue, rows.clues[which, reason.clue])))
    template, names = reason.sentence, [*quotes]
    for place, name in enumerate(names):
        template = template.replace(f"{{{name}}}", f"{{{place}}}")
    return [*map(template.format, *quotes.values())]


def _phrases(rows: RowFeatures, clue: int, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return begin and end of the words of clues: "I think", "don't know", "might be", or one word each."""
    flags = np.append(rows.stream.flags, np.int32(END))
    is_belief, following = flags[places] & BELIEF > 0, flags[places + 1]
    continues = (following & (BE | CERTAIN | KNOW) > 0) & (following & END == 0) & ~is_belief
    if clue not in {feature_names.HEDGE_CLUE, feature_names.REFUSAL_CLUE}:
        continues[:] = False
    return places - is_belief, places + 1 + continues


class _Quoted(dict[int, str]):
    """Number of a text → the text as it is quoted, made once."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    def __missing__(self, number: int) -> str:
        self[number] = quote = _quoted(self._texts[number])
        return quote


def _quoted(text: str) -> str:
    """Return the text in quotation marks, on one line and shortened."""
    line = " ".join(text[: 4 * QUOTED_LENGTH].split())
    return f'"{line if len(line) <= QUOTED_LENGTH else line[: QUOTED_LENGTH - 1] + "…"}"'
