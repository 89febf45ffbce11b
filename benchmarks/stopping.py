"""Releases that a judge stops early (`judge.stop`), simulated: `python -m benchmarks.stopping`.

A line a cell: how often the decision is wrong or the interval at the stop misses the rate, or the difference of two
systems; how often there is a decision, and the share of rows that were asked about.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from math import log
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from goldmeter.estimates.judge_bias import STATED, STATED_RATE
from goldmeter.estimates.primary import TargetVerdict
from goldmeter.judging.followed_difference import RateDifference
from goldmeter.judging.followed_rate import CONFIDENCE, Rate
from goldmeter.judging.statuses import Mask
from goldmeter.judging.stopping import shares_at
from goldmeter.statistics.arrays import FloatArray
from goldmeter.statistics.stopping import EVEN, STAKES

TARGET, SEED = 0.8, 44
ROWS = (200, 500, 1000, 2000)
# Distances of the true rate from the target; a judge whose error is only stated decides on none below 14 points.
NEAR, FAR = (0.0, -0.02, -0.05, -0.10, 0.05, 0.10), (0.0, -0.05, -0.10, -0.25)
# Rows of a group, and the share of their variance that they have in common.
GROUP, ALIKE = 5, 0.3
# Differences of two systems; the share of rows on which they differ, and of those by a judge that errs.
PAIRED, PAIRED_FAR = (0.0, 0.02, 0.05, 0.10), (0.0, 0.10, 0.25)
DISCORDANT, DISCORDANT_FAR = 0.15, 0.3
# Draws of an answer, and the share of rows whose chance to be right is another one in the second system.
DRAWS, REDRAWN = 3, 0.3
SIGNS = {TargetVerdict.MET: 1, TargetVerdict.NOT_MET: -1, TargetVerdict.UNDECIDED: 0}
# Degrees of freedom of a judge's error, as goldmeter.statistics.transported takes it.
DEGREES = 4
# Releases in memory at a time.
AT_ONCE = 200


class Cell(NamedTuple):
    """A design: rows, and the distance of the rate from the target.

    design: "rows" that are independent, in "groups", of several "draws", asked in "batches", or by a judge that "errs".
    paired: the difference of two systems is followed, and `difference` is the true one.
    """

    n: int
    difference: float
    design: str = "rows"
    paired: bool = False

    @property
    def name(self) -> str:
        """The design in words."""
        named = {"rows": "rows", "groups": f"groups of {GROUP}", "draws": f"{DRAWS} draws", "batches": "rows by batch"}
        design = named.get(self.design, "a judge that errs")
        return f"two systems, {design}" if self.paired else design

    @property
    def target(self) -> float:
        """What the rate is compared with: for two systems, the mean of `(1 + difference) / 2` of rows without one."""
        return 0.5 if self.paired else TARGET

    @property
    def truth(self) -> float:
        """The true rate, or mean."""
        return self.target + (self.difference / 2.0 if self.paired else self.difference)

    def totals(self, rng: np.random.Generator) -> tuple[FloatArray, int]:
        """Passing rows of each group in the order in which they are asked, and the rows of a group.

        For two systems, half of what the rows of a group gain and have.
        """
        if self.paired:
            changes, size = self._changes(rng)
            return (changes + size) / 2.0, size
        rate = TARGET + self.difference
        if self.design == "errs":
            rate = float(np.clip(rate + STATED_RATE * rng.standard_t(DEGREES), 0.0, 1.0))
        if self.design != "groups":
            return np.where(rng.random(self.n) < rate, 1.0, 0.0), 1
        weight = 1.0 / ALIKE - 1.0
        own = rng.beta(rate * weight, (1.0 - rate) * weight, self.n // GROUP)
        return rng.binomial(GROUP, own).astype(np.float64), GROUP

    def _changes(self, rng: np.random.Generator) -> tuple[FloatArray, int]:
        discordant, difference = DISCORDANT, self.difference
        if self.design == "draws":
            chances = rng.beta(0.25, 0.25, (2, self.n))
            mean = 0.5 + self.difference / REDRAWN
            chances[1] = np.where(
                rng.random(self.n) < REDRAWN, rng.beta(mean / 2.0, (1.0 - mean) / 2.0, self.n), chances[0]
            )
            passed = rng.binomial(DRAWS, chances)
            return (passed[1] - passed[0]) / DRAWS, 1
        if self.design == "errs":
            discordant = DISCORDANT_FAR
            error = STATED * np.sqrt(discordant) * rng.standard_t(DEGREES)
            difference = float(np.clip(difference + error, -discordant, discordant))
        shares = [(discordant - difference) / 2.0, 1.0 - discordant, (discordant + difference) / 2.0]
        if self.design != "groups":
            return rng.choice([-1.0, 0.0, 1.0], self.n, p=shares), 1
        weight = 1.0 / ALIKE - 1.0
        own = rng.dirichlet(weight * np.array(shares), self.n // GROUP)
        counts = rng.multinomial(GROUP, own)
        return (counts[:, 2] - counts[:, 0]).astype(np.float64), GROUP


class Ended(NamedTuple):
    """How releases ended: with a verdict, after which share of the rows, and saying something wrong; shapes (r,)."""

    decided: Mask
    asked: FloatArray
    wrong: Mask


class Known(NamedTuple):
    """What the judge stage knows at a look: the sign of the difference that is decided, else 0, and the limits."""

    is_over: bool
    sign: int
    limits: tuple[float, float]


def known(cell: Cell, passed: FloatArray, left: int, size: int) -> Known:
    """Look as the stage does; passed: as of `Cell.totals`, of the groups that were asked. left: groups to come."""
    sizes, rest, errs = np.full(len(passed), float(size)), np.full(left, float(size)), cell.design == "errs"
    if not cell.paired:
        rate = Rate(sizes, passed, rest, float(size), errs)
        return Known(rate.is_over(TARGET), SIGNS[rate.verdict(TARGET)], rate.limits)
    changes = 2.0 * passed - sizes
    most = float(np.abs(changes).sum())
    two = RateDifference(changes, sizes, most, float(sizes.sum()), rest, float(size), errs, CONFIDENCE)
    low, high = two.limits
    return Known(two.is_over, two.sign, ((1.0 + low) / 2.0, (1.0 + high) / 2.0))


def by_stage(cell: Cell, totals: FloatArray, size: int) -> Ended:
    """Let the judge stage stop each release; totals: of the groups of each release, shape (r, groups)."""
    groups, right = totals.shape[1], int(np.sign(cell.difference))
    allowed = {0, right} if cell.paired else {0, right or 1}  # a rate at the target meets it
    decided, shares, wrong = np.zeros(len(totals), bool), np.zeros(len(totals)), np.zeros(len(totals), bool)
    for place, passed in enumerate(totals):
        for asked in looks_of(cell, groups):
            look = known(cell, passed[:asked], groups - asked, size)
            if look.is_over:
                break
        low, high = look.limits
        is_outside = cell.design != "errs" and not low <= cell.truth <= high
        decided[place], shares[place] = look.sign != 0, asked / groups
        wrong[place] = look.sign not in allowed or is_outside
    return Ended(decided, shares, wrong)


def at_once(cell: Cell, totals: FloatArray, size: int) -> Ended:
    """Do what `by_stage` does for all releases together, by a judge without an error of its own."""
    groups = totals.shape[1]
    looks = np.array(looks_of(cell, groups))
    limit = log(2.0 / (1.0 - CONFIDENCE) * len(STAKES))

    def wealth(passing: FloatArray, rate: float) -> FloatArray:
        """Of each stake, release and look, the logarithm of the wealth of bets on more than the rate."""
        own = np.log1p(np.multiply.outer(STAKES, (passing / size - rate) / max(rate, EVEN)))
        return np.asarray(own.cumsum(axis=2)[:, :, looks - 1], np.float64)

    def reaches(growth: FloatArray) -> Mask:
        return np.asarray(np.logaddexp.reduce(growth) >= limit)

    sides = [(totals, cell.target), (size - totals, 1.0 - cell.target)]
    grown = [wealth(*side) for side in sides]
    rest = groups - looks
    could = [
        reaches(growth + np.multiply.outer(np.log1p(STAKES * (1.0 - rate) / max(rate, EVEN)), rest)[:, None])
        for growth, (_, rate) in zip(grown, sides, strict=True)
    ]
    is_met, is_missed = map(reaches, grown)
    over = is_met | is_missed | ~(could[0] | could[1])
    over[:, -1] = True
    last = (np.arange(len(totals)), over.argmax(axis=1))
    outside = reaches(wealth(totals, cell.truth)) | reaches(wealth(size - totals, 1.0 - cell.truth))
    wrong = is_missed if cell.difference >= 0.0 else is_met
    return Ended((is_met | is_missed)[last], looks[last[1]] / groups, (wrong | outside)[last])


def looks_of(cell: Cell, groups: int) -> list[int]:
    """Return after how many groups there is a look."""
    return [round(groups * share) for share in shares_at(groups, by_batch=cell.design == "batches")]


def cells() -> Iterator[Cell]:
    """Every design."""
    for design in ("rows", "groups", "batches", "errs"):
        for n, difference in product(ROWS, FAR if design == "errs" else NEAR):
            yield Cell(n, difference, design)
    for design in ("rows", "groups", "draws", "batches", "errs"):
        for n, difference in product(ROWS, PAIRED_FAR if design == "errs" else PAIRED):
            yield Cell(n, difference, design, paired=True)


def ended(cell: Cell, releases: int) -> Ended:
    """Simulate the releases of a cell, some at a time."""
    rng = np.random.default_rng([SEED, *cell.name.encode(), cell.n, round(100 * (1 + cell.difference))])
    how, parts = by_stage if cell.design == "errs" else at_once, list[Ended]()
    for start in range(0, releases, AT_ONCE):
        drawn = [cell.totals(rng) for _ in range(start, min(start + AT_ONCE, releases))]
        parts.append(how(cell, np.array([totals for totals, _ in drawn]), drawn[0][1]))
    return Ended(*map(np.concatenate, zip(*parts, strict=True)))


def main(arguments: Sequence[str]) -> int:
    """Print the table; returns 1 if a cell is wrong too often, 3 Monte Carlo standard errors allowed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stopping", description="Releases that stop early.")
    parser.add_argument("--releases", type=int, default=2000, help="of a cell")
    parser.add_argument("--paired", action="store_true", help="two systems only")
    parser.add_argument("--rows", type=int, choices=ROWS, nargs="*", default=ROWS)
    options = parser.parse_args(arguments)
    table = Table("design", "rows", "points off", "wrong", "decided", "asked, median", "asked, 90 %")
    chosen = [one for one in cells() if one.n in options.rows and (one.paired or not options.paired)]
    limit, worst = 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / options.releases), 0.0
    with ProcessPoolExecutor() as pool:
        for cell, end in zip(chosen, pool.map(partial(ended, releases=options.releases), chosen), strict=True):
            worst = max(worst, end.wrong.mean())
            shares = (end.wrong.mean(), end.decided.mean(), np.median(end.asked), np.quantile(end.asked, 0.9))
            texts = (f"{share:.1%}" for share in shares)
            table.add_row(cell.name, f"{cell.n:,}", f"{100 * cell.difference:+.0f}", *texts)
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    return int(worst > limit)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
