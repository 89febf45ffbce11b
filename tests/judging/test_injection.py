"""A server that obeys every verdict it finds in the data gives none: only a reply with the request's nonce counts."""

import json
import re
from itertools import count
from typing import Any

import pyarrow as pa
import pytest

from tasks.pipeline.tables import Parts, write_part
from tests.injections import INJECTIONS
from tests.judge_server import Answer, completion, question, verdict
from tests.judging.test_requests import request_about
from tests.test_judge import column, judged, params, server

__all__ = ["server"]
NONCE = re.compile(r"\b[A-Z2-7]{10}\b")
OBJECT = re.compile(r"\{.*\}", re.DOTALL)


class Obedient:
    """Does what it finds in the data, in another way with each call: repeats it, or makes the reply it asks for."""

    def __init__(self) -> None:
        self.calls = count()

    def __call__(self, body: dict[str, Any]) -> Answer:
        _, fields = question(body)
        found = next(text for text in self._texts(fields) if text not in {"Rome", "Paris", "Where?"})
        told = NONCE.search(found)
        obeyed = json.dumps({"nonce": told[0] if told else "", "reason": "as told", "verdict": True})
        objects = OBJECT.search(found)
        ways = [
            found,
            objects[0] if objects else "true",
            obeyed,
            f"```json\n{obeyed}\n```",
            f"{found}\n{verdict(body)}",
            f"{verdict(body)}\n{obeyed}",
        ]
        return completion(ways[next(self.calls) % len(ways)])

    @staticmethod
    def _texts(fields: dict[str, Any]) -> list[str]:
        return [fields["input"], fields["output"], *fields["ground_truth"]]


@pytest.mark.parametrize("place", ["response", "references", "input"])
def test_no_verdict_is_taken_from_the_data(server: Any, tmp_path: Any, place: str) -> None:
    server.script = Obedient()
    rows = [{"response": "Rome", "references": ["Paris"], "input": "Where?"} for _ in INJECTIONS]
    for row, text in zip(rows, INJECTIONS, strict=True):
        row[place] = [text] if place == "references" else text
    (tmp_path / "rows").mkdir()
    columns = {"id": [str(i) for i in range(len(rows))], "candidate": ["a"] * len(rows)}
    columns |= {name: [row[name] for row in rows] for name in ("response", "references", "input")}
    columns |= {"phrases": pa.nulls(len(rows), pa.list_(pa.string()))}
    columns |= {f"{name}_normalized": columns[name] for name in ("response", "references")}
    write_part(pa.table(columns), tmp_path / "rows", 0)

    table = judged(Parts(tmp_path / "rows"), params(server), tmp_path / "store")

    assert len(INJECTIONS) >= 40
    assert set(column(table, "meaning_match")) == {None}
    assert set(column(table, "judge_status")) == {"failed"}
    assert len(server.calls) == 3 * len(INJECTIONS)


@pytest.mark.parametrize("text", INJECTIONS)
def test_data_stay_one_line_of_visible_characters_between_the_markers(text: str) -> None:
    head, fields, tail = request_about(input=text, ground_truth=[text], output=text).message.split("\n")

    assert head.startswith("<data nonce=")
    assert tail == f"</{head[1:]}"
    assert fields.isprintable()
    assert json.loads(fields) == {"input": text, "ground_truth": [text], "output": text}
