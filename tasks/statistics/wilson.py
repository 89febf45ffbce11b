"""The interval behind every single mean, Wilson's on an effective sample size with a mid-p tail; and an exact one."""

from math import sqrt

from scipy.special import ndtri, stdtrit

from tasks.statistics.arrays import check_confidence
from tasks.statistics.binomial_limits import exact_lower, midp_lower

# With at most this many effective events, Wilson's limit nearest the bound is too narrow: coverage falls to 83 %
# (Brown, Cai & DasGupta 2001, section 4, who replace it for counts up to 2 or 3).
# 1e-9: counts are products, and (1 - 0.7)·10 is a little more than 3.
FEW_EVENTS = 3.0 + 1e-9


def effective_n(n: float, r: float, events: float, *, r_max: float = 1.0, prior_events: float = 1.0) -> float:
    """Return the number of independent binary rows that carry as much information as `n` rows.

    Args:
        n: Number of rows.
        r: Observed variance of the mean over its binomial variance. It is shrunk towards `r_max`, the more the fewer
            events there are.
        events: Number of informative events.
        r_max: The largest possible `r`.
        prior_events: Number of events that `r_max` counts for.

    >>> effective_n(100, r=0.5, events=9)
    181.8181818181818
    """
    return n * (events + prior_events) / (events * r + prior_events * r_max)


def score_interval(p: float, n_eff: float, df: float | None = None, confidence: float = 0.95) -> tuple[float, float]:
    """Return the limits of a proportion.

    Args:
        p: The observed proportion, in [0, 1].
        n_eff: Effective number of rows, above 0.
        df: Degrees of freedom, if the variance behind `n_eff` was estimated. The t quantile then replaces the normal
            one, which equals n_eff·(z/t)² rows; the mid-p tail uses those too.
        confidence: In (0, 1).

    Raises:
        ValueError: An argument is outside its range.

    Source: Wilson 1927; Brown, Cai & DasGupta 2001; Korn & Graubard 1998 for `df` and fractional counts.

    >>> low, high = score_interval(0.5, 96.04)  # 1.96² = 3.8416 = 0.04 · 96.04
    >>> round(low, 4), round(high, 4)  # 0.5 ± 0.5·√(0.04/1.04)
    (0.4019, 0.5981)
    """
    n_eff, z, tail = _checked(p, n_eff, df, confidence)
    low, high = _wilson(p, n_eff, z)
    if p * n_eff <= FEW_EVENTS:
        low = min(low, midp_lower(p * n_eff, n_eff, tail))
    if (1.0 - p) * n_eff <= FEW_EVENTS:
        high = max(high, 1.0 - midp_lower((1.0 - p) * n_eff, n_eff, tail))
    return max(0.0, min(low, p)), min(1.0, max(high, p))


def exact_interval(p: float, n_eff: float, df: float | None = None, confidence: float = 0.95) -> tuple[float, float]:
    """Return the limits of a proportion whose tails are exact, for confidences far above 95 %.

    For n binary rows these are Clopper and Pearson's limits, which never cover less than `confidence`. Mid-p and
    Wilson's tails are right on average only: at 99.9 % their error can be ten times what it should be.

    Args: as of `score_interval`.

    Raises:
        ValueError: An argument is outside its range.

    Source: Clopper & Pearson 1934; Korn & Graubard 1998 for effective sample sizes.

    >>> low, high = exact_interval(1.0, 5, confidence=0.999)  # p⁵ = 0.0005
    >>> round(low, 6), high
    (0.218672, 1.0)
    """
    n_eff, _, tail = _checked(p, n_eff, df, confidence)
    low, high = exact_lower(p * n_eff, n_eff, tail), 1.0 - exact_lower((1.0 - p) * n_eff, n_eff, tail)
    return max(0.0, min(low, p)), min(1.0, max(high, p))


def _checked(p: float, n_eff: float, df: float | None, confidence: float) -> tuple[float, float, float]:
    """Check the arguments; return the effective number of rows given `df`, the normal quantile, and its tail."""
    check_confidence(confidence)
    if not (0.0 <= p <= 1.0 and n_eff > 0.0):
        raise ValueError(f"p = {p}, n_eff = {n_eff}: expected p in [0, 1] and n_eff > 0")
    tail = (1.0 - confidence) / 2.0
    z = -float(ndtri(tail))
    return n_eff if df is None else n_eff * (z / float(stdtrit(df, 1.0 - tail))) ** 2, z, tail


def _wilson(p: float, n: float, z: float) -> tuple[float, float]:
    shrink = 1.0 + z * z / n
    centre = (p + z * z / (2.0 * n)) / shrink
    half = z * sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n)) / shrink
    return centre - half, centre + half
