"""Lexical scores: one row per (id, candidate)."""

import pyarrow as pa

from goldmeter.estimates.tables import Lexical, expect_scores, pairs_of, score_table
from goldmeter.pipeline.settings import Section
from goldmeter.pipeline.stage import Contract, Stage


class Params(Section):
    """The sections of params.yaml that this stage reads."""

    lexical: Lexical


def lexical(rows: pa.Table, params: Params) -> pa.Table:
    """Score every response against its references by their words and characters."""
    return score_table(rows, pairs_of(rows), params.lexical.root)


def expect(params: Params) -> Contract:
    """Expect scores within bounds, results that follow from them, and no row lost."""
    return expect_scores(params.lexical.root.values())


STAGE = Stage(
    params=Params,
    by_part=lambda rows, params, _: lexical(rows, params),
    expect=expect,
    preload=("goldmeter.metrics.warm_up",),
)
