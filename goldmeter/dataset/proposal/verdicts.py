"""Verdicts on answers as people write them: words, grades, booleans with gaps; and how load is to read them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from goldmeter.dataset.labels import LABELS
from goldmeter.dataset.proposal import names
from goldmeter.dataset.proposal.columns import Column
from goldmeter.dataset.proposal.section import shown

RIGHT_WORDS = frozenset({
    "correct", "right", "true", "yes", "y", "pass", "passed", "accept", "accepted", "acceptable", "good", "valid",
    "fully correct", "equivalent", "1", "1.0",
})  # fmt: skip
WRONG_WORDS = frozenset({
    "incorrect", "wrong", "false", "no", "n", "fail", "failed", "reject", "rejected", "unacceptable", "bad", "invalid",
    "not correct", "not acceptable", "hallucination", "hallucinated", "not equivalent", "0", "0.0",
})  # fmt: skip
UNSURE_WORDS = frozenset({
    "nan", "none", "null", "n/a", "na", "-", "?", "unsure", "unknown", "unclear", "undecided", "ambiguous", "maybe",
    "not attempted", "unjudged", "not judged", "skip", "skipped", "tie", "missing", "pending", "todo", "idk", "error",
})  # fmt: skip
# Words that are said of other things than answers, too, or in another language: both kinds in a column are verdicts.
LIKE_RIGHT = RIGHT_WORDS | {
    "supported", "success", "succeeded", "successful", "faithful", "grounded", "relevant", "match", "hit", "up", "ok",
    "t", "tp", "tn", "✓", "✔", "✅", "👍", "richtig", "ja", "wahr", "correcto", "correcta", "sí", "vrai", "oui",
}  # fmt: skip
LIKE_WRONG = WRONG_WORDS | {
    "unsupported", "failure", "error", "unfaithful", "ungrounded", "irrelevant", "mismatch", "miss", "down", "f", "fp",
    "fn", "✗", "✘", "❌", "👎", "falsch", "nein", "incorrecto", "incorrecta", "faux", "non",
}  # fmt: skip
DEGREES = frozenset({
    "fully", "mostly", "largely", "completely", "totally", "entirely", "partly", "partially", "somewhat", "very",
    "thumbs",
})  # fmt: skip
PARTLY = frozenset({"partial", "partially correct", "partly correct", "partly", "partially", "mostly correct"})
# Letters of well-known graders of models → their words. SimpleQA: A, B, C. Inspect: C, I, P, N.
LETTERS: Sequence[Mapping[str, str]] = (
    {"a": "correct", "b": "incorrect", "c": "not attempted"},
    {"c": "correct", "i": "incorrect", "p": "partial", "n": "unknown"},
)
MOST_WORDS = 12
# Grades are whole numbers up to this one.
HIGHEST_GRADE = 10
# Share of the scale from which a grade is proposed to mean a right answer: 4 of 1 to 5.
GOOD_GRADE = 0.75
FEWEST_GRADES = 3


class Reading(NamedTuple):
    """How a column of verdicts is read.

    rule: The members of `label` beside the column; empty if load reads the values as they are.
    doubt: Why the user should check it.
    sure: Whether the values alone tell that the column holds verdicts, whatever its name. Booleans are not sure.
    """

    rule: Mapping[str, Any]
    doubt: str = ""
    sure: bool = False


def reading(column: Column) -> Reading | None:
    """How the column is read as verdicts; None if its values are none, or only its name could tell."""
    if column.kind == "boolean":
        return _of_booleans(column)
    if column.kind == "number":
        return _of_grades(column) if _is_named(column) else None
    return _of_words(column) if column.kind == "text" else None


def of_named_grades(column: Column) -> Reading | None:
    """How a column of numbers is read that the user named as labels; None if it holds no grades."""
    return _of_grades(column) if column.kind == "number" else None


def label(column: Column, rule: Mapping[str, Any]) -> str | dict[str, Any]:
    """The value of option `label`."""
    return {"column": column.name, **rule} if rule else column.name


def is_verdict(column: Column) -> bool:
    """Whether the column can't be a slice: its values are verdicts or booleans with gaps, or its name says so."""
    if column.kind == "text":
        return reading(column) is not None or _is_like_verdicts(column) or names.is_verdict(column.name)
    if column.kind == "boolean" and names.is_verdict(column.name):
        return True
    return reading(column) is not None and (_is_named(column) or names.is_raters(column.name))


