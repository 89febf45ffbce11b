"""JSON lines loaded as columns: the same tables as one by one, or none."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dataset.columnar.both_ways import params_for, require_same
from tests.dataset.columnar.mappings import LISTS, MAPPINGS, OBJECTS, TEXTS, values

pytestmark = pytest.mark.property
PARIS = {"id": "1", "q": "Capital of France?", "ref": "Paris", "a": "Paris."}


@st.composite
def lines(draw):
    """Records as bytes: most of them valid, with spaces, escapes and line ends as programs and people write them."""
    records = draw(st.lists(values(), max_size=6))
    written = []
    for number, record in enumerate(records):
        unique = {"id": f"r{number}"} if draw(st.integers(0, 9)) else {}
        space = draw(st.sampled_from(["", "", " ", "\t", "  "]))
        text = json.dumps(
            record | unique, ensure_ascii=draw(st.booleans()), separators=(f",{space}", f"{space}:{space}")
        )
        written.append(
            draw(st.sampled_from(["", "", " "])) + text + draw(st.sampled_from(["", "", "\r", " \t", "\n", "\n \r"]))
        )
    content = "\n".join(written) + draw(st.sampled_from(["\n", "", "\n\n"]))
    return draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) + content.encode(errors="surrogatepass")


@st.composite
def damaged(draw):
    """Records as bytes of which some are changed, doubled or gone."""
    content = draw(lines())
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(content)))
        length = draw(st.integers(0, 3))
        put = draw(st.sampled_from(DAMAGE) | st.binary(max_size=2))
        content = content[:at] + put + content[at + length :]
    return content


DAMAGE = [
    b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\r", b"\0", b"\x1f", b"\xff", b"\xc3", b"\xed\xa0\x80",
    b"1",
    b"01", b"1.", b"-", b"1e5", b"NaN", b"nul", b"true", b'"id":"x",', b'"q":"x",', b"\\u00e9", b"\\ud83d", b"\\ude00",
    b'{"a":1,"a":2}', b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"[" * 60, b"{}\n",
]  # fmt: skip


@given(damaged(), MAPPINGS)
def test_columns_give_what_records_give_or_nothing(content, mapping):
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.jsonl")
        path.write_bytes(content)

        require_same(params_for(path, **mapping))


PATHS = ["doc.a", "doc.é", "doc.0", "doc[0]", "doc.a.b", "t[0]", "t[-1].a", "t.0", "['doc.a']", "['doc']['a']"]
INNER = st.one_of(TEXTS, st.none(), LISTS, OBJECTS, st.dictionaries(st.sampled_from("ab"), OBJECTS, max_size=2))


@given(
    st.lists(
        st.fixed_dictionaries(
            {"q": TEXTS, "ref": TEXTS},
            optional={
                "doc": st.dictionaries(st.sampled_from(["a", "b", "0", "é"]), INNER, max_size=3) | INNER,
                "doc.a": TEXTS,
                "doc.é": TEXTS,
                "t": st.lists(TEXTS | st.dictionaries(st.just("a"), TEXTS), max_size=2),
            },
        ),
        max_size=5,
    ),
    st.sampled_from(
        ["doc.a", "doc.é", "doc.0", "doc[0]", "doc.a.b", "t[0]", "t[-1].a", "t.0", "['doc.a']", "['doc']['a']"]
    ),
    st.booleans(),
)
def test_paths_lead_where_they_lead_record_by_record(records, path, is_list):
    with TemporaryDirectory() as folder:
        file = Path(folder, "a.jsonl")
        lines = [json.dumps({"id": f"r{number}", **record}) for number, record in enumerate(records)]
        file.write_text("\n".join(lines))
        mapping = {"references": path} if is_list else {"candidates": {"m": {"response": path}}}

        require_same(params_for(file, limits={"max_rejected": 1, "part_rows": 2}, **mapping))


@given(st.lists(st.binary(max_size=40) | st.sampled_from(DAMAGE), max_size=5).map(b"".join))
def test_random_bytes_are_left_to_the_other_way(content):
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.jsonl")
        path.write_bytes(content)

        require_same(params_for(path))
