"""Normalises responses and references for accuracy, the offline judge and the search of the report."""

import pyarrow as pa

from goldmeter.dataset.normalized import Normalize, normalized
from goldmeter.pipeline.settings import Section
from goldmeter.pipeline.stage import Contract, Stage


class Params(Section):
    """The sections of params.yaml that this stage reads."""

    normalize: Normalize


def normalize(load: pa.Table, params: Params) -> pa.Table:
    """Return one row per (id, candidate): its texts, and its normalised response (null stays null) and references."""
    return normalized(load, params.normalize)


def expect(params: Params) -> Contract:  # noqa: ARG001 (part of the protocol)
    """Expect every row of load, and a normalised text wherever there is a text."""
    from great_expectations import expectations as gxe
    from great_expectations.expectations.row_conditions import Column

    response, normalized = Column("response"), "response_normalized"
    return Contract(
        rows=[
            *(gxe.ExpectColumnValuesToNotBeNull(column=c) for c in ["id", "candidate", "references_normalized"]),
            gxe.ExpectColumnValuesToNotBeNull(column=normalized, row_condition=response.is_not_null()),
            gxe.ExpectColumnValuesToBeNull(column=normalized, row_condition=response.is_null()),
        ],
        counts=[gxe.ExpectColumnPairValuesToBeEqual(column_A="rows", column_B="rows_load")],
        same_keys_as="load",
    )


STAGE = Stage(params=Params, by_part=lambda load, params, _: normalize(load, params), expect=expect)
