"""Verdicts of the offline judge per row: a probability that the response is right, and the deciding fact."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.models.offline import domain, feature_names, symbols, traps
from goldmeter.models.offline.features import RowFeatures, TextRows, row_features
from goldmeter.models.offline.polarity import polarity_of, says
from goldmeter.models.offline.same_quantities import compared
from goldmeter.models.offline.trees import shipped
from goldmeter.text.numbers import is_roman

if TYPE_CHECKING:
    import pyarrow as pa


# Part of signatures: raise it when the code changes a probability of an unchanged model file (tests: golden.json).
VERSION = 5
# Smallest probability of the verdict "right".
RIGHT = 0.5
# Probability of a response that differs by its value from the references, where the model takes both for the same;
# and of one with the expected polarity.
OTHER_VALUE, SAME_POLARITY = 0.05, 0.95
# Probability by the model of traps below which a response that has a reference is wrong.
TRAP = 0.25
BLANK = "The response is blank."


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
    questions, answers = ([text or "" for text in texts] for texts in (inputs, responses))
    accepted = [[text or "" for text in row] for row in references]
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
    rows = TextRows.of_columns(inputs, references, offsets, responses)
    return _judge_rows(rows, np.array(responses.is_null().to_numpy(zero_copy_only=False), np.bool_))


def _judge_rows(rows: TextRows, missing: NDArray[np.bool_]) -> Judged:
    """Judge each row, independently of the others; a blank reference is none.

    Args:
        rows: n rows; the text of a missing question or response is empty.
        missing: Rows without a response, shape (n,).
    """
    n, is_blank = len(missing), np.array([not text.strip() for text in rows.texts], np.bool_)
    owners = np.repeat(np.arange(n), np.diff(rows.offsets))
    accepted = ~is_blank[rows.references]
    is_known = ~missing & (np.bincount(owners[accepted], minlength=n) > 0)
    is_judged = is_known & ~is_blank[rows.responses]
    which = np.flatnonzero(is_judged)
    judged = Judged(np.where(is_known, 0.0, np.nan), [None] * n, [None] * n)
    for i in np.flatnonzero(is_known & ~is_judged).tolist():
        judged.reasons[i] = BLANK
    if not len(which):
        return judged
    kept = np.flatnonzero(accepted & is_judged[owners])
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owners[kept], minlength=n)[which])])
    chosen = TextRows(rows.texts, rows.questions[which], rows.references[kept], offsets, rows.responses[which])
    features = row_features(chosen)
    probabilities, row_reasons = _read(chosen, features)
    judged.probabilities[which] = probabilities
    for i, reason, outside in zip(which.tolist(), row_reasons, domain.reasons(features).tolist(), strict=True):
        judged.reasons[i] = reason
        judged.outside[i] = domain.REASONS[outside] if outside >= 0 else None
    return judged


class _Objections(NamedTuple):
    """Probabilities of n rows, and the objection to each: a kind of `traps`, or one of those below; -1 for none."""

    probabilities: NDArray[np.float64]
    kinds: NDArray[np.int8]


TRAPPED, SYMBOL, QUANTITY, POLARITY = range(traps.PART + 1, traps.PART + 5)


def _read(rows: TextRows, features: RowFeatures) -> tuple[NDArray[np.float64], list[str]]:
    """Return the probability of each row by the models and by the values that it states, and the reason."""
    probabilities, kinds = _judged(rows, features.features)
    is_exact = features.features[:, feature_names.EXACT] > 0
    has_number = features.features[:, feature_names.REFERENCE_NUMBERS] > 0
    for i in np.flatnonzero(~has_number & ~is_exact & (probabilities >= RIGHT)).tolist():
        has_number[i] = is_roman(rows.response(i))  # DCXI: the words of features have no numerals with C, D or M
    rewritten, rows_rewritten, conflicts = compared(rows, has_number, probabilities >= RIGHT, is_exact)
    probabilities[conflicts], kinds[conflicts] = OTHER_VALUE, QUANTITY
    row_reasons = reasons(features, probabilities >= RIGHT, kinds)
    if len(rewritten):
        again = row_features(rows_rewritten)
        probabilities[rewritten], new_kinds = _judged(rows_rewritten, again.features)
        sentences = reasons(again, probabilities[rewritten] >= RIGHT, new_kinds)
        for i, reason in zip(rewritten.tolist(), sentences, strict=True):
            row_reasons[i] = reason
    return probabilities, row_reasons


def _judged(rows: TextRows, features: NDArray[np.float64]) -> _Objections:
    """Judge by the model of answers; what it takes for right may be wrong by the model of traps or by its symbols."""
    probabilities = shipped().answers.probabilities(features)
    kinds = np.full(len(probabilities), -1, np.int8)
    _by_polarity(rows, probabilities, kinds)
    which = np.flatnonzero((probabilities >= RIGHT) & (kinds < 0))
    is_exact = features[:, feature_names.EXACT] > 0
    may_be_trap = _may_have_marks(features)
    found = np.zeros((len(which), len(traps.MARKS)))
    for place, i in enumerate(which.tolist()):
        references, response = rows.references_of(i), rows.response(i)
        if symbols.is_another(references, response, is_exact=bool(is_exact[i])):
            probabilities[i], kinds[i] = OTHER_VALUE, SYMBOL
        elif may_be_trap[i]:
            found[place] = traps.marks(rows.question(i), references, response)
    in_traps = shipped().traps.probabilities(np.hstack([features[which], found]))
    in_traps[found[:, traps.DECISIVE].any(axis=1)] = OTHER_VALUE
    for place in np.flatnonzero((in_traps < TRAP) & (kinds[which] < 0)).tolist():
        i, kind = which[place], traps.kind_of(found[place].tolist())
        probabilities[i], kinds[i] = in_traps[place], kind if kind >= 0 else TRAPPED
    return _Objections(probabilities, kinds)


def marks_of(rows: TextRows, features: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `traps.MARKS` of n rows; 0 for a response that is nothing but a reference."""
    found = np.zeros((len(features), len(traps.MARKS)))
    for i in np.flatnonzero(_may_have_marks(features)).tolist():
        found[i] = traps.marks(rows.question(i), rows.references_of(i), rows.response(i))
    return found


