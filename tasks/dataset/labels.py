"""Human labels as people write them: words, numbers, several raters."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import isfinite, nan

from tasks.dataset.paths import quoted
from tasks.dataset.settings import LabelMapping, Word
from tasks.dataset.sources import Value, as_text
from tasks.errors import DataError

# pandas writes 1.0 and 0.0 for 1 and 0 in a column with missing values.
LABELS = dict.fromkeys(("true", "1", "1.0", "yes"), True) | dict.fromkeys(("false", "0", "0.0", "no"), False)
# Words of a column that an error message lists.
WORDS_LISTED = 20


class UnknownLabelError(Exception):
    """A value that no rule of the mapping reads; the message says so, `columns` are those with such values."""

    def __init__(self, message: str, mapping: LabelMapping, file: str) -> None:
        super().__init__(message)
        self.mapping, self.file = mapping, file

    def with_words(self, records: Iterable[Mapping[str, Value]]) -> DataError:
        """Return the error with the words of the columns, and how to map them."""
        words: dict[str, str] = {}
        for values in records:
            for column in self.mapping.all_columns:
                if isinstance(value := values.get(column), str) and value.strip():
                    words.setdefault(_word(value), value.strip())
                if len(words) > WORDS_LISTED:
                    break
        listed = [quoted(word) for word in words.values()]
        more = ["…"] * (len(listed) > WORDS_LISTED)
        several, one = self.mapping.columns, self.mapping.column
        place = f"columns: [{', '.join(several)}]" if several else f"column: {one}"
        return DataError(
            f"{self}\nits values: {', '.join(listed[:WORDS_LISTED] + more)}\n"
            f"to map them: label: {{{place}, right: [...], wrong: [...], unsure: [...]}}, or at_least: 4 for numbers"
        )


def label_of(values: Mapping[str, Value], mapping: LabelMapping, file: str, line: int, place: str) -> bool | None:
    """Return whether the answer is right, by the majority of the columns; None: no label, a tie, or unsure.

    Raises:
        UnknownLabelError: No rule reads a value.
    """
    return majority(ratings_of(values, mapping, file, line, place))


def ratings_of(
    values: Mapping[str, Value], mapping: LabelMapping, file: str, line: int, place: str
) -> list[bool | None]:
    """Return whether the answer is right, by each of the columns; None: no label, or unsure.

    Raises:
        UnknownLabelError: No rule reads a value.
    """
    try:
        return [_of_rater(values.get(column), column, mapping) for column in mapping.all_columns]
    except _UnreadableError as error:
        message = f"{file}, line {line}: {error}, which is not a label ({place}); allowed: {_allowed(mapping)}"
        raise UnknownLabelError(message, mapping, file) from None


def probability_of(
    values: Mapping[str, Value], mapping: LabelMapping, file: str, line: int, place: str
) -> float | None:
    """Return the row's probability to be chosen for labelling; None where the column is blank, or none is mapped.

    Raises:
        DataError: It is no number above 0 and at most 1.
    """
    value = values.get(mapping.probability) if mapping.probability else None
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    number = _number(value) if isinstance(value, str) else nan
    if not 0.0 < number <= 1.0:
        raise DataError(
            f"{file}, line {line}: {mapping.probability} is {quoted(value)} ({place}.probability); expected the row's "
            "probability to be chosen for labelling, above 0 and at most 1, or nothing for a row that was not chosen"
        )
    return number


def majority(verdicts: Sequence[bool | None]) -> bool | None:
    """Return what more raters say than not; None for a tie, and if none of them says anything.

    >>> majority([True, None, True, False]), majority([True, False]), majority([])
    (True, None, None)
    """
    right, wrong = verdicts.count(True), verdicts.count(False)
    return None if right == wrong else right > wrong


class _UnreadableError(Exception):
    """No rule reads the value."""


def _of_rater(value: Value, column: str, mapping: LabelMapping) -> bool | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, str):
        if mapping.unsure and _word(value) in _words(mapping.unsure):
            return None
        right = _by_rule(value.strip().lower(), mapping)
        if right is not None:
            return right is not mapping.invert
    raise _UnreadableError(f"{column} is {quoted(value)}")


def _by_rule(text: str, mapping: LabelMapping) -> bool | None:
    """Return whether the text means right; None if no rule reads it."""
    if mapping.right or mapping.wrong:
        word = _word(text)
        return True if word in _words(mapping.right) else False if word in _words(mapping.wrong) else None
    if mapping.at_least is None and mapping.at_most is None:
        return LABELS.get(text)
    number = _number(text)
    if not isfinite(number):
        return None
    return (mapping.at_least is None or number >= mapping.at_least) and (
        mapping.at_most is None or number <= mapping.at_most
    )


@cache
def _words(words: tuple[Word, ...]) -> frozenset[str]:
    # YAML reads an unquoted Yes as true, so true stands for every word that says so.
    meant = {text for text, right in LABELS.items() for word in words if word is right}
    return frozenset(_word(str(as_text(word))) for word in words) | {_word(text) for text in meant}


def _word(text: str) -> str:
    """Return the form in which words are compared: case does not count, and 5 is 5.0.

    >>> _word(" CORRECT "), _word("5"), _word("5.0")
    ('correct', '5.0', '5.0')
    """
    word = text.strip().casefold()
    number = _number(word)
    return repr(number) if isfinite(number) else word


def _number(text: str) -> float:
    try:
        # float() alone would read 1_000 as a number.
        return float(text) if "_" not in text else nan
    except ValueError:
        return nan


def _allowed(mapping: LabelMapping) -> str:
    if mapping.right or mapping.wrong:
        words = {"right": mapping.right, "wrong": mapping.wrong, "unsure": mapping.unsure}
        return "; ".join(f"{name}: {', '.join(map(str, some))}" for name, some in words.items() if some)
    if mapping.at_least is not None or mapping.at_most is not None:
        return "numbers, or nothing"
    return "true and false, 1 and 0, yes and no, or nothing"
