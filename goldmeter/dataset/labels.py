"""Human labels of the answers of a batch, from columns beside them or a file of their own: words, numbers, raters."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from goldmeter.dataset.answers import Answers, Source
from goldmeter.dataset.columns import Problems
from goldmeter.dataset.joined import Entry
from goldmeter.dataset.paths import quoted
from goldmeter.dataset.settings import Dataset, LabelFile, LabelMapping, Word
from goldmeter.dataset.sources import Value, as_text
from goldmeter.dataset.texts import bare_text, finite, same_text
from goldmeter.errors import DataError
from goldmeter.estimates.column_facts import CONFIRMED, PROBABILITY, STALE
from goldmeter.pipeline.hashing import sha256
from goldmeter.text.thoughts import spoken

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
    number = finite(value)
    if number is None or not 0.0 < number <= 1.0:
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


def _rating(value: Value, mapping: LabelMapping) -> bool | None:
    """Return what a rater says; ValueError: no rule reads it."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, str):
        if mapping.unsure and _word(value) in _words(mapping.unsure):
            return None
        right = _by_rule(value.strip().lower(), mapping)
        if right is not None:
            return right is not mapping.invert
    raise ValueError


def _by_rule(text: str, mapping: LabelMapping) -> bool | None:
    """Return whether the text means right; None if no rule reads it."""
    if mapping.right or mapping.wrong:
        word = _word(text)
        return True if word in _words(mapping.right) else False if word in _words(mapping.wrong) else None
    if mapping.at_least is None and mapping.at_most is None:
        return LABELS.get(text)
    number = finite(text)
    if number is None:
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
    number = finite(word)
    return word if number is None else repr(number)


def _allowed(mapping: LabelMapping) -> str:
    if mapping.right or mapping.wrong:
        words = {"right": mapping.right, "wrong": mapping.wrong, "unsure": mapping.unsure}
        return "; ".join(f"{name}: {', '.join(map(str, some))}" for name, some in words.items() if some)
    if mapping.at_least is not None or mapping.at_most is not None:
        return "numbers, or nothing"
    return "true and false, 1 and 0, yes and no, or nothing"


Ratings: TypeAlias = list[bool | None]
LABEL_FILE = "dataset.label_file.label"


class LabelFault(NamedTuple):
    """A label that can't be read.

    Attributes:
        answer: Number of the answer.
        message: Says why.
        mapping: The mapping whose words do not contain it; None: it is not about words.
        file: The file of the label.
        is_of_rows: Whether the label of an answer that is rejected does not matter.
    """

    answer: int
    message: str
    mapping: LabelMapping | None
    file: str
    is_of_rows: bool


class LabelUse(NamedTuple):
    """Entries of a file of labels by their number: those of questions that are there, and those of an answer."""

    there: NDArray[np.int64]
    used: NDArray[np.int64]

    @classmethod
    def of(cls, several: Iterable["LabelUse"]) -> Self:
        """Return the use by several candidates."""
        there, used = zip(*several, strict=True)
        return cls(np.unique(np.concatenate(there)), np.unique(np.concatenate(used)))


class Label(NamedTuple):
    """The label of an answer.

    Attributes:
        value: Whether the answer is right; None: not labelled.
        status: Whether the label is of this response; None: not known.
        ratings: Those behind the label; None: none.
        probability: To be chosen for labelling; None: none is stated.
        is_contradicted: Whether as many labels call the answer right as wrong.
    """

    value: bool | None = None
    status: str | None = None
    ratings: Ratings | None = None
    probability: float | None = None
    is_contradicted: bool = False


class LabelColumns(NamedTuple):
    """The labels of answers as columns."""

    columns: dict[str, Sequence[Any]]
    faults: Sequence[LabelFault]
    uses: LabelUse


NO_USE = LabelUse(np.zeros(0, np.int64), np.zeros(0, np.int64))


def labels(answers: Answers, responses: Sequence[str | None], problems: Problems, source: Source) -> LabelColumns:
    """Return the labels of answers.

    Args:
        answers: The answers of a candidate.
        responses: Their texts.
        problems: Answers that can't be used, whose labels do not matter.
        source: The mapping.
    """
    faults: list[LabelFault] = []
    use = NO_USE
    if source.joined.labels is not None:
        found, use = _of_file(answers, problems, source, faults)
    elif (mapping := answers.mapping.label) is not None and mapping.score is None:
        found = _beside(answers, mapping, responses, problems, faults)
    else:
        found = [Label()] * len(answers)
    return LabelColumns(_columns(found, source.dataset), faults, use)


