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
REPLY = ClassNames({"yes": (), "no": ()})
TRUTH = ClassNames({"true": (), "false": ()})
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
    (ClassNames({"<5": (), "5": (), ">5": ()}), "<5", ["<5", "The answer is <5."]),
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
    (REPLY, "no", ["No", "no.", "No, it is not.", "The answer is no.", "Answer: no", "Hm. No.", "No because it's red"]),
    (REPLY, "no", ["The answer is clearly no, as I said", '{"answer": "no"}', "I read it.\n\nNo", "No - it's late"]),
    (REPLY, "yes", ["Yes, there is no doubt.", "Yes. No other way.", "The answer is yes, with no exception"]),
    (REPLY, NOTHING, ["I have no information about this.", "There is no way to know.", "I have no idea", "No comment"]),
    (REPLY, NOTHING, ["No context was provided, so I can't answer.", "No one knows", "Answer: No context was given"]),
    (REPLY, SEVERAL, ["Yes and no", "yes/no", "The answer is yes or no", "Yes. Wait, no."]),
    (ClassNames({"sim": (), "não": ()}), NOTHING, ["Eu não sei", "não sei dizer"]),
    (ClassNames({"ja": (), "nein": ()}), "nein", ["Nein, das stimmt nicht", "Antwort: Nein"]),
    (TRUTH, "false", ["True or false? False.", "It is false.", "True? No, false."]),
    (TRUTH, NOTHING, ["half true", "It's partly true", "half-true"]),
    (LETTERS, "B", ["The answer is B because E is a distractor.", "The answer is B. C is close", "E is wrong, so B"]),
    (LETTERS, "B", ["The answer is not A but B", "I don't think the answer is A, I say B", "A and C are wrong. So B"]),
    (LETTERS, "B", ["A) is incorrect. B", "All except B are wrong. Final answer: B", "A is wrong\nB", "Answer: B\nB"]),
    (LETTERS, NOTHING, ["The answer is E because A is a distractor.", "The answer is E. B is close.", "E) B is close"]),
    (LETTERS, NOTHING, ["**Answer: F**\nB is similar", r"\boxed{E} since B"]),
    (LETTERS, NOTHING, ["Answer: none. A is close", r"\boxed{} B"]),
    (LETTERS, NOTHING, ["The answer is E, A is close", "Answer: B\nAnswer: E", "A: no", "A (wrong)", "B ❌"]),
    (LETTERS, NOTHING, ["I would exclude B", "all except B"]),
    (LETTERS, NOTHING, ["B has been ruled out", "B can be eliminated", "All but B"]),
    (LETTERS, NOTHING, ["A and B are wrong", "Not A, B, or C", "A, B and C have been excluded", "A is a distractor"]),
    (LETTERS, NOTHING, ["I don't think the answer is B", "Take Vitamin C", "It follows Plan B", "A, which is wrong"]),
    (LETTERS, "B", ["answer b", "Option b.", "i would go with answer b", "choice b because it fits"]),
    (LETTERS, NOTHING, ["answer a question", "option a user has", "that is no option b", "not option b"]),
    (LETTERS, SEVERAL, ["A\nB", "Answer: A\nWait, it is B", r"\boxed{A}. Actually, B", "B) London\nC", "Answer: A\nC"]),
    (MAIL, NOTHING, ["This is unlikely to be spam.", "Spam: no"]),
    (MAIL, NOTHING, ["There is no indication that this is spam.", "Spam? No"]),
    (MAIL, NOTHING, ["Hardly spam.", "This does not look like spam.", "spam = false", "free of spam", "spam: 0"]),
    (MAIL, NOTHING, ["I would not label this message spam", '{"spam": false}', '{"spam": 0.0}', "I doubt it's spam"]),
    (MAIL, NOTHING, ["It is not, however, spam", "spam is not likely", "It isnt spam", "Answer: phishing\nspam"]),
    (MAIL, "spam", ["spam: 0.9", "I have no doubt this is spam"]),
    (MAIL, "spam", ['{"spam": true, "ham": false}', "No ham here, but spam"]),
    (MAIL, "spam", ["The sender is not known. So this is spam.", "It's not ham; it's spam", "spam: yes\nham: no"]),
    (MAIL, NOTHING, ["Spam? Definitely not.", "Spam? I don't think so", "spam (wrong)"]),
    (MAIL, NOTHING, ["whether this is spam is open", "If it had links it would be spam"]),
    (MAIL, "ham", ["ham (not spam)", "This isn't spam but ham", "spam=no, ham=yes"]),
    (LETTERS, NOTHING, ["Answer - E. B is close", "I choose E. B is close", "Ruled out: A, B"]),
    (LETTERS, NOTHING, ["B is tempting but wrong"]),
    (LETTERS, NOTHING, ["Incorrect: B", "B is less likely", "B? No.", "Everything except B is right", "We rule B out"]),
    (LETTERS, SEVERAL, ["The answer is B. No, C.", "Final answer: B\n\nEdit: C"]),
    (LETTERS, "C", ["Wrong answers: A, B. So C", "I'd go with C.", "**Incorrect:** A, B\n**Answer:** C"]),
    (STARS, NOTHING, ["I have 2 problems with it", "2 reasons"]),
    (STARS, "4", ["4 stars", "I'd give 4 points", "4 fits best"]),
    (MOOD, NOTHING, ["not particularly positive", "hardly positive"]),
    (MOOD, NOTHING, ["not so positive", "The answer is mixed. Positive"]),
    (MOOD, SEVERAL, ["Answer: positive\nWait, actually: negative", "Positive.\nHm.\nNegative"]),
    (MOOD, "positive", ["Is it negative? No, positive", "Positive, actually", "Actually, it's positive"]),
    (ClassNames({"积极": (), "消极": ()}), NOTHING, ["不太积极", "并不怎么积极", "不能说是积极", "积极是不对的"]),
    (ClassNames({"积极": (), "消极": ()}), "积极", ["非常积极", "不错，积极", "不是消极，而是积极"]),
    (ClassNames({"บวก": (), "ลบ": ()}), NOTHING, ["ไม่บวก", "ไม่ใช่บวก"]),
    (ClassNames({"إيجابي": (), "سلبي": ()}), NOTHING, ["لا إيجابي", "ليس إيجابي"]),
    (ClassNames({"肯定": (), "否定": ()}), NOTHING, ["肯定的ではありません", "肯定ではない", "肯定的とは言えない"]),
    (ClassNames({"긍정": (), "부정": ()}), NOTHING, ["긍정적이지 않다", "긍정이지 않습니다", "긍정적이 아닙니다"]),
    (STARS, NOTHING, ["Step 1. Read the text.", "<5", "> 4", "4+", ">=4", "at least 4", "more than 3", "~4"]),
    (STARS, "4", ["Step 1. Read the text. Step 2. Rate it. Rating: 4", "Rating=4"]),
    (MAIL, NOTHING, ["It could be spam", "It might be spam.", "Maybe spam", "spam, perhaps", "Could it be spam?"]),
    (MAIL, NOTHING, ["Answer: possibly spam", "This may well be classified as spam", "It's possible that it is spam"]),
    (MAIL, NOTHING, ["Das könnte spam sein", "Peut-être spam", "Quizás spam", "可能是spam"]),
    (MAIL, "spam", ["probably spam?", "It is most likely spam", "I think spam", "I think it's spam", "spam, I guess"]),
    (MAIL, "spam", ["It might be ham, but it is spam", "It's probably spam, though it could be ham"]),
    (MAIL, "spam", ["Perhaps surprisingly, spam", "It may be spam. On reflection, it is spam."]),
    (MAIL, SEVERAL, ["It could be spam or ham", "It could be spam. It could be ham."]),
    (LETTERS, NOTHING, ["It might be B", "The answer could be B", "Perhaps (C)"]),
    (LETTERS, "B", ["It could be A. The answer is B", "It could be A, but B is right"]),
    (ClassNames({"yes": (), "no": (), "maybe": ()}), "maybe", ["Maybe.", "The answer is maybe"]),
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


@pytest.mark.parametrize("before", ["not", "hardly", "no sign of", "It's never", "I exclude", "rather than"])
@given(
    name=st.sampled_from(["ham", "Sci-Fi", "B", "café", "5"]), filler=st.lists(st.sampled_from(["a", "very", "much"]))
)
def test_a_negation_reaches_through_its_clause(before, name, filler):
    assert said(NAMES, " ".join([before, *filler, name])) == NOTHING
    assert said(NAMES, " ".join([before, *filler, "that.", "So it is", name])) == name


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
