"""Failures: which rows the primary measure calls wrong, of which kind by their texts, and how frequent each kind is."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldmeter.estimates import estimates
from goldmeter.estimates.column_facts import VALUE
from goldmeter.estimates.columns import Mask, ScoreColumn
from goldmeter.estimates.metrics_report import FailureEntry, FailuresEntry
from goldmeter.estimates.sums import AnyColumn_co, CandidateSums, ClusterSums, ColumnSums
from goldmeter.pipeline.tables import Parts

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
# Questions and references that are kept in memory, of rows that stand near each other.
MOST_KEPT = 4_096


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
_OR = re.compile(r"\b(?:or|oder|ou|o|oppure|или)\b|/|أو|还是|または|それとも")
_NOT = re.compile(
    r"\b(?:not|never|rather than|instead of|opposed to|nicht|kein|keine|statt|pas|no|non|не)\b|不是|ではなく"
)
_NEAR = re.compile(r"\W*(?:\w+\W+){0,3}?")
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
STOP = frozenset("a an the of in on at to by for and is was are were be it its he she they that this as with".split())  # noqa: SIM905


class Row(NamedTuple):
    """The texts of a wrong answer."""

    question: str | None
    references: Sequence[str | None]
    response: str | None


def failure_kind(row: Row) -> int:
    """Return the number of the kind in KINDS.

    >>> NAMES[failure_kind(Row("When did it sink?", ["1912"], "It sank in 1915."))]
    'wrong number'
    >>> NAMES[failure_kind(Row("Who wrote it?", ["Jane Austen"], "I don't know."))]
    'refusal'
    """
    if row.response is None or not row.response.strip():
        return EMPTY
    response, question = _text(_read(row.response)), _asked(row.question)
    references = [text for text in map(_asked, row.references) if text.raw.strip()]
    if _speaks_other(response, question, references):
        return OTHER_LANGUAGE
    contained = [reference for reference in references if _contains(response, reference)]
    if not contained and _REFUSAL.search(response.raw[:REFUSED].casefold()):
        return REFUSAL
    if contained:
        return _kind_of_present(response, contained)
    return _kind_of_absent(response, question, references)


class _Text(NamedTuple):
    """A text with its words, folded."""

    raw: str
    words: list[str]


def _text(raw: str) -> _Text:
    return _Text(raw, _WORD.findall(raw.casefold()))


@lru_cache(maxsize=MOST_KEPT)
def _asked(text: str | None) -> _Text:
    """A question or a reference; those of several answers to one question are read once."""
    return _text(_read(text))


def _kind_of_present(response: _Text, contained: Sequence[_Text]) -> int:
    """The kind of a wrong answer that has an accepted answer in it."""
    length = max(len(reference.words) for reference in contained)
    if len(response.words) > LONG and len(response.words) > TIMES * length:
        return OVER_LONG
    folded = response.raw.casefold()
    places = [place for reference in contained for place in _places(folded, reference.raw.casefold().strip())]
    choices = [found.span() for found in _OR.finditer(folded)]
    if _are_near(folded, choices, places) or _are_near(folded, places, choices):
        return ALTERNATIVES
    if _HEDGE.search(folded):
        return HEDGE
    return DENIED if _are_near(folded, [found.span() for found in _NOT.finditer(folded)], places) else PRESENT


def _places(text: str, part: str) -> Iterator[tuple[int, int]]:
    """Yield where the part begins and ends, each time that it occurs."""
    start = text.find(part)
    while start >= 0:
        yield start, start + len(part)
        start = text.find(part, start + 1)


def _are_near(text: str, before: Sequence[tuple[int, int]], after: Sequence[tuple[int, int]]) -> bool:
    """Whether one of the places `after` follows one of `before`, with a few words between them at most."""
    return any(_NEAR.fullmatch(text, end, start) for _, end in before for start, _ in after if end <= start)


def _kind_of_absent(response: _Text, question: _Text, references: Sequence[_Text]) -> int:
    """The kind of a wrong answer that has no accepted answer in it."""
    if not references:
        return OTHER
    if _has_wrong_number(response, question, references):
        return WRONG_NUMBER
    return INCOMPLETE if _is_part(response, question, references) else ANOTHER_ANSWER


def _read(text: str | None) -> str:
    """The beginning of a text in Unicode's composed form, with straight apostrophes."""
    return unicodedata.normalize("NFKC", (text or "")[:READ]).replace("\u2019", "'")


