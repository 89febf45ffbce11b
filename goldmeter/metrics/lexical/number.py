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
from goldmeter.text.quantities import Asked, Quantity, Reading, Tolerance, Tuple, Value, asked_for, close
from goldmeter.text.quantity_reader import stated, whole

Pick = Literal["last", "first", "only", "boxed", "boxed_or_last", "marker", "marker_or_last"]
MARKER = "####"
NotNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
UNDECIDED = "expressions not read, or not compared in time"
_HINT = "; symbolic: true compares expressions"
Factor = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]


class Number(MeanMetric):
    """Quantities are read exactly and whole: 1,000 = 1e3 = 1 thousand, and 5 thousand is not 5.

    Rows whose references hold no number are not asked. Units are compared if both have one (5 km = 5000 m; $5 is not
    €5); other units are ignored. Bounds (<5, at least 5), ranges and scores (5-10), ± and times (12:30, 1 pm) equal
    their like only. Numbers in brackets, such as (2, 4), are one value, a tuple; it equals no other brackets and no
    single number. Numbers in words (English) count in texts without figures, in references if they are all of it.
    50 % is 0.5, unless the question asks for a count; it is 50 if the question asks for a percentage.
    pick: the number that counts: the last of the text, the first, the only one (all that the text states are equal),
    that of its last LaTeX box, or the first after its last #### (marker); boxed_or_last and marker_or_last fall back
    to the last. A reference without a box or marker is read without. What a box holds, and a reference of fewer than
    5 words, is a number (x = 5 cm too), or none: 2\\sqrt{7} is not 7.
    relative_tolerance: largest difference, as a share of the reference.
    absolute_tolerance: largest difference; the larger of both applies.
    decimal: decimal separator; the other of the two separates thousands.
    thousands: 1,234 is one number; a list such as 100,200 is then one too.
    percent: hundredth reads 5 % as 0.05, ignore as 5.
    units: units of one quantity with their factors, {box: 12, piece: 1}, for what the usual units do not say.
    dates: order of day and month in 3/4/2025; without it only dates such as 13/4/2025 are read.
    latex: LaTeX's markup is removed, and its fractions are read.
    symbolic: expressions such as 2x + 1 are compared by math-verify (extra `symbolic`), in a process of its own. The
    whole text is the expression, or what its last box or formula holds.
    time_limit: seconds for one comparison of expressions; one that takes longer is not shown to be equal.
    """

    default_threshold: ClassVar[float | None] = None
    version: ClassVar[int] = 2  # 1: compounds were read in part
    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "math": {"pick": "boxed_or_last", "latex": True, "percent": "ignore"},
    }

    pick: Pick = "last"
    relative_tolerance: NotNegative = 0.0
    absolute_tolerance: NotNegative = 0.0
    decimal: Literal[".", ","] = "."
    thousands: bool = True
    percent: Literal["hundredth", "ignore"] = "hundredth"
    units: dict[str, Factor] | None = None
    dates: Literal["dmy", "mdy"] | None = None
    latex: bool = False
    symbolic: bool = False
    time_limit: Annotated[float, Field(gt=0.0, allow_inf_nan=False)] = 5.0

    @model_validator(mode="before")
    @classmethod
    def _check_renamed(cls, options: Any) -> Any:
        if isinstance(options, Mapping) and "which" in options:
            raise ValueError("which is now pick, with the same values")
        return options

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
            asked = _asked(pairs)
            same = [self._same(*pair, asked[row]) for pair, row in zip(pairs.paired, pairs.rows.tolist(), strict=True)]
        return np.array([hit or 0.0 for hit in same], np.float64).reshape(-1, 1)

    def details(self, pairs: Pairs) -> list[str | None]:
        notes = super().details(pairs)
        asked, best = _asked(pairs), best_reference(self.pair_scores(pairs)[:, 0], pairs)
        for row, reference in enumerate(best.tolist()):
            if notes[row] is None and reference >= 0:
                notes[row] = self._note(*pairs.pair(reference), asked[row])
        return notes

    def signature_fields(self) -> dict[str, object]:
        units = self.units and "+".join(f"{name}={factor:g}" for name, factor in self.units.items())
        symbolic = {"symbolic": "math-verify"} if self.symbolic else {"symbolic": None, "time_limit": None}
        return {**super().signature_fields(), "units": units, **symbolic, "refs": "best"}

    def _is_stated(self, expected: "_Answer") -> bool:
        return expected.problem is None and (expected.expression is None or self._algebra.reads(expected.expression))

    def _same(self, response: str, reference: str, asked: Asked) -> bool | None:
        """Return whether both state the same; None if an expression can't be read, or not be compared in time."""
        answered, expected = self._answered(response), self._expected(reference)
        if not self._is_stated(expected) or answered.problem:  # in this order, so that `applies` finds it known
            return False
        if answered.value is not None and expected.value is not None:
            return close(answered.value, expected.value, self._tolerance, asked)
        return self._algebra.equal(answered.latex, expected.latex)

    def _note(self, response: str, reference: str, asked: Asked) -> str:
        answered, expected = self._answered(response), self._expected(reference)
        note = {"note": answered.problem} if answered.problem else {"found": answered.text}
        undecided = {"note": UNDECIDED} if self._same(response, reference, asked) is None else {}
        return json.dumps({**note, **undecided, "expected": expected.text}, ensure_ascii=False)

    def _answered(self, text: str) -> "_Answer":
        return _answer(text, self.pick, self._reading, self.latex, self.symbolic, short_alone=self.symbolic)

    def _expected(self, text: str) -> "_Answer":
        alone = self.symbolic or self.pick.startswith("boxed")
        return _answer(text, self.pick, self._reading, self.latex, self.symbolic, short_alone=alone, is_expected=True)

    @cached_property
    def _algebra(self) -> Algebra:
        return Algebra(self.time_limit)

    @cached_property
    def _reading(self) -> Reading:
        units = tuple((name, Fraction(str(factor))) for name, factor in (self.units or {}).items())
        return Reading(self.decimal, self.thousands, self.percent, units, self.dates)

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
        return _as_latex(self.value)


