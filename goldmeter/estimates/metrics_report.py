"""reports/metrics.json: its sections as types, its order, and its reader; the stage aggregate writes it.

Candidates: by the primary measure, the best first, those without a number last. Measures: the primary one first, the
others as params.yaml has them: human labels and imported scores, words, meaning, judge.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict, cast

from goldmeter.console.terminal import say
from goldmeter.errors import DataError
from goldmeter.metrics.catalogue import names
from goldmeter.pipeline import contents

# Name beside those of the score → field of a pass rate.
_RATE = {"pass_rate": "value", "pass_rate_low": "low", "pass_rate_high": "high", "threshold": "threshold"}
METRICS = "reports/metrics.json"


class Limited(TypedDict):
    """A value with the limits of its interval; None where there are none."""

    value: float | None
    low: float | None
    high: float | None


class PassRate(Limited):
    """The share of measured rows that pass."""

    threshold: float | None
    signature: str


class Interval(TypedDict):
    """An estimate with its interval."""

    value: float | None
    low: float
    high: float
    method: str


class BaselineEntry(TypedDict):
    """The accuracy of one verdict for every row: the share of the more frequent label; rule: that verdict, in words."""

    value: float
    rule: Literal["passing everything", "failing everything"]


class InSampleEntry(TypedDict):
    """Labels that the offline judge was trained on, so that its agreement with them is optimistic.

    share: of the questions. data: the training set. cross_validated: its accuracy on that set, each row by a model that
    was not trained on its question.
    """

    share: float
    data: str
    cross_validated: float


class CalibrationEntry(TypedDict):
    """A judge's probabilities beside n human labels, which reject them.

    tested: independent rows in the test. expected: the share of right answers by the probabilities. right: by the
    labels. error, error_recalibrated: mean squared errors, before Platt scaling and after it, cross-fitted.
    intercept, slope: of the curve, the mean over the folds: logit(recalibrated) = intercept + slope · logit(p).
    """

    n: int
    tested: int
    p_value: float
    expected: float
    right: float
    error: float
    error_recalibrated: float
    intercept: float
    slope: float


class ReliabilityEntry(TypedDict):
    """Labelled rows with about equal probabilities of the judge.

    low, high, expected: their lowest, highest and mean probability. right: the share of right answers by the labels.
    """

    low: float
    high: float
    expected: float
    right: Limited
    n: int


class AgreementEntry(TypedDict):
    """How far a metric's pass or fail agrees with human labels on n rows.

    auc: None for binary scores. is_judge: whether the accuracy's interval lies above the baseline.
    """

    n: int
    accuracy: Interval
    kappa: Interval
    auc: Interval | None
    false_pass: int
    false_fail: int
    baseline: NotRequired[BaselineEntry]
    is_judge: NotRequired[bool]
    in_sample: NotRequired[InSampleEntry]


class SelfAgreementEntry(TypedDict):
    """How far a judge agrees with itself on n rows that it was asked about more than once.

    pairs: of verdicts on one row. equal: chance that two verdicts on a row are equal. distance: mean absolute
    difference of two of them, in the units of the score; None for true or false, and for names. noise: variance that
    the judge adds to a row's score. share: of the variance of scores; None where that is 0, and for names.
    """

    n: int
    pairs: int
    equal: Interval
    distance: Interval | None
    noise: float | None
    share: float | None


class GradedEntry(TypedDict):
    """How far a judge's scores agree with grades of people on n rows.

    kappa: Cohen's, with quadratic weights. spearman: the rank correlation.
    """

    n: int
    kappa: Interval
    spearman: Interval


# Candidate → column of grades → score column of a judge.
GradedAgreement = dict[str, dict[str, dict[str, GradedEntry]]]


class PredictionPowered(TypedDict):
    """An estimate from n measured rows and a cheap score on n_rest others.

    worth: the number of measured rows that would give as narrow an interval; None when it is not finite.
    score: the cheap score, in words. judge: whose error, as far as it is known, narrows the interval; None if that of
    none does. designed: whether a design chose the measured rows.
    """

    value: float
    low: float
    high: float
    n: int
    n_rest: int
    worth: int | None
    score: str
    judge: str | None
    method: str
    designed: bool


class PassEntry(Limited):
    """pass@k or pass^k, the mean over questions.

    n_questions: those with k measured draws or more. n_left_out: the other questions. n_draws: measured draws of the
    questions that are used.
    """

    n_questions: int
    n_left_out: int
    n_draws: int
    method: str


class SpreadEntry(TypedDict):
    """The variance of a pass rate between questions and between draws of a question, and what more data would give.

    error: standard error of pass@1 now, with twice the draws, and with twice the questions. favours: what lowers it
    more. advice: the same in words.
    """

    between: float
    within: float
    n_questions: int
    n_draws: int
    error: float
    error_with_draws: float
    error_with_questions: float
    favours: Literal["questions", "either"]
    advice: str


class RepeatedEntry(TypedDict):
    """A pass rate where questions have several draws: k → pass@k, and k → pass^k.

    spread: missing where no question has two measured draws, and for a single question.
    """

    pass_at: dict[str, PassEntry]
    pass_all: dict[str, PassEntry]
    spread: NotRequired[SpreadEntry]


class WeightedEntry(Limited):
    """A metric by `aggregate.mix` or `dataset.weight`, and its pass rate.

    n_eff: Kish's effective number of rows. missing: why there is no value, in words.
    """

    n_eff: float | None
    pass_rate: NotRequired[Limited]
    missing: NotRequired[str]


class WeightingEntry(TypedDict):
    """What says how often rows count: an option of params.yaml, and the column of the data set that it names.

    shares: of `aggregate.mix`: value of the slice column → its share.
    """

    option: str
    column: str
    shares: NotRequired[dict[str, float]]


class MetricEntry(Limited):
    """One metric of one candidate. worst, best: its value if every failed row had the lowest or the highest score.

    pass_at, pass_all, spread: as of RepeatedEntry, where questions have several draws.
    """

    n: int
    n_not_asked: int
    n_failed: int
    worst: float | None
    best: float | None
    method: str
    signature: str
    pass_rate: NotRequired[PassRate]
    slices: NotRequired[dict[str, dict[str, "MetricEntry"]]]
    agreement: NotRequired[AgreementEntry]
    ppi: NotRequired[PredictionPowered]
    pass_at: NotRequired[dict[str, PassEntry]]
    pass_all: NotRequired[dict[str, PassEntry]]
    spread: NotRequired[SpreadEntry]
    weighted: NotRequired[WeightedEntry]


HeadlineStatus = Literal["measured", "estimated", "unknown"]


class PrimaryEntry(TypedDict):
    """The primary measure, and why it is this one."""

    measure: str
    reason: str


class HeadlineEntry(Limited):
    """A candidate's rate by the primary measure.

    measure: what was measured. n: measured rows, or labels. by: who says so, in words.
    status: `measured`; `estimated`: the interval includes the judge's error, on other data or as stated; `unknown`: no
    claim, no limits. note: one sentence or more for the reader. plain: with weights, the rate of the rows as they are.
    proposal: what labels would give an estimated rate, a sentence.
    """

    measure: str
    n: int
    by: str
    status: HeadlineStatus
    note: str
    plain: NotRequired[Limited]
    proposal: NotRequired[str]


class LeadersEntry(TypedDict):
    """All candidates that cannot be told apart from the best; decided: whether there is just one."""

    measure: str
    names: list[str]
    decided: bool
    note: str


class FailureEntry(TypedDict):
    """A kind of failure: n rows, and their share of the measured rows with its limits."""

    kind: str
    n: int
    value: float
    low: float
    high: float


class FailuresEntry(TypedDict):
    """The rows of a candidate that the primary measure calls wrong, of n measured ones, by kind of failure."""

    n: int
    wrong: int
    kinds: list[FailureEntry]


class SuspectEntry(TypedDict):
    """A question whose references are to be looked at; score: the larger, the more suspicious.

    candidate: whose answer contradicts them. systems: that answered it. agree: of these, those whose failing answers
    agree with each other. labelled_right: those whose failing answer people call right. ruled_out: what the question
    asks for, which no reference is. duplicate: id of a row with the same question and none of these references.
    """

    id: str
    candidate: str
    score: float
    systems: int
    agree: NotRequired[int]
    labelled_right: NotRequired[int]
    ruled_out: NotRequired[str]
    duplicate: NotRequired[str]


class IfWrongEntry(TypedDict):
    """What it would change if all of them were wrong.

    rates: candidate → its rate, and the smallest and the largest it would be. holds: whether leaders and targets stay.
    """

    rates: dict[str, Limited]
    holds: bool


class SuspectsEntry(TypedDict):
    """References to look at first; measure: the one that compares answers with references; None without one.

    if_wrong: where this measure decides.
    """

    measure: str | None
    rows: list[SuspectEntry]
    if_wrong: NotRequired[IfWrongEntry]


class SliceEntry(TypedDict):
    """A slice of a candidate: n rows, their rate and that of the rest; worse: the difference's interval excludes 0."""

    candidate: str
    n: int
    rate: float
    rest: float
    difference: Limited
    worse: bool


