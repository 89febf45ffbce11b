"""Verdict source: who gave the verdicts of `meaning_match`, and which rows lie outside of its domain."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tasks.scores.columns import Candidate
from tasks.scores.primary import MEANING_MATCH, column

OFFLINE = "the offline judge"


@dataclass(frozen=True)
class VerdictSource:
    """Who gave the verdicts of `meaning_match`.

    name: in words. is_offline: whether it is the offline judge, whose error was measured. reasons: why rows of
    data/judge lie outside of its domain. codes: which of them each row has, -1 inside, shape (n,); empty where no table
    says so.
    """

    name: str
    is_offline: bool
    reasons: Sequence[str]
    codes: NDArray[np.integer[Any]]

    @classmethod
    def of(cls, signature: str, outside: Sequence[str | None] = ()) -> "VerdictSource":
        """Read the signature of meaning_match, "meaning_match|provider:openai|model:…".

        outside: why each row lies outside of the offline judge's domain, None inside; empty if it is not known.
        """
        fields = dict(part.partition(":")[::2] for part in signature.split("|")[1:])
        is_offline = fields.get("provider") == "offline"
        name = OFFLINE if is_offline else fields.get("model") or "a judge"
        encoded = pa.array(outside if is_offline else [], pa.string()).dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return cls(name, is_offline, encoded.dictionary.to_pylist(), codes)

    def outside_of(self, candidate: Candidate) -> Counter[str]:
        """How many judged rows of a candidate lie outside of the domain, by reason."""
        if not len(self.codes):
            return Counter()
        counts = np.bincount(self.codes[_judged(candidate)] + 1, minlength=len(self.reasons) + 1)[1:]
        return Counter({reason: int(count) for reason, count in zip(self.reasons, counts, strict=True) if count})

    def share_outside(self, candidate: Candidate) -> float:
        """The share of a candidate's judged rows that lie outside of the domain."""
        rows = _judged(candidate)
        return self.outside_of(candidate).total() / len(rows) if len(rows) else 0.0


def _judged(candidate: Candidate) -> NDArray[np.intp]:
    """The rows of the tables that have a verdict on a candidate."""
    verdicts = column(candidate, MEANING_MATCH)
    return candidate.positions if verdicts is None else candidate.positions[~np.isnan(verdicts.values)]
