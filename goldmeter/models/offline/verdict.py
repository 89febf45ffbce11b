"""Verdicts of the offline judge per row: a probability that the response is right, and the deciding fact."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.models.offline import domain, feature_names
from goldmeter.models.offline.features import RowFeatures, TextRows, row_features
from goldmeter.models.offline.lexicon import BE, BELIEF, CERTAIN, END, KNOW
from goldmeter.models.offline.same_quantities import compared
from goldmeter.models.offline.texts import Texts
from goldmeter.models.offline.trees import shipped

if TYPE_CHECKING:
    import pyarrow as pa


# Part of signatures: raise it when the code changes a probability of an unchanged model file (tests: golden.json).
VERSION = 2
# Smallest probability of the verdict "right".
RIGHT = 0.5
# Probability of a response with another quantity than the accepted ones, where the model takes both for the same.
OTHER_QUANTITY = 0.05
BLANK = "the response is blank"


class Judged(NamedTuple):
    """Verdicts of n rows.

    Attributes:
        probabilities: Shape (n,), float64, in [0, 1]; NaN without a response or a reference, 0 for a blank response.
        reasons: The deciding fact in one sentence; None where the probability is NaN.
        outside: Why a row lies outside the judge's domain; None inside, without a probability, and for a blank
            response.
    """

    probabilities: NDArray[np.float64]
    reasons: list[str | None]
    outside: list[str | None]


def judge(inputs: Sequence[str | None], references: Sequence[Sequence[str]], responses: Sequence[str | None]) -> Judged:
    """Judge each row, independently of the others.

    Args:
        inputs: Question of each row, or None.
        references: Accepted answers of each row.
        responses: Response of each row, or None.

    Raises:
        ValueError: The lengths differ.
    """
    if not len(inputs) == len(references) == len(responses):
        raise ValueError(
            f"{len(inputs)} inputs, {len(references)} rows of references and {len(responses)} responses: "
            "there must be as many of each"
        )
    missing = np.array([response is None for response in responses], np.bool_)
    filled = ([text or "" for text in texts] for texts in (inputs, responses))
    accepted = [[text or "" for text in row] for row in references]
    questions, answers = filled
    return _judge_rows(TextRows.of(questions, accepted, answers), missing)


def judge_columns(
    inputs: "pa.Array | None", references: "pa.Array", offsets: NDArray[np.int64], responses: "pa.Array"
) -> Judged:
    """Judge each row of Arrow columns, independently of the others; a blank reference is none.

    Args:
        inputs: Question of each of n rows, or null; None: there are no questions.
        references: Accepted answers, row after row.
        offsets: Shape (n + 1,); row i has the references from `offsets[i]` to `offsets[i + 1]`.
        responses: Response of each row, or null.
    """
    questions = Texts.of([""] * len(responses)) if inputs is None else Texts.of_column(inputs)
    rows = TextRows(questions, Texts.of_column(references), offsets, Texts.of_column(responses))
    return _judge_rows(rows, np.array(responses.is_null().to_numpy(zero_copy_only=False), np.bool_))


def _judge_rows(rows: TextRows, missing: NDArray[np.bool_]) -> Judged:
    """Judge each row, independently of the others; a blank reference is none.

    Args:
        rows: n rows; the text of a missing question or response is empty.
        missing: Rows without a response, shape (n,).
    """
    n = len(missing)
    owners = np.repeat(np.arange(n), np.diff(rows.offsets))
    accepted = ~rows.references.are_blank()
    is_known = ~missing & (np.bincount(owners[accepted], minlength=n) > 0)
    blank = rows.responses.are_blank()
    which, is_judged = np.flatnonzero(is_known & ~blank), is_known & ~blank
    judged = Judged(np.where(is_known, 0.0, np.nan), [None] * n, [None] * n)
    for i in np.flatnonzero(is_known & blank).tolist():
        judged.reasons[i] = BLANK
    if not len(which):
        return judged
    kept = np.flatnonzero(accepted & is_judged[owners])
    counts = np.bincount(owners[kept], minlength=n)[which]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    chosen = TextRows(rows.questions.take(which), rows.references.take(kept), offsets, rows.responses.take(which))
    features = row_features(chosen)
    probabilities, row_reasons = _read(chosen, features)
    judged.probabilities[which] = probabilities
    for i, reason, outside in zip(which.tolist(), row_reasons, domain.reasons(features).tolist(), strict=True):
        judged.reasons[i] = reason
        judged.outside[i] = domain.REASONS[outside] if outside >= 0 else None
    return judged


def _read(rows: TextRows, features: RowFeatures) -> tuple[NDArray[np.float64], list[str]]:
    """Return the probability of each row by the model and by the quantities that it states, and the reason."""
    probabilities = shipped().probabilities(features.features)
    is_exact = features.features[:, feature_names.EXACT] > 0
    has_number = features.features[:, feature_names.REFERENCE_NUMBERS] > 0
    rewritten, rows_rewritten, conflicts = compared(rows, has_number, probabilities >= RIGHT, is_exact)
    probabilities[conflicts] = OTHER_QUANTITY
    row_reasons = reasons(features, probabilities >= RIGHT)
    others = [*zip(conflicts.tolist(), _sentences(OTHER, features, conflicts, _Quoted(features.distinct)), strict=True)]
    if len(rewritten):
        again = row_features(rows_rewritten)
        probabilities[rewritten] = shipped().probabilities(again.features)
        others += zip(rewritten.tolist(), reasons(again, probabilities[rewritten] >= RIGHT), strict=True)
    for i, reason in others:
        row_reasons[i] = reason
    return probabilities, row_reasons


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


FOR = (
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
AGAINST = (
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
OTHER = Reason("another quantity than the accepted answer {reference}", 0)
NOTHING_AGAINST = Reason("nothing in the answer speaks against the accepted answer {reference}", 0)
NOTHING_FOR = Reason("no word of an accepted answer occurs", 0)
# All reasons in the order in which they are tried: those of right answers, then those of wrong ones.
_ALL = (*FOR, NOTHING_AGAINST, *AGAINST, NOTHING_FOR)


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
    first = np.where(verdicts, np.int8(len(FOR)), np.int8(len(_ALL) - 1))
    for number, reason in reversed([*enumerate(_ALL)]):
        if reason in {NOTHING_AGAINST, NOTHING_FOR}:
            continue
        holds = (rows.features[:, reason.feature] > reason.above) & (verdicts == (number < len(FOR)))
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
