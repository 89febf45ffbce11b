"""Experiments of Comet's Opik: the JSON that `opik export WORKSPACE experiment NAME` writes. Written for opik 2.2.122.

One record for each item of an experiment; items of one data set entry that was run several times are draws. The fields
of a data set entry are free: `input` and `expected_output` (or `reference`) are read, the others are `metadata.<name>`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from goldmeter.dataset.readers import log
from goldmeter.dataset.record import Value, file_name
from goldmeter.errors import DataError

REFERENCES = ("expected_output", "reference", "expected")


def recognises(head: log.Head) -> bool:
    """Tell whether a file is an exported experiment."""
    return "dataset_name" in log.members(log.members(head.value).get("experiment"))


def rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    """Yield the rows of an experiment.

    Raises:
        DataError: The file is not an experiment, or holds fewer items than the experiment has traces.
    """
    where, whole = file_name(file), log.document(file)
    experiment = log.part(whole, "experiment", dict, where)
    items = log.part(whole, "items", list, where)
    expected = log.count(experiment.get("trace_count"), f"{where}, trace_count")
    if expected is not None and len(items) < expected:
        raise DataError(
            f"{where}: {len(items)} items, but the experiment has {expected} traces; "
            "export it again with a larger --max-results"
        )
    name = log.text_of(experiment.get("name")) or file.name.split(".json")[0]
    entries = [log.members(item).get("dataset_item_id") for item in items]
    if wrong := [line for line, entry in enumerate(entries, 1) if not isinstance(entry, str)]:
        raise DataError(f"{where}, item {wrong[0]}: expected an object with dataset_item_id")
    for line, (item, draw) in enumerate(zip(items, log.draws(entries), strict=True), 1):
        yield line, _values(item, name, draw)


def _values(item: Mapping[str, Any], name: str, draw: int | None) -> dict[str, Value]:
    data = log.members(item.get("dataset_item_data"))
    response = log.messages_of(_output(item.get("evaluation_task_output")))
    return log.flat(
        id=str(item["dataset_item_id"]),
        input=log.messages_of(data.get("input")),
        references=log.listed(next((data[key] for key in REFERENCES if data.get(key) is not None), None)),
        response=response,
        candidate=name,
        error=None if response is not None else "no output",
        draw=draw,
        scores=log.named_scores(item.get("feedback_scores"), "value"),
        metadata={key: value for key, value in data.items() if key not in {"input", *REFERENCES}},
    )


def _output(output: Any) -> Any:
    """Return the field `output` of what a task returned, or its only text."""
    if not isinstance(output, dict):
        return output
    texts = [value for value in output.values() if isinstance(value, str)]
    return output.get("output", texts[0] if len(texts) == 1 else None)
