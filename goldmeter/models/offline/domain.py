"""The offline judge's domain: whether a row is like those on which its accuracy was measured; one reason per row."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from goldmeter.models.offline import feature_names, kinds
from goldmeter.models.offline.lexicon import CAPITAL, CLASSES, KNOWN, NUMBER, STOP

if TYPE_CHECKING:
    from goldmeter.models.offline.features import RowFeatures
    from goldmeter.models.offline.measured import Kind

# Words of the longest references and responses on which the judge was measured: on references of more than 10 words it
# agreed with human labels in 72 to 76 % (57 rows of EVOUNA-TQ) against 96 %; 99.9 % of the training responses have at
# most 120 words.
LONGEST_REFERENCE, LONGEST_RESPONSE = 10, 120
# Smallest shares of words in the Latin script, as the training rows have: of the reference and of the
# response alone, and of all texts together.
READABLE_ALONE, READABLE = 0.5, 0.8
# Smallest share of known English words among words in lower case, and fewest such words for a decision. 99.9 % of the
# training rows have a larger share; no German row of the bundled example has.
ENGLISH, FEWEST_WORDS = 0.6, 3

# Smallest agreement with human labels that is expected inside: the lower limit of a kind of question or reference.
EXPECTED = 0.8

SCRIPT, LANGUAGE = "another script", "another language than English"
REFERENCE_LENGTH = f"a reference of more than {LONGEST_REFERENCE} words"
RESPONSE_LENGTH = f"a response of more than {LONGEST_RESPONSE} words"
QUESTIONS = tuple(f'a question of kind "{kind}"' for kind in kinds.QUESTION_KINDS)
REFERENCES = tuple(f'a reference of kind "{kind}"' for kind in kinds.REFERENCE_KINDS)
_OF_TEXT = (SCRIPT, LANGUAGE, REFERENCE_LENGTH, RESPONSE_LENGTH)
REASONS = (*_OF_TEXT, *QUESTIONS, *REFERENCES)

# Letters beyond Latin: what follows Latin Extended-B, without Latin Extended Additional.
_OTHER_SCRIPT = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]")
# Function words of German, Spanish, French, Italian, Portuguese and Dutch that are no English words, without accents.
_FOREIGN_WORDS = (
    "der das ist und wer wie ein eine einen einer eines nicht auf mit zu fur wurde wurden wird welche welcher welches "
    "heißt dem den im zur zum sich auch oder aus ich "
    "el los las una unos quien cual como cuando donde por para con es en su fue lo "
    "le les est qui quel quelle dans sur au aux un une du il elle et ou sont "
    "gli che chi quale dove nel della sono di e "
    "os uma quem qual onde quando em nao foi "
    "het een wat welke waar zijn op niet"
)
# Whole answers in these languages that are no English words.
_FOREIGN_ANSWERS = (
    "ja nein oui sí sì eins zwei drei vier fünf sechs sieben acht neun zehn zwölf zwanzig dreißig hundert tausend "
    "deux trois quatre cinq huit neuf onze douze vingt trente mille tres cuatro cinco seis siete ocho nueve diez doce "
    "veinte treinta cien quattro cinque sette dieci venti cento quatro oito dez vinte cem twee drie vijf zes zeven "
    "negen tien twintig honderd duizend"
)
_FOREIGN, _FOREIGN_WHOLE = frozenset(_FOREIGN_WORDS.split()), frozenset(_FOREIGN_ANSWERS.split())


def reasons(rows: "RowFeatures") -> NDArray[np.int8]:
    """Return why each row lies outside the domain, as an index of `REASONS`; -1 inside; shape (n,).

    A row is outside if its texts are in another script or language than English, or longer than nearly all rows that
    the judge was trained on. Only the question, the response and the best reference are looked at.
    """
    counted = _counts(rows)
    of_row = counted[:, rows.texts].sum(axis=2)
    words = np.diff(rows.stream.offsets)
    total = np.maximum(words[rows.texts].sum(axis=1), 1)
    others, lowers, known, foreigns, stops = of_row
    speaks_other = (lowers >= FEWEST_WORDS) & ((known < ENGLISH * lowers) | (foreigns > stops))
    asked = rows.texts[:, :2]  # a name such as "El Paso" may be all of a reference and of a response
    speaks_other |= (stops == 0) & (counted[3, asked].sum(axis=1) > 1) & (words[asked].sum(axis=1) > FEWEST_WORDS)
    read = rows.texts[:, 1:]
    speaks_other |= np.array([text in _FOREIGN_WHOLE for text in rows.distinct], np.bool_)[read].any(axis=1)
    unread = (counted[0, read] > (1 - READABLE_ALONE) * words[read]).any(axis=1)
    outside = (
        unread | (others > (1 - READABLE) * total),
        speaks_other,
        rows.features[:, feature_names.REFERENCE_WORDS] > LONGEST_REFERENCE,
        words[rows.texts[:, 1]] > LONGEST_RESPONSE,
    )
    asks, accepts = _of_kinds(rows)
    kind = np.where(asks >= 0, asks, accepts)
    return np.select(outside, [np.int8(number) for number in range(len(_OF_TEXT))], kind)


def _of_kinds(rows: "RowFeatures") -> Iterator[NDArray[np.int8]]:
    """Yield the reason for which the question's and the reference's kind is outside, or -1; each of shape (n,)."""
    outside = _kinds_outside()
    for column, kind_of, sentences in ((0, kinds.question_kind, QUESTIONS), (2, kinds.reference_kind, REFERENCES)):
        distinct, places = np.unique(rows.texts[:, column], return_inverse=True)
        found = [outside.get((sentences, kind_of(rows.distinct[text])), -1) for text in distinct.tolist()]
        yield np.array(found, np.int8)[places]


@cache
def _kinds_outside() -> Mapping[tuple[tuple[str, ...], str | None], int]:
    """Return the sentences of a text and its kind → the reason; empty for a model of which nothing was measured."""
    from goldmeter.models.offline.measured import measured  # importing pyarrow takes long

    facts = measured()
    if facts is None:
        return {}
    groups = (("question", kinds.QUESTION_KINDS, QUESTIONS), ("reference", kinds.REFERENCE_KINDS, REFERENCES))
    return {
        (sentences, kind): REASONS.index(sentence)
        for group, names, sentences in groups
        for kind, sentence in zip(names, sentences, strict=True)
        if kind not in facts["kinds"][group] or not is_inside(facts["kinds"][group][kind])
    }


def is_inside(kind: "Kind") -> bool:
    """Return whether enough agreement with human labels is expected of a kind of question or reference."""
    return kind["low"] >= EXPECTED


def _counts(rows: "RowFeatures") -> NDArray[np.int64]:
    """Return how many words of each text are in another script, in lower case, known English, foreign, stop words.

    Returns:
        Shape (5, texts).
    """
    types, flags, offsets = rows.stream.types, rows.stream.flags, rows.stream.offsets
    forms = rows.words.forms
    is_number = types >= len(forms)
    places = np.where(is_number, len(forms), types)
    in_other, is_foreign = (
        np.array([*map(has, forms), False], np.bool_)[places]
        for has in (lambda form: not form.isascii() and bool(_OTHER_SCRIPT.search(form)), _FOREIGN.__contains__)
    )
    lower = ~in_other & ((flags & (CAPITAL | NUMBER)) == 0)
    known = lower & ~is_foreign & ((flags & (KNOWN | CLASSES)) > 0)
    columns = np.stack([in_other, lower, known, is_foreign, (flags & STOP) > 0])
    ends = np.concatenate([np.zeros((5, 1), np.int64), np.cumsum(columns, axis=1)], axis=1)
    counted: NDArray[np.int64] = ends[:, offsets[1:]] - ends[:, offsets[:-1]]
    return counted
