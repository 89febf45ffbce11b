"""Cards of the rows to look at: texts, scores and details of a few answers, read from the tables for them alone."""

import json
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple

from tasks.console.format import Text, shown
from tasks.metrics.base import NOT_ASKED
from tasks.pipeline.tables import Parts
from tasks.reporting.explanations import DetailLines, explanation, explanation_columns, metric_of
from tasks.reporting.notable_rows import Answers, ChosenId, Kind
from tasks.scores.columns import Mask, ScoreColumn

# References of an input on the page at most.
REFERENCES_SHOWN = 10
TEXT_COLUMNS = ("input", "response", "references", "slices")


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
    """The cards of one kind of rows; total: answers of that kind in the whole run."""

    title: str
    about: str
    total: int
    cards: list[InputCard]


def card_groups(
    chosen: Sequence[ChosenId],
    kinds: Sequence[Kind],
    answers: Answers,
    tables: Sequence[tuple[Parts, Sequence[ScoreColumn]]],
    max_chars: int,
) -> list[CardGroup]:
    """Make the cards of the chosen ids, grouped by kind.

    Args:
        chosen: The ids and the positions of their answers.
        kinds: All kinds of notable rows.
        answers: The numbers of all answers.
        tables: data/load first, then the score tables, each with its columns.
        max_chars: Characters of a text at most.

    Returns:
        One group for each kind, also without cards.
    """
    load = tables[0][0]
    positions = [position for choice in chosen for position in choice.positions]
    rows = load.take([name for name in TEXT_COLUMNS if name in load.schema.names], positions)
    details = _details([table for table, _ in tables[1:]], positions)
    passed = {column.name: column.passed for column in answers.gated if column.passed is not None}
    columns = [column for _, columns in tables for column in columns if column.name != "label"]

    def answer_card(position: int) -> AnswerCard:
        response, candidate = rows[position]["response"], answers.candidates[position].as_py()
        return AnswerCard(
            candidate=candidate,
            response=None if response is None else shown(response, max_chars),
            label={1.0: "right", 0.0: "wrong"}.get(float(answers.label[position]), ""),
            reasons=[kind.why(position) for kind in kinds if kind.rows[position]],
            scores=[_score(column, passed, position) for column in columns],
            details=[(metric_of(name), explanation(name, text, max_chars)) for name, text in details[position].items()],
            missing=_missing(details[position]),
        )

    def input_card(choice: ChosenId) -> InputCard:
        row = rows[choice.positions[0]]
        references, more_references = references_shown(row, max_chars)
        return InputCard(
            id=choice.id,
            input=None if row["input"] is None else shown(row["input"], max_chars),
            references=references,
            more_references=more_references,
            slices={name: value for name, value in (row.get("slices") or {}).items() if value is not None},
            answers=[answer_card(position) for position in choice.positions],
        )

    return [
        CardGroup(
            kind.title,
            kind.about,
            int(kind.rows.sum()),
            [input_card(choice) for choice in chosen if choice.kind == number],
        )
        for number, kind in enumerate(kinds)
    ]


def references_shown(row: Mapping[str, Any], max_chars: int) -> tuple[list[Text], int]:
    """Return the first references of a row of data/load, and how many more there are."""
    references = row["references"] or []
    first = [shown(text or "", max_chars) for text in references[:REFERENCES_SHOWN]]
    return first, len(references) - len(first)


def _score(column: ScoreColumn, passed: Mapping[str, Mask], position: int) -> ScoreCell:
    value = float(column.values[position])
    if isnan(value):
        return ScoreCell(column.name, None, "not asked" if column.not_asked[position] else "unmeasured")
    verdict = ("pass" if passed[column.name][position] else "fail") if column.name in passed else ""
    return ScoreCell(column.name, value, verdict)


def _details(tables: Sequence[Parts], positions: Sequence[int]) -> dict[int, dict[str, str]]:
    """Return position → column → its explanation of the score there."""
    details: dict[int, dict[str, str]] = {position: {} for position in positions}
    for table in tables:
        columns = explanation_columns(table)
        for position, row in table.take(columns, positions).items() if columns else ():
            details[position] |= {name: str(text) for name, text in row.items() if text is not None}
    return details


def _missing(details: Mapping[str, str]) -> list[str]:
    """Return why scores are missing, each reason once. Scores that were not asked for are not missing."""
    facts = [json.loads(text) for name, text in details.items() if name.endswith("_details")]
    reasons = {str(fact["unmeasured"]) for fact in facts if isinstance(fact, dict) and "unmeasured" in fact}
    return sorted(reasons - NOT_ASKED)
