"""Result tables of Ragas as CSV, JSON, JSONL or Parquet: `EvaluationResult.to_pandas`. Written for ragas 0.4, and 0.1.

One record for each row. Every column of numbers that is none of a sample's is a score. The table names no system: it is
called as the file. Tables of one data set pair by question and reference.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from goldmeter.dataset.readers import log, tables
from goldmeter.dataset.record import Value

QUESTIONS, ANSWERS = ("user_input", "question"), ("response", "answer")
CONTEXTS = ("retrieved_contexts", "contexts")
REFERENCES = ("reference", "ground_truth", "ground_truths")
METRICS = {
    *("faithfulness", "faithful_rate", "answer_relevancy", "answer_correctness", "answer_similarity"),
    *("context_precision", "context_recall", "context_relevancy", "context_entity_recall", "context_utilization"),
    *("factual_correctness", "semantic_similarity", "noise_sensitivity", "llm_context_precision_with_reference"),
    *("llm_context_precision_without_reference", "nv_accuracy", "nv_context_relevance", "nv_response_groundedness"),
    *("factual_correctness(mode=f1)", "noise_sensitivity(mode=relevant)", "faithfulness_with_hhem"),
}
OF_SAMPLE = {
    *(*QUESTIONS, *ANSWERS, *CONTEXTS, *REFERENCES, "reference_contexts", "retrieved_context_ids", "rubrics"),
    *("reference_context_ids", "multi_responses", "reference_tool_calls", "reference_topics", "persona_name"),
    *("query_style", "query_length", "synthesizer_name", "column_1", "id"),
}


def recognises(head: log.Head) -> bool:
    """Tell whether a file is a table of samples with a metric of Ragas."""
    columns = head.columns
    return bool(METRICS & columns) and all(columns & {*names} for names in (QUESTIONS, ANSWERS))


def rows(file: Path) -> Iterator[tuple[int, dict[str, Value]]]:
    """Yield the rows of a file.

    Raises:
        DataError: A table can't be read.
    """
    yield from ((line, _values(row, file)) for line, row in tables.rows(file))


def _values(row: Mapping[str, Any], file: Path) -> dict[str, Value]:
    response = log.text_of(tables.first_of(row, ANSWERS))
    contexts = tables.unpacked(tables.first_of(row, CONTEXTS))
    others = {name: value for name, value in row.items() if name not in OF_SAMPLE}
    scores = {name: value for name, value in others.items() if name in METRICS or log.number(value) is not None}
    return log.flat(
        id="",
        input=_asked(tables.first_of(row, QUESTIONS)),
        references=tables.references(row, REFERENCES),
        response=response,
        candidate=tables.stem(file),
        error=None if response is not None else "no output",
        contexts=log.listed(contexts) if isinstance(contexts, list) else None,
        scores=tables.judged(scores),
        metadata={name: value for name, value in others.items() if name not in scores},
    )


def _asked(value: Any) -> str | None:
    """Return the question, or the conversation in messages whose `type` is the role."""
    messages = tables.unpacked(value)
    if not isinstance(messages, list):
        return log.text_of(value)
    return log.conversation({**one, "role": one.get("type")} for one in messages if isinstance(one, dict))
