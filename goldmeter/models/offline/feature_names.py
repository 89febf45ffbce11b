"""Names of the features, in the order of their columns, and the direction in which each may change the verdict."""

from collections.abc import Mapping

DIRECTIONS: Mapping[str, int] = {
    "exact": 1,  # the whole reference is in the response
    "equal": 1,  # and nothing else does
    "recall": 1,  # of the reference's words, in the same form or another inflection
    "soft_recall": 1,  # the same, misspelt words and synonyms included
    "new_recall": 1,  # of the reference's words that the question does not have
    "run": 1,  # longest sequence of words in common, as a share of the reference
    "first_word": 1,
    "last_word": 1,
    "initials": 1,  # one is the initials of the other
    "abbreviated": 1,  # a name whose first names are shortened
    "misspelt": 0,  # words found only with a typing error
    "other_word": 0,  # words that differ by a letter or two, but are both known words
    "precision": 1,  # of the response's words that are not the question's
    "extra_words": 0,  # words of the response that neither question nor reference has; logarithm
    "position": 0,  # words before the match; logarithm
    "sentence": 0,  # sentences before the match
    "occurrences": 0,  # of the whole reference
    "reference_words": 0,
    "new_words": 0,  # of the reference, that the question does not have
    "response_words": 0,  # logarithm
    "copied": 0,  # share of the response's words that are the question's
    "reference_in_question": 0,  # share of the reference's words
    "reference_list": 0,  # the reference has several parts
    "parts": 1,  # of a reference joined by "and", the share of which a word occurs
    "reference_numbers": 0,
    "number_recall": 1,
    "number_conflict": -1,  # a number of the reference is missing, and the response has one that is nobody's
    "number_gap": 0,  # relative difference of the missing number and the closest one
    "year_gap": 0,  # years between them, when both may be years
    "other_numbers": 0,  # of the response, that neither question nor reference has; logarithm
    "name_words": 0,  # names, numbers and unknown words of the reference
    "missing_names": 0,  # those that the response lacks
    "month_missing": 0,  # the reference names a month, and the response none
    "month_conflict": 0,  # the response names another
    "trigram_recall": 0,  # of the reference's sequences of three letters, in a window of the response
    "trigram_jaccard": 0,
    "acronym": 0,  # a part of the reference is the initials of words of the response, or the other way round
    "synonym_recall": 0,  # of the reference's words, synonyms of WordNet included
    "references": 0,
    "references_found": 0,  # share of the references that are in the response
}

FEATURES = tuple(DIRECTIONS)
(
    EXACT, EQUAL, RECALL, SOFT_RECALL, NEW_RECALL, RUN, FIRST_WORD, LAST_WORD, INITIALS, ABBREVIATED, MISSPELT,
    OTHER_WORD, PRECISION, EXTRA_WORDS, POSITION, SENTENCE, OCCURRENCES, REFERENCE_WORDS, NEW_WORDS, RESPONSE_WORDS,
    COPIED, REFERENCE_IN_QUESTION, REFERENCE_LIST, PARTS, REFERENCE_NUMBERS, NUMBER_RECALL, NUMBER_CONFLICT,
    NUMBER_GAP, YEAR_GAP, OTHER_NUMBERS, NAME_WORDS, MISSING_NAMES, MONTH_MISSING, MONTH_CONFLICT, TRIGRAM_RECALL,
    TRIGRAM_JACCARD, ACRONYM, SYNONYM_RECALL, REFERENCES, REFERENCES_FOUND,
) = range(len(FEATURES))  # fmt: skip