def _may_have_marks(features: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which responses are short, and more than a reference."""
    is_short = features[:, feature_names.RESPONSE_WORDS] <= np.log1p(traps.MOST_BLANKS + 2)
    return np.asarray(is_short & (features[:, feature_names.EQUAL] == 0), np.bool_)


def _by_polarity(rows: TextRows, probabilities: NDArray[np.float64], kinds: NDArray[np.int8]) -> None:
    """Write the verdicts on rows whose references are all "yes" or all "no"."""
    distinct, places = np.unique(rows.references[rows.offsets[:-1]], return_inverse=True)
    is_polar = np.array([polarity_of([rows.texts[text]]) != 0 for text in distinct.tolist()], np.bool_)
    for i in np.flatnonzero(is_polar[places]).tolist():
        expected = polarity_of(rows.references_of(i))
        if expected:
            same = says(rows.response(i)) == expected
            probabilities[i], kinds[i] = SAME_POLARITY if same else OTHER_VALUE, POLARITY


# Characters of a text that a reason quotes.
QUOTED_LENGTH = 60
WHOLE = 0.999


class Reason(NamedTuple):
    """A sentence, the column of the feature that must exceed `above`, and that limit."""

    sentence: str
    feature: int
    above: float = 0.0


FOR = (
    Reason("The answer is the reference {reference}.", feature_names.EQUAL),
    Reason("The answer contains the reference {reference}.", feature_names.EXACT),
    Reason("{match} and the reference {reference}: one is the initials of the other.", feature_names.INITIALS),
    Reason("The answer contains every word of the reference {reference}.", feature_names.RECALL, above=WHOLE),
    Reason("The answer contains the reference {reference} with a typing error.", feature_names.MISSPELT),
    Reason("The answer contains {match} of the reference {reference}.", feature_names.RECALL),
    Reason("{match} is similar to the reference {reference}.", feature_names.SOFT_RECALL),
)
AGAINST = (
    Reason("The answer contains the reference {reference}, but probably not as the answer.", feature_names.EXACT),
    Reason("The answer has another number than the reference {reference}.", feature_names.NUMBER_CONFLICT),
    Reason("{match} is another word than the reference {reference}.", feature_names.OTHER_WORD),
    Reason(
        "The answer contains the words of the reference {reference}, but probably not as the answer.",
        feature_names.RECALL,
        above=WHOLE,
    ),
    Reason("The answer contains only a part of the reference {reference}.", feature_names.SOFT_RECALL),
)
OBJECTIONS = {
    traps.NEGATED: "The answer denies the reference {reference}.",
    traps.ALTERNATIVE: "The answer names other candidates beside the reference {reference}.",
    traps.WITHDRAWN: "The answer withdraws the reference {reference}.",
    traps.HEDGED: "The answer is not sure of the reference {reference}.",
    traps.REFUSED: "The answer says that it does not know.",
    traps.ASIDE: "The answer mentions the reference {reference}, but gives another answer.",
    traps.TO_JUDGE: "The answer addresses the judge.",
    traps.PART: "The answer contains only a part of the reference {reference}.",
    TRAPPED: "The answer contains the reference {reference}, but probably not as the answer.",
    SYMBOL: "The answer has other symbols or another order than the reference {reference}.",
    QUANTITY: "The answer states another quantity than the reference {reference}.",
    POLARITY: "The answer says the opposite of the reference {reference}, or neither yes nor no.",
}
SAME_MEANING = "The answer says the same as the reference {reference}."
NOTHING_AGAINST = Reason("Nothing in the answer contradicts the reference {reference}.", 0)
NOTHING_FOR = Reason("The answer contains no word of a reference.", 0)
# All reasons in the order in which they are tried: those of right answers, then those of wrong ones.
_ALL = (*FOR, NOTHING_AGAINST, *AGAINST, NOTHING_FOR)


def reasons(rows: RowFeatures, verdicts: NDArray[np.bool_], kinds: NDArray[np.int8]) -> list[str]:
    """Return the reason for each row's verdict.

    Args:
        rows: The features that the verdicts come from.
        verdicts: Whether each row is right, shape (n,).
        kinds: The objection to each row, -1 for none, shape (n,).
    """
    sentences, quoted = np.empty(len(verdicts), object), cache(lambda number: _quoted(rows.distinct[number]))
    templates = [reason.sentence for reason in _ALL] + [*OBJECTIONS.values(), SAME_MEANING]
    first = np.where(kinds >= 0, len(_ALL) + kinds.astype(np.int64), _first(rows, verdicts))
    first[verdicts & (kinds == POLARITY)] = len(templates) - 1
    for number, template in enumerate(templates):
        which = np.flatnonzero(first == number)
        if len(which):
            sentences[which] = _sentences(template, rows, which, quoted)
    listed: list[str] = sentences.tolist()
    return listed


def _first(rows: RowFeatures, verdicts: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Return the first reason of each row whose conditions hold, as an index of `_ALL`; shape (n,)."""
    has_match = rows.spans[:, 0] >= 0
    first = np.where(verdicts, np.int8(len(FOR)), np.int8(len(_ALL) - 1))
    for number, reason in reversed([*enumerate(_ALL)]):
        if reason in {NOTHING_AGAINST, NOTHING_FOR}:
            continue
        holds = (rows.features[:, reason.feature] > reason.above) & (verdicts == (number < len(FOR)))
        if "{match}" in reason.sentence:
            holds &= has_match
        first[holds] = number
    return first


def _sentences(template: str, rows: RowFeatures, which: NDArray[np.int64], quoted: Callable[[int], str]) -> list[str]:
    """Return the sentence of each of some rows."""
    references = map(quoted, rows.texts[which, 2].tolist())
    if "{match}" not in template:
        return [template.format(reference=reference) for reference in references]
    matches = map(_quoted, rows.quoted(*rows.spans[which].T))
    return [template.format(match=match, reference=one) for match, one in zip(matches, references, strict=True)]


def _quoted(text: str) -> str:
    """Return the text in quotation marks, on one line and shortened."""
    line = " ".join(text[: 4 * QUOTED_LENGTH].split())
    return f'"{line if len(line) <= QUOTED_LENGTH else line[: QUOTED_LENGTH - 1] + "…"}"'
