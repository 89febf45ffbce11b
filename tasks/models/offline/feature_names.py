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
}

FEATURES = tuple(DIRECTIONS)
(
    EXACT, EQUAL, RECALL, SOFT_RECALL, NEW_RECALL, RUN, FIRST_WORD, LAST_WORD, INITIALS, ABBREVIATED, MISSPELT,
    OTHER_WORD, PRECISION, EXTRA_WORDS, POSITION, SENTENCE, OCCURRENCES, REFERENCE_WORDS, NEW_WORDS, RESPONSE_WORDS,
    COPIED, REFERENCE_IN_QUESTION, REFERENCE_LIST, PARTS, REFERENCE_NUMBERS, NUMBER_RECALL, NUMBER_CONFLICT,
    NUMBER_GAP, YEAR_GAP, OTHER_NUMBERS, NAMES, NAMES_BEFORE, NAMES_EARLIER, NUMBERS_BEFORE, NAME_FIRST, ASKED_HERE,
    ASKED_CLAUSE, HEDGE_NEAR, HEDGE_BESIDE, HEDGE_CLAUSE, HEDGES, DOUBTS, REFUSAL, NEGATION_NEAR, NEGATIONS, OR_NEAR,
    OR_EITHER, ONE_OF, AND_NEAR, COMMA_NEAR, CONTRAST_BEFORE, CONTRAST_AFTER, CORRECTED, INTRODUCED, ASIDE_BEFORE,
    ASIDE_CLAUSE, ANSWERED_BEFORE, SUBORDINATE, CLAUSES, SPAN_CAPITAL,
) = range(len(FEATURES))  # fmt: skip

HEDGE_CLUE, REFUSAL_CLUE, NEGATION_CLUE, OTHER_CLUE, NUMBER_CLUE = range(5)
# Kinds of words that a reason can quote.
CLUES = 5
