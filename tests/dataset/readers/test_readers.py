"""Logs of other tools: recognised by content, and never read as less than they say."""

import gzip
import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goldmeter.dataset.readers import READERS, detect
from goldmeter.dataset.readers.inspect import member
from goldmeter.dataset.readers.log import begun_json, document
from goldmeter.dataset.settings import Format
from goldmeter.dataset.sources import records
from goldmeter.errors import DataError

TMP = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
LOGS = Path(__file__).parent / "logs"
BY_TOOL = {
    "promptfoo": ["promptfoo.json"],
    "deepeval": ["deepeval.json"],
    "inspect": ["inspect.eval", "inspect.json.gz"],
    "lm_eval": ["lm_eval"],
}
FILES = [(tool, name) for tool, names in BY_TOOL.items() for name in names]


def texts_of(log: Path) -> list[str]:
    """The text of a log, or of each member of a zipped one."""
    if log.suffix == ".eval":
        with zipfile.ZipFile(log) as archive:
            return [member(archive, info, log.name) for info in archive.infolist()]
    content = log.read_bytes()
    return [(gzip.decompress(content) if log.suffix == ".gz" else content).decode()]


def test_each_format_of_the_settings_has_a_reader():
    assert set(READERS) == set(Format.__args__)


@pytest.mark.parametrize("name", [name for _, name in FILES])
def test_our_copies_of_logs_name_no_folder_of_a_machine(name):
    texts = [text for file in sorted(LOGS.glob(f"{name}/*")) or [LOGS / name] for text in texts_of(file)]

    assert texts
    assert not [folder for text in texts for folder in re.findall(r"/(?:tmp|work|root|home)/.{0,40}", text)]


@pytest.mark.parametrize(("tool", "name"), FILES)
def test_a_log_is_recognised_by_its_content(tool, name, tmp_path):
    if (LOGS / name).is_dir():
        assert detect(LOGS / name) == tool
    else:
        suffix = ".gz" if name.endswith(".gz") else ""
        shutil.copy(LOGS / name, tmp_path / f"renamed{suffix}")
        assert detect(tmp_path / f"renamed{suffix}") == tool


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b'{"a": 1}\n', b"PK\x03\x04", b"\xff\xfe", b"[[[["])
def test_other_files_are_no_log(tmp_path, content):
    (tmp_path / "a.json").write_bytes(content)

    assert detect(tmp_path / "a.json") is None
    assert detect(tmp_path) is None


def test_a_log_without_its_format_is_refused_with_it(tmp_path):
    shutil.copy(LOGS / "inspect.eval", tmp_path / "a.eval")

    with pytest.raises(DataError, match=r"a\.eval: a log of inspect; set dataset\.format: inspect$"):
        records(tmp_path / "a.eval")


def test_an_unknown_format_suggests_one():
    with pytest.raises(DataError, match="'lm_evel' is not known; did you mean lm_eval"):
        list(records(LOGS / "inspect.eval", None, "lm_evel"))


@pytest.mark.parametrize(("tool", "name"), FILES)
def test_every_record_has_the_columns_that_all_readers_share(tool, name):
    for record in records(LOGS / name, "*", tool):
        assert {"id", "input", "references", "response", "candidate", "error"} <= record.values.keys()
        assert isinstance(record.values["references"], list)
        assert (record.values["response"] is None) == (record.values["error"] is not None)


def test_a_missing_sample_has_its_question_from_another_log_of_the_folder(tmp_path):
    log = json.loads(gzip.decompress((LOGS / "inspect.json.gz").read_bytes()))
    cut = log | {"samples": log["samples"][:1], "results": None}
    (tmp_path / "a.json").write_text(json.dumps(cut))
    (tmp_path / "b.json").write_text(json.dumps(log | {"eval": log["eval"] | {"model": "other"}}))
    rows = [record.values for record in records(tmp_path, "*", "inspect")]
    lacking = [row for row in rows if row["error"] == "missing from the log"]

    assert [(row["id"], row["candidate"], row["response"]) for row in lacking] == [
        ("sums/q1", "mockllm/model", None),
        ("sums/q2", "mockllm/model", None),
    ]
    assert [row["references"] for row in lacking] == [["2"], ["4"]]
    assert all(row["input"] for row in lacking)
    assert len(rows) == 6


def test_a_missing_sample_whose_question_no_log_knows_is_still_a_record(tmp_path):
    log = json.loads(gzip.decompress((LOGS / "inspect.json.gz").read_bytes()))
    for name in "ab":
        cut = log | {"samples": log["samples"][:2], "results": None, "eval": log["eval"] | {"model": name}}
        (tmp_path / f"{name}.json").write_text(json.dumps(cut))
    rows = [record.values for record in records(tmp_path, "*", "inspect")]

    assert [(row["id"], row["candidate"], row["input"]) for row in rows[4:]] == [
        ("sums/q2", "a", None),
        ("sums/q2", "b", None),
    ]


