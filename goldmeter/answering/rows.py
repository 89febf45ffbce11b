"""The questions to candidates with a model, and the table data/answer: one row per (id, candidate, draw)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from goldmeter.answering.systems import Params, System
from goldmeter.asking.requests import Request, replies
from goldmeter.dataset.answers import opened
from goldmeter.dataset.settings import CandidateMapping
from goldmeter.dataset.settings import Params as Load
from goldmeter.dataset.table import tables
from goldmeter.dataset.texts import same_input
from goldmeter.errors import DataError
from goldmeter.ledger.entries import Entry
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.metrics.prompt_template import TemplateError
from goldmeter.models.chat.replies import printable
from goldmeter.pipeline.hashing import sha256
from goldmeter.pipeline.run import Price
from goldmeter.text.thoughts import CUT_THOUGHT, THOUGHT_ONLY, Spoken, spoken

TEXT, COUNT, NUMBER = pa.string(), pa.int64(), pa.float64()
SCHEMA = pa.schema(
    [
        *(("id", TEXT), ("candidate", TEXT), ("draw", COUNT), ("input", TEXT), ("response", TEXT), ("problem", TEXT)),
        *(("had_thought", pa.bool_()), ("latency", NUMBER), ("input_tokens", COUNT), ("output_tokens", COUNT)),
        *(("cost", NUMBER), ("model", TEXT)),
    ]
)
# Questions whose requests and replies are in memory at once.
BLOCK_ROWS = 1_000
Question = Mapping[str, Any]


class Asked(NamedTuple):
    """A question to a system: its requests, one a draw, or why there are none."""

    question: Question
    system: System
    requests: Sequence[Request]
    problem: str | None = None


def question_parts(params: Params) -> Iterator[pa.Table]:
    """Yield the questions that data/load will have, each once: `id`, `input`, and the columns that are mapped.

    Raises:
        DataError: As the stage load; or answers could not be joined to questions, because two have the same input.
    """
    dataset = params.dataset
    # Load the questions with their input in place of an answer: data/load has rows for the same questions.
    only = {"question": CandidateMapping(response=dataset.input or dataset.id or "")}
    update = {"candidates": only, "label_file": None, "corrections": None, "scores": {}, "labels": "all"}
    load = Load(dataset=dataset.model_copy(update=update), load=params.load)
    inputs, seen = dict[bytes, str](), set[str]()
    for part in tables(opened(load), load):
        rows = part["load"]
        if "question" in rows.column_names:  # several records may have one question
            rows = rows.set_column(0, "id", rows["question"])
            first = {row: place for place, row in reversed([*enumerate(rows["id"].to_pylist())])}
            rows = rows.take(pa.array(sorted(place for row, place in first.items() if row not in seen), pa.int64()))
            seen |= first.keys()
        if dataset.id is None:
            _require_own_inputs(rows, inputs)
        yield rows.select([name for name in ("id", "input", "contexts", "slices") if name in rows.column_names])


def asked_blocks(part: pa.Table, systems: Sequence[System]) -> Iterator[list[Asked]]:
    """Yield the questions of a part to each system, block by block."""
    for start in range(0, part.num_rows, BLOCK_ROWS):
        yield [_asked(row, one) for row in part.slice(start, BLOCK_ROWS).to_pylist() for one in systems]


def request_blocks(parts: Iterable[pa.Table], system: System) -> Iterator[Iterator[Request]]:
    """Yield the requests to a system, block by block."""
    blocks = (block for part in parts for block in asked_blocks(part, [system]))
    return ((request for one in block for request in one.requests) for block in blocks)


def table_of(
    part: pa.Table, systems: Sequence[System], ledger: Verdicts, prices: Mapping[str, Price], thoughts: str
) -> pa.Table:
    """Build the table of one part from the ledger, and mark the entries as used.

    Args:
        part: Of `question_parts`.
        systems: The candidates that are asked.
        ledger: The store of replies.
        prices: Model → its price.
        thoughts: `dataset.thoughts`; those that are not stripped here are seen by the stage load.
    """
    rows = list[dict[str, Any]]()
    for block in asked_blocks(part, systems):
        entries = replies((request for one in block for request in one.requests), ledger)
        ledger.use(entries)
        rows += [row for one in block for row in _rows(one, entries, prices, thoughts)]
    return pa.Table.from_pylist(rows, SCHEMA)


def _asked(question: Question, system: System) -> Asked:
    try:
        requests = [*system.requests(question)]
    except TemplateError as problem:
        return Asked(question, system, (), str(problem))
    if not requests[0].message.strip():
        return Asked(question, system, (), "not asked: the message is blank")
    return Asked(question, system, requests)


def _rows(
    asked: Asked, entries: Mapping[str, Entry], prices: Mapping[str, Price], thoughts: str
) -> Iterator[dict[str, Any]]:
    """Yield the row of each draw."""
    for draw in range(asked.system.options.draws):
        answer: dict[str, Any] = {"problem": asked.problem, "had_thought": False}
        if asked.requests:
            answer = _answer(entries[asked.requests[draw].key], prices.get(asked.system.model), thoughts)
        named = {"id": asked.question["id"], "candidate": asked.system.name, "draw": draw + 1}
        yield {**named, "input": asked.question["input"], **answer}


def _answer(entry: Entry, price: Price | None, thoughts: str) -> dict[str, Any]:
    """The cells that say what was answered and what it took; the time of a batch says nothing of the system."""
    tokens, by_batch = entry["tokens"], entry.get("batch", False)
    text = printable(str(entry["raw"])) if entry["verdict"] is not None else None
    said = spoken(text) if text and thoughts == "strip" else Spoken(text or "")
    no_answer = CUT_THOUGHT if said.is_cut else THOUGHT_ONLY if said.has_thought and not said.text else None
    is_answer = text is not None and no_answer is None
    return {
        "response": said.text if is_answer else None,
        "problem": no_answer or entry["problem"],
        "had_thought": is_answer and said.has_thought,
        "latency": entry["latency"] if is_answer and not by_batch else None,
        "input_tokens": tokens["prompt"] if tokens else None,
        "output_tokens": tokens["completion"] if tokens else None,
        "cost": price.of_tokens(tokens, by_batch=by_batch) if tokens and price else None,
        "model": entry["model"],
    }


def _require_own_inputs(questions: pa.Table, inputs: dict[bytes, str]) -> None:
    """Raise DataError if two questions have one input; inputs: hash of an input → its question, of earlier parts."""
    for question, text in zip(questions["id"].to_pylist(), questions["input"].to_pylist(), strict=True):
        if inputs.setdefault(sha256(same_input(text)), question) != question:
            raise DataError(
                f"dataset.id: none, and two questions have the input {text[:60]!r}: answers of a candidate with a "
                "model could be of either; name a column of unique ids"
            )
