"""Estimates as rows of data/aggregate, and as entries of reports/metrics.json with what human labels say."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.estimates import estimates, human_labels, labelled_rate, metrics_report, rater_agreement
from goldmeter.estimates.columns import Candidate, judged_probabilities, probability_columns
from goldmeter.estimates.estimates import rounded
from goldmeter.estimates.judge_calibration import Probabilities
from goldmeter.estimates.metrics_report import Candidates, MetricEntry, PreferenceEntry
from goldmeter.estimates.preferences import win_rates
from goldmeter.estimates.primary import VERDICT
from goldmeter.estimates.score_parts import SecondSums
from goldmeter.estimates.sums import CandidateSums, ColumnSums
from goldmeter.metrics.base import NOT_SAMPLED
from goldmeter.pipeline.tables import Parts
from goldmeter.statistics import Estimate, Method

Row = dict[str, Any]
BY_LOOKS = "confidence sequence (judge.stop)"
NO_INTERVAL = "no interval: the judge stopped when the rate of all rows was decided"


def estimate_rows(
    scored: Sequence[CandidateSums], second: SecondSums, confidence: float, *, guarantee: bool
) -> Iterator[Row]:
    """Estimate every metric of every candidate, over all rows and over each slice.

    Args:
        scored: The candidates.
        second: What depends on their sums.
        confidence: Of the intervals.
        guarantee: Whether coverage never falls below it.
    """
    how = _How(second, confidence, guarantee)
    for candidate in scored:
        for place, column in enumerate(candidate.columns):
            yield {"candidate": candidate.name} | how.row(column, candidate.name, (None, None))
            for name, values in candidate.slices.items():
                for value, columns in values.items():
                    labels = {"candidate": candidate.name, "slice": name, "slice_value": value}
                    yield labels | how.row(columns[place], candidate.name, (name, value))


def with_designed(
    rows: Sequence[Row], whole: Sequence[Candidate], probabilities: Probabilities, confidence: float, *, guarantee: bool
) -> list[Row]:
    """The rows with the estimates of human labels that a design chose, instead of the labels' plain means."""
    known = {
        (candidate.name, name, value): estimate
        for candidate in whole
        for name, value, estimate in labelled_rate.designed_estimates(
            candidate, probabilities.p[candidate.positions], confidence
        )
    }
    notes = [estimates.NO_GUARANTEE] if guarantee else []
    return [
        row | _designed(known[row["candidate"], row.get("slice"), row.get("slice_value")], notes)
        if row["metric"] == human_labels.LABEL
        else row
        for row in rows
    ]


def _designed(estimate: Estimate, notes: Sequence[str]) -> Row:
    value = _finite(estimate.value)
    return {
        **dict.fromkeys(("value", "worst", "best", "pass_value"), value),
        "low": estimate.low,
        "high": estimate.high,
        "method": estimate.method.with_notes(*notes),
        "pass_low": estimate.low,
        "pass_high": estimate.high,
    }


def with_stopped(rows: Sequence[Row], stopped: metrics_report.StoppedEntry | None) -> list[Row]:
    """The rows with the limits of a judge that may stop early, which hold at every look; stopped: what it states.

    Other numbers have no interval if it stopped: one of a fixed number of rows would be too narrow. These are those of
    slices and, if systems with a model were asked for no more answers, either, of all other measures.
    """
    if stopped is None:
        return [*rows]
    is_of_all = "answers_left" in stopped
    return [row | _by_looks(row, stopped) if is_of_all or row["metric"] in stopped["limits"] else row for row in rows]


