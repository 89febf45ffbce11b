"""Kinds of failure: one for each answer that the primary measure calls wrong, from its texts and the judge's reason."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

# Characters of a text that are read at most. What makes an answer wrong nearly always stands at its beginning.
READ = 2_000
# Characters within which a refusal stands; in a long answer "unknown" is about something else.
REFUSED = 300
# Words of an answer from which on it is long beside the accepted answer, and how many times longer it must be.
LONG, TIMES = 50, 10
# Words of an answer up to which every word counts, not only names and numbers: "battle of bosworth".
SHORT = 6
# Function words that make a language certain.
FEWEST_WORDS = 2


class FailureKind(NamedTuple):
    """A kind of failure; about: one sentence for the reader."""

    name: str
    about: str


EMPTY, REFUSAL, OTHER_LANGUAGE, HEDGE, ALTERNATIVES = 0, 1, 2, 3, 4
WRONG_NUMBER, INCOMPLETE, OVER_LONG, DENIED, PRESENT, ANOTHER_ANSWER, OTHER = 5, 6, 7, 8, 9, 10, 11
# By number; an answer has the first kind that fits, in about this order.
KINDS = (
    FailureKind("empty", "No text, or white space only."),
    FailureKind("refusal", "It says that it does not know, or declines to answer."),
    FailureKind("other language", "It is in another language than the question and the accepted answers."),
    FailureKind("hedge", "The accepted answer is in it, but hedged: might be, I think, possibly."),
    FailureKind("right one among alternatives", "The accepted answer is in it, beside other candidates."),
    FailureKind("wrong number", "Its number is not that of an accepted answer."),
    FailureKind("incomplete", "It gives only a part of an accepted answer, and nothing else."),
    FailureKind("over-long", f"The accepted answer is somewhere in an answer of more than {LONG} words."),
    FailureKind("right one denied", "The accepted answer is in it, but denied: not Paris."),
    FailureKind(
        "right one in passing",
        "An accepted answer occurs, but not as the answer, or it is labelled wrong all the same.",
    ),
    FailureKind("another answer", "It gives something else than an accepted answer."),
    FailureKind("other", "No rule applies, for example without a reference."),
)
NAMES = tuple(kind.name for kind in KINDS)

# Beginning of the offline judge's reason for a wrong answer → kind. The other reasons need the texts as well.
_REASONS: Mapping[str, int] = {
    "the response is blank": EMPTY,
    "the answer says that it does not know (": REFUSAL,
    "a hedge (": HEDGE,
    "another candidate (": ALTERNATIVES,
    "other candidates stand beside the accepted answer ": ALTERNATIVES,
    "a negation (": DENIED,
    "the number ": WRONG_NUMBER,
}
# Refusals and hedges in the languages of the function words below and a few more; apostrophes are straight.
_REFUSAL = re.compile(
    r"\b(?:i (?:really |honestly )?(?:don't|do not) (?:know|have)|i(?:'m| am) (?:not able|unable)|"
    r"(?:can't|cannot|can not|could not|couldn't) (?:answer|help|find|determine|provide|say)|no idea|no answer|"
    r"unknown|n/a|not (?:mentioned|specified|known|available)|as an ai|unable to|"
    r"weiß (?:ich )?(?:es )?nicht|keine ahnung|nicht bekannt|nicht beantworten|nichts sagen|je ne sais pas|"
    r"aucune idée|no lo sé|no sé|no puedo responder|non lo so|não sei|weet (?:ik )?(?:het )?niet|не знаю|не могу)\b"
    r"|不知道|无法回答|不清楚|わかりません|分かりません|回答できません|お答え|لا أعرف|لا يمكنني|모르겠"
)
_HEDGE = re.compile(
    r"\b(?:might|maybe|perhaps|possibly|probably|not (?:\w+ )?sure|unsure|i think|i believe|guess|presumably|"
    r"apparently|could be|may be|may have|vielleicht|möglicherweise|vermutlich|unsicher|peut-être|probablement|"
    r"quizás|tal vez|podría ser|creo que|no estoy seguro|forse|talvez|misschien|возможно|вероятно|кажется|вроде|"
    r"не уверен)\b|可能|也许|不太确定|たぶん|おそらく|自信はない|ربما"
)
# Between an accepted answer and another candidate; before an accepted answer that is denied.
_OR = r"(?:\b(?:or|oder|ou|o|oppure|или)\b|/|أو|还是|または|それとも)"
_NOT = r"(?:\b(?:not|never|rather than|instead of|opposed to|nicht|kein|keine|statt|pas|no|non|не)\b|不是|ではなく)"
_NEAR = r"\W*(?:\w+\W+){0,3}?"
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_SCRIPTS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(f"[{ranges}]")
    for name, ranges in {
        "Latin": "a-zA-Z\u00c0-\u024f\u1e00-\u1eff",
        "Greek": "\u0370-\u03ff",
        "Cyrillic": "\u0400-\u052f",
        "Hebrew": "\u0590-\u05ff",
        "Arabic": "\u0600-\u06ff\u0750-\u077f",
        "Indic": "\u0900-\u0dff",
        "Thai": "\u0e00-\u0e7f",
        "Chinese or Japanese": "\u3040-\u30ff\u3400-\u9fff",
        "Korean": "\u1100-\u11ff\uac00-\ud7af",
    }.items()
}
# Scripts without blanks between words.
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
# Language → function words that most of the other languages here do not have.
_FUNCTION_WORDS: Mapping[str, str] = {
    "English": "the and of is was were which what who how with from by this that it he she they",
    "German": "der das und ist wer wie ein eine nicht mit für wurde wird welche auf den dem zu",
    "French": "le les est qui quel quelle dans sur avec une du et il elle était pour des",
    "Spanish": "el los las quién cuál cómo por con para y fue es del una en",
    "Italian": "gli che chi quale dove nel della è sono di il ha nella",
    "Portuguese": "os uma quem qual onde não foi do da em são um ao",
    "Dutch": "het een wat welke waar zijn niet werd voor naar deze",
}
_LANGUAGES: dict[str, list[str]] = {}
for _name, _own in _FUNCTION_WORDS.items():
    for _word in _own.split():
        _LANGUAGES.setdefault(_word, []).append(_name)
_STOP = frozenset("a an the of in on at to by for and is was are were be it its he she they that this as with".split())  # noqa: SIM905


class Row(NamedTuple):
    """The texts of a wrong answer; reason: the offline judge's, None without one."""

    question: str | None
    references: Sequence[str | None]
    response: str | None
    reason: str | None = None


