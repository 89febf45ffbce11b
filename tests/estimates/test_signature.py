"""Which fields of signatures differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.estimates.signature import changes

FIELD = st.text("ab:|1 ", max_size=5)


@pytest.mark.parametrize(
    ("base", "head", "fields"),
    [
        ("f1|tok:13a|v:1", "f1|tok:13a|v:1", []),
        ("f1|tok:13a|v:1", "f1|tok:char|v:2", ["tok was 13a, is char", "v was 1, is 2"]),
        ("f1|v:1", "f1|v:1|norm:NFKC", ["norm was absent, is NFKC"]),
        ("f1|v:1", "bleu|v:1", ["metric was f1, is bleu"]),
        ("m|re:a:b", "m|re:a:c", ["re was a:b, is a:c"]),
        ("m|filters:x is a|y|v:1", "m|filters:x is a|z|v:1", ["y was , is absent", "z was absent, is "]),
        ("m|a:1|a:2", "m|a:3|a:2", ["signature was m|a:1|a:2, is m|a:3|a:2"]),
    ],
)
def test_the_fields_that_differ_are_named(base: str, head: str, fields: list[str]) -> None:
    assert [*map(str, changes(base, head))] == fields


@given(FIELD, FIELD)
def test_no_field_differs_only_when_the_signatures_are_equal(base: str, head: str) -> None:
    assert (changes(base, head) == ()) == (base == head)
    assert changes(base, base) == ()
