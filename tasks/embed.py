"""Vectors of texts: one row per distinct text that a semantic metric needs."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.errors import ParamsError
from goldmeter.estimates.embedded_texts import Params, embed
from goldmeter.ledger.vectors import Vectors
from goldmeter.models.embedding.encoders import Embedding
from goldmeter.models.embedding.local import user_folder
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.pipeline.stage import Contract, Stage

NORM_TOLERANCE = 1e-3


def require_folder_is_dep(section: Embedding) -> None:
    """Check that DVC notices when a model in a folder changes.

    Raises:
        ParamsError: The folder is no dep of the stage.
    """
    folder = user_folder(section.model) if section.provider == "local" else None
    deps = stages()["embed"].deps
    watched = [Path(dep).resolve() for dep in deps]
    if folder and "${embed.model}" not in deps and not any(map(folder.resolve().is_relative_to, watched)):
        raise ParamsError(
            f"embed.model: {section.model} is a folder; list it in dvc.yaml among the deps of embed: "
            "DVC re-runs the stage when its files change"
        )


def expect(params: Params) -> Contract:  # noqa: ARG001 (part of the protocol)
    """Expect one vector of unit norm per key, and offsets that count the keys in order."""
    from great_expectations import expectations as gxe

    low, high = 1.0 - NORM_TOLERANCE, 1.0 + NORM_TOLERANCE
    return Contract(
        rows=[
            *(gxe.ExpectColumnValuesToNotBeNull(column=name) for name in ("key", "offset", "norm")),
            gxe.ExpectColumnValuesToBeBetween(column="norm", min_value=low, max_value=high),
            gxe.ExpectColumnValuesToBeBetween(column="tokens", min_value=1),
        ],
        keys=[gxe.ExpectColumnValuesToBeUnique(column="key")],
        counts=[gxe.ExpectColumnValuesToBeBetween(column="out_of_order", min_value=0, max_value=0)],
    )


def counts(tables: Mapping[str, pa.Table]) -> dict[str, float]:
    """Count the rows of a part that break the order of keys or of offsets."""
    keys, offsets = tables["embed"]["key"].cast(pa.binary()), tables["embed"]["offset"].to_numpy()
    ascends = pc.less(keys.slice(0, max(len(keys) - 1, 0)), keys.slice(1))
    descents = len(ascends) - (pc.sum(ascends).as_py() or 0)
    return {"out_of_order": float(descents + np.count_nonzero(np.diff(offsets) != 1))}


STAGE = Stage(
    params=Params,
    whole=lambda params, inputs: embed(
        inputs.tables["normalize"],
        params,
        inputs.ledger(Vectors),
        inputs.scratch,
        inputs.progress,
        inputs.crew,
    ),
    expect=expect,
    counts=counts,
    check=lambda sections: require_folder_is_dep(sections["embed"]),
    server_imports=("torch",),  # takes two seconds
)
