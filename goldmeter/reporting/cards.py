"""Cards of the rows to look at: texts, scores and details of a few answers."""

import json
from collections.abc import Mapping, Sequence
from math import isnan
from typing import NamedTuple

import numpy as np

from goldmeter.console.format import Text, shown
from goldmeter.estimates.columns import ScoreColumn
from goldmeter.metrics.base import NOT_ASKED
from goldmeter.reporting.chosen_rows import ChosenRows
from goldmeter.reporting.notable_rows import LABEL, Kind
from goldmeter.reporting.row_texts import DetailLines, explanation, metric_of, references_shown


class ScoreCell(NamedTuple):
    """One score of one answer; verdict: pass, fail, unmeasured, not asked, or empty without a threshold."""

    name: str
    value: float | None
    verdict: str


class AnswerCard(NamedTuple):
    """One candidate's answer to the input of a card.

    response: None if there is none. label: right, wrong or empty. reasons: why to look at it.
    details: metric and explanation. missing: why scores are missing.
    """

    candidate: str
    response: Text | None
    label: str
    reasons: list[str]
    scores: list[ScoreCell]
    details: list[tuple[str, Text | DetailLines]]
    missing: list[str]


class InputCard(NamedTuple):
    """One input with all its answers; more_references: how many references are not shown."""

    id: str
    input: Text | None
    references: list[Text]
    more_references: int
    slices: dict[str, str]
    answers: list[AnswerCard]


class CardGroup(NamedTuple):
    """The cards of one kind of rows; total: rows of that kind in the whole run. lists: as of `Kind`."""

    title: str
    about: str
    total: int
    cards: list[InputCard]
    lists: str


def card_groups(
    rows: ChosenRows, kind_of: Mapping[str, int], kinds: Sequence[Kind], totals: Sequence[int], max_chars: int
) -> list[CardGroup]:
    """Make the cards of the chosen ids, grouped by kind.

    Args:
        rows: The answers to the ids.
        kind_of: Id → the number of the kind that chose it, in the order of the choice.
        kinds: The kinds of notable rows, over `rows`.
        totals: The answers of each kind in the run.
        max_chars: Characters of a text at most.

    Returns:
        One group for each kind, also without cards.
    """
    keys = [(row["id"], row["candidate"]) for row in rows.keys.to_pylist()]
    labels = {column.name: column.values for _, column in rows.columns if column.name == LABEL}
    columns = [column for _, column in rows.columns if column.name != LABEL]

    def answer_card(row: int) -> AnswerCard:
        texts, details = rows.cards[keys[row]]
        response = texts["response"]
        return AnswerCard(
            candidate=keys[row][1],
            response=None if response is None else shown(response, max_chars),
            label={1.0: "right", 0.0: "wrong"}.get(float(labels[LABEL][row]), "") if labels else "",
            reasons=[kind.why(row) for kind in kinds if kind.rows[row]],
            scores=[_score(column, row) for column in columns],
            details=[(metric_of(name), explanation(name, text, max_chars)) for name, text in details.items()],
            missing=_missing(details),
        )

    def input_card(place: int, key: str) -> InputCard:
        numbers = np.flatnonzero(rows.places == place).tolist()
        texts = rows.cards[keys[numbers[0]]].row
        references, more_references = references_shown(texts, max_chars)
        return InputCard(
            id=key,
            input=None if texts["input"] is None else shown(texts["input"], max_chars),
            references=references,
            more_references=more_references,
            slices={name: value for name, value in (texts.get("slices") or {}).items() if value is not None},
            answers=[answer_card(number) for number in numbers],
        )

    return [
        CardGroup(
            kind.title,
            kind.about,
            totals[number],
            [input_card(place, key) for place, (key, of) in enumerate(kind_of.items()) if of == number],
            kind.lists,
        )
        for number, kind in enumerate(kinds)
    ]


def _score(column: ScoreColumn, row: int) -> ScoreCell:
    value = float(column.values[row])
    if isnan(value):
        return ScoreCell(column.name, None, "not asked" if column.not_asked[row] else "unmeasured")
    verdict = "" if column.passed is None else "pass" if column.passed[row] else "fail"
    return ScoreCell(column.name, value, verdict)


def _missing(details: Mapping[str, str]) -> list[str]:
    """Return why scores are missing, each reason once. Scores that were not asked for are not missing."""
    facts = [json.loads(text) for name, text in details.items() if name.endswith("_details")]
    reasons = {str(fact["unmeasured"]) for fact in facts if isinstance(fact, dict) and "unmeasured" in fact}
    return sorted(reasons - NOT_ASKED)