def _contains(response: _Text, reference: _Text) -> bool:
    """Whether the words of a reference stand in the response one after the other."""
    accepted = reference.words
    if not accepted:
        return reference.raw.strip() in response.raw
    if _UNSPACED.search(reference.raw):
        return "".join(accepted) in "".join(response.words)
    return f" {' '.join(accepted)} " in f" {' '.join(response.words)} "


def _speaks_other(response: _Text, question: _Text, references: Sequence[_Text]) -> bool:
    """Whether the response is in a script or a language that neither the question nor a reference has."""
    script = _script(response.raw)
    if script and script != _script(question.raw):
        asked = {found for text in (question, *references) if (found := _script(text.raw))}
        if asked and script not in asked:
            return True
    language = _language(response.words)
    if language is None or (of_question := _language(question.words)) == language:
        return False
    of_all = _language(chain(question.words, *(reference.words for reference in references)))
    return (of_question or of_all) is not None and of_all != language


def _script(text: str) -> str | None:
    """The script of most letters; None without letters of a known one."""
    if text.isascii():
        return "Latin" if any(map(str.isalpha, text)) else None
    counts = {name: len(pattern.findall(text)) for name, pattern in _SCRIPTS.items()}
    name = max(counts, key=lambda one: counts[one])
    return name if counts[name] else None


def _language(words: Iterable[str]) -> str | None:
    """The language with most function words in a text; None if they are too few or those of several languages."""
    counts: dict[str, int] = {}
    for names in filter(None, map(_LANGUAGES.get, words)):
        for name in names:
            counts[name] = counts.get(name, 0) + 1
    if not counts:
        return None
    *others, most = sorted(counts.values())
    if most < FEWEST_WORDS or (others and most <= 2 * others[-1]):
        return None
    return next(name for name, count in counts.items() if count == most)


def _has_wrong_number(response: _Text, question: _Text, references: Sequence[_Text]) -> bool:
    """Whether every accepted answer has a number, and the response has others instead."""
    numbers = [_numbers(reference.raw) for reference in references]
    if not all(numbers):
        return False
    stated = _numbers(response.raw) - _numbers(question.raw)
    return bool(stated) and not any(stated & accepted for accepted in numbers)


def _numbers(text: str) -> set[str]:
    return {number.replace(",", "") for number in _NUMBER.findall(text)}


def _is_part(response: _Text, question: _Text, references: Sequence[_Text]) -> bool:
    """Whether the response has some words of an accepted answer, and no name, number or (if short) word besides."""
    words, asked = {*response.words}, {*question.words, *STOP}
    is_short = len(response.words) <= SHORT
    for reference in references:
        accepted = {*reference.words} - STOP
        common = (accepted & words) - asked
        if not common or (not is_short and 2 * len(common) < len(accepted)):
            continue
        others = words - accepted - asked
        if not is_short:  # in a sentence only names and numbers are other answers
            named = _WORD.findall(response.raw)[1:]
            others &= {word.casefold() for word in named if word[0].isupper() or word[0].isdigit()}
        if not others:
            return True
    return False


Kinds = NDArray[np.int8]
Counts = NDArray[np.int64]
# The kind of a row that is not wrong, or was not measured.
NOT_WRONG = -1
TEXTS = ("input", "references", "response")


def decisive(columns: Sequence[AnyColumn_co], measure: str) -> AnyColumn_co | None:
    """The column of the primary measure, if its rows pass or fail; None for a score without a threshold."""
    name = measure.removesuffix(VALUE)
    return next((column for column in columns if column.name == name and column.facts.has_pass_rate), None)


def wrong(column: ScoreColumn) -> Mask:
    """Which rows a column measured and calls wrong, shape (n,)."""
    passed = np.ones(len(column.values), np.bool_) if column.passed is None else column.passed
    return ~np.isnan(column.values) & ~passed


