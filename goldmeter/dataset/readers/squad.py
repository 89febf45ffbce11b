"""SQuAD 1.1 and 2.0: the questions with a file of predictions, {question id: answer}, for each system.

One record for each question and file of predictions; without one, the responses are null. A question of SQuAD 2.0 that
can't be answered has no reference and `metadata.is_impossible` "true".
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from goldmeter.dataset.readers import log
from goldmeter.dataset.record import Record, Value, file_name
from goldmeter.errors import DataError
from goldmeter.text.json_objects import unique_members

# Numbers and true and false stay what they are.
AS_WRITTEN = json.JSONDecoder(object_pairs_hook=unique_members)
NO_PREDICTIONS = "no file of predictions"


def recognises(head: log.Head) -> bool:
    """Tell whether a file has articles with paragraphs."""
    return any("paragraphs" in log.members(article) for article in log.items(log.members(head.value).get("data"))[:1])


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records of all questions, predictions file by predictions file.

    Raises:
        DataError: There is not exactly one file of questions, or an answer belongs to none of them.
    """
    documents = {file: log.document(file) for file in files}
    questions = [file for file, value in documents.items() if isinstance(value.get("data"), list)]
    if len(questions) != 1:
        raise DataError(
            f"{file_name(files[0])}: {len(questions)} files of questions (data, paragraphs, qas), expected one; "
            "choose files with dataset.pattern"
        )
    rows = list(_questions(documents[questions[0]], file_name(questions[0])))
    predictions = {file: log.document(file, AS_WRITTEN) for file in documents if file not in questions}
    for file, answers in predictions.items() or {questions[0]: None}.items():
        if answers is not None:
            _require_questions(file, answers, {question for question, _ in rows})
            _require_texts(file, answers)
        for line, (question, values) in enumerate(rows, 1):
            yield Record(file_name(questions[0]), line, values | _answer(question, file, answers))


def _require_questions(file: Path, answers: Mapping[str, Any], questions: set[str]) -> None:
    unknown = [key for key in answers if key not in questions]
    if unknown:
        raise DataError(
            f"{file_name(file)}: {len(unknown)} of {len(answers)} answers are to no question of the data set, "
            f"the first to {unknown[0][:60]!r}; leave a file of other things out with dataset.pattern"
        )


def _require_texts(file: Path, answers: Mapping[str, Any]) -> None:
    """Refuse files beside the predictions: probabilities that there is no answer, lists of the best answers."""
    other = next((key for key, answer in answers.items() if not (answer is None or isinstance(answer, str))), None)
    if other is not None:
        raise DataError(
            f"{file_name(file)}: the answer to {other[:60]!r} is no text; "
            "leave a file of other things out with dataset.pattern"
        )


def _answer(question: str, file: Path, answers: Mapping[str, Any] | None) -> dict[str, Value]:
    if answers is None:
        return {"candidate": "none", "response": None, "error": NO_PREDICTIONS}
    response = answers.get(question)
    error = None if isinstance(response, str) else log.MISSING
    return {"candidate": file.name.split(".json")[0], "response": None if error else response, "error": error}


def _questions(whole: Mapping[str, Any], where: str) -> Iterator[tuple[str, dict[str, Value]]]:
    for number, article in enumerate(log.part(whole, "data", list, where), 1):
        place = f"{where}, article {number}"
        for paragraph in log.part(_object(article, place), "paragraphs", list, place):
            for question in log.part(_object(paragraph, place), "qas", list, place):
                yield _question(_object(question, place), article, paragraph, place)


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DataError(f"{where}: expected objects")
    return value


def _question(
    question: Mapping[str, Any], article: Mapping[str, Any], paragraph: Mapping[str, Any], where: str
) -> tuple[str, dict[str, Value]]:
    key = log.part(question, "id", str, where)
    title, context = article.get("title"), paragraph.get("context")
    answers = log.part(question, "answers", list, f"{where}, question {key[:60]!r}")
    texts = [log.part(_object(answer, where), "text", str, f"{where}, question {key[:60]!r}") for answer in answers]
    return key, log.flat(
        id=key,
        candidate="",
        input=log.part(question, "question", str, f"{where}, question {key[:60]!r}"),
        references=list(dict.fromkeys(texts)),
        group=title if isinstance(title, str) else None,
        contexts=[context] if isinstance(context, str) else [],
        metadata={"title": title, "is_impossible": question.get("is_impossible")},
    )
