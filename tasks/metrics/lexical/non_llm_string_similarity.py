"""Non-LLM string similarity: 1 minus a normalised edit distance of the two strings."""

from typing import Literal

import numpy as np
from rapidfuzz import distance, process

from tasks.metrics.base import Floats, MeanMetric
from tasks.metrics.pairs import Pairs
from tasks.text.utf8 import mapped

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
        responses, references = pairs.response_texts, pairs.reference_texts
        if not self.case_sensitive:
            sides = (pairs.responses, pairs.flat_references)
            responses, references = (mapped(str.casefold, side).to_pylist() for side in sides)
        paired_responses = [responses[row] or "" for row in pairs.rows.tolist()]
        scorer = _DISTANCES[self.distance].normalized_similarity
        return process.cpdist(paired_responses, references, scorer=scorer, dtype=np.float64)[:, None]
