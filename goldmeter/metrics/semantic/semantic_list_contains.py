"""Semantic list contains: 1 if the response states one phrase, or every phrase, of a list."""

import json
import re
import string
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from goldmeter.metrics.base import NO_PHRASES, Floats, MeanMetric
from goldmeter.metrics.cosine import cosines, distinct, rounded
from goldmeter.metrics.pairs import Pairs

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
# A run of visible characters; one character of Han and Kana, which are written without spaces.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\s\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")


class SemanticListContains(MeanMetric):
    """1 if any phrase (match_all: every phrase) has a cosine of at least `similarity_threshold`.

    Phrases are the row's own list, else its references; a row with neither is not measured. If both texts are empty
    after lower-casing and removal of punctuation, they are similar if equal ignoring case; if only one is empty, they
    are not.
    window: the part of the response that is compared with a phrase: all of it, its best sentence, or its best run of as
    many words as the phrase has; all of it always counts too.
    """

    default_threshold: ClassVar[float | None] = None

    similarity_threshold: Annotated[float, Field(gt=0.0, le=1.0)] = 0.7
    match_all: bool = False
    window: Literal["response", "sentence", "ngram"] = "response"
    case_insensitive: bool = True
    remove_punctuation: bool = True

    @property
    def needs_references(self) -> bool:
        return False

    def stats(self, pairs: Pairs) -> Floats:
        plan = self._plan(pairs)
        counts = plan.per_row(len(pairs))
        hits = plan.per_row(len(pairs), self._similarities(plan, pairs) >= self.similarity_threshold)
        measured = (counts > 0) & ~pairs.missing
        contains = (hits == counts) if self.match_all else (hits > 0)
        return np.stack([contains & measured & ~pairs.blank, measured], axis=-1).astype(np.float64)

    def texts(self, pairs: Pairs) -> list[str]:
        plan = self._plan(pairs)
        return distinct(plan.windows, plan.targets)

    def details(self, pairs: Pairs) -> list[str | None]:
        plan = self._plan(pairs)
        similarities = self._similarities(plan, pairs)
        ends = np.cumsum(plan.per_row(len(pairs)))
        out, start = super().details(pairs), 0
        for row, end in enumerate(ends.tolist()):
            if start == end and not pairs.missing[row]:
                out[row] = json.dumps({"unmeasured": NO_PHRASES})
            elif out[row] is None:
                out[row] = self._details(plan.phrases[start:end], similarities[start:end])
            start = end
        return out

    def _details(self, phrases: Sequence[str], similarities: Floats) -> str:
        details = {
            "matches": (similarities >= self.similarity_threshold).tolist(),
            "similarities": dict(zip(_unique_keys(phrases), similarities.tolist(), strict=True)),
            "threshold": self.similarity_threshold,
            "match_all": self.match_all,
        }
        return json.dumps(details, ensure_ascii=False)

    def _similarities(self, plan: "_Plan", pairs: Pairs) -> Floats:
        best = np.array(plan.without_windows)
        np.maximum.at(best, np.array(plan.slots, np.int64), cosines(pairs.embed, plan.windows, plan.targets))
        return rounded(best)

    def _plan(self, pairs: Pairs) -> "_Plan":
        plan = _Plan([], [], [], [], [], [])
        pieces = lru_cache(self._windows)
        for row, (response, row_phrases) in enumerate(zip(pairs.response_texts, _phrase_lists(pairs), strict=True)):
            for phrase in row_phrases:
                cleaned = self._clean(phrase)
                windows = pieces(response or "", len(_WORD.findall(cleaned))) if cleaned else []
                plan.slots.extend([len(plan.rows)] * len(windows))
                plan.windows.extend(windows)
                plan.targets.extend([cleaned] * len(windows))
                plan.rows.append(row)
                plan.phrases.append(phrase)
                plan.without_windows.append(-1.0 if windows else self._fallback(response or "", phrase))
        return plan

    def _fallback(self, response: str, phrase: str) -> float:
        """Return the similarity of two texts, at least one of which is empty after cleaning."""
        nothing = not self._clean(response) and not self._clean(phrase)
        return float(nothing and response.casefold() == phrase.casefold())

    def _clean(self, text: str) -> str:
        text = text.lower() if self.case_insensitive else text
        return " ".join((text.translate(_PUNCTUATION) if self.remove_punctuation else text).split())

    def _windows(self, response: str, words: int) -> list[str]:
        """Return the whole response and its sentences or runs of that many words, without blank and repeated ones."""
        whole = self._clean(response)
        pieces = [whole]
        if self.window == "sentence":
            pieces += map(self._clean, _SENTENCE_END.split(response))
        elif self.window == "ngram":
            places = [match.span() for match in _WORD.finditer(whole)]
            starts = range(len(places) - words + 1)
            pieces += [whole[places[i][0] : places[i + words - 1][1]] for i in starts]
        return [piece for piece in dict.fromkeys(pieces) if piece]


class _Plan(NamedTuple):
    """Phrases of all rows, one slot each, and the comparisons of windows with them.

    Attributes:
        rows: Row of each slot.
        phrases: Phrase of each slot, as written by the user.
        without_windows: Similarity of each slot if there is nothing to compare; else -1.
        slots: Slot of each comparison.
        windows: Part of the response in each comparison.
        targets: Cleaned phrase in each comparison.
    """

    rows: list[int]
    phrases: list[str]
    without_windows: list[float]
    slots: list[int]
    windows: list[str]
    targets: list[str]

    def per_row(self, rows: int, values: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the number of slots of each row, or the sum of their values; shape (rows,)."""
        return np.bincount(np.array(self.rows, np.int64), values, rows)


def phrases_of(value: Sequence[str]) -> list[str]:
    """Return the phrases of a list without blank ones; a single text may be a JSON list.

    >>> phrases_of(['["brown fox", "lazy dog"]']), phrases_of(["brown fox", " "])
    (['brown fox', 'lazy dog'], ['brown fox'])
    """
    texts = [*value]
    if len(texts) == 1 and texts[0].lstrip().startswith("["):
        try:
            parsed = json.loads(texts[0], parse_int=str, parse_float=str)
        except (ValueError, RecursionError):
            parsed = None
        if isinstance(parsed, list) and all(isinstance(item, str) for item in parsed):
            texts = parsed
    return [text for text in texts if text.strip()]


def _phrase_lists(pairs: Pairs) -> list[list[str]]:
    """Return the phrases of each row: its own list, or its references if it has none."""
    own = [None] * len(pairs) if pairs.phrases is None else pairs.phrases.to_pylist()
    lists = [
        references if phrases is None else phrases
        for phrases, references in zip(own, pairs.reference_lists, strict=True)
    ]
    return [phrases_of([text for text in texts if text]) for texts in lists]


def _unique_keys(phrases: Sequence[str]) -> list[str]:
    """Return the phrases as unique keys: the second occurrence becomes `phrase #2`."""
    keys: dict[str, None] = {}
    for phrase in phrases:
        key, number = phrase, 1
        while key in keys:
            number += 1
            key = f"{phrase} #{number}"
        keys[key] = None
    return list(keys)
