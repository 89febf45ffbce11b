"""The chosen rows in full: texts, scores and details of a few answers, read for them alone."""

import json
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple

from tasks.console.format import Text, shown
from tasks.metrics.base import NOT_ASKED
from tasks.pipeline.tables import Parts
from tasks.reporting.explanations import SUFFIXES, DetailLines, metric_of, reason_shown
from tasks.reporting.notable_rows import Answers, Chosen, Kind
from tasks.scores.columns import Mask, ScoreColumn

REFERENCES_SHOWN = 10
TEXTS = ("input", "response", "references")


class ScoreCell(NamedTuple):
    """One score of one answer; verdict: pass, fail, unmeasured, or nothing where there is no threshold."""

    name: str
    value: float | None
    verdict: str


class AnswerCard(NamedTuple):
    """One candidate's answer to the input of a card.

    label: right, wrong or nothing. response: None = no response. reasons: why to look. missing: why scores are missing.
    """

    candidate: str
    response: Text | None
    label: str
    reasons: list[str]
    scores: list[ScoreCell]
    details: list[tuple[str, Text | DetailLines]]
    missing: list[str]


class InputCard(NamedTuple):
    """One input that people should look at."""

    id: str
    input: Text | None
    references: list[Text]
    more_references: int
    slices: dict[str, str]
    answers: list[AnswerCard]


class CardGroup(NamedTuple):
    """The cards of one kind; total: answers of that kind in the whole run."""

    title: str
    about: str
    total: int
    cards: list[InputCard]


def look(
    chosen: Sequence[Chosen],
    found: Sequence[Kind],
    answers: Answers,
    tables: Sequence[tuple[Parts, Sequence[ScoreColumn]]],
    max_chars: int,
) -> list[CardGroup]:
    """The chosen rows, kind by kind.

    tables: data/load first, then the score tables, each with its columns.
    """
    positions = [position for each in chosen for position in each.positions]
    rows = tables[0][0].take(_text_columns(tables[0][0]), positions)
    details = _details([table for table, _ in tables[1:]], positions)
    passed = {column.name: column.passed for column in answers.gated if column.passed is not None}
    columns = [column for _, those in tables for column in those if column.name != "label"]

    def answer(position: int) -> AnswerCard:
        response, candidate = rows[position]["response"], answers.candidates[position].as_py()
        return AnswerCard(
            candidate=candidate,
            response=None if response is None else shown(response, max_chars),
            label={1.0: "right", 0.0: "wrong"}.get(float(answers.label[position]), ""),
            reasons=[kind.why(position) for kind in found if kind.rows[position]],
            scores=[_score(column, passed, position) for column in columns],
            details=[
                (metric_of(name), reason_shown(name, text, max_chars)) for name, text in details[position].items()
            ],
            missing=_missing(details[position]),
        )

    def card(each: Chosen) -> InputCard:
        return _card(each, rows[each.positions[0]], [answer(position) for position in each.positions], max_chars)

    return [
        CardGroup(
            kind.title,
            kind.about,
            int(kind.rows.sum()),
            [card(each) for each in chosen if each.kind == number],
        )
        for number, kind in enumerate(found)
    ]


def _card(chosen: Chosen, row: Mapping[str, Any], answers: list[AnswerCard], max_chars: int) -> InputCard:
    references = row["references"] or []
    return InputCard(
        id=chosen.id,
        input=None if row["input"] is None else shown(row["input"], max_chars),
        references=[shown(text or "", max_chars) for text in references[:REFERENCES_SHOWN]],
        more_references=max(0, len(references) - REFERENCES_SHOWN),
        slices={name: value for name, value in (row.get("slices") or {}).items() if value is not None},
        answers=answers,
    )


def _score(column: ScoreColumn, passed: Mapping[str, Mask], position: int) -> ScoreCell:
    value = float(column.values[position])
    if isnan(value):
        return ScoreCell(column.name, None, "not asked" if column.not_asked[position] else "unmeasured")
    verdict = ("pass" if passed[column.name][position] else "fail") if column.name in passed else ""
    return ScoreCell(column.name, value, verdict)


def _text_columns(load: Parts) -> list[str]:
    return [name for name in (*TEXTS, "slices") if name in load.schema.names]


def _details(tables: Sequence[Parts], positions: Sequence[int]) -> dict[int, dict[str, str]]:
    """Position → column → what it says."""
    found: dict[int, dict[str, str]] = {position: {} for position in positions}
    for table in tables:
        columns = [name for name in table.schema.names if name.endswith(SUFFIXES)]
        for position, row in table.take(columns, positions).items() if columns else ():
            found[position] |= {name: str(text) for name, text in row.items() if text is not None}
    return found


def _missing(details: Mapping[str, str]) -> list[str]:
    """Why scores are missing, each reason once; what was not asked is no reason to look."""
    facts = [json.loads(text) for name, text in details.items() if name.endswith("_details")]
    reasons = {str(each["unmeasured"]) for each in facts if isinstance(each, dict) and "unmeasured" in each}
    return sorted(reasons - NOT_ASKED)
