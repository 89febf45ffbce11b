"""Conclusion of a run in words: each candidate's rate by the primary measure, and which candidate is better."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple

from goldmeter.console.format import (
    about,
    abridged_apart,
    capitalized,
    count,
    counted,
    joined,
    level,
    listed,
    number,
    rate,
    rate_interval,
)
from goldmeter.estimates.column_facts import RESOURCES
from goldmeter.estimates.headline import deciding, not_compared, worse_of
from goldmeter.estimates.human_labels import FEWEST, LABEL
from goldmeter.estimates.metrics_report import HeadlineEntry, Limited, MetricEntry, MetricsReport, PredictionPowered
from goldmeter.estimates.primary import PREFERRED_OVER, VERDICT
from goldmeter.wording.comparison_document import MeasureEntry, PairEntry, pairs_of_a_run
from goldmeter.wording.comparison_lines import interval
from goldmeter.wording.more_data import LABEL_COMMAND, by_judge_alone, in_full, most_needed
from goldmeter.wording.release import source

MAX_NAME_CHARS = 40
# Candidates that a sentence names.
NAMED = 3
# The share of each candidate's answers with a label from which on the conclusion proposes to go by labels.
LEAST_LABELLED = 0.9
# Metrics that a run without a conclusion proposes to decide, the strictest first of those that fit one kind of answer.
CAN_DECIDE = (
    "class_match", "number", "json_fields_f1_score", "accuracy", "exact_match", "f1", "chrf", "rouge_f1_score", "bleu"
)  # fmt: skip
# An interval of a share that is wider says nothing; rows that make it this wide would do.
WIDEST, USEFUL = 0.6, 0.3
# Metrics of words and meaning that say how alike two texts are, not whether an answer is right.
OF_WORDS = {
    "bleu", "chrf", "f1", "gleu", "meteor", "non_llm_string_similarity", "reference_match", "semantic_similarity",
    "similarity", "ter",
}  # fmt: skip
LABELS, UNKNOWN = "human labels", "unknown"


class CandidateRate(NamedTuple):
    """A candidate's rate by the primary measure.

    value, limits: in words; without a claim (is_known) the value is "unknown". basis: who says so, of how many answers.
    is_sampled: whether the interval is that of a share of the answers, and no more is known or unknown.
    """

    candidate: str
    entry: HeadlineEntry
    value: str
    limits: str
    basis: str
    is_known: bool
    is_sampled: bool


class TargetVerdicts(NamedTuple):
    """A target in words, and verdict → the candidates that have it."""

    text: str
    verdicts: dict[str, list[str]]


class Conclusion(NamedTuple):
    """The conclusion of a run.

    measure: the primary measure. sentence: the conclusion, lines: what is to be known of it. brackets: what
    they hold, if it is not what those of a rate hold. reason: why there is none. rates: the best first.
    missing: candidates that the primary measure does not measure. is_known: whether the rates allow a claim.
    is_share: whether they are shares of answers. failures_title: who calls the answers wrong whose kinds are counted.
    """

    measure: str
    sentence: str
    lines: list[str]
    brackets: str
    reason: str
    targets: list[TargetVerdicts]
    rates: list[CandidateRate]
    missing: list[str]
    is_known: bool
    is_share: bool
    failures_title: str

    @property
    def more(self) -> str:
        """What stands below the sentence, in one paragraph."""
        return " ".join(filter(None, [self.brackets, *self.lines]))


def conclude(document: MetricsReport) -> Conclusion | None:
    """The conclusion from reports/metrics.json; None if it was written before there were headlines."""
    if "headlines" not in document:
        return None
    measure, headlines, order = document["primary"]["measure"], document["headlines"], best_first(document)
    pairs = pairs_of_a_run(document["comparisons"])
    measured = {name: headlines[name] for name in order}
    unknown = next((entry["note"] for entry in measured.values() if entry["status"] == UNKNOWN), "")
    is_share = any(is_rate(document, entry["measure"]) for entry in measured.values())
    is_known = bool(order) and not unknown
    said = _known(document, order, pairs, is_share=is_share) if is_known else _unknown(measure, order)
    return Conclusion(
        measure=measure,
        sentence=said.first,
        lines=[*said.lines, *_stopped(document)],
        brackets=said.brackets,
        reason=capitalized(unknown) + _instead(document) * (not is_known),
        targets=_targets(document, order),
        rates=[_rate(document, name, is_share=is_share) for name in order],
        missing=sorted({*headlines} - {*measured}),
        is_known=is_known,
        is_share=is_share,
        failures_title=_failures_title(document),
    )


def best_first(document: MetricsReport) -> list[str]:
    """The candidates that have a rate by the primary measure, the best first."""
    measure = document["primary"]["measure"]
    values = {name: one["value"] for name, one in document["headlines"].items() if one["value"] is not None}
    compared = [found for pair in document["comparisons"] if (found := deciding(pair, measure))]
    sign = 1.0 if any(not entry["higher_is_better"] for _, entry in compared) else -1.0
    return sorted(values, key=lambda name: (sign * values[name], name))


def is_rate(document: MetricsReport, measure: str) -> bool:
    """Whether a measure is a share of answers, or a win rate, and no score."""
    if measure.startswith(PREFERRED_OVER):
        return True
    return any("pass_rate" in metrics.get(measure, {}) for metrics in document["candidates"].values())


def compares_texts(measure: str) -> bool:
    """Whether a measure says how alike two texts are, not whether an answer is right.

    >>> compares_texts("rouge_1_f1_score"), compares_texts("f1.value"), compares_texts("accuracy")
    (True, True, False)
    """
    metric = measure.partition(".")[0]
    return metric in OF_WORDS or metric.startswith("rouge_")


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Name of a candidate → the name in a sentence: on one line, and not too long."""
    lines = {name: " ".join(name.split()) for name in names}
    short = abridged_apart(lines.values(), MAX_NAME_CHARS)
    return {name: short[line] for name, line in lines.items()}