def machine_verdicts(
    answers: Answers, responses: Sequence[str | None], problems: Problems, faults: list[LabelFault]
) -> dict[str, list[float | None]]:
    """Return the verdicts of a tool or a model on answers, by the name of the score that they are."""
    mapping = answers.mapping.label
    if mapping is None or mapping.score is None:
        return {}
    found = _beside(answers, mapping, responses, problems, faults)
    known = [None if one.status == STALE else one.value for one in found]
    return {mapping.score: [None if value is None else float(value) for value in known]}


def _columns(found: Sequence[Label], dataset: Dataset) -> dict[str, Sequence[Any]]:
    stale = [one.status == STALE for one in found]
    pairs = [*zip(found, stale, strict=True)]
    return {
        "label": [None if is_stale else one.value for one, is_stale in pairs],
        "label_status": [None if one.value is None else one.status for one in found],
        "is_contradicted": [one.is_contradicted for one in found],
        **({"ratings": [None if is_stale else one.ratings for one, is_stale in pairs]} if dataset.has_raters else {}),
        **({PROBABILITY: [one.probability for one in found]} if dataset.labels == "designed" else {}),
    }


def _beside(
    answers: Answers,
    mapping: LabelMapping,
    responses: Sequence[str | None],
    problems: Problems,
    faults: list[LabelFault],
) -> list[Label]:
    """Read labels in columns beside the answers."""
    place, rater = f"{answers.place}.label", Rater(mapping, f"{answers.place}.label")
    rated = [*zip(*(answers[column] for column in mapping.all_columns), strict=True)]
    labelled = answers[answers.mapping.labelled] if answers.mapping.labelled else None
    stated = answers[mapping.probability] if mapping.probability else None
    found: list[Label] = []
    for row, (values, file, line) in enumerate(zip(rated, answers.files, answers.lines, strict=True)):
        label = Label()
        if row not in problems:
            try:
                ratings, value, given = rater.read(values, file, line)
                status = None if labelled is None else _status(labelled[row], responses[row] or "")
                probability = None
                if stated is not None:
                    entry = Entry(file, line, {str(mapping.probability): stated[row]})
                    probability = _probability([entry], mapping, place, is_labelled=value is not None)
                label = Label(value, status, ratings if given else None, probability)
            except (UnknownLabelError, DataError) as error:
                faults.append(_fault(row, error, file, is_of_rows=True))
        found.append(label)
    return found


def _status(labelled: Value, answer: str) -> str:
    """Return whether a label is of the response, by the labelled answer or its sha256."""
    labelled = labelled or ""
    is_hash = isinstance(labelled, str) and labelled.strip().lower() == sha256(answer).hex()
    same = labelled == answer or is_hash or (isinstance(labelled, str) and spoken(labelled).text == answer)
    return CONFIRMED if same else STALE


def _fault(row: int, error: Exception, file: str, *, is_of_rows: bool) -> LabelFault:
    mapping = error.mapping if isinstance(error, UnknownLabelError) else None
    return LabelFault(row, str(error), mapping, getattr(error, "file", file), is_of_rows)


class Rater:
    """Reads the ratings of an answer, and remembers what the values of its columns mean."""

    def __init__(self, mapping: LabelMapping, place: str) -> None:
        self._mapping, self._place = mapping, place
        self._read: dict[tuple[Value, ...], tuple[Ratings, bool | None, bool]] = {}

    def read(self, values: tuple[Value, ...], file: str, line: int) -> tuple[Ratings, bool | None, bool]:
        """Return the ratings, their majority, and whether there is one.

        Raises:
            UnknownLabelError: No rule reads a value.
        """
        try:
            known = self._read.get(values)
        except TypeError:  # a list, which no rule reads
            return self._rated(values, file, line)
        if known is None:
            known = self._read[values] = self._rated(values, file, line)
        return known

    def _rated(self, values: tuple[Value, ...], file: str, line: int) -> tuple[Ratings, bool | None, bool]:
        ratings: Ratings = []
        for column, value in zip(self._mapping.all_columns, values, strict=True):
            try:
                ratings.append(_rating(value, self._mapping))
            except ValueError:
                raise UnknownLabelError(
                    f"{file}, line {line}: {column} is {quoted(value)}, which is not a label ({self._place}); "
                    f"allowed: {_allowed(self._mapping)}",
                    self._mapping,
                    file,
                ) from None
        return ratings, majority(ratings), bool({True, False} & {*ratings})


