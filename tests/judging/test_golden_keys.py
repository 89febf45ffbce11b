"""Keys of fixed requests: verdicts that are in ledgers stay valid, whatever the code that asks for them looks like."""

from typing import Any

import pyarrow as pa
import pytest

from goldmeter.judging.rows import rows_of
from tests.test_judge import params

PROMPTS = {
    "meaning_match": "9da2281850c25669de88745ba4a3deb90c88592ba530a5a3dceeb27ee3c05483",
    "similarity_judge": "94b84296ebd46962aa1e82c87c6b356ee608b441c7840abf35d46ba8b07baff6",
}
LOCAL, NAMED, OPENAI = (
    {"similarity_judge": {}},
    {"similarity_judge": {}, "draws": 2, "server": "desk"},
    {"base_url": "https://api.openai.com/v1"},
)
# Options, row, metric, draw → key, nonce.
KEYS = [
    (LOCAL, 0, "meaning_match", 0, "4781dd8f79e2f003110cdd6b8bb747f218bf565eb0039054ba0925ef7a39bd07", "LBHZOYRPG3"),
    (LOCAL, 0, "similarity_judge", 0, "3b31b7d61b8036b78d012474ba82674b612ea8d12373488a6aae76f3b8447aff", "4ZMACVNIPO"),
    (LOCAL, 1, "meaning_match", 0, "2a5263c98e0104ea5bdf88b1016fd8264d10f30a1241588a4cf0dac2e10fbb4d", "GZTKDYZZWL"),
    (LOCAL, 1, "similarity_judge", 0, "ec46ab5cc6d7d00484d142a23298b69ac9f3a1444941e499e3c314ef18a07861", "EEYRMHCUN6"),
    (NAMED, 0, "meaning_match", 1, "03035ce54af4bab77cf8f833231abfbbc7862f41d5c6bd1e058a03ed8d58f8a7", "EWR6UHJ3P2"),
    (NAMED, 0, "similarity_judge", 0, "487638f98722a4844265c8fabeb92baa8be57f4106cbc86518f2bcaf522e650e", "Z7UXMLRZSM"),
    (NAMED, 1, "meaning_match", 0, "968e1d96a89c1c427d3d94537d0308426a4599b276b2ec9981d4643c3e61dbec", "5GYONKHXBX"),
    (NAMED, 1, "similarity_judge", 1, "d3bd90191c19aa88f812b7fedfc32761b194f5da54af315537e0a0b983b3ccd9", "IQWM4ATAMO"),
    (OPENAI, 0, "meaning_match", 0, "5fdc184a22febb1597f3a261e3ab773e642f566bd0da4b5cf2593fee9bee27c7", "GF6WPWOMMF"),
    (OPENAI, 1, "meaning_match", 0, "8bd597aa3905aca53997a077344272c655ef9f7fa273df37c0c02951189d3d06", "USCJP5ESXB"),
]


def part() -> pa.Table:
    responses = ["It is Paris.", '"Rome" \u2028\n{{ 1 }}']
    columns = {
        "id": ["1", "2"],
        "candidate": ["a", "a"],
        "input": ["Capital of France?", None],
        "response": responses,
        "references": [["Paris", "City of Paris"], ["東京"]],
        "phrases": pa.nulls(2, pa.list_(pa.string())),
        "response_normalized": responses,
        "references_normalized": [["paris"], ["東京"]],
    }
    return pa.table(columns)


@pytest.mark.parametrize(("options", "row", "metric", "draw", "key", "nonce"), KEYS)
def test_a_request_has_the_key_that_it_always_had(
    options: dict[str, Any], row: int, metric: str, draw: int, key: str, nonce: str
) -> None:
    request = [*rows_of(part(), params(**options).judge)][row].requests[metric][draw]

    assert (request.key, request.nonce) == (key, nonce)


def test_the_prompts_have_the_hashes_that_they_always_had() -> None:
    assert {metric.name: metric.prompt_hash for metric in params(**LOCAL).judge.metrics} == PROMPTS


def test_the_message_about_a_row_is_what_it_always_was() -> None:
    request = [*rows_of(part(), params(**LOCAL).judge)][1].requests["similarity_judge"][0]

    fields = '{"input": null, "ground_truth": ["東京"], "output": "\\"Rome\\" \\u2028\\n{{ 1 }}"}'
    assert request.message == f"<data nonce=EEYRMHCUN6>\n{fields}\n</data nonce=EEYRMHCUN6>"