def failure_kind(row: Row) -> int:
    """Return the number of the kind in KINDS.

    >>> NAMES[failure_kind(Row("When did it sink?", ["1912"], "It sank in 1915."))]
    'wrong number'
    >>> NAMES[failure_kind(Row("Who wrote it?", ["Jane Austen"], "I don't know."))]
    'refusal'
    """
    if row.response is None or not row.response.strip():
        return EMPTY
    response, question = _read(row.response), _read(row.question)
    references = [text for text in map(_read, row.references) if text.strip()]
    if _speaks_other(response, question, references):
        return OTHER_LANGUAGE
    words = _words(response)
    contained = [reference for reference in references if _contains(response, words, reference)]
    if not contained and _REFUSAL.search(response[:REFUSED].casefold()):
        return REFUSAL
    kind = next((kind for start, kind in _REASONS.items() if row.reason and row.reason.startswith(start)), None)
    if kind is not None:
        return kind
    if contained:
        return _kind_of_present(response, words, contained)
    return _kind_of_absent(response, words, question, references)


def _kind_of_present(response: str, words: Sequence[str], contained: Sequence[str]) -> int:
    """The kind of a wrong answer that has an accepted answer in it."""
    length = max(len(_words(reference)) for reference in contained)
    if len(words) > LONG and len(words) > TIMES * length:
        return OVER_LONG
    folded = response.casefold()
    accepted = [re.escape(reference.casefold().strip()) for reference in contained]
    if any(re.search(f"{_OR}{_NEAR}{one}|{one}{_NEAR}{_OR}", folded) for one in accepted):
        return ALTERNATIVES
    if _HEDGE.search(folded):
        return HEDGE
    return DENIED if any(re.search(f"{_NOT}{_NEAR}{one}", folded) for one in accepted) else PRESENT


