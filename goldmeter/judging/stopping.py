"""Asks a judge in random order, and stops when its rate is certain to meet a target, or to miss it (`judge.stop`)."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.asking.requests import EarlierReplies, Request
from goldmeter.console.format import counted, rate
from goldmeter.console.terminal import say
from goldmeter.errors import ParamsError
from goldmeter.estimates.column_facts import STOPPED, WEIGHT, stated
from goldmeter.estimates.headline import with_error
from goldmeter.estimates.human_labels import LABEL
from goldmeter.estimates.judge_bias import STATED_IN_WORDS, STATED_RATE
from goldmeter.estimates.metrics_report import Limited, StoppedEntry
from goldmeter.estimates.primary import VERDICT, TargetVerdict, target_verdict
from goldmeter.judging.plan import Plan
from goldmeter.judging.rows import missing, requests_about, verdicts_of
from goldmeter.judging.settings import Judge
from goldmeter.judging.statuses import ANSWERED, STATUSES, asked_rows, groups_of, statuses
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.metrics.base import EMPTY_RESPONSE
from goldmeter.metrics.judged import JudgeMetric
from goldmeter.pipeline.run import RunJudge
from goldmeter.pipeline.tables import about
from goldmeter.statistics.arrays import FloatArray

CONFIDENCE = 0.95
DECISIONS = (TargetVerdict.MET, TargetVerdict.NOT_MET)
# Looks at most, and groups between two of them at least.
LOOKS, FEWEST_GROUPS = 40, 20
# Yields rows of data/normalize, the same on each call.
Rows: TypeAlias = Callable[[], Iterable[pa.Table]]


@dataclass(frozen=True)
class Rate:
    """What is known of the rate of one system.

    sizes, totals: of each group, its rows with a verdict, and those that pass, shape (m,). to_come: the rows of each
    group that was not asked about. largest: the most rows of a group. by_judge: whether people's rate is another one.
    """

    sizes: FloatArray
    totals: FloatArray
    to_come: FloatArray
    largest: float
    by_judge: bool

    @classmethod
    def of(
        cls, counts: Mapping[str, tuple[float, float]], to_come: Mapping[str, int], largest: float, measure: str
    ) -> Self:
        """The rate from group → rows with a verdict and those that pass, and group → rows to come."""
        known = np.array([*counts.values()], np.float64).reshape(-1, 2)
        return cls(known[:, 0], known[:, 1], np.array([*to_come.values()], np.float64), largest, measure == VERDICT)

    @cached_property
    def limits(self) -> tuple[float, float]:
        """The limits of the rate of the verdicts, by their confidence sequence."""
        from goldmeter.statistics.stopping import confidence_sequence

        return confidence_sequence(self.totals, self.sizes, self.largest, CONFIDENCE)

    def verdict(self, target: float) -> TargetVerdict:
        """Whether the target is met, by the limits that the report shows."""
        low, high = self.limits
        n = self.sizes.sum()
        return self._decided(target, low, min(max(self.totals.sum() / n, low), high) if n else low, high)

    def can_be(self, wanted: TargetVerdict, target: float) -> bool:
        """Whether more rows could still lead to this verdict.

        They can't if the rest would not suffice though all of it passed or failed, or if the judge's own error is too
        large at every rate within the limits.
        """
        is_met = wanted is TargetVerdict.MET
        end = self.limits[is_met]
        if self._decided(target, end, end, end) is not wanted:
            return False
        rest = self.to_come if is_met else np.zeros_like(self.to_come)
        sizes, totals = np.append(self.sizes, self.to_come), np.append(self.totals, rest)
        return replace(self, sizes=sizes, totals=totals).verdict(target) is wanted

    def is_over(self, target: float) -> bool:
        """Whether the target is decided, or can't be."""
        return self.verdict(target) in DECISIONS or not any(self.can_be(wanted, target) for wanted in DECISIONS)

    def _decided(self, target: float, low: float, value: float, high: float) -> TargetVerdict:
        limits: Limited = {"value": value, "low": low, "high": high}
        if self.by_judge:
            limits = with_error(limits, STATED_RATE, CONFIDENCE)
        return target_verdict(target, limits["low"], limits["high"])


class Stopped(NamedTuple):
    """The judge with the share of rows that it was asked about, and the metadata of its table."""

    judge: Judge
    facts: dict[str, Any]