class WorstSlice(TypedDict):
    """A value of a slice column: its candidates, the worst first."""

    column: str
    value: str
    candidates: list[SliceEntry]


class WorstSlices(TypedDict):
    """The worst slices of the primary measure, the worst first; the intervals of all `tests` hold together.

    left_out: slices with many rows outside of the judge's domain.
    """

    measure: str
    tests: int
    left_out: int
    slices: list[WorstSlice]


class OneRaterEntry(TypedDict):
    """How often a metric's pass or fail is what one rater of the row says, on n rows that several people rated.

    difference: to how often another rater says it.
    """

    n: int
    value: Interval
    difference: Interval


class RatersEntry(TypedDict):
    """What several people say of the answers of a candidate: n rows with ratings of two or more.

    alpha: Krippendorff's. pair: how often two raters of a row say the same. mean_label: the mean share of raters who
    call a row right, over n_rated rows. adjudicators: raters, by their number from 1, who were asked mostly where
    others differ, and are left out. metrics: by column with a pass rate.
    """

    n: int
    n_rated: int
    alpha: Interval
    pair: Interval
    mean_label: Interval
    adjudicators: list[int]
    metrics: dict[str, OneRaterEntry]


class JurorEntry(TypedDict):
    """One judge of a panel on one metric: its votes, and rows that other judges voted on and it did not.

    mean: of its votes as scores. accuracy: how often it says what human labels say, where a metric says the same.
    """

    votes: int
    missing: int
    mean: float | None
    accuracy: Interval | None


