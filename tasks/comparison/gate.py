"""The release gate: section `gate` of params.yaml, and the verdict on one difference."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from tasks.pipeline.settings import Section, Share
from tasks.scores.column_facts import resource_measures
from tasks.scores.targets import Maximum
from tasks.wording.verdicts import Verdict

Name = Annotated[str, Field(min_length=1)]
# The largest acceptable loss, as a share of the measure's scale; of what answers take, of the value before.
Margin = Annotated[float, Field(ge=0, lt=1)]


def _kind(given: Any) -> str:
    return "|max" if isinstance(given, dict | Maximum) else "|margin"


Guard = Annotated[Annotated[Margin, Tag("|margin")] | Annotated[Maximum, Tag("|max")], Discriminator(_kind)]


class Gate(Section):
    """What decides on a release.

    primary: the measure that decides; None: tasks.scores.primary chooses. metrics: the guards, measures that stop a
    release when they lose more than their margin, or exceed their maximum. margin: of the primary measure.
    """

    primary: Name | None
    metrics: Mapping[Name, Guard]
    margin: Margin
    # Below 1, because looks at a baseline share 1 - confidence.
    confidence: Annotated[float, Field(gt=0.5, le=0.999999)]
    fail_on: Literal["worse", "cannot_tell"]
    max_unmeasured: Share

    @field_validator("metrics", mode="before")
    @classmethod
    def _guards_have_margins(cls, metrics: Any) -> Any:
        if isinstance(metrics, list | tuple | str):
            raise ValueError(  # noqa: TRY004 (pydantic reports only ValueError)
                "expected guards, each with the largest acceptable loss as a share of its scale, such as "
                "{meteor: 0.05}; the measure that decides is gate.primary"
            )
        return {} if metrics is None else metrics

    @model_validator(mode="after")
    def _primary_is_no_guard(self) -> Self:
        if self.primary in self.metrics:
            raise ValueError(f"metrics names the primary measure, {self.primary}; its margin is gate.margin")
        return self

    @model_validator(mode="after")
    def _maxima_are_of_what_answers_take(self) -> Self:
        names = resource_measures()
        for name, guard in self.metrics.items():
            if isinstance(guard, Maximum) and name not in names:
                raise ValueError(f"metrics.{name}: max is for {', '.join(names)}; expected the largest acceptable loss")
        return self

    def margin_of(self, name: str, default: float = 0.0) -> float:
        """The margin of a guard; of one with a maximum, and of any other measure, the default."""
        guard = self.metrics.get(name, default)
        return default if isinstance(guard, Maximum) else guard

    def fails(self, verdicts: Collection[Verdict]) -> bool:
        """Whether a release with these verdicts on the primary measure and the guards may not ship."""
        return Verdict.WORSE in verdicts or (self.fail_on == "cannot_tell" and Verdict.CANNOT_TELL in verdicts)


def verdict(low: float, high: float, margin: float, *, higher_is_better: bool, unchanged: bool) -> Verdict:
    """Decide from the interval of a difference.

    low, high: limits of the difference, new minus old. margin: the smallest loss that matters, in the same unit.

    >>> verdict(-0.04, -0.01, 0.0, higher_is_better=True, unchanged=False)
    <Verdict.WORSE: 'worse'>
    >>> verdict(-0.04, -0.01, 0.05, higher_is_better=True, unchanged=False)
    <Verdict.NO_WORSE: 'no worse'>
    """
    if unchanged:
        return Verdict.UNCHANGED
    low, high = (low, high) if higher_is_better else (-high, -low)
    if high < -margin:
        return Verdict.WORSE
    if low > margin:
        return Verdict.BETTER
    if low > -margin:
        return Verdict.NO_WORSE
    return Verdict.CANNOT_TELL
