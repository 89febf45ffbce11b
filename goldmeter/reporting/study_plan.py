"""`python -m tasks plan-study`: what a study needs to detect a difference, with the last run as pilot."""

import argparse
from collections.abc import Mapping, Sequence
from math import log2
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from goldmeter.comparison.by_question import by_question, measure_of
from goldmeter.comparison.measures import LABEL, measures
from goldmeter.comparison.of_versions import scores_of
from goldmeter.console.format import NONE, about, counted
from goldmeter.console.json_output import print_json
from goldmeter.console.terminal import print_rows, say
from goldmeter.errors import DataError, ParamsError
from goldmeter.estimates.columns import Candidate
from goldmeter.estimates.human_labels import FEWEST
from goldmeter.estimates.metrics_report import METRICS, MetricsReport, reading
from goldmeter.estimates.primary import VERDICT
from goldmeter.pipeline import params
from goldmeter.reporting import drawing
from goldmeter.reporting.assembly import usage_of
from goldmeter.reporting.trends import cost
from goldmeter.statistics.power import TooManyRowsError
from goldmeter.statistics.study import (
    Pilot,
    design_effect,
    detectable,
    explained_share,
    labels_for,
    levers,
    questions_for,
)
from goldmeter.versions.version import WORKSPACE, Version, versions

Needs = Mapping[str, float | None]
Spending = Mapping[str, Sequence[float]]
PICTURE = Path("reports/study.svg")
CONFIDENCE = 0.95
TIMES, DRAWS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0), 4
WIDTH, HEIGHT, MARGINS, BETWEEN = 380, 240, (48, 230, 30, 42), 15
STYLE = (
    "svg{background:#fff;color:#222;--line:#c5cbd3;--c0:#0b6bcb;--c1:#c2410c;--c2:#0f766e;--c3:#a21caf;--c4:#8a6100}"
    "@media(prefers-color-scheme:dark){svg{background:#121519;color:#e6e9ed;--line:#39414b;"
    "--c0:#6cb2ff;--c1:#ff9e64;--c2:#4fd1c5;--c3:#e495f2;--c4:#e6c15c}}"
)


class Study(NamedTuple):
    """The pilot of a plan. names: its systems. answer: US dollars of an answer and its verdict, None if unknown."""

    measure: str
    names: list[str]
    pilot: Pilot
    answer: float | None


def show(chosen: argparse.Namespace) -> None:
    """Print the plan, and draw its picture.

    Raises:
        ParamsError: A difference, the power or the measure is not possible.
        DataError: There was no run, or it measured too little.
    """
    for each in chosen.difference:
        if not 0.0 < each <= 100.0:  # noqa: PLR2004 (percent)
            raise ParamsError(f"--difference {each:g}: no data reach it; name points above 0 and up to 100, such as 5")
    if not 1.0 - CONFIDENCE < chosen.power < 1.0:
        raise ParamsError(f"--power {chosen.power:g}: expected a probability above 0.05 and below 1, such as 0.8")
    with versions([WORKSPACE]) as (workspace,):
        study = _study(workspace, chosen.measure)
    plan = [_needs(study, each / 100.0, chosen.power) for each in chosen.difference]
    spending = {
        name: [detectable(levers(study.pilot, times)[name], chosen.power) for times in TIMES]
        for name in levers(study.pilot, 2.0)
    }
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(picture(spending, study.measure, chosen.power), encoding="utf-8")
    if chosen.json:
        result = {"measure": study.measure, "systems": study.names, "power": chosen.power, "plan": plan}
        curves = {"times": TIMES, "detectable": spending}
        print_json(result | {"pilot": study.pilot, "spending": curves})
        return
    _print(study, plan, spending, chosen.power)


