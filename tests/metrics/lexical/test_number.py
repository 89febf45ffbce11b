import json
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import ParamsError
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.lexical.number import UNDECIDED, Number
from goldmeter.metrics.pairs import Pairs
from tests.text.quantity_cases import EQUAL, OTHER, minimal_pairs

math_verify = pytest.mark.skipif(find_spec("math_verify") is None, reason="extra symbolic is not installed")


def scores(responses, references, **options):
    metric = Number(**options)
    return metric.score(metric.row_stats(Pairs.of(responses, references))).tolist()


def score(response, reference, **options):
    return scores([response], [reference], **options)[0]


def details(response, references, **options):
    return json.loads(Number(**options).row_details(Pairs.of([response], [references]))[0])


@pytest.mark.parametrize(
    ("response", "reference"),
    [
        ("The answer is 42.", "42"),
        ("3 of 7, so 42", "#### 42"),
        ("1,000", "1e3"),
        ("0.5", "1/2"),
        ("50 %", "0.5"),
        ("forty-two (42)", "42.0"),
        ("(2, 4)", "(2,4)"),
    ],
)
def test_the_same_number_however_it_is_written(response, reference):
    assert score(response, reference) == 1.0


@pytest.mark.parametrize(
    ("response", "reference"),
    [
        ("41", "42"),
        ("none", "42"),
        ("42, no: 41", "42"),
        ("(2,4)", "2.4"),
        ("2.4", "(2,4)"),
        ("(2,4)", "[2,4]"),
        ("(2,4)", "4"),
        ("-42", "42"),
        ("50 %", "50"),
        ("nan", "42"),
        ("inf", "1e999"),
    ],
)
def test_another_number(response, reference):
    assert score(response, reference) == 0.0


@pytest.mark.parametrize(
    ("response", "reference"), [pair for one, other in OTHER for pair in ((one, other), (other, one))]
)
def test_a_fragment_is_not_the_number(response, reference):
    assert score(response, reference) != 1.0
    assert score(f"The answer is {response}.", reference) != 1.0


def test_every_writing_of_a_quantity():
    pairs = [(other, first) for first, *others in EQUAL for other in others]
    right = scores(*zip(*pairs + [pair[::-1] for pair in pairs], strict=True))

    assert right == [1.0] * len(right)


def test_no_minimal_pair_is_the_same():
    assert 1.0 not in scores(*zip(*minimal_pairs(2000), strict=True))


def test_the_question_says_whether_a_percentage_is_a_share():
    def answers(question):
        pairs = Pairs.of(["50 %"] * 2, ["0.5", "50"], inputs=[question] * 2)
        return Number().score(Number().row_stats(pairs)).tolist()

    assert answers("What share?") == [1.0, 0.0]
    assert answers("What percentage?") == [0.0, 1.0]
    assert answers("How many?") == [0.0, 0.0]


def test_numbers_in_words_count_in_texts_without_figures():
    assert score("There are three of them.", "3") == 1.0
    assert score("So 42, one of the best.", "42") == 1.0
    assert score("7", "seven") == 1.0
    assert np.isnan(score("7", "Seven Samurai"))


def test_prose_is_not_asked():
    assert np.isnan(score("42", "Paris"))
    assert details("42", ["Paris"]) == {"unmeasured": "not applicable"}
    assert score("42", ["Paris", "42"]) == 1.0


def test_which_number_counts():
    assert score("5 because 5.0 = 5", "5", pick="only") == 1.0
    assert score("5 or 6", "5", pick="only") == 0.0
    assert np.isnan(score("5", "5 or 6", pick="only"))
    assert score(r"\boxed{5}, not 6", "5", pick="boxed") == 1.0
    assert score("5", "5", pick="boxed") == 0.0
    assert score("5", r"\boxed{5} of 6", pick="boxed_or_last") == 1.0
    assert score("5, not 6", "5", pick="first") == 1.0
    assert score("5 or 6", "6", pick="first") == 0.0
    assert score("1 + 4 = 5 #### 5 apples in 2 bags", "4 #### 5 of 9", pick="marker") == 1.0
    assert score("#### 4 #### 5", "5", pick="marker") == 1.0
    assert score("5", "5", pick="marker") == 0.0
    responses = ["3 * 4 = 12 #### 12 eggs in 2 bags", "The answer is 12.", r"So \boxed{12}", "12 and then 13"]
    assert [score(text, "4 eggs #### 12", pick="marker_or_last") for text in responses] == [1.0, 1.0, 1.0, 0.0]


