"""Evidence beside the conclusion of a run, in words: the worst slices, and how far the judge is to be trusted."""

from collections import Counter
from collections.abc import Iterator, Mapping
from math import exp, log
from typing import NamedTuple, TypeVar

from goldmeter.console.format import (
    LISTED,
    capitalized,
    coefficient,
    count,
    counted,
    joined,
    listed,
    number,
    points,
    points_interval,
    rate,
    rate_interval,
)
from goldmeter.estimates import metrics_report
from goldmeter.estimates.human_labels import LABEL
from goldmeter.estimates.primary import VERDICT
from goldmeter.estimates.signature import OFFLINE, VerdictSource
from goldmeter.models.offline.domain import is_inside
from goldmeter.models.offline.measured import measured as measured_facts
from goldmeter.wording.conclusion import NAMED, best_first, is_rate, short_names
from goldmeter.wording.release import source

Entry = TypeVar("Entry")
# Logit of 95 %.
LOGIT = log(19.0)


class SliceLines(NamedTuple):
    """The worst slices in words: a sentence on all of them, and a line for each."""

    sentence: str
    lines: list[str]
    are_significant: bool


def worst_slices(document: metrics_report.MetricsReport) -> SliceLines:
    """The worst slices by the primary measure; if some are significantly worse, only these."""
    found = document.get("worst_slices")
    if not found or not found["tests"]:
        return SliceLines("", [], are_significant=False)
    significant = [part for part in found["slices"] if any(entry["worse"] for entry in part["candidates"])]
    verdict = "These are" if significant else "None is"
    tests = f"{counted(found['tests'], 'comparison')}{_by(document, found['measure'])}"
    left_out = counted(found["left_out"], "slice is", "slices are")
    more = f" {left_out} left out: outside the judge's domain." if found["left_out"] else ""
    share = is_rate(document, found["measure"])
    lines = [_slice_line(part, is_share=share) for part in significant or found["slices"]]
    sentence = f"{verdict} significantly below the other answers ({tests}, corrected for their number).{more}"
    return SliceLines(sentence, lines, are_significant=bool(significant))


def most_frequent_failures(document: metrics_report.MetricsReport, kinds: int | None = None) -> str:
    """The most frequent kinds of failure of all candidates, with their counts; kinds: only so many."""
    counts = Counter[str]()
    for own in document.get("failures", {}).values():
        counts.update({one["kind"]: one["n"] for one in own["kinds"]})
    told = [f"{kind} {count(n)}" for kind, n in counts.most_common(kinds)]
    return listed(told) + (" kinds" if len(told) > LISTED + 1 else " kind" if len(told) > LISTED else "")


def trust(document: metrics_report.MetricsReport) -> list[str]:
    """How far the judge, or another primary measure, is to be trusted: sentences.

    Without labels it is what the headlines say of the judge's error. Empty where no answer has a verdict.
    """
    more = [*panel(document), *graded(document), *self_agreement(document), *recalibration(document)]
    checks = [*lost_votes(document), *selected_labels(document), *unequal_bias(document), *length_bias(document)]
    return [*checks, *agreement_lines(document), *more]


def unequal_bias(document: metrics_report.MetricsReport) -> Iterator[str]:
    """That the judge errs differently on different systems by the labels, if it does."""
    found = document.get("judge_bias")
    if found is None or found["p_value"] is None or found["p_value"] >= 1.0 - document["confidence"]:
        return
    by_size = sorted(found["systems"].items(), key=lambda item: -item[1]["value"])
    ends = dict([by_size[0], by_size[-1]])
    sides = [
        f"{name} {points(one['value'])} [{points(one['low'])}, {points(one['high'])}]" for name, one in ends.items()
    ]
    says = f"The judge's rate less that of the labels differs by system (p = {found['p_value']:.1g})"
    yield f"{says}: {', '.join(sides)} points."


def length_bias(document: metrics_report.MetricsReport) -> Iterator[str]:
    """That the judge prefers long or short answers, or answers to questions with such references, if it does."""
    found = {"answers": document.get("length_bias"), "references": document.get("reference_length_bias")}
    for name, entry in found.items():
        if entry is None or entry["all"]["low"] <= 0.0 <= entry["all"]["high"]:
            continue
        one = entry["all"]
        length = "long" if one["value"] > 0.0 else "short"
        size = f"{points(one['value'])} [{points(one['low'])}, {points(one['high'])}] points"
        prefers = f"prefers {length} answers" if name == "answers" else f"is milder where references are {length}"
        yield f"The judge {prefers}: {size} for twice the length, among answers with the same label."


