"""Types of verdicts: what a judge may reply, as JSON schema and in words, and the scores that its replies become."""

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isfinite
from typing import Any, NamedTuple

import numpy as np

# Draws of a verdict that is true or false pass above this share.
MAJORITY = 0.5
# A longer scale of whole numbers is not listed in the schema.
MOST_LISTED = 101
# Characters of a criterion in the details of a row; data/load has the whole.
LONGEST_CRITERION = 160


class Criterion(NamedTuple):
    """One criterion of a rubric. points: what an answer that meets it wins; negative for a fault, never 0."""

    text: str
    points: float


class Verdict(NamedTuple):
    """A judge's verdict on one row as a number, and its reason. met: of each criterion of a rubric 1 if met, else 0."""

    score: float
    reason: str | None
    met: str = ""


@dataclass(frozen=True)
class VerdictType(ABC):
    """One type of verdict. A verdict is kept in the ledger as one number, that of a rubric also criterion by criterion.

    field: name of the verdict in the reply.
    """

    field: str = "verdict"

    @property
    @abstractmethod
    def schema(self) -> Mapping[str, object]:
        """The JSON schema of a verdict, of keywords that every server with schemas knows."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What the judge is asked to reply, in words."""

    @abstractmethod
    def read(self, value: object) -> float | None:
        """Return the number of a verdict in a reply; None if it is none of this type.

        Raises:
            ValueError: It is of this type, but can't be used; the message says why.
        """

    def met(self, value: object) -> str:  # noqa: ARG002 (only rubrics have criteria)
        """Return of each criterion in a reply that `read` accepts 1 if it is met, else 0; without criteria, nothing."""
        return ""

    def score_of(self, verdict: float, met: str) -> float:  # noqa: ARG002 (most verdicts are their number)
        """Return the verdict of one draw as `scores` reads it, from what the ledger keeps of it."""
        return verdict

    def shares_met(self, draws: Sequence[str]) -> list[float] | None:  # noqa: ARG002 (only rubrics have criteria)
        """Return of each criterion the share of draws that call it met; None without criteria."""
        return None

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible score."""
        return (0.0, 1.0)

    @property
    def verdict_bounds(self) -> tuple[float, float] | None:
        """Smallest and largest possible verdict; None if verdicts are names, of which only equality counts."""
        return self.bounds

    @property
    def pass_above(self) -> float | None:
        """The score above which a row passes; None for a type with a threshold."""
        return None

    @property
    def has_probability(self) -> bool:
        """Whether a judge can state how probable it is that the verdict is true."""
        return False

    @property
    def can_be_decided(self) -> bool:
        """Whether a decision model can give it, by the probabilities of statements."""
        return self.has_probability

    @property
    def statements(self) -> dict[str, str]:
        """Name → statement whose probability decides; empty for a verdict that a decision model can't give."""
        return {}

    def decided(self, probabilities: Mapping[str, float]) -> "Verdict":
        """Return the verdict by the probability of each statement."""
        raise NotImplementedError

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the scores that a verdict has beside its own."""
        return ()

    @property
    def bad_parts(self) -> tuple[str, ...]:
        """Those of `parts` of which less is better."""
        return ()

    def scores(self, verdicts: Sequence[float]) -> list[float]:
        """Return the score of a row, and those of `parts`, from the verdicts of its draws."""
        return [float(np.mean(verdicts))]

    @abstractmethod
    def typical(self, verdicts: Sequence[float]) -> float:
        """Return the one of a row's verdicts that agrees with its score best."""

    def facts(self, verdict: float, met: str) -> dict[str, Any]:  # noqa: ARG002 (most verdicts are told by the score)
        """Return what a person reads of a verdict beside its score."""
        return {}