def test_tolerances_include_their_limit():
    assert score("1.1", "1", absolute_tolerance=0.1) == 1.0
    assert score("1.11", "1", absolute_tolerance=0.1) == 0.0
    assert score("101", "100", relative_tolerance=0.01) == 1.0
    assert score("101", "100", relative_tolerance=0.001, absolute_tolerance=1) == 1.0


def test_options_of_reading():
    assert score("3 km", "3000 m", units={"km": 1000, "m": 1}) == 1.0
    assert score("2.5 million", "2500000", units={"million": 1e6}) == 1.0
    assert score("25%", "25", percent="ignore") == 1.0
    assert score("3. April: 1.234,5", "1234,5", decimal=",") == 1.0
    assert score("on 3 April 2025", "2025-04-03", dates="dmy") == 1.0


@pytest.mark.parametrize(
    ("response", "reference"),
    [
        (r"so $x = \boxed{\frac{1}{2}}$", "0.5"),
        (r"\boxed{\left( 2, 4 \right)}", "(2,4)"),
        (r"\boxed{32{,}348\text{ m}}", "32348"),
        (r"It is $50\%$", "50"),
        (r"\boxed{3\times10^{5}}", "300000"),
        (r"\boxed{5.5}", r"5\frac{1}{2}"),
        (r"\boxed{\frac{-1}{2}}", "-1/2"),
        (r"\boxed{\frac{1.5}{2}}", "0.75"),
        (r"\boxed{- 5}", "-5"),
        (r"\boxed{x_1 = 25\text{ cm}^2}", "25"),
        (r"\boxed{90^\circ}", "90"),
        (r"\boxed{\text{(B) }5}", "the answer is 5 apples"),
        (r"\boxed{50\,\text{km/h}}", "50"),
        (r"\boxed{20^\circ\text{C}}", "20"),
        (r"\boxed{5km}", "5人"),
        ("72", "3 of 7, so it is 72. #### 72"),
    ],
)
def test_profile_math_reads_latex(response, reference):
    assert score(response, reference, profile="math") == 1.0


@pytest.mark.parametrize(
    "expression",
    [
        r"2\sqrt{7}", r"3\pi", "3e", r"(2,\infty)", "x^2+5", r"\frac{\pi}{2}", "y/2", r"0.\overline{3}",
        "3+4i", "5!", r"\{2,4\}", "2^{10}", r"\log 5", "5x", "5xy", "5/x", "x > 5", r"x \le 5",
        "x=2 or x=3", "sqrt 5",
    ],
)  # fmt: skip
def test_an_expression_is_no_number(expression):
    last = ["7", "0", "2", "3", "4", "5", "10"]

    assert scores([rf"\boxed{{{expression}}}"] * len(last), last, profile="math") == [0.0] * len(last)
    assert np.isnan(score("7", expression, profile="math"))


def test_the_details_of_an_expression_say_what_compares_it():
    assert details(r"\boxed{2\sqrt{7}}", ["7"], profile="math") == {
        "note": "an expression, not a number; symbolic: true compares expressions",
        "expected": "7",
    }


@pytest.mark.parametrize(
    "text",
    ["a=b" * 30_000, "5" + " m" * 50_000, "5" + "a " * 50_000 + "!", "abc" * 30_000 + "!5", "(" * 90_000 + "5"],
)
def test_hostile_boxes_are_read_in_time(text):
    assert score(rf"\boxed{{{text}}}", "7", profile="math") == 0.0


