"""Measures: what is compared of a candidate, a metric's pass rate or its value; and their names in params.yaml."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.errors import ParamsError, unknown
from goldmeter.estimates import repeated_answers
from goldmeter.estimates.column_facts import VALUE, resource_measures
from goldmeter.estimates.columns import Candidate, ScoreColumn, score_tables
from goldmeter.estimates.primary import PREFERRED_OVER, VERDICT, Maximum
from goldmeter.estimates.tables import facts_of
from goldmeter.metrics.base import Floats
from goldmeter.metrics.catalogue import check_columns
from goldmeter.pipeline.dvc_yaml import stages

Bounds = tuple[float, float]
# The measure of human labels.
LABEL = "label"


class Measure(NamedTuple):
    """One number of a candidate, and the rows that it is made from."""

    name: str
    kind: Literal["rate", "mean", "corpus"]
    column: ScoreColumn

    @property
    def signature(self) -> str:
        """How the number was made; must be equal in both versions."""
        return (self.column.facts.rate_signature if self.kind == "rate" else None) or self.column.facts.signature

    @property
    def higher_is_better(self) -> bool:
        """Whether more of it is better; passing always is."""
        return self.kind == "rate" or self.column.facts.higher_is_better

    @property
    def has_direction(self) -> bool:
        """Whether a difference is better or worse, and not only a difference."""
        return self.kind == "rate" or self.column.facts.has_direction

    @property
    def bounds(self) -> Bounds | None:
        """Smallest and largest possible value; None where they are unknown."""
        return (0.0, 1.0) if self.kind == "rate" else self.column.facts.bounds

    @property
    def is_share(self) -> bool:
        """Whether it is a share of answers or questions: written in percent, its differences in percentage points.

        Scores of a metric, also those from 0 to 1, are written as they are, on cards and in every table.
        """
        return self.kind == "rate" or repeated_answers.parsed(self.name) is not None

    @property
    def scale(self) -> float:
        """The width of the bounds, 1 without bounds: margins are shares of it."""
        return 1.0 if self.bounds is None else self.bounds[1] - self.bounds[0]

    @property
    def without_rows(self) -> "Measure":
        """What the measure is, without the rows."""
        return self._replace(column=self.column.rows(np.empty(0, np.intp)))

    def with_value(self, rows: NDArray[np.intp], value: float) -> "Measure":
        """The measure with a value of these rows; of a pass rate, 1 or 0."""
        values, passed = self.column.values.copy(), self.column.passed
        values[rows] = value
        if passed is not None:
            passed = passed.copy()
            passed[rows] = value > 0.0
        return self._replace(column=replace(self.column, values=values, passed=passed))

    @property
    def values(self) -> Floats:
        """The value of each row, NaN where unmeasured; shape (n,)."""
        if self.kind == "rate" and self.column.passed is not None:
            return np.where(np.isnan(self.column.values), np.nan, self.column.passed.astype(np.float64))
        return self.column.values


def measures(candidate: Candidate) -> dict[str, Measure]:
    """Every measure of a candidate by its name: `f1` is the pass rate of f1, `f1.value` its value.

    Of a metric without a pass rate, such as `rouge_recall`, the name alone is the value.
    """
    return {measure.name: measure for column in candidate.columns for measure in _of(column)}


def without_threshold(candidate: Candidate) -> list[str]:
    """The pass rates that a candidate lacks because its threshold is not fitted yet."""
    return [column.name for column in candidate.columns if column.facts.awaits_threshold]


def _of(column: ScoreColumn) -> Iterator[Measure]:
    value = Measure(column.name, "mean" if column.stats is None else "corpus", column)
    if column.facts.awaits_threshold:  # its name alone is the pass rate that it lacks
        yield value._replace(name=f"{column.name}{VALUE}")
        return
    if column.passed is None:
        yield value
        return
    yield value._replace(kind="rate")
    yield value._replace(name=f"{column.name}{VALUE}")


FAMILIES = ("lexical", "semantic")
PIPELINE = (*FAMILIES, "judge")


def check_measures(sections: Mapping[str, Any]) -> None:
    """Check the measures that sections `gate` and `report` name.

    Args:
        sections: Every section of params.yaml by name, validated.

    Raises:
        ParamsError: No configured metric gives such a measure; none decides, for there are neither labels nor a judge;
            or two have a column in common.
    """
    check_columns({f"{path}.{metric.name}": metric for path, metric in _metrics(sections)})
    names = list(dict.fromkeys(_measures(sections)))
    gate, targets = sections["gate"], sections["report"].targets
    compared = [name for name in targets if name.startswith(PREFERRED_OVER)]
    _check_win_rates(compared, sections)
    taken = resource_measures(sections["dataset"].resources)
    _check_maxima(targets, taken)
    others = [name for name in targets if name not in [*compared, *taken]]
    options = {"gate.primary": [gate.primary] if gate.primary else [], "report.targets": others}
    # What a stage that a user adds measures is known when it has run; aggregate and the comparison check it then.
    if not set(score_tables(stages()["aggregate"].tables_read)) - {*PIPELINE}:
        for option, named in options.items():
            _check_names(option, named, [*names, *(taken if option == "report.targets" else [])])
        _check_names("gate.metrics", gate.metrics, [*names, *_by_question(sections), *taken])
    _check_directions([*options["gate.primary"], *gate.metrics], sections)
    _check_targets(targets, sections)
    labelled = sections["dataset"].all_have_labels
    if gate.primary is None and not labelled and VERDICT not in names:
        raise ParamsError(
            f"gate.primary: none, but not all candidates have labels and no judge is asked for {VERDICT}; name the "
            f"measure that decides: {', '.join(name for name in names if name != LABEL)}"
        )


def _measures(sections: Mapping[str, Any]) -> Iterator[str]:
    yield LABEL
    for _, metric in _metrics(sections):
        for name, facts in facts_of(metric, {}).items():
            yield name
            if facts.has_graded_score:
                yield f"{name}{VALUE}"
    for name, score in sections["dataset"].scores.items():
        yield f"score_{name}"
        if score.threshold is not None:
            yield f"score_{name}{VALUE}"
    yield from (f"score_{name}" for name in sections["dataset"].machine_verdicts)


def _by_question(sections: Mapping[str, Any]) -> Iterator[str]:
    """pass@k and pass^k of everything with a pass rate, where questions have several answers."""
    if not sections["dataset"].has_draws:
        return
    rated = [
        LABEL,
        *(
            name
            for _, metric in _metrics(sections)
            for name, facts in facts_of(metric, {}).items()
            if facts.rate_signature is not None
        ),
    ]
    rated += [f"score_{name}" for name, score in sections["dataset"].scores.items() if score.threshold is not None]
    rated += [f"score_{name}" for name in sections["dataset"].machine_verdicts]
    for name in rated:
        yield from repeated_answers.names(name, sections["aggregate"].pass_at)


def _metrics(sections: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every metric that is computed, with the path of the section that lists it."""
    judge = sections["judge"]
    yield from (("judge.metrics", metric) for metric in ([] if judge.provider == "none" else judge.metrics))
    for family in FAMILIES:
        yield from ((family, metric) for metric in sections[family].root.values())


