"""Lexical scores: one row per (id, candidate)."""

import pyarrow as pa

from tasks.pipeline.contract import Contract
from tasks.pipeline.settings import Section
from tasks.scores.settings import Lexical
from tasks.scores.tables import expect_scores, pairs_of, score_table

PRELOAD = ("tasks.metrics.warm_up",)


class Params(Section):
    """The sections this stage sees."""

    lexical: Lexical


def lexical(rows: pa.Table, params: Params) -> pa.Table:
    """Score every response against its references by their words and characters."""
    return score_table(rows, pairs_of(rows), params.lexical.root)


def expect(params: Params) -> Contract:
    """Scores within bounds, results consistent with them, no row lost."""
    return expect_scores(params.lexical.root.values())
