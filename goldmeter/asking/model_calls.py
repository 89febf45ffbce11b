"""Asks several models one after the other, or a single one, by calls or by batches."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from goldmeter.asking.batch_dispatch import Batches, Calls, require_none_waiting
from goldmeter.asking.budget import Budget
from goldmeter.asking.dispatch import dispatch
from goldmeter.asking.plan import CallPlan
from goldmeter.asking.requests import AskedModel, EarlierReplies, Request
from goldmeter.console.terminal import say
from goldmeter.errors import BatchesAtWorkError, LedgerError, ParamsError, ServerError
from goldmeter.ledger.entries import Entry
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.models.chat.batch_client import BatchClient
from goldmeter.models.chat.client import Chat
from goldmeter.models.chat.exchange import Endpoint
from goldmeter.models.chat.limits import ConcurrencyLimit
from goldmeter.models.decisions.client import Decisions
from goldmeter.pipeline import contents
from goldmeter.pipeline.dvc_yaml import LEDGER
from goldmeter.pipeline.progress import Progress
from goldmeter.pipeline.run import RunJudge

# Environment variable: if set, requests whose reply in the ledger is not usable are asked again.
RETRY_FAILED = "GOLDMETER_RETRY_FAILED"
# Environment variable: file in which the attempts of a run keep what they have used of the budget.
SPENT = "GOLDMETER_SPENT"


def retries_failed() -> bool:
    """Return whether requests whose reply is not usable are asked again."""
    return RETRY_FAILED in os.environ


def spent_file() -> Path | None:
    """Return the file of what earlier attempts of this run have used of the budget; None: there was none."""
    return Path(spent) if (spent := os.environ.get(SPENT)) else None


@dataclass(frozen=True)
class ModelCalls:
    """A model, and the calls that are missing.

    earlier: replies of the ledger to other requests. rows: yields the requests that the ledger lacks. before: is called
    first, with what asks requests by single calls.
    """

    options: AskedModel
    plan: CallPlan
    earlier: EarlierReplies
    rows: Callable[[], Iterator[Request]]
    before: Callable[[Callable[[Iterable[Request]], None]], None] = lambda _: None


def ask_models(
    models: Sequence[ModelCalls],
    names: Sequence[str],
    ledger: Verdicts,
    run: RunJudge,
    progress: Progress,
    spent: Path | None = None,
    named: set[str] | None = None,
) -> dict[str, ServerError]:
    """Ask each model everything before the next one: a local server loads one at a time.

    Args:
        models: The models.
        names: Of the models.
        ledger: The store of their replies.
        run: Section `run.judge`; all models share the budget.
        progress: Shows the calls.
        spent: File of what earlier attempts of this run have used of the budget; None: there was none.
        named: Names that servers gave their models and that were said before; new ones are added.

    Returns:
        Model → why its server did not answer, if another one has answered.

    Raises:
        ModelError: A model can't be used.
        ServerError: The servers of all models are down.
        LedgerError: This clone has none of the replies that were paid for by dvc.lock.
        BatchesAtWorkError: Batches of a model are at work; those of the others were sent, too.
    """
    if not any(one.plan.calls + one.plan.waiting for one in models):
        return {}
    _require_evidence(ledger)
    counter = _CallCounter(sum(one.plan.calls for one in models), progress, set() if named is None else named)
    budgets = _budgets(models, run, spent)
    down: dict[str, ServerError] = {}
    at_work: BatchesAtWorkError | None = None
    for one, name, budget in zip(models, names, budgets, strict=True):
        if not one.plan.calls + one.plan.waiting:
            continue
        counter.budget, counter.stage, counter.model = budget, one.options.stage, one.options.model
        try:
            _ask(one, ledger, budget, run.model_copy(update={"batch_wait": 0.0}) if at_work else run, counter)
        except BatchesAtWorkError as error:
            if isinstance(error.__context__, KeyboardInterrupt):
                raise
            at_work = at_work or error
        except ServerError as error:
            down[name] = error
            if len(models) > 1:
                say(f"{one.options.stage}: {name} is left out, because its server does not answer: {error}", sys.stderr)
    if at_work:
        raise at_work
    if len(down) == len(models):
        raise next(iter(down.values()))
    return down


def _require_evidence(ledger: Verdicts) -> None:
    folder = f"{LEDGER}{ledger.folder.name}"
    if contents.is_lacking(folder) and not ledger.newest:
        raise LedgerError(
            f"{folder}: missing in this clone, but dvc.lock says that replies were paid for: `dvc pull {folder}` "
            f"brings them. To pay for them again: `mkdir -p {folder}`"
        )


def _budgets(models: Sequence[ModelCalls], run: RunJudge, spent: Path | None) -> list[Budget]:
    """The budgets of models, which share the limits; each but the first has a file of its own for what it has used."""
    files = [spent.with_name(f"{spent.name}-{number}") if spent and number else spent for number in range(len(models))]
    budgets = [
        Budget(run.budget, run.price(one.options.model), one.earlier.longest, file)
        for one, file in zip(models, files, strict=True)
    ]
    for budget in budgets:
        budget.share(budgets)
    return budgets


def _ask(model: ModelCalls, ledger: Verdicts, budget: Budget, run: RunJudge, counter: "_CallCounter") -> None:
    options = model.options
    endpoint = Endpoint(options.base_url, options.model, options.api_key, run.timeout, run.retries, run.thought_tokens)
    limit = ConcurrencyLimit(run.concurrency)
    if options.is_decision_model:
        if run.batch:
            raise ParamsError("run.judge.batch: decision models take no batches; set it to false")
        with Decisions(endpoint, limit) as decisions:
            model.before(lambda requests: dispatch(requests, decisions, ledger, budget, run, counter.add))
            dispatch(model.rows(), decisions, ledger, budget, run, counter.add)
        return
    is_json = any(question.reply_schema is not None for question in options.questions.values())
    with (
        Chat(endpoint, limit, model.earlier.support, is_json=is_json) as chat,
        BatchClient(endpoint) as client,
    ):

        def ask(requests: Iterable[Request]) -> None:
            dispatch(requests, chat, ledger, budget, run, counter.add)

        model.before(ask)
        batches = Batches(options, client, Calls(chat, ledger, budget, run, counter.add, ask), counter.progress)
        if run.batch:
            batches.ask(model.rows)
        else:
            if model.plan.waiting:
                batches.take_in_ended()
                require_none_waiting(model.rows(), options, ledger)
            ask(model.rows())


class _CallCounter:
    """Counts answered and failed calls, and shows them with their tokens and their cost.

    Says once of each model that the server names another one.
    """

    def __init__(self, calls: int, progress: Progress, named: set[str]) -> None:
        self._calls, self.progress = calls, progress
        self._done = self._failed = self._tokens = 0
        self.stage, self.model = "", ""
        self._named = named
        self.budget: Budget | None = None
        # The first reply is that of a single call, which also detects what the server supports: no pace of many.
        progress("first call", 0, 1)

    def add(self, entries: Sequence[Entry]) -> None:
        """Count the entries of new replies."""
        self._done += len(entries)
        self._failed += sum(entry["verdict"] is None for entry in entries)
        self._tokens += sum(sum(entry["tokens"].values()) for entry in entries if entry["tokens"])
        for name in {entry["model"] for entry in entries if entry["model"]} - self._named:
            self._named.add(name)
            if is_other_model(self.model, name):
                say(f"{self.stage}: {self.model} was asked for, and the server names {name} as its model", sys.stderr)
        failed = f"{self._failed:,} failed" if self._failed else ""
        tokens = f"{self._tokens:,} tokens" if self._tokens else ""
        spent = None if self.budget is None else self.budget.cost
        cost = "" if spent is None else f"${spent:,.2f}"
        self.progress("calls", self._done, self._calls, note=", ".join(filter(None, [failed, tokens, cost])))


def is_other_model(asked: str, named: str) -> bool:
    """Return whether a server names another model than was asked for: dates, folders and case make no other one.

    >>> is_other_model("gpt-5", "gpt-5-2026-08-07"), is_other_model("Q/Qwen3", "qwen3"), is_other_model("a", "b")
    (False, False, True)
    """
    first, second = (name.lower().rstrip("/").rpartition("/")[2] for name in (asked, named))
    return not (first.startswith(second) or second.startswith(first))
