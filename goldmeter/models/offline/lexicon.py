"""Words by class: function words, articles, particles of names, months, and words for numbers."""

from collections.abc import Mapping

ARTICLE, STOP, AND, PARTICLE, MONTH, LETTER, CAPITAL, UPPER, KNOWN, NUMBER = (1 << bit for bit in range(10))
END, COMMA, SLASH, CLAUSE, BRACKET = (1 << bit for bit in range(10, 15))
# LETTER: a single lower-case letter. END to BRACKET: punctuation between a word and the previous one.

_CLASSES: Mapping[int, str] = {
    ARTICLE: "a an the",
    STOP: "a about after also am an and are as at be been before being but by can could did do does for from had "
    "has have he her him his how i if in into is it its itself just may me might more most my no nor not of off on "
    "only or other our out over own s she should so some such t than that the their them then there these they "
    "this those through to too under until up very was we were what when where which while who whom whose why will "
    "with would you your called named known",
    AND: "and",
    PARTICLE: "de la le les von van der den del di da du dos das do el al bin ibn ben y e z v i o u na ve et und og "
    "och af av te ter zu zum zur d l и в на с о の 的 之",
    MONTH: "january february march april may june july august september october november december januar februar märz "
    "mai juni juli oktober dezember janvier février mars avril juin juillet août septembre octobre novembre "
    "décembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
}

MONTHS = tuple(
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)

# All classes of words, without their form.
CLASSES = ARTICLE | STOP | AND

# Lower-case word → bits of its classes.
FLAGS: Mapping[str, int] = {
    word: sum(flag for flag, words in _CLASSES.items() if word in words.split())
    for listed in _CLASSES.values()
    for word in listed.split()
}

SEPARATORS: Mapping[str, int] = {
    **dict.fromkeys(".!?\n。！？", END),
    ",": COMMA,
    "、": COMMA,
    "/": SLASH,
    "|": SLASH,
    **dict.fromkeys(";:", CLAUSE),
    **dict.fromkeys("()[]", BRACKET),
}
# Signs and abbreviations → the full word.
_SPELLINGS = (
    "&=and %=percent km=kilometer kilometre=kilometer kilometres=kilometers kms=kilometers metre=meter metres=meters "
    "cm=centimeter centimetres=centimeters kg=kilogram mt=mount jr=junior sr=senior sept=september"
)
SPELLINGS: Mapping[str, str] = {
    **dict(pair.split("=") for pair in _SPELLINGS.split()),
    **{month[:3]: month for month in MONTHS if month not in {"march", "may"}},
}

# Kinds of number words: how they join their neighbours.
NO_NUMBER, DIGITS, ONES, TENS, HUNDRED, SCALE = range(6)

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SCALES: Mapping[str, float] = {"dozen": 12, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}

# Word → its kind and value; an ordinal has the value of its cardinal.
NUMBER_WORDS: Mapping[str, tuple[int, float]] = {
    **{word: (ONES, float(n)) for n, word in enumerate(_ONES.split())},
    **{word: (ONES, float(n)) for n, word in enumerate(_ORDINALS.split())},
    **{word: (TENS, 10.0 * n) for n, word in enumerate(_TENS.split(), 2)},
    **{word[:-1] + "ieth": (TENS, 10.0 * n) for n, word in enumerate(_TENS.split(), 2)},
    **dict.fromkeys(("hundred", "hundreds", "hundredth"), (HUNDRED, 100.0)),
    **{form: (SCALE, value) for word, value in _SCALES.items() for form in (word, word + "s", word + "th")},
    "fourty": (TENS, 40.0),
    "ninty": (TENS, 90.0),
}
