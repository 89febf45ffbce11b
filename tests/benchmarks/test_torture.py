"""A few trials of each campaign of `make torture`."""

import pytest

from benchmarks.torture.__main__ import campaigns
from benchmarks.torture.campaign import Campaign, Trial, counted

SEED = 1


@pytest.mark.long
@pytest.mark.parametrize("name", campaigns())
def test_a_campaign_finds_no_broken_promise(name: str) -> None:
    campaign = campaigns()[name]

    found = counted(campaign, SEED, campaign.few)

    assert found.failures == []
    assert found.trials == campaign.few


def test_outcomes_and_failures_are_counted() -> None:
    trials = [Trial("healed"), Trial("healed"), Trial("silent", "byte 3 of a part, seed 0")]
    campaign = Campaign("flips", "No flipped bit is silent.", 3, 1, lambda _, number: iter(trials[:number]))

    found = counted(campaign, seed=0, trials=3)

    assert (found.trials, found.outcomes, found.failures) == (3, {"healed": 2, "silent": 1}, [trials[2].failure])
