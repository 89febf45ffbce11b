"""chrF: F-score of common character n-grams, and of word n-grams in chrF++.

Source: Popović 2015, "chrF: character n-gram F-score for automatic MT evaluation"; Popović 2017, "chrF++: words helping
character n-grams"; sacrebleu 2.6 `metrics/chrf.py`, whose scores it equals.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from goldmeter.metrics.base import NO_PASS_RATE, CorpusMetric, DefaultThreshold, Floats, best_reference, yes_or_no
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.columns import mapped
from goldmeter.text.tokenizers import CHRF
from goldmeter.text.tokens import Ragged, code_points, ngram_counts

# Stands for 0 / 0 under `eps_smoothing`; chrF++.py's value.
EPSILON = 1e-16
# The weight of recall that sacrebleu's signature stands for, as it has no field for it.
BETA = 2.0


class Chrf(CorpusMetric):
    """chrF with the best reference; the corpus score uses summed n-gram counts.

    Precision and recall are means over the orders that both texts have; white space is no character.
    char_order: longest n-gram of characters.
    word_order: longest n-gram of words: 0 is chrF, 2 is chrF++.
    beta: weight of recall against precision.
    whitespace: white space counts as characters.
    eps_smoothing: mean of the F-scores of all orders, as chrF++.py and Moses; orders without n-grams score almost 0.
    """

    default_threshold: ClassVar[DefaultThreshold] = NO_PASS_RATE
    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "chrf++": {"word_order": 2},
        "sacrebleu": {"scale": 100},
        "sacrebleu++": {"word_order": 2, "scale": 100},
    }

    char_order: Annotated[int, Field(ge=1)] = 6
    word_order: Annotated[int, Field(ge=0)] = 0
    beta: Annotated[float, Field(gt=0.0, allow_inf_nan=False)] = BETA
    lowercase: bool = False
    whitespace: bool = False
    eps_smoothing: bool = False
    scale: Literal[1, 100] = 1

    @property
    def bounds(self) -> tuple[float, float]:
        return (0.0, float(self.scale))

    def stats(self, pairs: Pairs) -> Floats:
        """Return n-grams of response, of reference and common ones, each by order, and 1; (n, 3·orders + 1)."""
        scored = self._reference_stats(pairs)
        best = best_reference(self.score(scored), pairs)
        rows = np.zeros((len(pairs), scored.shape[1]))
        rows[best >= 0] = scored[best[best >= 0]]
        rows[pairs.missing] = 0.0
        return rows

    def score(self, stats: Floats) -> Floats:
        responses, references, common = np.split(stats[..., :-1], 3, axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            precisions = np.where(responses > 0, common / responses, EPSILON)
            recalls = np.where(references > 0, common / references, EPSILON)
        if self.eps_smoothing:
            scores = _sum(self._f_score(precisions, recalls, otherwise=EPSILON)) / precisions.shape[-1]
        else:
            effective = (responses > 0) & (references > 0)
            orders = np.maximum(effective.sum(axis=-1), 1)
            means = (_sum(np.where(effective, shares, 0.0)) / orders for shares in (precisions, recalls))
            scores = self._f_score(*means, otherwise=0.0)
        return np.where(stats[..., -1] > 0, self.scale * scores, np.nan)

    def signature_fields(self) -> dict[str, object]:
        return {
            "nc": self.char_order,
            "nw": self.word_order,
            "beta": self.beta,
            "case": "lc" if self.lowercase else "mixed",
            "space": self.whitespace,
            "eff": not self.eps_smoothing,
            "refs": "best",
            "scale": None if self.scale == 1 else self.scale,
            "agg": None if self.aggregate == "corpus" else self.aggregate,
        }

    @property
    def sacrebleu(self) -> dict[str, str] | None:
        if self.aggregate != "corpus" or self.beta != BETA:
            return None
        return {
            "case": "lc" if self.lowercase else "mixed",
            "eff": yes_or_no(not self.eps_smoothing),
            "nc": str(self.char_order),
            "nw": str(self.word_order),
            "space": yes_or_no(self.whitespace),
        }

    def _f_score(self, precision: Floats, recall: Floats, *, otherwise: float) -> Floats:
        factor = self.beta**2
        weighted = factor * precision + recall
        scores = (1 + factor) * precision * recall / np.where(weighted > 0, weighted, 1.0)
        return np.where(weighted > 0, scores, otherwise)

    def _reference_stats(self, pairs: Pairs) -> Floats:
        """Return the statistics of each response with each of its references; shape (m, 3·orders + 1)."""
        counts = [np.concatenate(sides, axis=1) for sides in zip(*self._counts(pairs), strict=True)]
        return np.concatenate([*counts, np.ones((len(pairs.rows), 1))], axis=1)

    def _counts(self, pairs: Pairs) -> Iterator[tuple[NDArray[np.int64], ...]]:
        """Yield n-grams of responses, of references and common ones: of characters, then of words."""
        texts = [
            mapped(str.lower, side) if self.lowercase else side for side in (pairs.responses, pairs.flat_references)
        ]
        yield _common(_characters(*texts, blanks=self.whitespace), pairs, self.char_order)
        if self.word_order:
            tokens = pairs.tokens(CHRF, lowercase=self.lowercase)
            yield _common((tokens.responses, tokens.references), pairs, self.word_order)


def _characters(responses: pa.Array, references: pa.Array, *, blanks: bool) -> tuple[Ragged, Ragged]:
    both = code_points(responses, references, blanks=blanks)
    n = len(responses)
    return Ragged(both.ids, both.offsets[: n + 1]), Ragged(both.ids, both.offsets[n:])


def _common(texts: tuple[Ragged, Ragged], pairs: Pairs, max_order: int) -> tuple[NDArray[np.int64], ...]:
    """Return n-grams of responses, of references and common ones; each of shape (m, max_order).

    As in sacrebleu, a response has none of an order that its reference lacks.
    """
    from goldmeter.text.kernels.sequences import clipped_matches  # importing numba takes half a second

    responses, references = texts
    first = np.arange(len(pairs.rows))
    common = clipped_matches(
        responses.ids, responses.offsets, references.offsets, pairs.rows, first, first + 1, max_order
    )
    expected = ngram_counts(references.lengths, max_order)
    given = ngram_counts(responses.lengths, max_order)[pairs.rows]
    return np.where(expected > 0, given, 0), expected, common


def _sum(values: Floats) -> Floats:
    """Return sums along the last axis, added in the order of sacrebleu: equal scores stay equal."""
    return np.add.accumulate(values, axis=-1)[..., -1]
