"""Rows of the next run, made from the user's records before any stage has run."""

from collections.abc import Iterator

import pyarrow as pa

from tasks.dataset.answers import opened
from tasks.dataset.normalized import normalized
from tasks.dataset.table import tables
from tasks.pipeline import params


def parts() -> Iterator[pa.Table]:
    """Yield the parts that data/normalize will have.

    Raises: as the stages load and normalize.
    """
    return (part for part, _ in labelled_parts())


def labelled_parts() -> Iterator[tuple[pa.Table, pa.ChunkedArray]]:
    """Yield the parts that data/normalize will have, each with the human labels of its rows, null without one.

    Raises: as the stages load and normalize.
    """
    load, normalize = params.for_stage("load"), params.for_stage("normalize").normalize
    for part in tables(opened(load), load):
        yield normalized(part["load"], normalize), part["load"]["label"]
