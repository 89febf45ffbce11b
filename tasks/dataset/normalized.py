"""The table of data/normalize: the texts of data/load, and their normalised forms."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.pipeline.settings import Section
from tasks.pipeline.tables import about, describe
from tasks.text.normalization import Form, normalized_column

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


def normalized(load: pa.Table, settings: Normalize) -> pa.Table:
    """One row per (id, candidate): its texts, and the response and references normalised; no response stays null."""
    options = settings.model_dump()
    references = load["references"].combine_chunks()
    offsets = np.cumsum([0, *pc.list_value_length(references).to_pylist()], dtype=np.int32)
    columns = {
        **{name: load[name] for name in SCHEMA.names if name in load.column_names},
        "response_normalized": normalized_column(load["response"].combine_chunks(), **options),
        "references_normalized": pa.ListArray.from_arrays(offsets, normalized_column(references.flatten(), **options)),
    }
    return describe(pa.table(columns, SCHEMA), about(load.schema) | {"normalize": options})
