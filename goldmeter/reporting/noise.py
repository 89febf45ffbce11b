"""`python -m tasks noise`: how much two runs of the same system differ, from several answers to each question."""

import argparse
from collections.abc import Sequence
from itertools import combinations
from math import sqrt
from typing import NamedTuple

import numpy as np
import scipy

from goldmeter.comparison.by_question import by_question, measure_of, rows_of
from goldmeter.comparison.gate import Gate
from goldmeter.comparison.measures import measures
from goldmeter.console.format import NONE, counted, joined, level, points, rate
from goldmeter.console.json_output import print_json
from goldmeter.console.terminal import print_rows, say
from goldmeter.estimates.columns import Candidate
from goldmeter.pipeline import params
from goldmeter.reporting.study_plan import systems_of
from goldmeter.statistics.repeated import rerun_limit
from goldmeter.statistics.study import design_effect
from goldmeter.versions.version import WORKSPACE, versions

CONFIDENCE = 0.95


class Noise(NamedTuple):
    """A system's own noise, in shares of the measure's width.

    Attributes:
        system: Its name.
        questions: Number of questions.
        repeated: Number of questions with several answers.
        draws: Mean number of answers to a question.
        limit: Difference that two runs with one answer to each question exceed in 1 - confidence; None without several
            answers.
        limit_with_draws: The same of two runs with as many answers as this one has.
        unseen: Where no answer differed: the limit if as many questions change as this can hide; else None.
    """

    system: str
    questions: int
    repeated: int
    draws: float
    limit: float | None
    limit_with_draws: float | None
    unseen: float | None


class Share(NamedTuple):
    """The difference of two systems' means over their shared questions, as a share of the measure's width.

    Attributes:
        systems: Their names, the one that is subtracted last.
        difference: The observed difference.
        noise: What the systems' own noise alone moves it by, with the confidence; None where a system's is unknown.
        share: Share of the variance of the difference that is this noise, in [0, 1].
    """

    systems: tuple[str, str]
    difference: float
    noise: float | None
    share: float | None


def show(chosen: argparse.Namespace) -> None:
    """Print the noise of each system, and its share in the differences.

    Raises:
        ParamsError: No system has the measure.
        DataError: There was no run.
    """
    with versions([WORKSPACE]) as (workspace,):
        _, measure, systems = systems_of(workspace, chosen.measure)
    systems = [side for side in systems if measure in measures(side)] or systems
    confidence = params.section(Gate, params.raw(), "gate").confidence
    own = [noise_of(side, measure, confidence) for side in systems]
    pairs = [each for sides in combinations(systems, 2) if (each := share_of(*sides, measure, confidence))]
    if chosen.json:
        print_json({"measure": measure, "confidence": confidence, "systems": own, "differences": pairs})
        return
    _print(measure, own, pairs, level(confidence))


def noise_of(side: Candidate, measure: str, confidence: float = CONFIDENCE) -> Noise:
    """The noise of a system, from the variance between its answers to one question.

    Of m questions without any change, at most a share of 1 - (1 - confidence)^(1/m) changes: about 3/m at 95 %.
    """
    values, keys = rows_of(side, measure_of(side, measure))
    sizes = np.unique(keys, return_counts=True)[1]
    limit, repeated, unseen = rerun_limit(values, keys, confidence), int((sizes > 1).sum()), None
    fewer = None if limit is None else limit * sqrt(float((1.0 / sizes).mean()))
    if limit == 0.0:
        changing = 1.0 - (1.0 - confidence) ** (1.0 / repeated)
        unseen = min(_z(confidence) * sqrt(changing / sizes.size), 1.0)
    return Noise(side.name, sizes.size, repeated, float(values.size / max(sizes.size, 1)), limit, fewer, unseen)


def share_of(a: Candidate, b: Candidate, measure: str, confidence: float = CONFIDENCE) -> Share | None:
    """The difference of two systems, and the share of noise in its variance; None with fewer than two questions."""
    found = by_question((a, b), measure)
    n, noise = len(found.values), found.of_draws
    if n < 2:  # noqa: PLR2004 (a variance)
        return None
    observed = float(found.values.mean())
    if noise is None:
        return Share((a.name, b.name), observed, None, None)
    spread = float(found.values.var()) * design_effect(found.values.to_numpy(), found.groups)
    share = min(noise / spread, 1.0) if spread else float(noise > 0.0)
    return Share((a.name, b.name), observed, _z(confidence) * sqrt(noise / n), share)


def _z(confidence: float) -> float:
    return float(scipy.special.ndtri((1.0 + confidence) / 2.0))


def _print(measure: str, own: Sequence[Noise], pairs: Sequence[Share], sure: str) -> None:
    for one in own:
        if one.limit:
            with_draws = f"; with {one.draws:.3g} answers to each, by up to {_bare(one.limit_with_draws)}"
            limit = f"differ by up to {_bare(one.limit)} points in {sure} of cases"
            say(f"{one.system}: two runs of the same system with one answer to each question {limit}{with_draws}")
        elif one.limit is not None:
            repeated = f"{counted(one.repeated, 'question')} with several answers"
            hidden = f"so few may hide, with {sure} confidence, changes by up to {_bare(one.unseen)} points"
            say(f"{one.system}: deterministic here: the answers to each of {repeated} score the same; {hidden}")
    if unknown := [one.system for one in own if one.limit is None]:
        remedy = "map several by dataset.draw, or set draws: of a candidate with model:"
        say(f"{joined(unknown)}: one answer to each question, so its own noise is unknown; {remedy}")
    if pairs and len(unknown) < len(own):
        heads = f"difference of {measure}", "points", f"own noise, {sure}", "share of the variance"
        noise = (NONE if one.noise is None else f"±{_bare(one.noise)}" for one in pairs)
        cells = (
            (" − ".join(one.systems), points(one.difference), own, rate(one.share))
            for one, own in zip(pairs, noise, strict=True)
        )
        print_rows(heads, cells)
        say("The share of own noise vanishes with more answers to each question; the rest only with more questions.")


def _bare(share: float | None) -> str:
    return points(share).lstrip("+")
