"""Choice of judges: those of a panel, and the panel, on one sample of labelled rows, against the human labels."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.asking.batch_dispatch import require_none_waiting
from goldmeter.asking.model_calls import ModelCalls, ask_models
from goldmeter.asking.plan import require_confirmed
from goldmeter.asking.requests import EarlierReplies, Request
from goldmeter.console.format import points_interval, rate_interval
from goldmeter.console.terminal import say
from goldmeter.dataset.preflight import loaded_parts
from goldmeter.errors import DataError, ParamsError
from goldmeter.estimates.column_facts import PROBABILITY
from goldmeter.estimates.estimates import ONE_CLUSTER, is_one_cluster
from goldmeter.judging import canaries
from goldmeter.judging.panel_verdicts import votes_of
from goldmeter.judging.plan import PanelPlan, Plan
from goldmeter.judging.rows import entries_of, missing, verdicts_of
from goldmeter.judging.settings import FAMILY, Judge
from goldmeter.judging.statuses import ANSWERED, STATUSES, statuses
from goldmeter.ledger import root
from goldmeter.ledger.entries import Entry
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.metrics.base import Floats
from goldmeter.metrics.catalogue import declaring
from goldmeter.metrics.judged import JudgeMetric
from goldmeter.pipeline import params
from goldmeter.pipeline.dvc_yaml import LEDGER
from goldmeter.pipeline.hashing import sha256
from goldmeter.pipeline.progress import Progress, quiet
from goldmeter.pipeline.run import Price, RunJudge
from goldmeter.statistics import Estimate, Method, PairedDifference, mean_interval, paired_difference
from goldmeter.statistics.majority import majority

# Labelled rows that are judged, unless more or fewer are asked for.
ROWS = 300
# With fewer labels any figure would be noise.
FEWEST = 20
CONFIDENCE = 0.95


class Sample(NamedTuple):
    """Labelled rows, n of them.

    part: rows of data/normalize. labels: 1 or 0, shape (n,). groups: of rows that belong together, length n. designed:
    whether a design chose the labels, more of them where a judge is unsure.
    """

    part: pa.Table
    labels: Floats
    groups: list[str]
    designed: bool = False


class JurorFigures(NamedTuple):
    """One judge on a sample.

    accuracy: how often it says what the label says. alone, without: this, and the agreement of the panel without it,
    less that of the panel.
    cost: US dollars per 1,000 rows; None if it has no price, or the server counts no tokens. seconds: of a call.
    failed: rows without a vote.
    """

    name: str
    accuracy: Estimate
    alone: PairedDifference | None
    without: PairedDifference | None
    cost: float | None
    seconds: float
    failed: int

    @property
    def role(self) -> str:
        """What the panel gains by it, as far as the labels tell."""
        if self.alone is not None and self.alone.low > 0.0:
            return ": better alone than the panel"
        if self.without is None:
            return ""
        if self.without.high < 0.0:
            return ": the panel needs it"
        return ": it harms the panel" if self.without.low > 0.0 else ": dispensable, as far as these labels tell"


class Choice(NamedTuple):
    """Judges of a panel on a sample. panel: agreement of their majority. ties: rows on which it is a tie."""

    jurors: list[JurorFigures]
    panel: Estimate
    ties: int


def show(rows: int = ROWS, progress: Progress = quiet) -> None:
    """Ask the judges of `judge.panel` about labelled rows, and print how each agrees with the labels and what it costs.

    Only what the ledger lacks is asked, within the budget. A sample contains every smaller one.

    Raises:
        ParamsError: There is no panel, or the calls are more than `run.judge.confirm_calls`.
        DataError: There are too few labelled rows.
    """
    options, run = params.for_stage("judge").judge, params.run_params().judge
    if options.panel is None:
        raise ParamsError("judge.panel: lists no judges to choose from: [{model: a}, {model: b}, …]")
    metric = next((metric for metric in options.metrics if metric.is_correctness), None)
    if metric is None:
        listed = " or ".join(declaring(FAMILY, "is_correctness"))
        raise ParamsError(f"judge.metrics: human labels say whether answers are right, as {listed} does; ask for it")
    alone = Judge.model_construct(
        **{name: getattr(options, name) for name in Judge.model_fields} | {"metrics": (metric,)}
    )
    sample = _sample(alone, rows)
    with Verdicts(root() / "judge") as ledger:
        ledger.take_in(Path(LEDGER, "judge"))
        down = _ask(sample, alone, ledger, run, progress)
        votes = np.column_stack([_votes(sample, one, metric, ledger) for one in alone.jurors])
        entries = [[*_entries(sample, one, ledger)] for one in alone.jurors]
    prices = [run.prices.get(one.model) for one in alone.jurors]
    for line in lines(choice(votes, sample, alone.juror_names, entries, prices), sample, [*down]):
        say(line)


def choice(
    votes: Floats,
    sample: Sample,
    names: Sequence[str],
    entries: Sequence[Sequence[Entry]] = (),
    prices: Sequence[Price | None] = (),
) -> Choice:
    """Compare judges by their votes on a sample.

    Args:
        votes: Shape (n, k), 1 or 0, NaN for a missing vote.
        sample: The rows and their labels.
        names: Of the judges.
        entries: Of each judge in the ledger.
        prices: Of each judge.
    """
    clusters = None if len({*sample.groups}) == len(sample.groups) else np.array(sample.groups)

    def agreement(verdicts: Floats) -> Floats:
        """1 where a verdict is the label's, 1/2 for a tie, NaN without one."""
        return 1.0 - np.abs(verdicts - sample.labels)

    def difference(first: Floats, second: Floats) -> PairedDifference | None:
        both = ~np.isnan(first) & ~np.isnan(second)
        own = _of(clusters, both)
        if both.sum() < FEWEST or is_one_cluster(own):
            return None
        return paired_difference((first - second)[both], own, confidence=CONFIDENCE)

    def share(agrees: Floats) -> Estimate:
        known = ~np.isnan(agrees)
        own = _of(clusters, known)
        if is_one_cluster(own):
            return Estimate(float(agrees[known].mean()), 0.0, 1.0, int(known.sum()), Method(ONE_CLUSTER))
        return mean_interval(agrees[known], own, confidence=CONFIDENCE)

    verdicts = majority(votes)
    plain = agreement(verdicts)
    jurors = [
        JurorFigures(
            name,
            share(agreement(votes[:, j])),
            difference(agreement(votes[:, j]), plain),
            difference(agreement(majority(np.delete(votes, j, axis=1))), plain),
            _cost(entries[j], prices[j]) if len(entries) else None,
            float(np.mean([entry["latency"] for entry in entries[j]])) if len(entries) and entries[j] else np.nan,
            int(np.isnan(votes[:, j]).sum()),
        )
        for j, name in enumerate(names)
    ]
    return Choice(jurors, share(plain), int(np.count_nonzero(verdicts == 0.5)))  # noqa: PLR2004 (a tie)


