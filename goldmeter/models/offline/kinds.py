"""Kinds of questions and references, by their words: the judge's agreement with human labels differs between them."""

import re
from collections.abc import Mapping

# Characters of a text that are read: the end of a question, which may follow a passage, and the begin of a reference.
LONGEST = 300
# Words of a reference from which on it is a clause if it is no name, date or list; fewest words of a shorter clause.
_PHRASE, _CLAUSE = 6, 4

_QUESTIONS: Mapping[str, str] = {
    "why": "why|how come",
    "explain": "explain|describe|discuss|compare|justify|summari[sz]e",
    "opinion": "do you (?:think|believe|prefer)|opinion|in your view",
    "how many": "how (?:many|much|long|old|far|tall|big|often|high|deep|large|fast|heavy)",
    "how": "how",
    "who": "who(?:se|m)?",
    "when": "when|(?:what|which) (?:year|date|day|month)",
    "where": "where",
    "what or which": "what|which",
}
OTHER = "other"
QUESTION_KINDS = (*_QUESTIONS, OTHER)
NAME, DATE, NUMBER, LIST, PHRASE, CLAUSE = REFERENCE_KINDS = ("name", "date", "number", "list", "phrase", "clause")

_QUESTION = re.compile(rf"\b(?:{'|'.join(f'({words})' for words in _QUESTIONS.values())})\b", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|can|could|will|would|must|should|may|might|because|that|"
    r"which|who|when|if|so|it|they|he|she|we|you|not|cannot)\b|n['’]t\b",
)
_DATED = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|century|\w+day|spring|summer|autumn|winter"
_DATE = re.compile(
    rf"(?=.*(?:\d{{4}}|\d0s|\b(?:{_DATED})\b))"
    rf"(?:[\W_]|\b(?:{_DATED}|\d{{1,2}}(?:st|nd|rd|th)?|\d{{3,4}}s?|the|of|in|on|and|to|ad|bce?|ce|early|mid|late)\b)+",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|^(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|hundred|half|dozen)\b",
    re.IGNORECASE,
)
_LIST, _WORD = re.compile(r"[,;&\n]|\band\b"), re.compile(r"[^\W\d_]+")


def question_kind(text: str) -> str | None:
    """Return one of `QUESTION_KINDS`, by the first word that asks; None for a blank text.

    >>> [question_kind(one) for one in ("Who was it?", "How long is it?", "how does it work", "It is an example of")]
    ['who', 'how many', 'how', 'other']
    """
    if not text.strip():
        return None
    match = _QUESTION.search(text[-LONGEST:])
    return QUESTION_KINDS[match.lastindex - 1] if match and match.lastindex else OTHER


def reference_kind(text: str) -> str:
    """Return one of `REFERENCE_KINDS`; a clause has a verb or a conjunction, or six words and is nothing else.

    >>> [reference_kind(one) for one in ("Leo Tolstoy", "May 1889", "12 km", "iron and zinc", "the sixth")]
    ['name', 'date', 'number', 'list', 'phrase']
    >>> reference_kind("because the air was cold"), reference_kind("seeds pass through your digestive system unharmed")
    ('clause', 'clause')
    """
    text = text[:LONGEST]
    if len(text.split()) >= _CLAUSE and _VERB.search(text):
        return CLAUSE
    if _DATE.fullmatch(text):
        return DATE
    words = _WORD.findall(text)
    is_list = _LIST.search(text) is not None
    is_name = any(word[0].isupper() for word in words) and all(word[0].isupper() or len(word) < 4 for word in words)  # noqa: PLR2004
    if len(words) >= _PHRASE and not (is_list or is_name):
        return CLAUSE
    if _NUMBER.search(text):
        return NUMBER
    return LIST if is_list else NAME if is_name else PHRASE
