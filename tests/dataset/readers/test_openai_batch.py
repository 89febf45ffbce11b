"""Files of OpenAI's Batch API, as its reference documents them (version 1, read in November 2026)."""

import json

import pytest

from goldmeter.dataset.readers import detect
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError


def request(key, text="Why?", **body):
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]
    body = {"model": "gpt-tiny", "messages": messages} | body
    return {"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body}


def response(key, *texts, status=200, **body):
    choices = [{"index": n, "message": {"role": "assistant", "content": t}} for n, t in enumerate(texts)]
    body = {"model": "gpt-tiny-2026", "choices": choices} | body
    return {"id": "batch_req_1", "custom_id": key, "response": {"status_code": status, "body": body}, "error": None}


@pytest.fixture
def read(tmp_path):
    def read(**files):
        for name, lines in files.items():
            (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return [record.values for record in records(tmp_path, "*.jsonl", "openai_batch")]

    return read


def test_outputs_are_joined_with_requests_in_the_order_of_the_requests(read):
    rows = read(input=[request("a", "1?"), request("b", "2?")], output=[response("b", "two"), response("a", "one")])

    assert rows[0] == {
        "id": "a",
        "input": "system: Be brief.\n\nuser: 1?",
        "references": [],
        "response": "one",
        "candidate": "gpt-tiny",
        "error": None,
    }
    assert [row["response"] for row in rows] == ["one", "two"]


def test_tokens_are_of_an_answer_and_not_of_several(read):
    used = {"usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}}
    rows = read(
        input=[request("a"), request("b", n=2)], output=[response("a", "x", **used), response("b", "x", "y", **used)]
    )

    assert [row.get("tokens") for row in rows] == ["12", None, None]


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        ([], "missing from the log"),
        ([{"custom_id": "a", "response": None, "error": {"code": "batch_expired", "message": "Expired."}}], "Expired."),
        ([response("a", status=429, error={"message": "Slow down."})], "Slow down."),
        ([response("a", "half", status=500)], "status 500"),
        ([response("a", None)], "no text in the response"),
        ([{"custom_id": "a", "response": None, "error": None}], "no response"),
    ],
)
def test_a_request_without_an_answer_has_a_null_response(read, lines, error):
    rows = read(input=[request("a")], output=lines)

    assert [(row["id"], row["response"], row["error"]) for row in rows] == [("a", None, error)]


def test_several_choices_are_draws(read):
    rows = read(input=[request("a")], output=[response("a", "x", "y")])

    assert [(row["id"], row["draw"], row["response"]) for row in rows] == [("a", "1", "x"), ("a", "2", "y")]


def expired(key):
    return {"custom_id": key, "response": None, "error": {"code": "batch_expired", "message": "Expired."}}


@pytest.mark.parametrize(("n", "answers"), [(2, ["x", "y"]), (3, ["x"]), (2, None)])
def test_a_request_that_failed_has_as_many_draws_as_it_asked_for(read, n, answers):
    outputs = [response("a", *answers)] if answers else [expired("a")]
    rows = read(input=[request("a", n=n)], output=outputs)

    assert [row["draw"] for row in rows] == [str(draw) for draw in range(1, n + 1)]
    assert [row["response"] for row in rows] == [*(answers or []), *[None] * (n - len(answers or []))]


@pytest.mark.parametrize("n", [0, -1, 10**30, "two", None, 1.5])
def test_a_number_of_choices_that_is_none_is_bounded(read, n):
    assert 1 <= len(read(input=[request("a", n=n)], output=[expired("a")])) <= 128


def test_an_error_without_its_request_is_of_the_model_of_the_others(read):
    rows = read(output=[response("a", "x", "y")], errors=[expired("b")])

    assert [(row["id"], row["candidate"], row["draw"]) for row in rows] == [
        (key, "gpt-tiny-2026", draw) for key in "ba" for draw in "12"
    ]


def test_an_error_of_one_of_several_models_asks_for_the_requests(read):
    with pytest.raises(DataError, match=r"errors\.jsonl, line 1: of which model\? The replies are of gpt-tiny-2026, m"):
        read(output=[response("a", "x"), response("b", "x", model="m")], errors=[expired("c")])


def test_errors_alone_are_of_the_batch(read):
    assert {row["candidate"] for row in read(errors=[expired("a")])} == {"batch"}


def test_a_refusal_is_an_answer(read):
    refused = {"choices": [{"message": {"content": None, "refusal": "I can't help."}}]}

    assert read(output=[response("a", **refused)])[0]["response"] == "I can't help."


def test_the_responses_and_completions_endpoints(read):
    new = {"output": [{"type": "reasoning"}, {"type": "message", "content": [{"type": "output_text", "text": "4"}]}]}
    asked = request("a", messages=None, input="2 + 2?", instructions="Sum.")
    del asked["body"]["messages"]
    old = {"choices": [{"text": "four"}]}
    rows = read(input=[asked, request("b")], output=[response("a", choices=None, **new), response("b", **old)])

    assert (rows[0]["input"], rows[0]["response"]) == ("system: Sum.\n\n2 + 2?", "4")
    assert rows[1]["response"] == "four"


def test_outputs_alone_have_no_input(read):
    row = read(output=[response("a", "x")])[0]

    assert (row["input"], row["response"], row["candidate"]) == (None, "x", "gpt-tiny-2026")


def test_an_output_without_its_request_is_refused(read):
    with pytest.raises(DataError, match=r"output\.jsonl, line 1: no request has this custom_id"):
        read(input=[request("a")], output=[response("b", "x")])


def test_a_custom_id_that_is_repeated_is_refused(read):
    with pytest.raises(DataError, match=r"output\.jsonl, line 2: 'a' is also in .*output\.jsonl, line 1"):
        read(output=[response("a", "x"), response("a", "y")])


@pytest.mark.parametrize("line", [request("a"), response("a", "x")])
def test_both_files_are_recognised(tmp_path, line):
    (tmp_path / "x").write_text(json.dumps(line) + "\n")

    assert detect(tmp_path / "x") == "openai_batch"
