"""The sections `dataset` and `load` of params.yaml."""

import json
from typing import Annotated, Any, Literal, Self

from pydantic import Field, FiniteFloat, field_validator, model_validator

from tasks.errors import ParamsError
from tasks.pipeline.settings import Positive, Section

Name = Annotated[str, Field(min_length=1)]


class CandidateMapping(Section):
    """A system whose answers are scored: the columns of its responses and human labels, and what is noted about it.

    labelled: column of the answer that was labelled, or of its sha256; a label of another answer does not count.
    """

    response: Name
    label: Name | None = None
    labelled: Name | None = None
    about: dict[str, Any] = Field(default_factory=dict)

    @field_validator("about", mode="before")
    @classmethod
    def _as_json(cls, about: Any) -> Any:
        # YAML reads 2024-05-01 as a date, which tables can't store.
        return json.loads(json.dumps(about, default=str, allow_nan=False))


class ScoreMapping(Section):
    """Scores computed elsewhere. In `column`, {candidate} is replaced by the candidate's name; null bounds: unknown."""

    column: Name
    bounds: tuple[FiniteFloat, FiniteFloat] | None = None
    threshold: FiniteFloat | None = None
    higher_is_better: bool = True

    def column_of(self, candidate: str) -> str:
        """Return the name of the column with this candidate's scores."""
        return self.column.replace("{candidate}", candidate)

    @model_validator(mode="after")
    def _check_threshold(self) -> Self:
        low, high = self.bounds or (float("-inf"), float("inf"))
        if low >= high:
            raise ValueError(f"bounds {low:g} to {high:g} contain no number")
        if self.threshold is not None and not low <= self.threshold <= high:
            raise ValueError(f"threshold {self.threshold:g} is outside the bounds {low:g} to {high:g}")
        return self


class Dataset(Section):
    """The place of the user's records and the meaning of their columns."""

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
    def _expand_column_names(cls, scores: Any) -> Any:
        if not isinstance(scores, dict):
            return scores
        return {name: {"column": score} if isinstance(score, str) else score for name, score in scores.items()}

    @field_validator("slices")
    @classmethod
    def _check_unique(cls, slices: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(slices)) < len(slices):
            raise ValueError("a column appears twice")
        return slices

    @model_validator(mode="after")
    def _check_id_source(self) -> Self:
        if self.id is None and self.input is None:
            raise ValueError("id: null takes the hash of the input, but input is null too; name a column in one")
        return self


class Load(Section):
    """Size of a part, limits on texts and rejected rows."""

    part_rows: Positive
    max_chars: Positive
    max_rejected: Annotated[float, Field(ge=0, le=1)]
    require_references: bool


class Params(Section):
    """The sections that the load stage reads."""

    dataset: Dataset
    load: Load

    def check(self) -> None:
        """Check that the two sections fit together.

        Raises:
            ParamsError: One record has more candidates than a part has rows, or references are required but not mapped.
        """
        if len(self.dataset.candidates) > self.load.part_rows:
            count = len(self.dataset.candidates)
            raise ParamsError(f"load.part_rows: {self.load.part_rows}, but one id alone has {count} candidates")
        if self.load.require_references and self.dataset.references is None:
            raise ParamsError("dataset.references: null, but load.require_references is true; name the column")
