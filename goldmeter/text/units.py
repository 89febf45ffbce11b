"""Units of quantities: the dimension, the size in the SI and the zero of each; case counts in symbols only."""

import csv
import re
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit: `dimension`, and size × number + zero is the quantity in the dimension's own unit."""

    dimension: str
    size: Fraction
    zero: Fraction = Fraction(0)


# Share (of units.csv), percentage points and decades: without them a number says something else.
SHARE, POINTS, DECADE = "%", "pp", "decade"
# Names of each unit, its size and dimension; of symbols the case counts.
_LISTED = Path(__file__).with_name("units.csv")
_CELSIUS = Unit("K", Fraction(1), Fraction("273.15"))
_FAHRENHEIT = Unit("K", Fraction(5, 9), Fraction("459.67") * Fraction(5, 9))
_TEMPERATURES = {"celsius": _CELSIUS, "centigrade": _CELSIUS, "c": _CELSIUS, "fahrenheit": _FAHRENHEIT}
_TEMPERATURES |= {"f": _FAHRENHEIT, "k": Unit("K", Fraction(1)), "kelvin": Unit("K", Fraction(1))}
_POWERS = {"²": 2, "2": 2, "³": 3, "3": 3, "square": 2, "sq": 2, "cubic": 3, "cu": 3}


# The first word or sign of a unit; most numbers have another one behind them, or none.
_FIRST = re.compile(r"[\s-]?([A-Za-zµμ]+|[%‰$€£¥₹₩°º])")


class Written(NamedTuple):
    """A unit and the end of its name in a text."""

    unit: Unit
    stop: int


def unit_at(text: str, place: int) -> Written | None:
    """Return the unit that a text goes on with, directly or after one blank or hyphen; None without one.

    >>> unit_at("5 km/h", 1)
    Written(unit=Unit(dimension='m/s', size=Fraction(5, 18), zero=Fraction(0, 1)), stop=6)
    """
    word = _FIRST.match(text, place)
    if not word or (word[1].lower() not in _first_words() and word[1] not in _first_words()):
        return None
    match = _pattern().match(text, place)
    if not match:
        return None
    if temperature := match["scale"] or match["celsius"]:
        return Written(_TEMPERATURES[temperature.lower()], match.end())
    if match["points"]:
        return Written(Unit(POINTS, Fraction(1)), match.end())
    if not match["name"]:  # degrees of an angle or of any scale
        return Written(Unit("", Fraction(1)), match.end())
    unit = _raised(_named(match["name"]), match["prefix"] or match["power"])
    if match["per"]:
        other = _raised(_named(match["per"]), match["per_power"])
        unit = Unit(f"{unit.dimension}/{other.dimension}", unit.size / other.size)
    return Written(unit, match.end())


@cache
def unit(name: str) -> Unit | None:
    """Return the unit of a name without a power, case ignored where no symbol has it; None for no unit."""
    return _table().get(name) or _table().get(name.lower())


def _named(name: str) -> Unit:
    return _table().get(name) or _table()[name.lower()]


def _raised(base: Unit, power: str | None) -> Unit:
    """Return the unit to the power that is written beside it."""
    exponent = _POWERS[power.lower().strip(". ^")] if power else 1
    if exponent == 1:
        return base
    return Unit(f"{base.dimension}^{exponent}", base.size**exponent)


@cache
def _rows() -> list[dict[str, str]]:
    with _LISTED.open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


@cache
def _table() -> dict[str, Unit]:
    table = {name: Unit(row["dimension"], Fraction(row["size"])) for row in _rows() for name in row["names"].split()}
    return table | {"per cent": table["percent"]}


@cache
def _pattern() -> re.Pattern[str]:
    symbols = {name for row in _rows() if row["case"] == "this" for name in row["names"].split()}
    listed = [rf"(?i:{re.escape(name)})" if name not in symbols else re.escape(name) for name in _by_length(_table())]
    names = "|".join(listed)
    power = r"\s?\^[23]|[²³]|(?<=[mdt])[23](?!\d)"
    return re.compile(
        rf"[\s-]?(?:(?P<points>(?i:percent(?:age)?|%)[\s-]points?|pp)"
        rf"|(?:°|º|(?i:deg(?:ree)?s?))(?:\s?(?P<scale>(?i:celsius|centigrade|fahrenheit|kelvin)|[CFK])|)"
        rf"|(?P<celsius>(?i:celsius|centigrade|fahrenheit)|[CF])"
        rf"|(?:(?P<prefix>(?i:square|sq\.?|cubic|cu\.?))[\s-])?(?P<name>{names})(?P<power>{power})?"
        rf"(?:(?:\s?/\s?|\s(?i:per|an?)\s)(?P<per>{'|'.join(listed)})(?P<per_power>{power})?)?"
        r")(?!(?<=\w)[^\W_])"
    )


@cache
def _first_words() -> frozenset[str]:
    others = "square sq cubic cu percent percentage pp per deg degree degrees celsius centigrade fahrenheit C F ° º"
    return frozenset({*others.split(), *(re.split(r"[ -]", name)[0] for name in _table())})


def _by_length(names: Mapping[str, Unit]) -> list[str]:
    return sorted(names, key=lambda name: (-len(name), name))
