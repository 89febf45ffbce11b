"""The judge metric that says, as a human label does, whether an answer is right."""

from functools import cache

from tasks.metrics.catalogue import declaring


@cache
def correctness_verdict() -> str:
    """Return its name: the one metric of family `judge` that declares `is_correctness`.

    Raises:
        TypeError: None or several declare it.
    """
    found = declaring("judge", "is_correctness")
    if len(found) != 1:
        raise TypeError(f"metrics of family judge that declare is_correctness: {found}; expected one")
    return found[0]
