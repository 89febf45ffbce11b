"""A panel of judges: the votes of several jurors on a row become one verdict, and none of them is lost."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from goldmeter.estimates.verdict_columns import JURORS, VOTES, Votes
from goldmeter.judging.rows import Judged, RowVerdicts, table_of_verdicts, verdicts_of
from goldmeter.judging.settings import Judge
from goldmeter.judging.statuses import ANSWERED, FAILED, NO_FAILURE
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.metrics.base import Floats
from goldmeter.metrics.judged import JudgeMetric
from goldmeter.models import offline


def votes_of(metric: JudgeMetric) -> Votes:
    """Return what the votes on a metric mean."""
    of_label = metric.verdict.pass_above is not None and bool(metric.verdict.parts)
    numbers = range(len(metric.verdict.parts))
    scores = [metric.verdict.scores([float(number)]) for number in numbers] if of_label else None
    return Votes(
        {name: None if scores is None else [row[i] for row in scores] for i, name in enumerate(metric.columns)},
        is_majority=metric.verdict.pass_above is not None,
        is_correctness=metric.is_correctness,
    )


def panel_facts(options: Judge) -> dict[str, Any]:
    """What the metadata of data/judge says of a panel; nothing without one."""
    if options.panel is None:
        return {}
    meaning = {metric.name: votes_of(metric).to_json() for metric in options.metrics}
    return {JURORS: [*options.juror_names], VOTES: meaning}


def pooled(ids: Sequence[str], by_juror: Sequence[Sequence[RowVerdicts]], options: Judge) -> list[RowVerdicts]:
    """Return the verdicts of a panel; by_juror: those of each juror on the same rows."""
    judged: list[dict[str, Judged]] = [{} for _ in ids]
    for metric in options.metrics:
        own = [[row.judged[metric.name] for row in rows] for rows in by_juror]
        votes = np.array([[one.verdicts[0] if one.verdicts else np.nan for one in juror] for juror in own]).T
        meaning = votes_of(metric)
        scores = meaning.scores(votes)
        for place, row in enumerate(zip(*own, strict=True)):
            judged[place][metric.name] = _verdict(metric, row, scores[place], options.juror_names)
    return [RowVerdicts.of(one, options) for one in judged]


def panel_signature(options: Judge, metric: JudgeMetric) -> dict[str, object]:
    """What the signature of a metric says of a panel; nothing without one."""
    if options.panel is None:
        return {}
    meaning = votes_of(metric)
    return {"panel": len(options.panel), "vote": "majority" if meaning.is_majority else "mean"}


def panel_table(
    part: pa.Table,
    options: Judge,
    ledger: Verdicts,
    estimates: offline.Judged,
    *,
    missing: Counter[tuple[str, str]],
) -> pa.Table:
    """Build the table of one part from the votes of a panel in the ledger.

    estimates: the offline judge's verdicts of its rows. missing: votes that lack are added to it.
    """
    judged = verdicts_on(part, options, ledger)
    missing.update(missing_votes(judged))
    return table_of_verdicts(part, options, judged, estimates)


def verdicts_on(part: pa.Table, options: Judge, ledger: Verdicts) -> list[RowVerdicts]:
    """Return the verdicts of a panel, or of the single judge, on the rows of a part."""
    by_juror = [verdicts_of(part, juror, ledger) for juror in options.jurors]
    return pooled(part["id"].to_pylist(), by_juror, options) if options.panel else by_juror[0]


def missing_votes(judged: Sequence[RowVerdicts]) -> Counter[tuple[str, str]]:
    """Count the votes that lack, by juror and reason, of rows that have a vote of another one."""
    found = Counter[tuple[str, str]]()
    for row in judged:
        for one in row.judged.values():
            found.update(one.without_vote)
    return found


def missing_lines(missing: Mapping[tuple[str, str], int], options: Judge) -> Iterator[str]:
    """Say how many votes of each juror lack, and why mostly."""
    for name in options.juror_names:
        reasons = Counter({reason: count for (juror, reason), count in missing.items() if juror == name})
        if reasons:
            [(reason, _)] = reasons.most_common(1)
            yield f"{reasons.total():,} votes of {name} are missing, and the other judges decided without it: {reason}"


def _verdict(metric: JudgeMetric, row: Sequence[Judged], scores: Floats, names: Sequence[str]) -> Judged:
    """Return the verdict of a panel on one row; scores: of the metric's columns."""
    problems = [(name, one.problem or one.status) for name, one in zip(names, row, strict=True) if not one.verdicts]
    voted = [one for one in row if one.verdicts]
    if not voted:
        failed = [f"{name}: {problem}" for name, problem in problems if problem not in NO_FAILURE]
        status = FAILED if failed and any(one.status == FAILED for one in row) else row[0].status
        return Judged(status, problem="; ".join(failed) or None) if status == FAILED else row[0]
    agreeing = [one for one in voted if metric.verdict.scores(one.verdicts)[0] == scores[0]] or voted
    typical = metric.verdict.typical([one.verdicts[0] for one in agreeing])
    chosen = next((one for one in agreeing if one.verdicts[0] == typical), agreeing[0])
    same = sum(one.verdicts[0] == chosen.verdicts[0] for one in voted)
    share = "" if same == len(voted) else f"{same} of {len(voted)} judges: "
    return Judged(
        ANSWERED,
        [one.verdicts[0] for one in voted],
        f"{share}{chosen.reason}",
        chosen.facts,
        met=_met([one.met for one in voted if one.met is not None]),
        pooled=tuple(scores.tolist()),
        votes=[one.verdicts[0] if one.verdicts else None for one in row],
        without_vote=tuple(problems),
    )


def _met(jurors: Sequence[Sequence[float]]) -> list[float] | None:
    """Of each criterion the share of jurors who call it met; None without criteria."""
    return np.mean(jurors, axis=0).tolist() if jurors else None
