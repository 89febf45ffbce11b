"""Change of fresh rows against a schedule's first nights: false alarms, and falls that are found."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from math import sqrt
from typing import NamedTuple

from benchmarks.coverage.cells import Measure, Rng, Simulation, Study, alarms, each
from goldmeter.statistics.change import Night, change

TOPIC = "Change of fresh rows"
RATE, FALL, NIGHTS = 0.8, 0.05, 90
FALSE = alarms(0.05, "false alarms in 90 nights")
FOUND = Measure("a fall of 5 points found in 14 nights", "at least", 0.9)
# The rows a night with which the target is to be met.
ENOUGH = 500
RUNS = 0.25


class Schedule(NamedTuple):
    """Nights of so many rows. weekends: how much lower two days of seven are. nights: the spread between nights."""

    rows: int
    weekends: float = 0.0
    nights: float = 0.0

    def __str__(self) -> str:
        weekends = f", weekends {100 * self.weekends:.0f} points lower" if self.weekends else ""
        nights = f", nights spread by {100 * self.nights:.0f} points" if self.nights else ""
        return f"{self.rows} rows a night{weekends}{nights}"


def studies() -> Iterator[Study]:
    """Every study."""
    for one in (Schedule(100), Schedule(500), Schedule(500, 0.1), Schedule(500, 0.0, 0.04), Schedule(1000, 0.1, 0.02)):
        yield Simulation(TOPIC, f"{one}", ("fresh rows", "calm", *one), each(partial(_alarmed, one)), (FALSE,), RUNS)
    for one, first in product(map(Schedule, (100, 300, 500)), (28, 60)):
        after = f"after {first} nights"
        fewer = FOUND._replace(sense="contrast", target=None, peer=f"{one}", name=after)
        yield Simulation(
            TOPIC,
            f"{one}, {after}",
            ("fresh rows", "fall", first, *one),
            each(partial(_alarmed, one, first=first)),
            (FOUND if one.rows == ENOUGH else fewer,),
            RUNS,
        )


def _alarmed(one: Schedule, rng: Rng, first: int | None = None) -> bool:
    """Whether any night has an alarm; first: the first of the fallen ones, of which there are 14, none before it."""
    nights: list[Night] = []
    for number in range(NIGHTS if first is None else first + 14):
        rate = RATE - one.weekends * (number % 7 > 4) + rng.normal(0.0, one.nights)  # noqa: PLR2004 (Saturday, Sunday)
        rate -= FALL if first is not None and number >= first else 0.0
        mean = rng.binomial(one.rows, min(max(rate, 0.0), 1.0)) / one.rows
        error = sqrt(one.rows * mean * (1.0 - mean) + 1.0) / one.rows
        nights.append(Night(mean, error, one.rows, number % 7))
        if change(nights) is not None:
            return first is None or number >= first
    return False
