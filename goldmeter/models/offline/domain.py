"""The offline judge's domain: whether a row is like those on which its accuracy was measured; one reason per row."""

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from goldmeter.models.offline import feature_names
from goldmeter.models.offline.texts import Texts, table_of

if TYPE_CHECKING:
    from goldmeter.models.offline.features import RowFeatures
    from goldmeter.text.kernels.numbering import Table

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

SCRIPT, LANGUAGE = "another script", "another language than English"
REFERENCE_LENGTH = f"a reference of more than {LONGEST_REFERENCE} words"
RESPONSE_LENGTH = f"a response of more than {LONGEST_RESPONSE} words"
REASONS = (SCRIPT, LANGUAGE, REFERENCE_LENGTH, RESPONSE_LENGTH)

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


def reasons(rows: "RowFeatures") -> NDArray[np.int8]:
    """Return why each row lies outside the domain, as an index of `REASONS`; -1 inside; shape (n,).

    A row is outside if its texts are in another script or language than English, or longer than nearly all rows that
    the judge was trained on. Only the question, the response and the best reference are looked at.
    """
    from goldmeter.models.offline.word_kernels import counts  # importing numba takes half a second

    stream = rows.stream
    counted = counts(stream.types, stream.flags, stream.offsets, _kinds(rows.words.forms))
    of_row = counted[:, rows.texts].sum(axis=2)
    words = np.diff(stream.offsets)
    total = np.maximum(words[rows.texts].sum(axis=1), 1)
    others, lowers, known, foreigns, stops = of_row
    speaks_other = (lowers >= FEWEST_WORDS) & ((known < ENGLISH * lowers) | (foreigns > stops))
    asked = rows.texts[:, :2]  # a name such as "El Paso" may be all of a reference and of a response
    speaks_other |= (stops == 0) & (counted[3, asked].sum(axis=1) > 1) & (words[asked].sum(axis=1) > FEWEST_WORDS)
    read = rows.texts[:, 1:]
    unread = (counted[0, read] > (1 - READABLE_ALONE) * words[read]).any(axis=1)
    outside = (
        unread | (others > (1 - READABLE) * total),
        speaks_other,
        rows.features[:, feature_names.REFERENCE_WORDS] > LONGEST_REFERENCE,
        words[rows.texts[:, 1]] > LONGEST_RESPONSE,
    )
    return np.select(outside, [np.int8(number) for number in range(len(REASONS))], np.int8(-1))


def _kinds(forms: Texts) -> NDArray[np.int8]:
    """Return FOREIGN_WORD and OTHER_SCRIPT of each form; shape (t,)."""
    from goldmeter.models.offline.word_kernels import FOREIGN_WORD, OTHER_SCRIPT

    kinds = np.where(forms.found_in(_foreign_words()) >= 0, np.int8(FOREIGN_WORD), np.int8(0))
    for form in np.flatnonzero(~forms.are_ascii()).tolist():
        kinds[form] |= OTHER_SCRIPT * bool(_OTHER_SCRIPT.search(forms[form]))
    return kinds


@cache
def _foreign_words() -> "Table":
    return table_of(sorted({*_FOREIGN_WORDS.split()}))
