"""Sections `dataset` and `load` of params.yaml."""

import json
from typing import Annotated, Any, Literal, Self

from pydantic import Field, FiniteFloat, field_validator, model_validator

from tasks.errors import ParamsError
from tasks.pipeline.settings import Positive, Section

Name = Annotated[str, Field(min_length=1)]


class CandidateMapping(Section):
    """A system whose answers are scored: the column of its answers, that of people's verdicts, facts about it."""

    response: Name
    label: Name | None = None
    about: dict[str, Any] = Field(default_factory=dict)

    @field_validator("about", mode="before")
    @classmethod
    def _as_json(cls, facts: Any) -> Any:
        return json.loads(json.dumps(facts, default=str, allow_nan=False))  # YAML makes dates of dates


class ScoreMapping(Section):
    """Numbers from elsewhere. In `column`, {candidate} stands for the candidate's name; bounds: null = unknown."""

    column: Name
    bounds: tuple[FiniteFloat, FiniteFloat] | None = None
    threshold: FiniteFloat | None = None
    higher_is_better: bool = True

    def of(self, candidate: str) -> str:
        """The column of this candidate's scores."""
        return self.column.replace("{candidate}", candidate)

    @model_validator(mode="after")
    def _check_threshold(self) -> Self:
        low, high = self.bounds or (float("-inf"), float("inf"))
        if low >= high:
            raise ValueError(f"bounds {low:g} to {high:g} hold nothing")
        if self.threshold is not None and not low <= self.threshold <= high:
            raise ValueError(f"threshold {self.threshold:g} is outside the bounds {low:g} to {high:g}")
        return self


class Dataset(Section):
    """Where the user's records are, and which of their columns are what."""

    path: Name
    pattern: Name | None
    limit: Positive | None
    exclude: dict[Name, str | bool | int | float | None]
    missing_response: Literal["unmeasured", "wrong"]
    id: Name | None
    input: Name | None
    references: Name | None
    reference_separator: Name | None
    candidates: Annotated[dict[Name, CandidateMapping], Field(min_length=1)]
    labels: Literal["all", "random", "other"]
    group: Name | None
    slices: tuple[Name, ...]
    phrases: Name | None
    scores: dict[Annotated[str, Field(pattern=r"^[A-Za-z]\w*$")], ScoreMapping]

    @field_validator("scores", mode="before")
    @classmethod
    def _name_is_column(cls, scores: Any) -> Any:
        if not isinstance(scores, dict):
            return scores
        return {name: {"column": score} if isinstance(score, str) else score for name, score in scores.items()}

    @field_validator("slices")
    @classmethod
    def _once_each(cls, slices: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(slices)) < len(slices):
            raise ValueError("a column stands twice")
        return slices

    @model_validator(mode="after")
    def _id_from_something(self) -> Self:
        if self.id is None and self.input is None:
            raise ValueError("id: null takes the hash of the input, but input is null too; name a column in one")
        return self


class Load(Section):
    """How records become rows."""

    part_rows: Positive
    max_chars: Positive
    max_rejected: Annotated[float, Field(ge=0, le=1)]
    require_references: bool


class Params(Section):
    """The sections this stage sees."""

    dataset: Dataset
    load: Load

    def check(self) -> None:
        """Raise ParamsError when the two sections do not fit together."""
        if len(self.dataset.candidates) > self.load.part_rows:
            count = len(self.dataset.candidates)
            raise ParamsError(f"load.part_rows: {self.load.part_rows}, but one id alone has {count} candidates")
        if self.load.require_references and self.dataset.references is None:
            raise ParamsError("dataset.references: null, but load.require_references is true; name the column")
