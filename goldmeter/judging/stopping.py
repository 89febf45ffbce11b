"""Asks a judge in random order, and stops when a target, or which system is best, is decided (`judge.stop`)."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log2
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pyarrow as pa

from goldmeter.asking.requests import EarlierReplies, Request
from goldmeter.console.format import counted, rate
from goldmeter.console.terminal import say
from goldmeter.errors import ParamsError, ServerError
from goldmeter.estimates.column_facts import STOPPED, WEIGHT, stated
from goldmeter.estimates.headline import with_error
from goldmeter.estimates.human_labels import LABEL
from goldmeter.estimates.judge_bias import STATED_IN_WORDS, STATED_RATE
from goldmeter.estimates.metrics_report import LookEntry, StoppedEntry
from goldmeter.estimates.primary import VERDICT, TargetVerdict
from goldmeter.judging.cascade import Division
from goldmeter.judging.followed_difference import RateDifference, best_of, can_be_best
from goldmeter.judging.followed_rate import CONFIDENCE, DECISIONS, Rate
from goldmeter.judging.plan import PanelPlan, Plan
from goldmeter.judging.rows import missing, requests_about
from goldmeter.judging.settings import Judge
from goldmeter.judging.statuses import Mask, asked_rows
from goldmeter.judging.tally import Tally
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.pipeline.run import RunJudge
from goldmeter.pipeline.tables import about

# Looks at most, and groups between two of them at least. A batch may take a day, so that the first of a few is small,
# and each one doubles what is known.
LOOKS, BATCHES, FEWEST_GROUPS = 40, 6, 20


class Stopped(NamedTuple):
    """How asking ended.

    judge: with the share of rows that it was asked about. facts: metadata of its table. down: jurors whose server did
    not answer, and why.
    """

    judge: Judge
    facts: dict[str, Any]
    down: dict[str, ServerError]


def ask_until_decided(
    division: Division,
    options: Judge,
    ledger: Verdicts,
    run: RunJudge,
    ask: Callable[[Division, Path], Mapping[str, ServerError]],
    spent: Path | None,
) -> Stopped:
    """Ask about the first rows, then about more, until the rate of each system is decided or can't be.

    Args:
        division: All rows, and those that the offline judge of a cascade decides.
        options: Section `judge`, with `stop`.
        ledger: The store of verdicts.
        run: Section `run.judge`.
        ask: Asks what the ledger lacks about rows; takes the file of what was spent. Returns jurors that are down.
        spent: File of what earlier attempts of this run have used of the budget; None: there was none.

    Raises:
        ParamsError: The data do not allow to stop early, or the target can't be reached.
    """
    down = dict[str, ServerError]()
    with TemporaryDirectory() as folder:  # all blocks share one budget
        used = spent or Path(folder, "used")
        looks = [*_looks(division, options, ledger, run, lambda block: down.update(ask(block, used)))]
    judge, facts = _stopped(division, options, ledger, run, looks)
    return Stopped(judge, facts, down)


def decided_before(
    division: Division,
    options: Judge,
    ledger: Verdicts,
    run: RunJudge,
    lacks_answers: Callable[[Division], bool] = lambda _: False,
) -> Judge:
    """The judge with the share of rows after which it stops, if the ledger has their verdicts; else as it is.

    Arguments and errors as of `ask_until_decided`. lacks_answers: whether some rows lack answers.
    """
    lacks = list[bool]()

    def look_up(block: Division) -> None:
        rows = (
            missing(block.by_language_model(), one, ledger, others=(), retry_failed=False) for one in options.jurors
        )
        lacks.append(lacks_answers(block) or any(True for requests in rows for _ in requests))

    for look in _looks(division, options, ledger, run, look_up):
        if lacks[-1]:
            return options
        share = look.share
    return options.asked_partly(share)


class _Look(NamedTuple):
    """What is known after a block.

    share: of the groups that were asked about so far. is_decided: whether that is known which was asked for. is_over:
    whether it is, or can't be.
    """

    share: float
    tally: Tally
    entry: LookEntry
    is_decided: bool
    is_over: bool


def _looks(
    division: Division, options: Judge, ledger: Verdicts, run: RunJudge, ask: Callable[[Division], object]
) -> Iterator[_Look]:
    """Ask block by block until it is over; yield what is known after each."""
    tally = Tally(division, options)
    _require_possible(division, tally, options)
    first = 0.0
    for last in shares_at(len(tally.groups), by_batch=run.batch):
        block = division.some(_between(options, first, last))
        ask(block)
        tally.add(block, ledger)
        yield (look := _look(last, tally, options))
        if look.is_over:
            return
        first = last


def _look(share: float, tally: Tally, options: Judge) -> _Look:
    [(name, goal)] = options.stop.items()
    followed: Mapping[str, Rate | RateDifference]
    if isinstance(goal, str):
        found = tally.differences()
        is_decided = best_of(tally.systems, found) is not None
        is_over = is_decided or not any(can_be_best(system, found) for system in tally.systems)
        followed = {f"{second} − {first}": one for (first, second), one in found.items()}
    else:
        rates = tally.followed(name)
        is_decided = all(one.verdict(goal) in DECISIONS for one in rates.values())
        is_over = all(one.is_over(goal) for one in rates.values())
        followed = {**rates}
    limits = {of: [round(limit, 6) for limit in one.shown] for of, one in followed.items()}
    return _Look(share, tally, {"rows": tally.rows_asked, "limits": limits}, is_decided, is_over)


def _between(options: Judge, first: float, last: float) -> Callable[[pa.Table], Mask]:
    """Return what chooses the rows of a block in the random order."""
    return lambda part: asked_rows(part, options, last) & ~asked_rows(part, options, first)


def shares_at(groups: int, *, by_batch: bool = False) -> list[float]:
    """Return after which shares of so many groups there is a look, ascending; the last one is 1.

    >>> shares_at(60), shares_at(2000, by_batch=True)
    ([0.3333333333333333, 0.6666666666666666, 1.0], [0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0])
    """
    blocks = max(1, groups // FEWEST_GROUPS)
    if by_batch:
        return [0.5**doublings for doublings in reversed(range(min(BATCHES, 1 + int(log2(blocks)))))]
    looks = min(LOOKS, blocks)
    return [(look + 1) / looks for look in range(looks)]


def _require_possible(division: Division, tally: Tally, options: Judge) -> None:
    """Raise ParamsError if the rows, or the judge, can't show what is sought; tally: before any call."""
    [(name, goal)] = options.stop.items()
    facts, path = next((about(part.schema) for part in division.parts()), {}), f"judge.stop.{name}"
    if LABEL in stated(facts):
        raise ParamsError(f"{path}: human labels decide here, not verdicts alone; leave judge.stop empty")
    if isinstance(goal, str):
        if WEIGHT in facts:
            raise ParamsError(f"{path}: a difference by dataset.weight has no limits at looks; name a target instead")
        _require_two(tally, path)
    else:
        _require_reachable(tally.followed(name), name, goal, path)


