"""Names of measures in params.yaml, checked against the metrics that params.yaml configures, before anything runs."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tasks.errors import ParamsError, did_you_mean
from tasks.scores.column_facts import VALUE
from tasks.scores.human_labels import LABEL
from tasks.scores.primary import MEANING_MATCH
from tasks.scores.tables import facts_of

FAMILIES = ("lexical", "semantic")


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
    options = {"gate.primary": [gate.primary] if gate.primary else [], "gate.metrics": gate.metrics}
    for option, named in (options | {"report.targets": targets}).items():
        for name in named:
            if name not in names:
                suggestion = did_you_mean(name, names) or ";"
                raise ParamsError(f"{option}: unknown measure {name!r}{suggestion} allowed: {', '.join(names)}")
    _check_targets(targets, sections["dataset"])
    labelled = sections["dataset"].all_have_labels
    if gate.primary is None and not labelled and MEANING_MATCH not in names:
        raise ParamsError(
            "gate.primary: none, but not all candidates have labels and no judge is asked for meaning_match; name the "
            f"measure that decides: {', '.join(name for name in names if name != LABEL)}"
        )


def _measures(sections: Mapping[str, Any]) -> Iterator[str]:
    yield LABEL
    judge = sections["judge"]
    judged = [] if judge.provider == "none" else judge.metrics
    for metric in [*judged, *(metric for family in FAMILIES for metric in sections[family].root.values())]:
        for name, facts in facts_of(metric, {}).items():
            yield name
            if facts.has_graded_score:
                yield f"{name}{VALUE}"
    for name, score in sections["dataset"].scores.items():
        yield f"score_{name}"
        if score.threshold is not None:
            yield f"score_{name}{VALUE}"


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
