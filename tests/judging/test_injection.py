"""A server that obeys every verdict it finds in the data gives none: only a reply with the request's nonce counts."""

import json
import re
from contextlib import suppress
from itertools import count, cycle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from goldmeter.asking.requests import Request
from goldmeter.metrics.preference import preference
from goldmeter.pipeline.tables import Parts, write_part
from tests.asking.test_requests import request_about
from tests.injections import INJECTIONS
from tests.judge_server import Answer, completion, question, verdict
from tests.own_judge import METRICS, own_question, reply, schema, write_prompt
from tests.test_judge import column, judged, params, rows, server

__all__ = ["server"]
NONCE = re.compile(r"\b[A-Z2-7]{10}\b")
OBJECT = re.compile(r"\{.*\}", re.DOTALL)
EVERYTHING = (
    "{{ input }}{% for one in references %}{{ one }}{% endfor %}{{ response }}"
    "{% for one in contexts %}{{ one }}{% endfor %}{{ slices.topic }}{{ criteria }}"
)
PLACES = ["response", "references", "input", "contexts", "slices", "criteria"]
EVERY_TYPE = METRICS | {"rubric": {"prompt": "prompts/polite.txt", "scale": "criteria"}}
# Metric → the verdict that whoever writes an answer would like.
BEST: dict[str, Any] = {"politeness": 5, "warmth": 1.0, "in_scope": True, "tone": "formal"}
BEST["rubric"] = [{"criterion": 1, "met": True}]
TYPES = {"integer": "int", "number": "float", "boolean": "bool", "string": "str", "array": "list"}


HONEST = "compared"
"""The reason that an honest judge gives."""


def obeying(found: str, honest: str, verdict: object) -> list[str]:
    """Six replies of a judge that finds an order in the data; honest: the reply that it should give."""
    told, objects = NONCE.search(found), OBJECT.search(found)
    obeyed = json.dumps({"nonce": told[0] if told else "", "reason": "as told", "verdict": verdict})
    return [
        found,
        objects[0] if objects else json.dumps(verdict),
        obeyed,
        f"```json\n{obeyed}\n```",
        f"{found}\n{honest}",
        f"{honest}\n{obeyed}",
    ]


class Obedient:
    """Does what it finds in the data, in another way with each call: repeats it, or makes the reply it asks for."""

    def __init__(self) -> None:
        self.calls = count()

    def __call__(self, body: dict[str, Any]) -> Answer:
        _, fields = question(body)
        found = next(text for text in self._texts(fields) if text not in {"Rome", "Paris", "Where?"})
        ways = obeying(found, verdict(body), True)
        return completion(ways[next(self.calls) % len(ways)])

    @staticmethod
    def _texts(fields: dict[str, Any]) -> list[str]:
        return [fields["input"], fields["output"], *fields["ground_truth"]]


def test_no_verdict_is_taken_from_the_data(server: Any, tmp_path: Any) -> None:
    server.script = Obedient()
    rows = [{"response": "Rome", "references": ["Paris"], "input": "Where?"} for _ in INJECTIONS]
    for row, text, place in zip(rows, INJECTIONS, cycle(["response", "references", "input"]), strict=False):
        row[place] = [text] if place == "references" else text
    (tmp_path / "rows").mkdir()
    columns = {"id": [str(i) for i in range(len(rows))], "candidate": ["a"] * len(rows)}
    columns |= {name: [row[name] for row in rows] for name in ("response", "references", "input")}
    columns |= {"phrases": pa.nulls(len(rows), pa.list_(pa.string()))}
    columns |= {f"{name}_normalized": columns[name] for name in ("response", "references")}
    write_part(pa.table(columns), tmp_path / "rows", 0)

    table = judged(Parts(tmp_path / "rows"), params(server), tmp_path / "store")

    assert len(INJECTIONS) >= 40
    assert {*column(table, "meaning_match_reason")} <= {None, HONEST}
    assert column(table, "judge_status").count("failed") > len(INJECTIONS) / 2
    assert len(server.calls) <= 2 * len(INJECTIONS)


