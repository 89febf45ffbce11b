"""Semantic scores: one row per (id, candidate)."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from goldmeter.estimates.tables import Semantic, expect_scores, pairs_of, score_table
from goldmeter.ledger.vectors import VectorEvidence
from goldmeter.metrics.base import Floats
from goldmeter.models.embedding.encoders import Embedding, open_encoder, vector_facts, vector_keys
from goldmeter.pipeline.settings import Section
from goldmeter.pipeline.stage import Contract, Stage


class Params(Section):
    """The sections of params.yaml that this stage reads."""

    embed: Embedding
    semantic: Semantic


def semantic(rows: pa.Table, params: Params, ledger: VectorEvidence) -> pa.Table:
    """Score every response against its references by the vectors of the embed stage."""
    encoder = open_encoder(params.embed)

    def embed(texts: Sequence[str]) -> Floats:
        return ledger.lookup(vector_keys(params.embed, encoder, texts)).astype(np.float64)

    return score_table(rows, pairs_of(rows, embed), params.semantic.root, vector_facts(params.embed, encoder))


def expect(params: Params) -> Contract:
    """Expect scores within bounds, results that follow from them, and no row lost."""
    return expect_scores(params.semantic.root.values())


STAGE = Stage(
    params=Params,
    by_part=lambda rows, params, inputs: semantic(rows, params, inputs.ledger(VectorEvidence)),
    expect=expect,
)