@math_verify
def test_symbolic_equality():
    cases = [
        (r"so $\boxed{(x+1)^2}$", "x^2 + 2x + 1", 1.0),
        (r"$\frac{\sqrt{2}}{2}$ it is", r"\frac{1}{\sqrt{2}}", 1.0),
        ("x + 1", "x + 2", 0.0),
        (r"\boxed{x = 5}", "5", 1.0),
        (r"\boxed{2.5}", r"\frac{5}{2}", 1.0),
        ("the answer is 7", "7", 1.0),
        (r"\boxed{(2,4)}", "2.4", 0.0),
        (r"\boxed{(2,4)}", r"(2, \sqrt{16})", 1.0),
        ("no idea", "x", 0.0),
        (r"x \le 5", "5", 0.0),  # no number is taken out of what cannot be read
        ("x=2 or x=3", "x=3", 0.0),
    ]
    responses, references, expected = zip(*cases, strict=True)

    assert scores(responses, references, profile="math", symbolic=True) == [*expected]


@math_verify
def test_a_reference_that_cannot_be_read_is_not_asked():
    assert np.isnan(score("x", "x +", symbolic=True))


@math_verify
def test_expressions_that_are_not_compared_in_time_are_wrong_and_say_so():
    hard = r"\sin(\sin(\sin(x^{999}+y)))^{999}/(x+1)^{77}"
    options = {"profile": "math", "symbolic": True, "time_limit": 0.2}

    assert score(hard, r"\cos(\cos(x+y)^{99})^{999}", **options) == 0.0
    assert details(hard, [r"\cos(\cos(x+y)^{99})^{999}"], **options)["note"] == UNDECIDED


def test_symbolic_without_math_verify_says_what_to_install(monkeypatch):
    monkeypatch.setattr("goldmeter.metrics.lexical.number.find_spec", lambda _: None)

    with pytest.raises(ParamsError, match=r"pip install 'goldmeter\[symbolic\]'"):
        configure("lexical", "number", {"symbolic": True})


def test_the_details_state_both_numbers_or_the_problem():
    assert details("It is 41.", ["42"]) == {"found": "41", "expected": "42"}
    assert details("It is 41.", ["7", "41.0"]) == {"found": "41", "expected": "41.0"}
    assert details("It is ( 2, 4).", ["2.4"]) == {"found": "( 2, 4)", "expected": "2.4"}
    assert details("no idea", ["42"]) == {"note": "no number", "expected": "42"}
    assert details("1 or 2", ["42"], pick="only") == {"note": "2 numbers, not one", "expected": "42"}
    assert details("1", ["42"], pick="boxed") == {"note": "no box", "expected": "42"}


def test_the_signature_says_how_the_number_was_made(monkeypatch):
    monkeypatch.setattr("goldmeter.metrics.lexical.number.find_spec", lambda _: True)
    metric = Number(units={"km": 1000, "m": 1}, pick="only")

    assert metric.signature() == (
        "number|pick:only|relative_tolerance:0|absolute_tolerance:0|decimal:.|thousands:yes|"
        "percent:hundredth|units:km=1000+m=1|latex:no|refs:best|v:2"
    )
    assert "|latex:no|symbolic:math-verify|time_limit:5|refs:best|v:2" in Number(symbolic=True).signature()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"relative_tolerance": -1}, r"^lexical\.number\.relative_tolerance: .*greater than or equal to 0"),
        ({"units": {"km": 0}}, r"^lexical\.number\.units\.km: .*greater than 0"),
        ({"units": "km"}, r"^lexical\.number\.units: "),
        ({"pick": "second"}, r"^lexical\.number\.pick: .*'last'"),
        ({"which": "last"}, r"^lexical\.number\S*: which is now pick, with the same values"),
        ({"threshold": 0.5}, r"binary"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ParamsError, match=message):
        configure("lexical", "number", options)


@given(st.fractions(max_denominator=999), st.fractions(min_value=0, max_value=1, max_denominator=99))
def test_a_tolerance_is_a_share_of_the_reference(expected, tolerance):
    near, far = expected * (1 + tolerance / 2), expected * (1 + 2 * tolerance)
    options = {"relative_tolerance": float(tolerance)}

    assert score(f"{near}", f"{expected}", **options) == 1.0
    assert score(f"{far}", f"{expected}", **options) == float(far == expected)
