"""Accuracy: 1 if the response equals a reference after normalisation, or is similar enough; else 0."""

import json
import string
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import Field
from rapidfuzz import fuzz

from goldmeter.metrics.base import Floats, MeanMetric
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.columns import equal, mapped
from goldmeter.text.normalization import normalize, normalized_column
from goldmeter.text.quantities import Found, close
from goldmeter.text.quantity_reader import MAX_WHOLE, found_whole
from goldmeter.text.signs import SIGNS, same_signs


class Match(NamedTuple):
    """How two texts match, and their similarity (0 if it was not computed)."""

    kind: Literal["exact", "fuzzy", "none"]
    similarity: float


EXACT, NONE = Match("exact", 1.0), Match("none", 0.0)
_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)


class Accuracy(MeanMetric):
    """A fuzzy match counts if `fuzzy_match` is set; partial credit is in the details.

    Signs that change what a text says are compared before normalisation deletes them: C++ is not C#, x == y not x != y,
    O- not O+, <5 not >5, 5 % not 5, 1,5 not 15. $5 is not €5, but 5.

    normalize_text: compare normalised texts; else only surrounding white space is removed.
    fuzzy_threshold: smallest Indel similarity of a fuzzy match, and the credit for one.
    quantities: texts that are a quantity are also equal if it is the same in another writing, as `number` reads it:
    five = 5, 1e3 = 1000, 5 km = 5000 m; other words beside it must be equal.
    rules: benchwise counts exact matches only, gives a fuzzy match its similarity as credit,
    and deletes ASCII punctuation after collapsing white space.
    """

    default_threshold: ClassVar[float | None] = None
    version: ClassVar[int] = 2  # 1: signs that change the meaning were not compared
    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {"benchwise": {"rules": "benchwise"}}

    case_sensitive: bool = False
    normalize_text: bool = True
    fuzzy_match: bool = False
    fuzzy_threshold: Annotated[float, Field(ge=0, le=1)] = 0.8
    quantities: bool = False
    rules: Literal["default", "benchwise"] = "default"

    def pair_scores(self, pairs: Pairs) -> Floats:
        if self.fuzzy_match:
            return np.array([self.is_hit(match) for match in self._matches(pairs)], np.float64)[:, None]
        responses, references = self._compared(pairs)
        hits = equal(responses, references, pairs.rows)
        for j in np.flatnonzero(hits & (np.asarray(pc.binary_length(references)) == 0)):
            hits[j] = self.match(pairs.pair(j), ("", "")) is EXACT
        for j in np.flatnonzero(hits & self._may_differ(pairs)):
            hits[j] = same_signs(*pairs.pair(j))
        if self.quantities:
            for j in np.flatnonzero(~hits):
                hits[j] = _same_quantity(*pairs.pair(j))
        return hits.astype(np.float64)[:, None]

    def details(self, pairs: Pairs) -> list[str | None]:
        notes = super().details(pairs)
        if not self.fuzzy_match:
            return notes
        best: dict[int, Match] = {}
        for row, match in zip(pairs.rows.tolist(), self._matches(pairs), strict=True):
            best[row] = max(best.get(row, NONE), match, key=lambda match: (match is EXACT, match.similarity))
        for row, match in best.items():
            if notes[row] is None and match is not EXACT:
                about = {"match": match.kind, "score": self.credit(match), "similarity": round(match.similarity, 6)}
                notes[row] = json.dumps(about)
        return notes

    def signature_fields(self) -> dict[str, object]:
        form = "normalized" if self.normalize_text else "stripped"
        return {
            "form": form,
            "case": "mixed" if self.case_sensitive else "folded",
            "fuzzy": self.fuzzy_threshold if self.fuzzy_match else "no",
            "quantities": self.quantities or None,
            "rules": self.rules,
            "refs": "best",
        }

    def is_hit(self, match: Match) -> bool:
        """Return whether the match counts as correct."""
        return match is EXACT or (match.kind == "fuzzy" and self.rules == "default")

    def credit(self, match: Match) -> float:
        """Return 1 for an exact match, 0 for none, and partial credit for a fuzzy one."""
        if match.kind != "fuzzy":
            return float(match is EXACT)
        return self.fuzzy_threshold if self.rules == "default" else match.similarity

    def comparable(self, text: str) -> str:
        """Return the text in the form in which it is compared."""
        if self.rules == "benchwise":
            text = text if self.case_sensitive else text.lower()
            return (" ".join(text.split()).translate(_ASCII_PUNCTUATION) if self.normalize_text else text).strip()
        if self.normalize_text:
            return normalize(text, case=not self.case_sensitive)
        return (text if self.case_sensitive else text.casefold()).strip()

    def match(self, raw: tuple[str, str], compared: tuple[str, str]) -> Match:
        """Return how a response matches a reference, from their raw and compared forms."""
        response, reference = compared
        if response == reference:
            nothing_left = not response and self.rules == "default"
            if nothing_left and raw[0].casefold() != raw[1].casefold():
                return NONE
            if not self.compares_signs or same_signs(*raw):
                return EXACT
        if self.quantities and _same_quantity(*raw):
            return EXACT
        if response == reference or not (self.fuzzy_match and response and reference):
            return NONE
        similarity = fuzz.ratio(response, reference) / 100
        return Match("fuzzy" if similarity >= self.fuzzy_threshold else "none", similarity)

    @property
    def reads_normalized(self) -> bool:
        return self.rules == "default" and self.normalize_text and not self.case_sensitive

    @property
    def compares_signs(self) -> bool:
        """Whether normalisation deletes signs that must be compared."""
        return self.rules == "default" and self.normalize_text

    def _may_differ(self, pairs: Pairs) -> NDArray[np.bool_]:
        """Return which pairs have unequal texts with a sign in one of them; shape (m,)."""
        if not self.compares_signs:
            return np.zeros(len(pairs.rows), np.bool_)
        texts = pairs.responses, pairs.flat_references
        has_sign = [
            np.array(pc.fill_null(pc.match_substring_regex(side, SIGNS), fill_value=False), np.bool_) for side in texts
        ]
        found: NDArray[np.bool_] = (has_sign[0][pairs.rows] | has_sign[1]) & ~equal(*texts, pairs.rows)
        return found

    def _compared(self, pairs: Pairs) -> tuple[pa.Array, ...]:
        """Return the n responses and m references in the form in which they are compared."""
        if self.reads_normalized:
            return pairs.normalized_texts
        texts = pairs.responses, pairs.flat_references
        if self.normalize_text and self.rules == "default":
            return tuple(normalized_column(side, case=not self.case_sensitive) for side in texts)
        return tuple(mapped(self.comparable, side) for side in texts)

    def _matches(self, pairs: Pairs) -> list[Match]:
        responses, references = (texts.to_pylist() for texts in self._compared(pairs))
        compared = [(responses[row] or "", text) for row, text in zip(pairs.rows.tolist(), references, strict=True)]
        return [self.match(*both) for both in zip(pairs.paired, compared, strict=True)]


def _same_quantity(response: str, reference: str) -> bool:
    """Return whether both texts are one quantity, with equal words beside it."""
    if max(len(response), len(reference)) > MAX_WHOLE:
        return False
    found, expected = found_whole(response), found_whole(reference)
    if found is None or expected is None or not close(found.value, expected.value):
        return False
    return _beside(response, found) == _beside(reference, expected)


def _beside(text: str, found: Found) -> str:
    return normalize(f"{text[: found.start]} {text[found.stop :]}")
