"""Asks systems block by block, and the judge about their answers, until the rate of each is decided (`judge.stop`)."""

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.answering.calls import confirmed, missing_calls, plan_of
from goldmeter.answering.rows import SCHEMA, question_parts, request_blocks, table_of
from goldmeter.answering.systems import STAGE, Params, System
from goldmeter.asking.budget import SPENT_FILE
from goldmeter.asking.model_calls import ask_models
from goldmeter.asking.plan import CallPlan
from goldmeter.asking.requests import EarlierReplies, Request
from goldmeter.console.format import counted
from goldmeter.console.terminal import say
from goldmeter.dataset.answers import opened
from goldmeter.dataset.joined import opened_entries
from goldmeter.dataset.normalized import normalized
from goldmeter.dataset.settings import Params as Load
from goldmeter.dataset.table import tables
from goldmeter.errors import ServerError
from goldmeter.estimates.column_facts import QUESTION, STOPPED, question_column
from goldmeter.estimates.metrics_report import AnswersLeft
from goldmeter.judging import stopping
from goldmeter.judging.cascade import Division, decided, estimated
from goldmeter.judging.verdict_table import confirmed_calls
from goldmeter.judging.verdict_table import missing_calls as missing_judge_calls
from goldmeter.ledger import root
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.metrics.base import Floats
from goldmeter.pipeline.dvc_yaml import LEDGER
from goldmeter.pipeline.progress import Progress
from goldmeter.pipeline.run import RunJudge
from goldmeter.pipeline.tables import Parts, write_part

JUDGE = "judge"
# Stands for an answer that is to come, so that its row counts as one to judge.
TO_COME = "(to come)"


class Asked(NamedTuple):
    """The questions that were asked, and what the metadata of data/answer state of the others."""

    questions: Sequence[pa.Table]
    facts: dict[str, Any]


def ask_until_decided(
    params: Params,
    ledger: Verdicts,
    run: RunJudge,
    progress: Progress,
    *,
    retry_failed: bool = False,
    spent: Path | None = None,
) -> Asked:
    """Ask the systems block by block, and the judge about the answers of each, until the judge stops.

    The judge's ledger then has the verdicts that the stage `judge` will look for. Arguments and errors as of the stage
    `answer`, and of the judge.
    """
    judge, systems = params.judge, System.of(params.dataset)
    with _prepared(params, ledger) as (rows, verdicts, folder):
        judge_calls = partial(missing_judge_calls, options=judge, ledger=verdicts, run=run, retry_failed=retry_failed)
        calls = partial(missing_calls, systems=systems, ledger=ledger, run=run, retry_failed=retry_failed)
        plan = plan_of(calls(lambda: rows.questions((), are_left_out=True)), systems, may_stop=True)
        confirmed(plan, run)
        confirmed_calls(judge_calls(rows.division), judge, run)
        names = [system.name for system in systems]
        ask = partial(ask_models, run=run, progress=progress, named=set[str]())

        def ask_both(block: Division, used: Path) -> dict[str, ServerError]:
            ids = _ids(block)
            missing = calls(partial(rows.questions, ids))
            for error in ask(missing, names, ledger=ledger, spent=used).values():
                raise error
            rows.add(ids)
            by_judge = used.with_name(f"{JUDGE}{SPENT_FILE}")
            return ask(judge_calls(block), judge.juror_names, ledger=verdicts, spent=by_judge)

        used = spent or folder / f"{STAGE}{SPENT_FILE}"
        _, facts, _ = stopping.ask_until_decided(rows.division, judge, verdicts, run, ask_both, used)
        return Asked([*rows.questions(rows.asked)], {STOPPED: facts[STOPPED] | {"answers_left": rows.left(run)}})


def needed_questions(params: Params, ledger: Verdicts, run: RunJudge) -> Iterator[pa.Table]:
    """Yield the questions that are asked if the ledgers have what the judge stops by; all questions if they lack any.

    Errors as of `ask_until_decided`.
    """
    with _prepared(params, ledger) as (rows, verdicts, _):

        def lacks(block: Division) -> bool:
            ids = _ids(block)
            missing = missing_calls(partial(rows.questions, ids), rows.systems, ledger, run, retry_failed=False)
            if any(one.plan.calls for one in missing):
                return True
            rows.add(ids)
            return False

        is_over = stopping.decided_before(rows.division, params.judge, verdicts, run, lacks).asked_share < 1
        yield from rows.questions(rows.asked if is_over else (), are_left_out=not is_over)


@contextmanager
def _prepared(params: Params, ledger: Verdicts) -> "Iterator[tuple[AnsweredRows, Verdicts, Path]]":
    """Open the judge's ledger, and a folder for rows."""
    with TemporaryDirectory() as folder, Verdicts(root() / JUDGE) as verdicts:
        verdicts.take_in(Path(LEDGER, JUDGE))
        yield AnsweredRows(params, ledger, Path(folder)), verdicts, Path(folder)