class PanelMetricEntry(TypedDict):
    """The votes of a panel on one metric of a candidate, on n rows with two votes or more.

    not_unanimous: share of these rows on which votes differ. ties: rows whose votes are a tie. pair:
    how often two jurors say the same, of numbers whether they pass; None for few rows, or without a threshold. alpha:
    Krippendorff's, of the same. low_of_rows, high_of_rows: limits of the value with this panel as it is; those of the
    metric take the jurors as a random sample. jurors: in the order of the panel.
    """

    n: int
    not_unanimous: float | None
    ties: int
    pair: Interval | None
    alpha: Interval | None
    low_of_rows: float
    high_of_rows: float
    jurors: list[JurorEntry]


class PanelEntry(TypedDict):
    """A panel of judges. candidates: candidate → metric → its votes."""

    jurors: list[str]
    candidates: dict[str, dict[str, PanelMetricEntry]]


class ThresholdEntry(TypedDict):
    """The threshold of a column that agrees best with human labels, and its accuracy on other rows.

    threshold: the configured one. learnt: the fitted one, None where no row should pass. used: whether params ask for
    the fitted one. kappa: Cohen's, of the same accuracy. is_judge: whether the accuracy's interval lies above the
    baseline.
    """

    threshold: float | None
    learnt: float | None
    used: bool
    accuracy: Interval
    n: int
    baseline: NotRequired[BaselineEntry]
    kappa: NotRequired[float | None]
    is_judge: NotRequired[bool]