def selected_labels(document: metrics_report.MetricsReport) -> list[str]:
    """Which labels are not taken for random, although params.yaml says so, and why: a sentence for each candidate."""
    return [
        f"The labels of {name} are not of a random part of the answers, as dataset.labels says: {one['measure']} is "
        f"{number(one['labelled'])} on the labelled ones and {number(one['all'])} on all (p < 0.001). They are "
        "used for agreement only."
        for name, one in document.get("selected_labels", {}).items()
    ]


def agreement_lines(document: metrics_report.MetricsReport) -> list[str]:
    """How far the judge, or another primary measure, agrees with human labels, and which answers it judges."""
    judged = _judged(document)
    entries = {name: document["candidates"][name].get(judged) for name in best_first(document)}
    measured = {name: entry for name, entry in entries.items() if entry and entry["n"]}
    agreements = {name: entry["agreement"] for name, entry in measured.items() if "agreement" in entry}
    lines = []
    if agreements:
        by = source(judged, next(iter(measured.values()))["signature"])
        lines = [*_agreement(by, agreements), *raters(document), *_adjudicators(document)]
    elif measured:
        estimated = [one for one in document["headlines"].values() if one["status"] == "estimated"]
        lines = [capitalized(one["note"]) for one in estimated[:1]]
        if len(measured) == 1:  # of several, the conclusion says what labels would decide
            lines = [f"{line} {one.get('proposal', '')}".strip() for line, one in zip(lines, estimated, strict=False)]
    shares = document.get("outside_domain", {})
    outside = {name: rate(shares[name]) for name in agreements if name in shares}
    if outside:
        lines.append(f"Answers outside its domain: {_by_candidate(outside)}.")
    if measured.keys() & shares.keys():
        lines += _by_kind()
    shares = document.get("by_offline_judge", {}) if judged == VERDICT else {}
    if decided := {name: rate(shares[name]) for name in measured if name in shares}:
        band = _band_of_cascade(next(iter(measured.values()))["signature"])
        lines.append(
            f"Answers that {OFFLINE} decided{band}: {_by_candidate(decided)}; a language model judged the others."
        )
    return lines


def _by_kind() -> Iterator[str]:
    """Yield the offline judge's expected agreement by kind of question and of reference inside its domain, if known."""
    facts = measured_facts()
    if facts is None:
        return
    parts = [
        f"by {name} " + ", ".join(f"{kind} {rate(one['accuracy'])}" for kind, one in found.items() if is_inside(one))
        for name, found in facts["kinds"].items()
    ]
    yield f"Its agreement on {facts['trained_on']['set']}, cross-validated, {'; '.join(parts)}."


def panel(document: metrics_report.MetricsReport) -> list[str]:
    """How far the judges of a panel agree with each other and with human labels, on the primary measure: sentences."""
    found, metric = document.get("panel"), _voted(document)
    if found is None or metric is None:
        return []
    votes = _votes(document, metric)
    names = joined(found["jurors"])
    lines = [f"{capitalized(metric)} by a panel of {len(found['jurors'])}: {names}; their votes count equally."]
    split = {
        name: ", ".join([rate(one["not_unanimous"]), *([counted(one["ties"], "tie")] if one["ties"] else [])])
        for name, one in votes.items()
        if one["not_unanimous"] is not None
    }
    lines += [f"Answers on which their votes differ: {_by_candidate(split)}."] if split else []
    pairs = {
        name: f"{_rate(one['pair'])}, alpha {_coefficient(one['alpha'])}"
        for name, one in votes.items()
        if one["pair"] and one["alpha"]
    }
    lines += [f"Two of them say the same: {_by_candidate(pairs)}."] if pairs else []
    for number_of, juror in enumerate(found["jurors"]):
        own = {name: one["jurors"][number_of]["accuracy"] for name, one in votes.items()}
        agree = {name: _rate(accuracy) for name, accuracy in own.items() if accuracy}
        lines += [f"{juror} alone agrees with human labels: {_by_candidate(agree)}."] if agree else []
    if weighting := document.get("weighting"):
        lines.append(f"Intervals of numbers by {weighting['option']} are over rows alone, not over judges.")
    return lines


def lost_votes(document: metrics_report.MetricsReport) -> list[str]:
    """The judges of a panel that lack votes which other judges gave: sentences."""
    found = document.get("panel")
    if found is None:
        return []
    lines = []
    for place, juror in enumerate(found["jurors"]):
        own = [one["jurors"][place] for metrics in found["candidates"].values() for one in metrics.values()]
        votes, missing = (sum(one[name] for one in own) for name in ("votes", "missing"))
        if missing:
            lacks = f"{count(missing)} of {counted(votes + missing, 'vote')} of {juror} are missing"
            lines.append(f"{lacks if votes else f'{juror} of the panel gave no vote'}: the other judges decided alone.")
    return lines