def _check_names(option: str, named: Collection[str], allowed: Sequence[str]) -> None:
    for name in named:
        if name not in allowed:
            raise ParamsError(f"{option}: {unknown('measure', name, allowed)}")


def _check_win_rates(named: Sequence[str], sections: Mapping[str, Any]) -> None:
    """Check targets of win rates: what is asked for, and the candidates where params.yaml names them."""
    chosen, dataset = sections["judge"].preference, sections["dataset"]
    if named and chosen is None:
        raise ParamsError(f"report.targets.{named[0]}: no preference is asked for (judge.preference)")
    known = [*(dataset.long.only if dataset.long else dataset.named)]
    if named and not isinstance(chosen.pairs, str):
        known = sorted({name for pair in chosen.pairs for name in pair})
    if known:
        _check_names("report.targets", named, [f"{PREFERRED_OVER}{name}" for name in known])


def _check_maxima(targets: Mapping[str, float | Maximum], taken: Collection[str]) -> None:
    """Refuse minima of what answers take, and maxima of anything else."""
    for name, target in targets.items():
        if name in taken and not isinstance(target, Maximum):
            raise ParamsError(f"report.targets.{name}: less of it is better; expected a maximum, such as {{max: 2.0}}")
        if isinstance(target, Maximum) and name not in taken:
            allowed = ", ".join(taken) or "none, as dataset.candidates names no column of them"
            raise ParamsError(f"report.targets.{name}: max is for latency, tokens and cost; allowed: {allowed}")


def _check_directions(named: Sequence[str], sections: Mapping[str, Any]) -> None:
    """Refuse measures of which neither more nor less is better in the gate."""
    for _, metric in _metrics(sections):
        for name, facts in facts_of(metric, {}).items():
            value = f"{name}{VALUE}" if facts.has_graded_score else name
            if not facts.has_direction and value in named:
                raise ParamsError(
                    f"gate: neither more nor less of {value} is better, so that nothing can be worse by it; give the "
                    f"metric a threshold, and name its pass rate, {metric.column}"
                )


def _check_targets(targets: Collection[str], sections: Mapping[str, Any]) -> None:
    """Refuse targets for labels that nobody gave, and for scores of which less is better."""
    dataset = sections["dataset"]
    if LABEL in targets and not dataset.has_labels:
        raise ParamsError(f"report.targets.{LABEL}: no candidate has human labels (dataset.candidates)")
    facts = {name: one for _, metric in _metrics(sections) for name, one in facts_of(metric, {}).items()}
    falling = {name: one.has_graded_score for name, one in facts.items() if not one.higher_is_better}
    falling |= {
        f"score_{name}": score.threshold is not None
        for name, score in dataset.scores.items()
        if not score.higher_is_better
    }
    for name, has_rate in falling.items():
        value = f"{name}{VALUE}" if has_rate else name
        if value in targets:
            raise ParamsError(
                f"report.targets.{value}: less of it is better, and a target is a minimum; give the score a threshold, "
                f"and its pass rate {name} a target"
            )