class _Matching:
    """Tells which labels are of an answer: by the candidate, and by the answer's text where only that says it."""

    def __init__(self, given: LabelFile, dataset: Dataset) -> None:
        self.given = given
        self.is_by_text = given.response is not None and (given.candidate is None or dataset.has_draws)
        self._same, self._bare = cache(same_text), cache(bare_text)
        self._said: Callable[[str], str] = str if dataset.thoughts != "strip" else lambda text: spoken(text).text

    def is_of(self, entry: Entry, candidate: str | None, text: str | None) -> bool:
        """Return whether a label is of an answer, or of one that differs from it in punctuation and articles."""
        if self.given.candidate and entry.values.get(self.given.candidate) != candidate:
            return False
        labelled = self._text(entry) if self.is_by_text else None
        if labelled is None or text is None:
            return not self.is_by_text
        return labelled == text or self._bare(labelled) == self._bare(text)

    def is_same(self, entry: Entry, text: str | None) -> bool:
        """Return whether a label is of this very text, or names none."""
        labelled, text = self._text(entry) or "", text or ""
        return not self.given.response or labelled == text or self._same(labelled) == self._same(text)

    def _text(self, entry: Entry) -> str | None:
        text = entry.values.get(self.given.response) if self.given.response else None
        return self._said(text) if isinstance(text, str) else None


def _of_file(
    answers: Answers, problems: Problems, source: Source, faults: list[LabelFault]
) -> tuple[list[Label], LabelUse]:
    """Read the labels in a file of their own."""
    given, joined, dataset = source.dataset.label_file, source.joined.labels, source.dataset
    if given is None or joined is None:
        return [Label()] * len(answers), NO_USE
    rater = Rater(given.label, LABEL_FILE)
    entries = answers.questions.entries(joined)
    matching = _Matching(given, dataset)
    used: set[int] = set()
    found: list[Label] = []
    for row, question in enumerate(answers.rows.tolist()):
        label, response = Label(), answers.responses[row]
        text = response if isinstance(response, str) else None
        own = [one for one in entries[question] if matching.is_of(one, answers.names[row], text)]
        if own:
            used.update([one.number for one in own])
            try:
                label = _label_of_file(own, text, rater, matching, is_used=row not in problems)
            except (UnknownLabelError, DataError) as error:
                is_of_rows = not isinstance(error, UnknownLabelError)
                faults.append(_fault(row, error, own[0].file, is_of_rows=is_of_rows))
        found.append(label)
    there = [entry.number for some in entries for entry in some]
    return found, LabelUse(np.array(there, np.int64), np.array(sorted(used), np.int64))


def _label_of_file(
    own: Sequence[Entry], text: str | None, rater: Rater, matching: _Matching, *, is_used: bool
) -> Label:
    """Return the label of an answer by the labels that have its key: those of its very text, if there are any."""
    mapping, same = matching.given.label, [one for one in own if matching.is_same(one, text)]
    counted = same or own
    columns = mapping.all_columns
    each = [rater.read(tuple([one.values.get(name) for name in columns]), one.file, one.line) for one in counted]
    verdicts = [verdict for _, verdict, _ in each]
    value = majority(verdicts)
    probability = _probability(counted, mapping, LABEL_FILE, is_labelled=value is not None) if is_used else None
    every = [rating for ratings, _, _ in each for rating in ratings]
    status = None
    if matching.given.response is not None:
        status = CONFIRMED if same or matching.is_by_text else STALE
    is_given = any(given for _, _, given in each)
    return Label(value, status, every if is_given else None, probability, value is None and True in verdicts)


def _probability(entries: Sequence[Entry], mapping: LabelMapping, place: str, *, is_labelled: bool) -> float | None:
    """Return the one probability that the entries of an answer state; None where none is mapped or stated.

    Raises:
        DataError: It can't be used, two entries differ, or there is a label without one.
    """
    if mapping.probability is None:
        return None
    stated: dict[float, Entry] = {}
    for entry in entries:
        probability = probability_of(entry.values, mapping, entry.file, entry.line, place)
        if probability is not None:
            stated.setdefault(probability, entry)
    if len(stated) > 1:
        (first, _), (second, entry) = [*stated.items()][:2]
        raise DataError(
            f"{entry.file}, line {entry.line}: {mapping.probability} is {second:g}, but an earlier label of this "
            f"answer has {first:g}; expected the same ({place}.probability)"
        )
    if is_labelled and not stated:
        raise DataError(
            f"{entries[0].file}, line {entries[0].line}: the answer has a label, but no {mapping.probability} "
            f"({place}.probability); expected the row's probability to be chosen for labelling, above 0 and at most 1"
        )
    return next(iter(stated), None)