def pilot_of(sides: Sequence[Candidate], measure: str) -> Pilot:
    """What the rows of one system or two say of a difference.

    Of one system, the other is taken to be as variable and independent of it, which is the worst case.

    Raises:
        ParamsError: A system lacks the measure, or it has no bounds or no value of a row.
        DataError: Fewer than two questions have it.
    """
    found = by_question(sides, measure)
    n = len(found.values)
    if n < 2:  # noqa: PLR2004 (a variance)
        raise DataError(f"{measure}: fewer than two questions have it; `dvc repro` measures, or name another --measure")
    of_draws, factor = found.of_draws, 3 - len(sides)
    own_noise = sum(filter(None, found.within))
    between = factor * max(float(found.values.var()) - (of_draws or 0.0), 0.0)
    within = None if of_draws is None else factor * own_noise
    own = [measure_of(side, measure) for side in sides]
    return Pilot(
        n,
        own_noise / of_draws if of_draws else float(np.mean([draws.mean() for draws in found.draws])),
        None,
        between if between or within else 1.0 / n,  # rows that never differ may yet
        within,
        binary=all(one.kind == "rate" or set(np.unique(one.values)) <= {0.0, 1.0} for one in own),
        design_effect=design_effect(found.values.to_numpy(), found.groups),
    )


def with_labels(pilot: Pilot, sides: Sequence[Candidate], measure: str) -> Pilot:
    """The pilot with what labels of both systems say of the judge; as it is where there are few."""
    names = [set(measures(side)) for side in sides]
    if measure not in {LABEL, VERDICT} or len(sides) == 1 or not all({LABEL, VERDICT} <= each for each in names):
        return pilot
    people, judge = (by_question(sides, name).values for name in (LABEL, VERDICT))
    joined = pd.concat([people, judge], axis=1, join="inner")
    if len(joined) < FEWEST:
        return pilot
    by_people = pilot_of(sides, LABEL)
    explained = explained_share(joined.iloc[:, 0], joined.iloc[:, 1])
    labels = None if len(people) >= len(judge) else float(len(people))
    return by_people._replace(questions=max(len(judge), len(people)), labels=labels, explained=explained)


def systems_of(version: Version, named: str | None) -> tuple[MetricsReport, str, list[Candidate]]:
    """The results of the last run, the measure that is asked for, its primary one by default, and the systems.

    Raises:
        DataError: There was no run, or it measured no answer.
    """
    if not version.has(METRICS):
        raise DataError("no run yet: `dvc repro` makes one")
    with reading(version.path(METRICS)) as document:
        measure = named or document.get("primary", {}).get("measure", VERDICT)
        order = [*document["candidates"]]
    scores = scores_of(version)
    systems = scores.candidates(scores.fitted)
    chosen = [systems[name] for name in order if name in systems]
    if not chosen:
        raise DataError("the last run measured no answer: `goldmeter init` maps your data, `dvc repro` measures them")
    return document, measure, chosen


def _study(version: Version, named: str | None) -> Study:
    document, measure, chosen = systems_of(version, named)
    chosen = chosen[:2]
    pilot = with_labels(pilot_of(chosen, measure), chosen, measure)
    measure = measure if pilot.explained is None else LABEL
    names = [one.name for one in chosen]
    return Study(measure, names, pilot, dollars_of_an_answer(document, names, version))


def dollars_of_an_answer(document: MetricsReport, names: Sequence[str], version: Version) -> float | None:
    """US dollars of an answer and its verdict, as far as they are known; None if neither is."""
    costs = [document.get("resources", {}).get(name, {}).get("cost") for name in names]
    means = [one["mean"]["value"] for one in costs if one]
    answer = sum(filter(None, means)) / len(means) if means else None
    judge, price = params.for_stage("judge").judge, None
    if judge.asks_server and judge.panel is None:
        price = params.run_params().judge.prices.get(judge.model)
    usage = usage_of(version, "judge") if price else None
    if not (price and usage and usage.replies > usage.uncounted):
        return answer
    paid = price.of(usage.prompt, usage.completion) - price.saved(usage.batch_prompt, usage.batch_completion)
    verdicts = [one[VERDICT] for one in document.get("candidates", {}).values() if VERDICT in one]
    judged = sum(one["n"] + one["n_failed"] for one in verdicts) or document["dataset"]["rows"]
    return (answer or 0.0) + paid / judged


def _needs(study: Study, difference: float, power: float) -> Needs:
    """What detects a difference: questions with one answer, with several, and labels beside a judge."""
    pilot = study.pilot
    try:
        once = questions_for(difference, pilot, 1.0, power)
        several = None if pilot.within is None else questions_for(difference, pilot, DRAWS, power)
    except TooManyRowsError:
        raise ParamsError(f"--difference {100 * difference:g}: no data set is large enough; name more points") from None
    return {
        "points": round(100 * difference, 6),
        "questions": once,
        f"questions_{DRAWS}_draws": several,
        "labels_beside_judge": None if pilot.explained is None else labels_for(once, pilot.explained),
        "answers": 2 * once,
        "dollars": None if study.answer is None else 2 * once * study.answer,
    }


