import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldmeter.metrics.lexical.number import Number
from goldmeter.metrics.pairs import Pairs
from goldmeter.models.offline import RIGHT, judge
from tests.text.quantity_cases import EQUAL, OTHER, minimal_pairs
from tests.text.test_quantity_reader import WRITERS

SAME = [pair for first, *others in EQUAL for other in others for pair in ((first, other), (other, first))]
# Of these the accepted answer is no quantity: the words decide.
READABLE = [pair for pair in OTHER if pair[1] not in {"2^10", "COVID-19"}]


def as_roman(number):
    signs = ["M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"]
    text = ""
    for value, sign in zip((1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1), signs, strict=True):
        text += sign * (number // value)
        number %= value
    return text


def verdicts(pairs, question=None, sentence="{}"):
    responses = [sentence.format(response) for response, _ in pairs]
    return judge([question] * len(pairs), [[accepted] for _, accepted in pairs], responses).probabilities >= RIGHT


@pytest.mark.parametrize("sentence", ["{}", "It was {}"])
def test_every_writing_of_a_quantity_is_right(sentence):
    assert np.mean(verdicts(SAME, sentence=sentence)) >= 0.98


def test_no_other_quantity_is_right():
    assert [pair for pair, right in zip(READABLE, verdicts(READABLE), strict=True) if right] == []


def test_no_minimal_pair_is_right():
    pairs = minimal_pairs(2000)

    assert [pair for pair, right in zip(pairs, verdicts(pairs), strict=True) if right] == []


@given(st.integers(2, 3998), st.sampled_from([1, 10, 100]))
@settings(max_examples=30)
def test_another_roman_number_is_no_typing_error(number, more):
    first, other = as_roman(number), as_roman(min(3999, number + more))

    assert verdicts([(first, other), (other, first), (first, first)]).tolist() == [False, False, True]


def test_the_judge_and_number_agree():
    pairs = [*SAME, *READABLE]
    responses, accepted = zip(*pairs, strict=True)
    metric = Number()
    numbers = metric.score(metric.row_stats(Pairs.of(responses, accepted)))

    assert np.mean(verdicts(pairs) == (numbers == 1)) >= 0.98


def test_the_judge_and_number_read_every_writer_of_a_number():
    chance = random.Random(0)  # noqa: S311
    writers = [one for one in WRITERS if "%" not in one(1)]
    numbers = [chance.randint(1, 10 ** chance.randint(1, 9) - 1) for _ in range(200)]
    pairs = [
        (chance.choice(writers)(number), chance.choice(writers)(min(number + more, 10**9 - 1)))
        for number in numbers
        for more in (0, chance.randint(1, 1000))
    ]
    metric = Number()

    found = metric.score(metric.row_stats(Pairs.of(*zip(*pairs, strict=True))))

    assert found.tolist() == [1, 0] * len(numbers)
    assert not verdicts(pairs)[1::2].any()
    assert np.mean(verdicts(pairs)[::2]) >= 0.99


@pytest.mark.parametrize(
    ("question", "response", "accepted", "right"),
    [
        ("What share of it?", "50 %", "0.5", True),
        ("What share of it?", "5%", "5", False),
        ("What percentage?", "50", "50 %", True),
        ("How many?", "50 %", "0.5", False),
        ("How tall?", "330 ft", "330 m", False),
        ("How tall?", "It is 0.33 km tall.", "330 m", True),
        ("How far?", "161 km", "100 miles", True),
        ("How much?", "It isn't ½.", "0.5", False),
        ("How much?", "Perhaps ½ or 1/3.", "0.5", False),
        ("When?", "14 July 1789", "1789", True),
        ("How many?", "COVID-19", "19", False),
    ],
)
def test_quantities_in_answers(question, response, accepted, right):
    assert verdicts([(response, accepted)], question) == [right]


def test_the_reason_names_the_other_quantity():
    assert judge(["Cost?"], [["€5"]], ["$5"]).reasons == ['The answer states another quantity than the reference "€5".']


def test_of_an_accepted_answer_that_is_no_quantity_the_words_decide():
    assert judge([None], [["€5", "$5 note"]], ["$5 note"]).probabilities[0] >= RIGHT
    assert judge([None], [["10", "2^10"]], ["2^10"]).probabilities[0] >= RIGHT


@given(
    st.lists(st.tuples(*[st.sampled_from([w for listed in EQUAL for w in listed] + ["", "no", "x 5"])] * 3), max_size=4)
)
def test_rows_do_not_depend_on_each_other(rows):
    def judged(some):
        return judge([None] * len(some), [[a, b] for a, b, _ in some], [c for *_, c in some]).probabilities.tolist()

    assert np.array_equal(judged(rows), [p for row in rows for p in judged([row])], equal_nan=True)
