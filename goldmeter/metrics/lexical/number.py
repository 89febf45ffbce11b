"""Number: 1 if the number in the response is that of a reference, within a tolerance; else 0."""

import json
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property, lru_cache
from importlib.util import find_spec
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from goldmeter.metrics.base import Floats, MeanMetric, best_reference
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.algebra import Algebra
from goldmeter.text.expressions import boxed, expression, formulas_in, is_alone, is_short, without_markup, without_name
from goldmeter.text.numbers import Reading, Tolerance, Tuple, Value, close, values

Which = Literal["last", "only", "boxed", "boxed_or_last"]
NotNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
UNDECIDED = "expressions not read, or not compared in time"
_HINT = "; symbolic: true compares expressions"
Factor = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]


class Number(MeanMetric):
    """Numbers are read exactly: 1,000 = 1e3 = 1000.0. Rows whose references hold no number are not asked.

    Numbers in brackets, such as (2, 4), are one value, a tuple; it equals no other brackets and no single number.
    which: the number that counts: the last of the text, the only one (all that the text states are equal), or that of
    its last LaTeX box; boxed_or_last falls back to the last. A reference without a box is read without. What a box
    holds, and a reference of fewer than 5 words, is a number (x = 5 cm too), or none: 2\\sqrt{7} is not 7.
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
    symbolic: expressions such as 2x + 1 are compared by math-verify (extra `symbolic`), in a process of its own. The
    whole text is the expression, or what its last box or formula holds.
    time_limit: seconds for one comparison of expressions; one that takes longer is not shown to be equal.
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
    symbolic: bool = False
    time_limit: Annotated[float, Field(gt=0.0, allow_inf_nan=False)] = 5.0

    @model_validator(mode="after")
    def _check_installed(self) -> Self:
        if self.symbolic and find_spec("math_verify") is None:
            raise ValueError("symbolic: true needs math-verify: pip install 'goldmeter[symbolic]'")
        return self

    def applies(self, pairs: Pairs) -> NDArray[np.bool_]:
        with self._algebra:
            stated = [self._is_stated(self._expected(text)) for text in pairs.reference_texts]
        return pairs.unreferenced | (np.bincount(pairs.rows, stated, len(pairs)) > 0)

    def pair_scores(self, pairs: Pairs) -> Floats:
        with self._algebra:
            return np.array([self._same(*pair) or 0.0 for pair in pairs.paired], np.float64).reshape(-1, 1)

    def details(self, pairs: Pairs) -> list[str | None]:
        notes = super().details(pairs)
        best = best_reference(self.pair_scores(pairs)[:, 0], pairs)
        for row, reference in enumerate(best.tolist()):
            if notes[row] is None and reference >= 0:
                notes[row] = self._note(*pairs.pair(reference))
        return notes

    def signature_fields(self) -> dict[str, object]:
        units = self.units and "+".join(f"{name}={factor:g}" for name, factor in self.units.items())
        symbolic = {"symbolic": "math-verify"} if self.symbolic else {"symbolic": None, "time_limit": None}
        return {**super().signature_fields(), "units": units, **symbolic, "refs": "best"}

    def _is_stated(self, expected: "_Answer") -> bool:
        return expected.problem is None and (expected.expression is None or self._algebra.reads(expected.expression))

    def _same(self, response: str, reference: str) -> bool | None:
        """Return whether both state the same; None if an expression can't be read, or not be compared in time."""
        answered, expected = self._answered(response), self._expected(reference)
        if not self._is_stated(expected) or answered.problem:  # in this order, so that `applies` finds it known
            return False
        if answered.value is not None and expected.value is not None:
            return close(answered.value, expected.value, self._tolerance)
        return self._algebra.equal(answered.latex, expected.latex)

    def _note(self, response: str, reference: str) -> str:
        answered, expected = self._answered(response), self._expected(reference)
        note = {"note": answered.problem} if answered.problem else {"found": answered.text}
        undecided = {"note": UNDECIDED} if self._same(response, reference) is None else {}
        return json.dumps({**note, **undecided, "expected": expected.text}, ensure_ascii=False)

    def _answered(self, text: str) -> "_Answer":
        return _answer(text, self.which, self._reading, self.latex, self.symbolic, short_alone=self.symbolic)

    def _expected(self, text: str) -> "_Answer":
        which: Which = "boxed_or_last" if self.which == "boxed" else self.which
        alone = self.symbolic or which == "boxed_or_last"
        return _answer(text, which, self._reading, self.latex, self.symbolic, short_alone=alone)

    @cached_property
    def _algebra(self) -> Algebra:
        return Algebra(self.time_limit)

    @cached_property
    def _reading(self) -> Reading:
        units = tuple((name, Fraction(str(factor))) for name, factor in (self.units or {}).items())
        return Reading(self.decimal, self.thousands, self.scientific, self.fractions, self.percent, units, self.dates)

    @cached_property
    def _tolerance(self) -> Tolerance:
        return Tolerance(Fraction(str(self.relative_tolerance)), Fraction(str(self.absolute_tolerance)))


class _Answer(NamedTuple):
    """The number or expression of a text, as read and as written; or the problem why there is none."""

    value: Value | None
    text: str | None = None
    problem: str | None = None
    expression: str | None = None

    @property
    def latex(self) -> str:
        """The expression, or the number as one."""
        if self.expression is not None:
            return self.expression
        if isinstance(self.value, Tuple):
            return ", ".join(map(str, self.value.numbers)).join(self.value.brackets)
        return str(self.value)


@lru_cache(maxsize=1 << 16)
def _answer(
    text: str,
    which: Which,
    reading: Reading,
    is_latex: bool,  # noqa: FBT001 (for the cache)
    symbolic: bool,  # noqa: FBT001
    *,
    short_alone: bool,
) -> _Answer:
    """short_alone: a text of few words is nothing but its number, as what a box holds is."""
    box = boxed(text) if which.startswith("boxed") else None
    if box is None and which == "boxed":
        return _Answer(None, problem="no box")
    text = text if box is None else box
    if symbolic and (written := _expression(text, reading, is_latex=is_latex)):
        return written
    if is_latex:
        text = without_markup(text)
    alone = box is not None or (short_alone and is_short(text))
    text = without_name(text) if alone else text
    found = values(text, reading)
    if not found:
        return _Answer(None, problem="no number")
    last = found[-1]
    if alone and (len(found) > 1 or not is_alone(text[: last.start], text[last.stop :])):
        return _Answer(None, problem="an expression, not a number" + _HINT * (not symbolic))
    if which == "only" and len({each.value for each in found}) > 1:
        return _Answer(None, problem=f"{len(found)} numbers, not one")
    return _Answer(last.value, text[last.start : last.stop])


def _expression(text: str, reading: Reading, *, is_latex: bool) -> _Answer | None:
    """Return what a text, or its last formula between $, states if that is more than a number."""
    formulas = formulas_in(text)
    text = (formulas[-1] if formulas else text).strip()
    plain = without_markup(text) if is_latex else text
    found = values(plain, reading)
    if len(found) == 1 and not plain[: found[0].start].strip("( ") and not plain[found[0].stop :].strip(" ).%"):
        return None
    written = expression(text)
    return None if written is None else _Answer(None, text, expression=written)
