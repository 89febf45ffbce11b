"""Signs that a response contains a reference and yet gives another answer: negation, alternatives, corrections, hedges.

A response is written as its shape: R for a reference, N for another name or number, W for another word, Q for a word of
the question, A for the other alternative of the question, and the words that the patterns look for. "It is Rome, not
Paris" is "it is N , not R". The patterns were written for short responses.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

# Blanks of the longest response that is looked at, and words of the longest shape.
MOST_BLANKS, MOST_WORDS = 30, 48
_TOKEN = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*|\n|[^\w\s]")
_STOP_LIST = (
    "a an the about after also am and are as at be been before being but by can could did do does for from had has "
    "have he her him his how i if in into is it its itself just may me might more most my no nor not of off on only "
    "or other our out over own she should so some such than that their them then there these they this those "
    "through to too under until up very was we were what when where which while who whom whose why will with would "
    "you your both called named known either neither it's i'm he's she's that's"
)
_STOP = frozenset(_STOP_LIST.split())
_CUES_LIST = (
    "none maybe perhaps possibly probably presumably unsure uncertain guess guessing hunch think believe suspect "
    "suppose reckon bet assume seems seem appears appear sure certain doubt doubts unclear remember recall vaguely "
    "memory swear confidence wrong right correct incorrect false true mistaken mistake never nobody nothing cannot "
    "without isn't wasn't aren't weren't don't doesn't didn't can't couldn't won't wouldn't hardly scarcely "
    "actually sorry wait rather instead however correction oops meant mean scratch unlike except excluding anything "
    "everything anyone everyone all know idea answer information tell say said says able unable unknown myth "
    "misconception contrary confused successor predecessor rival friend brother sister wife husband son daughter "
    "father mother neighbour neighbor colleague student teacher mentor cousin nephew niece uncle aunt widow heir "
    "ally enemy deputy boss near replaced succeeded defeated beat inspired following followed ahead distinct "
    "contrast place different compared among including include options candidates choices pick torn toss depends "
    "whether ruled matter people often many used now once formerly previously since today then etc hold quote grain "
    "coin far versus vs opposed denied rejected dismissed excluded knew possible claim claims thought believed "
    "commonly although though whereas unless because one two first second by like alongside against plus january "
    "february march april june july august september october november december vielleicht peut quizás quizá forse "
    "talvez misschien možná chyba belki kanske возможно"
)
_CUES = frozenset(_CUES_LIST.split())
_KEPT, _ARTICLES = _STOP | _CUES, frozenset({"a", "an", "the"})
_NOT = (
    "(?:not|never|neither|nor|cannot|isn't|wasn't|aren't|weren't|don't|doesn't|didn't|can't|couldn't|won't|wouldn't|"
    "hardly|scarcely|no)"
)
_NOTS = _NOT[3:-1].replace("|", " ")
_STRESS = "(?! only| just| merely| doubt| question)"
_OTHER = "[NWA]"
_ROLE = (
    "(?:successor|predecessor|rival|friend|brother|sister|wife|husband|son|daughter|father|mother|neighbou?r|colleague|"
    "student|teacher|mentor|cousin|nephew|niece|uncle|aunt|widow|heir|ally|enemy|deputy|boss)"
)
_BELIEF = "(?:think|believe|suspect|suppose|reckon|guess|bet|assume|W recall)"
NEGATED, ALTERNATIVE, WITHDRAWN, HEDGED, REFUSED, ASIDE, TO_JUDGE, PART = range(8)


class Pattern(NamedTuple):
    """A pattern of shapes, the kind of objection that it supports, and tokens of which each match has one."""

    kind: int
    search: re.Pattern[str]
    needs: frozenset[str]


def _pattern(kind: int, text: str, needs: str) -> Pattern:
    return Pattern(kind, re.compile(text), frozenset(needs.split(" ")))


PATTERNS: Mapping[str, Pattern] = {
    "negated before": _pattern(
        NEGATED,
        rf" (?:{_NOT}{_STRESS}|(?<!not )(?:any(?:thing|one)|every(?:thing|one)|all) but|(?<!anything )except|excluding|"
        "without|false that|i doubt that|instead of|rather than|unlike|opposed to|(?<!none )other than|contrary to|far "
        rf"from)(?: (?!but|because|only|doubt|question|other|anything|nothing|{_OTHER}|R)[\w']+){{0,4}}"
        r"(?: ['\"])? R(?! (?:or|and) not) (?!.* R )",
        _NOTS + " but except excluding without false doubt instead rather unlike opposed other contrary far",
    ),
    "negated verb": _pattern(
        NEGATED,
        rf" {_NOT}{_STRESS} (?:(?!but|because|N|only|R|doubt|question|other|anything|nothing)[\w']+ ){{0,3}}"
        "(?:by|that|from) R ",
        _NOTS,
    ),
    "negated after": _pattern(
        NEGATED,
        r" R ['\"]? ?(?:(?:is|was|were|are|has|have|had|can|could|did|does|may) )?(?:also )?(?:\( )?"
        r"(?:not|never|isn't|wasn't|didn't|doesn't|wrong|incorrect|false|excluded|ruled out|hardly|cannot|can't|"
        r"be ruled|nothing to|been ruled|been excluded|denied|dismissed|rejected)"
        r"(?! only| just| without| W W)(?! ,? ?[NQA])",
        _NOTS + " wrong incorrect false excluded ruled be nothing been denied dismissed rejected",
    ),
    "called wrong": _pattern(
        NEGATED,
        r" R (?:is|was) (?:W |only W |W by )*(?:myth|misconception|wrong|false|other matter|mistake|incorrect)",
        "myth misconception wrong false other mistake incorrect",
    ),
    "opens with not": _pattern(
        NEGATED, "^ (?:unlike|contrary to|not|instead of|after|before) R ", "unlike contrary not instead after before"
    ),
    "or": _pattern(
        ALTERNATIVE,
        rf" (?:R (?:\( )?(?:or|/|vs|versus)(?: (?:even|possibly|perhaps|maybe|rather|in|by|at|on))? (?:Q )?{_OTHER}|"
        rf"{_OTHER} (?:Q )?(?:\( )?(?:or|/|vs|versus)(?: (?:possibly|perhaps|maybe|in|by|at|on))? R|"
        rf"either (?:\S+ ){{0,4}}or|R \? or|{_OTHER} \? (?:or )?R|whether (?:\S+ ){{0,6}}R|R , or {_OTHER}|"
        rf"{_OTHER} , or R) ",
        "or / vs versus ? either whether",
    ),
    "between": _pattern(
        ALTERNATIVE,
        r" (?:it is between|torn between|one of these|one of (?:W )*following|pick|toss|depends)\b.* R ",
        "between one pick toss depends torn",
    ),
    "both": _pattern(ALTERNATIVE, r" (?:R (?:and|&|,) A|A (?:and|&|,) R|both|neither) ", "both neither A"),
    "list": _pattern(
        ALTERNATIVE, rf"^(?: (?:[-*•.,;:/|()&\n]|\d+|{_OTHER}|R|Q|and|or|etc|plus)){{3,}} $", "and or plus , ; / | & \n"
    ),
    "candidates": _pattern(
        ALTERNATIVE,
        r" (?:candidates|options|choices|among)\b[^.]* R (?!.* R )(?!.*answer is)",
        "candidates options choices among",
    ),
    "corrected": _pattern(
        WITHDRAWN,
        r" R (?:(?! R ).)*[ ](?:actually|sorry|wait|correction|scratch|oops|mistaken|meant|wrong|incorrect|"
        rf"(?<=[.;:!?–—-] )no(?= [,.:]))(?: (?!R )\S+)* {_OTHER}(?: (?!R )\S+)* $",
        "actually sorry wait correction scratch oops mistaken meant wrong incorrect no",
    ),
    "until": _pattern(
        WITHDRAWN,
        r" (?:R until|R (?:was|were|used)\b.* until|until.* R|used to be R|once R|formerly R|previously R)\b.*"
        rf"(?:now|since|today|then)\b.* {_OTHER} ",
        "until used once formerly previously",
    ),
    "hedged": _pattern(
        HEDGED,
        r" (?:(?<!not )guessing|maybe|perhaps|possibly|probably|presumably|unsure|uncertain|(?<!not )guess|hunch|"
        r"vielleicht|peut|quizás|quizá|forse|talvez|misschien|možná|chyba|belki|kanske|возможно|"
        r"(?:might|could|may) (?:well |W )?(?:have )?(?:be|been)|"
        rf"i(?:'d)? (?:would )?{_BELIEF}|(?:seems?|appears?) to) (?:[^R.!?]+ ){{0,4}}R ",
        "guessing maybe perhaps possibly probably presumably unsure uncertain guess hunch vielleicht "
        "peut quizás quizá forse talvez misschien možná chyba belki kanske возможно might could may i "
        "seems seem appears appear i'd",
    ),
    "hedged after": _pattern(
        HEDGED,
        r" R ?[.,;:?(–—-]+ (?:but |though |although |W |that 's |at |as )*"
        rf"(?:i {_BELIEF}|i'm not|i am not|i am only|i'm only guessing|i'm far from sure|i would assume|perhaps|maybe|"
        r"possibly|probably|presumably|if (?:i|memory)|not (?:\w+ ){0,3}(?:sure|certain)|don't (?:quote|hold)|or so|"
        r"could (?:W )*wrong|my confidence|unless i|i wouldn't (?:bet|swear)|i could be|just W guess|what i )",
        "i i'm perhaps maybe possibly probably presumably if not don't or could my unless just what",
    ),
    "unsure": _pattern(
        HEDGED,
        r" (?:(?:i'm|i am|am) not (?:\w+ ){0,4}(?:sure|certain)|don't (?:quote|hold|swear|remember|W on this)|"
        r"do not (?:quote|hold)|wouldn't (?:bet|swear)|far from sure|my doubts|\S+ to (?:say|tell) [.:]|with grain|"
        r"coin|"
        r"(?:wild|my|best) guess|memory (?:W|serves)|far as i|(?:might|could|may) be (?:wrong|mistaken)|if i "
        r"(?:recall|remember)|either W)\b",
        "i'm am don't do wouldn't far my to with coin guess memory might could may if either",
    ),
    "refused": _pattern(
        REFUSED,
        r"^(?: (?!R )\S+){0,3} (?:(?:don't|do not|didn't|can't|cannot|couldn't|could not|not) "
        r"(?:(?:have|really|actually|W|able|to|any) ){0,4}(?:know|information|idea|say|tell|answer)|no idea|"
        r"no information|as an ai|unable to|unknown [.,])(?!.*answer is R)(?!.* but )",
        "don't do didn't can't cannot couldn't could not no as unable unknown",
    ),
    "relative": _pattern(
        ASIDE,
        rf" {_ROLE} (?:of|to) R |^ (?:one|W) after R ",
        f"{_ROLE[3:-1].replace('?', '').replace('|', ' ')} neighbor after",
    ),
}
# Token → the patterns that need it, or another one.
_BY_TOKEN = {
    token: [name for name, pattern in PATTERNS.items() if token in pattern.needs]
    for pattern in PATTERNS.values()
    for token in pattern.needs
}
# Columns of patterns that decide by themselves: no training pair has them, or each that has is wrong.
DECISIVE = [
    [*PATTERNS].index(name) for name in ("negated verb", "called wrong", "opens with not", "corrected", "until")
]
MARKS = (*PATTERNS, "to the judge", "part of the reference")
_TO_JUDGE = re.compile(
    r"\b(?:ignore (?:all|the|any|previous|what)|disregard|mark (?:this|it|the answer)|grader|count this|"
    r"(?:reference|expected|accepted) answer|whatever the reference|(?:reference|response|answer) is correct|"
    r"the reference says|verdict)\b",
    re.IGNORECASE,
)
_ASKS_FOR_ASIDE = re.compile(
    r"\b(?:beat|defeat\w*|fight|fought|from|with|against|after|before|near|ha[sd]|have|play\w*|follow\w*|succeed\w*|"
    r"replace\w*|to|like)\b",
    re.IGNORECASE,
)
_ASKS_FOR_NAME = re.compile(r"\b(?:called|known as|named?|term|word|refer\w*)\b", re.IGNORECASE)
_ALONE = re.compile(r" ?(?:[-*•.()]|\d)* ?(?:[NWA] ?)+(?:\( ?[NW ]+\) )?\.? ?")
_SEPARATOR = re.compile(r"[,;/|\n&]| and | or | plus ")
_STRONG = re.compile(r" (?:and|&|;|/|\||\n|plus) ")
_AND = re.compile(r",? and |, ")
NOTHING = (0.0,) * len(MARKS)


def marks(question: str, references: Sequence[str], response: str) -> tuple[float, ...]:
    """Return which patterns of `MARKS` a response has, and counts of its shape; all 0 for a long response."""
    if response.count(" ") > MOST_BLANKS or not _may_have(response, question, references):
        return NOTHING
    form = shape(question, references, response)
    tokens = {*form.split(" ")}
    needed = {name for token in tokens for name in _BY_TOKEN.get(token, ())}
    values = {name: name in needed and pattern.search.search(form) is not None for name, pattern in PATTERNS.items()}
    values["relative"] = values["relative"] and not _ASKS_FOR_ASIDE.search(question)
    if values["or"] and (_ASKS_FOR_NAME.search(question) or "called" in form):
        values["or"] = False
    values["list"] = values["list"] and _lists_others(form)
    to_judge, part = bool(_TO_JUDGE.search(response)), _is_part(references, response)
    return (*map(float, (*values.values(), to_judge, part)),)


def _may_have(response: str, question: str, references: Sequence[str]) -> bool:
    """Return whether a response has a token that a pattern needs; most responses have none."""
    words = response.lower().replace("’", "'").translate(_BLANKS).split()
    return (
        not _TRIGGERS.isdisjoint(words)
        or _SIGNS.search(response) is not None
        or response.count(",") > 1
        or " or " in question
        or " and " in references[0]
    )


_COMMON = "of to in by i i'm i'd a A one who had s with from my do am no if as just what other be been"
_OTHER_TRIGGERS = "ignore disregard mark grader reference accepted verdict count think guess believe"
_NEEDED = {token for pattern in PATTERNS.values() for token in pattern.needs if token[:1].isalpha()}
_TRIGGERS = frozenset((_NEEDED | {*_OTHER_TRIGGERS.split()}) - {*_COMMON.split()})
_BLANKS = str.maketrans(',.;:!?"()[]/', " " * 12)
# A sign between two candidates.
_SIGNS = re.compile(r"[;/|\n&?]")


def kind_of(found: Sequence[float]) -> int:
    """Return the kind of objection of the first pattern found; -1 without one."""
    for value, pattern in zip(found, PATTERNS.values(), strict=False):
        if value:
            return pattern.kind
    if found[len(PATTERNS)]:
        return TO_JUDGE
    return PART if found[len(PATTERNS) + 1] else -1


def shape(question: str, references: Sequence[str], response: str) -> str:
    """Return the shape of a response, with a blank before, between and after its tokens.

    >>> shape("Capital of France?", ["Paris"], "It is Rome, not Paris.")
    ' it is N , not R . '
    """
    text = _NUMBERING.sub("- ", response) if "\n" in response else response
    tokens = [token.replace("’", "'") for token in _TOKEN.findall(text)[:MOST_WORDS]]
    capitals = {
        token.lower().removesuffix("'s")
        for i, token in enumerate(tokens)
        if token[0].isupper() and ((i and tokens[i - 1] not in '.!?\n:"') or token.lower() not in _KEPT)
    }
    text = f" {' '.join([_lower(token) for token in tokens])} "
    own: set[str] = set()
    for reference in sorted(references, key=len, reverse=True):
        words = _words(reference)
        words = words[1:] if len(words) > 1 and words[0] in _ARTICLES else words
        if words:
            own.update(word for word in words if word not in _STOP and word.isalnum())
            text = text.replace(f" {' '.join(words)} ", f" {_REFERENCE} ")
    asked = [token.removesuffix("'s") for token in _words(question)]
    others, known = _alternatives(asked) - own, {*asked}
    letters = [_letter(token, own, others, known, capitals) for token in text.split(" ") if token]
    form = _RUN_OF_NAMES.sub(" N", f" {' '.join(filter(None, letters))} ")
    form = form.replace(" r ", " R ") if " R " in form else _OWN_WORDS.sub(" R", form)
    return _RUN.sub(" R", form)


@lru_cache(maxsize=1 << 10)
def _words(text: str) -> list[str]:
    """Return the tokens of a question or a reference, which several responses share, in lower case."""
    return [token.lower() for token in _TOKEN.findall(text)]


_NUMBERING = re.compile(r"^\s*\(?\d{1,2}[.)]\s", re.MULTILINE)
# Stands for a reference while a text is read.
_REFERENCE = "\ue000"
_RUN, _OWN_WORDS = re.compile(r" R(?: [rR])+(?= )"), re.compile(r" r(?: r)*(?= )")
_RUN_OF_NAMES = re.compile(r" N(?: N)+(?= )")


def _lower(token: str) -> str:
    lower = token.lower()
    return f"{lower[:-2]} 's" if lower.endswith("'s") and len(lower) > 4 else lower  # noqa: PLR2004  # not "it's"


def _letter(token: str, own: set[str], others: set[str], asked: set[str], capitals: set[str]) -> str:
    if token == _REFERENCE:
        return "R"
    if token in others:
        return "A"
    if token in _KEPT or not token[0].isalnum():
        return "" if token in _ARTICLES else token
    if token in own:
        return "r"
    if token in asked:
        return "Q"
    return "N" if token in capitals or token[0].isdigit() else "W"


def _alternatives(asked: Sequence[str]) -> set[str]:
    """Return the words beside the "or" of a question."""
    if "or" not in asked:
        return set()
    at = asked.index("or")
    return {word for word in asked[max(0, at - 2) : at + 3] if word not in _KEPT and word[0].isalnum()}


def _lists_others(form: str) -> bool:
    """Return whether a list has one entry with a reference, and other ones that are no part of it."""
    entries = [one for one in _SEPARATOR.split(form) if one.strip(" .-*\t)(") and not one.strip().isdigit()]
    others = sum(bool(_ALONE.fullmatch(one)) for one in entries)
    return sum("R" in one for one in entries) == 1 and (others > 1 or (others == 1 and bool(_STRONG.search(form))))


def _is_part(references: Sequence[str], response: str) -> bool:
    """Return whether every reference joins parts by "and", and the response has no word of one of its parts."""
    if not references or not all(" and " in reference for reference in references):
        return False
    text = response.lower()

    def is_said(part: str) -> bool:
        return any(word in text for word in _TOKEN.findall(part.lower()) if word not in _STOP and len(word) > 1)

    return not any(all(map(is_said, _AND.split(reference))) for reference in references)
