"""The class that an answer names: one of a fixed set of names, in free text of any script."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from goldmeter.text.expressions import boxed

# Characters before a name among which its negation is looked for, and after it.
NEAR = 60
# Characters of what follows "the answer is", and how many such statements count, the last ones.
LONGEST, MOST_STATED = 300, 20


class Named(NamedTuple):
    """The class that a text names; problem: why there is none. several: the classes, if it names more than one."""

    label: str | None
    problem: str | None = None
    several: tuple[str, ...] = ()


NO_CLASS, TWO_CLASSES = Named(None, "no class named"), "two classes named"


class ClassNames:
    """The names of classes, without regard to case, markup, and blanks, hyphens and underscores between their words."""

    def __init__(self, writings: Mapping[str, Sequence[str]]) -> None:
        """writings: label → its other names, such as the text of an option.

        Raises:
            ValueError: A name is empty, or is the name of two classes.
        """
        self._labels: dict[str, str] = {}
        for label, others in writings.items():
            for name in (label, *others):
                if self._labels.setdefault(_key(name), label) != label:
                    both = f"{self._labels[_key(name)]!r} and {label!r}"
                    raise ValueError(
                        f"{name!r} names two classes, {both}; case and punctuation at its ends do not count"
                    )
                if not name.strip():
                    raise ValueError(f"class {label!r} has an empty name")

    def whole(self, text: str) -> str | None:
        r"""Return the label whose name is all of the text, as in `(B)`, `**not_spam**.` or `\text{B}`."""
        return self._labels.get(_key(text))

    def named(self, text: str) -> Named:
        """Return the class that an answer names.

        The whole text, else what its last box holds, else what follows "answer:", "the label is" and the like, else the
        only class that is named anywhere; a name that is negated ("not spam") names no class.
        """
        if label := self.whole(text):
            return Named(label)
        text = _composed(text)
        box = boxed(text)
        for part in ([] if box is None else [[box]]) + [self._statements(text), [text]]:
            found = [labels for one in part if (labels := self._labels_in(one))]
            if found:
                return _only(found)
        return NO_CLASS

    def _statements(self, text: str) -> list[str]:
        """Return what the text states to be the answer.

        That is also a first line that begins with a letter such as B), and a first sentence or last line that is a
        name and no more.
        """
        folded = _folded(text)
        found = [*_STATED.finditer(folded)][-MOST_STATED:]
        is_final = bool(found) and found[-1][0].startswith("final")
        after = (text[one.end() : one.end() + LONGEST].lstrip(_MARKUP) for one in (found[-1:] if is_final else found))
        stated = [_END.split(one, maxsplit=1)[0] for one in after]
        if is_final:
            return stated
        begun = [one for one in _BEGUN.finditer(text) if self._letter(one[1])]
        begins = len(begun) == 1 and not text[: begun[0].start()].strip()
        first = [text[begun[0].start() :].split("\n", 1)[0]] if begins else []
        ends = [*_END.split(text.strip(), maxsplit=1), text.strip().rpartition("\n")[2]]
        return [*first, *stated, *(end for end in ends if len(end.strip(_AROUND)) > 1 and self.whole(end))]

    def _labels_in(self, text: str) -> list[str]:
        """Return the labels that a part of an answer names, each once."""
        if label := self.whole(text):
            return [label]
        found: dict[str, None] = {}
        begun = [found for found in _BEGUN.finditer(text) if self._letter(found[1])]
        leads = len(begun) == 1 and begun[0].start() == 0 and not _OTHERS.match(text, begun[0].end())
        letter = self._letter(begun[0][1]) if leads else None
        if letter:
            found[letter] = None
        folded, covered = _folded(text), set[int]()
        for match in self._pattern.finditer(folded) if self._names else ():
            covered.update(range(*match.span()))
            if not _is_negated(folded, *match.span()):
                found[self._labels[self._names[(match.lastindex or 1) - 1]]] = None
        for place in () if letter else _letters(text):
            label = self._letter(text[place])
            if label and place not in covered and not _is_negated(folded, place, place + 1):
                found[label] = None
        return [*found]

    def _letter(self, letter: str) -> str | None:
        return self._labels.get(_key(letter))

    @cached_property
    def _names(self) -> list[str]:
        """The names, the longest first, that are more than a letter and hold a letter or digit."""
        names = [name for name in self._labels if not _is_letter(name) and re.search(r"\w", name)]
        return sorted(names, key=lambda name: (-len(name), name))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(f"({_bounded(name)})" for name in self._names))


def _only(found: list[list[str]]) -> Named:
    labels = tuple(dict.fromkeys(label for labels in found for label in labels))
    return Named(labels[0]) if len(labels) == 1 else Named(None, TWO_CLASSES, labels)


@lru_cache(maxsize=1 << 12)
def _key(name: str) -> str:
    """Return a name in the form in which names are compared."""
    text = _folded(_composed(name))
    text = _TEXT_COMMAND.sub(r"\1", box if (box := boxed(text)) is not None else text)
    words = " ".join(_SEPARATORS.split(_BULLET.sub("", text))).strip()
    inner = words.strip(_AROUND)
    return inner or words


@cache
def _marks() -> str:
    """Return the combining marks, as the inside of a character class."""
    return "".join(chr(code) for code in range(0x20000) if unicodedata.category(chr(code))[0] == "M")


@cache
def _word() -> str:
    """Return the pattern of a character next to which no name begins or ends: scripts without blanks have none."""
    return rf"(?!{_UNSPACED})[\w{_marks()}]"


def _bounded(name: str) -> str:
    """Return the pattern of a name that is no part of a longer word or number."""
    # "not_spam" is "notspam" too, but "1-2" is not "12".
    pattern = re.sub(r"\\ ", r"(?:[\\s_\\-]+|(?<!\\d)|(?!\\d))", re.escape(name))
    unspaced, digit = re.compile(_UNSPACED), re.compile(r"\d")
    before = "" if unspaced.match(name) or not re.match(r"\w", name) else rf"(?<!{_word()})(?<!\w-)"
    after = "" if unspaced.match(name[-1]) or _HANGUL.match(name[-1]) else rf"(?!{_word()})(?!-\w)"
    before += r"(?<!\d[.,:/])(?<![-+])" if digit.match(name) else ""
    after += r"(?![.,:/]\d|\s?%)" if digit.match(name[-1]) else ""
    return rf"(?:{before}{pattern}{after}(?![{_marks()}]))"


def _is_letter(name: str) -> bool:
    """Return whether a name is one letter of a script with capitals."""
    return len(name) == 1 and name.upper() != name.lower()


def _letters(text: str) -> Iterator[int]:
    """Yield the places of capital letters that stand by themselves, and of letters in brackets."""
    for match in _LETTER.finditer(text):
        place = match.start()
        is_bracketed = text[place - 1 : place] == "(" and text[place + 1 : place + 2] == ")"
        is_word = match[0] in "AI" and _WORD_AFTER.match(text, match.end())
        if is_bracketed or (match[0].isupper() and not is_word):
            yield place


def _is_negated(folded: str, start: int, stop: int) -> bool:
    before, after = folded[max(0, start - NEAR) : start], folded[stop : stop + NEAR]
    return bool(_NOT_BEFORE.search(before) or _NOT_AFTER.match(after))


def _composed(text: str) -> str:
    """Return the text with one form of each character, and without characters that are not seen."""
    text = unicodedata.normalize("NFKC", text) if not text.isascii() else text
    return text.translate(_VARIANTS) if not text.isascii() else text


def _folded(text: str) -> str:
    """Return the text in lower case, each character in its place."""
    if text.isascii():
        return text.lower()
    return "".join(folded if len(folded := one.casefold()) == 1 else one for one in text)


_VARIANTS: dict[int, str | None] = {
    **dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u202a\u202b\u202c\u202d\u202e"), None),
    **dict.fromkeys(map(ord, "‐‑‒–−"), "-"),
    **dict.fromkeys(map(ord, "’‘"), "'"),
    **dict.fromkeys(map(ord, "“”„«»「」『』"), '"'),
}
_MARKUP = " \t\r\n*_`\"'>#$"
# What may stand around a name that is the whole text.
_AROUND = " *_`\"'.,;:!?()[]{}<>$。、！？،؛।"
_BULLET = re.compile(r"^(?:\s|#+\s|>|[-•]\s)+")
# A hyphen without a word before it is a sign.
_SEPARATORS = re.compile(r"(?<=[^\s*_`\"'(\[])[\s_\-]+(?=\w)|\s+")
_TEXT_COMMAND = re.compile(r"\\(?:text|textbf|mathrm|mathbf|textit)\{([^{}]*)\}")
# Han, kana, Thai, Lao, Burmese and Khmer are written without blanks between words.
_UNSPACED = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
# Korean particles follow a word without a blank.
_HANGUL = re.compile("[\uac00-\ud7a3]")
_FILLERS = (
    "a|an|the|be|been|considered|classified|labell?ed|as|really|clearly|necessarily|exactly|quite|very|at|all|any|class|"
    "category|label|option|choice|answer|sure|certain|think|believe|that|this|it|is|it's|about|of|just|likely|"
    "es|un|une|una|um|uma|ein|eine|der|die|das|le|la|el|o"
)
_NEGATIONS = (
    "not|no|non|never|neither|nor|without|cannot|nicht|keine?[mnrs]?|weder|noch|pas|ni|não|nao|nem|geen|niet|"
    "inte|nie|ei|ikke|не|ни|ليس|ليست|غير|नहीं|rather than|instead of|other than|far from|opposite of|"
    "rules? out|ruled out|wrong|incorrect"
)
_GAP = r"[\s\-*`\"'(]"
_NOT_BEFORE = re.compile(
    rf"(?:(?<!\w)(?:{_NEGATIONS})(?!\w)|n't|不是|不属于|没有|[非不无無未])(?:{_GAP}+(?:{_FILLERS})(?!\w))*{_GAP}*$"
)
_NOT_AFTER = re.compile(
    r"[)\"'*`]{0,4}(?:\s*(?:ではな|じゃな|ではあり|でな|[이가은는]?\s*아[니닙닌])|\s+(?:değil|नहीं)"
    r"|\s+(?:is|was|are|seems|would be|can be|could be)?(?:n't|\s*(?:not|incorrect|wrong|false|unlikely|ruled out"
    r"|excluded))(?!\w)|\s+(?:can|does|could|would)(?:n't|\s?not)(?!\w))"
)
_SUBJECTS = "answer|label|class|category|classification|choice|option|prediction|intent|sentiment|topic|verdict"
_STATED = re.compile(
    rf"(?<!\w)(?<!wrong )(?<!incorrect )(?<!other )(?:final )?(?:{_SUBJECTS})(?:\s+(?:for|to|of)\s[^.:\n]{{1,60}}?)?"
    r"[\"'*_`)]*\s*(?:(?:is|would be|should be|must be)(?!\w):?|=|:|->|→)"
)
# A statement ends with its sentence or line.
_END = re.compile(r"[.!?](?=[\s\"'*)]|$)|[。！？।\n]")
# A letter that begins a line or a statement: B. B) (B) **B:** [B]
_BEGUN = re.compile(
    r"^[ \t*_`#>\"'$]*(?:option |choice )?[(\[]?([^\W\d_])[)\]]?(?:[*_`]*[).:\]][*_`]*)(?=\s|$)",
    re.MULTILINE | re.IGNORECASE,
)
_OTHERS = re.compile(r"\s*(?:or|and|oder|ou|o|y|et|und|/|,|&)(?!\w)", re.IGNORECASE)
_LETTER = re.compile(rf"(?<!(?!{_UNSPACED})[\w'.&+#/\-])[^\W\d_](?!(?!{_UNSPACED})[\w'&+#/\-]|\.\w)")
# A and I are words where another word follows, such as "A dog"; not in "A is right", "A because".
_WORD_AFTER = re.compile(r"\s+(?!(?:is|because|since|or|and)(?!\w))[^\W\d_]")
