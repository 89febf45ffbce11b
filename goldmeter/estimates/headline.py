"""Headlines: each candidate's rate by the primary measure, who says so, and how far it is known; and who leads."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import scipy

from goldmeter.console.format import counted
from goldmeter.errors import ParamsError
from goldmeter.estimates.column_facts import VALUE
from goldmeter.estimates.human_labels import FEWEST, LABEL
from goldmeter.estimates.judge_bias import MOST_OUTSIDE, STATED_IN_WORDS, STATED_RATE, offline_bias
from goldmeter.estimates.metrics_report import HeadlineEntry, LeadersEntry, Limited, MetricEntry, PredictionPowered
from goldmeter.estimates.primary import VERDICT, Primary, primary
from goldmeter.estimates.signature import OFFLINE, VerdictSource
from goldmeter.estimates.sums import CandidateSums, System, column_of
from goldmeter.statistics import BiasModel, people_rate, score_interval

# The number of labels that a note proposes.
PROPOSED = 50
LABELS = "human labels"
NOTHING: Limited = {"value": None, "low": None, "high": None}


def headlines(
    primary: Primary,
    candidates: Iterable[CandidateSums],
    entries: Mapping[str, Mapping[str, MetricEntry]],
    judge: VerdictSource,
    confidence: float,
) -> dict[str, HeadlineEntry]:
    """The headline of each candidate.

    Human labels of the same rows come first, combined with cheap scores where they cover a random part; then the
    offline judge's rate with an interval for the human rate; a rate without a known error has no interval.

    Args:
        primary: The primary measure.
        candidates: The candidates.
        entries: Candidate → metric → its entry in the report.
        judge: Who gave the verdicts.
        confidence: Of the intervals.
    """
    return {one.name: _headline(primary, one, entries.get(one.name, {}), judge, confidence) for one in candidates}


def as_headlined(headlines: Mapping[str, HeadlineEntry], candidate: str, metric: str, entry: Limited) -> Limited:
    """A candidate's rate by a metric so that one page has one interval of one rate.

    By labels, or by a judge whose error the headline includes, it is the headline's; that of a judge beside a headline
    by labels has no limits, for they would lack its error.

    Args:
        headlines: The headline of each candidate.
        candidate: The candidate.
        metric: The metric.
        entry: The rate by the measured rows alone.
    """
    headline = headlines.get(candidate)
    if headline is None:
        return entry
    if headline["measure"] == metric and (metric == LABEL or headline["status"] == "estimated"):
        return headline.get("plain", _limited(headline))
    if headline["measure"] == LABEL and metric == VERDICT:
        return {"value": entry["value"], "low": None, "high": None}
    return entry


def leaders(
    primary: Primary,
    shown: Mapping[str, HeadlineEntry],
    pairs: Sequence[Mapping[str, Any]],
) -> LeadersEntry:
    """All measured candidates that cannot be told apart from the best one.

    A candidate is left out when another one is better by the simultaneous interval of their difference, so the set
    contains the best one with the confidence of the comparisons.

    Args:
        primary: The primary measure.
        shown: The headline of each candidate.
        pairs: The comparisons of the candidates, with simultaneous intervals.

    Source: Hsu 1996 (multiple comparisons with the best); Mogstad, Romano, Shaikh & Wilhelm 2024 (sets of the best).
    """
    names = [name for name, entry in shown.items() if entry["value"] is not None]
    status = {shown[name]["status"] for name in names if shown[name]["measure"] == primary.name}
    if len(names) > 1 and "unknown" in status:
        note = "no claim on who leads: the error of the judge is not known here"
        return {"measure": primary.name, "names": names, "decided": False, "note": note}
    beaten = {loser for pair in pairs if (loser := worse_of(pair, primary.name))}
    best = [name for name in names if name not in beaten]
    decided, reason = len(best) == 1, not_compared(pairs, best)
    note = f"not all could be compared: {reason}" if reason else _lead_note(best, len(names))
    return {"measure": primary.name, "names": best, "decided": decided, "note": note}


def deciding(pair: Mapping[str, Any], measure: str) -> tuple[str, Any] | None:
    """The measure that decides a comparison of two candidates, and its entry; None if it was not compared.

    It is the primary one, `measure`, but human labels where only some candidates have them, and these two do.
    """
    entries = pair["measures"]
    if any(refused.get("role") == "primary" for refused in pair.get("refused", ())):
        return None
    name = next((name for name, entry in entries.items() if entry.get("role") == "primary"), measure)
    return (name, entries[name]) if name in entries else None


def not_compared(pairs: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    """Which of these candidates could not be compared with each other, and why; empty where all were.

    Args:
        pairs: The comparisons of the candidates.
        names: The candidates.
    """
    found = [
        f"{pair['base']} and {pair['head']}: {refused['reason']}"
        for pair in pairs
        for refused in pair.get("refused", ())
        if refused.get("role", "primary") == "primary" and {pair["base"], pair["head"]} <= {*names}
    ]
    if len(found) > 1:
        return f"{found[0]} (and {counted(len(found) - 1, 'more pair')})"
    return found[0] if found else ""


def rates(
    primary: Primary,
    candidates: Iterable[CandidateSums],
    shown: Mapping[str, HeadlineEntry],
    entries: Mapping[str, Mapping[str, MetricEntry]],
    judge: VerdictSource,
    confidence: float,
) -> dict[str, dict[str, Limited]]:
    """Candidate → measure → its rate, for targets.

    The rate of the primary measure is the headline; a judge's rate has the interval that a headline by it would have.

    Args:
        primary: The primary measure.
        candidates: The candidates.
        shown: The headline of each candidate.
        entries: Candidate → metric → its entry in the report.
        judge: Who gave the verdicts.
        confidence: Of the intervals.
    """
    found: dict[str, dict[str, Limited]] = {}
    for one in candidates:
        metrics, headline = entries.get(one.name, {}), shown[one.name]
        own = {f"{metric}{VALUE}": _limited(entry) for metric, entry in metrics.items() if _is_graded(one, metric)}
        own |= {metric: _limited(_rate(one, metric, entry)) for metric, entry in metrics.items()}
        if (verdicts := metrics.get(VERDICT)) and verdicts["value"] is not None:
            own[VERDICT] = _limited(_by_judge(one, verdicts, judge, confidence))
        if label := metrics.get(LABEL):
            # Labels of selected rows say nothing of the others.
            own[LABEL] = _limited(label.get("ppi", label)) if have_labels([one]) else NOTHING
        found[one.name] = own | {name: _limited(headline) for name in (primary.name, headline["measure"])}
    return found


def _is_graded(candidate: CandidateSums, metric: str) -> bool:
    """Whether a metric has a score beside its pass rate."""
    scores = column_of(candidate, metric)
    return scores is not None and scores.facts.has_graded_score


def _rate(candidate: CandidateSums, metric: str, entry: MetricEntry) -> Mapping[str, Any]:
    """The pass rate of a metric, or its score if it has none; unknown while its threshold is not fitted."""
    scores = column_of(candidate, metric)
    if scores is not None and scores.facts.awaits_threshold:
        return NOTHING
    return entry.get("pass_rate") or entry


def _limited(entry: Mapping[str, Any]) -> Limited:
    return {"value": entry["value"], "low": entry["low"], "high": entry["high"]}


def _headline(
    primary: Primary,
    candidate: CandidateSums,
    metrics: Mapping[str, MetricEntry],
    judge: VerdictSource,
    confidence: float,
) -> HeadlineEntry:
    if primary.name in {LABEL, VERDICT} and (labelled := _by_labels(primary, candidate, metrics, judge)):
        return labelled
    entry = metrics.get(primary.name.partition(".")[0])
    if entry is None or entry["value"] is None:
        note = f"{primary.name} is not measured"
        if primary.name == LABEL:
            note = (
                "no answer has a human label, by which gate.primary decides; add labels (dataset.candidates or "
                "dataset.label_file), or leave gate.primary empty to decide by the judge"
            )
        return _entry(primary.name, NOTHING, 0, "nobody", "unknown", note)
    if primary.name != VERDICT:
        rate = _rate(candidate, primary.name, entry) if primary.name in metrics else entry
        if rate["value"] is None:
            note = f"the threshold of {primary.name} is not fitted: too few human labels, or nothing should pass"
            return _entry(primary.name, NOTHING, 0, "nobody", "unknown", note)
        note = f"by {primary.name}, {primary.reason}"
        return _entry(primary.name, rate, entry["n"], primary.name, "measured", note)
    return _by_judge(candidate, entry, judge, confidence, (metrics.get(LABEL) or {"n": 0})["n"])


def _by_labels(
    primary: Primary, candidate: CandidateSums, metrics: Mapping[str, MetricEntry], judge: VerdictSource
) -> HeadlineEntry | None:
    """The headline from human labels of the same rows; None without enough of them."""
    entry, labels = metrics.get(LABEL), column_of(candidate, LABEL)
    if entry is None or labels is None:
        return None
    n, rows = entry["n"], labels.n_rows
    if powered := entry.get("ppi"):
        judged = (metrics.get(VERDICT) or {"n": 0})["n"]
        by = f"{LABELS} and {judge.name if judged else OFFLINE}"  # the offline judge's probability is always there
        return _entry(LABEL, powered, n, by, "measured", _powered_note(powered, rows))
    if n and (primary.name == LABEL or have_labels([candidate])):
        some = "" if n == rows else f" of {n:,} of {rows:,} rows"
        return _entry(LABEL, entry, n, LABELS, "measured", f"by {LABELS}{some}")
    return None


def _powered_note(powered: PredictionPowered, rows: int) -> str:
    worth = powered["worth"]
    added = f"; with scores of all rows they are worth {worth:,}" if worth and worth > powered["n"] else ""
    how = "by a design" if powered["designed"] else "at random"
    if judge := powered["judge"]:
        error = f"{OFFLINE}'s error on other data" if judge == OFFLINE else f"the error stated for judges like {judge}"
        added += f"; the interval also uses {error}"
    return f"by {LABELS} of {powered['n']:,} of {rows:,} rows, chosen {how}{added}"


def _by_judge(
    candidate: CandidateSums, entry: MetricEntry, judge: VerdictSource, confidence: float, labels: int = 0
) -> HeadlineEntry:
    """The headline from verdicts alone; labels: how many answers have one."""
    rate: Mapping[str, Any] = entry.get("ppi", entry)
    n, proposal = entry["n"], _proposal(confidence)
    checked = "not checked on your data"
    if labels >= FEWEST and not candidate.labels_random:
        checked = f"{labels:,} human labels do not correct it: they are not of all answers, and not chosen at random"
    if not judge.is_offline:
        limits = with_error(rate, STATED_RATE, confidence)
        note = f"by {judge.name}; {checked}. The interval includes its error, {STATED_IN_WORDS}."
        return _entry(VERDICT, limits, n, judge.name, "estimated", note) | {"proposal": proposal}
    unknown = {"value": rate["value"], "low": None, "high": None}
    share = candidate.share_outside
    if share > MOST_OUTSIDE:
        outside = sorted(candidate.outside.items(), key=lambda item: (-item[1], item[0]))
        why = ", ".join(f"{reason}: {count / n:.0%}" for reason, count in outside)
        note = (
            f"by {OFFLINE}, but {share:.0%} of the answers lie outside its domain ({why}), so no claim. {proposal} "
            "Or use a language model as judge, and label some rows to check it."
        )
        return _entry(VERDICT, unknown, n, OFFLINE, "unknown", note)
    if (model := offline_bias()) is None:
        note = f"by {OFFLINE}, whose model is another one than was measured, so no claim. {proposal}"
        return _entry(VERDICT, unknown, n, OFFLINE, "unknown", note)
    limits = with_error(rate, model, confidence, share)
    note = (
        f"by {OFFLINE}; {checked}. The interval includes its error on {model.systems} systems of "
        f"{model.sets} other data sets."
    )
    return _entry(VERDICT, limits, n, OFFLINE, "estimated", note) | {"proposal": proposal}


def with_error(rate: Mapping[str, Any], bias: BiasModel | float, confidence: float, share: float = 0.0) -> Limited:
    """The judge's rate with an interval for the human rate; share: of rows that the judge cannot judge."""
    value = rate["value"]
    # Near 0 and 1 the sampling interval is not symmetric, so each limit has the standard error of its own side.
    below = standard_error(rate["low"], 2.0 * value - rate["low"], confidence)
    above = standard_error(2.0 * value - rate["high"], rate["high"], confidence)
    low = (1.0 - share) * people_rate(value, bias, below**2, confidence=confidence)[0]
    high = (1.0 - share) * people_rate(value, bias, above**2, confidence=confidence)[1] + share
    return {"value": value, "low": min(low, value), "high": max(high, value)}


