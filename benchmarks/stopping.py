"""Releases that a judge stops early (`judge.stop`), simulated: `python -m benchmarks.stopping`.

A line a cell: how often the decision is wrong or the interval at the stop misses the rate, how often there is a
decision, and the share of rows that were asked about.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from goldmeter.estimates.judge_error import STATED_RATE
from goldmeter.estimates.targets import TargetVerdict
from goldmeter.judging.stopping import Rate, looks_at
from goldmeter.statistics.arrays import FloatArray

TARGET, SEED = 0.8, 44
ROWS = (200, 500, 1000, 2000)
# Distances of the true rate from the target; a judge whose error is only stated decides on none below 14 points.
NEAR, FAR = (0.0, -0.02, -0.05, -0.10, 0.05, 0.10), (0.0, -0.05, -0.10, -0.25)
# Rows of a group, and the share of their variance that they have in common.
GROUP, ALIKE = 5, 0.3
# Degrees of freedom of a judge's error, as goldmeter.statistics.transported takes it.
DEGREES = 4


class Cell(NamedTuple):
    """A design: rows, the distance of the rate from the target, rows in groups, and a judge that errs."""

    n: int
    difference: float
    grouped: bool = False
    errs: bool = False

    @property
    def name(self) -> str:
        """The design in words."""
        return "a judge that errs" if self.errs else f"groups of {GROUP}" if self.grouped else "rows"

    def totals(self, rng: np.random.Generator) -> tuple[FloatArray, int]:
        """Passing rows of each group in the order in which they are asked, and the rows of a group."""
        rate = TARGET + self.difference
        if self.errs:
            rate = float(np.clip(rate + STATED_RATE * rng.standard_t(DEGREES), 0.0, 1.0))
        if not self.grouped:
            return np.where(rng.random(self.n) < rate, 1.0, 0.0), 1
        weight = 1.0 / ALIKE - 1.0
        own = rng.beta(rate * weight, (1.0 - rate) * weight, self.n // GROUP)
        return rng.binomial(GROUP, own).astype(np.float64), GROUP


class Release(NamedTuple):
    """How one release ended: its verdict, the share of rows asked about, and whether something said is wrong."""

    verdict: TargetVerdict
    asked: float
    is_wrong: bool


def release(cell: Cell, rng: np.random.Generator) -> Release:
    """Ask about the rows of a release until it is over."""
    totals, size = cell.totals(rng)
    groups, looks = len(totals), looks_at(len(totals))
    for look in range(1, looks + 1):
        asked = round(groups * look / looks)
        rest = np.full(groups - asked, float(size))
        known = Rate(np.full(asked, float(size)), totals[:asked], rest, float(size), cell.errs)
        if known.is_over(TARGET):
            break
    verdict, truth = known.verdict(TARGET), TARGET + cell.difference
    low, high = known.limits
    is_outside = not cell.errs and not low <= truth <= high
    is_wrong = verdict is (TargetVerdict.NOT_MET if cell.difference >= 0.0 else TargetVerdict.MET)
    return Release(verdict, asked / groups, is_wrong or is_outside)


def cells() -> Iterator[Cell]:
    """Every design."""
    for n in ROWS:
        yield from (Cell(n, difference) for difference in NEAR)
        yield from (Cell(n, difference, grouped=True) for difference in NEAR)
        yield from (Cell(n, difference, errs=True) for difference in FAR)


def main(arguments: Sequence[str]) -> int:
    """Print the table; returns 1 if a cell is wrong too often, 3 Monte Carlo standard errors allowed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stopping", description="Releases that stop early.")
    parser.add_argument("--releases", type=int, default=2000, help="of a cell")
    parser.add_argument("--rows", type=int, choices=ROWS, nargs="*", default=ROWS)
    options = parser.parse_args(arguments)
    table = Table("design", "rows", "points off", "wrong", "decided", "asked, median", "asked, 90 %")
    limit, worst = 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / options.releases), 0.0
    for number, cell in enumerate(cells()):
        if cell.n not in options.rows:
            continue
        rng = np.random.default_rng([SEED, number])
        ended = [release(cell, rng) for _ in range(options.releases)]
        asked = np.array([one.asked for one in ended])
        wrong = float(np.mean([one.is_wrong for one in ended]))
        decided = np.mean([one.verdict is not TargetVerdict.UNDECIDED for one in ended])
        worst = max(worst, wrong)
        shares = (wrong, decided, np.median(asked), np.quantile(asked, 0.9))
        table.add_row(cell.name, f"{cell.n:,}", f"{100 * cell.difference:+.0f}", *(f"{share:.1%}" for share in shares))
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    return int(worst > limit)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
