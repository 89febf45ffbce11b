"""SummEval's model_annotations.aligned.jsonl, and .paired.jsonl with the articles. Written for the files of 2020.

One record for each summary. Three experts and five crowd workers give grades from 1 to 5; the dimensions of the latter
are called `crowd_<dimension>`, because the paper finds that the two groups do not agree.
Source: Fabbri et al. 2021, SummEval: Re-evaluating Summarization Evaluation (arXiv:2007.12626).
"""

from collections.abc import Iterator
from pathlib import Path

from goldmeter.dataset.readers import log, tables
from goldmeter.dataset.record import Value, file_name

COLUMNS = {"id", "decoded", "expert_annotations", "turker_annotations", "model_id"}
RATERS = {"expert": ("expert_annotations", ""), "worker": ("turker_annotations", "crowd_")}


def recognises(head: log.Head) -> bool:
    """Tell whether a file holds annotated summaries."""
    return head.keys >= COLUMNS


def rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    """Yield the rows of a file.

    Raises:
        DataError: The file can't be read.
    """
    for line, one in log.objects(file):
        where, response = f"{file_name(file)}, line {line}", log.text_of(one.get("decoded"))
        values = log.flat(
            id=log.part(one, "id", str, where),
            candidate=log.part(one, "model_id", str, where),
            input=log.text_of(one.get("text")),
            references=log.listed(one.get("references")),
            response=response,
            error=None if response is not None else "no output",
        )
        grades = {
            f"{prefix}{dimension}{log.RATER}{rater} {number}": log.number(grade)
            for rater, (column, prefix) in RATERS.items()
            for number, given in enumerate(map(log.members, log.items(one.get(column))), 1)
            for dimension, grade in given.items()
        }
        yield line, tables.with_people(values, grades)