def kinds_of_part(load: Parts, number: int, is_wrong: Mask) -> Kinds:
    """The number of the kind of each wrong row of a part, NOT_WRONG for the others; shape (n,).

    Args:
        load: data/load.
        number: Of the part, which has n rows.
        is_wrong: Shape (n,).
    """
    found: Kinds = np.full(len(is_wrong), NOT_WRONG, np.int8)
    positions = np.flatnonzero(is_wrong)
    if not len(positions):
        return found
    present = [name for name in TEXTS if name in load.schema.names]
    texts = load.part(number, present).take(positions) if present else None
    asked, accepted, given = (
        texts[name].to_pylist() if texts is not None and name in present else [None] * len(positions) for name in TEXTS
    )
    for position, question, references, response in zip(positions.tolist(), asked, accepted, given, strict=True):
        found[position] = failure_kind(Row(question, references or [], response))
    return found


class FailureSums(NamedTuple):
    """The failures of one candidate's measured rows, by kind.

    counts: of each kind, shape (kinds,). clusters: of the rows with a failure; keys ascending, shape (m,). by_cluster:
    failures of each kind in each of them, shape (m, kinds). Both are None for independent rows.
    """

    counts: Counts
    clusters: Counts | None
    by_cluster: Counts | None

    @classmethod
    def of(cls, found: Kinds, groups: NDArray[np.intp] | None) -> "FailureSums":
        """Count the kinds of rows, NOT_WRONG among them, shape (n,); groups: the cluster of each, or None."""
        wrong = found != NOT_WRONG
        counts = np.bincount(found[wrong], minlength=len(NAMES))
        if groups is None:
            return cls(counts, None, None)
        keys, codes = np.unique(groups[wrong], return_inverse=True)
        by_cluster = np.zeros((len(keys), len(NAMES)), np.int64)
        np.add.at(by_cluster, (codes, found[wrong]), 1)
        return cls(counts, keys, by_cluster)

    def __add__(self, other: "FailureSums") -> "FailureSums":  # type: ignore[override]  # a sum
        """The failures of the rows of both."""
        counts = self.counts + other.counts
        if self.clusters is None or other.clusters is None or self.by_cluster is None or other.by_cluster is None:
            return FailureSums(counts, None, None)
        keys, places = np.unique(np.concatenate([self.clusters, other.clusters]), return_inverse=True)
        by_cluster = np.zeros((len(keys), len(NAMES)), np.int64)
        np.add.at(by_cluster, places, np.concatenate([self.by_cluster, other.by_cluster]))
        return FailureSums(counts, keys, by_cluster)

    def in_clusters(self, kind: int, clusters: ClusterSums) -> Counts:
        """The failures of a kind in each of the candidate's clusters, shape (clusters,)."""
        counts = np.zeros(len(clusters.keys), np.int64)
        if self.clusters is not None and self.by_cluster is not None:
            counts[np.searchsorted(clusters.keys, self.clusters)] = self.by_cluster[:, kind]
        return counts


def frequencies(
    scored: Sequence[CandidateSums],
    measure: str,
    found: Mapping[str, FailureSums],
    confidence: float,
    *,
    guarantee: bool,
) -> Mapping[str, FailuresEntry]:
    """Candidate → how frequent each kind of failure is among its measured rows, the most frequent kind first.

    Args:
        scored: The candidates.
        measure: The primary measure.
        found: Candidate → its failures.
        confidence: Of each interval.
        guarantee: Widen the intervals so that their coverage never falls below `confidence`; for independent rows.
    """
    totals = sum((one.counts for one in found.values()), np.zeros(len(NAMES), np.int64))
    order = sorted(np.flatnonzero(totals).tolist(), key=lambda kind: (-totals[kind], kind))
    entries: dict[str, FailuresEntry] = {}
    for candidate in scored:
        column = decisive(candidate.columns, measure)
        if column is None or not column.n_measured or candidate.name not in found:
            continue
        own = found[candidate.name]
        shares = [_share(column, own, kind, confidence, guarantee=guarantee) for kind in order]
        entries[candidate.name] = {"n": column.n_measured, "wrong": int(own.counts.sum()), "kinds": shares}
    return entries


def _share(column: ColumnSums, failures: FailureSums, kind: int, confidence: float, *, guarantee: bool) -> FailureEntry:
    count = int(failures.counts[kind])
    clusters = column.clusters
    of_kind = None if clusters is None else clusters._replace(passed=failures.in_clusters(kind, clusters))
    share = estimates.pass_rate(replace(column, passed=count, clusters=of_kind), confidence, guarantee=guarantee)
    return {"kind": NAMES[kind], "n": count, "value": share.value, "low": share.low, "high": share.high}