def lines(found: Choice, sample: Sample, down: Sequence[str] = ()) -> Iterator[str]:
    """Say what was found, a line each."""
    right, n = int(sample.labels.sum()), len(sample.labels)
    yield f"judge: agreement with {n:,} human labels ({right:,} right, {n - right:,} wrong), {CONFIDENCE:.0%} intervals"
    if sample.designed:
        yield (
            "caution: a design chose these labels (dataset.labels: designed), more of them of difficult answers; the "
            "agreement on all answers differs, and is mostly higher"
        )
    width = max(len(name) for name in [*(one.name for one in found.jurors), "majority"])
    for one in found.jurors:
        cost = "no price" if one.cost is None else f"${one.cost:,.2f} per 1,000 rows"
        seconds = "" if np.isnan(one.seconds) else f", {one.seconds:.1f} s a row"
        lost = f", {one.failed:,} rows without a vote" if one.failed else ""
        lost += " (its server is down)" if one.name in down else ""
        yield f"  {one.name:{width}}  {_share(one.accuracy)}, {cost}{seconds}{lost}"
    ties = f", {found.ties:,} ties count half" if found.ties else ""
    yield f"  {'majority':{width}}  {_share(found.panel)}{ties}"
    yield "against the majority of all:"
    for one in found.jurors:
        yield f"  {one.name:{width}}  alone {_points(one.alone)}; without it {_points(one.without)}{one.role}"


