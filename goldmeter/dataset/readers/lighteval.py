"""Details of Hugging Face's LightEval: details_<task>_<date>.parquet. Written for lighteval 0.13.

One record for each sample, and for each answer if there are several; these have no score, as a score is of all of them.
A sample without text is answered by the choice with the largest log-probability.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from goldmeter.dataset.readers import log, tables
from goldmeter.dataset.record import Record, Value, file_name
from goldmeter.errors import DataError

COLUMNS = {"doc", "metric", "model_response"}
DETAILS = "details"
DATED = re.compile(r"_?\d{4}-\d\d-\d\dT[\d.-]+$")


def recognises(head: log.Head) -> bool:
    """Tell whether a file holds details."""
    return head.columns >= COLUMNS


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records of all files of details; other files, such as results, are passed over.

    Raises:
        DataError: There is none, a file can't be read, or two are of one task and model.
    """
    details = [file for file in files if (head := log.head_of(file)) is not None and recognises(head)]
    if not details:
        raise DataError(f"{file_name(files[0])}: no details_*.parquet; lighteval writes them with --save-details")
    earlier: dict[tuple[str, str], Path] = {}
    for file in details:
        model = _model(file)
        log.require_one(earlier, DATED.sub("", tables.stem(file)), model, file)
        for line, row in tables.rows(file):
            where = f"{file_name(file)}, row {line}"
            yield from (Record(file_name(file), line, values) for values in _answers(row, model, where))


def _model(file: Path) -> str:
    """Return the folders between `details` and that of the date, which lighteval names after the model."""
    folders = [name for name in file.absolute().parent.parts if not DATED.fullmatch(name)]
    after = folders[folders.index(DETAILS) + 1 :] if DETAILS in folders else []
    return "/".join(after) or folders[-1]


def _answers(row: Mapping[str, Any], model: str, where: str) -> Iterator[dict[str, Value]]:
    asked, answered = log.part(row, "doc", dict, where), log.part(row, "model_response", dict, where)
    task = log.text_of(asked.get("task_name")) or ""
    choices = log.items(asked.get("choices"))
    texts = _texts(answered, choices)
    gold = asked.get("gold_index")
    numbers = [int(one) for one in log.listed(gold) if one.isdigit()]
    for draw, text in enumerate(texts or [None], 1):
        yield log.flat(
            id=f"{task}/{log.part(asked, 'id', str, where)}",
            input=log.text_of(asked.get("query")),
            references=[log.as_json(choices[number]).strip() for number in numbers if number < len(choices)],
            response=text,
            candidate=model,
            error=None if text is not None else "no output",
            draw=draw if len(texts) > 1 else None,
            scores=tables.judged(log.members(row.get("metric"))) if len(texts) < 2 else {},  # noqa: PLR2004 (several)
            metadata={"task": task},
        )


def _texts(answered: Mapping[str, Any], choices: Sequence[Any]) -> list[str | None]:
    """Return the answers, or the most probable choice."""
    texts = log.items(answered.get("text_post_processed")) or log.items(answered.get("text"))
    if texts:
        return [log.text_of(text) for text in texts]
    numbers = [log.number(one) for one in log.items(answered.get("logprobs"))]
    likely = [float(number) for number in numbers if number is not None]
    if not likely or not len(likely) == len(numbers) == len(choices):
        return []
    return [log.as_json(choices[likely.index(max(likely))]).strip()]
