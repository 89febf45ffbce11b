"""Which names in an answer are negated: "not spam", "Spam: no", "I would exclude B", "不太积极"."""

import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

# Characters before and after a name that are looked at, besides the words of its clause.
BEFORE, AFTER = 24, 80


class Mark(NamedTuple):
    """A name in a text, and the label that it names."""

    start: int
    stop: int
    label: str


class Clauses:
    """The negations of a text, each of which reaches to the end of its clause."""

    def __init__(self, folded: str, names: Collection[Mark] = ()) -> None:
        """folded: the text in lower case. names: where it has names, whose own words negate nothing."""
        covered = {place for mark in names for place in range(mark.start, mark.stop)}
        self._folded = folded
        found = [one for one in _EVENT.finditer(folded) if one.lastgroup and one.start() not in covered]
        self._starts = [one.start() for one in found]
        self._negates = [one.lastgroup != "end" for one in found]

    def negate(self, place: int) -> bool:
        """Return whether a word of negation is before the place in its clause."""
        last = bisect_left(self._starts, place) - 1
        return last >= 0 and self._negates[last]

    def affirmed(self, marks: list[Mark]) -> list[Mark]:
        """Return the names, in the order of the text, that are not negated: of a list (A, B, or C) all or none."""
        kept: list[Mark] = []
        for run in _runs(self._folded, marks):
            if not any(map(self._is_negated, run)):
                kept += run
        return kept

    def _is_negated(self, mark: Mark) -> bool:
        before = self._folded[max(0, mark.start - BEFORE) : mark.start]
        after = self._folded[mark.stop : mark.stop + AFTER]
        return bool(self.negate(mark.start) or _NOT_BEFORE.search(before) or _NOT_AFTER.match(after))


def joined(folded: str, first: Mark, second: Mark) -> bool:
    """Return whether two names are neighbours in a list."""
    return bool(_JOINED.fullmatch(folded, first.stop, second.start))


def stands_alone(folded: str, mark: Mark) -> bool:
    """Return whether a name is its clause, as in "No, it is …" and unlike "no idea"."""
    before, after = folded[max(0, mark.start - BEFORE) : mark.start], folded[mark.stop : mark.stop + AFTER]
    return bool(_ALONE_BEFORE.search(before) and _ALONE_AFTER.match(after)) and (
        mark.start < BEFORE or len(before) == BEFORE
    )


def is_negation(name: str) -> bool:
    """Return whether a name is itself a word that negates what follows it."""
    return bool(_NEGATION_WORD.fullmatch(name))


def _runs(folded: str, marks: list[Mark]) -> list[list[Mark]]:
    """Return the marks in lists that end with "and", "or" and the like; all others by themselves."""
    runs: list[list[Mark]] = []
    pending = marks[:1]
    for first, second in pairwise(marks):
        between = _JOINED.fullmatch(folded, first.stop, second.start)
        if between is None:
            runs += [[one] for one in pending]
            pending = [second]
        elif between["last"]:
            runs.append([*pending, second])
            pending = []
        else:
            pending.append(second)
    return runs + [[one] for one in pending]