def _is_like_verdicts(column: Column) -> bool:
    """Whether some values are said of right answers, and some of wrong ones."""
    texts = list(dict.fromkeys(column.texts))
    if len(texts) > MOST_WORDS:
        return False
    return {True, False} <= {_leaning(_spelled(text.strip())) for text in texts}


def _leaning(word: str) -> bool | None:
    """Whether the word is said of right answers, or of wrong ones; None if of neither."""
    each = word.split()
    while len(each) > 1 and each[0] in DEGREES:
        each = each[1:]
    plain = " ".join(each)
    if plain in LIKE_WRONG or (each[0] == "not" and " ".join(each[1:]) in LIKE_RIGHT):
        return False
    return True if plain in LIKE_RIGHT else None


def _is_named(column: Column) -> bool:
    return names.key_of_label(column.name) is not None


def _of_booleans(column: Column) -> Reading:
    if names.is_inverted(column.name):
        return Reading({"invert": True}, f"{shown(column.name)}: true is taken for a wrong answer")
    return Reading({})


def _of_words(column: Column) -> Reading | None:
    texts = list(dict.fromkeys(text.strip() for text in column.texts))
    if len(texts) > MOST_WORDS:
        return None
    spelled = {text: _spelled(text) for text in texts}
    letters = next((each for each in LETTERS if _is_named(column) and set(spelled.values()) <= set(each)), {})
    meant = {text: letters.get(word, word) for text, word in spelled.items()}
    if not all(map(_is_known, meant.values())) or not set(meant.values()) & (RIGHT_WORDS | WRONG_WORDS):
        return None
    found = _by_words(column, meant, sure=_tells(meant.values(), letters))
    return found._replace(doubt=_about_letters(column, found)) if letters else found


def _about_letters(column: Column, found: Reading) -> str:
    """What the letters are taken for: they may be school grades."""
    taken = (("right", "right"), ("wrong", "wrong"), ("unsure", "no label"))
    meaning = ", ".join(f"{letter} {word}" for name, word in taken for letter in found.rule.get(name, []))
    return f"{shown(column.name)}: {meaning}, as graders of models write them; school grades: change right and wrong"


def _by_words(column: Column, meant: Mapping[str, str], *, sure: bool) -> Reading:
    right = [text for text, word in meant.items() if word in RIGHT_WORDS]
    wrong = [text for text, word in meant.items() if word in WRONG_WORDS]
    unsure = [text for text, word in meant.items() if word not in RIGHT_WORDS | WRONG_WORDS]
    if names.is_inverted(column.name) and all(text.lower() in LABELS for text in right + wrong):
        right, wrong = wrong, right
    partly = [text for text, word in meant.items() if word in PARTLY]
    doubt = f"{shown(partly[0])} counts as no label" if partly else ""
    rule = {"right": right, "wrong": wrong} | ({"unsure": unsure} if unsure else {})
    return Reading(rule, doubt, sure)


def _of_grades(column: Column) -> Reading | None:
    grades = sorted({float(text) for text in column.texts})
    low, high = grades[0], grades[-1]
    if len(grades) < FEWEST_GRADES or low < 0 or high > HIGHEST_GRADE or any(grade % 1 for grade in grades):
        return None
    bottom = min(low, 1.0)
    limit = round(bottom + GOOD_GRADE * (high - bottom))
    return Reading({"at_least": limit}, f"{shown(column.name)}: grades {low:g} to {high:g}; right from {limit} on?")


def _spelled(text: str) -> str:
    return " ".join(text.casefold().replace("_", " ").replace("-", " ").rstrip(".!,;:").split()) or text


def _is_known(word: str) -> bool:
    return word in RIGHT_WORDS | WRONG_WORDS | UNSURE_WORDS | PARTLY


def _tells(words: Any, letters: Mapping[str, str]) -> bool:
    """Whether these words are said of answers only."""
    return bool(letters) or bool(set(words) & (RIGHT_WORDS | WRONG_WORDS) - set(LABELS))
