"""The table data/normalize: the texts of data/load and their normalised forms, one row per (id, candidate)."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.estimates.column_facts import GROUP, WEIGHT
from goldmeter.pipeline.settings import Section
from goldmeter.pipeline.tables import about, describe
from goldmeter.text.normalization import Form, normalized_column

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

# Columns of data/load that are kept as they are, where they are mapped.
KEPT = ("contexts", "relevant", "slices", "criteria", WEIGHT)


class Normalize(Section):
    """Which differences between texts are ignored; white space always is."""

    unicode: Form
    case: bool
    punctuation: bool
    articles: bool


def normalized(load: pa.Table, settings: Normalize) -> pa.Table:
    """Add the normalised response and references to the texts; a null response stays null.

    Args:
        load: A part of data/load.
        settings: Section `normalize` of params.yaml.

    Returns:
        A table with the columns of `SCHEMA`, those of `KEPT` that `load` has, its groups if it has any, and its rows.
    """
    options = settings.model_dump()
    references = load["references"].combine_chunks()
    offsets = np.cumsum([0, *pc.list_value_length(references).to_pylist()], dtype=np.int32)
    columns = {
        **{name: load[name] for name in SCHEMA.names if name in load.column_names},
        "response_normalized": normalized_column(load["response"].combine_chunks(), **options),
        "references_normalized": pa.ListArray.from_arrays(offsets, normalized_column(references.flatten(), **options)),
    }
    kept = [name for name in KEPT if name in load.column_names]
    kept += [GROUP] if GROUP in load.column_names and load[GROUP].null_count < load.num_rows else []
    schema = pa.schema([*SCHEMA, *(pa.field(name, load.schema.field(name).type) for name in kept)])
    columns |= {name: load[name] for name in kept}
    return describe(pa.table(columns, schema), about(load.schema) | {"normalize": options})