# Words that alone are an answer in some sets of classes.
_WORDS = (
    "not|no|non|none|never|neither|nor|nein|nicht|keine?[mnrs]?|weder|noch|pas|aucune?|ni|não|nao|nem|nenhuma?|"
    "ning[uú]na?|geen|niet|inte|nie|ei|ikke|не|нет|ни|لا|لم|لن|ليس|ليست|غير|नहीं"
)
_NEGATION_WORD = re.compile(rf"{_WORDS}|不|不是|没有|沒有|[无無否非]")
_NEGATIONS = (
    rf"{_WORDS}|without|cannot|(?:ca|wo|do|does|did|is|are|was|were|would|could|should)nt|hardly|barely|scarcely|rarely|"
    "unlikely|improbable|impossible|doubt(?:s|ed|ful)?|rather than|instead of|other than|far from|opposite of|"
    "free (?:of|from)|devoid of|lack(?:s|ed|ing)?|absence of|fail(?:s|ed)? to|refus(?:e|es|ed) to|"
    "rul(?:e|es|ed|ing) (?:it |this |that )?out|exclud(?:e|es|ed|ing)|eliminat(?:e|es|ed|ing)|reject(?:s|ed|ing)?|"
    "discard(?:s|ed|ing)?|dismiss(?:es|ed|ing)?|avoid(?:s|ed|ing)?|except(?:ing)?|apart from|aside from|"
    "(?:all|any(?:thing)?|every(?:thing)?) but|wrong|incorrect|unwahrscheinlich|kaum|ohne|sans|jamais|nunca|jamás|"
    "senza|sem|без|нельзя|вряд ли|whether|if|unless|unsure|uncertain|unclear"
)
# A negation takes "so" and an inserted ", however," with it; "no doubt" is none.
_EVENT = re.compile(
    r"(?<!\w)(?:no doubt|without (?:an?y? )?doubt|not only)(?!\w)"
    r"|(?P<heading>(?<!\w)(?:wrong|incorrect|eliminated|excluded|rejected|ruled out)(?:\s+(?:answer|option|choice)s?)?"
    r"[*_]*:[^\n.;!?]{0,200})"
    rf"|(?P<negation>(?:(?<!\w)(?:{_NEGATIONS})|n't)(?!\w)(?:\s+so(?!\w))?(?:,[^,.;:!?\n]{{1,30}},)?)"
    r"|(?P<end>[.!?;:,)\n。！？；，、،؛।→—]|->|\s-+\s"
    r"|(?<!\w)(?:but|however|so|thus|hence|therefore|instead|although|though|sondern|aber|mais|pero|sino|mas|но)(?!\w))"
)
_HAN = "[\u3400-\u4dbf\u4e00-\u9fff]"
_OPEN = r"[\s*_`\"'(\[{#$]*"
# Scripts without blanks: a few characters may stand between a negation and what it negates.
_NOT_BEFORE = re.compile(
    rf"(?:(?:不(?![错錯过過仅僅但管])|非(?!常)|[无無](?![论論])|[未没沒])(?:{_HAN}|\s){{0,6}}"
    rf"|ไม่[\u0e00-\u0eff]{{0,12}}"
    rf"|(?<!\w)(?:half|partly|partially|partial|almost|nearly|semi|quasi|pseudo)[\s\-]){_OPEN}$"
)
_VERBS = (
    "is|was|are|were|be|been|being|has|have|had|can|could|would|should|must|may|might|will|do|does|did|seems?|looks?|"
    "clearly|obviously|definitely|also|both|all|therefore|thus|just|simply|probably|very|the|an?|to|already"
)
_WRONG = (
    "not|never|no|incorrect|wrong|false|unlikely|improbable|impossible|implausible|inaccurate|untrue|ruled out|"
    "excluded|eliminated|rejected|discarded|dismissed|out of the question|distractor|tempting|hardly|barely|"
    "less likely|least likely"
)
_NOT_AFTER = re.compile(
    r"[)\]\"'*`_]{0,6}(?:"
    r"\s*的?な?(?:ではな|じゃな|ではあり|じゃあり|でな|とは[言い]?[えい])|적?(?:이지|지|이라고|으로)?[이가은는]?\s*(?:않|아[니닙닌]|못)"
    r"|(?:是|不)?(?:错误?的|不对|不正确)|\s+(?:değil|नहीं)"
    rf"|(?:,?\s+(?:which|that))?(?:\s+(?:{_VERBS}))*(?:n't|\s+(?:{_WRONG}))(?!\w)"
    rf"|\s*\(\s*(?:{_WRONG})\s*\)|\s*\?\s*(?:\w+\s+){{0,3}}(?:\w*n't|not)(?!\w)"
    r"|\s*(?:[:=?]|-+>?|→)[\s\"'*`(]*(?:no|not|false|wrong|incorrect|none|nein|nicht|non|não|нет|0(?:\.0+)?(?![.,]?\d))(?!\w)"
    r"|\s*[:=(-]?\s*[❌✗✘])"
)
_JOINED = re.compile(
    r"[)\].:\"'*`_]{0,6}\s*(?:(?P<last>,?\s*(?:(?<!\w)(?:and|or|nor|oder|und|noch|ou|et|ni|o|y|e|и|или|ни)(?!\w)|[/&和或与及]))"
    r"|[,،、，])\s*(?:option |choice )?[(\[\"'*`_]{0,6}"
)
_ALONE_BEFORE = re.compile(
    rf"(?:^|[.,;:!?=\n。！？，：…—]|\s-+\s){_OPEN}(?:(?:an?|definitely|clearly|clear|definite|probably|simply|just|most|likely"
    rf"|obviously|therefore|so|hence|thus)\s+)*{_OPEN}$"
)
_ALONE_AFTER = re.compile(
    r"[\"'*`_)\]}]*(?:\s*(?:$|[.,;:!?\n。！，；：…—])|\s+-+\s|\s+(?:because|since|as|due to|for)(?!\w))"
)


