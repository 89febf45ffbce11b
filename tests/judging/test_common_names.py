"""The table of names that is shipped, data/aliases.csv."""

from collections import Counter

from goldmeter.judging.other_names import _lines, accepted, folded, other_names
from goldmeter.models.offline import RIGHT, judge
from goldmeter.models.offline.lexicon import FLAGS, STOP
from tests.small_project import ROOT

FILE = str(ROOT / "data/aliases.csv")
ROWS = [names for _, names in _lines(FILE)]
SENTENCE = "He told us that nobody is in or at the house as I can see, and no one of them are there for me."


def test_each_name_is_of_one_thing():
    assert [name for name, n in Counter(folded(name) for names in ROWS for name in names).items() if n > 1] == []


def test_no_name_is_a_function_word_or_a_single_letter():
    for name in (folded(name) for names in ROWS for name in names):
        assert not FLAGS.get(name, 0) & STOP
        assert len(name) > 1


def test_each_name_is_right_for_each_other_one_of_its_thing():
    pairs = [(one, other) for names in ROWS for one in names for other in names if one != other]
    names = other_names(FILE)

    judged = judge([None] * len(pairs), [accepted([one], names) for one, _ in pairs], [other for _, other in pairs])

    wrong = [pair for pair, p in zip(pairs, judged.probabilities.tolist(), strict=True) if p < RIGHT]
    assert wrong == []


def test_no_name_makes_words_of_a_sentence_the_answer():
    names = other_names(FILE)
    firsts = [row[0] for row in ROWS]

    judged = judge([None] * len(firsts), [accepted([one], names) for one in firsts], [SENTENCE] * len(firsts))

    assert [one for one, p in zip(firsts, judged.probabilities.tolist(), strict=True) if p >= RIGHT] == []


def test_what_the_judge_reads_itself_needs_no_row():
    pairs = [("January", "Jan"), ("7", "seven"), ("twelve", "12"), ("United States", "US"), ("US", "United States")]

    judged = judge([None] * len(pairs), [[one] for one, _ in pairs], [other for _, other in pairs])

    assert (judged.probabilities >= RIGHT).all()