def _as_latex(value: Value | None) -> str:
    if isinstance(value, Quantity):
        return str(value.number)
    if isinstance(value, Tuple):
        parts = [*map(_as_latex, value.parts)]
        return ", ".join(parts).join(value.form) if value.form[0] in "([" else value.form[0].join(parts)
    return str(value)


def _asked(pairs: Pairs) -> list[Asked]:
    """Return what the question of each row asks for."""
    if pairs.inputs is None:
        return ["any"] * len(pairs)
    return [asked_for(question or "") for question in pairs.inputs.to_pylist()]


@lru_cache(maxsize=1 << 16)
def _answer(
    text: str,
    pick: Pick,
    reading: Reading,
    is_latex: bool,  # noqa: FBT001 (for the cache)
    symbolic: bool,  # noqa: FBT001
    *,
    short_alone: bool,
    is_expected: bool = False,
) -> _Answer:
    """short_alone: a text of few words is nothing but its number, as what a box holds is; is_expected: a reference."""
    text, problem = _picked(text, pick)
    if problem and (pick in {"boxed", "marker"} and not is_expected):
        return _Answer(None, problem=problem)
    is_box = pick.startswith("boxed") and not problem
    if symbolic and (written := _expression(text, reading, is_latex=is_latex)):
        return written
    if is_latex:
        text = without_markup(text)
    alone = is_box or (short_alone and is_short(text))
    text = without_name(text) if alone else text
    found = stated(text, reading)
    if not found or (is_expected and found[0].in_words and whole(text, reading) is None):
        return _Answer(None, problem="no number")
    chosen = found[0] if pick == "first" or (pick.startswith("marker") and not problem) else found[-1]
    if alone and (len(found) > 1 or not is_alone(text[: chosen.start], text[chosen.stop :])):
        return _Answer(None, problem="an expression, not a number" + _HINT * (not symbolic))
    if pick == "only" and len({one.value for one in found}) > 1:
        return _Answer(None, problem=f"{len(found)} numbers, not one")
    return _Answer(chosen.value, text[chosen.start : chosen.stop])


def _picked(text: str, pick: Pick) -> tuple[str, str | None]:
    """Return the part of a text that holds the number that counts; or the whole text, and what it lacks."""
    if pick.startswith("boxed"):
        box = boxed(text)
        return (text, "no box") if box is None else (box, None)
    if pick.startswith("marker"):
        _, marker, after = text.rpartition(MARKER)
        return (after, None) if marker else (text, f"no {MARKER}")
    return text, None


def _expression(text: str, reading: Reading, *, is_latex: bool) -> _Answer | None:
    """Return what a text, or its last formula between $, states if that is more than a number."""
    formulas = formulas_in(text)
    text = (formulas[-1] if formulas else text).strip()
    plain = without_markup(text) if is_latex else text
    found = stated(plain, reading)
    if len(found) == 1 and not plain[: found[0].start].strip("( ") and not plain[found[0].stop :].strip(" ).%"):
        return None
    written = expression(text)
    return None if written is None else _Answer(None, text, expression=written)
