"""Rows of the next run, made from the user's records before any stage has run."""

from collections.abc import Iterator

import pyarrow as pa

from goldmeter.dataset.answers import opened
from goldmeter.dataset.normalized import normalized
from goldmeter.dataset.table import tables
from goldmeter.pipeline import params


def parts() -> Iterator[pa.Table]:
    """Yield the parts that data/normalize will have.

    Raises: as the stages load and normalize.
    """
    return (part for part, _ in loaded_parts())


def loaded_parts() -> Iterator[tuple[pa.Table, pa.Table]]:
    """Yield the parts that data/normalize will have, each with that of data/load.

    Raises: as the stages load and normalize.
    """
    load, normalize = params.for_stage("load"), params.for_stage("normalize").normalize
    for part in tables(opened(load), load):
        yield normalized(part["load"], normalize), part["load"]