def _kind_of_absent(response: str, words: Sequence[str], question: str, references: Sequence[str]) -> int:
    """The kind of a wrong answer that has no accepted answer in it."""
    if not references:
        return OTHER
    if _has_wrong_number(response, question, references):
        return WRONG_NUMBER
    return INCOMPLETE if _is_part(response, words, question, references) else ANOTHER_ANSWER


def _read(text: str | None) -> str:
    """The beginning of a text in Unicode's composed form, with straight apostrophes."""
    return unicodedata.normalize("NFKC", (text or "")[:READ]).replace("\u2019", "'")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _contains(response: str, words: Sequence[str], reference: str) -> bool:
    """Whether the words of a reference stand in the response one after the other."""
    accepted = _words(reference)
    if not accepted:
        return reference.strip() in response
    if _UNSPACED.search(reference):
        return "".join(accepted) in "".join(words)
    return f" {' '.join(accepted)} " in f" {' '.join(words)} "


def _speaks_other(response: str, question: str, references: Sequence[str]) -> bool:
    """Whether the response is in a script or a language that neither the question nor a reference has."""
    given = [question, *references]
    script = _script(response)
    asked = {found for text in given if (found := _script(text))}
    if script and asked and script not in asked:
        return True
    language = _language(response)
    spoken = {found for text in (question, " ".join(given)) if (found := _language(text))}
    return bool(language and spoken and language not in spoken)


def _script(text: str) -> str | None:
    """The script of most letters; None without letters of a known one."""
    if text.isascii():
        return "Latin" if any(map(str.isalpha, text)) else None
    counts = {name: len(pattern.findall(text)) for name, pattern in _SCRIPTS.items()}
    name = max(counts, key=lambda one: counts[one])
    return name if counts[name] else None


def _language(text: str) -> str | None:
    """The language with most function words in a text; None if they are too few or those of several languages."""
    counts = Counter(name for word in _words(text) for name in _LANGUAGES.get(word, ())).most_common(2)
    if not counts or counts[0][1] < FEWEST_WORDS:
        return None
    return counts[0][0] if len(counts) == 1 or counts[0][1] > 2 * counts[1][1] else None


def _has_wrong_number(response: str, question: str, references: Sequence[str]) -> bool:
    """Whether every accepted answer has a number, and the response has others instead."""
    numbers = [_numbers(reference) for reference in references]
    if not all(numbers):
        return False
    stated = _numbers(response) - _numbers(question)
    return bool(stated) and not any(stated & accepted for accepted in numbers)


def _numbers(text: str) -> set[str]:
    return {number.replace(",", "") for number in _NUMBER.findall(text)}


def _is_part(response: str, words: Sequence[str], question: str, references: Sequence[str]) -> bool:
    """Whether the response has some words of an accepted answer, and no name, number or (if short) word besides."""
    asked = {*_words(question), *_STOP}
    for reference in references:
        accepted = {*_words(reference)} - _STOP
        common = (accepted & {*words}) - asked
        if not common or (len(words) > SHORT and 2 * len(common) < len(accepted)):
            continue
        others = {*words} - accepted - asked
        if len(words) > SHORT:  # in a sentence only names and numbers are other answers
            named = {word.casefold() for word in _WORD.findall(response)[1:] if word[0].isupper() or word[0].isdigit()}
            others &= named
        if not others:
            return True
    return False
