"""Names of measures in params.yaml, checked against the metrics that params.yaml configures, before anything runs."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from tasks.errors import ParamsError, did_you_mean
from tasks.pipeline.dvc_yaml import stages
from tasks.scores import repeated_answers
from tasks.scores.column_facts import VALUE
from tasks.scores.columns import score_tables
from tasks.scores.human_labels import LABEL
from tasks.scores.primary import MEANING_MATCH
from tasks.scores.tables import facts_of

FAMILIES = ("lexical", "semantic")
PIPELINE = (*FAMILIES, "judge")


def check_measures(sections: Mapping[str, Any]) -> None:
    """Check the measures that sections `gate` and `report` name.

    Args:
        sections: Every section of params.yaml by name, validated.

    Raises:
        ParamsError: No configured metric gives such a measure; or none decides, for there are neither labels nor a
            judge.
    """
    names = list(dict.fromkeys(_measures(sections)))
    gate, targets = sections["gate"], sections["report"].targets
    options = {"gate.primary": [gate.primary] if gate.primary else [], "report.targets": targets}
    # What a stage that a user adds measures is known when it has run; aggregate and the comparison check it then.
    if not set(score_tables(stages()["aggregate"].tables_read)) - {*PIPELINE}:
        for option, named in options.items():
            _check_names(option, named, names)
        _check_names("gate.metrics", gate.metrics, [*names, *_by_question(sections)])
    _check_targets(targets, sections["dataset"])
    labelled = sections["dataset"].all_have_labels
    if gate.primary is None and not labelled and MEANING_MATCH not in names:
        raise ParamsError(
            "gate.primary: none, but not all candidates have labels and no judge is asked for meaning_match; name the "
            f"measure that decides: {', '.join(name for name in names if name != LABEL)}"
        )


def _measures(sections: Mapping[str, Any]) -> Iterator[str]:
    yield LABEL
    for metric in _metrics(sections):
        for name, facts in facts_of(metric, {}).items():
            yield name
            if facts.has_graded_score:
                yield f"{name}{VALUE}"
    for name, score in sections["dataset"].scores.items():
        yield f"score_{name}"
        if score.threshold is not None:
            yield f"score_{name}{VALUE}"


def _by_question(sections: Mapping[str, Any]) -> Iterator[str]:
    """pass@k and pass^k of everything with a pass rate, where questions have several answers."""
    if not sections["dataset"].has_draws:
        return
    rated = [
        LABEL,
        *(
            name
            for metric in _metrics(sections)
            for name, facts in facts_of(metric, {}).items()
            if facts.rate_signature is not None
        ),
    ]
    rated += [f"score_{name}" for name, score in sections["dataset"].scores.items() if score.threshold is not None]
    for name in rated:
        yield from repeated_answers.names(name, sections["aggregate"].pass_at)


def _metrics(sections: Mapping[str, Any]) -> Iterator[Any]:
    judge = sections["judge"]
    yield from [] if judge.provider == "none" else judge.metrics
    for family in FAMILIES:
        yield from sections[family].root.values()


def _check_names(option: str, named: Collection[str], allowed: Sequence[str]) -> None:
    for name in named:
        if name not in allowed:
            suggestion = did_you_mean(name, allowed) or ";"
            raise ParamsError(f"{option}: unknown measure {name!r}{suggestion} allowed: {', '.join(allowed)}")


def _check_targets(targets: Collection[str], dataset: Any) -> None:
    """Refuse targets for labels that nobody gave, and for scores of which less is better."""
    if LABEL in targets and not dataset.has_labels:
        raise ParamsError(f"report.targets.{LABEL}: no candidate has human labels (dataset.candidates)")
    for name, score in dataset.scores.items():
        value = f"score_{name}" if score.threshold is None else f"score_{name}{VALUE}"
        if value in targets and not score.higher_is_better:
            raise ParamsError(
                f"report.targets.{value}: less of it is better, and a target is a minimum; give the score a threshold, "
                f"and its pass rate score_{name} a target"
            )