def _print(study: Study, plan: Sequence[Needs], spending: Spending, power: float) -> None:
    heads = ("points", "questions", f"with {DRAWS} draws", "labels beside the judge", "answers", "dollars")
    cells = []
    for row in plan:
        counts = [NONE if value is None else about(value) for value in [*row.values()][1:-1]]
        cells.append([f"{row['points']:g}", *counts, cost(row["dollars"])])
    pilot, now = study.pilot, detectable(study.pilot, power)
    asked = f"{counted(pilot.questions, 'question')}, answers of a system to each: {pilot.draws:.3g}"
    say(f"{study.measure}, {' and '.join(study.names)}: {asked}")
    if len(study.names) == 1:
        say("one system: the other is assumed as variable and independent of it, the worst case; half is typical")
    print_rows(heads, cells)
    say(f"The last run detects {100 * now:.1f} points with {power:.0%} power. Twice as much of it:")
    for name, values in sorted(spending.items(), key=lambda item: item[1][TIMES.index(2.0)]):
        say(f"  {name}: {100 * values[TIMES.index(2.0)]:.1f} points")
    if study.answer is None:
        say("Dollars: unknown, for answers have no cost, and no judge with a price was asked.")
    if pilot.within is None:
        say("Draws: unknown, for each question has one answer; dataset.draw maps several.")
    if pilot.explained is None and study.measure in {LABEL, VERDICT}:
        say("Labels beside a judge: unknown; `goldmeter label` chooses answers of both systems to label.")
        if study.measure == VERDICT:
            say("Without labels, the differences are those of the judge, whose errors may hide or feign some.")
    elif pilot.explained is not None:
        share = f"{pilot.explained:.0%} of the variance of a difference"
        say(f"Labels beside the judge: it scores twice the questions, and explains {share}.")
    say(f"picture: {PICTURE}")


def picture(spending: Spending, measure: str, power: float) -> str:
    """Draw the detectable difference against how often each spending is multiplied, as an SVG."""
    most = max(value for values in spending.values() for value in values) * 108.0
    across, up = drawing.Span(0.0, log2(TIMES[-1]), 0.0, WIDTH), drawing.Span(0.0, most, HEIGHT, 0.0)
    x = [drawing.Tick(across.place(log2(times)), f"×{times:g}") for times in (1, 2, 4, 8)]
    y = [drawing.Tick(up.place(each), f"{each:g}") for each in drawing.round_ticks(0.0, most, 5)]
    drawn, place = [], -float("inf")
    for number, (name, values) in enumerate(sorted(spending.items(), key=lambda item: -item[1][-1])):
        ends = [
            (across.place(log2(times)), up.place(100.0 * value)) for times, value in zip(TIMES, values, strict=True)
        ]
        place = max(place + BETWEEN, ends[-1][1])
        drawn.append(drawing.element("path", d=drawing.line(ends), stroke=drawing.colour(number), stroke_width=2))
        drawn.append(drawing.text(name, WIDTH + 8, place + 4, 12, fill=drawing.colour(number)))
    title = f"Smallest difference in {measure} that is detected, points ({power:.0%} power)"
    double = [f"{name} {100.0 * values[TIMES.index(2.0)]:.1f}" for name, values in spending.items()]
    now = 100.0 * next(iter(spending.values()))[0]
    return drawing.svg(
        (WIDTH, HEIGHT),
        MARGINS,
        f"<style>{STYLE}</style>",
        drawing.left_axis(y, HEIGHT, 11, WIDTH),
        drawing.bottom_axis(x, WIDTH, HEIGHT, MARGINS, 11),
        drawing.text(title, 0, -12, 13, font_weight="bold"),
        drawing.text("times as much as in the last run", WIDTH / 2, HEIGHT + 36, 11, text_anchor="middle"),
        *drawn,
        says=f"{title}: now {now:.1f}; with twice as much of one, {', '.join(double)}",
    )