class _Said(NamedTuple):
    """The first sentence, of at most 15 words if names are short, and what stands below it."""

    first: str
    lines: Sequence[str] = ()
    brackets: str = ""


def _unknown(measure: str, names: Sequence[str]) -> _Said:
    if not names:
        return _Said(f"No conclusion: nothing is measured by {measure}.")
    what = "which candidate is better" if len(names) > 1 else f"the rate of {short_names(names)[names[0]]}"
    return _Said(f"No conclusion: {what} is not known.")


def _instead(document: MetricsReport) -> str:
    """The command that names another measure to decide, if one is measured of all candidates."""
    everyone = document["candidates"].values()
    for name in CAN_DECIDE:
        if everyone and all(metrics.get(name, {"n": 0})["n"] for metrics in everyone):
            return (
                f" A metric can decide: dvc exp run -S ++gate.primary={name} (which one fits: "
                "docs/how-to/choose-a-metric.md)."
            )
    return ""


def _known(document: MetricsReport, order: Sequence[str], pairs: Sequence[PairEntry], *, is_share: bool) -> _Said:
    if len(order) == 1:
        return _of_one(document, order[0], is_share=is_share)
    measure = document["primary"]["measure"]
    decisive = [found for pair in pairs if (found := deciding(pair, measure))]
    confidence = f"simultaneous {level(document['joint_confidence'])}" if len(decisive) > 1 else ""
    leading = [name for name in order if name in document["leaders"]["names"]]
    # A rate may be by human labels although a judge decides: the difference is the judge's.
    measures = {name for name, _ in decisive} or {measure}
    own = [name for name in order if document["headlines"][name]["measure"] in measures]
    by = _by_of_all(document, own) if own else source(measure, document["candidates"][order[0]][measure]["signature"])
    sources = {name: _by(document, name) for name in own} if {LABEL, VERDICT} <= measures else {}
    needed = _without_labels(document, own) if sources else _missing_labels(document, order)
    counts = {name: document["headlines"][name]["n"] for name in order}
    compared = _Compared(measure, pairs, confidence, by, short_names(order), needed, sources, counts)
    said = compared.conclusion(leading, [name for name in order if name not in leading])
    return said._replace(lines=[*said.lines, *_caution(document, own)])


def _of_one(document: MetricsReport, name: str, *, is_share: bool) -> _Said:
    entry, short = document["headlines"][name], short_names([name])[name]
    n, by = counted(entry["n"], "answer"), _by(document, name)
    more = _caution(document, [name])
    if not is_share:
        return _Said(f"{short} reaches {_with_limits(entry, number)} by {entry['measure']}, of {n}.", more)
    found = rate_interval(entry["value"], entry["low"], entry["high"])
    if entry["measure"] in {LABEL, VERDICT}:
        return _Said(f"{short} is right in {found} of {n} by {by}.", more)
    return _Said(f"{short} passes {by} in {found} of {n}.", more)


