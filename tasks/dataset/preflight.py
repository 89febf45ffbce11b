"""Rows of the next run, made from the user's records before any stage has run."""

from collections.abc import Iterator

import pyarrow as pa

from tasks.dataset.joined import questions
from tasks.dataset.normalized import normalized
from tasks.dataset.table import tables
from tasks.pipeline import params


def parts() -> Iterator[pa.Table]:
    """Yield the parts that data/normalize will have.

    Raises: as the stages load and normalize.
    """
    load, normalize = params.for_stage("load"), params.for_stage("normalize").normalize
    for part in tables(questions(load), load):
        yield normalized(part["load"], normalize)
