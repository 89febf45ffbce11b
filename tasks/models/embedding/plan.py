"""What is to be embedded, and how long that takes here."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tasks.models.embedding.distinct_texts import DistinctTexts
from tasks.models.embedding.encoders import Embedding, Encoder

# Missing texts from which the pace is measured before they are encoded, and seconds from which the user is told.
FEWEST_TO_TELL, LONG = 1_000, 60
# To measure it: bands of similar length, and texts timed in each.
BANDS, TIMED = 6, 24


class Plan(NamedTuple):
    """The texts without a vector, their tokens as far as a pass reads them, and the expected time.

    tokens: None if only the server knows.
    seconds: Measured with a few of the texts; None for a server, which is not asked ahead.
    """

    model: str
    texts: int
    tokens: int | None
    seconds: float | None

    @property
    def is_long(self) -> bool:
        """Whether to tell the user before it starts."""
        return self.seconds is None or self.seconds >= LONG

    def __str__(self) -> str:
        tokens = "" if self.tokens is None else f" of {self.tokens:,} tokens"
        pace = f", {self.texts / self.seconds:,.0f} texts a second here" if self.seconds else ""
        lasting = "" if self.seconds is None else f": about {_duration(self.seconds)}{pace}"
        what = f"{self.texts:,} text{'s' * (self.texts != 1)}{tokens} to embed by {self.model}{lasting}"
        return f"{what}; once, the ledger keeps the vectors. To do without: semantic: {{}} in params.yaml"


def planned(texts: DistinctTexts, encoder: Encoder, section: Embedding, seconds: float | None) -> Plan:
    """Plan the encoding of the texts that lack a vector.

    seconds: As `expected_seconds` returns; None for a server.
    """
    tokens = texts.tokens_to_encode()
    if section.long == "truncate" and encoder.window:
        tokens = np.minimum(tokens, encoder.window)
    return Plan(section.model, texts.missing, int(tokens.sum()) if tokens.all() else None, seconds)


def expected_seconds(texts: DistinctTexts, encoder: Encoder) -> float:
    """Time a few texts of every length, neighbours in the order in which they are encoded; for one process."""
    encoder.encode(texts.to_encode(0, 1).strings)  # loads the model
    bands = [band for band in np.array_split(np.arange(texts.missing), BANDS) if len(band)]
    return sum(_seconds_of(band, texts, encoder) for band in bands)


def _seconds_of(band: np.ndarray[Any, Any], texts: DistinctTexts, encoder: Encoder) -> float:
    """Time some texts in the middle of a band of similar length, for the whole band; the faster of two times."""
    middle = int(band[0]) + max((len(band) - TIMED) // 2, 0)
    timed = texts.to_encode(middle, min(middle + TIMED, int(band[-1]) + 1)).strings
    return min(_seconds(timed, encoder) for _ in range(2)) * len(band) / len(timed)


def _seconds(texts: Sequence[str], encoder: Encoder) -> float:
    start = time.perf_counter()
    encoder.encode(texts)
    return time.perf_counter() - start


def _duration(seconds: float) -> str:
    """A rough time.

    >>> _duration(20), _duration(100), _duration(5000)
    ('20 seconds', '2 minutes', '83 minutes')
    """
    return f"{seconds:.0f} seconds" if seconds < LONG else f"{seconds / 60:.0f} minutes"
