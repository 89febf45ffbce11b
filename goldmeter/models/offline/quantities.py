"""Quantities: a number times the unit beside it, compared in units of the SI."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.models.offline import feature_names
from goldmeter.models.offline.lexicon import AND, MONEY, NUMBER
from goldmeter.models.offline.syntax import BREAK
from goldmeter.models.offline.texts import Texts, table_of
from goldmeter.text.kernels import Floats, Ids, Integers, compiled
from goldmeter.text.quantities import CONVERTED

if TYPE_CHECKING:
    from goldmeter.text.kernels.numbering import Table

# Relative difference up to which two quantities are equal.
TOLERANCE = float(CONVERTED.relative)
# Quantities of a text, and of a reference, that are compared; later ones are ignored.
MOST, MOST_OF_REFERENCE = 12, 4
_LENGTH, _MASS, _TIME, _SHARE, _DOLLAR, _EURO, _POUND, _VOLUME, _SPEED, _CELSIUS = range(1, 11)
_FAHRENHEIT, _KELVIN, _DEGREE = 11, 12, 13

# Dimension → units and their size; the symbols of one letter and names that are also other words count only after a
# number, as all units do.
_UNITS: Mapping[int, str] = {
    _LENGTH: "m meter meters=1 km kilometer kilometers=1000 cm centimeter centimeters centimetre centimetres=.01 "
    "mm millimeter millimeters millimetre millimetres=.001 mile miles mi=1609.344 yard yards yd=.9144 "
    "foot feet ft=.3048 inch inches=.0254 fathom fathoms=1.8288 furlong furlongs=201.168 league leagues=4828.032",
    _MASS: "kg kilo kilos kilogram kilograms kilogramme kilogrammes=1 g gram grams gramme grammes=.001 "
    "mg milligram milligrams=.000001 ton tons tonne tonnes=1000 pound pounds lb lbs=.45359237 "
    "ounce ounces oz=.028349523 stone=6.35029318",
    _TIME: "s sec secs second seconds=1 min mins minute minutes=60 h hr hrs hour hours=3600 day days=86400 "
    "week weeks=604800 fortnight fortnights=1209600 month months=2629746 year years=31556952 decade decades=315569520 "
    "century centuries=3155695200",
    _SHARE: "percent percents pct=1",
    _DOLLAR: "dollar dollars usd buck bucks=1 cent cents=.01",
    _EURO: "euro euros eur=1",
    _POUND: "gbp sterling quid=1",
    _VOLUME: "liter liters litre litres l=1 ml milliliter milliliters millilitre millilitres=.001 "
    "gallon gallons=3.785411784 quart quarts=.946352946 pint pints=.473176473",
    _SPEED: "mph=.44704 kmh kph=.277777778 knot knots=.514444444",
    _CELSIUS: "c celsius centigrade=1",
    _FAHRENHEIT: "f fahrenheit=1",
    _KELVIN: "k kelvin kelvins=1",
    _DEGREE: "degree degrees deg=1",
}


class Units(NamedTuple):
    """Dimension of each form, 0 for a form that is no unit, and its size; shape (t,) each."""

    dimensions: NDArray[np.int8]
    sizes: Floats


def units(forms: Texts) -> Units:
    """Return dimension and size of each form as a unit."""
    table, dimensions, sizes = _table()
    places = forms.found_in(table)
    return Units(np.where(places >= 0, dimensions[places], np.int8(0)), np.where(places >= 0, sizes[places], 0.0))


@cache
def _table() -> tuple["Table", NDArray[np.int8], Floats]:
    known = {}
    for dimension, listed in _UNITS.items():
        waiting: list[str] = []
        for entry in listed.split():
            name, _, size = entry.partition("=")
            waiting.append(name)
            if size:
                known.update(dict.fromkeys(waiting, (dimension, float(size))))
                waiting = []
    forms = sorted(known)
    dimensions, sizes = zip(*(known[form] for form in forms), strict=True)
    return table_of(forms), np.array(dimensions, np.int8), np.array(sizes)


@compiled
def compare_quantities(
    types: Ids, flags: Ids, values: Floats, marks: Ids, known: Units, text: Integers, reference: Integers, row: Floats
) -> None:
    """Write how the reference's quantities match those of the text."""
    wanted, i = 0, reference[0]
    said, said_numbers, said_dimensions = np.zeros(MOST), np.zeros(MOST), np.zeros(MOST, np.int64)
    count = -1
    while i < reference[1] and wanted < MOST_OF_REFERENCE:
        if not flags[i] & NUMBER:
            i += 1
            continue
        dimension, value, number, i = quantity(types, flags, values, marks, known, i, reference[1])
        if dimension == 0:
            continue
        wanted += 1
        if count < 0:
            count = _all(types, flags, values, marks, known, text, said_dimensions, said, said_numbers)
        equal = unequal = other = bare = False
        for k in range(count):
            near = abs(said[k] - value) <= TOLERANCE * max(abs(value), abs(said[k]))
            same = said_dimensions[k] == dimension
            equal |= same and near
            unequal |= same and not near
            other |= said_dimensions[k] > 0 and said_numbers[k] == number and not (same and near)
            bare |= said_dimensions[k] == 0 and said_numbers[k] == number
        row[feature_names.QUANTITY_EQUAL] += equal
        row[feature_names.QUANTITY_UNEQUAL] += unequal and not equal
        row[feature_names.UNIT_CONFLICT] += other and not equal
        row[feature_names.UNIT_MISSING] += bare and not equal


