import time

import pytest

from tasks.text.algebra import Algebra
from tasks.text.expressions import expression

SLOW = (r"\sin(\sin(\sin(x^{999}+y)))^{999}/(x+1)^{77}", r"\cos(\cos(x+y)^{99})^{999}+\sqrt{x}")


@pytest.fixture(scope="module")
def algebra():
    with Algebra(time_limit=30) as running:
        yield running


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("(x+1)^2", "x^2 + 2x + 1", True),
        ("x", "y", False),
        (r"\frac{1}{\sqrt{2}}", r"\frac{\sqrt{2}}{2}", True),
        (r"\sqrt{8}", r"2\sqrt{2}", True),
        (r"\sin^2(x) + \cos^2(x)", "1", True),
        ("(2,4)", "(2,4)", True),
        ("(2,4)", "[2,4]", False),
        ("(2,4)", "(4,2)", False),
        ("(2,4)", "2.4", False),
        ("(2,4)", "(2,4,6)", False),
        (r"\{1,2\}", r"\{2,1\}", True),
        (r"\{1,2\}", r"\{2,2\}", False),
        ("x = 5", "5", True),
        ("y = 2x", "2x = y", True),
        ("y = 2x", "y = 3x", False),
        ("1/0", "x", False),
        (r"(2,\infty)", r"(2,\infty)", True),
        (r"\infty", r"2\infty", True),
        (r"\infty", r"-\infty", False),
        (r"-1\frac12", "-1.5", True),
        (r"\sin(x, y)", "x", None),
    ],
)
def test_equality(algebra, one, other, equal):
    trees = expression(one), expression(other)
    if None in trees:
        assert equal is None
    else:
        assert algebra.equal(*trees) is equal


def test_a_pair_that_takes_too_long_is_undecided_and_the_next_one_is_answered():
    with Algebra(time_limit=0.2) as running:
        assert running.equal(*map(expression, SLOW)) is None
        running._time_limit = 30
        assert running.equal(expression("x + x"), expression("2x")) is True
        process = running._process

        start = time.monotonic()
        assert running.equal(*map(expression, SLOW)) is None  # it is not asked again
        assert time.monotonic() - start < 5

    assert process.poll() is not None


def test_a_process_that_dies_leaves_its_pair_undecided():
    with Algebra(time_limit=30) as running:
        running.equal(["name", "x"], ["name", "x"])
        running._process.kill()
        running._process.wait()

        assert running.equal(["name", "x"], ["name", "y"]) is None
        assert running.equal(["name", "x"], ["name", "z"]) is False


def test_what_is_no_tree_is_undecided(algebra):
    assert algebra.equal(["call", "eval", ["name", "x"]], ["name", "x"]) is None
    assert algebra.equal(["name", "x"], ["number", "1e9999999999x"]) is None
