"""The first screen in words: the conclusion, what it is held against, and the reasons that matter, three at most."""

from collections.abc import Iterator
from itertools import islice
from math import floor
from typing import NamedTuple

from goldmeter.console.format import count, counted, level, listed
from goldmeter.estimates.human_labels import LABEL
from goldmeter.estimates.metrics_report import MetricsReport
from goldmeter.estimates.primary import VERDICT
from goldmeter.wording.conclusion import CandidateRate, Conclusion, compares_texts, short_names
from goldmeter.wording.evidence import most_frequent_failures, worst_slices

# Reasons, candidates whose rates, and kinds of failure that stand on the first screen.
REASONS, RATES, KINDS = 3, 6, 2
# A proposed target is a multiple of this.
STEP = 0.05


class FirstScreen(NamedTuple):
    """What the first screen says below the conclusion.

    target: a proposal where none is set. rates: the first ones, the best first. left_out: how many more there are.
    basis: what these rates are. is_same: whether it says who gave them.
    reasons: sentences.
    """

    target: str
    rates: list[CandidateRate]
    left_out: int
    basis: str
    is_same: bool
    reasons: list[str]


def first_screen(document: MetricsReport, conclusion: Conclusion) -> FirstScreen:
    """What the first screen says of reports/metrics.json."""
    rates = conclusion.rates[:RATES]
    sources = {one.basis.rpartition(", ")[0] for one in rates}
    is_same = len(sources) == 1 and conclusion.is_known and not any("plain" in one.entry for one in rates)
    return FirstScreen(
        target="" if conclusion.targets else _proposed_target(conclusion),
        rates=rates,
        left_out=len(conclusion.rates) - len(rates),
        basis=_basis(conclusion._replace(rates=rates), next(iter(sources)) if is_same else "", document["confidence"]),
        is_same=is_same,
        reasons=[*islice(_reasons(document, conclusion), REASONS)],
    )


def _basis(conclusion: Conclusion, by: str, confidence: float) -> str:
    if not conclusion.is_known:
        return "No claim"
    what = "Score"
    if conclusion.is_share:
        right = any(one.entry["measure"] in {LABEL, VERDICT} for one in conclusion.rates)
        what = "Right" if right else "Passing"
    counts = sorted({one.basis.rpartition(", ")[2] for one in conclusion.rates}, key=lambda text: (len(text), text))
    fewest = f"{counts[0].partition(' ')[0]} to " if len(counts) > 1 else ""
    of = f" by {by}, {fewest}{counts[-1]}" if by else ""
    return f"{what}{of}, {level(confidence)} intervals"


def _proposed_target(conclusion: Conclusion) -> str:
    """A target that the best candidate meets."""
    low = conclusion.rates[0].entry["low"] if conclusion.rates and conclusion.is_known and conclusion.is_share else None
    met = floor((low or 0.0) / STEP + 1e-9) * STEP
    if not met:
        return ""
    best, measure = conclusion.rates[0].candidate, conclusion.rates[0].entry["measure"]
    return f"No target: {short_names([best])[best]} meets {100 * met:.0f} % (report.targets.{measure})."


def _reasons(document: MetricsReport, conclusion: Conclusion) -> Iterator[str]:
    if conclusion.reason:
        yield conclusion.reason
    if conclusion.missing:
        yield f"Not measured: {listed([*short_names(conclusion.missing).values()])}."
    yield from conclusion.lines
    measure = document["primary"]["measure"]
    if compares_texts(measure) and conclusion.is_known:
        yield f"{measure} compares texts; human labels or a judge would say which answers are right."
    worst = worst_slices(document)
    if worst.are_significant and conclusion.is_known:
        yield f"Worst slice: {worst.lines[0]}."
    elif worst.lines and conclusion.is_known:
        yield "No slice is significantly worse."
    for name, short in short_names([*document["headlines"]]).items():
        entry = document["candidates"].get(name, {}).get(measure.partition(".")[0])
        if entry and entry["n_failed"] and entry["n"]:
            every = counted(entry["n"] + entry["n_failed"], "answer")
            yield f"{count(entry['n_failed'])} of {every} by {short} could not be measured."
    if kinds := most_frequent_failures(document, KINDS):
        of = ", together" if len(document.get("failures", {})) > 1 else ""
        yield f"{conclusion.failures_title}{of}: {kinds}."
