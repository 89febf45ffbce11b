"""The facts that data/load states for later stages: its candidates, labels and scores."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from goldmeter.dataset.index import RecordIndex
from goldmeter.dataset.settings import Params, ScoreMapping
from goldmeter.estimates.column_facts import SPLIT_IDS, WEIGHT, ColumnFacts, statement
from goldmeter.pipeline.hashing import sha256

# The human labels, described as a binary score column.
LABEL = ColumnFacts(
    metric="label", family="dataset", signature="label|v:1", bounds=(0.0, 1.0), rate_signature="label|v:1|pass:1"
)


class MissingTexts(NamedTuple):
    """What data/load lacks.

    answers: candidate → why answers are missing → how many. thoughts: candidate → answers without their thought.
    """

    answers: Mapping[str, Mapping[str, int]]
    thoughts: Mapping[str, int]


def description(
    params: Params,
    index: RecordIndex,
    left_out: Mapping[str, int],
    label_conflicts: Mapping[str, int],
    missing: MissingTexts,
) -> dict[str, Any]:
    """Describe data/load for later stages.

    Args:
        params: The sections `dataset` and `load`.
        index: What is known of all records.
        left_out: Joined file → entries that belong to no answer.
        label_conflicts: File of labels → answers whose labels contradict each other.
        missing: Answers, and thoughts in them, that are not in the table.
    """
    dataset = params.dataset
    labels = {"label": LABEL} if dataset.has_labels else {}
    scores = {f"score_{name}": _score_description(name, score) for name, score in dataset.scores.items()}
    scores |= {f"score_{name}": _machine_verdicts(name, one.rule) for name, one in dataset.machine_verdicts.items()}
    return {
        "candidates": {
            name: dataset.long.about.get(name, {}) if dataset.long else dataset.named[name].about
            for name in index.names
        },
        **statement(labels | scores),
        "labels": dataset.labels,
        "max_rejected": params.load.max_rejected,
        "missing_response": dataset.missing_response,
        "left_out": left_out,
        "label_conflicts": label_conflicts,
        "unanswered": dict(index.unanswered),
        **({"failed_answers": missing.answers} if missing.answers else {}),
        **({"thoughts": dict(sorted(missing.thoughts.items()))} if missing.thoughts else {}),
        **({WEIGHT: dataset.weight} if dataset.weight else {}),
        "beyond_limit": dict(index.beyond_limit),
        SPLIT_IDS: bool(dataset.long),  # records of one id may be far apart
    }


def _score_description(name: str, score: ScoreMapping) -> ColumnFacts:
    bounds = "none" if score.bounds is None else "..".join(map(_exact, score.bounds))
    by = "|by:people" if score.human else ""
    signature = f"score|name:{name}|bounds:{bounds}|better:{'higher' if score.higher_is_better else 'lower'}{by}|v:2"
    rate_signature = None
    if score.threshold is not None:
        rate_signature = f"{signature}|thr:{'>=' if score.higher_is_better else '<='}{_exact(score.threshold)}"
    return ColumnFacts(
        metric=name,
        family="dataset",
        signature=signature,
        bounds=score.bounds,
        higher_is_better=score.higher_is_better,
        options={"columns": list(score.columns)} if score.columns else {"column": score.column},
        by_people=score.human,
        threshold=score.threshold,
        rate_signature=rate_signature,
    )


def _machine_verdicts(name: str, rule: str) -> ColumnFacts:
    signature = f"verdicts|by:{name}|rule:{sha256(rule).hex()[:12]}|v:1"
    return ColumnFacts(name, "dataset", signature, (0.0, 1.0), rate_signature=f"{signature}|pass:1", by=name)


def _exact(number: float) -> str:
    """Format a number with all its digits.

    >>> _exact(1.0), _exact(0.5)
    ('1', '0.5')
    """
    return repr(float(number)).removesuffix(".0")
