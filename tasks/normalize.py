"""Brings responses and references into the comparable form that accuracy, the offline judge and search read."""

import pyarrow as pa

from tasks.dataset.normalized import Normalize, normalized
from tasks.pipeline.contract import Contract
from tasks.pipeline.settings import Section


class Params(Section):
    """The sections this stage sees."""

    normalize: Normalize


def normalize(load: pa.Table, params: Params) -> pa.Table:
    """One row per (id, candidate): its texts, and the response and references normalised; no response stays null."""
    return normalized(load, params.normalize)


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
