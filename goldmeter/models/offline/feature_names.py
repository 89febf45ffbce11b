"""Names of the features, in the order of their columns, and the direction in which each may change the verdict."""

from collections.abc import Mapping

DIRECTIONS: Mapping[str, int] = {
    "exact": 1,  # the whole reference stands in the response
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
    "names": 0,  # other names and numbers in the response, at most 20
    "names_before": -1,  # those before the match in its sentence
    "names_earlier": 0,  # those in sentences before it
    "numbers_before": -1,  # other numbers before the match, when it is a number
    "name_first": -1,  # another name opens the response
    "asked_here": 1,  # the question's words in the sentence of the match, as a share of the sentence with most
    "asked_clause": 1,  # the same of the clause of the match
    "hedge_near": -1,  # in the sentence of the match
    "hedge_beside": -1,  # within a few words of the match
    "hedge_clause": -1,  # in the clause of the match
    "hedges": -1,
    "doubts": -1,  # hedges in the first person, anywhere
    "refusal": -1,
    "negation_near": -1,  # the closer, the nearer to 1
    "negations": 0,
    "or_near": -1,  # another candidate beside the match, joined by "or" or a slash
    "or_either": -1,
    "one_of": -1,  # "one of these two", anywhere
    "and_near": -1,
    "comma_near": 0,
    "contrast_before": 0,
    "contrast_after": -1,
    "corrected": -1,  # a negation before the match, and another candidate after it
    "introduced": 1,  # a form of "be", or "by", stands before the match
    "aside_before": -1,  # a word that introduces what is not meant, such as "than"
    "aside_clause": -1,  # one before the match in its clause
    "answered_before": -1,  # what "be" says was complete before the match, and another candidate
    "subordinate": -1,  # words such as "which" between another candidate and the match
    "clauses": 0,  # that begin before the match in its sentence
    "span_capital": 0,
    # What follows has no direction: it depends on other facts.
    "wanted": 0,  # 1: the reference says yes; -1: no; 0: neither
    "polarity": 0,  # 1: reference and response both affirm or both deny; -1: one affirms, the other denies; 0: neither
    "polarity_loose": 0,  # the same, where a response without a negation affirms
    "yes_and_no": 0,  # the response says both
    "cue_before": 0,  # words that take back what stands before the match
    "cue_after": 0,  # the same after the match
    "cue_match": 0,  # a word of a reference stands after the last of them
    "cue_other": 0,  # another name does
    "hearsay": 0,  # "some people say"
    "hearsay_before": 0,  # before the match in its sentence
    "excluded": 0,  # "except", "anything but" before the match
    "denied_before": 0,  # "hardly", "it is false that"
    "denied_after": 0,  # "can be ruled out", "No" within a few words after the match
    "doubtful": 0,  # phrases of doubt, in many languages
    "sure": 0,  # phrases of certainty
    "refuses": 0,  # phrases of refusal, in many languages
    "refuses_first": 0,  # in the first sentence
    "orders": 0,  # words for whoever judges the answer
    "listing": 0,  # words that introduce several candidates
    "listing_near": 0,  # before the match in its sentence
    "confused_before": 0,  # "confused with" and the like before the match
    "role_before": 0,  # words such as "successor" beside the match
    "role_after": 0,
    "stated_match": 0,  # "the answer is" and then a reference
    "stated_other": 0,  # and then another name
    "stated_last": 0,  # 1: the last statement names a reference, -1: another name
    "last_position": 0,  # words after the last word of a reference; logarithm
    "names_after": 0,  # other names after the match in its sentence
    "names_later": 0,  # in the sentences after it
    "name_density": 0,  # other names to all words
    "name_joins_before": 0,  # another name stands directly before the match, which may be part of a longer name
    "name_joins_after": 0,
    "possessed": 0,  # the match is a possessive
    "numbers_near": 0,  # other numbers within a few words of the match
    "asked_or": 0,  # the question names the reference and, beside an "or", another candidate
    "asked_or_said": 0,  # the response has that other candidate
    "asked_or_first": 0,  # before the match
    "asked_or_alone": 0,  # without a match
    "asked_or_denied": 0,  # "not" or "than" between both
    "question": 0,  # its kind, a number of `claims`
    "name_words": 0,  # names, numbers and unknown words of the reference
    "missing_names": 0,  # those that the response lacks
    "month_missing": 0,  # the reference names a month, and the response none
    "month_conflict": 0,  # the response names another
    "quantity_equal": 0,  # quantities of the reference that the response has in any unit
    "quantity_unequal": 0,  # those that it has only with another value
    "unit_conflict": 0,  # the same number with another unit
    "unit_missing": 0,  # the same number without a unit
    "lines": 0,
    "segments": 0,  # parts between punctuation, "and" and "or"
    "short_others": 0,  # short segments without a verb that name another candidate
    "short_before": 0,  # before the match
    "short_after": 0,
    "short_share": 0,  # of all segments
    "match_alone": 0,  # the match's segment names nothing else
    "last_line": 0,  # the match stands in the last line
    "trigram_recall": 0,  # of the reference's sequences of three letters, in a window of the response
    "trigram_jaccard": 0,
    "acronym": 0,  # a part of the reference is the initials of words of the response, or the other way round
    "synonym_recall": 0,  # of the reference's words, synonyms of WordNet included
    "references": 0,
    "references_found": 0,  # share of the references that stand in the response
}

