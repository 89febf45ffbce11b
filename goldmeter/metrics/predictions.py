"""Accuracy of predictions, in one call, as other toolkits offer it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from goldmeter.metrics.aliases import accepts_aliases
from goldmeter.metrics.lexical.accuracy import EXACT, NONE, Accuracy, Match
from goldmeter.metrics.pairs import Pairs
from goldmeter.statistics import mean_interval

if TYPE_CHECKING:
    from goldmeter.text.columns import TextLists, Texts


@accepts_aliases(response="predictions", references="references")
def accuracy(
    predictions: "Texts",
    references: "TextLists",
    case_sensitive: bool = False,  # noqa: FBT001, FBT002
    normalize_text: bool = True,  # noqa: FBT001, FBT002
    fuzzy_match: bool = False,  # noqa: FBT001, FBT002
    fuzzy_threshold: float = 0.8,
    return_confidence: bool = True,  # noqa: FBT001, FBT002
    *,
    profile: str = "default",
) -> dict[str, Any]:
    """Return the accuracy of predictions, with a 95 % interval and the matches behind it.

    A missing prediction, or one without any reference, is unmeasured: its match type is "unmeasured", its score None,
    and it does not count in `total` and the rates; `unmeasured` says how many there are, if any. Without a measured
    prediction, as for empty lists, rates and interval are None.

    Args:
        predictions: The responses: a list, NumPy array, pandas Series or Arrow array. None, NaN and pandas.NA are
            missing ones; a number is an error.
        references: One string, or a list of strings of which the best counts, per prediction.
        case_sensitive: Case counts.
        normalize_text: Compare normalised texts.
        fuzzy_match: Count similar texts as matches.
        fuzzy_threshold: Smallest Indel similarity of a fuzzy match, in [0, 1].
        return_confidence: Add `accuracy_confidence_interval`.
        profile: `default` or `benchwise`.

    Raises:
        ValueError: The lengths differ, a reference is missing, or a text is not Unicode.
        TypeError: An argument is no column of texts; the message names the row.

    >>> result = accuracy(["Paris!", "London"], ["paris", "Rome"])
    >>> result["accuracy"], result["match_types"]
    (0.5, ['exact', 'none'])
    """
    pairs = Pairs.of(predictions, references, names=("predictions", "references"))
    metric = Accuracy(
        profile=profile,
        case_sensitive=case_sensitive,
        normalize_text=normalize_text,
        fuzzy_match=fuzzy_match,
        fuzzy_threshold=fuzzy_threshold,
    )
    matches = [
        None if text is None or not several else _best(metric, text, several)
        for text, several in zip(pairs.response_texts, pairs.reference_lists, strict=True)
    ]
    measured = [match for match in matches if match]
    summary = _summary(metric, measured, return_confidence=return_confidence)
    if len(measured) == len(matches) > 0:
        return summary
    unmeasured = {"unmeasured": len(matches) - len(measured)} if matches else {}
    return {
        **summary,
        **({} if measured else {name: None for name in summary if name in _RATES}),
        "individual_scores": [match and metric.credit(match) for match in matches],
        "match_types": [match.kind if match else "unmeasured" for match in matches],
        **unmeasured,
    }


_RATES = {
    "accuracy", "exact_accuracy", "fuzzy_accuracy", "mean_score", "std_score", "accuracy_confidence_interval",
}  # fmt: skip


def _best(metric: Accuracy, text: str, references: Sequence[str]) -> Match:
    """How a response matches the reference that it is most like."""
    compared = metric.comparable(text)
    found = [metric.match((text, one), (compared, metric.comparable(one))) for one in references]
    return max(found, key=lambda match: (match is EXACT, match.kind != NONE.kind, match.similarity))


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
        estimate = mean_interval(hits)
        summary["accuracy_confidence_interval"] = (estimate.low, estimate.high)
    return summary
