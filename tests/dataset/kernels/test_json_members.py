import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.dataset.kernels.json_members import ABSENT, DEEPEST, ESCAPED, LIST, NULL, OBJECT, VERBATIM, inner, objects
from tests.dataset.kernels.texts import laid

NAMES = ["a", "é", "long name"]
TEXTS = st.text('ab"\\/{}[]:,é\n\t\x1f 😀', max_size=4)
VALUES = st.recursive(
    st.one_of(TEXTS, st.none(), st.booleans(), st.integers(-20, 20), st.floats(allow_nan=False, allow_infinity=False)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
OBJECTS = st.dictionaries(st.sampled_from([*NAMES, "b", ""]), VALUES, max_size=5)


def found(lines):
    """What the kernel finds in lines: of each that is not blank its number, whether it is plain, and its members."""
    content = b"".join(line + b"\n" for line in lines)
    names, offsets = laid(NAMES)
    data = np.frombuffer(content, np.uint8)
    numbers, begins, ends, plain, kinds, firsts, lasts = objects(data, len(lines), names, offsets[1:])
    members = [
        {
            name: (int(kinds[c, r]), content[firsts[c, r] : lasts[c, r]].decode())
            for c, name in enumerate(NAMES)
            if kinds[c, r] != ABSENT
        }
        for r in range(len(numbers))
    ]
    assert [content[b:e] for b, e in zip(begins, ends, strict=True)] == [lines[number] for number in numbers]
    return [*zip(numbers.tolist(), plain.tolist(), members, strict=True)]


def kind(text):
    """The kind of a value in JSON, and what stands for it."""
    if text.startswith('"'):
        return (ESCAPED if "\\" in text else VERBATIM), text[1:-1]
    return {"n": NULL, "[": LIST, "{": OBJECT}.get(text[0], VERBATIM), text


@given(st.lists(OBJECTS, max_size=4), st.booleans(), st.sampled_from([(",", ":"), (" ,\t", " : "), (",\r", ":")]))
def test_members_of_plain_objects_are_found(values, is_ascii, separators):
    has_escapes = any(not key.isascii() for value in values for key in _keys(value)) and is_ascii
    has_escapes |= any(json.dumps(key, ensure_ascii=False)[1:-1] != key for value in values for key in _keys(value))
    options = {"ensure_ascii": is_ascii, "separators": separators}
    lines = [json.dumps(value, **options).encode() for value in values]

    rows = found(lines)

    for row, value in zip(rows, values, strict=True):
        if not has_escapes:
            assert row[1:] == (
                True,
                {name: kind(json.dumps(value[name], **options)) for name in NAMES if name in value},
            )


def _keys(value):
    if isinstance(value, dict):
        yield from value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _keys(item)


@given(OBJECTS, st.integers(0, 60), st.integers(0, 2), st.sampled_from([*b'"\\{}[],:0-.eEnrtu\n \0\x1f', 0xC3]))
@example({"a": 1}, 5, 0, ord("0"))
def test_what_is_plain_is_json_without_repeated_keys(value, at, length, sign):
    text = json.dumps(value).encode()
    line = (text[:at] + bytes([sign]) + text[at + length :]).replace(b"\n", b"")
    for number, is_plain, _ in found([line]):
        if is_plain:
            json.loads(line.decode(errors="replace"), parse_constant=_refuse, object_pairs_hook=_unique)
        assert number == 0


def _refuse(name):
    raise AssertionError(name)


def _unique(pairs):
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


@pytest.mark.parametrize(
    "line",
    [
        "[]", "1", '"a"', "null", "{", "}", '{"a"}', '{"a":}', '{"a":1,}', '{,"a":1}', '{"a":1 "b":2}', "{'a':1}",
        "{} {}", "{}x",
        '{"a":01}', '{"a":1.}', '{"a":.5}', '{"a":+1}', '{"a":-}', '{"a":1e}', '{"a":NaN}', '{"a":Infinity}',
        '{"a":tru}',
        '{"a":nulll}', '{"a":"\\x"}', '{"a":"\\u12g4"}', '{"a":"\t"}', '{"a":"', '{"a":"\\', '{"a":"\\u12',
        '{"a":"b\\"}',
        '{"a":1,"a":1}', '{"b":1,"b":1}', '{"b":{"c":1,"c":2}}', '{"b":[{"c":1,"c":2}]}', '{"a\\u0062":1}',
        '{"a":[1,]}',
        '{"a":[,1]}', '{"a":[1}}', '{"a":{1]}', '{"a":[1 2]}', '{"a":[1', '\x0b{"a":1}', '\xa0{"a":1}', '{"a":1}\x0c',
    ],
)  # fmt: skip
def test_lines_that_are_not_plain(line):
    assert found([line.encode()]) == [(0, False, {})]


@pytest.mark.parametrize("line", ['{"b":{"a":1,"c":{"a":2}},"a":3}', ' \t{"a" : 3 }\r ', '{"a":3,"é":-0.0E+1}', "{}"])
def test_lines_that_are_plain(line):
    [(_, is_plain, members)] = found([line.encode()])

    assert is_plain
    assert members.get("a", (VERBATIM, "3")) == (VERBATIM, "3")


def test_blank_lines_count_as_lines_only():
    assert [row[0] for row in found([b"", b" \t\r", b"{}", b"x", b"", b"{}"])] == [2, 3, 5]


@pytest.mark.parametrize("brackets", [("[", "]"), ('{"a":', "}")])
def test_deep_nesting_is_not_plain(brackets):
    plain = [
        found([f'{{"b":{brackets[0] * depth}1{brackets[1] * depth}}}'.encode()])[0][1]
        for depth in (DEEPEST, DEEPEST + 1, 9_999)
    ]

    assert plain == [True, False, False]


def test_more_lines_than_told_are_seen():
    data = np.frombuffer(b"{}\n{}\n{}\n", np.uint8)
    names, offsets = laid(NAMES)

    assert len(objects(data, 1, names, offsets[1:])[0]) == 2


def test_an_object_with_very_many_keys_is_not_plain():
    few, many = ("{" + ",".join(f'"{number}":0' for number in range(count)) + "}" for count in (500, 600))

    assert [row[1] for row in found([few.encode(), many.encode()])] == [True, False]


def test_members_of_members():
    lines = [b'{"a":{"a":1,"b":"x"}}', b'{"a":{"b":{}}}', b'{"a":[{"b":1}]}', b'{"a":{}}', b"{}", b"x"]
    data = np.frombuffer(b"".join(line + b"\n" for line in lines), np.uint8)
    *_, kinds, firsts, _ = objects(data, len(lines), *_names("a"))

    kinds, firsts, lasts = inner(data, kinds[0], firsts[0], *_names("b"))

    assert kinds.tolist() == [VERBATIM, OBJECT, ABSENT, ABSENT, ABSENT, ABSENT]
    assert [bytes(data[first:last]) for first, last in zip(firsts, lasts, strict=True)] == [b"x", b"{}", *[b""] * 4]


def _names(name):
    data, offsets = laid([name])
    return data, offsets[1:]