def ask_until_decided(
    rows: Rows, options: Judge, ledger: Verdicts, run: RunJudge, ask: Callable[[Rows, Path], object], spent: Path | None
) -> Stopped:
    """Ask about the first rows, then about more, until the rate of each system is decided or can't be.

    Args:
        rows: Returns the parts of data/normalize.
        options: Section `judge`, with `stop`.
        ledger: The store of verdicts.
        run: Section `run.judge`.
        ask: Asks what the ledger lacks about rows; takes the file of what was spent.
        spent: File of what earlier attempts of this run have used of the budget; None: there was none.

    Raises:
        ParamsError: The data do not allow to stop early, or the target can't be reached.
    """
    with TemporaryDirectory() as folder:  # all blocks share one budget
        used = spent or Path(folder, "used")
        *_, (rates, share) = _looks(rows, options, ledger, run, lambda block: ask(block, used))
    return _stopped(rows, options, ledger, run, rates, share)


def decided_before(rows: Rows, options: Judge, ledger: Verdicts, run: RunJudge) -> Judge:
    """The judge with the share of rows after which it stops, if the ledger has their verdicts; else as it is.

    Arguments and errors as of `ask_until_decided`.
    """
    lacks = list[bool]()

    def look_up(block: Rows) -> None:
        lacks.append(any(True for _ in missing(block(), options, ledger, others=(), retry_failed=False)))

    for look in _looks(rows, options, ledger, run, look_up):
        if lacks[-1]:
            return options
        _, share = look
    return options.asked_partly(share)


def _looks(
    rows: Rows, options: Judge, ledger: Verdicts, run: RunJudge, ask: Callable[[Rows], object]
) -> Iterator[tuple[dict[str, Rate], float]]:
    """Ask block by block until it is over; yield what is known of each system after each, and the share of rows."""
    [(name, target)], [metric] = options.stop.items(), options.metrics
    waiting = _to_ask(rows, options, metric)
    _require_possible(rows, run, waiting, name, target)
    looks = looks_at(len({group for one in waiting.values() for group in one}))
    largest = {system: max(own.values()) for system, own in waiting.items()}
    counts: dict[str, dict[str, tuple[float, float]]] = {system: {} for system in waiting}
    for look in range(looks):

        def block(first: float = look / looks, last: float = (look + 1) / looks) -> Iterator[pa.Table]:
            for part in rows():
                yield part.filter(pa.array(asked_rows(part, options, last) & ~asked_rows(part, options, first)))

        ask(block)
        for part in block():
            _count(part, options, metric, ledger, counts, waiting)
        rates = {system: Rate.of(counts[system], waiting[system], largest[system], name) for system in waiting}
        yield rates, (look + 1) / looks
        if all(one.is_over(target) for one in rates.values()):
            return