def standard_error(low: float, high: float, confidence: float) -> float:
    """The standard error behind an interval."""
    return (high - low) / 2.0 / -float(scipy.special.ndtri((1.0 - confidence) / 2.0))


def have_labels(candidates: Sequence[System]) -> bool:
    """Whether human labels allow a statement on all these candidates, so that they need no judge."""
    try:
        return primary(None, candidates, random=all(one.labels_random for one in candidates)).name == LABEL
    except ParamsError:
        return False


def _proposal(confidence: float) -> str:
    low, high = score_interval(0.5, PROPOSED, confidence=confidence)  # the widest: the human rate is not known
    return (
        f"{PROPOSED} human labels of randomly chosen rows (dataset.labels: random) would give each rate to "
        f"±{50 * (high - low):.0f} points or closer."
    )


def worse_of(pair: Mapping[str, Any], measure: str) -> str | None:
    """The candidate of a pair that is worse; None where they cannot be told apart."""
    decides = deciding(pair, measure)
    if decides is None or (compared := decides[1])["difference"]["low"] is None:
        return None
    better, worse = ("head", "base") if compared["higher_is_better"] else ("base", "head")
    if compared["difference"]["low"] > 0.0:
        return str(pair[worse])
    return str(pair[better]) if compared["difference"]["high"] < 0.0 else None


def _lead_note(best: Sequence[str], candidates: int) -> str:
    if candidates == 1:
        return "one candidate"
    if len(best) == 1:
        return "better than every other candidate"
    return "no significant difference between them" if len(best) > 1 else "no candidate leads"


def _entry(measure: str, rate: Mapping[str, Any], n: int, by: str, status: Any, note: str) -> HeadlineEntry:
    value, low, high = rate["value"], rate["low"], rate["high"]
    return HeadlineEntry(measure=measure, value=value, low=low, high=high, n=n, by=by, status=status, note=note)
