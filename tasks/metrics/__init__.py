"""Score answers in Python with any metric: `score(name, responses, references)`; `accuracy(…)` for predictions."""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tasks.metrics.aliases import accepts_aliases

if TYPE_CHECKING:
    from tasks.metrics.base import Floats
    from tasks.metrics.predictions import accuracy

__all__ = ["accuracy", "score"]


@accepts_aliases(response="responses", references="references", input="inputs")
def score(
    name: str,
    responses: Sequence[str | None],
    references: Sequence[str | Sequence[str]],
    *,
    inputs: Sequence[str | None] | None = None,
    profile: str = "default",
    **options: Any,
) -> "Floats":
    """Score every row with one metric of any family.

    Arguments may have the names of other toolkits: `prediction`, `ground_truth`, … (see `tasks.metrics.aliases`).

    Args:
        name: Name of the metric, as in params.yaml.
        responses: One response per row; None is a missing response.
        references: One string, or a list of strings, per row.
        inputs: One question per row, for metrics that read it.
        profile: A named set of options, such as `azure`.
        **options: Options of the metric.

    Returns:
        Row scores, shape (n,), float64; NaN where a row can't be measured. Of a metric with several columns, the scores
        of the column that passes or fails.

    Raises:
        ParamsError: Unknown metric or option.
        ValueError: The lengths differ, or an entry is not text.
        TypeError: `responses` or `references` is one string.

    >>> score("bleu", ["New York", None], ["New York", ["Paris", "Rome"]])
    array([ 1., nan])
    """
    # Imported here to keep `import tasks.metrics` fast.
    from tasks.metrics import catalogue
    from tasks.metrics.pairs import Pairs

    if isinstance(responses, str) or isinstance(references, str):
        raise TypeError("responses and references are lists with one entry per row, not one string")
    family = catalogue.family_of(name)
    # By name, so that the import closure of the lexical stage does not contain the models of the other families.
    package = import_module(f"tasks.metrics.{family}")
    if family == "judge":
        scores: Floats = package.score(name, responses, references, inputs=inputs, profile=profile, **options)
        return scores
    embed = package.default_embed() if family == "semantic" else None
    metric = catalogue.configure(family, name, {"profile": profile, **options})
    return metric.score(metric.row_stats(Pairs.of(responses, references, inputs=inputs, embed=embed)))


def __getattr__(name: str) -> Any:
    if name == "accuracy":
        from tasks.metrics.predictions import accuracy

        return accuracy
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
