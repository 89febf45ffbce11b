"""Semantic list contains: whether the response says what one phrase, or every phrase, of a list says."""

import json
import re
import string
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tasks.metrics.base import NO_PHRASES, Floats, MeanMetric
from tasks.metrics.cosine import cosines, distinct, rounded
from tasks.metrics.pairs import Pairs

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\s\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
"""A run of visible characters; of Han and Kana, which have no spaces, one character."""


class SemanticListContains(MeanMetric):
    """1 iff any phrase (match_all: every phrase) reaches `similarity_threshold`.

    Phrases are the row's own, where it has a list of them, else its references; a row with none is not measured.
    window: what of the response a phrase is compared with: all of it, its best sentence, or its best run of as many
    words as the phrase has; all of it always counts too. Where lower case and no punctuation leave nothing of both
    texts, they are similar iff equal ignoring case; nothing of one only: not similar.
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
        return distinct(plan.windows, plan.wanted)

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
        facts = {
            "matches": (similarities >= self.similarity_threshold).tolist(),
            "similarities": dict(zip(_apart(phrases), similarities.tolist(), strict=True)),
            "threshold": self.similarity_threshold,
            "match_all": self.match_all,
        }
        return json.dumps(facts, ensure_ascii=False)

    def _similarities(self, plan: "_Plan", pairs: Pairs) -> Floats:
        best = np.array(plan.settled)
        np.maximum.at(best, np.array(plan.slots, np.int64), cosines(pairs.embed, plan.windows, plan.wanted))
        return rounded(best)

    def _plan(self, pairs: Pairs) -> "_Plan":
        plan = _Plan([], [], [], [], [], [])
        pieces = lru_cache(self._windows)
        for row, (response, listed) in enumerate(zip(pairs.response_texts, _listed(pairs), strict=True)):
            for phrase in listed:
                wanted = self._clean(phrase)
                windows = pieces(response or "", len(_WORD.findall(wanted))) if wanted else []
                plan.slots.extend([len(plan.rows)] * len(windows))
                plan.windows.extend(windows)
                plan.wanted.extend([wanted] * len(windows))
                plan.rows.append(row)
                plan.phrases.append(phrase)
                plan.settled.append(-1.0 if windows else self._fallback(response or "", phrase))
        return plan

    def _fallback(self, response: str, phrase: str) -> float:
        """The similarity of texts of which at least one has nothing left."""
        nothing = not self._clean(response) and not self._clean(phrase)
        return float(nothing and response.casefold() == phrase.casefold())

    def _clean(self, text: str) -> str:
        text = text.lower() if self.case_insensitive else text
        return " ".join((text.translate(_PUNCTUATION) if self.remove_punctuation else text).split())

    def _windows(self, response: str, words: int) -> list[str]:
        """All of the response, and its sentences or runs of so many words; each once, none blank."""
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
    """Phrases of all rows, one slot each, and the comparisons that settle them.

    rows, phrases, settled: of each slot the row, the phrase as given, and its similarity without any comparison.
    slots, windows, wanted: of each comparison the slot and the two texts.
    """

    rows: list[int]
    phrases: list[str]
    settled: list[float]
    slots: list[int]
    windows: list[str]
    wanted: list[str]

    def per_row(self, rows: int, values: NDArray[Any] | None = None) -> NDArray[Any]:
        """Slots of each row, or the sum of their values; shape (rows,)."""
        return np.bincount(np.array(self.rows, np.int64), values, rows)


def phrases_of(value: Sequence[str]) -> list[str]:
    """The phrases in a list; one text alone may be a JSON list. Blank ones are none.

    >>> phrases_of(['["brown fox", "lazy dog"]']), phrases_of(["brown fox", " "])
    (['brown fox', 'lazy dog'], ['brown fox'])
    """
    texts = [*value]
    if len(texts) == 1 and texts[0].lstrip().startswith("["):
        try:
            parsed = json.loads(texts[0], parse_int=str, parse_float=str)
        except (ValueError, RecursionError):
            parsed = None
        if isinstance(parsed, list) and all(isinstance(each, str) for each in parsed):
            texts = parsed
    return [text for text in texts if text.strip()]


def _listed(pairs: Pairs) -> list[list[str]]:
    """The phrases of each row: its own, or its references where it has no list at all."""
    own = [None] * len(pairs) if pairs.phrases is None else pairs.phrases.to_pylist()
    together = zip(own, pairs.reference_lists, strict=True)
    return [
        phrases_of([text for text in (references if mine is None else mine) if text]) for mine, references in together
    ]


def _apart(phrases: Sequence[str]) -> list[str]:
    """The phrases as keys: the second of the same is `phrase #2`."""
    keys: dict[str, None] = {}
    for phrase in phrases:
        key, number = phrase, 1
        while key in keys:
            number += 1
            key = f"{phrase} #{number}"
        keys[key] = None
    return list(keys)
