"""How often planned studies find the difference that they were planned for, and how often two runs stay in the limit.

Prints the figures of docs/how-to/plan-a-study.md. 2,000 simulations a cell.

Use: python -m benchmarks.studies
"""

from itertools import product
from math import sqrt

import numpy as np
from scipy.special import ndtri

from goldmeter.metrics.base import Floats
from goldmeter.statistics import paired_difference
from goldmeter.statistics.repeated import rerun_limit
from goldmeter.statistics.study import Pilot, questions_for

TIMES, SEED, KNOWN = 2_000, 1, 200_000
# The second system answers so many questions otherwise than the first.
CHANGED = 0.3


def rates(rng: np.random.Generator, n: int, difference: float) -> tuple[Floats, Floats]:
    """How often two systems answer each of n questions right; the second is better by the difference on average."""
    first, other = rng.beta(1.2, 0.8, n), rng.beta(1.2, 0.8, n)
    better = rng.random(n) < difference / 0.4  # of a mean of 0.6, to certainty
    return first, np.where(better, 1.0, np.where(rng.random(n) < CHANGED, other, first))


def power(difference: float, draws: int) -> tuple[int, float]:
    """The planned number of questions, and the share of such studies whose paired test finds the difference."""
    rng = np.random.default_rng(SEED)
    first, second = rates(rng, KNOWN, difference)
    within = float((first * (1.0 - first) + second * (1.0 - second)).mean())
    n = questions_for(difference, Pilot(KNOWN, 1.0, None, float(np.var(second - first)), within), float(draws))
    found = 0
    for _ in range(TIMES):
        means = [rng.binomial(draws, rate) / draws for rate in rates(rng, n, difference)]
        found += paired_difference(means[1] - means[0]).low > 0.0
    return n, found / TIMES


def within_limit(questions: int, draws: int, changing: float) -> tuple[float, float]:
    """The share of systems of which two new runs differ by no more than the limit; and where 0 is not taken for it.

    Args:
        questions: Their number.
        draws: Answers to each.
        changing: Share of questions whose answers vary; the others are always right.
    """
    rng, kept = np.random.default_rng(SEED), np.zeros(2)
    keys = np.repeat(np.arange(questions), draws)
    unseen = float(ndtri(0.975)) * sqrt((1.0 - 0.05 ** (1.0 / questions)) / questions)
    for _ in range(TIMES):
        rate = np.where(rng.random(questions) < changing, rng.beta(1.0, 1.0, questions), 1.0)
        limit = rerun_limit(rng.random(len(keys)) < rate[keys], keys) or 0.0
        one, two = (float((rng.random(questions) < rate).mean()) for _ in range(2))
        kept += [abs(one - two) <= each + 1e-12 for each in (limit, limit or unseen)]
    limited, never = (kept / TIMES).tolist()
    return limited, never


def main() -> None:
    """Measure and print."""
    print("| difference, points | draws | questions | found |\n|---|---|---|---|")
    for difference, draws in product((0.05, 0.1, 0.2), (1, 2, 4, 8)):
        n, share = power(difference, draws)
        print(f"| {100 * difference:g} | {draws} | {n} | {share:.1%} |", flush=True)
    print(
        "\n| questions that vary | questions | draws | within the limit | with a bound for 0 |\n|---|---|---|---|---|"
    )
    for changing, questions, draws in product((1.0, 0.3, 0.02), (12, 50, 100, 200), (2, 5)):
        limited, never = within_limit(questions, draws, changing)
        print(f"| {changing:.0%} | {questions} | {draws} | {limited:.1%} | {never:.1%} |", flush=True)


if __name__ == "__main__":
    main()
