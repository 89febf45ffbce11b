"""Writings of quantities that are equal, and pairs that differ; made by hand."""

import random

# Each line: writings of one quantity.
EQUAL = [
    ["5 thousand", "5,000", "5000", "five thousand", "5k", "5e3", "5 × 10^3"],
    ["3 million", "3,000,000", "three million", "3e6", "3.0 million"],
    ["2.5 billion", "2,500,000,000", "2.5bn", "two and a half billion"],
    ["half a million", "500,000", "0.5 million", "five hundred thousand"],
    ["100", "1e2", "one hundred", "a hundred", "10^2", "10²", "100.0", "1.0e2"],
    ["0.5", "½", "1/2", "half", "one half", ".5", "5e-1", "50 %", "50 percent", "50%"],
    ["2.5", "2 1/2", "2½", "two and a half", "5/2"],
    ["0.75", "¾", "three quarters", "75 per cent"],
    ["2/3", "two thirds", "⅔"],
    ["14", "XIV", "fourteen", "１４", "١٤", "14.0"],
    ["1990", "MCMXC", "nineteen ninety"],
    ["-5", "−5", "minus five", "-5.0"],
    ["33 000", "33,000", "33'000", "thirty-three thousand"],
    ["1,234.5", "1234.5", "1234.50"],
    ["144", "12 dozen", "twelve dozen"],
    ["21", "twenty-one", "twenty one"],
    ["105", "one hundred and five", "one hundred five"],
    ["3.14", "three point one four"],
    ["5 km", "5000 m", "5 kilometres", "five kilometers", "5,000 meters"],
    ["5 kg", "5000 g", "five kilograms"],
    ["2 hours", "120 minutes", "2 h", "120 min"],
    ["1.5 hours", "1 hour 30 minutes", "one and a half hours", "90 min"],
    ["6 feet 2 inches", "6'2\"", "74 inches", "6 ft 2 inches"],
    ["100 °C", "373.15 K", "212 °F", "100 degrees Celsius"],
    ["90 km/h", "25 m/s", "90 kilometers per hour"],
    ["2 m²", "2 square meters", "2 m^2"],
    ["1 litre", "1000 ml", "1 L"],
    ["$5", "5 dollars", "5 USD", "US$5", "five dollars"],
    ["€7.50", "7.50 €", "7.5 euros", "EUR 7.50"],
    ["$2.5 million", "$2.5m", "$2,500,000", "2.5 million dollars"],
    ["<5", "less than 5", "under 5", "< 5", "fewer than five"],
    [">5", "more than 5", "over 5", "above 5"],
    ["≥5", "at least 5", ">= 5", "5 or more", "5+", "no less than 5"],
    ["≤5", "at most 5", "<= 5", "up to 5", "5 or fewer", "no more than 5"],
    ["5-10", "5–10", "5 to 10", "between 5 and 10", "from 5 to 10"],
    ["5-10 million", "5 million to 10 million", "5 to 10 million"],
    ["5–10 %", "5% to 10%", "5%-10%"],
    ["5 ± 1", "5 +/- 1", "5 +- 1", "5±1", "5 plus or minus 1"],
    ["13:00", "1:00 pm", "1 pm", "1 p.m."],
    ["12:30", "half past twelve", "12:30 pm"],
    ["3 April 2025", "2025-04-03", "April 3, 2025", "3rd of April 2025"],
    ["April 2025", "Apr. 2025", "April, 2025"],
    ["4 July", "July 4", "July 4th", "4th of July"],
    ["1960s", "1960's", "the 1960s"],
    ["3-2", "3–2"],
    ["16:9", "16:9."],
    ["(2, 4)", "(2,4)", "( 2 ; 4 )"],
    ["3.5.2", "3.5.2."],
    ["1920x1080", "1920×1080"],
]
# Pairs that a reader of fragments takes for one.
OTHER = [
    ("5 thousand", "5 million"), ("12:00", "1:00"), ("<5", ">5"), ("5 %", "5"), ("$5", "€5"), ("-5", "5"),
    ("3.14", "314"), ("1.0", "10"), ("5-10", "10"), ("5-10", "5"), ("5 ± 1", "5"), ("5 ± 1", "1"), ("1960s", "1960"),
    ("at least 5", "5"), ("at least 5", "at most 5"), ("5 km", "5 miles"), ("5 km", "5 m"), ("1e2", "2"), ("½", "2"),
    ("2 2/3", "2"), ("2 2/3", "3"), ("1,234", "234"), ("12:30", "30"), ("1:00 pm", "1:00 am"), ("3.5.2", "2"),
    ("3.5.2", "3.5"), ("1920x1080", "1080"), ("2^10", "10"), ("5 million", "5"), ("twenty-one", "one"),
    ("two thirds", "2"), ("two thirds", "3"), ("XIV", "4"), ("1,5", "5"), ("3-2", "2"), ("3-2", "2-3"), ("16:9", "9"),
    ("3 April 2025", "3"), ("3 April 2025", "3 May 2025"), ("April 2025", "May 2025"), ("5 °C", "5 °F"),
    ("6 feet 2 inches", "2 inches"), ("COVID-19", "19"), ("5 dozen", "5"), ("half a million", "1 million"),
    ("five hundred thousand", "five hundred"), ("10^5", "10^6"), ("5 percent", "5 percentage points"), ("1/3", "3"),
    ("(2, 4)", "4"), ("(2, 4)", "[2, 4]"), ("1990s", "1980s"), ("5k", "5m"), ("$5m", "$5bn"), ("5 hours", "5 minutes"),
]  # fmt: skip


