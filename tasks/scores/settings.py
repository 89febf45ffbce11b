"""Sections `lexical` and `semantic` of params.yaml: metric → its options."""

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from pydantic import ConfigDict, RootModel, field_validator

from tasks.metrics.base import Metric
from tasks.metrics.catalogue import configure


class Metrics(RootModel[dict[str, Metric]]):
    """Section of params.yaml that lists a family's metrics: metric → its options."""

    model_config = ConfigDict(frozen=True)
    family: ClassVar[str]

    @field_validator("root", mode="before")
    @classmethod
    def _configure(cls, metrics: Any) -> dict[str, Metric]:
        listed = cast(Mapping[str, Any], metrics or {})
        return {name: configure(cls.family, name, options) for name, options in listed.items()}


class Lexical(Metrics):
    """Metric → its options."""

    family: ClassVar[str] = "lexical"


class Semantic(Metrics):
    """Metric → its options."""

    family: ClassVar[str] = "semantic"
