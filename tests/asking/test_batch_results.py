"""What is read from a batch's files of results, whatever their lines are."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from goldmeter.asking.batch_files import Results
from goldmeter.models.chat.client import Chat
from goldmeter.models.chat.exchange import Endpoint
from goldmeter.models.chat.limits import ConcurrencyLimit, Support
from tests.judge_server import NO_KEY, completion

CHAT = Chat(Endpoint("http://h/v1", "m", NO_KEY, 1.0, 0), ConcurrencyLimit(1))
KEYS = ["a", "b", "c"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)
BODIES = st.sampled_from(["yes", "no"]).map(lambda text: completion(text)[1]) | VALUES
RESPONSES = st.fixed_dictionaries({"status_code": st.sampled_from([200, 400, 429, 500]) | VALUES, "body": BODIES})
LINES = st.fixed_dictionaries(
    {"custom_id": st.sampled_from([*KEYS, "x"]) | VALUES, "response": RESPONSES | VALUES}, optional={"error": VALUES}
)


def read(status: int, body: object) -> Any:
    return CHAT.read(status, body, Support())


@given(st.lists(st.lists(LINES.map(lambda line: json.dumps(line).encode()) | st.binary(max_size=20)), max_size=2))
def test_each_request_has_at_most_one_result_and_every_line_is_counted(files: list[list[bytes]]) -> None:
    with TemporaryDirectory() as folder:
        paths = [Path(folder, str(number)) for number in range(len(files))]
        for path, lines in zip(paths, files, strict=True):
            path.write_bytes(b"\n".join(lines))
        written = [line for path in paths for line in path.read_bytes().split(b"\n") if line.strip()]
        results = Results(KEYS, read)

        found = [*results.of(paths)]

    keys = [key for key, _ in found]
    assert len({*keys}) == len(keys)
    assert {*keys} == results.seen <= {*KEYS}
    assert len(found) + results.damaged + results.unknown + results.repeated == len(written)
    assert all(reply.text is not None or reply.problem for _, reply in found)


def test_the_first_result_counts_and_an_error_without_a_response_is_a_problem(tmp_path: Path) -> None:
    lines = [
        {"custom_id": "a", "response": {"status_code": 200, "body": completion("yes")[1]}, "error": None},
        {"custom_id": "a", "response": {"status_code": 200, "body": completion("no")[1]}, "error": None},
        {"custom_id": "b", "response": None, "error": {"code": "batch_expired", "message": "too late"}},
        {"custom_id": "c", "response": {"status_code": 400, "body": {"error": {"message": "too long"}}}},
    ]
    (tmp_path / "out").write_text("\n".join(map(json.dumps, lines)))

    found = dict(Results(KEYS, read).of([tmp_path / "out"]))

    assert found["a"].text == "yes"
    assert (found["b"].problem, found["b"].down) == ("batch_expired: too late", True)
    assert (found["c"].problem, found["c"].down) == ("HTTP 400: too long", False)
