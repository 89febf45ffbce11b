"""Experiments of Comet's Opik: the JSON that `opik export WORKSPACE experiment NAME` writes. Written for opik 2.2.122.

One record for each item of an experiment; items of one data set entry that was run several times are draws. The fields
of a data set entry are free: `input` and `expected_output` (or `reference`) are read, the others are `metadata.<name>`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tasks.dataset.readers.log import (
    Head,
    as_records,
    conversation,
    count,
    document,
    flat,
    listed,
    number,
    part,
    text_of,
)
from tasks.dataset.record import Record, Value, file_name
from tasks.errors import DataError

REFERENCES = ("expected_output", "reference", "expected")


def recognises(head: Head) -> bool:
    """Tell whether a file is an exported experiment."""
    experiment = head.value.get("experiment") if isinstance(head.value, dict) else None
    return isinstance(experiment, dict) and "dataset_name" in experiment


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records of all experiments.

    Raises:
        DataError: A file is no experiment, or holds fewer items than the experiment has traces.
    """
    for file in files:
        yield from as_records(file, _rows(file))


def _rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    where, whole = file_name(file), document(file)
    experiment = part(whole, "experiment", dict, where)
    items = part(whole, "items", list, where)
    expected = count(experiment.get("trace_count"), f"{where}, trace_count")
    if expected is not None and len(items) < expected:
        raise DataError(
            f"{where}: {len(items)} items, but the experiment has {expected} traces; "
            "export it again with a larger --max-results"
        )
    name = text_of(experiment.get("name")) or file.name.split(".json")[0]
    entries = [item.get("dataset_item_id") if isinstance(item, dict) else None for item in items]
    repeated, seen = Counter(entries), Counter[Any]()
    for line, (item, entry) in enumerate(zip(items, entries, strict=True), 1):
        if not isinstance(item, dict) or not isinstance(entry, str):
            raise DataError(f"{where}, item {line}: expected an object with dataset_item_id")
        seen[entry] += 1
        yield line, _values(item, name, seen[entry] if repeated[entry] > 1 else None)


def _values(item: Mapping[str, Any], name: str, draw: int | None) -> dict[str, Value]:
    fields = item.get("dataset_item_data")
    data = fields if isinstance(fields, dict) else {}
    response = _text(_output(item.get("evaluation_task_output")))
    reference = next((data[key] for key in REFERENCES if data.get(key) is not None), None)
    return flat(
        id=str(item["dataset_item_id"]),
        input=_text(data.get("input")),
        references=listed(reference),
        response=response,
        candidate=name,
        error=None if response is not None else "no output",
        draw=draw,
        scores=dict(_scores(item.get("feedback_scores"))),
        metadata={key: value for key, value in data.items() if key not in {"input", *REFERENCES}},
    )


def _output(output: Any) -> Any:
    """Return the field `output` of what a task returned, or its only text."""
    if not isinstance(output, dict):
        return output
    texts = [value for value in output.values() if isinstance(value, str)]
    return output.get("output", texts[0] if len(texts) == 1 else None)


def _text(value: Any) -> str | None:
    return conversation(value) if isinstance(value, list) else text_of(value)


def _scores(scores: Any) -> Iterator[tuple[str, str | None]]:
    for score in scores if isinstance(scores, list) else []:
        if isinstance(score, dict) and isinstance(score.get("name"), str):
            yield score["name"], number(score.get("value"))
