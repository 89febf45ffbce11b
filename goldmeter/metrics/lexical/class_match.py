"""Class match: 1 if the response names the class that a reference is, and no other one; else 0."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from string import ascii_uppercase
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, field_validator

from goldmeter.metrics.base import Floats, MeanMetric
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.class_names import NO_CLASS, ClassNames, Named, key
from goldmeter.text.normalization import normalize

Writings = dict[str, list[str]]
NOT_A_CLASS = "the reference is no class"
# Characters in the details of a text that is no class.
MAX_CHARS = 200


class ClassMatch(MeanMetric):
    """A response names the class that is its whole text, that a box or "The answer is …" holds, or that alone is in it.

    Case, markup, and blanks, hyphens and underscores between words do not count. An answer that names no class, or two,
    is wrong; a name that is negated, or only called possible, does not count. Rows whose references are no class are
    unmeasured, and failed. The phrases of a row are the texts of its options, A, B and so on.
    classes: their names, [spam, ham]; or each with other names or the text of the option, {A: Paris, B: [Rome, Roma]}.
    Without them, a row knows only its reference, which the response must equal after normalisation.
    """

    default_threshold: ClassVar[float | None] = None

    classes: Annotated[Writings, Field(min_length=1)] | None = None

    @field_validator("classes", mode="before")
    @classmethod
    def _with_writings(cls, classes: Any) -> Any:
        if isinstance(classes, list):
            return {_text(label): [] for label in classes}
        if isinstance(classes, dict):
            return {_text(label): _texts(others) for label, others in classes.items()}
        return classes

    @field_validator("classes")
    @classmethod
    def _check_names(cls, classes: Writings | None) -> Writings | None:
        ClassNames(classes or {})
        return classes

    def stats(self, pairs: Pairs) -> Floats:
        no_class = np.array([bool(own) and not any(own) for own in self._by_row(pairs)], np.bool_)
        return np.where(no_class[:, None], 0.0, super().stats(pairs))

    def pair_scores(self, pairs: Pairs) -> Floats:
        named, expected = self._named(pairs), self._expected(pairs)
        scores = [label == named[row].label for row, label in zip(pairs.rows.tolist(), expected, strict=True)]
        return np.where([label is None for label in expected], np.nan, scores).reshape(-1, 1)

    def details(self, pairs: Pairs) -> list[str | None]:
        notes = super().details(pairs)
        for row, (own, named) in enumerate(zip(self._by_row(pairs), self._named(pairs), strict=True)):
            if not own or pairs.missing[row]:
                continue
            labels = [label for label in own if label]
            if not labels:
                note: dict[str, Any] = {
                    "unmeasured": NOT_A_CLASS,
                    "reference": pairs.reference_lists[row][0][:MAX_CHARS],
                }
            else:
                note = json.loads(notes[row] or "{}") or _note(named)
                note["expected"] = _short(named.label if named.label in labels else labels[0])
            notes[row] = json.dumps(note, ensure_ascii=False)
        return notes

    def signature_fields(self) -> dict[str, object]:
        written = json.dumps(self.classes, sort_keys=True, ensure_ascii=False).encode()
        hashed = self.classes and f"{len(self.classes)}#{hashlib.sha256(written).hexdigest()[:8]}"
        return {"classes": hashed or "references", "refs": "best"}

    @cached_property
    def _names(self) -> ClassNames:
        return ClassNames(self.classes or {})

    def _expected(self, pairs: Pairs) -> list[str | None]:
        """Return the class that each of the m references is."""
        whole = _plain if self.classes is None else self._names.whole
        return pairs.once(f"{self.signature()} expected", lambda: [*map(whole, pairs.reference_texts)])

    def _by_row(self, pairs: Pairs) -> list[list[str | None]]:
        """Return the classes that the references of each of the n rows are."""
        expected, bounds = self._expected(pairs), pairs.offsets.tolist()
        return [expected[start:stop] for start, stop in pairwise(bounds)]

    def _named(self, pairs: Pairs) -> list[Named]:
        """Return what each of the n responses names."""
        read = lru_cache(maxsize=1 << 12)(self._names.named if self.classes else lambda text: Named(_plain(text)))

        def named() -> list[Named]:
            texts = [text or "" for text in pairs.response_texts]
            found = [read(text) if text else NO_CLASS for text in texts]
            options = pairs.phrases.to_pylist() if self.classes and pairs.phrases is not None else []
            for row, own in enumerate(options):
                if own and found[row] == NO_CLASS:
                    found[row] = self._with_options(own).named(texts[row])
            return found

        return pairs.once(f"{self.signature()} named", named)

    def _with_options(self, options: Sequence[str]) -> ClassNames:
        """Return the names with the options of a row, as other names of the letters A, B, … that are classes."""
        names = {label: [*others] for label, others in (self.classes or {}).items()}
        counts = Counter(map(key, options))
        for letter, text in zip(ascii_uppercase, options, strict=False):
            label = self._names.whole(letter)
            if label and text.strip() and counts[key(text)] == 1 and self._names.whole(text) is None:
                names[label].append(text)
        return ClassNames(names)


def _note(named: Named) -> dict[str, Any]:
    if named.label is not None:
        return {"class": _short(named.label)}
    return {"note": named.problem} | ({"named": [*named.several]} if named.several else {})


def _plain(text: str) -> str:
    """Return the class of a text where the classes are not known: the text itself, normalised."""
    return normalize(text) or text.casefold().strip()


def _short(label: str | None) -> str:
    text = label or ""
    return text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}…"


def _texts(others: Any) -> list[str]:
    if others is None:
        return []
    return [*map(_text, others)] if isinstance(others, list | tuple) else [_text(others)]


def _text(name: Any) -> str:
    """Return a name as text; YAML reads 1 and true as a number and a truth."""
    if isinstance(name, bool):
        return str(name).lower()
    if isinstance(name, str | int | float):
        return str(name)
    raise ValueError(f"{name!r} is no name of a class: expected text")
