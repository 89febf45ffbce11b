"""Reference match: the maximum or mean cosine with several references."""

from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, field_validator

from goldmeter.metrics.base import Floats
from goldmeter.metrics.cosine import CosineMetric, rounded
from goldmeter.metrics.pairs import Pairs
from goldmeter.pipeline.hashing import sha256


class ReferenceMatch(CosineMetric):
    """Negative cosines count as 0.

    references: the same references for every row, instead of the row's own.
    deduplicate: a repeated reference counts once.
    """

    references: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    aggregation: Literal["max", "mean"] = "max"
    deduplicate: bool = False

    @field_validator("references")
    @classmethod
    def _check_references(cls, references: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if references is not None and not all(reference.strip() for reference in references):
            raise ValueError("a reference is blank")
        return references

    @property
    def needs_references(self) -> bool:
        return self.references is None

    def signature_fields(self) -> dict[str, object]:
        fields = super().signature_fields()
        if self.references is None:
            return fields | {"references": "row"}
        return fields | {"references": sha256("\0".join(self.references)).hex()[:12]}

    def stats(self, pairs: Pairs) -> Floats:
        return super().stats(self._with_references(pairs))

    def texts(self, pairs: Pairs) -> list[str]:
        return super().texts(self._with_references(pairs))

    def pair_scores(self, pairs: Pairs) -> Floats:
        scores = np.clip(self.cosine(pairs), 0.0, 1.0)
        if self.aggregation == "mean":
            sums = np.bincount(pairs.rows, weights=scores, minlength=len(pairs))
            scores = (sums / np.maximum(np.diff(pairs.offsets), 1))[pairs.rows]
        return rounded(scores)[:, None]

    def _with_references(self, pairs: Pairs) -> Pairs:
        """Return the pairs with the references that count."""
        if self.references is None and not self.deduplicate:
            return pairs
        lists = pairs.reference_lists if self.references is None else [list(self.references)] * len(pairs)
        if self.deduplicate:
            lists = [list(dict.fromkeys(references)) for references in lists]
        return replace(pairs, references=pa.array(lists, pa.list_(pa.string())), normalized=None, _tokens={})
