"""References to look at first: questions whose reference systems, human labels, another row or the question contradict.

The score of a question is how far its failing answers agree with each other, over all pairs of systems that answered;
less a part of the share of answers that contain a reference; plus the share of systems whose failing answer people call
right. On planted references it beats latent classes of failures, and pairs of answers judged by the offline judge
(`python -m benchmarks.suspects`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import isnan
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.estimates import failures
from goldmeter.estimates.column_facts import question_column
from goldmeter.estimates.columns import Mask, ScoreColumn, hashed, score_columns
from goldmeter.estimates.headline import leaders
from goldmeter.estimates.human_labels import LABEL
from goldmeter.estimates.metrics_report import IfWrongEntry, Limited, MetricsReport, SuspectEntry, SuspectsEntry
from goldmeter.estimates.primary import Primary, maximum_verdict, target_verdict
from goldmeter.metrics.base import Floats
from goldmeter.pipeline.tables import Parts
from goldmeter.pipeline.workers import Crew
from goldmeter.text.normalization import normalize, normalized_column
from goldmeter.text.numbers import has_number_word

# Suspects that are listed, and questions whose texts are read at most, those that most systems fail first.
MOST, MOST_READ = 100, 20_000
# Score from which on a question is listed, the agreement of two answers that say the same, and what a question weighs
# that rules its reference out, or that has another reference elsewhere.
LISTED, SAME, CERTAIN = 0.25, 0.5, 0.5
# What the share of answers weighs that contain a reference, and of those that people call right although none does.
CONTAINED, NEW = 0.3, 0.3
REASONS = frozenset({"agree", "labelled_right", "ruled_out", "duplicate"})
# Added to the systems of which labels contradict the measure: a single one may be the judge's error.
JUDGES = 3
# Rows with one question that may be duplicates; more are a prompt that all rows share.
DUPLICATES = 3
# Letters that a number is worth: a year or a count says more than a word of its length.
NUMBER_LETTERS = 5
_WORD = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]|[^\W\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]+")
_HOW_MANY, _YEAR, _WHO = (
    re.compile(pattern, re.IGNORECASE) for pattern in (r"\bhow many\b", r"\b(?:what|which) year\b", r"\bwho\b")
)
_NONE = re.compile(r"\b(?:no|none|never|all|every|both|few|many|several|infinit\w+|unlimited|dozens?)\b", re.IGNORECASE)
Hashes = NDArray[np.uint64]


class Reading(NamedTuple):
    """What parts are read with.

    tables: data/load first. measure: the one that compares answers with references; None without one.
    """

    tables: Sequence[Parts]
    measure: str | None
    fitted: Mapping[str, float]


class Given(NamedTuple):
    """An answer; passed: 1, 0, or NaN where it was not measured. label: 1, 0, or NaN without one."""

    candidate: str
    response: str | None
    passed: float
    label: float


class Asked(NamedTuple):
    """A question with the answers of all systems, one each."""

    id: str
    question: str | None
    references: list[str]
    given: list[Given]


class Suspect(NamedTuple):
    """A question; same: the systems that agree on another answer."""

    asked: Asked
    score: float
    same: frozenset[str]
    entry: SuspectEntry

    @property
    def is_listed(self) -> bool:
        """Whether its references are to be looked at: the score is large enough, and there is a reason to name."""
        return self.score >= LISTED and not REASONS.isdisjoint(self.entry)


def suspects(reading: Reading, crew: Crew) -> list[Suspect]:
    """Return the questions whose references are to be looked at first, the most suspicious ones; at most `MOST`."""
    numbers = range(len(reading.tables[0]))
    chosen, twins = _chosen(crew.map(_counted, [reading] * len(numbers), numbers))
    asked: dict[int, Asked] = {}
    for found in crew.map(_asked, [reading] * len(numbers), numbers, [chosen] * len(numbers)):
        for key, one in found.items():
            known = asked.setdefault(key, one)
            if known is not one:
                there = {given.candidate for given in known.given}
                known.given.extend(given for given in one.given if given.candidate not in there)
    others = _others(asked, twins)
    every = (suspect(one, others.get(key)) for key, one in asked.items())
    return sorted((one for one in every if one.is_listed), key=lambda one: (-one.score, one.asked.id))[:MOST]


def suspect(asked: Asked, other: str | None = None) -> Suspect:
    """Return how suspicious the references of a question are, and why; other: the id of a row that contradicts them."""
    answered = [one for one in asked.given if (one.response or "").strip()]
    new = [one for one in answered if not contains(one.response, asked.references)]
    failing = [one for one in new if one.passed == 0]
    right = sum(one.label == 1 for one in failing)
    total, same = _agreement(asked, failing)
    ruled = ruled_out(asked.question or "", asked.references)
    systems = max(len(answered), 1)
    score = total / max(systems * (systems - 1), 1) - CONTAINED * (len(answered) - len(new)) / systems
    score += (right + NEW * sum(one.label == 1 for one in new)) / (systems + JUDGES) + CERTAIN * (
        bool(ruled) + bool(other)
    )
    names = sorted(same) or [one.candidate for one in (*failing, *answered)]
    entry: SuspectEntry = {
        "id": asked.id,
        "candidate": next(iter(names), ""),
        "score": round(score, 4),
        "systems": len(answered),
    }
    if same:
        entry["agree"] = len(same)
    if right:
        entry["labelled_right"] = right
    if ruled:
        entry["ruled_out"] = ruled
    if other:
        entry["duplicate"] = other
    return Suspect(asked, score, frozenset(same), entry)


def ruled_out(question: str, references: Sequence[str]) -> str | None:
    """Return what an English question asks for, if certainly none of its references is one; else None.

    >>> ruled_out("how many countries joined", ["Brazil"]), ruled_out("how many countries joined", ["two"])
    ('a number', None)
    """
    texts = [text for text in references if text.strip()]
    if not texts:
        return None
    has_number = any(re.search(r"\d", text) or has_number_word(text) or _NONE.search(text) for text in texts)
    if not has_number and _HOW_MANY.search(question):
        return "a number"
    if not has_number and _YEAR.search(question):
        return "a year"
    if _WHO.match(question) and all(re.fullmatch(r"[\W\d_]+", text) for text in texts):
        return "a name"
    return None


def contains(response: str | None, references: Iterable[str]) -> bool:
    """Whether the words of any reference stand in the response one after the other."""
    text = f" {' '.join(_in_order(response))} "
    return any(f" {' '.join(words)} " in text for words in map(_in_order, references) if words)


def _agreement(asked: Asked, failing: Sequence[Given]) -> tuple[float, set[str]]:
    """Return the sum over pairs of failing answers of how far they share new words, and who says the same.

    New words are in neither question nor references; the share is of the answer with fewer letters of them.
    """
    known = failures.STOP.union(_words(asked.question), *map(_words, asked.references))
    new = [(one.candidate, _words(one.response) - known) for one in failing]
    total, same = 0.0, set[str]()
    for (one, mine), (other, theirs) in combinations([pair for pair in new if pair[1]], 2):
        share = _letters(mine & theirs) / min(_letters(mine), _letters(theirs))
        total += 2 * share
        if share >= SAME:
            same |= {one, other}
    return total, same


def _words(text: str | None) -> set[str]:
    return set(_in_order(text))


def _in_order(text: str | None) -> list[str]:
    return _WORD.findall((text or "")[: failures.READ].casefold())


def _letters(words: Iterable[str]) -> int:
    return sum(NUMBER_LETTERS if word.isdecimal() else len(word) for word in words)


class _Counted(NamedTuple):
    """The questions of a part, n of them; texts: a hash of the normalised question, 0 without one."""

    keys: Hashes
    failed: NDArray[np.int64]
    contradicted: NDArray[np.int64]
    ruled: Mask
    texts: Hashes


def _counted(reading: Reading, number: int) -> _Counted:
    """Count without the texts of answers what makes the questions of a part suspicious."""
    load = reading.tables[0]
    rows = load.part(number, _present(load, (question_column(load.schema.names), "input", "references")))
    keys, first, codes = np.unique(
        hashed(rows[question_column(load.schema.names)]), return_index=True, return_inverse=True
    )
    passed, label = _verdicts(reading, number, rows.num_rows)
    table = rows.take(pa.array(first))
    questions = table.to_pylist()
    inputs = table["input"].combine_chunks() if "input" in table.column_names else pa.nulls(len(first), pa.string())
    forms = pc.fill_null(normalized_column(inputs), "")
    texts = hashed(pa.chunked_array([forms]))
    return _Counted(
        keys,
        np.bincount(codes[passed == 0], minlength=len(keys)),
        np.bincount(codes[(passed == 0) & (label == 1)], minlength=len(keys)),
        np.array([bool(ruled_out(row.get("input") or "", row.get("references") or [])) for row in questions], np.bool_),
        np.where(pc.equal(forms, "").to_numpy(zero_copy_only=False), np.uint64(0), texts),
    )


def _chosen(parts: Iterable[_Counted]) -> tuple[Hashes, Hashes]:
    """Return the keys of the questions whose texts are read, ascending, and of those with the question of another."""
    every = [np.concatenate(column) for column in zip(*parts, strict=True)]
    keys, first, codes = np.unique(every[0], return_index=True, return_inverse=True)
    failed, contradicted, ruled = (np.bincount(codes, column, len(keys)) for column in every[1:4])
    texts = every[4][first]
    _, which, times = np.unique(texts, return_inverse=True, return_counts=True)
    is_twin = (times[which] > 1) & (times[which] <= DUPLICATES) & (texts != 0)
    worth = np.flatnonzero((failed > 1) | (contradicted > 0) | (ruled > 0) | is_twin)
    order = np.lexsort((keys[worth], -failed[worth], -(contradicted + ruled + is_twin)[worth]))
    return np.sort(keys[worth[order[:MOST_READ]]]), keys[is_twin]


def _asked(reading: Reading, number: int, chosen: Hashes) -> dict[int, Asked]:
    """Read the chosen questions of a part with their answers, the first one of each system."""
    load = reading.tables[0]
    key = question_column(load.schema.names)
    keys = hashed(load.part(number, [key])[key])
    rows = np.flatnonzero(np.isin(keys, chosen))
    columns = _present(load, ("id", key, "candidate", "input", "references", "response"))
    passed, label = (column[rows].tolist() for column in _verdicts(reading, number, len(keys)))
    texts = load.part(number, columns).take(pa.array(rows)).to_pylist()
    found: dict[int, Asked] = {}
    seen: set[tuple[int, str]] = set()
    for hashed_key, row, right, own in zip(keys[rows].tolist(), texts, passed, label, strict=True):
        one = found.setdefault(hashed_key, Asked(row["id"], row.get("input"), row.get("references") or [], []))
        if (hashed_key, row["candidate"]) not in seen:
            seen.add((hashed_key, row["candidate"]))
            one.given.append(Given(row["candidate"], row.get("response"), right, own))
    return found


def _others(asked: Mapping[int, Asked], twins: Hashes) -> dict[int, str]:
    """Return key → id of another row that has the same question and none of its references."""
    by_form: dict[str, list[int]] = {}
    for key in twins.tolist():
        if key in asked:
            by_form.setdefault(normalize(asked[key].question or ""), []).append(key)
    return {
        key: asked[other].id
        for keys in by_form.values()
        for key, other in [*combinations(keys, 2), *combinations(keys[::-1], 2)]
        if {*map(normalize, asked[key].references)}.isdisjoint(map(normalize, asked[other].references))
    }


def _verdicts(reading: Reading, number: int, rows: int) -> tuple[Floats, Floats]:
    """Return what the measure and human labels say of the rows of a part: 1, 0, or NaN; each of shape (rows,)."""
    columns = {one.name: one for one in _columns(reading, number)}
    passed, label = np.full(rows, np.nan), np.full(rows, np.nan)
    if (measured := columns.get(reading.measure or "")) is not None and measured.passed is not None:
        passed = np.where(np.isnan(measured.values), np.nan, measured.passed)
    if LABEL in columns and reading.measure != LABEL:
        label = columns[LABEL].values
    return passed, label


def _columns(reading: Reading, number: int) -> Iterator[ScoreColumn]:
    named = {LABEL, *filter(None, [reading.measure])}
    for table in reading.tables:
        yield from score_columns(table, reading.fitted, number, named)


def _present(load: Parts, columns: Sequence[str]) -> list[str]:
    return [name for name in dict.fromkeys(columns) if name in load.schema.names]


class Change(NamedTuple):
    """What wrong references would change in the passes of a system.

    other: if the answer that systems share, or that is labelled right, is right, and others wrong. none: if all answers
    are wrong.
    """

    other: int
    none: int


def suspects_entry(found: Sequence[Suspect], document: MetricsReport, primary: Primary, measure: str | None) -> Any:
    """Return section `suspects` of reports/metrics.json; measure: the one that compares answers with references."""
    entry: SuspectsEntry = {"measure": measure, "rows": [one.entry for one in found]}
    if measure == primary.name and measure != LABEL:
        entry["if_wrong"] = if_wrong(changes(found), document, primary)
    return entry


def changes(suspects: Sequence[Suspect]) -> dict[str, Change]:
    """Return candidate → what would change if the references of these questions were wrong."""
    found: dict[str, Change] = {}
    for one in suspects:
        for given in one.asked.given:
            if not isnan(given.passed):
                passed, known = int(given.passed), found.get(given.candidate, Change(0, 0))
                is_right = given.candidate in one.same or given.label == 1
                found[given.candidate] = Change(known.other + is_right - passed, known.none - passed)
    return found


def if_wrong(found: Mapping[str, Change], document: MetricsReport, primary: Primary) -> IfWrongEntry:
    """Return the rates if references were wrong, and whether leaders and targets would stay, with shifted intervals.

    Args:
        found: Candidate → what would change.
        document: The report with headlines, comparisons and targets.
        primary: The primary measure.
    """
    rows = {name: max(one["n"], 1) for name, one in document["headlines"].items() if one["value"] is not None}
    shifts = [
        {name: getattr(found.get(name, Change(0, 0)), way) / rows[name] for name in rows} for way in Change._fields
    ]
    rates: dict[str, Limited] = {}
    for name in rows:
        value = document["headlines"][name]["value"] or 0.0
        ends = sorted(min(max(value + shift[name], 0.0), 1.0) for shift in shifts)
        rates[name] = {"value": value, "low": ends[0], "high": ends[1]}
    holds = all(_holds(shift, document, primary) for shift in shifts)
    return {"rates": rates, "holds": holds}


def _holds(shift: Mapping[str, float], document: MetricsReport, primary: Primary) -> bool:
    shown, pairs = document["headlines"], document["comparisons"]
    shifted = [_shifted(pair, shift.get(pair["head"], 0.0) - shift.get(pair["base"], 0.0)) for pair in pairs]
    before, after = (set(leaders(primary, shown, some)["names"]) for some in (pairs, shifted))
    return before == after and all(_targets_stay(shift, document, primary.name))


def _shifted(pair: Mapping[str, Any], by: float) -> Mapping[str, Any]:
    return {**pair, "measures": {name: _moved(one, by) for name, one in pair["measures"].items()}}


def _moved(measured: Mapping[str, Any], by: float) -> Mapping[str, Any]:
    if measured["role"] != "primary" or measured["difference"]["low"] is None:
        return measured
    limits = {end: measured["difference"][end] + by for end in ("low", "high")}
    return {**measured, "difference": {**measured["difference"], **limits}}


def _targets_stay(shift: Mapping[str, float], document: MetricsReport, measure: str) -> Iterator[bool]:
    """Whether each target of the measure keeps its verdict."""
    for name, targets in document.get("targets", {}).items():
        headline, target = document["headlines"].get(name), targets.get(measure)
        if headline is None or target is None or headline["low"] is None or headline["high"] is None:
            continue
        limits = headline["low"] + shift.get(name, 0.0), headline["high"] + shift.get(name, 0.0)
        now = maximum_verdict(target["max"], *limits) if "max" in target else target_verdict(target["target"], *limits)
        yield now == target["verdict"]
