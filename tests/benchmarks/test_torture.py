"""A few trials of each campaign of `make torture`."""

import json
import os
from functools import partial
from pathlib import Path

import pytest

from benchmarks.torture import __main__ as torture
from benchmarks.torture import damaged_files
from benchmarks.torture.__main__ import CAMPAIGNS
from benchmarks.torture.campaign import Campaign, Trial, counted, limited, markdown
from benchmarks.torture.hostile_server import SOUND, drawn

SEED = 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name, campaign in CAMPAIGNS.items() if campaign.few])
def test_a_campaign_finds_no_broken_promise(name: str) -> None:
    campaign = CAMPAIGNS[name]

    found = counted(campaign, SEED, campaign.few)

    assert found.failures == []
    assert found.trials == campaign.few


def test_a_footer_of_parquet_that_pyarrow_does_not_survive_is_refused(tmp_path: Path) -> None:
    """The damage of these seeds ends the process when the metadata of a single column is looked at."""
    found = [*limited(partial(damaged_files._load, tmp_path), ["0-6507", "0-17424"])]

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


def test_the_table_for_the_documentation_has_a_row_for_each_campaign(tmp_path: Path) -> None:
    row = {"trials": 3000, "outcomes": {"healed": 9, "named": 2991}, "failures": [], "machine": "2 cores of | x"}
    (tmp_path / "torture.json").write_text(json.dumps({"flipped bits": row}))

    assert markdown(tmp_path / "torture.json").splitlines() == [
        "| campaign | trials | outcomes | failures | machine |",
        "|---|---|---|---|---|",
        "| flipped bits | 3,000 | 2,991 named, 9 healed | 0 | 2 cores of \\| x |",
    ]


def test_a_campaign_that_was_run_in_full_is_kept_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaigns = {name: Campaign(name, "It holds.", 2, 1, lambda _, n: iter([Trial("fine")] * n)) for name in "ab"}
    monkeypatch.setattr(torture, "CAMPAIGNS", campaigns)
    monkeypatch.setattr(torture, "ROOT", tmp_path)
    monkeypatch.setattr(torture, "REPORT", tmp_path / "torture.json")

    for arguments in (["b"], ["a"], ["a", "--trials", "5"], ["b", "--seed", "7"]):
        assert torture.main(arguments) == 0

    kept = json.loads((tmp_path / "torture.json").read_text())
    assert [(name, row["trials"], row["outcomes"]) for name, row in kept.items()] == [
        ("a", 2, {"fine": 2}),
        ("b", 2, {"fine": 2}),
    ]


def test_a_server_draws_the_same_reply_again() -> None:
    seeds = [(kind, f"0-{number}") for kind in SOUND for number in range(6)]
    replies, again = ([drawn(*seed, "http://localhost:1") for seed in seeds] for _ in range(2))

    assert [reply == other for reply, other in zip(replies, again, strict=True)] == [True] * len(seeds)
    assert len({reply.content for reply in replies}) > len(seeds) / 2
