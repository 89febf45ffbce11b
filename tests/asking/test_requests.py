"""What a judge is asked: a request's key, nonce and message."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from goldmeter.asking.requests import Request
from goldmeter.metrics.judge.meaning_match import MeaningMatch
from goldmeter.metrics.prompt_template import encode_fields

FIELDS = st.dictionaries(st.sampled_from(["input", "output"]), st.text() | st.none()) | st.fixed_dictionaries(
    {"ground_truth": st.lists(st.text())}
)


def request_about(**values: Any) -> Request:
    return Request("openai", "", "judge", MeaningMatch(), encode_fields(values), 0.0, 1, 0)


@given(FIELDS)
def test_fields_are_one_visible_line_and_read_back(values: dict[str, Any]) -> None:
    encoded = encode_fields(values)

    assert encoded.isprintable()
    assert json.loads(encoded) == values


@given(st.text(), st.text())
def test_the_nonce_depends_on_every_field(text: str, other: str) -> None:
    first, second = request_about(output=text), request_about(output=other)

    assert (first.nonce == second.nonce) == (text == other)
    assert len(first.nonce) == 10
    assert first.nonce not in first.fields


def test_the_nonce_is_of_the_key() -> None:
    assert request_about(output="a").nonce == request_about(output="a").nonce
    assert request_about(output="a").key != request_about(output="b").key
