"""Brings responses and references into the comparable form that accuracy, the offline judge and search read."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.pipeline.contract import Contract
from tasks.pipeline.settings import Section
from tasks.pipeline.tables import about, describe
from tasks.text.normalization import Form
from tasks.text.normalized import normalized

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

    unicode: Form
    case: bool
    punctuation: bool
    articles: bool


class Params(Section):
    """The sections this stage sees."""

    normalize: Normalize


def normalize(load: pa.Table, params: Params) -> pa.Table:
    """One row per (id, candidate): its texts, and the response and references normalised; no response stays null."""
    options = params.normalize.model_dump()
    references = load["references"].combine_chunks()
    offsets = np.cumsum([0, *pc.list_value_length(references).to_pylist()], dtype=np.int32)
    columns = {
        **{name: load[name] for name in SCHEMA.names if name in load.column_names},
        "response_normalized": normalized(load["response"].combine_chunks(), **options),
        "references_normalized": pa.ListArray.from_arrays(offsets, normalized(references.flatten(), **options)),
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
