"""Number: 1 if the number in the response is that of a reference, within a tolerance; else 0."""

import json
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tasks.metrics.base import Floats, MeanMetric, best_reference
from tasks.metrics.pairs import Pairs
from tasks.text import latex
from tasks.text.numbers import Reading, Tolerance, Value, close, values

Which = Literal["last", "only", "boxed", "boxed_or_last"]
NotNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Factor = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]


class Number(MeanMetric):
    """Numbers are read exactly: 1,000 = 1e3 = 1000.0. Rows whose references hold no number are not asked.

    Numbers in brackets, such as (2, 4), are one value, a tuple; it equals no other brackets and no single number.
    which: the number that counts: the last of the text, the only one (all that the text states are equal), or that of
    its last LaTeX box; boxed_or_last falls back to the last. A reference without a box is read without.
    relative_tolerance: largest difference, as a share of the reference.
    absolute_tolerance: largest difference; the larger of both applies.
    decimal: decimal separator; the other of the two separates thousands.
    thousands: 1,234 is one number; a list such as 100,200 is then one too.
    scientific: 1.5e3, 1.5 × 10^3 and 10^3 are numbers.
    fractions: 3/4, 1 1/2 and ½ are numbers.
    percent: hundredth reads 5 % as 0.05, ignore as 5.
    units: units of one quantity with their factors, {km: 1000, m: 1, million: 1e6}; other units are ignored.
    dates: 2025-04-03, 3 April 2025 (English) and 3/4/2025 are dates, in that order of day and month.
    latex: LaTeX's markup is removed, and its fractions are read.
    """

    default_threshold: ClassVar[float | None] = None
    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "math": {"which": "boxed_or_last", "latex": True, "percent": "ignore"},
    }

    which: Which = "last"
    relative_tolerance: NotNegative = 0.0
    absolute_tolerance: NotNegative = 0.0
    decimal: Literal[".", ","] = "."
    thousands: bool = True
    scientific: bool = True
    fractions: bool = True
    percent: Literal["hundredth", "ignore"] = "hundredth"
    units: dict[str, Factor] | None = None
    dates: Literal["dmy", "mdy"] | None = None
    latex: bool = False

    def applies(self, pairs: Pairs) -> NDArray[np.bool_]:
        stated = [self._expected(text).value is not None for text in pairs.reference_texts]
        return pairs.unreferenced | (np.bincount(pairs.rows, stated, len(pairs)) > 0)

    def pair_scores(self, pairs: Pairs) -> Floats:
        return np.array([self._same(*pair) for pair in pairs.paired], np.float64).reshape(-1, 1)

    def details(self, pairs: Pairs) -> list[str | None]:
        notes = super().details(pairs)
        best = best_reference(self.pair_scores(pairs)[:, 0], pairs)
        for row, reference in enumerate(best.tolist()):
            if notes[row] is None and reference >= 0:
                notes[row] = self._note(*pairs.pair(reference))
        return notes

    def signature_fields(self) -> dict[str, object]:
        units = self.units and "+".join(f"{name}={factor:g}" for name, factor in self.units.items())
        return {**super().signature_fields(), "units": units, "refs": "best"}

    def _same(self, response: str, reference: str) -> bool:
        number, expected = self._answered(response).value, self._expected(reference).value
        return number is not None and expected is not None and close(number, expected, self._tolerance)

    def _note(self, response: str, reference: str) -> str:
        answered, expected = self._answered(response), self._expected(reference)
        note = {"note": answered.problem} if answered.problem else {"found": answered.text}
        return json.dumps({**note, "expected": expected.text}, ensure_ascii=False)

    def _answered(self, text: str) -> "_Answer":
        return _answer(text, self.which, self._reading, self.latex)

    def _expected(self, text: str) -> "_Answer":
        which: Which = "boxed_or_last" if self.which == "boxed" else self.which
        return _answer(text, which, self._reading, self.latex)

    @cached_property
    def _reading(self) -> Reading:
        units = tuple((name, Fraction(str(factor))) for name, factor in (self.units or {}).items())
        return Reading(self.decimal, self.thousands, self.scientific, self.fractions, self.percent, units, self.dates)

    @cached_property
    def _tolerance(self) -> Tolerance:
        return Tolerance(Fraction(str(self.relative_tolerance)), Fraction(str(self.absolute_tolerance)))


class _Answer(NamedTuple):
    """The number of a text as read and as written; or the problem why there is none."""

    value: Value | None
    text: str | None = None
    problem: str | None = None


@lru_cache(maxsize=1 << 16)
def _answer(text: str, which: Which, reading: Reading, is_latex: bool) -> _Answer:  # noqa: FBT001 (for the cache)
    if which.startswith("boxed"):
        box = latex.boxed(text)
        if box is None and which == "boxed":
            return _Answer(None, problem="no box")
        text = text if box is None else box
    if is_latex:
        text = latex.plain(text)
    found = values(text, reading)
    if not found:
        return _Answer(None, problem="no number")
    if which == "only" and len({each.value for each in found}) > 1:
        return _Answer(None, problem=f"{len(found)} numbers, not one")
    last = found[-1]
    return _Answer(last.value, text[last.start : last.stop])
