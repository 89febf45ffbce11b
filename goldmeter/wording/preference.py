"""Preferences on the page and in the terminal: who is preferred, win rates, position bias, and ranks, in words."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from goldmeter.console.format import count, counted, joined, level, number, rate, rate_interval
from goldmeter.estimates import metrics_report
from goldmeter.estimates.signature import Signature
from goldmeter.wording.conclusion import short_names

# The points of the answer shown first that a judge without position bias gives.
UNBIASED = 0.5


class PairRow(NamedTuple):
    """A pair, the candidate preferred more often first. rate: its win rate over the other one."""

    preferred: str
    other: str
    rate: metrics_report.Limited
    counts: str
    unmeasured: str


class RankRow(NamedTuple):
    """A candidate with its ranks and strength in words."""

    candidate: str
    ranks: str
    strength: metrics_report.Limited


class PreferenceSection(NamedTuple):
    """The section on preferences.

    sentence: the conclusion. lines: position bias, and why there are no ranks. is_biased: whether the interval of the
    points of the answer shown first excludes one half. ranks: the strongest first.
    """

    sentence: str
    lines: list[str]
    is_biased: bool
    pairs: list[PairRow]
    ranks: list[RankRow]
    signature: str
    prompt: str


def preference_section(document: metrics_report.MetricsReport) -> PreferenceSection | None:
    """The section's content from reports/metrics.json; None where no preference was asked for."""
    found = document.get("preference")
    if found is None:
        return None
    short = short_names(sorted({pair[side] for pair in found["pairs"] for side in ("a", "b")}))
    confidence, by = level(document["confidence"]), _judge(found["signature"])
    sentence = _of_pair(found["pairs"][0], short, confidence, by)
    if len(short) > 2:  # noqa: PLR2004 (ranks)
        sentence = _of_ranks(found, short, confidence, by)
    position = found.get("position")
    return PreferenceSection(
        sentence=sentence,
        lines=[*_lines(found, confidence), *_unweighted(document)],
        is_biased=position is not None and not _holds(position["first"], UNBIASED),
        pairs=[_row(pair) for pair in found["pairs"]],
        ranks=[
            RankRow(one["candidate"], _ranks(one["best"], one["worst"]), one["strength"])
            for one in found.get("ranks", [])
        ],
        signature=found["signature"],
        prompt=found["prompt"],
    )


def _judge(signature: str) -> str:
    model = Signature.of(signature).fields.get("model")
    return "the judge" if model is None else f"judge {model}"


def _of_pair(pair: metrics_report.NamedPairEntry, short: Mapping[str, str], confidence: str, by: str) -> str:
    row = _row(pair)
    value, low, high = (row.rate[name] for name in ("value", "low", "high"))
    preferred, other = short[row.preferred], short[row.other]
    if value is None or low is None or high is None:
        return f"No preference between {preferred} and {other} is measured."
    n = counted(pair["n"], "input")
    figures = f"win rate {rate(value)}, {confidence} CI {rate(low)} to {rate(high)}, {n}, {by}"
    if low > UNBIASED:
        return f"{preferred} is preferred to {other} ({figures})."
    return f"No significant preference between {preferred} and {other} ({preferred}: {figures})."


def _of_ranks(found: metrics_report.PreferenceEntry, short: Mapping[str, str], confidence: str, by: str) -> str:
    if "ranks" not in found:
        return f"No ranking by preference ({by})."
    ranks = found["ranks"]
    first = [short[one["candidate"]] for one in ranks if one["best"] == 1]
    basis = f"{by}, simultaneous {confidence} intervals of ranks"
    if len(first) == len(ranks):
        return f"No significant ranking by preference of {joined(first)} ({basis})."
    rest = [f"{short[one['candidate']]} {_ranks(one['best'], one['worst'])}" for one in ranks if one["best"] > 1]
    lead = f"{first[0]} is preferred to all others" if len(first) == 1 else f"{joined(first)} lead by preference"
    return f"{lead}; ranks: {'; '.join(rest)} ({basis})."


def _lines(found: metrics_report.PreferenceEntry, confidence: str) -> Iterator[str]:
    if reason := found.get("not_ranked"):
        yield f"No ranks: {reason}."
    if position := found.get("position"):
        yield _position(position, confidence)


def _unweighted(document: metrics_report.MetricsReport) -> Iterator[str]:
    if weighting := document.get("weighting"):
        yield f"Every input counts once here: {weighting['option']} does not weight preferences."


def _position(position: metrics_report.PositionEntry, confidence: str) -> str:
    flips, first = (
        rate_interval(position[name]["value"], position[name]["low"], position[name]["high"])
        for name in ("flips", "first")
    )
    bias = "no position bias is significant" if _holds(position["first"], UNBIASED) else "a position bias"
    return (
        f"In the other order the judge gave another verdict on {flips} of {counted(position['n'], 'pair')} of answers; "
        f"these are ties. The answer shown first got {first} of the points ({confidence} CI): {bias}."
    )


def _holds(limits: metrics_report.Interval, value: float) -> bool:
    return limits["low"] <= value <= limits["high"]


def _row(pair: metrics_report.NamedPairEntry) -> PairRow:
    value, low, high = pair["win_rate"]["value"], pair["win_rate"]["low"], pair["win_rate"]["high"]
    preferred, other, won, lost = pair["b"], pair["a"], pair["wins"], pair["losses"]
    limits: metrics_report.Limited = {"value": value, "low": low, "high": high}
    if value is not None and value < UNBIASED:
        preferred, other, won, lost = other, preferred, lost, won
        limits = {"value": 1.0 - value, "low": 1.0 - high, "high": 1.0 - low}
    same = f" ({count(pair['identical'])} identical)" if pair["identical"] else ""
    counts = f"{count(won)} won, {count(pair['ties'])} tied{same}, {count(lost)} lost"
    unmeasured = ", ".join(f"{why}: {count(rows)}" for why, rows in pair["unmeasured"].items())
    return PairRow(preferred, other, limits, counts, unmeasured)


def _ranks(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best} to {worst}"


def strength(limits: metrics_report.Limited) -> str:
    """Return a strength with its limits in words.

    >>> strength({"value": 0.5, "low": 0.25, "high": None})
    '0.500 [0.250, ∞)'
    """
    low = "(−∞" if limits["low"] is None else f"[{number(limits['low'])}"
    high = "∞)" if limits["high"] is None else f"{number(limits['high'])}]"
    return f"{number(limits['value'])} {low}, {high}"
