"""Reason of each verdict: the deciding fact in one short sentence."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.models.offline import feature_names
from tasks.models.offline.features import RowFeatures
from tasks.models.offline.lexicon import BE, BELIEF, CERTAIN, END, KNOW

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


def reasons(rows: RowFeatures, references: Sequence[Sequence[str]], verdicts: NDArray[np.bool_]) -> Iterator[str]:
    """Yield the reason for each row's verdict.

    Args:
        rows: The features that the verdicts come from.
        references: The references of each row.
        verdicts: Whether each row is right, shape (n,).
    """
    columns = (rows.features, rows.clues, rows.spans, rows.references)
    for features, clues, (begin, end), best, accepted, right in zip(
        *(column.tolist() for column in columns), references, verdicts.tolist(), strict=True
    ):
        reason = _first(features, clues, begin, right=right)
        quotes = {"reference": _quoted(accepted[best])}
        if "{match}" in reason.sentence:
            quotes["match"] = _quoted(rows.quoted(begin, end))
        if reason.clue >= 0:
            quotes["clue"] = _quoted(rows.quoted(*_phrase(rows, reason.clue, clues[reason.clue])))
        yield reason.sentence.format_map(quotes)


def _first(row: Sequence[float], clues: Sequence[int], begin: int, *, right: bool) -> Reason:
    """Return the first reason whose conditions hold."""
    for reason in RIGHT if right else WRONG:
        if (
            row[reason.feature] > reason.above
            and (row[feature_names.EXACT] or not reason.exact)
            and (reason.clue < 0 or clues[reason.clue] >= 0)
            and (begin >= 0 or "{match}" not in reason.sentence)
        ):
            return reason
    return NOTHING_AGAINST if right else NOTHING_FOR


def _phrase(rows: RowFeatures, clue: int, i: int) -> tuple[int, int]:
    """Return begin and end of the words of a clue: "I think", "don't know", "might be", or one word."""
    if rows.stream.flags[i] & BELIEF:
        return i - 1, i + 1
    following = rows.stream.flags[i + 1] if i + 1 < len(rows.stream.flags) else END
    continues = clue in {feature_names.HEDGE_CLUE, feature_names.REFUSAL_CLUE} and following & (BE | CERTAIN | KNOW)
    return i, i + 1 + bool(continues and not following & END)


def _quoted(text: str) -> str:
    """Return the text in quotation marks, on one line and shortened."""
    line = " ".join(text[: 4 * QUOTED_LENGTH].split())
    return f'"{line if len(line) <= QUOTED_LENGTH else line[: QUOTED_LENGTH - 1] + "…"}"'
