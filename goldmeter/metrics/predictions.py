"""Accuracy of predictions against one reference each, in one call, as other toolkits offer it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from goldmeter.metrics.aliases import accepts_aliases
from goldmeter.metrics.lexical.accuracy import EXACT, Accuracy, Match


@accepts_aliases(response="predictions", references="references")
def accuracy(
    predictions: Sequence[str],
    references: Sequence[str],
    case_sensitive: bool = False,  # noqa: FBT001, FBT002
    normalize_text: bool = True,  # noqa: FBT001, FBT002
    fuzzy_match: bool = False,  # noqa: FBT001, FBT002
    fuzzy_threshold: float = 0.8,
    return_confidence: bool = True,  # noqa: FBT001, FBT002
    *,
    profile: str = "default",
) -> dict[str, Any]:
    """Return the accuracy of predictions against one reference each, with a 95 % interval and the matches behind it.

    Args:
        predictions: The responses.
        references: One reference per prediction.
        case_sensitive: Case counts.
        normalize_text: Compare normalised texts.
        fuzzy_match: Count similar texts as matches.
        fuzzy_threshold: Smallest Indel similarity of a fuzzy match, in [0, 1].
        return_confidence: Add `accuracy_confidence_interval`.
        profile: `default` or `benchwise`.

    Raises:
        ValueError: The lengths differ.

    >>> result = accuracy(["Paris!", "London"], ["paris", "Rome"])
    >>> result["accuracy"], result["match_types"]
    (0.5, ['exact', 'none'])
    """
    if len(predictions) != len(references):
        raise ValueError(f"{len(predictions)} predictions, but {len(references)} references: give one each")
    metric = Accuracy(
        profile=profile,
        case_sensitive=case_sensitive,
        normalize_text=normalize_text,
        fuzzy_match=fuzzy_match,
        fuzzy_threshold=fuzzy_threshold,
    )
    matches = [
        metric.match(pair, (metric.comparable(pair[0]), metric.comparable(pair[1])))
        for pair in zip(predictions, references, strict=True)
    ]
    return _summary(metric, matches, return_confidence=return_confidence)


def _summary(metric: Accuracy, matches: list[Match], *, return_confidence: bool) -> dict[str, Any]:
    hits = [float(metric.is_hit(match)) for match in matches]
    credits_ = [metric.credit(match) for match in matches]
    exact = sum(match is EXACT for match in matches)
    close = sum(match.kind != "none" for match in matches)
    rows = max(len(matches), 1)
    summary = {
        "accuracy": sum(hits) / rows,
        "exact_accuracy": exact / rows,
        "correct": exact,
        "total": len(matches),
        "mean_score": sum(credits_) / rows,
        "std_score": float(np.std(credits_)) if credits_ else 0.0,
        "individual_scores": credits_,
        "match_types": [match.kind for match in matches],
    }
    if metric.fuzzy_match:
        summary |= {"fuzzy_accuracy": close / rows, "correct_fuzzy": close}
    if return_confidence:
        from goldmeter.statistics import mean_interval  # scipy takes a second to import

        estimate = mean_interval(hits)
        summary["accuracy_confidence_interval"] = (estimate.low, estimate.high)
    return summary
