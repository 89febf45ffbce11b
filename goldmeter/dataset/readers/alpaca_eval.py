"""Annotations of AlpacaEval: which of two outputs an annotator prefers. Written for alpaca_eval 0.6.

One record for each output of generator_2, the model, with the points that it won over generator_1, the baseline: score
`win`, from 0 to 1. And one for each output of the baseline, without a score. Annotators are models, and no people.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from goldmeter.dataset.readers import log, tables
from goldmeter.dataset.record import Record, Value, file_name

COLUMNS = {"instruction", "output_1", "generator_1", "output_2", "generator_2", "preference"}
# What older versions write for a tie, in place of 1.5.
OLD_TIE = 0.0


def recognises(head: log.Head) -> bool:
    """Tell whether a file holds annotations."""
    return head.columns >= COLUMNS


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records of all files.

    Raises:
        DataError: A file can't be read.
    """
    yield from tables.keyed(lambda: _records(files))


def _records(files: Sequence[Path]) -> Iterator[Record]:
    baselines: set[tuple[str, str, str]] = set()
    for file in files:
        for line, row in tables.rows(file):
            where = f"{file_name(file)}, row {line}"
            for values in (_values(row, "1", {}, where), _values(row, "2", _points(row), where)):
                key = str(values["candidate"]), str(values["input"]), str(values["response"])
                if "score_win" in values or key not in baselines:
                    yield Record(file_name(file), line, values)
                baselines.add(key)


def _points(row: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the points of the second output: null if the annotator's verdict could not be read."""
    number = log.number(row.get("preference"))
    if number is None:
        return {"win": None}
    return {"win": "0.5" if float(number) == OLD_TIE else repr(float(number) - 1.0)}


def _values(row: Mapping[str, Any], which: str, scores: Mapping[str, str | None], where: str) -> dict[str, Value]:
    response = log.text_of(row.get(f"output_{which}"))
    return log.flat(
        id="",
        candidate=log.part(row, f"generator_{which}", str, where),
        input=log.text_of(row.get("instruction")),
        response=response,
        error=None if response is not None else "no output",
        scores=scores,
        metadata={"dataset": row.get("dataset"), "annotator": row.get("annotator")},
    )
