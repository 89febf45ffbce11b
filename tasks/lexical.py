"""Lexical scores: one row per (id, candidate)."""

from collections.abc import Mapping
from typing import Any, cast

import pyarrow as pa
from pydantic import ConfigDict, RootModel, field_validator

from tasks.contract import Contract
from tasks.metrics.base import Metric
from tasks.metrics.catalogue import configure
from tasks.scores import expect_scores, pairs_of, score_table
from tasks.section import Section


class Lexical(RootModel[dict[str, Metric]]):
    """Metric → its options."""

    model_config = ConfigDict(frozen=True)

    @field_validator("root", mode="before")
    @classmethod
    def _configure(cls, metrics: Any) -> dict[str, Metric]:
        listed = cast(Mapping[str, Any], metrics or {})
        return {name: configure("lexical", name, options) for name, options in listed.items()}


class Params(Section):
    """The sections this stage sees."""

    lexical: Lexical


def lexical(rows: pa.Table, params: Params) -> pa.Table:
    """Score every response against its references by their words and characters."""
    return score_table(rows, pairs_of(rows), params.lexical.root)


def expect(params: Params) -> Contract:
    """Scores within bounds, results consistent with them, no row lost."""
    return expect_scores(list(params.lexical.root.values()), read="normalize")
