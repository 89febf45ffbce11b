"""Word classes that decide about an answer: hedges, negations, alternatives, refusals, numbers."""

from collections.abc import Mapping

from tasks.models.offline.phrases import BAR, LINE, MONEY

ARTICLE, STOP, HEDGE, BELIEF, CERTAIN, NEGATION, OR, CONTRAST, KNOW, APOLOGY, MODAL, SELF, BE, AND, OF = (
    1 << bit for bit in range(15)
)
EXCLUSION, EITHER, CHOICE, CAPITAL, UPPER, KNOWN, NUMBER = (1 << bit for bit in range(15, 22))
END, COMMA, SLASH, CLAUSE, BRACKET = (1 << bit for bit in range(22, 27))
# END to BRACKET: punctuation between a word and the previous one.
ONLY, ASIDE, DOUBT, RELATIVE = (1 << bit for bit in range(27, 31))

_CLASSES: Mapping[int, str] = {
    ARTICLE: "a an the",
    STOP: "a about after also am an and are as at be been before being but by can could did do does for from had "
    "has have he her him his how i if in into is it its itself just may me might more most my no nor not of off on "
    "only or other our out over own s she should so some such t than that the their them then there these they this "
    "those through to too under until up very was we were what when where which while who whom whose why will with "
    "would you your called named known",
    HEDGE: "might maybe perhaps possibly probably presumably unsure uncertain supposedly conceivably arguably "
    "apparently seemingly unclear unconfirmed doubtful guess guessing hunch potentially likely toss torn",
    BELIEF: "think believe guess assume suspect suppose reckon imagine feel hunch presume bet wager",
    CERTAIN: "sure certain certainty confident positive definite definitive",
    NEGATION: "not no never neither nor none nobody nothing cannot without false incorrect wrong untrue isn't wasn't "
    "aren't weren't don't doesn't didn't can't couldn't won't wouldn't hasn't haven't hadn't shouldn't isnt wasnt "
    "dont doesnt didnt cant couldnt wont",
    OR: "or alternatively",
    CONTRAST: "but however though although instead rather yet whereas while",
    EXCLUSION: "except excluding unlike besides",
    KNOW: "know known knowledge information answer find found determine provide provided provides tell identify recall "
    "remember access mentioned mention specified specify available clear enough data details context record records "
    "idea clue say comment disclosed announced help able have",
    APOLOGY: "sorry unfortunately unable apologize apologise apologies decline unknown",
    MODAL: "could may must seem seems seemed appear appears appeared",
    SELF: "i i'm my we our im i'd me best",
    BE: "be is was are were been being have by",
    AND: "and",
    OF: "of than to",
    ASIDE: "than beating beat before after followed following unlike whereas while like against versus besides friend "
    "opposed contrary contrast distinct different confused alongside compared near with from ahead over defeating "
    "succeeding succeeded preceding preceded",
    ONLY: "only just merely simply",
    EITHER: "either whether",
    CHOICE: "one these those them",
    DOUBT: "mistaken wrong memory mixing mix confusing confuse confused remember recall recollection misremember "
    "misremembering quote swear rely vaguely far doubt doubts correct confidence",
    RELATIVE: "who whom whose which where when while whereas because since after before than though although until",
}

MONTHS = tuple(
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)

# All classes of words, without their form.
CLASSES = (1 << 15) - 1 | EXCLUSION | EITHER | CHOICE | ONLY | ASIDE | DOUBT | RELATIVE

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
# Signs → their marks on the word that follows. "$" separates no words.
SIGNS: Mapping[str, int] = {"\n": LINE, "|": BAR, "$": MONEY}
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
# SIGN is no number.
NO_NUMBER, DIGITS, ONES, TENS, HUNDRED, SCALE, SIGN = range(7)

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