class NamedPairEntry(TypedDict):
    """Preferences between the answers of candidates a and b to n inputs.

    wins, ties, losses: of b. identical: ties of equal answers, which no judge saw. asked: comparisons in both orders.
    flips: those whose verdicts differ by order; they are ties. win_rate: of b over a, ties half. unmeasured: reason →
    inputs.
    """

    a: str
    b: str
    n: int
    wins: int
    ties: int
    losses: int
    identical: int
    asked: int
    flips: int
    win_rate: Interval
    p_value: float | None
    unmeasured: dict[str, int]


class PositionEntry(TypedDict):
    """How far n comparisons depend on the order of the answers.

    flips: the share with different verdicts. first: the points of the answer shown first, a tie half; a judge without
    position bias gives 0.5.
    """

    n: int
    flips: Interval
    first: Interval


class PreferenceRank(TypedDict):
    """A candidate's rank among n comparisons of it, from 1; the intervals, best to worst, hold together for all.

    strength: Bradley-Terry's, log odds relative to the mean of all; a limit is None where it is infinite.
    """

    candidate: str
    rank: int
    best: int
    worst: int
    n: int
    strength: Limited


class PreferenceEntry(TypedDict):
    """What `judge.preference` found. ranks: of three candidates and more, the strongest first.

    not_ranked: why there are no ranks.
    """

    signature: str
    prompt: str
    pairs: list[NamedPairEntry]
    position: NotRequired[PositionEntry]
    ranks: NotRequired[list[PreferenceRank]]
    not_ranked: NotRequired[str]


class ResourceStatistic(Limited):
    """A mean or quantile of what answers took; a limit that so few answers do not have is None, as `notes` say."""

    method: str
    notes: list[str]


class ResourceEntry(TypedDict):
    """What n answers of a candidate took, in `unit`; n_missing: its answers without a number.

    p50, p95: the median and the 95th percentile: so large a share of the answers took at most as much.
    """

    unit: str
    n: int
    n_missing: int
    total: float | None
    mean: ResourceStatistic
    p50: ResourceStatistic
    p95: ResourceStatistic
    signature: str


# Candidate → latency, tokens or cost → what its answers took.
Resources = dict[str, dict[str, ResourceEntry]]


class StaleCorrections(TypedDict):
    """Questions whose references have changed since people corrected them; first: ids, or inputs without ids."""

    questions: int
    first: list[str]


class DatasetCounts(TypedDict):
    """Rows of data/load, and a hash of inputs, references and labels that does not depend on the order of rows.

    labels_left_out: labelled rows that agreement and fitted thresholds leave out, beyond the largest number that they
    are computed from. stale_labels: labels that the label file gives to another answer. questions, draws_each:
    questions with several draws, and their smallest and largest number of draws. left_out: joined file → its records
    that became no row.
    label_conflicts: joined file → answers whose labels contradict each other. unanswered: candidate → questions for
    which a long table has no record of it. failed_answers: candidate → why an answer is missing → how many. thoughts:
    candidate → answers whose thought was taken off. stale_corrections: `dataset.corrections` that do not apply.
    """

    rows: int
    left_out: NotRequired[dict[str, int]]
    labels_left_out: NotRequired[int]
    label_conflicts: NotRequired[dict[str, int]]
    unanswered: NotRequired[dict[str, int]]
    failed_answers: NotRequired[dict[str, dict[str, int]]]
    thoughts: NotRequired[dict[str, int]]
    questions: NotRequired[int]
    draws_each: NotRequired[list[int]]
    stale_labels: NotRequired[int]
    stale_corrections: NotRequired[StaleCorrections]
    ids: int
    rejected: int
    rejected_reasons: dict[str, int]
    truncated_texts: int | None
    hash: str


