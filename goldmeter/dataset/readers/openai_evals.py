"""Runs and output items of OpenAI's Evals API, saved as JSON or JSONL: pages, lists or one a line. As of 2026.

One record for each output item. Graders' scores are `score_<name>`, and whether they passed it `score_<name>_passed`.
With the evaluation in the folder, its graders' templates say which member of an item is the reference.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from goldmeter.dataset.readers import log, tables
from goldmeter.dataset.record import Record, Value, file_name
from goldmeter.errors import DataError

ITEM, RUN, EVALUATION = "eval.run.output_item", "eval.run", "eval"
TEMPLATE = re.compile(r"\{\{\s*item\.(\w+)\s*\}\}")


class Found(NamedTuple):
    """An object, its file, and its number in it."""

    file: str
    line: int
    value: Mapping[str, Any]


def recognises(head: log.Head) -> bool:
    """Tell whether a file holds output items, runs or evaluations, or pages of them."""
    return _kind(next(_opened(head.value), None)) is not None


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records of all output items.

    Raises:
        DataError: There is none, a page is missing, or a run has more items than there are.
    """
    found = [one for file in files for one in _objects(file)]
    items = [one for one in found if one.value.get("object") == ITEM]
    if not items:
        raise DataError(f"{file_name(files[0])}: no output items; save what evals.runs.output_items.list returns, too")
    runs = {str(one.value.get("id")): one.value for one in found if one.value.get("object") == RUN}
    keys = [(str(one.value.get("run_id")), str(one.value.get("datasource_item_id"))) for one in items]
    for run in dict.fromkeys(run for run, _ in keys):
        _require_all(run, runs.get(run, {}), sum(key[0] == run for key in keys), items[0].file)
    names, references = _names(items, runs), _references(found)
    evaluations = {str(one.value.get("eval_id")) for one in items}
    for one, (run, item), draw in zip(items, keys, log.draws(keys), strict=True):
        where = f"{one.file}, item {one.line}"
        log.part(one.value, "datasource_item_id", str, where)
        key = item if len(evaluations) == 1 else f"{one.value.get('eval_id')}/{item}"
        yield Record(one.file, one.line, _values(one.value, key, names[run], draw, references, where))


def _objects(file: Path) -> Iterator[Found]:
    """Yield the objects of a file.

    Raises:
        DataError: The file is none of the API's, or its last page says that there are more.
    """
    where, number, has_more = file_name(file), 0, False
    for line, value in log.values(file):
        has_more = log.members(value).get("has_more") == "true"
        for one in _opened(value):
            number += 1
            if _kind(one) is None:
                raise DataError(f"{where}, line {line}: neither output item, run nor evaluation of OpenAI's Evals API")
            yield Found(where, number, one)
    if has_more:
        raise DataError(f"{where}: has_more is true: further pages are missing; save all pages of a run in one file")


def _opened(value: Any) -> Iterator[Any]:
    """Yield the objects of a page or a list, or the object itself."""
    yield from log.items(log.members(value).get("data")) or (value if isinstance(value, list) else [value])


def _kind(value: Any) -> str | None:
    kind = log.members(value).get("object")
    return kind if isinstance(kind, str) and kind in {ITEM, RUN, EVALUATION} else None


def _require_all(run: str, stated: Mapping[str, Any], present: int, where: str) -> None:
    expected = log.count(log.members(stated.get("result_counts")).get("total"), f"{where}, result_counts")
    if expected is not None and present < expected:
        raise DataError(f"{where}: {present} output items of {run[:60]}, but it has {expected}; save all pages")


def _names(items: Sequence[Found], runs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the name of each run: its own, else its model's; with its id if another one has the same."""
    found: dict[str, str] = {}
    for one in items:
        run = str(one.value.get("run_id"))
        model = log.text_of(log.members(one.value.get("sample")).get("model"))
        name = log.text_of(runs.get(run, {}).get("name")) or model
        found[run] = found.get(run) or name or ""
    shared = [*found.values()]
    return {
        run: name if name and shared.count(name) == 1 else ", ".join(filter(None, [name, run]))
        for run, name in found.items()
    }


def _references(found: Sequence[Found]) -> tuple[str, ...]:
    """Return the members of an item that graders compare with; without templates, the usual names."""
    criteria = [log.items(one.value.get("testing_criteria")) for one in found]
    templates = [str(log.members(grader).get("reference")) for graders in criteria for grader in graders]
    return tuple(name for text in templates for name in TEMPLATE.findall(text)) or tables.REFERENCES


def _values(
    item: Mapping[str, Any], key: str, candidate: str, draw: int | None, references: Sequence[str], where: str
) -> dict[str, Value]:
    data, sample = log.part(item, "datasource_item", dict, where), log.members(item.get("sample"))
    results = [log.members(one) for one in log.part(item, "results", list, where)]
    named = [(str(one.get("name")), one) for one in results]
    response = log.text_of(sample.get("output"))
    error = log.members(sample.get("error"))
    reference = next((data[name] for name in references if data.get(name) is not None), None)
    return log.flat(
        id=key,
        candidate=candidate,
        input=log.messages_of(sample.get("input")) or log.messages_of(data.get("input")),
        references=log.listed(reference),
        response=response or None,
        error=log.text_of(error.get("message")) or (None if response else "no output"),
        draw=draw,
        tokens=log.amount(log.members(sample.get("usage")).get("total_tokens")),
        scores={
            **{name: log.number(one.get("score")) for name, one in named},
            **{f"{name}_passed": log.number(one.get("passed")) for name, one in named},
        },
        metadata={name: value for name, value in data.items() if name not in {"input", *references}},
    )
