"""Runs and output items of OpenAI's Evals API. Typed from its reference: the API asks for a key."""

import json

import pytest

from goldmeter.dataset.readers import detect
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError
from tests.dataset.readers.proposed import proposed

EVALUATION = {"object": "eval", "id": "e1", "name": "tickets", "testing_criteria": [
    {"type": "string_check", "name": "same", "input": "{{sample.output_text}}", "reference": "{{ item.team }}"}
]}  # fmt: skip


def run(key="r1", name="first prompt", total=2):
    counts = {"total": total, "errored": 0, "failed": 1, "passed": 1}
    return {"object": "eval.run", "id": key, "eval_id": "e1", "name": name, "model": "small", "result_counts": counts}


def item(number, answer, *, key="r1", score=1.0, **sample):
    output = [] if answer is None else [{"role": "assistant", "content": answer}]
    return {
        "object": "eval.run.output_item",
        "id": f"o{number}",
        "run_id": key,
        "eval_id": "e1",
        "status": "pass",
        "datasource_item_id": number,
        "datasource_item": {"ticket": f"Ticket {number}", "team": "Hardware"},
        "results": [{"name": "human_check", "score": score, "passed": score > 0.5, "sample": None}],
        "sample": {
            "input": [{"role": "user", "content": f"Ticket {number}"}],
            "output": output,
            "model": "small-2026",
            "error": None,
            "usage": {"total_tokens": 9},
            **sample,
        },
    }


def page(*items, has_more=False):
    return {"object": "list", "data": list(items), "has_more": has_more}


@pytest.fixture
def write(tmp_path):
    def write(*values, lines=False):
        for number, value in enumerate(values):
            text = "\n".join(map(json.dumps, value)) if lines else json.dumps(value)
            (tmp_path / f"{number}.json{'l' if lines else ''}").write_text(text)
        return tmp_path

    return write


def test_a_run_and_its_items_are_loaded(write):
    failed = item(1, None, error={"code": "rate_limit", "message": "too many requests"})

    options, rows = proposed(write(EVALUATION, run(), page(item(0, "Hardware", score=0.75), failed)))

    assert [(row["id"], row["candidate"], row["response"], row["references"]) for row in rows] == [
        ("0", "first prompt", "Hardware", ["Hardware"]),
        ("1", "first prompt", None, ["Hardware"]),
    ]
    assert [(row["score_human_check"], row["score_human_check_passed"]) for row in rows] == [(0.75, 1.0), (None, None)]
    assert "label" not in options["candidates"]


@pytest.mark.parametrize("lines", [False, True])
def test_items_alone_are_of_their_model(write, lines):
    folder = write([item(0, "Hardware"), item(1, "Software")], lines=lines)

    assert detect(folder) == "openai_evals"
    found = [record.values for record in records(folder, "*", "openai_evals")]
    assert [(row["candidate"], row["input"], row["tokens"]) for row in found] == [
        ("small-2026", "Ticket 0", "9"),
        ("small-2026", "Ticket 1", "9"),
    ]


def test_two_runs_of_one_name_are_told_apart(write):
    folder = write(run("a"), run("b"), [item(n, "x", key=key) for key in "ab" for n in range(2)])

    found = [record.values["candidate"] for record in records(folder, "*", "openai_evals")]
    assert list(dict.fromkeys(found)) == ["first prompt, a", "first prompt, b"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([run(total=3), page(item(0, "x"), item(1, "x"))], "2 output items of r1, but it has 3; save all pages"),
        ([page(item(0, "x"), has_more=True)], "has_more is true: further pages are missing"),
        ([run()], "no output items; save what evals.runs.output_items.list returns"),
        ([[item(0, "x"), {"a": 1}]], "neither output item, run nor evaluation"),
        ([item(0, "x") | {"results": None}], "'results' is null, not a list"),
    ],
)
def test_what_can_not_be_read_is_named(write, values, message):
    with pytest.raises(DataError, match=message):
        list(records(write(*values), "*", "openai_evals"))
