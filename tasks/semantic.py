"""Semantic scores: one row per (id, candidate)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from tasks.metrics.base import Floats
from tasks.models.embedding.encoders import Embedding, open_encoder, vector_facts, vector_keys
from tasks.pipeline.contract import Contract
from tasks.pipeline.settings import Section
from tasks.scores.settings import Semantic
from tasks.scores.tables import expect_scores, pairs_of, score_table

if TYPE_CHECKING:
    from tasks.ledger.vectors import VectorEvidence


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
    return expect_scores(params.semantic.root.values())
