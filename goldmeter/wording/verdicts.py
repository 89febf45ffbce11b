"""The words of verdicts and of refusals: on one difference, on a release, and why a measure can't be compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, Literal

from goldmeter.console.format import counted
from goldmeter.estimates.signature import FieldChange

# The primary measure decides, guards can stop a release, secondary measures are shown.
Role = Literal["primary", "guard", "secondary"]
ROLES: tuple[Role, ...] = ("primary", "guard", "secondary")


class Verdict(StrEnum):
    """The verdict on one difference, from the gravest to the best."""

    WORSE = "worse"
    CANNOT_TELL = "cannot tell"
    DIFFERENT = "different"
    NO_WORSE = "no worse"
    UNCHANGED = "unchanged"
    BETTER = "better"

    @property
    def gravity(self) -> int:
        """Its place from the gravest verdict, 0, to the best."""
        return [*Verdict].index(self)


# How the newer candidate, or version, relates to the older one; the clearest verdict first.
RELATIONS = {
    Verdict.BETTER: "is better than",
    Verdict.WORSE: "is worse than",
    Verdict.NO_WORSE: "is no worse than",
    Verdict.DIFFERENT: "differs from",
    Verdict.CANNOT_TELL: "does not differ significantly from",
    Verdict.UNCHANGED: "is the same as",
}


class Decision(StrEnum):
    """The decision on a release."""

    SHIP = "ship"
    DO_NOT_SHIP = "do not ship"
    UNDECIDED = "undecided"


Side = Literal["before", "after"]


# Why a judge that may stop leaves something out.
FIXED_ROWS = "this needs a fixed number of rows"


class Why(Enum):
    """Why a measure can't be compared; the words take the facts of the refusal."""

    NOT_FITTED = "its threshold is not learnt: too few labels, or nothing should pass"
    UNKNOWN = "no such measure; there is {names}"
    ONE_SIDE = "only there {side}"
    NO_SIDE = "not there before or after"
    MEASURED_DIFFERENTLY = "measured differently: {changes}"
    STOPPED = "the judge could stop early (judge.stop), and {said}; empty it to compare"
    ONE_ANSWER = "the questions of one version or both have a single answer (dataset.draw)"
    DESIGNED_QUESTIONS = (
        "a design chose the labelled answers (dataset.labels: designed): most questions lack labels of others"
    )
    DESIGNED_ROWS = "a design chose the labelled rows of one version, those of the other were not chosen at random"
    NOT_WEIGHTED = "{said}"
    NOT_MEASURED = "not measured {when}"
    TOO_FEW_ANSWERS = "no question has enough measured answers {when}"
    NO_SHARED_ROW = "no row is measured both before and after"
    UNMEASURED_ROWS = (
        "{missing:,} of {n:,} rows could not be measured, before {before:,}, after {after:,} (gate.max_unmeasured)"
    )
    UNMEASURED_ANSWERS = "{missing:,} of {n:,} answers could not be measured {side} (gate.max_unmeasured)"
    NOT_TAKEN = "{missing:,} of {n:,} rows have no {kind}, before {before:,}, after {after:,} (gate.max_unmeasured)"


@dataclass(frozen=True)
class Refusal:
    """A measure can't be compared.

    Attributes:
        why: The reason.
        facts: Name → value that the words of `why` take.
        changes: The fields of its signature that differ between the versions.
        stale: How many of the rows that failed have a label of another answer.
    """

    why: Why
    facts: tuple[tuple[str, Any], ...] = ()
    changes: tuple[FieldChange, ...] = ()
    stale: int = 0

    def __str__(self) -> str:
        """The reason in words.

        >>> str(Refusal(Why.ONE_SIDE, (("side", "after"),), stale=2))
        'only there after; 2 labels are of another answer (stale)'
        """
        words = self.why.value.format(changes="; ".join(map(str, self.changes)), **dict(self.facts))
        stale = f"; {counted(self.stale, 'label is', 'labels are')} of another answer (stale)" if self.stale else ""
        return f"{words}{stale}"


def refusal(why: Why, **facts: Any) -> Refusal:
    """A refusal with the facts that its words take."""
    return Refusal(why, tuple(facts.items()))


def missing(sides: Sequence[bool], why: Why) -> Refusal:
    """A refusal for what is missing; sides: whether BASE and HEAD have it, not both."""
    base, head = sides
    return refusal(why, when="after" if base else "before" if head else "before or after")


def only_there(sides: Sequence[bool]) -> Refusal:
    """A refusal for what only one version has, or none; sides: whether BASE and HEAD have it."""
    base, head = sides
    if base or head:
        return refusal(Why.ONE_SIDE, side="before" if base else "after")
    return refusal(Why.NO_SIDE)
