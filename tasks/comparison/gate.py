"""The release gate: section `gate` of params.yaml, and the verdict on one difference."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from tasks.pipeline.settings import Section, Share

Verdict = Literal["worse", "better", "no worse", "unchanged", "cannot tell"]


class Gate(Section):
    """What a release is compared by, and when it fails."""

    primary: Annotated[str, Field(min_length=1)] | None
    metrics: tuple[Annotated[str, Field(min_length=1)], ...] | None
    margin: Annotated[float, Field(ge=0, lt=1)]
    # Below 1, because looks at a baseline share 1 - confidence.
    confidence: Annotated[float, Field(gt=0.5, le=0.999999)]
    fail_on: Literal["worse", "cannot_tell"]
    max_unmeasured: Share

    @field_validator("metrics")
    @classmethod
    def _some_and_once(cls, metrics: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if metrics is not None and not metrics:
            raise ValueError("an empty list compares nothing; none compares every pass rate")
        if metrics is not None and len(set(metrics)) < len(metrics):
            raise ValueError("a metric is listed twice")
        return metrics

    def fails(self, verdicts: set[Verdict]) -> bool:
        """Whether a release with these verdicts may not ship."""
        return "worse" in verdicts or (self.fail_on == "cannot_tell" and "cannot tell" in verdicts)


def verdict(low: float, high: float, margin: float, *, higher_is_better: bool, unchanged: bool) -> Verdict:
    """Decide from the interval of a difference.

    low, high: limits of the difference, new minus old. margin: the smallest loss that matters, in the same unit.

    >>> verdict(-0.04, -0.01, 0.0, higher_is_better=True, unchanged=False)
    'worse'
    >>> verdict(-0.04, -0.01, 0.05, higher_is_better=True, unchanged=False)
    'no worse'
    """
    if unchanged:
        return "unchanged"
    low, high = (low, high) if higher_is_better else (-high, -low)
    if high < -margin:
        return "worse"
    if low > margin:
        return "better"
    if low > -margin:
        return "no worse"
    return "cannot tell"