def _by_looks(row: Row, stopped: metrics_report.StoppedEntry) -> Row:
    rate = {"pass_low": 0.0, "pass_high": 1.0} if "pass_value" in row else {}
    nothing = {"low": row["lower_bound"], "high": row["upper_bound"], **rate}
    if row.get("slice") is not None or row["metric"] not in stopped["limits"]:
        return nothing | {"method": Method(NO_INTERVAL)} if stopped["rows_left"] else {}
    limits = stopped["limits"][row["metric"]][row["candidate"]]
    (low, high), (pass_low, pass_high) = limits["value"], limits.get("passing", (0.0, 1.0))
    own = {"low": low, "high": high, "pass_low": pass_low, "pass_high": pass_high}
    return own | {"method": Method(BY_LOOKS)}


class _How(NamedTuple):
    """How columns are estimated. guarantee: whether coverage never falls below the confidence."""

    second: SecondSums
    confidence: float
    guarantee: bool

    def row(self, column: ColumnSums, candidate: str, where: tuple[str | None, str | None]) -> Row:
        """Estimate one column of a candidate over some rows, given their sums.

        where: slice column and value, if any.
        """
        place = (*where, column.name)
        estimate = estimates.estimate(
            column,
            self.second.replicates[candidate].get(place),
            self.confidence,
            deviations=self.second.deviations[candidate].get(place),
            guarantee=self.guarantee,
        )
        low, high = column.facts.bounds or (None, None)
        n, failed = column.n_measured, column.n_rows - column.n_measured - column.not_asked
        return {
            "metric": column.name,
            **{name: _finite(getattr(estimate, name)) for name in ("value", "low", "high")},
            "method": estimate.method,
            "rows": column.n_rows,
            "n": n,
            "n_not_asked": column.not_asked,
            "n_failed": failed,
            "worst": _with_failed(estimate.value, n, low, failed, min),
            "best": _with_failed(estimate.value, n, high, failed, max),
            "lower_bound": low,
            "upper_bound": high,
            "failed_share": failed / (n + failed) if n + failed else 0.0,
            "signature": column.facts.signature,
            **self._pass_rate(column),
        }

    def _pass_rate(self, column: ColumnSums) -> Row:
        if column.passed is None:
            return {}
        rate = estimates.pass_rate(column, self.confidence, guarantee=self.guarantee)
        return {
            "pass_value": _finite(rate.value),
            "pass_low": rate.low,
            "pass_high": rate.high,
            "threshold": column.facts.threshold,
            "rate_signature": column.facts.rate_signature,
        }


def _with_failed(
    value: float, n: int, score: float | None, failed: int, outermost: Callable[[float, float], float]
) -> float | None:
    """The value if every failed row had the score `score`; None without asked rows, or without bounds."""
    if n == 0:
        return score if failed else None
    if failed == 0:
        return _finite(value)
    return None if score is None else outermost(value, (value * n + score * failed) / (n + failed))


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


# Columns that an entry of reports/metrics.json repeats, in its order.
REPEATED = ("value", "low", "high", "n", "n_not_asked", "n_failed", "worst", "best", "method", "signature")


def tree(table: pa.Table) -> Candidates:
    """Arrange the table as candidate → metric → numbers, rounded to 6 decimals."""
    candidates: Candidates = {}
    for row in table.to_pylist():
        metrics = candidates.setdefault(row["candidate"], {})
        if row["slice"] is None:
            metrics[row["metric"]] = _entry(row)
        else:
            slices = metrics[row["metric"]].setdefault("slices", {})
            slices.setdefault(row["slice"], {})[row["slice_value"]] = _entry(row)
    return candidates


def summary(table: pa.Table, preference: PreferenceEntry | None = None) -> dict[str, dict[str, float]]:
    """Return reports/summary.json: candidate → metric → value to 4 significant digits, nothing else.

    With preferences, also win rates such as `preferred_over.aurora`.

    A metric with a threshold also has `<metric>.pass`, its pass rate, so that DVC shows what a threshold changes.
    """
    values: dict[str, dict[str, float]] = {}
    for row in table.to_pylist():
        if row["slice"] is None and row["value"] is not None:
            named = {row["metric"]: row["value"]}
            if row["threshold"] is not None and row["pass_value"] is not None:
                named[f"{row['metric']}.pass"] = row["pass_value"]
            values.setdefault(row["candidate"], {}).update((name, float(f"{n:.4g}")) for name, n in named.items())
    for candidate, rates in win_rates(preference).items():
        own = values.setdefault(candidate, {})
        own |= {name: float(f"{one['value']:.4g}") for name, one in rates.items() if one["value"] is not None}
    return values


