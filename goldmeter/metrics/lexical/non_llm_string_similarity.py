"""Non-LLM string similarity: 1 minus a normalised edit distance of the two strings."""

from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from rapidfuzz import distance, process

from goldmeter.metrics.base import Floats, MeanMetric
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.columns import mapped, utf8

_DISTANCES = {
    "levenshtein": distance.Levenshtein,
    "hamming": distance.Hamming,
    "jaro": distance.Jaro,
    "jaro_winkler": distance.JaroWinkler,
    "indel": distance.Indel,
    "osa": distance.OSA,
}


class NonLlmStringSimilarity(MeanMetric):
    """rapidfuzz's normalised similarity with the most similar reference, on raw strings.

    hamming pads the shorter string; jaro_winkler weights the common prefix by 0.1.
    """

    distance: Literal["levenshtein", "hamming", "jaro", "jaro_winkler", "indel", "osa"] = "levenshtein"
    case_sensitive: bool = True

    def pair_scores(self, pairs: Pairs) -> Floats:
        sides = (pairs.responses, pairs.flat_references)
        if not self.case_sensitive:
            sides = (mapped(str.casefold, sides[0]), mapped(str.casefold, sides[1]))
        scores = (
            _levenshtein(*sides, pairs.rows) if self.distance == "levenshtein" else np.full(len(pairs.rows), np.nan)
        )
        rest = np.flatnonzero(np.isnan(scores))
        responses = [text or "" for text in sides[0].take(pa.array(pairs.rows[rest])).to_pylist()]
        references = sides[1].take(pa.array(rest)).to_pylist()
        scorer = _DISTANCES[self.distance].normalized_similarity
        scores[rest] = process.cpdist(responses, references, scorer=scorer, dtype=np.float64)
        return scores[:, None]


def _levenshtein(responses: pa.Array, references: pa.Array, rows: NDArray[np.int64]) -> Floats:
    """Return the similarity of each reference and response `rows[j]`, shape (m,); NaN where the kernel has none."""
    from goldmeter.text.kernels.sequences import edits  # importing numba takes half a second

    distances = edits(*utf8(responses), *utf8(references), rows)
    lengths, others = (pc.utf8_length(side).to_numpy(zero_copy_only=False) for side in (responses, references))
    longer = np.fmax(lengths[rows], others)  # the response's is NaN where it is missing
    return np.where(distances < 0, np.nan, 1.0 - distances / np.maximum(longer, 1))