class CriterionRate(Limited):
    """How often a criterion is met, on n answers of a candidate."""

    n: int
    method: str


class CriterionEntry(TypedDict):
    """A criterion of a rubric. points: the least and the most that rows give for it. questions: that have it."""

    criterion: str
    points: list[float]
    questions: int
    candidates: dict[str, CriterionRate]


class CriteriaEntry(TypedDict):
    """The criteria by which a metric grades answers, those of most questions first.

    different: criteria of measured answers, also those that are not listed, because they are rare.
    """

    different: int
    listed: list[CriterionEntry]


class ClassRate(TypedDict):
    """Rates of a class that n references are of, and n_named answers name; None where no row is or names it."""

    n: int
    n_named: int
    recall: Interval
    precision: Interval
    f1: Interval


class ConfusedEntry(TypedDict):
    """n answers name another class than expected."""

    expected: str
    named: str
    n: int


class StrayReference(TypedDict):
    """A reference that is none of the classes, by the id of its row."""

    id: str
    reference: str


class ClassCandidate(TypedDict):
    """How well a candidate names classes, on n measured rows.

    no_class, two_classes: wrong answers that name none, or more than one. measures: `balanced_accuracy`, `macro_f1`,
    `weighted_f1`, `matthews`, `kappa`, averages over the classes that a reference has. confused: most frequent first.
    matrix: rows by class expected and class named, the last column: none; missing with more than 50 classes.
    """

    n: int
    no_class: int
    two_classes: int
    accuracy: Interval
    measures: dict[str, Interval]
    classes: dict[str, ClassRate]
    confused: list[ConfusedEntry]
    matrix: NotRequired[list[list[int]]]


class ClassDifference(TypedDict):
    """The measures of `head` less those of `base`, on n rows that both have."""

    base: str
    head: str
    n: int
    measures: dict[str, Interval]


class ClassesEntry(TypedDict):
    """What `class_match` found. given: whether params name the classes, else they are the references.

    without_reference: classes that no reference is. no_class_references: rows whose reference is no class; strays: the
    first of them. differences: of every two candidates; each row counts once, also with weights.
    """

    labels: list[str]
    given: bool
    without_reference: list[str]
    no_class_references: int
    strays: list[StrayReference]
    candidates: dict[str, ClassCandidate]
    differences: list[ClassDifference]


class Correlations(TypedDict):
    """Correlations of the scores of all candidates' rows; values: shape (k, k) for k metrics."""

    metrics: list[str]
    values: list[list[float | None]]


# Candidate → metric → entry.
Candidates = dict[str, dict[str, MetricEntry]]


class SelectedLabels(TypedDict):
    """Labels that are said to be of a random part of the rows, which is unlike all rows.

    measure: of the scores the one that differs most surely. labelled, all: its mean over labelled rows, and over all.
    p_value: corrected for the number of scores.
    """

    measure: str
    labelled: float
    all: float
    p_value: float


class SystemBias(TypedDict):
    """The judge's rate of one system less that of the human labels, over the n answers that have both."""

    value: float
    low: float
    high: float
    n: int


class JudgeBiasEntry(TypedDict):
    """How far the judge's rates are from those of the labels, by system.

    p_value: of "the judge errs alike", the smallest over so many pairs, corrected for their number; None without pairs.
    """

    systems: dict[str, SystemBias]
    p_value: float | None
    pairs: int


