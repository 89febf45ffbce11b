"""How far a judge is from people: measured of the offline judge on data sets with human labels, stated of any other."""

from math import hypot, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from goldmeter.estimates.signature import VerdictSource
from goldmeter.models.offline.measured import measured

if TYPE_CHECKING:  # importing scipy takes half a second
    from goldmeter.statistics import BiasModel

# The share of rows outside of the offline judge's domain from which on what was measured of it does not hold.
MOST_OUTSIDE = 0.1
# The measured scale counts times this, as there are three data sets: left out one by one, each has its pairs covered.
WIDER = 1.5
# The scale of a judge whose bias was not measured here, for two systems that it judges differently on every row. Of
# GPT-4 and text-davinci-003 on NQ301, the largest of 132 differences of biases is 0.29 on that scale: 1.6 times this. A
# judge that fails 8 % of the right answers of one of two equal systems refuses it in 1 of 20 comparisons at most.
STATED = 0.18
# The scale of such a judge's bias of one system. The largest of 24, of the same judges and systems, is 7.3 points.
STATED_RATE = 0.05
STATED_IN_WORDS = "assumed to be like that of language models on other data: up to 14 points"
# The least scale for answers that all changed: a judge may misread a new style in the same way in every row.
LEAST = 0.01


class Unlikeness(NamedTuple):
    """How unlike the answers of two systems to the same rows are, as shares of rows.

    discordant: with different verdicts. changed: with different answers. outside: with an answer outside of the offline
    judge's domain, the larger share of the two systems.
    """

    discordant: float
    changed: float
    outside: float = 0.0


class Scale(NamedTuple):
    """The scale of the difference of a judge's biases of two systems; measured: on data with human labels."""

    value: float
    measured: bool


def offline_bias(left_out: str = "") -> "BiasModel | None":
    """How the offline judge's bias varies; None for a model that was not measured.

    left_out: a data set that does not count, to test the model on it.
    """
    from goldmeter.statistics import bias_model

    facts = measured()
    if facts is None:
        return None
    systems = [one for one in facts["systems"] if one["set"] != left_out]
    errors = np.array([one["error"] for one in systems])
    return bias_model([one["bias"] for one in systems], errors**2, [one["set"] for one in systems])


def rate_bias(judge: VerdictSource, outside: float) -> "BiasModel | float | None":
    """A judge's bias of one system: as measured, or the scale that is stated; None where nothing is known of it.

    outside: the share of the system's answers outside of the offline judge's domain.
    """
    if judge.is_offline:
        return offline_bias() if outside <= MOST_OUTSIDE else None
    return STATED_RATE


def offline_scale(left_out: str = "") -> float | None:
    """How far the offline judge's biases differ per share of discordant rows; None for a model not measured.

    left_out: a data set that does not count, to test the scale on it.
    """
    from goldmeter.statistics import bias_scale

    facts = measured()
    if facts is None:
        return None
    pairs = [one for one in facts["pairs"] if one["set"] != left_out]
    columns = ([one[name] for one in pairs] for name in ("bias", "error", "discordant"))
    bias, errors, discordant = map(np.array, columns)
    return WIDER * bias_scale(bias, errors**2, discordant, [one["set"] for one in pairs])


def difference_scale(judge: VerdictSource, unlike: Unlikeness, *, is_one_answer: bool = True) -> Scale:
    """How far the judge's biases of two systems that answered the same rows may differ.

    Args:
        judge: Who gave the verdicts.
        unlike: How unlike the answers are.
        is_one_answer: Whether the measure is of single answers, as the offline judge's bias was measured.
    """
    known = offline_scale() if judge.is_offline and is_one_answer and unlike.outside <= MOST_OUTSIDE else None
    least = LEAST * unlike.changed
    if known is None:
        return Scale(hypot(STATED * sqrt(unlike.discordant * unlike.changed), least), measured=False)
    return Scale(hypot(known * unlike.discordant, least), measured=True)