def _share(estimate: Estimate) -> str:
    return rate_interval(estimate.value, estimate.low, estimate.high) if estimate.n else "no vote"


def _points(difference: PairedDifference | None) -> str:
    if difference is None:
        return "too few rows"
    return points_interval(difference.value, difference.low, difference.high)


def _sample(options: Judge, rows: int) -> Sample:
    """Return the labelled rows with the smallest hashes of their ids."""
    if rows < FEWEST:
        raise ParamsError(f"--choose {rows}: expected {FEWEST} rows or more")
    parts, labels, groups, designed = list[pa.Table](), list[float](), list[str](), False
    for part, load in loaded_parts():
        to_judge = statuses(part, options) == STATUSES.index(ANSWERED)
        chosen = pa.array(to_judge & load["label"].is_valid().to_numpy())
        parts.append(part.filter(chosen))
        some = load.filter(chosen)
        designed = PROBABILITY in load.column_names
        labels += some["label"].cast(pa.float64()).to_pylist()
        groups += pc.coalesce(some["group"], some["id"]).to_pylist()
    if len(labels) < FEWEST:
        raise DataError(
            f"{len(labels):,} rows to judge have a human label; {FEWEST} or more are needed to choose judges: "
            "python -m flows.label --by random"
        )
    table = pa.concat_tables(parts)
    hashes = [sha256(f"choose:{row}") for row in table["id"].to_pylist()]
    first = np.sort(np.array(sorted(range(len(hashes)), key=hashes.__getitem__)[:rows]))
    return Sample(table.take(first), np.array(labels)[first], [groups[row] for row in first], designed)


def _ask(
    sample: Sample, options: Judge, ledger: Verdicts, run: RunJudge, progress: Progress
) -> Mapping[str, Exception]:
    """Ask what the ledger lacks, by single calls."""
    single = run.model_copy(update={"batch": False})

    def asked(juror: Judge) -> ModelCalls:
        def requests(parts: Iterable[pa.Table], others: Sequence[Request] = ()) -> Iterator[Request]:
            return missing(parts, juror, ledger, others=others, retry_failed=False)

        require_none_waiting(requests([sample.part]), juror, ledger)
        invented, earlier = canaries.requests(juror), EarlierReplies(ledger)
        planned = missing([sample.part], juror, ledger, others=invented, retry_failed=False, earlier=earlier)
        plan = Plan.of_judge(planned, juror, single, earlier=earlier)
        before = partial(canaries.ask, lambda: requests([], invented), juror, ledger)
        return ModelCalls(juror, plan, earlier, lambda: requests([sample.part]), before)

    jurors = [asked(one) for one in options.jurors]
    plan = PanelPlan.of([one.plan for one in jurors], options.juror_names)
    if not plan.calls:
        return {}
    say(f"judge: {plan}")
    require_confirmed(plan, run, ", or choose by fewer rows")
    return ask_models(jurors, options.juror_names, ledger, single, progress)


def _votes(sample: Sample, juror: Judge, metric: JudgeMetric, ledger: Verdicts) -> NDArray[np.float64]:
    judged = [row.judged[metric.name] for row in verdicts_of(sample.part, juror, ledger)]
    votes = np.array([[one.verdicts[0] if one.verdicts else np.nan] for one in judged])
    return votes_of(metric).scored(votes, metric.column)[:, 0]


def _entries(sample: Sample, juror: Judge, ledger: Verdicts) -> Iterator[Entry]:
    return (entry for block in entries_of(sample.part, juror, ledger) for entry in block.values())


def _cost(entries: Sequence[Entry], price: Price | None) -> float | None:
    """US dollars per 1,000 rows, as single calls."""
    counted = [entry["tokens"] for entry in entries if entry["tokens"]]
    if price is None or not counted:
        return None
    return 1000.0 * sum(price.of_tokens(tokens, by_batch=False) for tokens in counted) / len(counted)


def _of(clusters: NDArray[np.str_] | None, rows: NDArray[np.bool_]) -> NDArray[np.str_] | None:
    return None if clusters is None else clusters[rows]