def _with_limits(entry: Limited, text: Callable[[float | None], str]) -> str:
    limits = "" if entry["low"] is None else f" [{text(entry['low'])}, {text(entry['high'])}]"
    return f"{text(entry['value'])}{limits}"


class _Compared(NamedTuple):
    """The comparisons of the candidates, and the primary measure; by, short, missing_labels: in words.

    confidence: of several intervals together, in words. sources: candidate → who gave its rate, in words, if human
    labels gave some and a judge others. counts: candidate → number of answers that its rate is of.
    """

    measure: str
    pairs: Sequence[PairEntry]
    confidence: str
    by: str
    short: Mapping[str, str]
    missing_labels: str
    sources: Mapping[str, str]
    counts: Mapping[str, int]

    @property
    def _compared(self) -> list[PairEntry]:
        """The pairs that were compared by what decides them."""
        return [pair for pair in self.pairs if deciding(pair, self.measure)]

    def conclusion(self, leading: Sequence[str], behind: Sequence[str]) -> _Said:
        """Who leads, if anybody does, and who is worse."""
        first, worse = self._listed(leading), self._listed(behind)
        if len(leading) == 1:
            size = self._difference(leading[0], behind[0])
            if len(behind) == 1:
                sentence = f"{first} {self._is_better} {worse} by {self.by}{f': {size}' if size else ''}."
                return _Said(sentence, brackets=self._interval(size))
            nearest = f": {size} over {self.short[behind[0]]}" if size else ""
            sentence = f"{first} leads by {self.by}{nearest}."
            return _Said(sentence, ["It is better than every other candidate."], self._interval(size))
        if not leading:
            return _Said(f"No conclusion: each candidate is worse than another one by {self.by}.")
        pairs = [pair for pair in self._compared if {pair["base"], pair["head"]} <= {*leading}]
        if 2 * len(pairs) < len(leading) * (len(leading) - 1):
            return _Said(f"No conclusion: not all of {first} could be compared by {self.by}.", self._why_not(leading))
        size = self._difference(leading[0], leading[1]) if len(pairs) == 1 else ""
        undecided = [found[1] for pair in pairs if (found := deciding(pair, self.measure))]
        needed = _would_decide(undecided, self.missing_labels)
        lines = [*self._worse(behind), *filter(None, [needed])]
        by = f" by {self.by}"
        if self.sources and len(leading) <= NAMED + 1:
            first, by = self._by_source(leading), ""
        return _Said(f"{first} cannot be told apart{by}{f': {size}' if size else ''}.", lines, self._interval(size))

    def _by_source(self, names: Sequence[str]) -> str:
        """The candidates with who gave their rates."""
        groups: dict[str, list[str]] = {}
        for name in names:
            groups.setdefault(self.sources[name], []).append(self.short[name])
        return joined([f"{', '.join(own)} ({by})" for by, own in groups.items()])

    def _worse(self, behind: Sequence[str]) -> list[str]:
        """The candidates that are worse, and than which; if they are many, without."""
        if not behind:
            return []
        if len(behind) > NAMED + 1:
            return [f"Significantly worse than one of them: {self._listed(behind)}."]
        told = []
        for name in behind:
            lost = [pair for pair in self._compared if worse_of(pair, self.measure) == name]
            better = [self.short[pair["head" if pair["base"] == name else "base"]] for pair in lost]
            told.append(f"{self.short[name]} (than {_named(better)})")
        return [f"Significantly worse: {'; '.join(told)}."]

    @property
    def _is_better(self) -> str:
        return "has better scores than" if compares_texts(self.measure) else "is better than"

    def _interval(self, size: str) -> str:
        """What the brackets hold, unless it is the interval that the rates have."""
        return f"In brackets: the {self.confidence} interval." if size and self.confidence else ""

    def _why_not(self, names: Sequence[str]) -> list[str]:
        reason = not_compared(self.pairs, names)
        return [f"Not compared: {reason}."] if reason else []

    def _listed(self, names: Sequence[str]) -> str:
        return _named([self.short[name] for name in names])

    def _difference(self, one: str, other: str) -> str:
        """The difference of a candidate to another one; empty where they were not compared."""
        for pair in self._compared:
            found = deciding(pair, self.measure)
            if found and {pair["base"], pair["head"]} == {one, other}:
                counts = (self.counts[name] for name in (one, other))
                return f"{_in_words(found[1], turned=pair['base'] == one)}{_on_shared(found[1], counts)}"
        return ""


