"""Units of quantities: the dimension, the size in the SI and the zero of each; case counts in symbols only."""

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit: `dimension`, and size × number + zero is the quantity in the dimension's own unit."""

    dimension: str
    size: Fraction
    zero: Fraction = Fraction(0)


# Share, percentage points and decades: without them a number says something else.
SHARE, POINTS, DECADE = "%", "pp", "decade"
# Dimension → names and sizes; those of several letters, in any case.
_NAMES: Mapping[str, str] = {
    "m": "meter meters metre metres=1 kilometer kilometers kilometre kilometres kms=1000 centimeter centimeters "
    "centimetre centimetres=1/100 millimeter millimeters millimetre millimetres=1/1000 "
    "micrometer micrometers micrometre micrometres micron microns=1/1000000 "
    "nanometer nanometers nanometre nanometres=1/1000000000 mile miles=1609.344 yard yards=0.9144 "
    "foot feet=0.3048 inch inches=0.0254 fathom fathoms=1.8288 furlong furlongs=201.168 league leagues=4828.032 "
    "light-year light-years=9460730472580800",
    "m^2": "hectare hectares=10000 acre acres=4046.8564224",
    "kg": "kilo kilos kilogram kilograms kilogramme kilogrammes=1 gram grams gramme grammes=1/1000 "
    "milligram milligrams=1/1000000 microgram micrograms=1/1000000000 ton tons tonne tonnes=1000 "
    "pound pounds lbs=0.45359237 ounce ounces=0.028349523125 stone=6.35029318",
    "s": "sec secs second seconds=1 millisecond milliseconds=1/1000 minute minutes mins=60 hour hours hrs=3600 "
    "day days=86400 week weeks=604800 fortnight fortnights=1209600 month months=2629746 year years=31556952 "
    "decade decades=315569520 century centuries=3155695200",
    SHARE: "percent pct=1/100",
    "$": "dollar dollars usd buck bucks=1 cent cents=1/100",
    "€": "euro euros eur=1",
    "£": "gbp sterling quid=1",
    "¥": "yen jpy=1",
    "₹": "rupee rupees inr=1",
    "m^3": "liter liters litre litres=1/1000 milliliter milliliters millilitre millilitres=1/1000000 "
    "gallon gallons=0.003785411784 quart quarts=0.000946352946 pint pints=0.000473176473",
    "m/s": "mph=0.44704 kmh kph=5/18 knot knots=1852/3600",
    "J": "joule joules=1 kilojoule kilojoules=1000 calorie calories=4.184 kilocalorie kilocalories kcal=4184",
    "W": "watt watts=1 kilowatt kilowatts=1000 megawatt megawatts=1000000 gigawatt gigawatts=1000000000",
    "Hz": "hertz=1 kilohertz=1000 megahertz=1000000 gigahertz=1000000000",
    "byte": "byte bytes=1 kilobyte kilobytes=1000 megabyte megabytes=1000000 gigabyte gigabytes=1000000000 "
    "terabyte terabytes=1000000000000",
    "K": "kelvin kelvins=1",
}
# The same of symbols, in this case only.
_SYMBOLS: Mapping[str, str] = {
    "m": "m=1 km=1000 cm=1/100 mm=1/1000 µm μm um=1/1000000 nm=1/1000000000 mi=1609.344 yd=0.9144 ft=0.3048",
    "m^2": "ha=10000",
    "kg": "kg=1 g=1/1000 mg=1/1000000 µg μg=1/1000000000 lb=0.45359237 oz=0.028349523125",
    "s": "s=1 ms=1/1000 min=60 h hr=3600",
    "m^3": "l L=1/1000 ml mL=1/1000000 cl cL=1/100000 dl dL=1/10000",
    "J": "J=1 kJ=1000 MJ=1000000 Wh=3600 kWh=3600000 MWh=3600000000",
    "W": "W=1 mW=1/1000 kW=1000 MW=1000000 GW=1000000000",
    "V": "V=1 mV=1/1000 kV=1000",
    "N": "N=1 kN=1000",
    "Hz": "Hz=1 kHz=1000 MHz=1000000 GHz=1000000000",
    "byte": "KB kB=1000 MB=1000000 GB=1000000000 TB=1000000000000",
    SHARE: "%=1/100 ‰=1/1000",
    "K": "K=1",
    **{sign: f"{sign}=1" for sign in "$€£¥₹₩"},
}
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
def _table() -> dict[str, Unit]:
    table: dict[str, Unit] = {}
    for listed in (_NAMES, _SYMBOLS):
        for dimension, entries in listed.items():
            waiting: list[str] = []
            for entry in entries.split():
                name, _, size = entry.partition("=")
                waiting.append(name)
                if size:
                    top, _, bottom = size.partition("/")
                    table.update(dict.fromkeys(waiting, Unit(dimension, Fraction(top) / Fraction(bottom or 1))))
                    waiting = []
    return table | {"per cent": table["percent"]}


@cache
def _pattern() -> re.Pattern[str]:
    symbols = {entry.partition("=")[0] for entries in _SYMBOLS.values() for entry in entries.split()}
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
