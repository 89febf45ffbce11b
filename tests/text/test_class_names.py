from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.text.class_names import NO_CLASS, TWO_CLASSES, ClassNames
from tests.hostile_texts import TEXTS

LETTERS = ClassNames(dict.fromkeys("ABCD", ()))
OPTIONS = ClassNames({"A": ["Paris"], "B": ["London"], "C": ["New York City"], "D": ["New York"]})
MAIL = ClassNames({"spam": (), "ham": ()})
MOOD = ClassNames({"positive": (), "negative": (), "neutral": ()})
STARS = ClassNames(dict.fromkeys("12345", ()))
CODE = ClassNames({"C": (), "C++": (), "C#": (), "Java": (), "JavaScript": ()})
NOTHING, SEVERAL = "no class", "two classes"
READ = [
    (LETTERS, "B", ["B", "b", "(B)", "B.", "**B**", "[B]", "  B\n", "“B”", r"\boxed{B}", r"So $\boxed{\text{B}}$."]),
    (LETTERS, "B", ["The answer is B.", "Answer: **B**"]),
    (LETTERS, "B", ["**Answer:** (B) Vitamin C", "Answer:\n\nB", '{"answer": "B"}']),
    (LETTERS, "B", ["B. Vitamin C", "(B) London", "B) London, because A is wrong", "The answer is:\n**B) Plan A**"]),
    (LETTERS, "B", ["It's B", "Option B", "答案是B。", "Ответ: B", "the correct option is (b)", "A is wrong. So B."]),
    (LETTERS, "B", ["The answer is A. Final answer: B", "The answer is B, not A", "A dog, so B"]),
    (LETTERS, "A", ["A is correct", "I choose A because it barks", "A: yes", "Final answer: A"]),
    (LETTERS, SEVERAL, ["B or C", "The answer is B or C", "B) or C)"]),
    (LETTERS, SEVERAL, ["Both A and B", "Answer: A\nAnswer: B", "A/B or C, D"]),
    (LETTERS, SEVERAL, ["A. one\nB. two\nC. three"]),
    (LETTERS, NOTHING, ["", "none", "A dog barks", "N/A"]),
    (LETTERS, NOTHING, ["U.S.A.", "not B", "The wrong answer is A", "C++", "R&D, T-shirt"]),
    (OPTIONS, "A", ["Paris", "It is Paris.", "A. Paris", "paris (A)"]),
    (OPTIONS, "C", ["new york city", "It's New York City."]),
    (OPTIONS, "D", ["New York", "It's New York, not New York City"]),
    (OPTIONS, SEVERAL, ["B. Paris", "Paris or London"]),
    (MAIL, "spam", ["spam", "SPAM!", "This is spam."]),
    (MAIL, "spam", ["spam, not ham", "Label: spam\nReason: no ham here", "spam: ham-like"]),
    (MAIL, "ham", ["rather than spam, ham", "The label is not spam but ham."]),
    (MAIL, NOTHING, ["not spam", "Not-spam", "not_spam", "non-spam", "It isn't spam", "This is not a spam", "spammer"]),
    (MAIL, NOTHING, ["neither spam nor ham", "I'm not sure it is spam", "spam is incorrect", "spam_filter"]),
    (ClassNames({"spam": (), "not_spam": ()}), "not_spam", ["not spam", "It is not-spam", "Not_Spam", "NOTSPAM"]),
    (ClassNames({"spam": (), "not_spam": ()}), "spam", ["it is spam", "definitely spam"]),
    (MOOD, "positive", ["Positive. The negative parts are few.", "positive\n\nnot neutral, some negative parts"]),
    (MOOD, "neutral", ["There are positive and negative parts.\n\nneutral"]),
    (MOOD, "neutral", ["neither positive nor negative, so neutral"]),
    (MOOD, SEVERAL, ["positive. negative.", "Positive/negative", "negative\npositive"]),
    (ClassNames({"正面": (), "负面": ()}), "正面", ["正面", "这条评论是正面的。", "情感：正面"]),
    (ClassNames({"正面": (), "负面": ()}), NOTHING, ["不是正面", "非正面"]),
    (ClassNames({"긍정": (), "부정": ()}), "긍정", ["긍정입니다", "정답: 긍정"]),
    (ClassNames({"긍정": (), "부정": ()}), NOTHING, ["긍정이 아닙니다"]),
    (ClassNames({"बल": (), "दल": ()}), "बल", ["बल", "यह बल है"]),
    (ClassNames({"बल": (), "दल": ()}), NOTHING, ["बली"]),
    (STARS, "4", ["4", "4 stars", "Rating: 4.", "I give 4"]),
    (STARS, NOTHING, ["10", "1.5", "-1", "4/5", "5%", "1st", "14:30"]),
    (ClassNames({"1-2": (), "12": ()}), "12", ["12", "it is 12"]),
    (CODE, "C++", ["C++", "It is written in C++.", "the language is c++"]),
    (CODE, "C#", ["C#", "The label is C#."]),
    (CODE, "C", ["C", "In C."]),
    (CODE, "JavaScript", ["javascript", "It is JavaScript."]),
]  # fmt: skip
WORDS = ["spam", "ham", "not_spam", "Sci-Fi", "true crime", "正面", "긍정", "عربي", "нет", "B", "café", "1-2", "5"]
NAMES = ClassNames(dict.fromkeys(WORDS, ()))
WRITINGS = [
    "{}", "({})", "{}.", "**{}**", "`{}`", "The answer is {}.", "Answer: {}", r"\boxed{{{}}}", "'{}'",
    "Final answer: **{}**",
    '{{"label": "{}"}}', "I read it twice.\n\n{}", "The label is {}, as it says.",
]  # fmt: skip


