"""Brings responses and references into the comparable form that accuracy, the offline judge and search read."""

from functools import cache, partial

import pyarrow as pa

from tasks.contract import Contract
from tasks.metrics import normalization
from tasks.section import Section
from tasks.tables import about, describe

TEXTS = pa.list_(pa.string())
SCHEMA = pa.schema(
    {
        **dict.fromkeys(["id", "candidate", "input", "response"], pa.string()),
        "references": TEXTS,
        "phrases": TEXTS,
        "response_normalized": pa.string(),
        "references_normalized": TEXTS,
    }
)


class Normalize(Section):
    """What does not count as a difference; white space never does."""

    unicode: normalization.Form
    case: bool
    punctuation: bool
    articles: bool


class Params(Section):
    """The sections this stage sees."""

    normalize: Normalize


def normalize(load: pa.Table, params: Params) -> pa.Table:
    """One row per (id, candidate): its texts, and the response and references normalised; no response stays null."""
    options = params.normalize.model_dump()
    normal = cache(partial(normalization.normalize, **options))  # candidates share their references
    responses = [None if text is None else normal(text) for text in load["response"].to_pylist()]
    references = [[normal(text) for text in texts] for texts in load["references"].to_pylist()]
    columns = {
        **{name: load[name] for name in SCHEMA.names if name in load.column_names},
        "response_normalized": pa.array(responses, pa.string()),
        "references_normalized": pa.array(references, TEXTS),
    }
    return describe(pa.table(columns, SCHEMA), about(load.schema) | {"normalize": options})


def expect(params: Params) -> Contract:  # noqa: ARG001 (the same for all options)
    """Every row of load, a normalised text wherever there is a text."""
    from great_expectations import expectations as gxe
    from great_expectations.expectations.row_conditions import Column

    response, normalized = Column("response"), "response_normalized"
    return Contract(
        rows=[
            *(gxe.ExpectColumnValuesToNotBeNull(column=c) for c in ["id", "candidate", "references_normalized"]),
            gxe.ExpectColumnValuesToNotBeNull(column=normalized, row_condition=response.is_not_null()),
            gxe.ExpectColumnValuesToBeNull(column=normalized, row_condition=response.is_null()),
        ],
        keys=[gxe.ExpectCompoundColumnsToBeUnique(column_list=["id", "candidate"])],
        counts=[gxe.ExpectColumnPairValuesToBeEqual(column_A="rows", column_B="rows_load")],
    )
