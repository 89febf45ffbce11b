"""A campaign: trials of one kind, drawn from a seed, each with an outcome."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple


class Trial(NamedTuple):
    """One trial.

    outcome: what happened, in a word or two, such as `healed` or `refused`. failure: what is wrong with that and how to
    repeat the trial; None if the promise was kept.
    """

    outcome: str
    failure: str | None = None


@dataclass(frozen=True)
class Campaign:
    """Trials of one kind.

    name: on the command line. promise: what must hold in each trial, one sentence. trials: their number by default.
    few: their number in `make test-all`, half a minute's worth, or 0. run: yields the trials, given a seed and their
    number; the same seed draws the same trials.
    """

    name: str
    promise: str
    trials: int
    few: int
    run: Callable[[int, int], Iterator[Trial]]


class Counts(NamedTuple):
    """What the trials of a campaign came to."""

    trials: int
    outcomes: Counter[str]
    failures: list[str]


def counted(campaign: Campaign, seed: int, trials: int, done: Callable[[], object] = lambda: None) -> Counts:
    """Run a campaign, and count its outcomes; done: called after each trial."""
    found = Counts(0, Counter(), [])
    for trial in campaign.run(seed, trials):
        found.outcomes[trial.outcome] += 1
        if trial.failure is not None:
            found.failures.append(trial.failure)
        found = found._replace(trials=found.trials + 1)
        done()
    return found
