"""A folder of MT-bench: question.jsonl, model_answer/ and model_judgment/. Written for FastChat 0.2.36.

One record for each turn of a model's answer to a question; the turns of a question are a group. Score `rating_<judge>`
is a judge's grade, from 1 to 10. `win_<judge>` is the mean over the opponents of 1 if the judge prefers the answer in
both orders, 0 if the other one, and else 0.5. Judges are models, and no people. reference_answer/ holds references.
Source: Zheng et al. 2023, Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena (arXiv:2306.05685).
"""

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from pathlib import Path
from typing import Any, TypeAlias

from goldmeter.dataset.formats.text_lines import inner_suffix
from goldmeter.dataset.readers import log
from goldmeter.dataset.record import Record, file_name
from goldmeter.errors import DataError

SINGLE, PAIR = {"question_id", "model", "judge", "score"}, {"question_id", "model_1", "model_2", "judge", "g1_winner"}
QUESTION, ANSWER = {"question_id", "turns"}, {"question_id", "model_id", "choices"}
REFERENCES = "reference_answer"
WINNERS = {"model_1", "model_2", "tie"}
# What FastChat writes for an answer that an API did not give, and for a grade that it could not read.
NO_ANSWER, NO_GRADE = "$ERROR$", -1.0

Key: TypeAlias = tuple[str, str, int]
"""Model, question and turn, from 1."""
Scores: TypeAlias = dict[Key, dict[str, list[float]]]
"""The points of an answer by the name of the score; those that could not be read are not in the list."""
Turns: TypeAlias = dict[tuple[str, str], tuple[str, int, list[Any]]]
"""File, line and texts of the answers by model and question."""


def recognises(head: log.Head) -> bool:
    """Tell whether a file holds judgments; answers alone are a table."""
    return head.keys >= SINGLE or head.keys >= PAIR


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records of a folder, and one for each question that a model did not answer.

    Raises:
        DataError: There are judgments of answers that are not there, or a file can't be read.
    """
    asked: dict[str, list[Any]] = {}
    answers: Turns = {}
    expected: dict[str, list[Any]] = {}
    scores: Scores = {}
    for file in (file for file in files if inner_suffix(file) == ".jsonl"):
        for line, row in log.objects(file):
            question = str(row.get("question_id"))
            if row.keys() >= ANSWER and file.parent.name == REFERENCES:
                expected[question] = _turns(row)
            elif row.keys() >= ANSWER:
                answers[str(row["model_id"]), question] = file_name(file), line, _turns(row)
            elif row.keys() >= QUESTION:
                asked[question] = [*log.items(row["turns"])]
            else:
                _add_scores(scores, row, question, f"{file_name(file)}, line {line}")
    _require_answers(scores, answers, file_name(files[0]))
    names = sorted({name for given in scores.values() for name in given})
    for model in dict.fromkeys(model for model, _ in answers):
        for question in dict.fromkeys([*asked, *(question for of, question in answers if of == model)]):
            where, line, turns = answers.get((model, question), (file_name(files[0]), 1, []))
            for turn in range(1, max(len(turns), len(asked.get(question, []))) + 1):
                given = scores.get((model, question, turn), {})
                values = _values(model, question, turn, asked.get(question, []), turns, expected.get(question, []))
                means = {name: repr(fsum(of) / len(of)) if (of := given.get(name)) else None for name in names}
                yield Record(where, line, log.flat(**values, scores=means))


def _values(
    model: str, question: str, turn: int, asked: Sequence[Any], turns: Sequence[Any], expected: Sequence[Any]
) -> dict[str, Any]:
    """Return the arguments of `log.flat` for a turn: what was asked so far, without what was answered."""
    response = log.text_of(turns[turn - 1]) if turn <= len(turns) else None
    return {
        "id": f"{question}/{turn}",
        "candidate": model,
        "input": log.conversation({"role": "user", "content": text} for text in asked[:turn]),
        "references": log.listed(expected[turn - 1]) if turn <= len(expected) else [],
        "response": response,
        "error": None if turns and response not in {None, NO_ANSWER} else "no output" if turns else log.MISSING,
        "group": question,
    }


def _turns(answer: Mapping[str, Any]) -> list[Any]:
    """Return the answers to the turns, of the first choice; only that one is judged."""
    return [*log.items(log.members(next(iter(log.items(answer["choices"])), None)).get("turns"))]


def _add_scores(scores: Scores, row: Mapping[str, Any], question: str, where: str) -> None:
    """Add what a line of judgments says of one answer, or of two."""
    turn, judge = log.count(row.get("turn"), f"{where}, turn") or 1, (log.listed(row.get("judge")) or ["judge"])[0]
    if row.keys() >= SINGLE:
        grade = log.number(row["score"])
        points = {str(row["model"]): None if grade is None or float(grade) == NO_GRADE else float(grade)}
    else:
        first, second = str(row.get("model_1")), str(row.get("model_2"))
        won = _won(row)
        points = {first: won, second: None if won is None else 1.0 - won}
    for model, point in points.items():
        name = f"{'rating' if row.keys() >= SINGLE else 'win'}_{judge}"
        scores.setdefault((model, question, turn), {}).setdefault(name, []).extend([] if point is None else [point])


def _won(row: Mapping[str, Any]) -> float | None:
    """Return the points of the first model; None if a verdict could not be read."""
    winners = {str(row.get("g1_winner")), str(row.get("g2_winner", row.get("g1_winner")))}
    if not winners <= WINNERS:
        return None
    return 1.0 if winners == {"model_1"} else 0.0 if winners == {"model_2"} else 0.5


def _require_answers(scores: Scores, answers: Turns, where: str) -> None:
    if not answers:
        raise DataError(
            f"{where}: no answers; name the folder that has question.jsonl, model_answer and model_judgment"
        )
    for model, question, _ in scores:
        if (model, question) not in answers:
            raise DataError(f"{where}: question {question} of {model} was judged, but is not in model_answer")
