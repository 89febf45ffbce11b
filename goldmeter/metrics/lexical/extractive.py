"""How much of a summary is copied from its source: coverage and density of the copied fragments, and compression.

Source: Grusky et al. 2018, "Newsroom: A Dataset of 1.3 Million Summaries with Diverse Extractive Strategies".
"""

from math import inf
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.metrics.base import NO_PASS_RATE, DefaultThreshold, Floats, MeanMetric
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.tokenizers import TokenizerName, tokenizer


class Extractive(MeanMetric):
    """The source is the input; no reference is read. Rows without an input are not asked.

    Coverage is the share of the response's words in fragments of the source, density the mean length of a word's
    fragment, compression the number of the source's words for each word of the response. Neither more
    nor less of them is better: that depends on what you aim at.
    """

    default_threshold: ClassVar[DefaultThreshold] = NO_PASS_RATE
    has_direction: ClassVar[bool] = False

    tokenizer: TokenizerName = "words"

    @property
    def column(self) -> str:
        return f"{self.name}_coverage"

    @property
    def columns(self) -> tuple[str, ...]:
        return (f"{self.name}_coverage", f"{self.name}_density", f"{self.name}_compression")

    def bounds_of(self, column: str) -> tuple[float, float]:
        return self.bounds if column == self.column else (0.0, inf)

    @property
    def needs_references(self) -> bool:
        return False

    def applies(self, pairs: Pairs) -> NDArray[np.bool_]:
        if pairs.inputs is None:
            return np.zeros(len(pairs), np.bool_)
        visible = pc.fill_null(pc.greater(pc.utf8_length(pc.utf8_trim_whitespace(pairs.inputs)), 0), fill_value=False)
        return np.asarray(visible.to_numpy(zero_copy_only=False), np.bool_)

    def stats(self, pairs: Pairs) -> Floats:
        """Return coverage, density, compression, and 1; shape (n, 4)."""
        rows = np.zeros((len(pairs), 4))
        if pairs.inputs is None:
            return rows
        from goldmeter.text.kernels.fragments import fragment_sums  # importing numba takes half a second

        sources = pairs.inputs.fill_null("")
        offsets = pa.array(np.arange(len(pairs) + 1, dtype=np.int32))
        tokens = Pairs(pairs.responses, pa.ListArray.from_arrays(offsets, sources)).tokens(tokenizer(self.tokenizer))
        lengths = tokens.responses.lengths
        words = np.maximum(lengths, 1)
        rows[:, :2] = fragment_sums(*tokens.arrays, len(tokens.words)) / words[:, None]
        rows[:, 2] = np.where(lengths > 0, tokens.references.lengths / words, 0.0)
        rows[:, 3] = 1.0
        rows[pairs.missing] = 0.0
        return rows
