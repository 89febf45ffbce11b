"""Names of the features, in the order of their columns, and the direction in which each may change the verdict."""

from collections.abc import Mapping

DIRECTIONS: Mapping[str, int] = {
    "exact": 1,  # the whole reference is in the response
    "equal": 1,  # and nothing else does
    "recall": 1,  # of the reference's words, in the same form or another inflection
    "soft_recall": 1,  # the same, misspelt words included
    "new_recall": 1,  # of the reference's words that the question does not have
    "initials": 1,  # one is the initials of the other
    "misspelt": 0,  # words found only with a typing error
    "other_word": 0,  # words that differ by a letter or two, but are both known words
    "precision": 1,  # of the response's words that are not the question's
    "extra_words": 0,  # words of the response that neither question nor reference has; logarithm
    "position": 0,  # words before the match; logarithm
    "reference_words": 0,
    "new_words": 0,  # of the reference, that the question does not have
    "response_words": 0,  # logarithm
    "reference_numbers": 0,
    "number_recall": 1,
    "number_conflict": -1,  # a number of the reference is missing, and the response has one that is nobody's
    "number_gap": 0,  # relative difference of the missing number and the closest one
    "other_numbers": 0,  # of the response, that neither question nor reference has; logarithm
    "name_words": 0,  # names, numbers and unknown words of the reference
    "missing_names": 0,  # those that the response lacks
    "trigram_recall": 0,  # of the reference's sequences of three letters, in a window of the response
    "references": 0,
    "references_found": 0,  # share of the references that are in the response
}

FEATURES = tuple(DIRECTIONS)
(
    EXACT, EQUAL, RECALL, SOFT_RECALL, NEW_RECALL, INITIALS, MISSPELT, OTHER_WORD, PRECISION, EXTRA_WORDS, POSITION,
    REFERENCE_WORDS, NEW_WORDS, RESPONSE_WORDS, REFERENCE_NUMBERS, NUMBER_RECALL, NUMBER_CONFLICT, NUMBER_GAP,
    OTHER_NUMBERS, NAME_WORDS, MISSING_NAMES, TRIGRAM_RECALL, REFERENCES, REFERENCES_FOUND,
) = range(len(FEATURES))  # fmt: skip