class AnsweredRows:
    """The rows that data/normalize will have, with a stand-in for each answer that is to come.

    asked: the ids of the questions whose answers are in the ledger. division: all rows, by who judges them; a language
    model judges answers that are to come. folder: where rows are stored.
    """

    def __init__(self, params: Params, ledger: Verdicts, folder: Path) -> None:
        self.asked, self.systems = set[str](), System.of(params.dataset)
        self._params, self._ledger, self._folder = params, ledger, folder
        self._questions = _stored(question_parts(params), folder / "questions")
        self._load()
        is_cascade = params.judge.provider == "cascade"
        by_offline = (lambda: self._by_offline) if is_cascade else None
        self.division = Division(lambda: self._rows, by_offline, is_upper_limit=is_cascade)

    def add(self, ids: Collection[str]) -> None:
        """Replace the stand-ins of questions by their answers in the ledger."""
        self.asked.update(ids)
        self._load()

    def questions(self, ids: Collection[str], *, are_left_out: bool = False) -> Iterator[pa.Table]:
        """Yield the questions with these ids, or all others."""
        for part in self._questions:
            is_one = pc.is_in(part["id"], pa.array(sorted(ids), pa.string()))
            yield part.filter(pc.invert(is_one) if are_left_out else is_one)

    def left(self, run: RunJudge) -> dict[str, AnswersLeft]:
        """Say, and return, what each system was not asked."""
        return {system.name: self._left_of(system, run) for system in self.systems}

    def _left_of(self, system: System, run: RunJudge) -> AnswersLeft:
        earlier, asked, rest = EarlierReplies(self._ledger), set[str](), dict[str, Request]()
        for block in request_blocks(self.questions(self.asked), system):
            earlier.add(known := [*block])
            asked.update(request.key for request in known)
        for block in request_blocks(self.questions(self.asked, are_left_out=True), system):
            rest |= {request.key: request for request in block if request.key not in asked}
        plan = CallPlan.of(rest.values(), system, run, earlier=earlier)
        if plan.calls:
            calls = f"{counted(plan.calls, 'call')}, {plan.cost}"
            say(f"{STAGE}: {system.name}: {calls}, were not needed (judge.stop)", sys.stderr)
        return {"calls": plan.calls, "tokens": round(plan.tokens), "cost": plan.dollars}

    def _load(self) -> None:
        """Load and normalise as the stages do; let the offline judge of a cascade judge the answers that are known."""
        params = self._params
        load = Load(dataset=params.dataset, load=params.load)
        with TemporaryDirectory(dir=self._folder) as answers:
            _stored(map(self._table, self._questions), Path(answers, STAGE))
            loaded = (part["load"] for part in tables(opened(load), load, answers=Path(answers, STAGE)))
            self._rows = _stored((self._normalized(part) for part in loaded), self._folder / "rows")
        opened_entries.cache_clear()  # of files that are gone
        if params.judge.provider == "cascade":
            self._by_offline = [*map(self._decided, self._rows)]

    def _decided(self, part: pa.Table) -> Floats:
        """The verdicts of the offline judge, NaN where it does not decide."""
        is_new = pc.invert(pc.is_in(part[question_column(part.column_names)], pa.array([*self.asked], pa.string())))
        is_to_come = pc.and_(is_new, pc.equal(part["response"], TO_COME).fill_null(False)).to_numpy()  # noqa: FBT003
        verdicts = np.full(part.num_rows, np.nan)
        judge, known = self._params.judge, part.filter(pa.array(~is_to_come))
        verdicts[~is_to_come] = decided(estimated(known, judge), judge.band)
        return verdicts

    def _normalized(self, load: pa.Table) -> pa.Table:
        """Normalise the texts, and keep the question of each answer where it may have several."""
        rows = normalized(load, self._params.normalize)
        return rows.append_column(QUESTION, load[QUESTION]) if QUESTION in load.column_names else rows

    def _table(self, part: pa.Table) -> pa.Table:
        """Build the part of data/answer so far."""
        is_asked = pc.is_in(part["id"], pa.array(sorted(self.asked), pa.string()))
        prices, thoughts = dict[str, Any](), self._params.dataset.thoughts
        said = table_of(part.filter(is_asked), self.systems, self._ledger, prices, thoughts)
        others = part.filter(pc.invert(is_asked)).select(["id", "input"]).to_pylist()
        to_come = [
            row | {"draw": draw + 1, "response": TO_COME, "had_thought": False, "candidate": system.name}
            for row in others
            for system in self.systems
            for draw in range(system.options.draws)
        ]
        return pa.concat_tables([said, pa.Table.from_pylist(to_come, SCHEMA)])


def _ids(block: Division) -> set[str]:
    """The ids of the questions of a block."""
    return {one for part in block.parts() for one in part[question_column(part.column_names)].to_pylist()}


def _stored(parts: Iterable[pa.Table], folder: Path) -> Parts:
    """Write parts to a folder, in place of what is there."""
    rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for number, part in enumerate(parts):
        write_part(part, folder, number)
    return Parts(folder)
