"""Score answers in Python: `score(…)` with one metric, `scores(…)` with several, `accuracy(…)` for predictions."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goldmeter.metrics.aliases import accepts_aliases

if TYPE_CHECKING:
    import pandas as pd

    from goldmeter.metrics.base import Floats
    from goldmeter.metrics.predictions import accuracy
    from goldmeter.text.columns import TextLists, Texts

__all__ = ["accuracy", "score", "scores"]


@accepts_aliases(response="responses", references="references", input="inputs")
def score(
    name: str,
    responses: "Texts",
    references: "TextLists | None" = None,
    *,
    inputs: "Texts | None" = None,
    profile: str = "default",
    **options: Any,
) -> "Floats":
    """Score every row with one metric of any family.

    Arguments may have the names of other toolkits: `prediction`, `ground_truth`, … (see `goldmeter.metrics.aliases`).

    Args:
        name: Name of the metric, as in params.yaml; or `offline_match`, the offline judge's probability.
        responses: One response per row: a list, NumPy array, pandas Series or Arrow array. None, NaN and pandas.NA are
            missing responses; a number is an error.
        references: One string, or a list of strings, per row; None for a metric that reads none.
        inputs: One question per row, for metrics that read it.
        profile: A named set of options, such as `azure`.
        **options: Options of the metric.

    Returns:
        Row scores, shape (n,), float64; NaN where a row can't be measured. Of a metric with several columns, the scores
        of the column that passes or fails.

    Raises:
        ParamsError: Unknown metric or option.
        ValueError: The lengths differ, a reference is missing, or a text is not Unicode.
        TypeError: An argument is no column of texts; the message names the row. Or a metric reads references, and there
            are none.

    >>> score("bleu", ["New York", None], ["New York", ["Paris", "Rome"]])
    array([ 1., nan])
    """
    # Imported here to keep `import goldmeter.metrics` fast.
    from goldmeter.metrics import catalogue
    from goldmeter.metrics.frame import JUDGE, OfflineJudge, family_of, judged_metric, pairs_for

    family, given = family_of(name, options), {"profile": profile, **options}
    metric = judged_metric(name, given) if family == JUDGE else catalogue.configure(family, name, given)
    pairs = pairs_for({name: metric}, responses, references, inputs=inputs)
    if family == JUDGE or metric is None:
        return OfflineJudge(pairs).scores(name)
    return metric.score(metric.row_stats(pairs))


@accepts_aliases(response="responses", references="references", input="inputs")
def scores(
    metrics: "Mapping[str, Mapping[str, Any] | None] | Sequence[str]",
    responses: "Texts",
    references: "TextLists | None" = None,
    *,
    inputs: "Texts | None" = None,
    phrases: "TextLists | None" = None,
    contexts: "TextLists | None" = None,
    relevant: "TextLists | None" = None,
    ids: Sequence[Any] | None = None,
    details: bool = False,
) -> "pd.DataFrame":
    """Score every row with several metrics, which share tokens and vectors.

    Args:
        metrics: Name of each metric → its options, `profile` and `threshold` among them; or a list of names. A name of
            your own with the option `metric` computes that one: `{"rouge_2": {"metric": "rouge", "n": 2}}`.
        responses: As in `score`.
        references: As in `score`.
        inputs: As in `score`.
        phrases: A list of phrases per row, or None, for metrics that read them.
        contexts: What was retrieved for each row, best first, texts or ids; None: unknown.
        relevant: What should have been retrieved; None: unknown.
        ids: Index of the table; None: 0 to n - 1.
        details: Add the columns `<column>_result` (pass, fail or unmeasured), `<metric>_details` (JSON, or None where
            nothing needs explaining) and `<metric>_reason` of
            the judge's verdict.

    Returns:
        One row per response, and the columns of the metrics in their order, float64; NaN where a row can't be measured.
        `<metric>_not_asked` says which rows are unmeasured by design, if there are any; `in_domain`, beside
        the judge's verdict, whether the offline judge was validated on such rows. `attrs` says how each column was
        computed, for `goldmeter.compare`.

    Raises:
        ParamsError: Unknown metric or option.
        ValueError: The lengths differ, a reference is missing, or a text is not Unicode.
        TypeError: An argument is no column of texts; the message names the row. Or a metric reads references, and there
            are none.

    >>> scores({"bleu": {}, "exact_match": {}}, ["New York", "London"], ["New York", "Paris"])
       bleu  exact_match
    0   1.0          1.0
    1   0.0          0.0
    """
    from goldmeter.metrics.frame import configured_metrics, pairs_for, score_frame

    configured = configured_metrics(metrics)
    columns = {"inputs": inputs, "phrases": phrases, "contexts": contexts, "relevant": relevant}
    return score_frame(configured, pairs_for(configured[1], responses, references, **columns), ids=ids, details=details)


def __getattr__(name: str) -> Any:
    if name == "accuracy":
        from goldmeter.metrics.predictions import accuracy

        return accuracy
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
