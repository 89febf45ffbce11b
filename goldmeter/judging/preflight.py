"""Preflight, before any stage runs: the judge calls of the next run, and the band of a cascade by human labels."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.asking.batch_dispatch import waiting
from goldmeter.asking.requests import EarlierReplies, Request
from goldmeter.console.terminal import say
from goldmeter.dataset.preflight import loaded_parts, parts
from goldmeter.errors import DataError, ModelError, ParamsError
from goldmeter.judging import canaries
from goldmeter.judging.cascade import Division, decided, estimated
from goldmeter.judging.plan import Decided, PanelPlan, Plan, Savings
from goldmeter.judging.preference import about_pairs
from goldmeter.judging.rows import missing
from goldmeter.judging.settings import API_KEY_SETTING, SERVER_PROVIDERS, Judge
from goldmeter.judging.statuses import ANSWERED, STATUSES, statuses
from goldmeter.judging.stopping import decided_before
from goldmeter.ledger import root
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.metrics.base import Floats
from goldmeter.models.servers import ApiKey
from goldmeter.pipeline import params
from goldmeter.pipeline.dvc_yaml import LEDGER
from goldmeter.statistics.threshold import RiskBand, Side, fewest_decided, risk_band


def plan_next_run(*, retry_failed: bool = False) -> Plan | PanelPlan | None:
    """Plan the next run from the user's records, independent of existing tables; None if no server is asked.

    Raises: as the stages load and normalize.
    """
    options, run = params.for_stage("judge").judge, params.run_params().judge
    if not options.asks_server:
        return None
    is_cascade = options.provider == "cascade"
    divided = [_divided(part, load["label"], options) for part, load in loaded_parts()] if is_cascade else []
    division = Division(parts, (lambda: [one.verdicts for one in divided]) if is_cascade else None)
    with Verdicts(root() / "judge") as ledger:
        ledger.take_in(Path(LEDGER, "judge"))
        if options.stop and not params.for_stage("load").dataset.asked:  # else the stage answer stops
            options = decided_before(division, options, ledger, run)

        def plan(
            juror: Judge,
            rows: Iterable[pa.Table],
            others: Iterable[Request] = (),
            more: Iterable[Iterable[Request]] = (),
        ) -> Plan:
            earlier, again = EarlierReplies(ledger), retry_failed
            requests = missing(rows, juror, ledger, others=others, more=more, retry_failed=again, earlier=earlier)
            return Plan.of_judge(requests, juror, run, waiting(juror, ledger), earlier)

        plans = [
            plan(juror, division.by_language_model(), canaries.requests(juror), about_pairs(division.parts(), juror))
            for juror in options.jurors
        ]
        if not is_cascade:
            return PanelPlan.of(plans, options.juror_names)
        rows, saved = sum(one.rows for one in divided), sum((one.decided for one in divided), Decided())
        return replace(plans[0], savings=Savings(rows, saved, plan(options, division.by_offline_judge())))


class _Divided(NamedTuple):
    """One part. verdicts: of the offline judge, NaN where it does not decide, shape (n,). rows: rows to judge."""

    verdicts: Floats
    rows: int
    decided: Decided


def _divided(part: pa.Table, labels: pa.ChunkedArray, options: Judge) -> _Divided:
    judged = estimated(part, options)
    verdicts, to_judge = decided(judged, options.band), statuses(part, options) == STATUSES.index(ANSWERED)
    passes, fails = (verdicts == 1.0) & to_judge, (verdicts == 0.0) & to_judge
    is_right, is_wrong = (pc.equal(labels, label).fill_null(False).to_numpy() for label in (True, False))  # noqa: FBT003
    labelled = is_right | is_wrong
    counts = (passes & labelled, passes & is_right, fails & labelled, fails & is_wrong)
    rows = Decided(int((passes | fails).sum()), *(int(rows.sum()) for rows in counts))
    return _Divided(verdicts, int(to_judge.sum()), rows)


def show() -> None:
    """Print the plan of the next run."""
    plan = plan_next_run()
    if plan is None:
        say("judge: no call: judge.provider asks no server")
        return
    no_call = f"{plan.waiting:,} requests are in batches at work" if plan.waiting else "the ledger has every verdict"
    most = "at most " if params.option("judge", "stop") else ""
    say(f"judge: {most}{plan}" if plan.calls else f"judge: no call: {no_call}")
    if plan.savings:
        say(f"judge: {plan.savings}")
    if plan.key and plan.calls:
        say(f"set the environment variable {plan.key} to the key (judge.api_key_env)")


def require_key(*, retry_failed: bool) -> None:
    """Raise ModelError if calls are missing and the key is not set."""
    if params.option("judge", "provider") not in SERVER_PROVIDERS:
        return
    options = {"api_key_env": params.option("judge", "api_key_env"), "panel": params.option("judge", "panel")}
    named = [options, *(one for one in options.get("panel") or () if isinstance(one, dict))]
    if not any(ApiKey(one.get("api_key_env"), API_KEY_SETTING).is_unset for one in named):
        return
    plan = plan_next_run(retry_failed=retry_failed)
    if plan and plan.calls + plan.waiting and plan.key:
        raise ModelError(
            f"judge: {plan}; set the environment variable {plan.key} (judge.api_key_env) to the key, "
            "or judge.provider to offline"
        )


class _Labelled(NamedTuple):
    """The rows of a part that a cascade could let the offline judge decide, n, of which some have a label.

    p: probabilities, shape (n,). labels: 1, 0, NaN without one, shape (n,). groups: of rows that belong together.
    """

    p: NDArray[np.float64]
    labels: NDArray[np.float64]
    groups: list[str]


def show_band(share: float) -> None:
    """Learn the band from the labels of the user's records, and print it for params.yaml.

    Raises:
        ParamsError: The share is out of range, or the labels are no random part of the rows.
        DataError: The labels do not show that the offline judge is right often enough anywhere.
    """
    if not 0.0 < share < 0.5:  # noqa: PLR2004 (a coin)
        raise ParamsError(f"--band {share:g}: expected a share above 0 and below 0.5, such as 0.02")
    options, dataset = params.for_stage("judge").judge, params.for_stage("load").dataset
    if dataset.labels in {"designed", "other"}:
        raise ParamsError(
            f"dataset.labels: {dataset.labels}: a band is learnt from labels of all rows, or of rows chosen with equal "
            "chances; python -m flows.label --by random chooses such"
        )
    parts = [_labelled(part, load, options) for part, load in loaded_parts()]
    p, labels = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    known = ~np.isnan(labels)
    if dataset.labels == "all" and not known.all():
        raise ParamsError(
            f"dataset.labels: all, but {np.count_nonzero(~known):,} of {len(p):,} answers that the offline judge could "
            "decide have no label; set it to random if the others were chosen with equal chances"
        )
    groups = [group for part in parts for group in part.groups]
    clusters = [group for group, is_known in zip(groups, known, strict=True) if is_known]
    _print_band(risk_band(p[known], labels[known], share, clusters), share, p, int(known.sum()))


def _print_band(band: RiskBand, share: float, p: NDArray[np.float64], labelled: int) -> None:
    """Print a band, and what it leaves to the language model of answers with these probabilities."""
    sides = [
        _side("passes", f"above {band.high:g}", band.passes) if band.high < 1.0 else _none("passes", band.passes),
        _side("fails", f"below {band.low:g}", band.fails) if band.low > 0.0 else _none("fails", band.fails),
    ]
    if (band.low, band.high) == (0.0, 1.0):
        raise DataError(
            f"judge.band: {labelled:,} labels do not show that the offline judge is wrong in at most {share:.3g} of "
            f"any answers. It {'; it '.join(sides)}. {fewest_decided(share):,} independent labelled answers on one "
            "side are needed, and more if it is wrong on some: label more (python -m flows.label --by random), or "
            "allow a larger share"
        )
    decided = (p < band.low) | (p > band.high)
    say(
        f"judge: with 95 % confidence at most {100 * share:.3g} % of what the offline judge decides is wrong, on "
        f"answers like the {labelled:,} labelled ones"
    )
    for side in sides:
        say(f"  it {side}")
    say(
        f"  the language model judges {1.0 - decided.mean():.0%} of {len(p):,} answers, and those outside of the domain"
    )
    say(f"in section judge of params.yaml:\n  band: [{band.low:g}, {band.high:g}]")


def _labelled(part: pa.Table, load: pa.Table, options: Judge) -> _Labelled:
    judged = estimated(part, options)
    in_domain = np.array([reason is None for reason in judged.outside], np.bool_)
    to_judge = statuses(part, options) == STATUSES.index(ANSWERED)
    rows = in_domain & to_judge & ~np.isnan(judged.probabilities)
    some = load.filter(pa.array(rows))
    labels = some["label"].cast(pa.float64()).fill_null(np.nan).to_numpy()
    groups = pc.coalesce(some["group"], some["id"]).to_pylist()
    return _Labelled(judged.probabilities[rows], labels, groups)


def _side(verb: str, limit: str, side: Side) -> str:
    return (
        f"{verb} {side.n:,} labelled answers, those {limit}, of which {side.wrong:,} "
        f"{'is' if side.wrong == 1 else 'are'} wrong: at most {100 * side.high:.2g} % of all such"
    )


def _none(verb: str, side: Side) -> str:
    return f"{verb} none: of the {side.n:,} labelled answers where it is surest it is wrong on {side.wrong:,}"
