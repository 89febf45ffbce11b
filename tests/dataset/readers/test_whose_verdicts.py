"""No verdict of a tool or a model is taken for people's, whatever its name says: for each reader."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goldmeter.dataset.proposal.given import Chosen
from goldmeter.dataset.proposal.inputs import propose_for
from tests.dataset.readers import (
    test_argilla,
    test_helm,
    test_label_studio,
    test_langfuse,
    test_langsmith,
    test_mlflow,
    test_mt_bench,
    test_oaieval,
    test_openai_evals,
    test_otel,
    test_phoenix,
    test_ragas,
    test_summeval,
)

VERDICTS = st.sampled_from([(1, 0), (5, 2), (True, False), ("correct", "incorrect"), ("Yes", "No"), ("A", "B")])
NAMES = st.sampled_from(["human_correct", "human", "label", "annotator_1", "rater by me", "human_x by y", "gold.label"])
TMP = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def lines_of(values: list[Any]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def oaieval(name: str, values: tuple[Any, ...]) -> dict[str, str]:
    events = [
        test_oaieval.event(f"e.dev.{number}", kind, **data)
        for number, value in enumerate(values)
        for kind, data in [("sampling", {"prompt": "q", "sampled": ["a"]}), ("metrics", {name: value})]
    ]
    return {"a.jsonl": lines_of(test_oaieval.graded(*events))}


def openai_evals(name: str, values: tuple[Any, ...]) -> dict[str, str]:
    items = [test_openai_evals.item(number, "a") for number, _ in enumerate(values)]
    for one, value in zip(items, values, strict=True):
        one["results"] = [{"name": name, "score": value, "passed": True}]
    return {"a.json": json.dumps(items)}


def mlflow(name: str, values: tuple[Any, ...]) -> dict[str, str]:
    return {
        "a.json": json.dumps(
            test_mlflow.table(
                ["inputs", "outputs", "x/v1/score", f"{name}/value"],
                [[f"q{n}", "a", 1, value] for n, value in enumerate(values)],
            )
        )
    }


def mlflow_traces(name: str, values: tuple[Any, ...]) -> dict[str, str]:
    given = [{"assessment_name": name, "source": {"source_type": "LLM_JUDGE", "source_id": "human"},
              "feedback": {"value": value}} for value in values]  # fmt: skip
    infos = [{"trace_id": str(n), "request_preview": f"q{n}", "response_preview": "a", "assessments": [one]}
             for n, one in enumerate(given)]  # fmt: skip
    return {"a.jsonl": lines_of([{"info": info, "data": {"spans": []}} for info in infos])}


def helm(name: str, values: tuple[Any, ...]) -> dict[str, str]:
    states = [test_helm.request(f"id{n}", "A") for n, _ in enumerate(values)]
    stats = [{**test_helm.statistics(f"id{n}", 1), "stats": [{"name": {"name": name}, "mean": value}]}
             for n, value in enumerate(values)]  # fmt: skip
    state = {"adapter_spec": {"model": "m"}, "request_states": states}
    return {"scenario_state.json": json.dumps(state), "per_instance_stats.json": json.dumps(stats)}


def langsmith(name: str, values: tuple[Any, ...]) -> dict[str, str]:
    rows = [
        {**test_langsmith.EXPERIMENT[0], "example_id": n, f"feedback.{name}": value} for n, value in enumerate(values)
    ]
    return {"a.csv": test_langsmith.csv_of(rows)}


def langfuse(name: str, values: tuple[Any, ...]) -> dict[str, str]:
    return {"a.json": json.dumps([{**test_langfuse.TRACE, "id": str(n), name: [v]} for n, v in enumerate(values)])}


def langfuse_scores(name: str, values: tuple[Any, ...]) -> dict[str, str]:
    given = [test_langfuse.score(str(n), name, value, source="EVAL") for n, value in enumerate(values)]
    return {"a.json": langfuse("other", values)["a.json"], "scores.json": json.dumps(given)}


def ragas(name: str, values: tuple[Any, ...]) -> dict[str, str]:
    return {"a.json": json.dumps([{**test_ragas.ROWS[0], "user_input": n, name: v} for n, v in enumerate(values)])}


def phoenix(name: str, values: tuple[Any, ...]) -> dict[str, str]:
    kinds = {True: "label", False: "score"}
    given = [test_phoenix.annotation(name, "LLM", **{kinds[isinstance(v, str)]: v}) for v in values]
    return {"a.csv": test_phoenix.as_csv([test_phoenix.run(n, "a", one) for n, one in enumerate(given)])}


def label_studio(name: str, values: tuple[Any, ...]) -> dict[str, str]:
    results = [test_label_studio.chosen(str(value), name) for value in values]
    predictions = [[{"model_version": "human", "result": [one]}] for one in results]
    tasks = [test_label_studio.task(n, "a", predictions=one) for n, one in enumerate(predictions)]
    return {"a.json": json.dumps(tasks)}


def label_studio_rows(name: str, values: tuple[Any, ...]) -> dict[str, str]:
    given = [test_label_studio.row(n, who, **{name: value}) for n, value in enumerate(values) for who in (1, 2)]
    return {"a.json": json.dumps(given)}


def argilla(name: str, values: tuple[Any, ...]) -> dict[str, str]:
    given = [{name: {"value": value, "score": None, "agent": "human"}} for value in values]
    return {"a.json": json.dumps([test_argilla.record(n, "a", suggestions=one) for n, one in enumerate(given)])}


def mt_bench(name: str, values: tuple[Any, ...]) -> dict[str, str]:
    grades = [test_mt_bench.grade(n, "small", value, judge=name) for n, value in enumerate(values)]
    pairs = [test_mt_bench.pair(n, "small", "large", str(value)) for n, value in enumerate(values)]
    answers = [test_mt_bench.answer(n, model, "a") for n, _ in enumerate(values) for model in ("small", "large")]
    return test_mt_bench.files(*(test_mt_bench.question(n) for n, _ in enumerate(values)), *answers, *grades, *pairs)


def otel(name: str, values: tuple[Any, ...]) -> dict[str, str]:
    given = [test_otel.evaluation(name, value) for value in values]
    spans = [test_otel.span(n, test_otel.asked(n, "a"), one) for n, one in enumerate(given)]
    return {"a.json": json.dumps(test_otel.otlp("Spans", *spans))}


def promptfoo(name: str, values: tuple[Any, ...]) -> dict[str, str]:
    given = [{"id": "p", "evalId": "e", "testIdx": n, "promptIdx": 0, "testCase": {"vars": {"q": n}}, "success": True,
              "provider": {"id": "m"}, "response": {"output": "a"}, "namedScores": {name: value}}
             for n, value in enumerate(values)]  # fmt: skip
    return {"a.jsonl": lines_of(given)}


def summeval(name: str, values: tuple[Any, ...]) -> dict[str, str]:
    people: dict[str, Any] = {"expert_annotations": [], "turker_annotations": []}
    rows = [test_summeval.summary(n, "M1", **people, **{name: value}) for n, value in enumerate(values)]
    return {"a.jsonl": lines_of(rows)}


LOGS: dict[str, Callable[[str, tuple[Any, ...]], dict[str, str]]] = {
    "argilla": argilla,
    "label_studio": label_studio,
    "label_studio, rows": label_studio_rows,
    "oaieval": oaieval,
    "openai_evals": openai_evals,
    "phoenix": phoenix,
    "ragas": ragas,
    "helm": helm,
    "langfuse": langfuse,
    "langfuse, scores": langfuse_scores,
    "langsmith": langsmith,
    "mlflow": mlflow,
    "mlflow, traces": mlflow_traces,
    "mt_bench": mt_bench,
    "otel": otel,
    "promptfoo, lines": promptfoo,
    "summeval": summeval,
}


@pytest.mark.parametrize("tool", LOGS)
@TMP
@given(name=NAMES, values=VERDICTS)
def test_no_verdict_of_a_machine_becomes_peoples(tmp_path: Path, tool: str, name: str, values: tuple[Any, ...]) -> None:
    for file, text in LOGS[tool](name, values).items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text, encoding="utf-8")

    options = propose_for([str(tmp_path)], None, Chosen()).options

    assert options["format"] == tool.partition(",")[0]
    assert options["candidates"].get("label", {"by": ""}).keys() >= {"by"}
    assert not any(score.get("human") for score in options["scores"].values() if isinstance(score, dict))