def _named(names: Sequence[str]) -> str:
    """A few names, or the first of many: never a single one left out."""
    return joined(names) if len(names) <= NAMED + 1 else listed(names, NAMED)


def _in_words(entry: MeasureEntry, *, turned: bool) -> str:
    difference = entry["difference"]
    value, low, high = difference["value"], difference["low"], difference["high"]
    if value is None or low is None or high is None:
        return "no interval"
    if turned:
        value, low, high = 0.0 - value, 0.0 - high, 0.0 - low
    return interval({"value": value, "low": low, "high": high}, entry["unit"])


def _on_shared(entry: MeasureEntry, counts: Iterable[int]) -> str:
    """The number of rows of a difference, where a rate beside it has another number of rows."""
    is_same = all(n == entry["n"] for n in counts)
    return "" if is_same else f", {count(entry['n'])} shared {'questions' if 'per' in entry else 'rows'}"


def _would_decide(undecided: Sequence[MeasureEntry], missing_labels: str) -> str:
    if missing_labels and any(map(by_judge_alone, undecided)):
        return missing_labels
    needed = most_needed([entry["needed"] for entry in undecided])
    return next((in_full(one) for one in undecided if one["needed"] == needed), "")


def _missing_labels(document: MetricsReport, names: Sequence[str]) -> str:
    """What to do where human labels cover nearly all answers of each candidate, but do not decide."""
    labels = [document["candidates"][name].get(LABEL) for name in names]
    if document["primary"]["measure"] != VERDICT or not all(map(_is_covered, labels)):
        return ""
    lacking = sum(entry["n_not_asked"] + entry["n_failed"] for entry in labels if entry)
    every = lacking + sum(entry["n"] for entry in labels if entry)
    return (
        f"Human labels can decide it: {count(lacking)} of {counted(every, 'answer')} have no current label; "
        f"label them, or name {LABEL} in gate.primary to go by those with labels alone."
    )


def _without_labels(document: MetricsReport, names: Sequence[str]) -> str:
    """Which candidates the judge alone rates, while others have labels, and what to do."""
    without = {
        name: short for name, short in short_names(names).items() if document["headlines"][name]["measure"] != LABEL
    }
    have_some = any(document["candidates"][name].get(LABEL, {"n": 0})["n"] for name in without)
    lack = "Not enough" if have_some else "Without"
    return f"{lack} human labels: {_named([*without.values()])}. Label them first: {LABEL_COMMAND}."


def _is_covered(labels: MetricEntry | None) -> bool:
    """Whether human labels cover enough of a candidate's answers to go by them alone."""
    if labels is None or not _is_labelled(labels):
        return False
    return labels["n"] >= LEAST_LABELLED * (labels["n"] + labels["n_not_asked"] + labels["n_failed"])


def _powered(document: MetricsReport, name: str) -> PredictionPowered | None:
    """A candidate's rate by labels on some rows and scores of all, if that is its headline."""
    labels = document["candidates"][name].get(LABEL)
    return labels.get("ppi") if labels and document["headlines"][name]["measure"] == LABEL else None


def _is_labelled(labels: MetricEntry | None) -> bool:
    return labels is not None and labels["n"] >= FEWEST


def _rate(document: MetricsReport, name: str, *, is_share: bool) -> CandidateRate:
    entry, text = document["headlines"][name], rate if is_share else number
    n = counted(entry["n"], "answer")
    measured = document["candidates"][name].get(entry["measure"])
    if "stopped" in document and measured and (left := measured["n_not_asked"]):
        n = f"{count(entry['n'])} of {counted(entry['n'] + left, 'answer')}"
    if powered := _powered(document, name):
        n = f"{count(powered['n'])} of {counted(powered['n'] + powered['n_rest'], 'answer')} labelled"
    if entry["status"] == UNKNOWN:
        return CandidateRate(
            name, entry, UNKNOWN, f"{entry['by']} says {text(entry['value'])}", n, is_known=False, is_sampled=False
        )
    is_sampled = entry["status"] == "measured" and not powered
    is_sampled &= entry["measure"] == document["primary"]["measure"]
    limits = "no interval" if entry["low"] is None else f"{text(entry['low'])} to {text(entry['high'])}"
    if is_share and is_sampled and (width := (entry["high"] or 0.0) - (entry["low"] or 0.0)) > WIDEST:
        limits = f"too few rows: {about(ceil(entry['n'] * (width / USEFUL) ** 2))} would do"
    basis = ", ".join(filter(None, [entry["by"], _uncorrected(document, name), n]))
    if "plain" in entry:
        basis = (
            f"{basis}, by {document['weighting']['option']}; {text(entry['plain']['value'])} of the rows as they are"
        )
    return CandidateRate(name, entry, text(entry["value"]), limits, basis, is_known=True, is_sampled=is_sampled)


