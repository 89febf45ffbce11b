"""A few trials of each campaign of `make torture`."""

import os
from functools import partial
from pathlib import Path

import pytest

from benchmarks.torture import data_files
from benchmarks.torture.__main__ import campaigns
from benchmarks.torture.campaign import Campaign, Trial, counted
from benchmarks.torture.limited import limited

SEED = 1


@pytest.mark.long
@pytest.mark.parametrize("name", campaigns())
def test_a_campaign_finds_no_broken_promise(name: str) -> None:
    campaign = campaigns()[name]

    found = counted(campaign, SEED, campaign.few)

    assert found.failures == []
    assert found.trials == campaign.few


def test_a_footer_of_parquet_that_pyarrow_does_not_survive_is_refused(tmp_path: Path) -> None:
    """The damage of these seeds ends the process when the metadata of a single column is looked at."""
    found = [*limited(partial(data_files._load, tmp_path), ["0-6507", "0-17424"])]

    assert [(trial.outcome, trial.failure) for trial in found] == [("refused", None)] * 2


def _behave(how: str) -> Trial:
    if how == "raise":
        raise KeyError(how)
    if how == "end":
        os._exit(3)
    if how == "memory":
        return Trial(str(len(bytearray(1 << 31))))
    while how == "hang":
        pass
    return Trial(how)


def test_calls_that_raise_end_or_never_return_are_failures_and_the_next_call_is_made() -> None:
    found = [*limited(_behave, ["raise", "fine", "end", "fine", "hang", "memory", "fine"], seconds=1)]

    outcomes = ["traceback", "fine", "no end", "fine", "no end", "traceback", "fine"]
    assert [trial.outcome for trial in found] == outcomes
    assert [trial.failure is None for trial in found] == [outcome == "fine" for outcome in outcomes]


def test_outcomes_and_failures_are_counted() -> None:
    trials = [Trial("healed"), Trial("healed"), Trial("silent", "byte 3 of a part, seed 0")]
    campaign = Campaign("flips", "No flipped bit is silent.", 3, 1, lambda _, number: iter(trials[:number]))

    found = counted(campaign, seed=0, trials=3)

    assert (found.trials, found.outcomes, found.failures) == (3, {"healed": 2, "silent": 1}, [trials[2].failure])
