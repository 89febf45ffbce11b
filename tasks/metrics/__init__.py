"""Every metric in one line of Python: `score(name, responses, references)`, and `accuracy(predictions, references)`."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tasks.errors import ParamsError
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
    """Row scores of any metric, shape (n,), float64; NaN where a row can't be measured.

    references: one string or a list of strings per row. Of a metric with several columns, the one it gates on.
    The columns may have the names of other toolkits: `prediction`, `ground_truth`, … (see `aliases`).
    Raises ParamsError for an unknown metric or option, ValueError when the lengths differ or where an entry is no text.

    >>> score("bleu", ["New York", None], ["New York", ["Paris", "Rome"]])
    array([ 1., nan])
    """
    # Imported when used: `import tasks.metrics` stays light.
    from tasks.metrics import catalogue
    from tasks.metrics.pairs import Pairs

    if isinstance(responses, str) or isinstance(references, str):
        raise TypeError("responses and references are lists with one entry per row, not one string")
    family = catalogue.family_of(name)
    if family == "judge":
        judge = _of_family("judge", "score")
        scores: Floats = judge(name, responses, references, inputs=inputs, profile=profile, **options)
        return scores
    embed = _of_family("semantic", "default_embed")() if family == "semantic" else None
    metric = catalogue.configure(family, name, {"profile": profile, **options})
    return metric.score(metric.stats(Pairs.of(responses, references, inputs=inputs, embed=embed)))


def _of_family(family: str, function: str) -> Callable[..., Any]:
    module = import_module(f"tasks.metrics.{family}")
    if not hasattr(module, function):
        raise ParamsError(
            f"metrics of family {family} can't be scored from Python: {module.__name__} has no {function}"
        )
    found: Callable[..., Any] = getattr(module, function)
    return found


def __getattr__(name: str) -> Any:
    if name == "accuracy":
        from tasks.metrics.predictions import accuracy

        return accuracy
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