def minimal_pairs(count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Pairs of texts whose quantities differ in one thing: a digit, the magnitude, the unit, the sign or the bound."""
    rng = random.Random(seed)  # noqa: S311
    pairs: list[tuple[str, str]] = []
    while len(pairs) < count:
        one, other = rng.choice(_PARTS)
        number = rng.choice(
            [str(rng.randint(1, 9)), str(rng.randint(10, 999)), f"{rng.randint(1, 99)}.{rng.randint(1, 9)}"]
        )
        first, second = (rng.sample((one, other), 2)) if rng.random() < 0.8 else (one, one)
        here, there = first.format(number), second.format(number)
        if first == second:
            there = second.format(_other_number(number, rng))
        pairs.append((here, there))
    return pairs


def _other_number(number: str, rng: random.Random) -> str:
    changed = [
        f"1{number}",
        f"{number}0" if "." not in number else f"{number}5",
        number[:-1] + str((int(number[-1]) % 9) + 1),
    ]
    return rng.choice([text for text in changed if float(text) != float(number)])


# Two writings that differ in one thing whatever the number is.
_PARTS = [
    ("{}", "-{}"), ("{} thousand", "{} million"), ("{} million", "{} billion"), ("{}", "{} thousand"), ("{}k", "{}"),
    ("<{}", ">{}"), ("at least {}", "at most {}"), ("less than {}", "more than {}"), ("≥{}", "≤{}"), ("{}+", "<{}"),
    ("{} %", "{}"), ("{} %", "{} percentage points"), ("${}", "€{}"), ("£{}", "€{}"), ("${} million", "${} billion"),
    ("{} km", "{} miles"), ("{} km", "{} m"), ("{} kg", "{} g"), ("{} hours", "{} minutes"), ("{} °C", "{} °F"),
    ("{} m²", "{} m³"), ("{} km/h", "{} m/s"), ("{} ± 1", "{} ± 2"), ("{} ± 1", "{}"), ("{}e3", "{}e4"),
    ("{} × 10^5", "{} × 10^6"), ("{}-1000", "1000"), ("{} to 1000", "{} to 2000"), ("({}, 2)", "({}, 3)"),
    ("({}, 2)", "[{}, 2]"), ("{} dozen", "{}"),
]  # fmt: skip
