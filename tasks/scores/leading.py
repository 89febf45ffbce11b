"""Which metric leads: the one nearest to human judgement."""

from functools import cache

from tasks.metrics.catalogue import names


def rank(metric: str) -> int:
    """Sort key of a metric: human labels first, then the judge, semantic metrics, and all others with one rank.

    Sorting by it is stable, so that the other metrics keep their order.
    """
    ranks = _ranks()
    return ranks.get(metric, len(ranks))


@cache
def _ranks() -> dict[str, int]:
    return {name: rank for rank, name in enumerate(["label", *names("judge"), *names("semantic")])}
