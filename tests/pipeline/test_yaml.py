"""YAML as DVC reads it, and written so that readers of YAML 1.1 and of 1.2 read the same."""

from pathlib import Path
from typing import Any

import pytest
from dvc.utils.serialize import ParseError, dumps_yaml
from dvc.utils.serialize import load_yaml as load_by_dvc
from dvc.utils.serialize import parse_yaml as parse_by_dvc
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from goldmeter.errors import ParamsError
from goldmeter.pipeline.yaml import dump_yaml, is_read_as_text, load_yaml, parse_yaml, unstorable_keys

WORDS = [
    "no", "yes", "on", "Off", "y", "N", "true", "FALSE", "null", "~", "", "017", "0o17", "0x1F", "0b11", "1_000",
    "12:30:00", "1e-3", "1.5E+3", ".5", "-.5e-1", ".inf", "-.INF", ".nan", "2024-05-01", "2024-05-01 12:00:00 +02:00",
    "<<", "=", "a b", "a#b", "'no'", '"\\u2028"', "!!str 5", "!!int '7'", "-1", "+1", "1.", "0.", "09", "1__0", "é",
    "a\u0085b", "a\u2028b",
]  # fmt: skip
KEYS = ["a", "no", "on", "b c", "'5'", "é", "y", "1e", '"a b"', "5"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"), ("on", "on"), ("y", "y"), ("017", 17), ("0o17", 15), ("12:30:00", "12:30:00"), ("1e-3", 0.001),
        ("true", True), ("~", None), ("1_000", 1000),
    ],
)  # fmt: skip
def test_a_word_is_read_as_yaml_1_2_has_it(text: str, value: object) -> None:
    assert parse_yaml(f"exclude:\n  language: {text}\n") == {"exclude": {"language": value}}


def flow(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    lists = st.lists(children, max_size=3).map(lambda each: f"[{', '.join(each)}]")
    pairs = st.dictionaries(st.sampled_from(KEYS), children, max_size=3)
    return lists | pairs.map(lambda each: f"{{{', '.join(map(': '.join, each.items()))}}}")


VALUES = st.recursive(st.sampled_from(WORDS) | st.floats().map(str) | st.integers().map(str), flow, max_leaves=8)
SECTIONS = st.dictionaries(
    st.sampled_from(KEYS), st.tuples(st.sampled_from([" ", "\n  - ", "\n  x: ", " &i "]), VALUES)
)
CHARACTERS = st.text(st.sampled_from("ab:-#{}[],&*!|>%@\"' \n\t?~<=1.e_0\u0085\u2028\ufeff"), max_size=20)
DOCUMENTS = (
    SECTIONS.map(lambda lines: "".join(f"{key}:{sep}{value}\n" for key, (sep, value) in lines.items())) | CHARACTERS
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=DOCUMENTS)
def test_what_is_read_is_what_dvc_reads(tmp_path: Path, text: str) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        content = load_yaml(path)
    except ParamsError:
        return

    assert repr(content or {}) == repr(load_by_dvc(str(path)))


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.sampled_from(WORDS)
CONTENT = st.dictionaries(
    st.text(max_size=5) | st.sampled_from(WORDS),
    st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner)),
)


def by_1_1(text: str) -> Any:
    reader = YAML(typ="safe", pure=True)
    reader.version = "1.1"  # type: ignore[assignment]
    return reader.load(text)


@given(CONTENT)
def test_what_is_written_is_read_in_both_versions_of_yaml(content: dict[str, Any]) -> None:
    text = dump_yaml(content)

    assert parse_yaml(text) == content
    assert by_1_1(text) == content


@pytest.mark.parametrize(
    "word", ["no", "On", "y", "017", "0o17", "12:30:00", "1e-3", "1_0", "~", "", ".inf", "2024-05-01"]
)
def test_a_word_that_one_version_reads_as_something_else_is_quoted(word: str) -> None:
    assert not is_read_as_text(word)
    assert dump_yaml({"a": word}) == f"a: '{word}'\n"


def test_what_a_caller_changes_is_not_read_by_the_next() -> None:
    parse_yaml("a: [1]")["a"].append(2)

    assert parse_yaml("a: [1]") == {"a": [1]}


def test_keys_that_a_merge_overrides_are_not_duplicated() -> None:
    text = "x: {y: {m: &a {<<: &b {k: 2}, k: 1}}, c: {<<: *a, k: 3}}"

    assert parse_yaml(text) == {"x": {"y": {"m": {"k": 1}}, "c": {"k": 3}}}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x: !!bool 7", "params.yaml, line 1, column 4: '7' is no bool: '7'"),
        ("x: !!int ''", "params.yaml, line 1, column 4: '' is no int"),
        ("[" * 100_000, "params.yaml, line 1: nested more than 200 levels deep"),
        ("- " * 1000, "params.yaml, line 1: nested more than 200 levels deep"),
        (f"x: 0x{'f' * 5000}", f"params.yaml, line 1, column 4: '0x{'f' * 58}' is no int: Exceeds the limit"),
        ("a: 1\n<<: {b: 1}\n<<: {c: 1}", "params.yaml, line 3, column 1: the key '<<' is duplicated, first in line 2"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(ParamsError) as error:
        parse_yaml(text)

    assert str(error.value).startswith(problem)


def bomb(levels: int, width: int, item: str = "[{}]") -> str:
    """A document in which each level repeats the one above `width` times."""
    lines = [f"a{n}: &a{n} {item.format(', '.join([f'*a{n - 1}'] * width))}" for n in range(1, levels)]
    return "\n".join(["a0: &a0 {k: 1}", *lines, ""])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (bomb(9, 9), "params.yaml: more than 1,000,000 values, with those that aliases repeat"),
        (bomb(100, 1, "[[[{}]]]"), "params.yaml: nested more than 200 levels deep, or an alias repeats itself"),
        ("a: &a [1, {b: *a}]", "params.yaml: nested more than 200 levels deep, or an alias repeats itself"),
    ],
)
def test_aliases_that_repeat_too_much_are_refused(text: str, problem: str) -> None:
    with pytest.raises(ParamsError) as error:
        parse_yaml(text)

    assert str(error.value) == problem


def test_an_alias_that_repeats_little_is_read() -> None:
    assert parse_yaml("a: &a {k: 1}\nb: {<<: *a, l: [*a, *a]}") == {"a": {"k": 1}, "b": {"k": 1, "l": [{"k": 1}] * 2}}


@given(st.text(st.sampled_from("abé日 :#'\"\t-"), min_size=1, max_size=180))
def test_a_name_that_dvc_can_not_read_back_is_found(name: str) -> None:
    content = {"dataset": {"candidates": {name: {"response": "a"}}}}
    lock = {"stages": {"load": {"params": {"params.yaml": content}}}}
    try:
        readable = parse_by_dvc(dumps_yaml(lock), "dvc.lock") == lock
    except ParseError:
        readable = False

    assert [*unstorable_keys(content)] == ([] if readable else [("dataset", "candidates", name)])


@pytest.mark.parametrize(("length", "found"), [(66, 0), (70, 1), (120, 1), (128, 0)])
def test_a_long_name_with_a_blank_is_found_from_the_length_that_dvc_folds(length: int, found: int) -> None:
    name = f"{'a' * (length // 2)} {'b' * (length - length // 2 - 1)}"

    assert len([*unstorable_keys({"dataset": {"candidates": {name: {}}}})]) == found