@dataclass(frozen=True)
class Boolean(VerdictType):
    """True or false. The score is the share of draws that say true, and a majority passes."""

    @property
    def schema(self) -> Mapping[str, object]:
        return {"type": "boolean"}

    @property
    def words(self) -> str:
        return "true or false"

    @property
    def pass_above(self) -> float | None:
        return MAJORITY

    @property
    def has_probability(self) -> bool:
        return True

    @property
    def statements(self) -> dict[str, str]:
        return {self.field: "By these rules, the verdict is: true."}

    def decided(self, probabilities: Mapping[str, float]) -> "Verdict":
        return Verdict(float(probabilities[self.field] >= MAJORITY), None)

    def read(self, value: object) -> float | None:
        is_true = _truth(value)
        return None if is_true is None else float(is_true)

    def typical(self, verdicts: Sequence[float]) -> float:
        return float(np.mean(verdicts) > MAJORITY)


@dataclass(frozen=True)
class Scale(VerdictType):
    """A number from `low` to `high`: a whole one if both are whole numbers. The score is the mean of the draws."""

    low: float = 1
    high: float = 5

    @property
    def is_whole(self) -> bool:
        """Whether only whole numbers are verdicts."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    @property
    def schema(self) -> Mapping[str, object]:
        if not self.is_whole:
            return {"type": "number"}
        numbers = range(int(self.low), int(self.high) + 1)
        return {"type": "integer", **({"enum": [*numbers]} if len(numbers) <= MOST_LISTED else {})}

    @property
    def words(self) -> str:
        return f"a {'whole ' if self.is_whole else ''}number from {self.low:g} to {self.high:g}"

    @property
    def bounds(self) -> tuple[float, float]:
        return (float(self.low), float(self.high))

    def read(self, value: object) -> float | None:
        is_number = isinstance(value, int) if self.is_whole else isinstance(value, int | float)
        if not is_number or isinstance(value, bool) or not isinstance(value, int | float):
            return None
        # Compared first: a whole number of a reply may be too large for a float.
        return float(value) if self.low <= value <= self.high and isfinite(value) else None

    def typical(self, verdicts: Sequence[float]) -> float:
        return _nearest_to_mean(verdicts)


@dataclass(frozen=True)
class Labels(VerdictType):
    """One of several labels, kept as its index. The score is the share of draws with a label that passes.

    labels: all that are allowed. passing: those that pass.
    """

    labels: tuple[str, ...] = ()
    passing: frozenset[str] = frozenset()

    @property
    def schema(self) -> Mapping[str, object]:
        return {"type": "string", "enum": [*self.labels]}

    @property
    def words(self) -> str:
        return f"one of {', '.join(json.dumps(label, ensure_ascii=False) for label in self.labels)}"

    @property
    def verdict_bounds(self) -> tuple[float, float] | None:
        return None

    @property
    def pass_above(self) -> float | None:
        return MAJORITY

    @property
    def parts(self) -> tuple[str, ...]:
        return self.labels

    @property
    def bad_parts(self) -> tuple[str, ...]:
        return tuple(label for label in self.labels if label not in self.passing)

    def read(self, value: object) -> float | None:
        return float(self.labels.index(value)) if isinstance(value, str) and value in self.labels else None

    def scores(self, verdicts: Sequence[float]) -> list[float]:
        drawn = [self.labels[int(verdict)] for verdict in verdicts]
        passing = float(np.mean([label in self.passing for label in drawn]))
        return [passing, *(drawn.count(label) / len(drawn) for label in self.labels)]

    def typical(self, verdicts: Sequence[float]) -> float:
        return Counter(verdicts).most_common(1)[0][0]

    def facts(self, verdict: float, met: str) -> dict[str, Any]:  # noqa: ARG002 (of rubrics)
        return {"label": self.labels[int(verdict)]}


@dataclass(frozen=True)
class Rubric(VerdictType):
    """Of each criterion whether it is met, kept as the share of criteria that are met, and as digits.

    The score of a row is the sum of the points of the criteria that are met, divided by the sum of all positive points;
    0 if it is less. The score of several draws is their mean. HealthBench limits the mean over rows to 0 instead of the
    score of each row: the two differ only if a row loses more points than it wins.

    criteria: those of a row, in their order; empty where the row is not known.

    Source: Arora et al. (2025), HealthBench: Evaluating Large Language Models Towards Improved Human Health.
    """

    criteria: tuple[Criterion, ...] = ()

    @property
    def schema(self) -> Mapping[str, object]:
        properties = {"criterion": {"type": "integer"}, "met": {"type": "boolean"}}
        one = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
        return {"type": "array", "items": one}

    @property
    def words(self) -> str:
        return 'a list with one {"criterion": its number, "met": true or false} for each criterion, in their order'

    def read(self, value: object) -> float | None:
        if not isinstance(value, list):
            return None
        found: dict[int, bool] = {}
        for one in value:
            if not isinstance(one, dict) or one.keys() != {"criterion", "met"}:
                return None
            number, is_met = one["criterion"], _truth(one["met"])
            if type(number) is not int or is_met is None:
                return None
            if not 1 <= number <= len(self.criteria):
                raise ValueError("the reply has a criterion that was not asked about")
            if number in found:
                what = "twice" if found[number] == is_met else "as met and as not met"
                raise ValueError(f"the reply has criterion {number} {what}")
            found[number] = is_met
        if left_out := [number for number in range(1, len(self.criteria) + 1) if number not in found]:
            more = f" and {len(left_out) - 1} more" if len(left_out) > 1 else ""
            raise ValueError(f"the reply leaves out criterion {left_out[0]}{more}")
        return sum(found.values()) / len(found) if found else None

    @property
    def can_be_decided(self) -> bool:
        return True

    @property
    def statements(self) -> dict[str, str]:
        return {
            str(number): f"The answer meets criterion {number}: {json.dumps(one.text, ensure_ascii=False)}"
            for number, one in enumerate(self.criteria, 1)
        }

    def decided(self, probabilities: Mapping[str, float]) -> "Verdict":
        met = [probabilities[str(number)] >= MAJORITY for number in range(1, len(self.criteria) + 1)]
        return Verdict(sum(met) / len(met), None, "".join(str(int(one)) for one in met))

    def met(self, value: object) -> str:
        found = {one["criterion"]: _truth(one["met"]) for one in value} if isinstance(value, list) else {}
        return "".join(str(int(found[number] or False)) for number in sorted(found))

    def score_of(self, verdict: float, met: str) -> float:  # noqa: ARG002 (the share does not know points)
        return max(0.0, self._won(met) / self._possible)

    def shares_met(self, draws: Sequence[str]) -> list[float] | None:
        return [sum(map(int, of_draws)) / len(draws) for of_draws in zip(*draws, strict=True)]

    def typical(self, verdicts: Sequence[float]) -> float:
        return _nearest_to_mean(verdicts)

    def facts(self, verdict: float, met: str) -> dict[str, Any]:  # noqa: ARG002 (points say more)
        """The points, and each criterion with its verdict, those first that cost points."""
        said = [(one, digit == "1") for one, digit in zip(self.criteria, met, strict=True)]
        numbered = sorted(enumerate(said, 1), key=lambda item: (item[1][0].points > 0) == item[1][1])
        return {
            "points": f"{self._won(met):g} of {self._possible:g}",
            "criteria": {
                f"{n}. {_cut(one.text)} ({one.points:+g})": "met" if is_met else "not met"
                for n, (one, is_met) in numbered
            },
        }

    @property
    def _possible(self) -> float:
        return fsum(one.points for one in self.criteria if one.points > 0)

    def _won(self, met: str) -> float:
        return fsum(one.points for one, digit in zip(self.criteria, met, strict=True) if digit == "1")


def _truth(value: object) -> bool | None:
    """Return a truth value, also one in words; None if it is none."""
    return (
        _WORDS.get(value.strip().casefold()) if isinstance(value, str) else value if isinstance(value, bool) else None
    )


_WORDS = {"true": True, "yes": True, "false": False, "no": False}


def _nearest_to_mean(verdicts: Sequence[float]) -> float:
    mean = float(np.mean(verdicts))
    return min(verdicts, key=lambda verdict: abs(verdict - mean))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_CRITERION else f"{text[:LONGEST_CRITERION]}…"