def _targets(document: MetricsReport, order: Sequence[str]) -> list[TargetVerdicts]:
    found: dict[str, TargetVerdicts] = {}
    for name in order:
        for measure, one in document.get("targets", {}).get(name, {}).items():
            target = found.setdefault(measure, TargetVerdicts(target_in_words(document, measure, one), {}))
            target.verdicts.setdefault(one["verdict"], []).append(name)
    return list(found.values())


def _stopped(document: MetricsReport) -> list[str]:
    """What a judge that stopped early left out, and what that does to the numbers."""
    stopped = document.get("stopped")
    if not stopped or not stopped["rows_left"]:
        return []
    what = "its target" if "target" in stopped else "which is best"
    why = f"{what} was decided" if stopped["decided"] else f"more rows could not decide {what}"
    asked = f"{count(stopped['rows'] - stopped['rows_left'])} of {counted(stopped['rows'], 'answer')}"
    calls = counted(stopped["calls_left"], "call was", "calls were")
    without = "slices have none"
    if left := stopped.get("answers_left"):
        answers = counted(sum(one["calls"] for one in left.values()), "more answer")
        costs = [one["cost"] for one in left.values()]
        dollars = "" if None in costs else f" (about ${sum(filter(None, costs)):,.2f})"
        calls = counted(stopped["calls_left"], "call of the judge was", "calls of the judge were")
        most = "at most " * stopped.get("is_upper_limit", False)
        calls, without = f"{answers}{dollars} and {most}{calls}", "no other rate has one"
    sentence = (
        f"The judge was asked about {asked}, in random order, until {why} (judge.stop); {calls} not needed. The "
        f"interval allows for that; {without}."
    )
    return [sentence]


def target_in_words(document: MetricsReport, measure: str, entry: Mapping[str, Any]) -> str:
    """A target, such as "f1 ≥ 80 %"."""
    if "max" in entry:
        return f"{measure} ≤ {number(entry['max'])} {RESOURCES[measure.rpartition('_')[0]]}"
    return f"{measure} ≥ {(rate if is_rate(document, measure) else number)(entry['target'])}"


def _failures_title(document: MetricsReport) -> str:
    measure = document["primary"]["measure"].partition(".")[0]
    if measure == LABEL:
        is_part = any(_powered(document, name) for name in document["headlines"])
        return f"Wrong answers {'among the labelled ones, ' if is_part else ''}by kind"
    entry = next((metrics[measure] for metrics in document["candidates"].values() if measure in metrics), None)
    by = source(measure, entry["signature"] if entry else "")
    return f"Answers that {by} calls wrong, by kind" if measure == VERDICT else f"Answers that fail {by}, by kind"


def _by_of_all(document: MetricsReport, names: Sequence[str]) -> str:
    """Who gave all these rates; human labels, if the judge helped with some of them only."""
    sources = list(dict.fromkeys(_by(document, name) for name in names))
    if len(sources) > 1 and all(document["headlines"][name]["measure"] == LABEL for name in names):
        return LABELS
    return " or ".join(sources)


def _by(document: MetricsReport, name: str) -> str:
    """Who says so in a sentence: a judge by the name of its model is called a judge."""
    entry, judged = document["headlines"][name], document["candidates"].get(name, {}).get(VERDICT)
    return source(VERDICT, judged["signature"]) if entry["measure"] == VERDICT and judged else entry["by"]


def _uncorrected(document: MetricsReport, name: str) -> str:
    """What is to be known of a judge's rate that no labels check or correct; empty for any other."""
    if document["headlines"][name]["status"] != "estimated":
        return ""
    if _is_labelled(document["candidates"][name].get(LABEL)):
        return "not corrected by your labels"
    checked = [other for other, one in document["headlines"].items() if one["measure"] == LABEL]
    return f"checked on {_named([*short_names(checked).values()])} only" if checked else "not checked on your data"


def _caution(document: MetricsReport, names: Sequence[str]) -> list[str]:
    """The same of several as a sentence."""
    found = dict.fromkeys(filter(None, (_uncorrected(document, name) for name in names)))
    return [f"The judge is {' or '.join(found)}."] if found else []