@compiled
def _all(
    types: Ids, flags: Ids, values: Floats, marks: Ids, known: Units, text: Integers,
    dimensions: Integers, converted: Floats, numbers: Floats,
) -> int:  # fmt: skip
    """Write the quantities of a text; return how many there are."""
    count, i = 0, text[0]
    while i < text[1] and count < MOST:
        if not flags[i] & NUMBER:
            i += 1
            continue
        dimensions[count], converted[count], numbers[count], i = quantity(
            types, flags, values, marks, known, i, text[1]
        )
        count += 1
    return count


@compiled
def quantity(
    types: Ids, flags: Ids, values: Floats, marks: Ids, known: Units, i: int, end: int
) -> tuple[int, float, float, int]:
    """Return dimension, value, number as written, and the end of the quantity whose number is at word i.

    Smaller units that follow belong to it: "6 feet 2 inches".
    """
    number = values[i]
    dimension, value, i = _single(types, flags, values, marks, known, i, end)
    while dimension in (_LENGTH, _MASS, _TIME):
        k = i + (i < end and bool(flags[i] & AND))
        if k >= end or not flags[k] & NUMBER or flags[k] & BREAK:
            break
        other, more, after = _single(types, flags, values, marks, known, k, end)
        if other != dimension or more >= value:
            break
        value, i = value + more, after
    return dimension, value, number, i


@compiled
def _single(
    types: Ids, flags: Ids, values: Floats, marks: Ids, known: Units, i: int, end: int
) -> tuple[int, float, int]:
    """Return dimension, value and end of one number and its unit."""
    value, after = values[i], i + 1
    if marks[i] & MONEY:
        return _DOLLAR, value, after + (after < end and _unit(types, flags, known, after) == _DOLLAR)
    dimension = _unit(types, flags, known, after) if after < end else 0
    if dimension == _DEGREE and after + 1 < end:
        scale = _unit(types, flags, known, after + 1)
        if scale in (_CELSIUS, _FAHRENHEIT, _KELVIN):
            dimension, after = scale, after + 1
    if dimension == 0:
        return 0, value, after
    size = known.sizes[types[after]]
    if dimension == _FAHRENHEIT:
        return _CELSIUS, (value - 32) / 1.8, after + 1
    if dimension == _KELVIN:
        return _CELSIUS, value - 273.15, after + 1
    return dimension, value * size, after + 1


@compiled
def _unit(types: Ids, flags: Ids, known: Units, i: int) -> int:
    """Return the dimension of the unit at word i; 0 for none."""
    if flags[i] & BREAK or types[i] >= len(known.dimensions):
        return 0
    return int(known.dimensions[types[i]])
