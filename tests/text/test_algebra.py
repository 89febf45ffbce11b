from importlib.util import find_spec

import pytest

from goldmeter.text.algebra import Algebra
from goldmeter.text.expressions import expression

# Not imported here: collecting the tests would take a second more in each process.
pytestmark = pytest.mark.skipif(find_spec("math_verify") is None, reason="extra symbolic is not installed")
SLOW = (r"\sin(\sin(\sin(x^{999}+y)))^{999}/(x+1)^{77}", r"\cos(\cos(x+y)^{99})^{999}+\sqrt{x}")


@pytest.fixture(scope="module")
def algebra():
    with Algebra(time_limit=60) as running:
        yield running


@pytest.mark.parametrize(
    ("answer", "expected", "equal"),
    [
        ("(x+1)^2", "x^2 + 2x + 1", True),
        ("x", "y", False),
        ("(x^2 + x)/(x + 1)", "x", True),
        (r"\frac{1}{\sqrt{2}}", r"\frac{\sqrt{2}}{2}", True),
        (r"\sqrt{8}", r"2\sqrt{2}", True),
        ("sqrt(8)", "2√2", True),
        (r"\sin^2(x) + cos(x)**2", "1", True),
        ("pi/2", r"\frac{π}{2}", True),
        ("e^{x^2}", "exp(x^2)", True),
        ("abs(x)", "|x|", True),
        ("2xy", "y·x·2", True),
        ("0.1x + 0.2x", "0.3x", True),
        (r"\sqrt{2}", "1.41421356", False),
        ("(2,4)", "(2,4)", True),
        ("(2,4)", "[2,4]", False),
        ("(2,4)", "(4,2)", False),
        ("(2,4)", "2.4", False),
        ("(2,4)", "(2,4,6)", False),
        (r"\{1,2\}", r"\{2,1\}", True),
        (r"\{1,2\}", r"\{2,2\}", False),
        ("x, y", "y, x", True),
        ("x = 5", "5", True),
        ("y = 2x", "2x = y", True),
        ("y = 2x", "y = 3x", False),
        ("x=2 or x=3", "x=3", False),
        (r"x \le 5", "5 ≥ x", True),
        (r"x \le 5", "5", False),
        ("1/0", "x", False),
        (r"(2,\infty)", "(2,∞)", True),
        (r"\infty", r"2\infty", True),
        (r"\infty", r"-\infty", False),
        (r"-1\frac12", "-1.5", True),
        ("5!", "120", True),
        ("x", "(x", None),
        ("1 +", "1", None),
        (r"\sin(x, y)", "x", None),
    ],
)
def test_equality(algebra, answer, expected, equal):
    assert algebra.equal(expression(answer), expression(expected)) is equal


def test_what_can_be_read_equals_itself(algebra):
    assert algebra.reads("x^2")
    assert not algebra.reads("x^")


def test_nothing_is_evaluated_as_python(algebra, tmp_path):
    program = f"__import__('pathlib').Path('{tmp_path}/made').touch()"

    assert expression(program) is None
    assert algebra.equal(program, program) is None
    assert not [*tmp_path.iterdir()]


def test_a_pair_that_takes_too_long_is_undecided_and_the_next_one_is_answered(monkeypatch):
    with Algebra(time_limit=0.2) as running:
        assert running.equal(*map(expression, SLOW)) is None
        running._time_limit = 60
        assert running.equal("x + x", "2x") is True
        process = running._process

        monkeypatch.delattr(Algebra, "_asked")
        assert running.equal(*map(expression, SLOW)) is None  # it is not asked again

    assert process.poll() is not None


def test_hostile_expressions_take_no_longer_than_the_limit(algebra, monkeypatch):
    monkeypatch.setattr(algebra, "_time_limit", 0.3)
    for text in ("9^{9^{9^{9}}}", "9999999999!", "(" * 200 + "x" + ")" * 200, "{" * 250):
        algebra.equal("x", "x")

        assert algebra.equal(text, text + "+1") is not True


def test_a_process_that_dies_leaves_its_pair_undecided(algebra):
    algebra.equal("x + y", "x - y")
    algebra._process.kill()
    algebra._process.wait()

    assert algebra.equal("x + y", "x") is None
    assert algebra.equal("x + y", "y") is False
