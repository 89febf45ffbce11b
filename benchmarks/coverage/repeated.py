"""Repeated answers: pass@k and pass^k of questions whose pass rates differ, from several draws of each question."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import betaln

from benchmarks.coverage import cells
from benchmarks.coverage.cells import Floats, Measure, Outcomes, Rng, Simulation, contains, covers, each
from goldmeter.statistics import paired_difference, pass_all, pass_at, question_interval
from goldmeter.statistics.arrays import IntArray

Kind = Literal["at", "all"]
TOPICS: dict[Kind, str] = {"at": "pass@k", "all": "pass^k"}
PAIRED = "pass@k and pass^k, paired by question"
QUESTIONS = (20, 100, 500)
DRAWS_EACH = (10, 20)
KS = (1, 5, 10)
VALUES: dict[Kind, Callable[[IntArray, IntArray, int], Floats]] = {"at": pass_at, "all": pass_all}


class Part(NamedTuple):
    """A share of the questions, whose pass rates are beta-distributed; b = 0: every question has the pass rate a."""

    share: float
    a: float
    b: float

    def rates(self, rng: Rng, n: int) -> Floats:
        """Pass rates of n questions."""
        return rng.beta(self.a, self.b, n) if self.b else np.full(n, self.a)

    def all_of(self, k: int) -> float:
        """The mean of p^k."""
        return float(np.exp(betaln(self.a + k, self.b) - betaln(self.a, self.b))) if self.b else self.a**k

    def mirrored(self) -> "Part":
        """The part with failures and passes swapped."""
        return Part(self.share, self.b, self.a) if self.b else Part(self.share, 1.0 - self.a, 0.0)


SHAPES: dict[str, tuple[Part, ...]] = {
    "uniform": (Part(1.0, 1.0, 1.0),),
    "U-shaped": (Part(1.0, 0.3, 0.3),),
    "bell-shaped": (Part(1.0, 8.0, 8.0),),
    "mostly right": (Part(1.0, 2.0, 0.3),),
    "mostly wrong": (Part(1.0, 0.3, 2.0),),
    "equal questions, p = 0.5": (Part(1.0, 0.5, 0.0),),
    "equal questions, p = 0.95": (Part(1.0, 0.95, 0.0),),
    "equal questions, p = 0.1": (Part(1.0, 0.1, 0.0),),
    "all pass": (Part(1.0, 1.0, 0.0),),
    "5 % never pass, others always": (Part(0.05, 0.0, 0.0), Part(0.95, 1.0, 0.0)),
    "3 % pass half of the time, others always": (Part(0.03, 0.5, 0.0), Part(0.97, 1.0, 0.0)),
    "half never pass, half uniform": (Part(0.5, 0.0, 0.0), Part(0.5, 1.0, 1.0)),
}


class Design(NamedTuple):
    """pass@k (`at`) or pass^k (`all`) of questions of a shape, with so many draws each."""

    kind: Kind
    shape: str
    k: int
    draws_each: int
    questions: int

    def __str__(self) -> str:
        return f"{self.shape}, k = {self.k}, {self.draws_each} draws, {self.questions} questions"

    @property
    def truth(self) -> float:
        """The true mean over questions."""
        parts = SHAPES[self.shape]
        if self.kind == "all":
            return sum(part.share * part.all_of(self.k) for part in parts)
        return 1.0 - sum(part.share * part.mirrored().all_of(self.k) for part in parts)

    def passed(self, rng: Rng) -> IntArray:
        """How many draws of each question pass."""
        return rng.binomial(self.draws_each, rates(self.shape, rng, self.questions))

    def values(self, passed: IntArray) -> Floats:
        """The estimate of each question."""
        return VALUES[self.kind](np.full(passed.size, self.draws_each), passed, self.k)

    def plugged_in(self, passed: IntArray) -> Floats:
        """The share of passes of each question, put into the formula."""
        return _true(self.kind, passed / self.draws_each, self.k)


def rates(shape: str, rng: Rng, questions: int) -> Floats:
    """The pass rate of each of so many questions."""
    parts = SHAPES[shape]
    chosen = rng.choice(len(parts), questions, p=[part.share for part in parts])
    return np.choose(chosen, [part.rates(rng, questions) for part in parts])


def repeated(kind: Kind, shape: str, k: int, draws_each: int, questions: int) -> Simulation:
    """How often the interval contains the true value; 1e-9: that may be a limit but for rounding."""
    design = Design(kind, shape, k, draws_each, questions)
    truth = design.truth
    covering: dict[bytes, bool] = {}  # whether the interval of these values covers: many data sets have the same ones

    def draw(rng: Rng) -> bool:
        values = np.sort(design.values(design.passed(rng)))
        key = values.tobytes()
        if key not in covering:
            found = question_interval(values)
            covering[key] = found.low - 1e-9 <= truth <= found.high + 1e-9
        return covering[key]

    return _simulated(design, each(draw), covers(0.94))


def _simulated(design: Design, outcomes: Outcomes, measure: Measure) -> Simulation:
    return Simulation(TOPICS[design.kind], str(design), ("repeated", *design), outcomes, (measure,))


def peers() -> Iterator[Simulation]:
    """What is got by a normal interval over questions, and when each question's share of passes is put into p^k."""
    put_in = cells.contrast("share of passes put into the formula, ±1.96·SE")
    for shape, questions in (("mostly right", 20), ("uniform", 100), ("3 % pass half of the time, others always", 100)):
        for kind in VALUES:
            design = Design(kind, shape, 5, 10, questions)
            yield _simulated(design, _normal(design, design.values), cells.contrast("±1.96·SE"))
            yield _simulated(design, _normal(design, design.plugged_in), put_in)