def _require_two(tally: Tally, path: str) -> None:
    if len(tally.systems) == 1:
        raise ParamsError(f"{path}: one system differs from none; name a target, or leave judge.stop empty")
    for (first, second), one in tally.differences().items():
        groups = int((one.to_come > 0.0).sum())
        if not one.can_be(1):
            raise ParamsError(
                f"{path}: {first} and {second} share {counted(groups, 'row or group', 'rows or groups')} to judge, too "
                "few to show a difference if every one differs; leave judge.stop empty"
            )


def _require_reachable(rates: Mapping[str, Rate], name: str, target: float, path: str) -> None:
    if name == VERDICT and (best := _best()) < target:
        raise ParamsError(
            f"{path}: no verdicts can show a rate of {rate(target)}: the judge's own error, {STATED_IN_WORDS}, leaves "
            f"{rate(best)} if every answer passes; lower the target, or label some rows and leave judge.stop empty"
        )
    for system, one in rates.items():
        groups = int((one.to_come > 0.0).sum())
        if not groups:
            raise ParamsError(
                f"{path}: {system} has no answer to judge, so that its rate is never decided; leave it out"
            )
        if not one.can_be(TargetVerdict.MET, target):
            raise ParamsError(
                f"{path}: {system} has {counted(groups, 'row or group', 'rows or groups')} to judge, too few to "
                f"show a rate of {rate(target)} if every one passes; lower the target, or leave judge.stop empty"
            )


def _best() -> float:
    """The lower limit of people's rate if all of very many rows pass."""
    return with_error({"value": 1.0, "low": 1.0, "high": 1.0}, STATED_RATE, CONFIDENCE)["low"] or 0.0


def _stopped(
    division: Division, options: Judge, ledger: Verdicts, run: RunJudge, looks: Sequence[_Look]
) -> tuple[Judge, dict[str, Any]]:
    """Say what was saved, and describe it."""
    [(name, goal)] = options.stop.items()
    last, tally = looks[-1], looks[-1].tally
    plans = [_left(division, options, juror, ledger, run, last.share) for juror in options.jurors]
    plan, rows, left = PanelPlan.of(plans, options.juror_names), tally.rows, tally.rows - tally.rows_asked
    if left:
        done = f"{rows - left:,} of {counted(rows, 'row')}"
        calls = f"{'at most ' * division.is_upper_limit}{plan.calls:,} calls"
        say(f"judge: stopped after {done} (judge.stop); {calls}, {plan.cost}, were not needed", sys.stderr)
    prompts, replies = Counter[str](), Counter[str]()
    for one in plans:
        prompts[one.model] += round(one.prompt)
        replies[one.model] += round(one.tokens - one.prompt)
    facts: StoppedEntry = {
        "measure": name,
        "decided": last.is_decided,
        "rows": rows,
        "rows_left": left,
        "calls_left": plan.calls,
        "tokens_left": {model: [prompts[model], replies[model]] for model in prompts},
        "limits": tally.limits(),
        "looks": [look.entry for look in looks],
    }
    if division.is_upper_limit:
        facts["is_upper_limit"] = True
    if not isinstance(goal, str):
        facts["target"] = goal
    return options.asked_partly(last.share) if left else options, {STOPPED: facts}


def _left(division: Division, options: Judge, juror: Judge, ledger: Verdicts, run: RunJudge, share: float) -> Plan:
    """Plan the calls to one judge that are not needed."""
    earlier, asked, rest = EarlierReplies(ledger), set[str](), dict[str, Request]()
    for part in division.some(_between(options, 0.0, share)).by_language_model():
        known = [*requests_about(part, juror)]
        asked.update(request.key for request in known)
        earlier.add(known)
    for part in division.some(_between(options, share, 1.0)).by_language_model():
        rest |= {request.key: request for request in requests_about(part, juror)}
    return Plan.of_judge((one for key, one in rest.items() if key not in asked), juror, run, earlier=earlier)


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
        if not isinstance(target, str) and targets.get(name, target) != target:
            raise ParamsError(f"{path}: {target:g}, but report.targets.{name} is {targets[name]:g}; state one of them")
        for place, stated_one in (("aggregate", confidence), ("gate", sections["gate"].confidence)):
            if stated_one != CONFIDENCE:
                raise ParamsError(f"{path}: {place}.confidence is {stated_one:g}; a judge stops by {CONFIDENCE:g} only")
        if sections["aggregate"].mix:
            raise ParamsError(f"{path}: not with aggregate.mix; leave one of the two empty")
