"""The words of verdicts on one difference and on a release, for people and in JSON."""

from enum import StrEnum
from typing import Literal

# The primary measure decides, guards can stop a release, secondary measures are shown.
Role = Literal["primary", "guard", "secondary"]
ROLES: tuple[Role, ...] = ("primary", "guard", "secondary")


class Verdict(StrEnum):
    """The verdict on one difference, from the gravest to the best."""

    WORSE = "worse"
    CANNOT_TELL = "cannot tell"
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
    Verdict.CANNOT_TELL: "does not differ significantly from",
    Verdict.UNCHANGED: "is the same as",
}


class Decision(StrEnum):
    """The decision on a release."""

    SHIP = "ship"
    DO_NOT_SHIP = "do not ship"
    UNDECIDED = "undecided"