def _normal(design: Design, values: Callable[[IntArray], Floats]) -> Outcomes:
    def draw(rng: Rng) -> bool:
        rows = values(design.passed(rng))
        error = rows.std(ddof=1) / np.sqrt(rows.size)
        return bool(abs(rows.mean() - design.truth) <= 1.959964 * error)

    return each(draw)


def paired(kind: Kind, shape: str, k: int, questions: int) -> Simulation:
    """Differences by question: 10 draws before, 20 after; every question passes less often after."""

    def outcomes(rng: Rng, draws: int) -> Iterator[bool]:
        harder = 0.9
        many = rates(shape, cells.generator(PAIRED, "truth", shape), 2_000_000)
        truth = float((_true(kind, harder * many, k) - _true(kind, many, k)).mean())
        before, after = (np.full(questions, count) for count in DRAWS_EACH)
        for _ in range(draws):
            p = rates(shape, rng, questions)
            older = VALUES[kind](before, rng.binomial(before, p), k)
            newer = VALUES[kind](after, rng.binomial(after, harder * p), k)
            yield contains(paired_difference(newer - older), truth)

    name = f"{TOPICS[kind]}, {shape}, k = {k}, {questions} questions"
    return Simulation(PAIRED, name, (PAIRED, kind, shape, k, questions), outcomes, (covers(0.935),))


def _true(kind: Kind, p: Floats, k: int) -> Floats:
    return np.asarray(p**k if kind == "all" else 1.0 - (1.0 - p) ** k)


def studies() -> Iterator[Simulation]:
    """Every shape; what others give; and differences. pass^1 is pass@1."""
    for shape, kind, k, draws_each, questions in product(SHAPES, VALUES, KS, DRAWS_EACH, QUESTIONS):
        if (kind, k) != ("all", 1):
            yield repeated(kind, shape, k, draws_each, questions)
    yield from peers()
    for kind, shape, k, questions in product(VALUES, ("U-shaped", "mostly right", "bell-shaped"), KS, QUESTIONS):
        if (kind, k) != ("all", 1):
            yield paired(kind, shape, k, questions)