class LengthSlope(TypedDict):
    """The change of the judge's error, verdict less label, for a text twice as long, at the same label.

    n: answers that have both. The interval is over their questions.
    """

    value: float
    low: float
    high: float
    n: int


class LengthBiasEntry(TypedDict):
    """How the judge's error changes with the length of a text, of all systems together and of each."""

    all: LengthSlope
    systems: dict[str, LengthSlope]


class AnswersLeft(TypedDict):
    """Calls to a system that were not needed, their tokens, about, and US dollars; None: its model has no price."""

    calls: int
    tokens: int
    cost: float | None


class LookEntry(TypedDict):
    """What was known at a look. rows: that were asked about so far. limits: candidate → as the page shows them."""

    rows: int
    limits: Mapping[str, list[float]]


class LimitsOfColumn(TypedDict):
    """Limits at all looks of a score column. value: of its mean. passing: of its pass rate. weighted: by weights."""

    value: list[float]
    passing: NotRequired[list[float]]
    weighted: NotRequired[list[float]]
    weighted_passing: NotRequired[list[float]]


class StoppedEntry(TypedDict):
    """A judge that asks until its measure is decided (`judge.stop`), as the metadata of data/judge state it.

    target: none where the best system is sought. decided: whether the target is, of every candidate, or which is best.
    rows: that could be asked about. rows_left, calls_left: that were not needed. tokens_left: model → those of their
    prompts and replies, about. limits: score column → candidate. looks: one a block. answers_left: candidate with a
    model → what it was not asked; the rows that are left are in no table then. is_upper_limit: whether the offline
    judge of a cascade might have decided some of their answers, so that fewer calls are left.
    """

    measure: str
    target: NotRequired[float]
    decided: bool
    rows: int
    rows_left: int
    calls_left: int
    tokens_left: Mapping[str, list[int]]
    limits: Mapping[str, Mapping[str, LimitsOfColumn]]
    looks: list[LookEntry]
    answers_left: NotRequired[Mapping[str, AnswersLeft]]
    is_upper_limit: NotRequired[bool]


class MetricsReport(TypedDict):
    """The whole document. comparisons: pairs of candidates, as goldmeter.wording.comparison_document reads them.

    headlines: by candidate. targets: candidate → measure → minimum rate and verdict, of `report.targets`. raters:
    by candidate, where several people rated its answers. failures: by candidate; none where the primary measure has
    no pass rate. outside_domain: candidate → share of its judged answers outside the offline judge's domain.
    by_offline_judge: candidate → share of its judged answers that the offline judge of a cascade decided.
    calibration: of the offline judge, if labels reject it.
    reliability: of its probabilities, where labels are. panel: where several judges voted. pass_at: the k of
    pass@k and pass^k, where questions have draws. weighting: by which headlines, targets and comparisons go.
    sacrebleu: score column → the signature that sacrebleu prints for its value; of those that it gives too.
    criteria: by metric whose verdicts are on criteria. classes: by score column of `class_match`. self_agreement:
    candidate → score column, where the judge was asked about rows more than once. graded: agreement with grades of
    people, where there are any. resources: what answers took, where the data say it. selected_labels: candidate → why
    its labels are not taken for random. judge_bias, …length_bias: where answers have both labels and verdicts.
    suspects: references to look at first, if there are any.
    stopped: with `judge.stop`.
    """

    schema: Literal[1]
    confidence: float
    joint_confidence: float
    dataset: DatasetCounts
    candidates: Candidates
    comparisons: Sequence[Mapping[str, Any]]
    primary: NotRequired[PrimaryEntry]
    headlines: NotRequired[dict[str, HeadlineEntry]]
    leaders: NotRequired[LeadersEntry]
    targets: NotRequired[Mapping[str, Mapping[str, Mapping[str, Any]]]]
    failures: NotRequired[Mapping[str, FailuresEntry]]
    worst_slices: NotRequired[WorstSlices]
    raters: NotRequired[Mapping[str, RatersEntry]]
    outside_domain: NotRequired[Mapping[str, float]]
    by_offline_judge: NotRequired[Mapping[str, float]]
    calibration: NotRequired[CalibrationEntry]
    reliability: NotRequired[list[ReliabilityEntry]]
    panel: NotRequired[PanelEntry]
    pass_at: NotRequired[list[int]]
    weighting: NotRequired[WeightingEntry]
    sacrebleu: NotRequired[dict[str, str]]
    criteria: NotRequired[dict[str, CriteriaEntry]]
    classes: NotRequired[dict[str, ClassesEntry]]
    graded: NotRequired[GradedAgreement]
    self_agreement: NotRequired[Mapping[str, Mapping[str, SelfAgreementEntry]]]
    preference: NotRequired[PreferenceEntry]
    resources: NotRequired[Resources]
    selected_labels: NotRequired[Mapping[str, SelectedLabels]]
    judge_bias: NotRequired[JudgeBiasEntry]
    length_bias: NotRequired[LengthBiasEntry]
    reference_length_bias: NotRequired[LengthBiasEntry]
    suspects: NotRequired[SuspectsEntry]
    stopped: NotRequired[StoppedEntry]
    thresholds: dict[str, ThresholdEntry]
    correlations: Correlations


