"""Verdicts of judges by the settings of committed versions, from the ledger; and what one more judge would cost."""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from goldmeter.asking.plan import CallPlan
from goldmeter.errors import ParamsError
from goldmeter.judging.rows import requests_about, verdicts_of
from goldmeter.judging.settings import FAMILY, Judge, default_metric
from goldmeter.judging.verdict_table import column_facts
from goldmeter.ledger import root
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.metrics.base import Floats
from goldmeter.metrics.catalogue import correctness_verdict
from goldmeter.metrics.prompt_template import ABOVE, FOLDER
from goldmeter.metrics.prompted import Prompted
from goldmeter.pipeline import git, params
from goldmeter.pipeline.run import Limits, Run
from goldmeter.pipeline.yaml import parse_yaml

# Commits that are looked at, the newest of all branches and experiments.
MOST = 100
# Verdicts on fewer answers are no reading. Rows that are looked up first, and rows of which a plan is made.
NEARLY_ALL, FEW, PLANNED = 0.9, 200, 20_000
# A judge that is asked about all rows, as only its requests matter.
ALONE: dict[str, Any] = {
    "panel": None,
    "sampling_rate": 1.0,
    "filters": (),
    "retest": 0.0,
    "stop": {},
    "preference": None,
}
NO_LIMITS = Limits(max_calls=None, max_tokens=None, max_cost=None)


class EarlierVerdicts(NamedTuple):
    """What a judge with the settings of a commit said by one metric.

    values: of each row, 1 passes, 0 fails, NaN unmeasured, shape (rows,).
    """

    column: str
    commit: str
    signature: str
    values: Floats


class OneMore(NamedTuple):
    """What it would cost to ask one more judge about some answers: model, calls, tokens, dollars if it has a price."""

    model: str
    calls: int
    tokens: float
    dollars: float | None


def committed_judges() -> list[tuple[str, Judge]]:
    """Return commit and settings of judges with a server, newest first; left out: settings that are no longer read."""
    found, seen = list[tuple[str, Judge]](), set[str | None]()
    commits = git.answer("log", "--all", f"-n{MOST}", "--format=%h", "--", "params.yaml", FOLDER) or ""
    for commit in commits.split():
        files = git.answer("ls-tree", "-r", commit, "--", "params.yaml", FOLDER)
        if files not in seen:
            seen.add(files)
            found += [(commit, judge) for judge in _judges(commit)]
    return found


def earlier_verdicts(rows: pa.Table, judges: Iterable[tuple[str, Judge]]) -> Iterator[EarlierVerdicts]:
    """Yield the verdicts on nearly all rows of a system that the ledger holds; equal requests once.

    Args:
        rows: Of data/normalize.
        judges: As of `committed_judges`.
    """
    few, seen = _some(rows, FEW), set[tuple[str, ...]]()
    has_answer = rows["response"].is_valid().to_numpy()
    with Verdicts(root() / FAMILY) as ledger:
        for commit, judge in judges:
            keys = tuple(request.key for request in requests_about(few, judge))
            if not keys or keys in seen or len(ledger.get(keys)) < NEARLY_ALL / 2 * len(keys):
                continue
            seen.add(keys)
            [metric] = judge.metrics
            scores = np.array([one.judged[metric.name].scores(metric)[0] for one in verdicts_of(rows, judge, ledger)])
            values = np.where(np.isnan(scores), np.nan, metric.result(scores) == "pass")
            if np.isfinite(values[has_answer]).mean() >= NEARLY_ALL:
                signature = column_facts(judge, {}, rows.schema)[metric.column].signature
                yield EarlierVerdicts(metric.column, commit, signature, values)


def one_more(rows: pa.Table, known: Collection[str] = ()) -> OneMore:
    """Plan the calls to one more judge about rows of data/normalize: a model with a price, if one is not known."""
    content = params.raw()
    options, run = params.section(Judge, content, FAMILY), params.section(Run, content, "run").judge
    metric = default_metric(correctness_verdict())
    model = next((one for one in (options.model, *run.prices) if one not in known), options.model)
    judge = options.model_copy(update=ALONE | {"provider": "openai", "model": model, "metrics": (metric,)})
    some = _some(rows, PLANNED)
    plan = CallPlan.of(requests_about(some, judge), judge, run.model_copy(update={"budget": NO_LIMITS}))
    times = rows.num_rows / max(some.num_rows, 1)
    dollars = None if plan.dollars is None else times * plan.dollars
    return OneMore(plan.model, round(times * plan.calls), times * plan.tokens, dollars)


def _some(rows: pa.Table, most: int) -> pa.Table:
    """So many rows at equal distances; all if there are no more."""
    return rows.take(np.unique(np.linspace(0, max(rows.num_rows - 1, 0), most).astype(int))) if rows.num_rows else rows


def _judges(commit: str) -> Iterator[Judge]:
    """Yield each judge with a server of a commit, once with each of its metrics."""
    with TemporaryDirectory(prefix="goldmeter-") as folder:
        for name in (git.answer("ls-tree", "-rz", "--name-only", commit, "--", FOLDER) or "").split("\0")[:-1]:
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_text(_file(commit, name), encoding="utf-8", errors="surrogateescape")
        token = ABOVE.set(Path(folder))
        try:
            content = parse_yaml(_file(commit, "params.yaml"))
            options = params.section(Judge, content if isinstance(content, dict) else {}, FAMILY)
            _ = [one.text for one in options.metrics if isinstance(one, Prompted)]  # kept, as the folder is not
        except ParamsError:
            return
        finally:
            ABOVE.reset(token)
    for juror in options.jurors if options.asks_server else ():
        alone = ALONE | {"provider": "openai" if juror.provider == "cascade" else juror.provider}
        for metric in options.metrics:
            if metric.has_pass_rate and not isinstance(metric.threshold, str):
                yield juror.model_copy(update=alone | {"metrics": (metric,)})


def _file(commit: str, name: str) -> str:
    return git.answer("show", f"{commit}:./{name}") or ""