def lines_of(*values):
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def of_batch(key):
    request = {
        "custom_id": key,
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": "m", "messages": []},
    }
    body = {"model": "m", "choices": [{"message": {"role": "assistant", "content": f"answer {key}"}}]}
    return request, {"custom_id": key, "response": {"status_code": 200, "body": body}, "error": None}


REQUESTS, OUTPUTS = zip(*map(of_batch, "abc"), strict=True)
TWICE, RESULTS = (next((LOGS / "lm_eval").glob(pattern)) for pattern in ("samples_twice_*", "results_*"))
# Tool, least number of records, and files, of which the first is damaged.
WHOLE = {
    "promptfoo": ("promptfoo", 4, {"a.json": (LOGS / "promptfoo.json").read_bytes()}),
    "deepeval": ("deepeval", 3, {"a.json": (LOGS / "deepeval.json").read_bytes()}),
    "inspect, zipped": ("inspect", 6, {"a.eval": (LOGS / "inspect.eval").read_bytes()}),
    "inspect, JSON": ("inspect", 3, {"a.json": gzip.decompress((LOGS / "inspect.json.gz").read_bytes())}),
    "lm_eval": ("lm_eval", 6, {file.name: file.read_bytes() for file in (TWICE, RESULTS)}),
    "openai_batch": ("openai_batch", 3, {"output.jsonl": lines_of(*OUTPUTS), "input.jsonl": lines_of(*REQUESTS)}),
}


@pytest.mark.parametrize("whole", WHOLE)
@TMP
@given(place=st.integers(0, 1 << 20), byte=st.integers(0, 255), is_cut=st.booleans())
def test_a_damaged_log_is_never_read_as_less(tmp_path, whole, place, byte, is_cut):
    tool, rows, files = WHOLE[whole]
    name = next(iter(files))
    content = bytearray(files[name])
    content[place % len(content)] = byte
    for other, unchanged in files.items():
        (tmp_path / other).write_bytes(unchanged)
    (tmp_path / name).write_bytes(content[: place % len(content)] if is_cut else content)

    try:
        found = list(records(tmp_path, "*", tool))
    except DataError as error:
        assert name in str(error)  # noqa: PT017 (either outcome is right)
    else:
        assert len(found) >= rows


def test_a_zip_of_a_version_that_nobody_reads_is_named(tmp_path):
    content = bytearray((LOGS / "inspect.eval").read_bytes())
    content[content.index(b"PK\x01\x02") + 6] = 64  # the version that is needed to extract the first member
    (tmp_path / "a.eval").write_bytes(content)

    with pytest.raises(DataError, match=r"a\.eval: can't be read as \.eval: zip file version 6\.4"):
        list(records(tmp_path, "*", "inspect"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("true", "a boolean"),
        ("1.5", "a number"),
        pytest.param("1" * 5000, "a number", id="more digits than Python reads"),
        ('"x"', "a text"),
        ("null", "null"),
        ("[1]", "a list"),
    ],
)
def test_a_log_that_is_no_object_is_refused_with_what_it_is(tmp_path, text, found):
    (tmp_path / "a.json").write_text(text)

    with pytest.raises(DataError, match=rf"a\.json: expected an object, found {found}$"):
        document(tmp_path / "a.json")


def test_a_value_that_only_the_decoder_can_walk_through_is_no_json(tmp_path, monkeypatch):
    """Python 3.12 and later decode values that are nested deeper than its own functions can call themselves."""
    value = []
    for _ in range(100_000):
        value = [value]
    monkeypatch.setattr("goldmeter.dataset.readers.log.decode_whole", lambda *_: {"a": value})
    (tmp_path / "a.json").write_text('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}")

    with pytest.raises(DataError, match=r"a\.json, line 1, column 1: not JSON: nested too deep"):
        document(tmp_path / "a.json")


@given(st.binary() | st.text(alphabet='{}[]":,\\ab1 \n').map(str.encode))
def test_begun_json_never_fails(content):
    begun_json(content.decode(errors="replace"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "x", "b": [1, 2', {"a": "x", "b": [1, 2]}),
        ('{"a": {"b": "not clos', {"a": {}}),
        ('{"a": 1, "b"', {"a": 1}),
        ('{"a": 1}\n{"b": 2}', {"a": 1}),
        (r'{"\ud83d": "\\udc4d", "b": [', {"=": r"\u004d", "b": []}),
        ("no json", None),
        ('{"a": ]', None),
    ],
)
def test_begun_json_leaves_out_what_is_incomplete(text, value):
    assert begun_json(text) == value
