"""Section `judge` of params.yaml."""

from functools import cached_property
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import Field, ValidationInfo, field_validator, model_validator

from tasks.judging.sampling import Filter
from tasks.metrics.catalogue import configure
from tasks.metrics.judge.meaning_match import MeaningMatch
from tasks.metrics.judge.similarity_judge import SimilarityJudge
from tasks.metrics.judged import JudgeMetric
from tasks.models.servers import address, server_class
from tasks.pipeline.settings import Positive, Section, ServerName, ServerUrl, Share

Column = Literal["input", "response", "references", "response_normalized", "references_normalized"]


# Probabilities of the offline judge between which a cascade asks the language model.
Band: TypeAlias = tuple[Annotated[float, Field(ge=0, le=0.5)], Annotated[float, Field(ge=0.5, le=1)]]
SERVER_PROVIDERS = ("openai", "cascade")


class Variables(Section):
    """Variable of the prompt → column of data/normalize."""

    input: Column
    ground_truth: Column
    output: Column


class Judge(Section):
    """The judge, its questions, and the rows asked about. A metric that is null is not asked for."""

    provider: Literal["none", "offline", "openai", "cascade"]
    band: Band
    model: str
    base_url: ServerUrl
    server: ServerName | None
    api_key_env: str | None
    seed: int
    temperature: Annotated[float, Field(ge=0, le=2)]
    draws: Positive
    draw_temperature: Annotated[float, Field(gt=0, le=2)]
    sampling_rate: Share
    filters: tuple[Filter, ...]
    variables: Variables
    meaning_match: MeaningMatch | None
    similarity_judge: SimilarityJudge | None
    canaries: bool
    max_unmeasured: Share

    @model_validator(mode="after")
    def _something_is_asked(self) -> Self:
        if self.provider == "offline" and (self.similarity_judge or self.draws > 1):
            raise ValueError("the offline judge gives one verdict a row: draws must be 1, similarity_judge null")
        if self.provider == "cascade" and (self.similarity_judge or not self.meaning_match):
            raise ValueError("the offline judge gives no rating: similarity_judge must be null, meaning_match {}")
        if self.provider != "none" and not self.metrics:
            raise ValueError("meaning_match and similarity_judge are null: nothing is asked; set provider to none")
        return self

    @field_validator("meaning_match", "similarity_judge", mode="before")
    @classmethod
    def _configure(cls, options: Any, info: ValidationInfo) -> Any:
        return options if options is None else configure("judge", str(info.field_name), options)

    @property
    def asks_server(self) -> bool:
        """Whether a language model behind a server judges, if only some of the rows."""
        return self.provider in SERVER_PROVIDERS

    @cached_property
    def server_key(self) -> tuple[str, str]:
        """Class of the server, and its name or else its address; both are part of the keys in the ledger."""
        return server_class(self.base_url), self.server or address(self.base_url)

    @property
    def metrics(self) -> list[JudgeMetric]:
        """The metrics asked for."""
        return [metric for metric in (self.meaning_match, self.similarity_judge) if metric]
