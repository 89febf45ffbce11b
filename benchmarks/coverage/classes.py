"""Measures of classification: how often their intervals contain the truth, of one system and between two."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.coverage.cells import Floats, Measure, Rng, Simulation, Study, contains, covers
from goldmeter.statistics.confusion import BOUNDS, class_differences, class_measures

Codes = npt.NDArray[np.intp]
# A design needs few draws: there are many of them, and each has five measures of one system and five of two.
DRAWS = 0.25
NOT_NAMED = 0.1
SHARES = {"equal": 1.0, "unequal": 0.6, "one rare": 1.0}


class Design(NamedTuple):
    """n rows of k classes. right: the share of right answers. group: rows that are alike, a third of each."""

    n: int
    k: int
    shares: str
    right: float
    group: int = 1

    def __str__(self) -> str:
        groups = f" in groups of {self.group}" if self.group > 1 else ""
        return f"{self.n} rows{groups}, {self.k} classes, {self.shares}, {self.right:.0%} right"


def studies() -> Iterator[Study]:
    """Every study."""
    alone = [
        Design(n, k, shares, right)
        for n in (50, 200, 1000)
        for k in (2, 4, 10)
        for shares in SHARES
        for right in (0.7, 0.95)
    ]
    grouped = [
        Design(n, k, shares, 0.8, 5) for n in (100, 1000) for k in (2, 4, 10) for shares in ("unequal", "one rare")
    ]
    for one in (*alone, *grouped):
        yield simulation(one)


def simulation(design: Design) -> Simulation:
    """The coverage of each measure, and of its difference between two systems."""
    of_one = [covers(0.94)._replace(topic=f"Classes: {name.replace('_', ' ')}") for name in BOUNDS]
    of_two: list[Measure] = [one._replace(topic=f"{one.topic}, two systems") for one in of_one]
    outcomes = partial(_outcomes, design)
    return Simulation("Classes", str(design), ("classes", *design), outcomes, (*of_one, *of_two), DRAWS)


def _outcomes(design: Design, rng: Rng, draws: int) -> Iterator[tuple[bool, ...]]:
    base, other = (table(design, seed) for seed in (1, 2))
    head = 0.8 * base + 0.2 * other  # the second system gives the answer of the first to four rows of five
    done = 0
    while done < draws:
        true, named, second, groups = _drawn(design, base, other, rng)
        present = np.bincount(true, minlength=design.k) > 0
        if np.count_nonzero(present) == 1:  # nothing to tell apart
            continue
        done += 1
        own, truths = class_measures(true, named, design.k, groups).measures, true_measures(base, present)
        differences, others = class_differences(true, named, second, design.k, groups), true_measures(head, present)
        yield (
            *(contains(own[name], truths[name]) for name in BOUNDS),
            *(contains(differences[name], others[name] - truths[name]) for name in BOUNDS),
        )


def table(design: Design, seed: int) -> Floats:
    """The shares of all rows by class and class named, the last column: none; shape (k, k + 1)."""
    k = design.k
    shares = SHARES[design.shares] ** np.arange(k)
    if design.shares == "one rare":
        shares[-1] = 0.05 * shares[:-1].sum()
    errors = np.random.default_rng(seed).dirichlet(np.ones(k - 1), k) if k > 2 else np.ones((k, 1))  # noqa: PLR2004
    wrong = 1.0 - design.right
    rows = np.zeros((k, k + 1))
    rows[:, k] = wrong * NOT_NAMED
    for label in range(k):
        rows[label, np.flatnonzero(np.arange(k) != label)] = errors[label] * (wrong - rows[label, k])
        rows[label, label] = design.right
    found: Floats = rows * (shares / shares.sum())[:, None]
    return found


def true_measures(shares: Floats, present: npt.NDArray[np.bool_]) -> dict[str, float]:
    """The measures of all rows, averages over the classes that a sample has, by their definitions."""
    k = len(shares)
    true, named, hits = shares.sum(axis=1), shares.sum(axis=0), np.diagonal(shares[:, :k])
    f1 = 2.0 * hits / (true + named[:k])
    agreed, chance = hits.sum(), true @ named[:k]
    return {
        "balanced_accuracy": float((hits / true)[present].mean()),
        "macro_f1": float(f1[present].mean()),
        "weighted_f1": float(true[present] @ f1[present] / true[present].sum()),
        "matthews": float((agreed - chance) / np.sqrt((1.0 - true @ true) * (1.0 - named @ named))),
        "kappa": float((agreed - chance) / (1.0 - chance)),
    }


def _drawn(design: Design, base: Floats, other: Floats, rng: Rng) -> tuple[Codes, Codes, Codes, Codes | None]:
    """True classes, both systems' answers, and groups, a third of whose rows share what decides each of these."""
    groups = np.arange(design.n) // design.group
    true = _below(_uniform(design, groups, rng), np.tile(base.sum(axis=1), (design.n, 1)))
    first, second = (_answers(table, true, _uniform(design, groups, rng)) for table in (base, other))
    same = rng.random(design.n) < 0.8  # noqa: PLR2004 (as of the second system)
    return true, first, np.where(same, first, second), groups if design.group > 1 else None


def _uniform(design: Design, groups: Codes, rng: Rng) -> Floats:
    own, shared = rng.random(design.n), rng.random(groups[-1] + 1)[groups]
    return np.where(rng.random(design.n) < 1.0 / 3.0, shared, own) if design.group > 1 else own


def _answers(shares: Floats, true: Codes, uniform: Floats) -> Codes:
    """The class that each row names, -1 for none; small uniform numbers are right answers, whatever the class."""
    k, places = len(shares), np.arange(len(true))
    chances = (shares / shares.sum(axis=1, keepdims=True))[true]
    order = np.argsort(np.arange(k + 1) != true[:, None], axis=1, kind="stable")
    chosen = order[places, _below(uniform, np.take_along_axis(chances, order, axis=1))]
    return np.where(chosen == k, -1, chosen)


def _below(uniform: Floats, chances: Floats) -> Codes:
    found: Codes = (uniform[:, None] > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)
    return found
