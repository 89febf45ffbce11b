"""Write mlflow_traces.jsonl and .csv by the entities of mlflow-skinny 3.17.2: no server, no model."""

import json
from pathlib import Path

import pandas as pd
from mlflow.entities import (
    AssessmentSource,
    Expectation,
    Feedback,
    Trace,
    TraceData,
    TraceInfo,
    TraceLocation,
    TraceState,
)

TARGET = Path(__file__).parent


def source(kind: str, name: str) -> AssessmentSource:
    return AssessmentSource(source_type=kind, source_id=name)


def trace(number: int, question: str, answer: str | None, verdicts: tuple[bool, bool], judged: str) -> Trace:
    """A trace with an expectation, two people's verdicts, a judge's word and a number of code."""
    key = f"tr-{number}"
    people = [
        Feedback(name="correct", value=value, source=source("HUMAN", who), trace_id=key)
        for value, who in zip(verdicts, ("ann", "bo"), strict=True)
    ]
    assessments = [
        Expectation(name="expected_response", value="Paris", source=source("HUMAN", "ann"), trace_id=key),
        *people,
        Feedback(name="human_like", value=judged, source=source("LLM_JUDGE", "m"), trace_id=key),
        Feedback(name="length", value=len(answer or ""), source=source("CODE", "len"), trace_id=key),
    ]
    info = TraceInfo(
        trace_id=key,
        trace_location=TraceLocation.from_experiment_id("0"),
        request_time=1_700_000_000_000 + number,
        state=TraceState.OK if answer else TraceState.ERROR,
        execution_duration=1500,
        request_preview=json.dumps({"question": question}),
        response_preview=None if answer is None else json.dumps(answer),
        trace_metadata={"mlflow.modelId": "m-1", "mlflow.trace.tokenUsage": json.dumps({"total_tokens": 12})},
        assessments=assessments,
    )
    return Trace(info=info, data=TraceData(spans=[]))


TRACES = [
    trace(0, "Capital of France?", "Paris", (True, True), "yes"),
    trace(1, "The French capital?", "Lyon", (False, False), "no"),
    trace(2, "Capital city of France?", None, (True, True), "no"),
]
(TARGET / "mlflow_traces.jsonl").write_text("".join(f"{one.to_json()}\n" for one in TRACES))
pd.DataFrame([one.to_pandas_dataframe_row() for one in TRACES]).to_csv(TARGET / "mlflow_traces.csv", index=False)