@contextmanager
def reading(path: Path = Path(METRICS), version: str = "") -> Iterator[MetricsReport]:
    """Read the document, for use in the body of a `with` statement; documents of older versions may lack sections.

    Args:
        path: The file.
        version: The version that the file is of, for messages; empty for the workspace.

    Raises:
        DataError: The file is missing, damaged, is no JSON, or lacks what the body looks up.
    """
    name = f"{version}: {METRICS}" if version else str(path)
    if path == Path(METRICS) and (problem := contents.problem_if_newer(METRICS)):
        say(f"warning: {problem}", sys.stderr)
    try:
        yield cast(MetricsReport, json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise DataError(f"{name}: not found; `dvc repro` writes it") from None
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise DataError(f"{name}: not what aggregate writes ({error!r}); `dvc repro` writes it anew") from None


def numbers(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of one metric of a candidate in one row, as the history has them: of its pass rate, None without."""
    plain = {name: entry[name] for name in ("value", "low", "high", "n", "n_not_asked", "n_failed", "signature")}
    return plain | {column: entry.get("pass_rate", {}).get(name) for column, name in _RATE.items()}


def fitted_thresholds(thresholds: Mapping[str, ThresholdEntry]) -> dict[str, float]:
    """Column → fitted threshold, of the columns whose params ask for it."""
    return {name: row["learnt"] for name, row in thresholds.items() if row["used"] and row["learnt"] is not None}


def best_first(rates: Mapping[str, Limited], *, higher_is_better: bool = True) -> list[str]:
    """The candidates by their rates, the best first; equal ones by name.

    >>> best_first({"a": {"value": 0.5, "low": None, "high": None}, "b": {"value": 0.7, "low": None, "high": None}})
    ['b', 'a']
    """

    def place(name: str) -> tuple[bool, float, str]:
        value = rates[name]["value"]
        return value is None, 0.0 if value is None else -value if higher_is_better else value, name

    return sorted(rates, key=place)


def primary_first(measures: Iterable[str], primary: str) -> list[str]:
    """The measures with the primary one first; its score stands beside its pass rate.

    >>> primary_first(["bleu", "f1", "meteor"], "f1.value")
    ['f1', 'bleu', 'meteor']
    """
    name = primary.partition(".")[0]
    return sorted(measures, key=lambda measure: measure.partition(".")[0] != name)


@cache
def metric_rank(metric: str) -> int:
    """Sort key of a metric: human labels first, then the judge, semantic metrics, and all others with one rank.

    Sorting by it is stable, so that the other metrics keep their order.
    """
    order = ["label", *names("judge"), *names("semantic")]
    return order.index(metric) if metric in order else len(order)