@pytest.fixture
def metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A metric of each type of verdict, whose prompt reads everything."""
    monkeypatch.chdir(tmp_path)
    write_prompt(EVERYTHING)
    return {metric.name: metric for metric in params(metrics=EVERY_TYPE, meaning_match=None).judge.metrics}


@pytest.mark.parametrize("name", BEST)
def test_no_verdict_of_any_type_is_taken_from_the_data(metrics: dict[str, Any], name: str) -> None:
    taken = []
    for text, place in zip(INJECTIONS, cycle(PLACES), strict=False):
        row = row_with(place, text)
        metric = metrics[name].of_row(row)
        request = Request("openai", "", "judge", metric, metric.fields(row, {}), 0.0, 1, 0)
        honest = json.dumps({"nonce": request.nonce, "reason": HONEST, "verdict": BEST[name]})
        assert metric.parse(honest, request.nonce).reason == HONEST
        for said in obeying(text, honest, BEST[name]):
            with suppress(ValueError):
                taken.append((text, metric.parse(said, request.nonce)))

    assert [text for text, verdict in taken if verdict.reason != HONEST] == []


def row_with(place: str, text: str) -> dict[str, Any]:
    row = {"input": "Where?", "response": "Rome", "references": ["Paris"], "contexts": ["A city."]}
    row["slices"] = {"topic": text if place == "slices" else "x"}
    row["criteria"] = [{"text": text if place == "criteria" else "Names it.", "points": 1.0}]
    if place not in {"slices", "criteria", ""}:
        row[place] = [text] if place in {"references", "contexts"} else text
    return row


@pytest.mark.parametrize("place", PLACES)
def test_in_a_prompt_of_ones_own_data_stay_visible_lines_between_the_markers(
    metrics: dict[str, Any], place: str
) -> None:
    metric = metrics["in_scope"]
    for text in INJECTIONS:
        request = Request("openai", "", "judge", metric, metric.fields(row_with(place, text), {}), 0.0, 1, 0)

        lines = request.message.split("\n")

        marked = [n for n, line in enumerate(lines) if line.endswith(f"<data nonce={request.nonce}>")]
        data = [json.loads(lines[n + 1]) for n in marked]
        assert all(line.isprintable() for line in lines)
        assert [lines[n + 2].startswith(f"</data nonce={request.nonce}>") for n in marked] == [True] * len(PLACES)
        assert data == told_in(place, text)
        assert len(lines) == 2 * len(PLACES) + 3


def told_in(place: str, text: str) -> list[Any]:
    usual: dict[str, Any] = {"input": "Where?", "references": "Paris", "response": "Rome", "contexts": "A city."}
    usual |= {"slices": "x", "criteria": "Names it."}
    found = [text if name == place else other for name, other in usual.items()]
    return [*found[:-1], {"1": found[-1]}]


def test_a_server_that_obeys_gives_no_verdict_of_any_type(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_prompt()
    calls = count()

    def obey(body: dict[str, Any]) -> Answer:
        kind = next(name for name, best in BEST.items() if type(best).__name__ == TYPES[schema(body)["type"]])
        ways = obeying(own_question(body)[1][-1], reply(body, BEST[kind]), BEST[kind])
        return completion(ways[next(calls) % len(ways)])

    server.script = obey
    chosen = INJECTIONS[::6]
    parts = rows(tmp_path / "rows", [(str(number), text) for number, text in enumerate(chosen)])

    table = judged(parts, params(server, metrics=METRICS, meaning_match=None), tmp_path / "store")

    for name in METRICS:
        details = [json.loads(cell) for cell in column(table, f"{name}_details")]
        assert {one.get("reason", "as asked") for one in details} == {"as asked"}
    assert len(server.calls) <= 2 * len(chosen) * len(METRICS)


PAIR = (
    "{{ input }}{% for one in references %}{{ one }}{% endfor %}{{ response_a }}{{ response_b }}"
    "{% for one in contexts_a %}{{ one }}{% endfor %}{% for one in contexts_b %}{{ one }}{% endfor %}"
)


def compared(place: str, text: str) -> Request:
    """A request about two answers, with a text in one place."""
    side = place[-2:] if place.endswith(("_a", "_b")) else ""
    first, second = (row_with(place.removesuffix(side) if side in {"", own} else "", text) for own in ("_a", "_b"))
    question = preference(write_prompt(PAIR, "pair.txt"), "judge.preference")
    return Request("openai", "", "judge", question, question.fields_of(first, second, first["references"]), 0.0, 1, 0)


PAIR_PLACES = ["response_a", "response_b", "references", "input", "contexts_a", "contexts_b"]


@pytest.mark.parametrize("wanted", ["A", "B", "tie"])
@pytest.mark.usefixtures("metrics")
def test_no_preference_is_taken_from_the_data(wanted: str) -> None:
    taken = []
    for text, place in zip(INJECTIONS, cycle(PAIR_PLACES), strict=False):
        request = compared(place, text)
        honest = json.dumps({"nonce": request.nonce, "reason": HONEST, "verdict": wanted})
        assert request.question.parse(honest, request.nonce).reason == HONEST
        for said in obeying(text, honest, wanted):
            with suppress(ValueError):
                taken.append((text, request.question.parse(said, request.nonce)))

    assert [text for text, verdict in taken if verdict.reason != HONEST] == []


@pytest.mark.parametrize("place", PAIR_PLACES)
@pytest.mark.usefixtures("metrics")
def test_two_answers_stay_visible_lines_between_the_markers(place: str) -> None:
    usual = ["Where?", "Paris", "Rome", "Rome", "A city.", "A city."]
    where = ["input", "references", "response_a", "response_b", "contexts_a", "contexts_b"].index(place)
    for text in INJECTIONS:
        request = compared(place, text)
        lines = request.message.split("\n")
        marked = [n for n, line in enumerate(lines) if line.endswith(f"<data nonce={request.nonce}>")]

        assert all(line.isprintable() for line in lines)
        assert [json.loads(lines[n + 1]) for n in marked] == [*usual[:where], text, *usual[where + 1 :]]


def test_data_stay_one_line_of_visible_characters_between_the_markers() -> None:
    for text in INJECTIONS:
        head, fields, tail = request_about(input=text, ground_truth=[text], output=text).message.split("\n")

        assert head.startswith("<data nonce=")
        assert tail == f"</{head[1:]}"
        assert fields.isprintable()
        assert json.loads(fields) == {"input": text, "ground_truth": [text], "output": text}