FEATURES = tuple(DIRECTIONS)
(
    EXACT, EQUAL, RECALL, SOFT_RECALL, NEW_RECALL, RUN, FIRST_WORD, LAST_WORD, INITIALS, ABBREVIATED, MISSPELT,
    OTHER_WORD, PRECISION, EXTRA_WORDS, POSITION, SENTENCE, OCCURRENCES, REFERENCE_WORDS, NEW_WORDS, RESPONSE_WORDS,
    COPIED, REFERENCE_IN_QUESTION, REFERENCE_LIST, PARTS, REFERENCE_NUMBERS, NUMBER_RECALL, NUMBER_CONFLICT,
    NUMBER_GAP, YEAR_GAP, OTHER_NUMBERS, NAMES, NAMES_BEFORE, NAMES_EARLIER, NUMBERS_BEFORE, NAME_FIRST, ASKED_HERE,
    ASKED_CLAUSE, HEDGE_NEAR, HEDGE_BESIDE, HEDGE_CLAUSE, HEDGES, DOUBTS, REFUSAL, NEGATION_NEAR, NEGATIONS, OR_NEAR,
    OR_EITHER, ONE_OF, AND_NEAR, COMMA_NEAR, CONTRAST_BEFORE, CONTRAST_AFTER, CORRECTED, INTRODUCED, ASIDE_BEFORE,
    ASIDE_CLAUSE, ANSWERED_BEFORE, SUBORDINATE, CLAUSES, SPAN_CAPITAL, WANTED, POLARITY, POLARITY_LOOSE, YES_AND_NO,
    CUE_BEFORE, CUE_AFTER, CUE_MATCH, CUE_OTHER, HEARSAY, HEARSAY_BEFORE, EXCLUDED, DENIED_BEFORE, DENIED_AFTER,
    DOUBTFUL, SURE, REFUSES, REFUSES_FIRST, ORDERS, LISTING, LISTING_NEAR, CONFUSED_BEFORE, ROLE_BEFORE, ROLE_AFTER,
    STATED_MATCH, STATED_OTHER, STATED_LAST, LAST_POSITION, NAMES_AFTER, NAMES_LATER, NAME_DENSITY, NAME_JOINS_BEFORE,
    NAME_JOINS_AFTER, POSSESSED, NUMBERS_NEAR, ASKED_OR, ASKED_OR_SAID, ASKED_OR_FIRST, ASKED_OR_ALONE,
    ASKED_OR_DENIED, QUESTION, NAME_WORDS, MISSING_NAMES, MONTH_MISSING, MONTH_CONFLICT, QUANTITY_EQUAL,
    QUANTITY_UNEQUAL, UNIT_CONFLICT, UNIT_MISSING, LINES, SEGMENTS, SHORT_OTHERS, SHORT_BEFORE, SHORT_AFTER,
    SHORT_SHARE, MATCH_ALONE, LAST_LINE, TRIGRAM_RECALL, TRIGRAM_JACCARD, ACRONYM, SYNONYM_RECALL, REFERENCES,
    REFERENCES_FOUND,
) = range(len(FEATURES))  # fmt: skip

HEDGE_CLUE, REFUSAL_CLUE, NEGATION_CLUE, OTHER_CLUE, NUMBER_CLUE = range(5)
# Kinds of words that a reason can quote.
CLUES = 5
