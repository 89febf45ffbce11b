"""Semantic scores: one row per (id, candidate)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
from pydantic import ConfigDict, RootModel, field_validator

from tasks.contract import Contract
from tasks.metrics.base import Floats, Metric
from tasks.metrics.catalogue import configure
from tasks.models.embedding import Embedding, open_encoder, vector_facts, vector_keys
from tasks.scores import expect_scores, pairs_of, score_table
from tasks.section import Section

if TYPE_CHECKING:
    from tasks.ledger.vectors import VectorEvidence


class Semantic(RootModel[dict[str, Metric]]):
    """Metric → its options."""

    model_config = ConfigDict(frozen=True)

    @field_validator("root", mode="before")
    @classmethod
    def _configure(cls, metrics: Any) -> dict[str, Metric]:
        listed = cast(Mapping[str, Any], metrics or {})
        return {name: configure("semantic", name, options) for name, options in listed.items()}


class Params(Section):
    """The sections this stage sees."""

    embed: Embedding
    semantic: Semantic


def semantic(rows: pa.Table, params: Params, ledger: "VectorEvidence") -> pa.Table:
    """Score every response against its references by the vectors that the embed stage made."""
    encoder = open_encoder(params.embed)

    def embed(texts: Sequence[str]) -> Floats:
        return ledger.lookup(vector_keys(params.embed, encoder, texts)).astype(np.float64)

    return score_table(rows, pairs_of(rows, embed), params.semantic.root, vector_facts(params.embed, encoder))


def expect(params: Params) -> Contract:
    """Scores within bounds, results consistent with them, no row lost."""
    return expect_scores(list(params.semantic.root.values()), read="normalize")
