"""Which metric leads: the one nearest to human judgement."""

from functools import cache

from tasks.metrics.catalogue import names


@cache
def rank(metric: str) -> int:
    """Sort key of a metric: human labels first, then the judge, semantic metrics, and all others with one rank.

    Sorting by it is stable, so that the other metrics keep their order.
    """
    order = ["label", *names("judge"), *names("semantic")]
    return order.index(metric) if metric in order else len(order)