# Characters between a hedge and what it is of.
_LONGEST = 60
_ADVERBS = r"(?:\s+(?:also|well|just|easily|very well|possibly|potentially))*"
_HEDGE = re.compile(
    rf"(?<!\w)(?:(?:could|might|may)(?:\s+(?:it|this|that))?{_ADVERBS}"
    r"\s+(?:be|have been|mean|refer to|indicate|suggest|belong to|fall under|represent)"
    r"|it(?:'s| is)(?: also| just)? possible(?: that)?|maybe|perhaps|possibly|potentially|conceivably"
    r"|vielleicht|möglicherweise|eventuell|könnten?|peut-être|pourrait être|quizás?|tal vez|podría ser|talvez|pode ser"
    r"|forse|potrebbe essere|возможно|может быть)(?!\w)|可能(?!性)|也[许許]|或[许許]"
)
_BUT = r"(?<!\w)(?:but|however|probably|likely|so|aber|mais|pero|mas|ma|но)(?!\w)"
_GAP = re.compile(rf"(?:(?!{_BUT})[^.!?;:,\n。！？，])*")
_AFTER = re.compile(
    r"[\s\"'*`)\]]*(?:,?\s*(?:maybe|perhaps|possibly|vielleicht|peut-être|quizás?|forse)\s*(?:[.!?;,\n]|$)"
    r"|\s(?:is|are|remains?)(?: also| still)? (?:possible|conceivable|a possibility)(?!\w)"
    r"|\s(?:cannot|can ?not|can't) be (?:ruled out|excluded)(?!\w))"
)


def definite(folded: str, marks: Sequence[Mark]) -> list[Mark]:
    """Return the names that are stated, and not only called possible; all if several are called possible.

    Args:
        folded: The text in lower case.
        marks: The names in it, in their order.
    """
    hedges = [one for one in _HEDGE.finditer(folded) if not any(_overlap(one.span(), mark) for mark in marks)]
    if not hedges and not any(_AFTER.match(folded, mark.stop) for mark in marks):
        return [*marks]
    stated: list[Mark] = []
    last: Mark | None = None
    for mark in marks:
        listed = last is not None and joined(folded, last, mark)
        if listed or _is_hedged(folded, mark, hedges):
            last = mark
        else:
            stated, last = [*stated, mark], None
    return stated or ([*marks] if len({mark.label for mark in marks}) > 1 else [])


def _is_hedged(folded: str, mark: Mark, hedges: Sequence[re.Match[str]]) -> bool:
    if _AFTER.match(folded, mark.stop):
        return True
    before = [one.end() for one in hedges if one.end() <= mark.start <= one.end() + _LONGEST]
    return any(_GAP.fullmatch(folded, place, mark.start) for place in before)


def _overlap(span: tuple[int, int], mark: Mark) -> bool:
    return span[0] < mark.stop and mark.start < span[1]