def said(names, text):
    found = names.named(text)
    if found.label is not None:
        return found.label
    return {NO_CLASS.problem: NOTHING, TWO_CLASSES: SEVERAL}[found.problem]


@pytest.mark.parametrize(("names", "expected", "text"), [(n, e, text) for n, e, texts in READ for text in texts])
def test_the_class_that_an_answer_names(names, expected, text):
    assert said(names, text) == expected


@pytest.mark.parametrize("writing", WRITINGS)
@pytest.mark.parametrize("name", WORDS)
def test_every_writing_of_every_class(name, writing):
    assert said(NAMES, writing.format(name)) == name


@pytest.mark.parametrize("writing", ["{} or {}", "The answer is {} or {}.", "Answer: {}, {}", "It could be {} or {}"])
def test_two_classes_are_no_answer(writing):
    for both in permutations(["spam", "ham", "Sci-Fi", "正面", "B", "café"], 2):
        assert said(NAMES, writing.format(*both)) == SEVERAL


def test_the_classes_that_are_named():
    assert MAIL.named("spam or ham").several == ("spam", "ham")


@given(text=st.text())
def test_any_text_names_one_class_at_most(text):
    found = NAMES.named(text)

    assert (found.label is None) == (found.problem is not None)
    assert found.label is None or found.label in WORDS
    assert (len(found.several) > 1) == (found.problem == TWO_CLASSES)


@given(name=st.text(min_size=1).filter(str.strip), other=st.text(min_size=1).filter(str.strip))
def test_a_name_is_itself_whatever_it_holds(name, other):
    try:
        names = ClassNames({name: (), other: ()})
    except ValueError:
        return

    assert names.named(name).label == names.whole(name) == name


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_texts_name_no_class(text):
    assert MAIL.named(text[:100_000]).label is None


@pytest.mark.parametrize(
    ("writings", "message"),
    [
        ({"spam": (), "Spam": ()}, "'Spam' names two classes, 'spam' and 'Spam'"),
        ({"A": ["Paris"], "B": ["paris!"]}, "'paris!' names two classes, 'A' and 'B'"),
        ({"spam": (), " ": ()}, "class ' ' has an empty name"),
    ],
)
def test_names_that_say_nothing_or_two_things_are_refused(writings, message):
    with pytest.raises(ValueError, match=message):
        ClassNames(writings)
