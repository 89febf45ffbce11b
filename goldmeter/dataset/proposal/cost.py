"""What the first run takes, before it starts: the texts to embed."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa

from goldmeter.dataset.normalized import normalized
from goldmeter.errors import GoldmeterError
from goldmeter.estimates import embedded_texts
from goldmeter.ledger import root
from goldmeter.ledger.vectors import Vectors
from goldmeter.models.embedding.distinct_texts import FEWEST_TO_TELL
from goldmeter.pipeline import params
from goldmeter.pipeline.dvc_yaml import LEDGER
from goldmeter.pipeline.tables import Parts


def embedding() -> str | None:
    """A line about the texts in data/load that have no vector yet, or why they can't be embedded.

    None: embedding takes less than a minute.
    """
    try:
        with closing(Vectors(root() / "embed")) as ledger:
            ledger.take_in(Path(LEDGER, "embed"))
            ahead = embedded_texts.plan(_parts(), params.for_stage("embed"), ledger, FEWEST_TO_TELL)
    except GoldmeterError as error:
        return f"embed: {str(error).splitlines()[0]}"
    return f"embed: {ahead}" if ahead and ahead.is_long else None


def _parts() -> Iterator[pa.Table]:
    """The parts that data/normalize will have."""
    options = params.for_stage("normalize").normalize
    yield from (normalized(part, options) for part in Parts(Path("data/load")))