def _voted(document: metrics_report.MetricsReport) -> str | None:
    """The metric whose votes are shown: that of the primary measure, or else the first with votes."""
    found = document.get("panel")
    voted = dict.fromkeys(metric for metrics in found["candidates"].values() for metric in metrics) if found else {}
    return next((metric for metric in (_judged(document), *voted) if metric in voted), None)


def _votes(document: metrics_report.MetricsReport, metric: str) -> dict[str, metrics_report.PanelMetricEntry]:
    found = document["panel"]["candidates"]
    return {name: found[name][metric] for name in best_first(document) if metric in found.get(name, {})}


def _band_of_cascade(signature: str) -> str:
    """The band that the signature of a cascade's verdicts states, in words."""
    band = VerdictSource.of(signature).band
    return f" (probability below {band[0]} or above {band[1]})" if band else ""


def raters(document: metrics_report.MetricsReport) -> list[str]:
    """How often two raters of an answer say the same, and how often the judge says what one of them says: sentences."""
    rated, judged = document.get("raters", {}), _judged(document)
    pairs = {name: f"{_rate(one['pair'])}, alpha {_coefficient(one['alpha'])}" for name, one in rated.items()}
    judges = {name: one["metrics"][judged] for name, one in rated.items() if judged in one["metrics"]}
    lines = [f"Person against person: {_by_candidate(pairs)}."] if pairs else []
    if judges:
        by = source(judged, document["candidates"][next(iter(judges))][judged]["signature"])
        told = {name: f"{_rate(one['value'])}, {_points(one['difference'])}" for name, one in judges.items()}
        lines.append(f"{capitalized(by)} against one person: {_by_candidate(told)} to another person.")
    return lines


def graded(document: metrics_report.MetricsReport) -> Iterator[str]:
    """How far each metric of a judge agrees with grades that people gave: sentences."""
    for grades, by_candidate in by_column(document.get("graded", {})).items():
        for metric, entries in by_column(by_candidate).items():
            told = {
                name: f"kappa {_coefficient(one['kappa'])}, Spearman {_coefficient(one['spearman'])}"
                for name, one in entries.items()
            }
            answers = counted(sum(one["n"] for one in entries.values()), "answer")
            yield f"{metric} against the human grades {grades}: {_by_candidate(told)} ({answers})."


def self_agreement(document: metrics_report.MetricsReport) -> Iterator[str]:
    """How often two verdicts of the judge on one answer are equal, and what that adds to the variance: sentences."""
    found = by_column(document.get("self_agreement", {}))
    for column in sorted(found, key=lambda name: name != _judged(document)):
        entries = found[column]
        told = {name: _said_twice(entry) for name, entry in entries.items()}
        answers = counted(sum(entry["n"] for entry in entries.values()), "answer")
        yield f"The judge against itself, {column}: {_by_candidate(told)} ({answers} judged more than once)."


def _said_twice(entry: metrics_report.SelfAgreementEntry) -> str:
    apart = entry["distance"]
    distance = f", {number(apart['value'])} apart" if apart and apart["value"] is not None else ""
    share = "" if entry["share"] is None else f", {rate(entry['share'])} of the variance"
    return f"{_rate(entry['equal'])} the same{distance}{share}"


def _adjudicators(document: metrics_report.MetricsReport) -> Iterator[str]:
    for name, one in document.get("raters", {}).items():
        short = short_names([name])[name]
        for rater in one["adjudicators"]:
            yield f"Rater {rater} of {short} was asked mostly where others differ, and is left out."


def _judged(document: metrics_report.MetricsReport) -> str:
    """The metric whose agreement with human labels counts: the primary measure, or the judge if labels decide."""
    decides = document["primary"]["measure"].partition(".")[0]
    return VERDICT if decides == LABEL else decides


def recalibration(document: metrics_report.MetricsReport) -> Iterator[str]:
    """How far the judge's probabilities are off, and what Platt scaling makes of them."""
    found = document.get("calibration")
    if found is None or _judged(document) != VERDICT:
        return
    low, high = (rate(1.0 / (1.0 + exp(-found["intercept"] - found["slope"] * logit))) for logit in (-LOGIT, LOGIT))
    judge = _stating(document)
    yield (
        f"The probabilities of {judge} do not fit {counted(found['n'], 'label')} "
        f"(p = {found['p_value']:.2g}): they expect {rate(found['expected'])} right answers, and "
        f"{rate(found['right'])} are. By the labels, {low} are right where it says 5 %, and {high} where it says 95 %."
    )


