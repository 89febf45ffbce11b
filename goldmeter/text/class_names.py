"""The class that an answer names: one of a fixed set of names, in free text of any script."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from goldmeter.text.expressions import boxed
from goldmeter.text.negation import Clauses, Mark, definite, is_negation, joined, stands_alone

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
                if self._labels.setdefault(key(name), label) != label:
                    both = f"{self._labels[key(name)]!r} and {label!r}"
                    raise ValueError(
                        f"{name!r} names two classes, {both}; case and punctuation at its ends do not count"
                    )
                if not name.strip():
                    raise ValueError(f"class {label!r} has an empty name")

    def whole(self, text: str) -> str | None:
        r"""Return the label whose name is all of the text, as in `(B)`, `**not_spam**.` or `\text{B}`."""
        return self._labels.get(key(text))

    def named(self, text: str) -> Named:
        """Return the class that an answer names.

        The whole text, else what its last box holds, else what follows "answer:", "the label is" and the like, else the
        only class that is named anywhere. What is stated counts alone, even if it is no class; a name that is negated
        ("not spam") names no class, nor does one that is only called possible ("it could be spam"); one that is called
        probable ("probably spam") does.
        """
        if label := self.whole(text):
            return Named(label)
        text = _composed(text)
        box = boxed(text)
        if box is not None:
            found, after = [self._labels_in(box, is_stated=True)], text[text.rfind(f"{{{box}}}") + len(box) + 2 :]
        else:
            found, after = self._stated(text)
            if not found:
                return _only([self._labels_in(text)])
        return _only([*found, *self._corrections(after)] if any(found) else [])

    def _stated(self, text: str) -> tuple[list[list[str]], str]:
        """Return the labels of each statement of the answer, nothing but [] if it is no class; and the text after it.

        A statement is also a first line that begins with a letter such as B), and a first sentence or last line that
        is a name and no more.
        """
        folded = _folded(text)
        clauses = Clauses(folded)
        places = [one for one in _STATED.finditer(folded) if not clauses.negate(one.start())][-MOST_STATED:]
        is_final = bool(places) and places[-1][0].startswith("final")
        parts = [text[one.end() : one.end() + LONGEST].lstrip(_MARKUP) for one in places[-1 if is_final else 0 :]]
        ended = (_END.split(one, maxsplit=1)[0] for one in parts)
        stated = [one for one in ended if one and not _DENIAL.match(_folded(one))]
        found = [self._labels_in(one, is_stated=True) for one in stated]
        if found and not (any(found) and (found[-1] or " " in stated[-1].strip())):
            return [[]], ""
        after = text[places[-1].end() :] if places else text
        if is_final:
            return found, after
        own = self._standing(text, is_stated=bool(found))
        return [*found, *([label] for label in own)], after

    def _standing(self, text: str, *, is_stated: bool) -> list[str]:
        """Return the labels of a first line B) …, and of a first sentence and a last line that are a name."""
        begun = [one for one in _BEGUN.finditer(text) if self._letter(one[1])]
        begins = len(begun) == 1 and not text[: begun[0].start()].strip()
        found = self._labels_in(text[begun[0].start() :].split("\n", 1)[0]) if begins else []
        first, _, last = text.strip().partition("\n")
        last = last.rpartition("\n")[2]
        is_letter = len(last.strip(_AROUND)) == 1 and (found or is_stated or self.whole(first))
        asked = _QUESTION.match(text)
        ends = [last] if asked else [*_END.split(text.strip(), maxsplit=1), last]
        found += [label for end in ends if len(end.strip(_AROUND)) > 1 and (label := self.whole(end))]
        if is_letter:
            found += [label for end in (first, last) if (label := self.whole(end))]
        return found

    def _corrections(self, after: str) -> list[list[str]]:
        """Return what the text after a statement says in its stead."""
        begun = _CORRECTION.search(_folded(after[:LONGEST]))
        return [self._labels_in(after[begun.end() : begun.end() + LONGEST])] if begun else []

    def _labels_in(self, text: str, *, is_stated: bool = False) -> list[str]:
        """Return the labels that a part of an answer names, each once."""
        if label := self.whole(text):
            return [label]
        folded = _folded(text)
        if self._is_other_letter(text, is_stated=is_stated):
            return []
        marks = self._names_in(folded)
        covered = {place for mark in marks for place in range(mark.start, mark.stop)}
        begun = [found for found in _BEGUN.finditer(text) if self._letter(found[1])]
        letters = [
            place
            for place in _letters(text)
            if place not in covered and not _COUNTED.search(folded[max(0, place - 20) : place])
        ]
        lettered = [Mark(place, place + 1, label) for place in letters if (label := self._letter(text[place]))]
        if len(begun) == 1 and begun[0].start() == 0 and not _OTHERS.match(text, begun[0].end()):
            leading = Mark(*begun[0].span(1), self._letter(begun[0][1]) or "")
            if Clauses(folded, marks).affirmed([leading]):
                lettered = [leading]
        marks = sorted([*marks, *lettered])
        return [*dict.fromkeys(mark.label for mark in definite(folded, Clauses(folded, marks).affirmed(marks)))]

    def _names_in(self, folded: str) -> list[Mark]:
        """Return the names of more than a letter; a name such as "no" only where it is no part of a sentence."""
        if not self._names:
            return []
        found = [(match, self._names[(match.lastindex or 1) - 1]) for match in self._pattern.finditer(folded)]
        marks = [Mark(*match.span(), self._labels[name]) for match, name in found]
        kept = []
        for place, (mark, (_, name)) in enumerate(zip(marks, found, strict=True)):
            if name.isdigit() and _COUNTED.search(folded[max(0, mark.start - 20) : mark.start]):
                continue
            near = marks[max(0, place - 1) : place + 2]
            if (
                not is_negation(name)
                or stands_alone(folded, mark)
                or any(joined(folded, *both) for both in pairwise(near))
            ):
                kept.append(mark)
        return kept

    def _is_other_letter(self, text: str, *, is_stated: bool) -> bool:
        """Return whether a text begins with a letter that is no class, as in "E) …", where classes are letters."""
        begun = _BEGUN.match(text) or (_STATED_LETTER.match(text) if is_stated else None)
        if begun is None or not begun[1].isupper() or not any(map(_is_letter, self._labels)):
            return False
        return self._letter(begun[1]) is None

    def _letter(self, letter: str) -> str | None:
        return self._labels.get(key(letter))

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
    if not labels:
        return NO_CLASS
    return Named(labels[0]) if len(labels) == 1 else Named(None, TWO_CLASSES, labels)


@lru_cache(maxsize=1 << 12)
def key(name: str) -> str:
    """Return a name in the form in which names are compared."""
    text = _folded(_composed(name))
    box = boxed(text)
    is_box = box is not None and text.replace(f"{{{box}}}", "", 1).strip(_AROUND) in {"\\boxed", "\\fbox"}
    text = _TEXT_COMMAND.sub(r"\1", box if box is not None and is_box else text)
    words = " ".join(_SEPARATORS.split(_BULLET.sub("", text))).strip()
    inner = words.strip(_AROUND)
    if inner.startswith("<") and inner.endswith(">"):
        inner = inner[1:-1].strip(_AROUND)
    return inner or words


@cache
def _marks() -> str:
    """Return the combining marks, as the inside of a character class."""
    return "".join(chr(code) for code in range(0x20000) if unicodedata.category(chr(code))[0] == "M")


@cache
def _word() -> str:
    """Return the pattern of a character next to which no name begins or ends: scripts without blanks have none."""
    return rf"(?!{_UNSPACED})[\w{_marks()}]"


# A number of something: 2 reasons.
_PLURAL = (
    r"[ \t]+(?!(?:stars|points|is|was|as|has|does|fits|seems|means|contains|describes|matches|applies)\b)[a-z]+s\b"
)


def _bounded(name: str) -> str:
    """Return the pattern of a name that is no part of a longer word or number."""
    # "not_spam" is "notspam" too, but "1-2" is not "12".
    pattern = re.sub(r"\\ ", r"(?:[\\s_\\-]+|(?<!\\d)|(?!\\d))", re.escape(name))
    unspaced, digit = re.compile(_UNSPACED), re.compile(r"\d")
    before = "" if unspaced.match(name) or not re.match(r"\w", name) else rf"(?<!{_word()})(?<!\w-)"
    after = "" if unspaced.match(name[-1]) or _HANGUL.match(name[-1]) else rf"(?!{_word()})(?!-\w)"
    before += r"(?<!\d[.,:/])(?<![-+<>≤≥~≈])(?<![<>]=)(?<![<>≤≥~≈]\s)" if digit.match(name) else ""
    after += rf"(?![.,:/]\d|\s?[%+]|{_PLURAL})" if digit.match(name[-1]) else ""
    return rf"(?:{before}{pattern}{after}(?![{_marks()}]))"


def _is_letter(name: str) -> bool:
    """Return whether a name is one letter of a script with capitals."""
    return len(name) == 1 and name.upper() != name.lower()


def _letters(text: str) -> Iterator[int]:
    """Yield the places of capital letters that stand by themselves, of letters in brackets, and of "option b"."""
    for match in _LETTER.finditer(text):
        place = match.start()
        is_bracketed = text[place - 1 : place] == "(" and text[place + 1 : place + 2] == ")"
        is_called = _CALLED.search(text[max(0, place - 8) : place]) and _CLOSED.match(text, match.end())
        is_word = match[0] in "AI" and _WORD_AFTER.match(text, match.end())
        if is_bracketed or is_called or (match[0].isupper() and not is_word):
            yield place


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
_AROUND = " *_`\"'.,;:!?()[]{}$。、！？،؛।"
_BULLET = re.compile(r"^(?:\s|#+\s|>(?!\s*\d)|[-•]\s)+")
# A hyphen without a word before it is a sign.
_SEPARATORS = re.compile(r"(?<=[^\s*_`\"'(\[])[\s_\-]+(?=\w)|\s+")
_TEXT_COMMAND = re.compile(r"\\(?:text|textbf|mathrm|mathbf|textit)\{([^{}]*)\}")
# Han, kana, Thai, Lao, Burmese and Khmer are written without blanks between words.
_UNSPACED = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
# Korean particles follow a word without a blank.
_HANGUL = re.compile("[\uac00-\ud7a3]")
_SUBJECTS = "answer|label|class|category|classification|choice|option|prediction|intent|sentiment|topic|verdict"
_STATED = re.compile(
    rf"(?<!\w)(?<!wrong )(?<!incorrect )(?<!other )(?:final )?(?:{_SUBJECTS})(?:\s+(?:for|to|of)\s[^.:\n]{{1,60}}?)?"
    r"[\"'*_`)]*\s*(?:(?:is|would be|should be|must be)(?!\w):?|=|:|->|→|-+(?=\s))"
    r"|(?<!\w)(?:i|we)(?:'d| would|'ll| will)? (?:choose|pick|select|go with|go for)(?!\w)"
)
# A statement ends with its sentence or line.
_END = re.compile(r"[.!?](?=[\s\"'*)]|$)|[。！？।\n]|\s(?:because|since|weil|parce que|porque)\s")
_QUESTION = re.compile(r"[^.!?。！？\n]*[?？]")
_DENIAL = re.compile(r"not(?!\w)")
# What takes back a statement before it.
_CORRECTION = re.compile(
    r"(?:^|[.!?,;:\n*)(\-—…]\s*)(?:no,? |oh,? |hmm,? )?(?:wait|actually|correction|sorry"
    r"|on (?:second thoughts?|reflection)|scratch that|oops|hmm|my mistake|i mean|edit|no(?=,))(?!\w)"
)
# What a number or letter counts or is a part of: Step 1, Vitamin C, at least 4.
_COUNTED = re.compile(
    r"(?<!\w)(?:steps?|questions?|q|sections?|chapters?|pages?|lines?|items?|figures?|fig\.?|tables?|paragraphs?|sentences?"
    r"|examples?|parts?|points?|reasons?|rules?|appendix|exhibit|phase|vitamin|plan|hepatitis|influenza|team|at least"
    r"|at most|(?:more|less|fewer|greater|higher|lower) than|over|under|above|below)\s+[*_`\"'(]*$"
)
_STATED_LETTER = re.compile(
    r"[\s*_`#>\"'$(\[]*([^\W\d_])(?=[)\].:,;*_`\"'$]|\s*$|\s+(?:is|and|or|as|for|with|-)(?!\w))"
)
# A letter that begins a line or a statement: B. B) (B) **B:** [B]
_BEGUN = re.compile(
    r"^[ \t*_`#>\"'$]*(?:option |choice )?[(\[]?([^\W\d_])[)\]]?(?:[*_`]*[).:\]][*_`]*)(?=\s|$)",
    re.MULTILINE | re.IGNORECASE,
)
_CALLED = re.compile(r"(?<!\w)(?:answer|option|choice|letter) $", re.IGNORECASE)
_CLOSED = re.compile(r"\s*(?:[.,;:!)\n]|$)|\s+(?:because|since|as)(?!\w)")
_OTHERS = re.compile(r"\s*(?:or|and|oder|ou|o|y|et|und|/|,|&)(?!\w)", re.IGNORECASE)
_LETTER = re.compile(rf"(?<!(?!{_UNSPACED})[\w'.&+#/\-])[^\W\d_](?!(?!{_UNSPACED})[\w'&+#/\-]|\.\w)")
# A and I are words where another word follows, such as "A dog"; not in "A is right", "A because".
_WORD_AFTER = re.compile(r"[ \t]+(?!(?:is|are|was|because|since|or|and)(?!\w))[^\W\d_][\w']")
