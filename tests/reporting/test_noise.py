"""`python -m tasks noise`: the noise of systems, its share in their difference, and what is printed."""

import json
from pathlib import Path

import numpy as np
import pytest

from goldmeter.reporting import noise
from goldmeter.reporting.noise import noise_of, share_of
from tasks.__main__ import main
from tests.reporting.test_study_plan import system


def asked_again(name, rng, low, high, draws=4, questions=20_000):
    rates = np.repeat(rng.choice([low, high], questions), draws)
    return system(name, draws, f1=rates > rng.random(questions * draws))


@pytest.fixture
def printed(monkeypatch, capsys):
    """What the command prints of these systems."""

    def of(*systems, options=()):
        monkeypatch.setattr(noise, "systems_of", lambda *_: ({}, "f1", [*systems]))
        assert main(["noise", *options]) == 0
        return capsys.readouterr().out

    return of


def test_the_noise_is_that_of_the_answers_to_one_question():
    found = noise_of(asked_again("a", np.random.default_rng(1), 0.2, 0.8), "f1")

    assert (found.questions, found.repeated, found.draws) == (20_000, 20_000, 4.0)
    assert found.limit == pytest.approx(1.96 * (2 * 0.16 / 20_000) ** 0.5, rel=0.02)
    assert found.limit_with_draws == pytest.approx(found.limit / 2)


def test_a_system_without_a_change_may_still_have_changes_that_so_few_questions_hide():
    steady = [noise_of(system("a", 2, f1=[1.0] * 2 * n), "f1", 0.9) for n in (30, 300)]

    assert [one.limit for one in steady] == [0.0, 0.0]
    assert steady[0].unseen == pytest.approx(1.645 * ((1 - 0.1 ** (1 / 30)) / 30) ** 0.5, rel=1e-3)
    assert steady[1].unseen == pytest.approx(steady[0].unseen / 10, rel=0.05)


@pytest.mark.parametrize(("low", "high", "share"), [(0.5, 0.5, 1.0), (0.0, 1.0, 0.0), (0.2, 0.8, 0.08 / 0.26)])
def test_the_share_of_noise_is_that_of_the_variance_of_the_difference(low, high, share):
    rng = np.random.default_rng(2)

    found = share_of(asked_again("a", rng, low, high), asked_again("b", rng, low, high), "f1")

    assert found.share == pytest.approx(share, abs=0.03)


@pytest.mark.usefixtures("project")
def test_each_system_and_each_difference_is_printed(printed):
    rng = np.random.default_rng(3)
    systems = [asked_again("a", rng, 0.4, 0.6, 4, 50), system("b", 4, f1=[1.0] * 100 + [0.0] * 100)]

    said = " ".join(printed(*systems).split())

    assert "a: two runs of the same system with one answer to each question differ by up to" in said
    assert "b: deterministic here: the answers to each of 50 questions with several answers score the same;" in said
    assert "so few may hide, with 95 % confidence, changes by up to 6.7 points" in said
    assert "a − b" in said
    data = json.loads(printed(*systems, options=["--json"]))
    assert [one["limit"] for one in data["systems"]] == [pytest.approx(0.19, abs=0.02), 0.0]
    assert data["differences"][0]["systems"] == ["a", "b"]


@pytest.mark.usefixtures("project")
def test_without_several_answers_it_says_how_to_have_them(printed):
    said = " ".join(printed(system("a", f1=[1.0, 0.0]), system("b", f1=[1.0, 1.0])).split())

    assert said == (
        "a and b: one answer to each question, so its own noise is unknown; "
        "map several by dataset.draw, or set draws: of a candidate with model:"
    )


@pytest.mark.parametrize("values", [[np.nan], [1.0], [np.nan, 0.0]])
def test_hardly_anything_measured_is_no_noise_and_no_difference(values):
    one = system("a", f1=values)

    assert noise_of(one, "f1").limit is None
    assert share_of(one, one, "f1") is None


@pytest.mark.usefixtures("project")
def test_without_a_run_it_says_how_to_make_one(capsys):
    Path("reports/metrics.json").unlink(missing_ok=True)

    assert main(["noise"]) == 2

    assert "no run yet" in capsys.readouterr().err
