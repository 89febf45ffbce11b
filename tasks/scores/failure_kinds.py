"""Kinds of failure: one for each answer that the primary measure calls wrong, from its texts and the judge's reason."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

# Characters of a text that are read at most. What makes an answer wrong nearly always stands at its beginning.
READ = 2_000
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
WRONG_NUMBER, INCOMPLETE, OVER_LONG, PRESENT, ANOTHER_ANSWER, OTHER = 5, 6, 7, 8, 9, 10
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
    FailureKind(
        "accepted answer in it",
        "It contains an accepted answer, but denies it, mentions it in passing, or is labelled wrong all the same.",
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
    "other names or numbers come before the accepted answer ": ALTERNATIVES,
    "the number ": WRONG_NUMBER,
}
# How refusals begin or what they say, in the languages of the function words below; apostrophes are straight.
_REFUSAL = re.compile(
    r"\b(?:i (?:really |honestly )?(?:don't|do not) (?:know|have)|i(?:'m| am) (?:not able|unable|not sure|sorry)|"
    r"(?:can't|cannot|can not|could not|couldn't) (?:answer|help|find|determine|provide|say)|no idea|unknown|n/a|"
    r"not (?:mentioned|specified|known|available|sure)|as an ai|unable to|sorry|weiß (?:ich )?nicht|keine ahnung|"
    r"nicht bekannt|je ne sais pas|aucune idée|no lo sé|no sé|non lo so|não sei|weet ik niet|ik weet het niet)\b"
    r"|不知道|无法回答|わかりません|分かりません|لا أعرف|не знаю|모르겠"
)
_HEDGE = re.compile(
    r"\b(?:might|maybe|perhaps|possibly|probably|not sure|unsure|i think|i believe|i guess|presumably|apparently|"
    r"vielleicht|möglicherweise|vermutlich|peut-être|probablement|quizás|tal vez|forse|talvez|misschien)\b"
)
_ALTERNATIVES = re.compile(r"\b(?:or|either|oder|entweder|ou|o|oppure|of)\b|/")
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
# Language → function words that the other languages here do not have.
_FUNCTION_WORDS: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "English": "the and of is was were which what who how with from by this that it he she they",
        "German": "der das und ist wer wie ein eine nicht mit für wurde wird welche auf den dem von zu",
        "French": "le les est qui quel quelle dans sur avec une du et il elle était pour des",
        "Spanish": "el los las quién cuál cómo por con para y fue es del una en",
        "Italian": "gli che chi quale dove nel della è sono di il ha nella",
        "Portuguese": "os uma quem qual onde não foi do da em são um ao",
        "Dutch": "het een wat welke waar zijn niet van werd voor naar deze",
    }.items()
}
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
    told = next((kind for start, kind in _REASONS.items() if row.reason and row.reason.startswith(start)), None)
    if _speaks_other(response, question, references):
        return OTHER_LANGUAGE
    words = _words(response)
    contained = [reference for reference in references if _contains(response, words, reference)]
    if _REFUSAL.search(response.casefold()) and not contained:
        return REFUSAL
    if told is not None:
        return told
    if contained:
        return _kind_of_present(response, words, contained)
    if not references:
        return OTHER
    if _has_wrong_number(response, question, references):
        return WRONG_NUMBER
    return INCOMPLETE if _is_part(response, words, question, references) else ANOTHER_ANSWER


def _kind_of_present(response: str, words: Sequence[str], contained: Sequence[str]) -> int:
    """The kind of a wrong answer that has an accepted answer in it."""
    length = max(len(_words(reference)) for reference in contained)
    if len(words) > LONG and len(words) > TIMES * length:
        return OVER_LONG
    folded = response.casefold()
    if _HEDGE.search(folded):
        return HEDGE
    beside = [folded.replace(reference.casefold(), " ") for reference in contained]
    return ALTERNATIVES if all(_ALTERNATIVES.search(text) for text in beside) else PRESENT


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
    spoken = {found for text in (question, " ".join(references)) if (found := _language(text))}
    return bool(language and spoken and language not in spoken)


def _script(text: str) -> str | None:
    """The script of most letters; None without letters of a known one."""
    counts = {name: len(pattern.findall(text)) for name, pattern in _SCRIPTS.items()}
    name = max(counts, key=lambda one: counts[one])
    return name if counts[name] else None


def _language(text: str) -> str | None:
    """The language with most function words in a text; None if they are too few or two languages have as many."""
    words = _words(text)
    counts = sorted(((sum(word in own for word in words), name) for name, own in _FUNCTION_WORDS.items()), reverse=True)
    (most, name), (second, _) = counts[:2]
    return name if most >= FEWEST_WORDS and most > 2 * second else None


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
        if not accepted & {*words}:
            continue
        others = {*words} - accepted - asked
        if len(words) > SHORT:  # in a sentence only names and numbers are other answers
            named = {word.casefold() for word in _WORD.findall(response)[1:] if word[0].isupper() or word[0].isdigit()}
            others &= named
        if not others:
            return True
    return False