def looks_at(groups: int) -> int:
    """Return after how many blocks of so many groups there is a look."""
    return max(1, min(LOOKS, groups // FEWEST_GROUPS))


def _to_ask(rows: Rows, options: Judge, metric: JudgeMetric) -> dict[str, dict[str, int]]:
    """Return system → group → its rows that will have a verdict."""
    found: dict[str, dict[str, int]] = {}
    usable = [STATUSES.index(ANSWERED), STATUSES.index(EMPTY_RESPONSE)]
    for part in rows():
        is_usable = np.isin(statuses(part, options, [metric]), usable).tolist()
        for system, group, counts in zip(part["candidate"].to_pylist(), groups_of(part), is_usable, strict=True):
            own = found.setdefault(system, {})
            if counts:
                own[group] = own.get(group, 0) + 1
    return found


def _require_possible(
    rows: Rows, run: RunJudge, waiting: Mapping[str, Mapping[str, int]], name: str, target: float
) -> None:
    """Raise ParamsError if the rows, or the judge, can't show the target."""
    facts, path = next((about(part.schema) for part in rows()), {}), f"judge.stop.{name}"
    if LABEL in stated(facts):
        raise ParamsError(f"{path}: human labels decide here, not verdicts alone; leave judge.stop empty")
    if run.batch:
        raise ParamsError(f"{path}: run.judge.batch sends all rows at once; set it to false, or leave judge.stop empty")
    if WEIGHT in facts:
        raise ParamsError(f"{path}: with dataset.weight, rows do not count equally; leave one of the two empty")
    if name == VERDICT and (best := _best()) < target:
        raise ParamsError(
            f"{path}: no verdicts can show a rate of {rate(target)}: the judge's own error, {STATED_IN_WORDS}, leaves "
            f"{rate(best)} if every answer passes; lower the target, or label some rows and leave judge.stop empty"
        )
    for system, groups in waiting.items():
        if not groups:
            raise ParamsError(
                f"{path}: {system} has no answer to judge, so that its rate is never decided; leave it out"
            )
        if not Rate.of({}, groups, max(groups.values()), name).can_be(TargetVerdict.MET, target):
            raise ParamsError(
                f"{path}: {system} has {counted(len(groups), 'row or group', 'rows or groups')} to judge, too few to "
                f"show a rate of {rate(target)} if every one passes; lower the target, or leave judge.stop empty"
            )


def _best() -> float:
    """The lower limit of people's rate if all of very many rows pass."""
    return with_error({"value": 1.0, "low": 1.0, "high": 1.0}, STATED_RATE, CONFIDENCE)["low"] or 0.0


def _count(
    part: pa.Table,
    options: Judge,
    metric: JudgeMetric,
    ledger: Verdicts,
    counts: Mapping[str, dict[str, tuple[float, float]]],
    waiting: Mapping[str, dict[str, int]],
) -> None:
    """Move the groups of some rows from those to come to those with verdicts."""
    judged = verdicts_of(part, options, ledger)
    scores = np.array([row.judged[metric.name].scores(metric)[0] for row in judged])
    results = metric.result(scores).tolist()
    for system, group, result in zip(part["candidate"].to_pylist(), groups_of(part), results, strict=True):
        size, total = counts[system].get(group, (0.0, 0.0))
        waiting[system].pop(group, None)
        if result in {"pass", "fail"}:
            counts[system][group] = size + 1.0, total + (result == "pass")


def _stopped(
    rows: Rows, options: Judge, ledger: Verdicts, run: RunJudge, rates: Mapping[str, Rate], share: float
) -> Stopped:
    """Say what was saved, and describe it; rates: of the rows that were asked about, a share of all."""
    [(name, target)] = options.stop.items()
    earlier, asked, rest, every, left = EarlierReplies(ledger), set[str](), dict[str, Request](), 0, 0
    for part in rows():
        is_asked = pa.array(asked_rows(part, options, share))
        for request in (known := [*requests_about(part.filter(is_asked), options)]):
            asked.add(request.key)
        earlier.add(known)
        others = part.filter(pc.invert(is_asked))
        every, left = every + part.num_rows, left + others.num_rows
        rest |= {request.key: request for request in requests_about(others, options)}
    plan = Plan.of_judge((one for key, one in rest.items() if key not in asked), options, run, earlier=earlier)
    if left:
        done = f"{every - left:,} of {counted(every, 'row')}"
        say(f"judge: stopped after {done} (judge.stop); {plan.calls:,} calls, {plan.cost}, were not needed", sys.stderr)
    facts: StoppedEntry = {
        "measure": name,
        "target": target,
        "decided": all(one.verdict(target) in DECISIONS for one in rates.values()),
        "rows": every,
        "rows_left": left,
        "calls_left": plan.calls,
        "tokens_left": [round(plan.prompt), round(plan.tokens - plan.prompt)],
        "limits": {system: [*one.limits] for system, one in rates.items()},
    }
    return Stopped(options.asked_partly(share) if left else options, {STOPPED: facts})


def check_stop(sections: Mapping[str, Any]) -> None:
    """Check that nothing in other sections goes by another interval, target or measure than `judge.stop`.

    Args:
        sections: Every section of params.yaml by name, validated.

    Raises:
        ParamsError: Something does.
    """
    if not {"aggregate", "gate", "report"} <= sections.keys():  # a project may be without these stages
        return
    for name, target in sections["judge"].stop.items():
        primary, confidence = sections["gate"].primary, sections["aggregate"].confidence
        targets, path = sections["report"].targets, f"judge.stop.{name}"
        if name != (primary or VERDICT):
            raise ParamsError(f"{path}: the measure that decides is {primary or VERDICT}; set gate.primary to {name}")
        if targets.get(name, target) != target:
            raise ParamsError(f"{path}: {target:g}, but report.targets.{name} is {targets[name]:g}; state one of them")
        if confidence != CONFIDENCE:
            raise ParamsError(f"{path}: aggregate.confidence is {confidence:g}; a judge stops by {CONFIDENCE:g} only")
        if sections["dataset"].has_draws or sections["aggregate"].mix:
            raise ParamsError(f"{path}: not with dataset.draw or aggregate.mix; leave them or judge.stop empty")