def _entry(row: dict[str, Any]) -> MetricEntry:
    entry: MetricEntry = rounded({name: row[name] for name in REPEATED})
    if row["pass_low"] is not None:
        rate = rounded({name: row[f"pass_{name}"] for name in ("value", "low", "high")})
        entry["pass_rate"] = rate | {"threshold": row["threshold"], "signature": row["rate_signature"]}
    return entry


def with_labels(
    tree: metrics_report.Candidates,
    labels: Sequence[Candidate],
    fitted: Mapping[str, float],
    confidence: float,
    in_sample: Callable[[], metrics_report.InSampleEntry | None] | None,
) -> metrics_report.Candidates:
    """Add to the entries their agreement with human labels; labels: the candidates' labelled rows.

    Metrics whose threshold was fitted on these labels are skipped: their agreement would be optimistic; `thresholds`
    holds a cross-validated figure. in_sample: returns what to say of the agreement of the offline judge.
    """
    for candidate in labels:
        for column in candidate.columns:
            if column.name in fitted or not (agreement := human_labels.agreement(candidate, column, confidence)):
                continue
            entry = tree[candidate.name][column.name]
            entry["agreement"] = rounded(agreement)
            if column.name == VERDICT and in_sample and (seen := in_sample()):
                entry["agreement"]["in_sample"] = rounded(seen)
    return tree


def with_few(
    tree: metrics_report.Candidates,
    scored: Sequence[CandidateSums],
    whole: Callable[[], Sequence[Candidate]],
    probabilities: Callable[[], Probabilities],
    confidence: float,
) -> metrics_report.Candidates:
    """Add to the entries estimates from few labels or verdicts, and scores of all rows."""
    wanted = {
        (candidate.name, column.name)
        for candidate in scored
        for column in candidate.columns
        if (
            column.name == human_labels.LABEL
            and candidate.labels_random
            and (candidate.labels_designed or 0 < column.n_measured < column.n_rows)
        )
        or (column.facts.family == "judge" and column.n_measured and column.not_asked)
        or (
            column.facts.by_people
            and candidate.labels_random
            and not candidate.labels_designed
            and 0 < column.n_measured < column.n_rows
        )
    }
    if not wanted:
        return tree
    found = probabilities()
    for candidate in whole():
        p, unsampled = found.p[candidate.positions], found.unsampled[candidate.positions]
        for column in candidate.columns:
            if (candidate.name, column.name) not in wanted:
                continue
            if column.name == human_labels.LABEL:
                ppi = labelled_rate.prediction_powered(candidate, p, confidence, random=candidate.labels_random)
            elif column.facts.by_people:
                ppi = rater_agreement.graded_prediction_powered(candidate, column, p, confidence)
            else:
                ppi = human_labels.prediction_powered_judge(candidate, column, p[:, 0], unsampled, confidence)
            if ppi:
                tree[candidate.name][column.name]["ppi"] = rounded(ppi)
    return tree


def probabilities_of(judge: Parts) -> Probabilities:
    """The probabilities that answers are right, by the offline judge, and by another judge that states some."""
    if not probability_columns(judge):
        nothing = np.full((judge.rows, 1), np.nan)
        return Probabilities(nothing, np.zeros(judge.rows, dtype=np.bool_))
    unsampled = pc.equal(judge.whole(["judge_status"])["judge_status"], NOT_SAMPLED).to_numpy(zero_copy_only=False)
    return Probabilities(judged_probabilities(judge), np.asarray(unsampled, dtype=np.bool_))
