"""What the metadata of a table states of each score column; other modules read and write it through this one."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

# The stage load writes facts too, so this module imports no metric. Equal to goldmeter.metrics.base.TO_FIT.
TO_FIT = "learnt"
# Key of a table's metadata: column → its facts.
COLUMNS = "columns"
# Key of the metadata of data/load: whether rows of one id may stand in several parts; they may where it is not stated.
SPLIT_IDS = "split_ids"
# Column of data/load: how often each row stands for real traffic; there is none without dataset.weight.
WEIGHT = "weight"
# Column of data/load where questions have several draws: the question's id, without the draw.
QUESTION = "question"
# Key of the metadata of data/judge: what a judge that may stop early decided, and what was left (judge.stop); of
# data/load, too, if systems with a model were asked no more than it needed.
STOPPED = "stopped"
# Column of data/load, and of data/normalize where dataset.group is set: rows that belong together.
GROUP = "group"
# Columns of data/load that say what an answer took, and their units; there are those that a candidate maps.
RESOURCES = {"latency": "seconds", "tokens": "tokens", "cost": "US dollars"}
# Statistic of what answers took → the share of answers up to the quantile; the mean has none.
SHARES: Mapping[str, float | None] = {"mean": None, "p50": 0.5, "p95": 0.95}
# The end of a measure's name that asks for the score of a column with a pass rate.
VALUE = ".value"
# Facts that a table's metadata holds as they are, of every column.
STATED = ("metric", "family", "options", "signature", "bounds", "higher_is_better", "corpus_is_mean")


@dataclass(frozen=True)
class ColumnFacts:
    """What a score column means.

    bounds: smallest and largest possible score, None where they are unknown.
    threshold: None for a binary score, which passes at its upper bound, and for a score without a pass rate.
    rate_signature: None for a column without a pass rate.
    awaits_threshold: whether human labels are to fit the threshold, and have not yet.
    by_people: whether people gave the scores, so that rows without one are not labelled.
    has_direction: whether more of the score is better, or less; else only its pass rate, if any, has a direction.
    by: the tool or model that gave verdicts, which need not have judged every row; empty for all else.
    stopped: whether the judge could stop when its measure was decided: intervals of fixed numbers of rows do not hold.
    """

    metric: str
    family: str
    signature: str
    bounds: tuple[float, float] | None
    higher_is_better: bool = True
    corpus_is_mean: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    threshold: float | None = None
    rate_signature: str | None = None
    awaits_threshold: bool = False
    by_people: bool = False
    by: str = ""
    has_direction: bool = True
    stopped: bool = False

    @classmethod
    def from_json(cls, stated: Mapping[str, Any]) -> Self:
        """The facts that `to_json` wrote."""
        facts = {name: stated[name] for name in STATED} | {"rate_signature": stated.get("rate_signature")}
        facts["bounds"] = None if facts["bounds"] is None else tuple(facts["bounds"])
        awaits = stated.get("threshold") == TO_FIT
        facts |= {"awaits_threshold": awaits, "by_people": stated.get("by_people", False), "by": stated.get("by", "")}
        facts |= {name: stated.get(name, default) for name, default in (("has_direction", True), ("stopped", False))}
        return cls(**facts, threshold=None if awaits else stated.get("threshold"))

    def to_json(self) -> dict[str, Any]:
        """The facts as the table's metadata has them."""
        rate = {"threshold": TO_FIT if self.awaits_threshold else self.threshold, "rate_signature": self.rate_signature}
        facts = {name: getattr(self, name) for name in STATED} | ({} if self.rate_signature is None else rate)
        facts |= ({} if self.has_direction else {"has_direction": False}) | ({"stopped": True} if self.stopped else {})
        return facts | ({"by_people": True} if self.by_people else {}) | ({"by": self.by} if self.by else {})

    @property
    def has_pass_rate(self) -> bool:
        """Whether rows of the column pass or fail."""
        return self.rate_signature is not None and not self.awaits_threshold

    @property
    def has_graded_score(self) -> bool:
        """Whether the column has a pass rate (or will have one) that is another number than its mean score."""
        if self.rate_signature is None:
            return False
        return self.awaits_threshold or self.threshold is not None or self.rule.startswith("above")

    @property
    def sign(self) -> float:
        """1 where more is better, else -1: scores times it are better the higher they are."""
        return 1.0 if self.higher_is_better else -1.0

    @property
    def rule(self) -> str:
        """Which scores pass, in words.

        A binary score of several draws passes above a share of them, which only its rate's signature states.
        """
        if self.threshold is not None:
            return f"{'from' if self.higher_is_better else 'up to'} {self.threshold:g}"
        _, above, share = (self.rate_signature or "").rpartition("|")[2].rpartition("pass:>")
        return f"above {share}" if above else f"at {self._limit:g}"

    def passes(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which scores pass the threshold; a binary score passes at its better bound. Shape (n,), NaN fails."""
        with np.errstate(invalid="ignore"):
            return np.asarray(scores >= self._limit if self.higher_is_better else scores <= self._limit)

    @property
    def _limit(self) -> float:
        if self.threshold is not None:
            return self.threshold
        if self.bounds is None:
            raise ValueError(f"{self.metric}: neither a threshold nor bounds: no row can pass")
        return self.bounds[1] if self.higher_is_better else self.bounds[0]


def resource_measures(kinds: Iterable[str] = RESOURCES) -> list[str]:
    """The names by which params.yaml calls statistics of what answers took.

    >>> resource_measures(["latency"])
    ['latency_mean', 'latency_p50', 'latency_p95']
    """
    return [f"{kind}_{statistic}" for kind in kinds for statistic in SHARES]


def question_column(columns: Container[str]) -> str:
    """Which of the columns of data/load has the ids of questions, which draws of one question share."""
    return QUESTION if QUESTION in columns else "id"


def is_stopped(load_facts: Mapping[str, Any]) -> bool:
    """Whether data/load lacks questions that were not needed: intervals of a fixed number of rows do not hold."""
    return bool(load_facts.get(STOPPED, {}).get("rows_left"))


def stated(table_facts: Mapping[str, Any]) -> dict[str, ColumnFacts]:
    """Column → its facts. table_facts: the metadata of a table, as `goldmeter.pipeline.tables.about` returns it."""
    return {name: ColumnFacts.from_json(each) for name, each in table_facts.get(COLUMNS, {}).items()}


def statement(columns: Mapping[str, ColumnFacts]) -> dict[str, Any]:
    """The part of a table's metadata that `stated` reads. columns: column → its facts."""
    return {COLUMNS: {name: facts.to_json() for name, facts in columns.items()}}


# Column `label_status`. Null: there is no label, or the label file does not say which answer was labelled.
CONFIRMED, STALE = "confirmed", "stale"
# Column of each row's probability to be chosen for labelling, with dataset.labels: designed; null: it was not chosen.
PROBABILITY = "label_probability"