def _stating(document: metrics_report.MetricsReport) -> str:
    """The judge that states probabilities: in a cascade, the offline one."""
    signatures = [one[VERDICT]["signature"] for one in document["candidates"].values() if VERDICT in one]
    judge = VerdictSource.of(signatures[0] if signatures else "")
    return OFFLINE if judge.has_offline else judge.name


def _by(document: metrics_report.MetricsReport, measure: str) -> str:
    """By which measure answers are right, unless it is by human labels."""
    metric = measure.partition(".")[0]
    entries = [metrics[metric] for metrics in document["candidates"].values() if metric in metrics]
    return "" if measure == LABEL or not entries else f" by {source(metric, entries[0]['signature'])}"


def _slice_line(part: metrics_report.WorstSlice, *, is_share: bool) -> str:
    """A slice, with the candidates that are significantly worse on it; without any, the one that is worst."""
    entries = [entry for entry in part["candidates"] if entry["worse"]] or part["candidates"][:1]
    told = "; ".join(_of_slice(entry, is_share=is_share) for entry in entries)
    return f"{part['column']} = {part['value'].strip() or '(empty)'}: {told}"


def _of_slice(entry: metrics_report.SliceEntry, *, is_share: bool) -> str:
    name, limits = short_names([entry["candidate"]])[entry["candidate"]], entry["difference"]
    if is_share:
        to_others = points_interval(limits["value"], limits["low"], limits["high"])
        return f"{name} {rate(entry['rate'])} of {counted(entry['n'], 'answer')}, {to_others} to the others"
    return f"{name} {number(entry['rate'])} on {counted(entry['n'], 'answer')}, others {number(entry['rest'])}"


def by_column(entries: Mapping[str, Mapping[str, Entry]]) -> dict[str, dict[str, Entry]]:
    """Regroup candidate → column → entry as column → candidate → entry."""
    regrouped: dict[str, dict[str, Entry]] = {}
    for candidate, own in entries.items():
        for name, entry in own.items():
            regrouped.setdefault(name, {})[candidate] = entry
    return regrouped


def _agreement(by: str, agreements: Mapping[str, metrics_report.AgreementEntry]) -> Iterator[str]:
    """How often the verdict is that of the human label, and how often one verdict for every answer would be."""
    same = {name: _agreed(entry) for name, entry in agreements.items()}
    yield f"Agreement of {by} with human labels: {_by_candidate(same)}."
    baselines = {name: entry["baseline"] for name, entry in agreements.items() if "baseline" in entry}
    if baselines:
        rules = sorted({one["rule"] for one in baselines.values()}, reverse=True)
        useless = [name for name, entry in agreements.items() if not entry.get("is_judge", True)]
        figures = _by_candidate({name: rate(one["value"]) for name, one in baselines.items()})
        end = (
            f"; on {joined([*short_names(useless).values()])} the verdicts do not significantly more often"
            if useless
            else ""
        )
        yield f"{capitalized(' or '.join(rules))} would agree: {figures}{end}."
    false_pass, false_fail = (sum(entry[key] for entry in agreements.values()) for key in ("false_pass", "false_fail"))
    yield f"It passes {counted(false_pass, 'wrong answer')} and fails {counted(false_fail, 'right answer')}."
    seen = next((entry["in_sample"] for entry in agreements.values() if "in_sample" in entry), None)
    if seen:
        is_alone = by == OFFLINE
        trained = f"{'it' if is_alone else OFFLINE} was trained on {rate(seen['share'])} of these ({seen['data']})"
        yield (
            f"This is no check on new questions: {trained}. "
            f"On questions that it was not trained on it {'' if is_alone else 'alone '}agrees on "
            f"{rate(seen['cross_validated'])}."
        )


def _agreed(entry: metrics_report.AgreementEntry) -> str:
    return f"{_rate(entry['accuracy'])}, kappa {coefficient(entry['kappa']['value'])}"


def _rate(one: metrics_report.Interval) -> str:
    return rate_interval(one["value"], one["low"], one["high"])


def _points(one: metrics_report.Interval) -> str:
    return points_interval(one["value"], one["low"], one["high"])


def _coefficient(one: metrics_report.Interval) -> str:
    return f"{coefficient(one['value'])} [{coefficient(one['low'])}, {coefficient(one['high'])}]"


def _by_candidate(told: Mapping[str, str]) -> str:
    """What is told of each candidate; without the names if it is the same of all."""
    if len({*told.values()}) == 1:
        return next(iter(told.values()))
    names = short_names([*told])
    shown = len(told) if len(told) <= NAMED + 1 else NAMED
    first = "; ".join(f"{names[name]} {text}" for name, text in [*told.items()][:shown])
    return first if len(told) == shown else f"{first} and {len(told) - shown} more"
