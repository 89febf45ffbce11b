"""`python -m tasks noise`: how much two runs of the same system differ, from several answers to each question."""

import argparse
from collections.abc import Sequence
from itertools import combinations
from math import sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd

from goldmeter.comparison.measures import measures
from goldmeter.console.format import NONE, counted, joined, points, rate
from goldmeter.console.terminal import console, plain, say, write_markup
from goldmeter.estimates.columns import Candidate
from goldmeter.pipeline.files import to_json
from goldmeter.reporting.study_plan import measure_of, rows_of, systems_of
from goldmeter.statistics.repeated import rerun_limit, variance_split
from goldmeter.statistics.study import design_effect
from goldmeter.versions.version import WORKSPACE, versions

Z = 1.96


class Noise(NamedTuple):
    """A system's own noise, in shares of the measure's width.

    Attributes:
        system: Its name.
        questions: Number of questions.
        repeated: Number of questions with several answers.
        draws: Mean number of answers to a question.
        limit: Difference that two runs with one answer to each question exceed in 5 %; None without several answers.
        limit_with_draws: The same of two runs with as many answers as this one has.
    """

    system: str
    questions: int
    repeated: int
    draws: float
    limit: float | None
    limit_with_draws: float | None


class Share(NamedTuple):
    """The difference of two systems' means over their shared questions, as a share of the measure's width.

    Attributes:
        systems: Their names, the one that is subtracted last.
        difference: The observed difference.
        noise: What the systems' own noise alone moves it by at most, in 95 %; None where a system's is unknown.
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
    own = [noise_of(side, measure) for side in systems]
    pairs = [each for sides in combinations(systems, 2) if (each := share_of(*sides, measure))]
    if chosen.json:
        rows = {"systems": [one._asdict() for one in own], "differences": [one._asdict() for one in pairs]}
        write_markup(to_json({"measure": measure} | rows, ascii_only=True))
        return
    _print(measure, own, pairs)


def noise_of(side: Candidate, measure: str) -> Noise:
    """The noise of a system, from the variance between its answers to one question."""
    values, keys = rows_of(side, measure_of(side, measure))
    sizes = np.unique(keys, return_counts=True)[1]
    limit = rerun_limit(values, keys)
    fewer = None if limit is None else limit * sqrt(float((1.0 / sizes).mean()))
    return Noise(side.name, sizes.size, int((sizes > 1).sum()), float(values.size / max(sizes.size, 1)), limit, fewer)


def share_of(a: Candidate, b: Candidate, measure: str) -> Share | None:
    """The difference of two systems, and the share of noise in its variance; None with fewer than two questions."""
    rows = [rows_of(side, measure_of(side, measure)) for side in (a, b)]
    by_question = [pd.Series(values).groupby(keys).agg(["mean", "size"]) for values, keys in rows]
    means = pd.concat([one["mean"] for one in by_question], axis=1, join="inner")
    if len(means) < 2:  # noqa: PLR2004 (a variance)
        return None
    difference = (means.iloc[:, 0] - means.iloc[:, 1]).to_numpy(np.float64)
    splits = [variance_split(*one) for one in rows]
    of_draws = [
        split.within * float((1.0 / one.loc[means.index, "size"]).mean())
        for split, one in zip(splits, by_question, strict=True)
        if split
    ]
    observed = float(difference.mean())
    if len(of_draws) < len(splits):
        return Share((a.name, b.name), observed, None, None)
    groups = a.groups
    keys = a.keys if a.questions is None else a.questions
    clusters = None if groups is None else pd.Series(groups, keys).groupby(level=0).first()[means.index].to_numpy()
    noise = sum(of_draws)
    spread = float(difference.var(ddof=1)) * design_effect(difference, clusters)
    share = min(noise / spread, 1.0) if spread else float(noise > 0.0)
    return Share((a.name, b.name), observed, Z * sqrt(noise / len(means)), share)


def _print(measure: str, own: Sequence[Noise], pairs: Sequence[Share]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    for one in own:
        if one.limit:
            with_draws = f"; with {one.draws:.3g} answers to each, by up to {_bare(one.limit_with_draws)}"
            limit = f"differ by up to {_bare(one.limit)} points in 95 % of cases"
            say(f"{one.system}: two runs of the same system with one answer to each question {limit}{with_draws}")
        elif one.limit is not None:
            repeated = f"{counted(one.repeated, 'question')} with several answers"
            say(f"{one.system}: deterministic here: the answers to each of {repeated} score the same")
    if unknown := [one.system for one in own if one.limit is None]:
        remedy = "map several by dataset.draw, or set draws: of a candidate with model:"
        say(f"{joined(unknown)}: one answer to each question, so its own noise is unknown; {remedy}")
    if pairs and len(unknown) < len(own):
        table = Table("difference of " + measure, "points", "own noise", "share of the variance", box=SIMPLE_HEAD)
        for pair in pairs:
            noise = NONE if pair.noise is None else f"±{_bare(pair.noise)}"
            table.add_row(*map(plain, (" − ".join(pair.systems), points(pair.difference), noise, rate(pair.share))))
        console().print(table)
        say("The share of own noise vanishes with more answers to each question; the rest only with more questions.")


def _bare(share: float | None) -> str:
    return points(share).lstrip("+")
