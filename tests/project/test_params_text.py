"""Edits of params.yaml as text: what is not edited stays, byte by byte."""

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.pipeline.yaml import dump_yaml, parse_yaml
from goldmeter.project.params_text import ParamsText

TEXT = """\
# at the top
judge:   # who decides
  model: a   # its name
  panel:
    - {model: b}

    - {model: c}
  # below
gate: {margin: 0, metrics: {}}
"""


def edited(change: Any, text: str = TEXT) -> str:
    settings = ParamsText(text)
    change(settings)
    return settings.text


def test_a_name_is_replaced_and_nothing_else() -> None:
    assert edited(lambda s: s.rename("judge.model", "name")) == TEXT.replace("  model: a", "  name: a")
    assert edited(lambda s: s.rename("gate.margin", "loss")) == TEXT.replace("margin", "loss")
    assert not ParamsText(TEXT).rename("judge.other", "name")


def test_a_setting_is_removed_with_its_lines_and_comments_around_it_stay() -> None:
    removed = edited(lambda s: s.remove("judge.panel"))

    assert removed == TEXT.replace("  panel:\n    - {model: b}\n\n    - {model: c}\n", "")


def test_a_setting_comes_to_the_end_of_its_section_as_deep_as_its_neighbours() -> None:
    shipped = ParamsText("judge:\n  model: a\n  think:   # how long\n    most: 1\nmore:\n  x: 1\n")

    assert edited(lambda s: s.add("judge.think", shipped)) == TEXT.replace(
        "    - {model: c}\n", "    - {model: c}\n  think:   # how long\n    most: 1\n"
    )
    deep = edited(lambda s: s.add("judge.think", shipped), "judge:\n     model: a\n")
    assert deep == "judge:\n     model: a\n     think:   # how long\n       most: 1\n"
    assert edited(lambda s: s.add("more", shipped)) == TEXT + "more:\n  x: 1\n"


@pytest.mark.parametrize("path", ["gate.new", "nowhere.new", "judge.model.new"])
def test_a_setting_without_a_place_is_not_added(path: str) -> None:
    settings, shipped = ParamsText(TEXT), ParamsText(dump_yaml({"gate": {"new": 1}, "nowhere": {"new": 1}}))

    assert not settings.add(path, shipped)
    assert settings.text == TEXT


def test_what_shares_a_line_with_others_is_not_removed() -> None:
    assert not ParamsText(TEXT).remove("gate.margin")
    assert not ParamsText(TEXT).remove("gate.metrics")


def test_a_name_that_is_taken_is_not_given() -> None:
    assert not ParamsText(TEXT).rename("judge.model", "panel")


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("model: a", "model: 'a \u2028 b'")])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_line_ends_stay(text: str, line_end: str) -> None:
    settings = ParamsText(text.replace("\n", line_end))

    assert settings.remove("judge.panel")
    assert settings.add("judge.panel", ParamsText(text))

    assert settings.text.replace(line_end, "\n") == text
    assert settings.text.count("\n") == settings.text.count(line_end)


def test_blank_lines_inside_a_text_are_copied() -> None:
    settings = ParamsText("judge:\n  model: a\n")

    assert settings.add("judge.prompt", ParamsText("judge:\n  prompt: 'one\n\n    two'\n"))

    assert parse_yaml(settings.text)["judge"]["prompt"] == "one\ntwo"


KEYS = st.text(string.ascii_lowercase, min_size=1, max_size=4)
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(string.printable, max_size=12)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)
SECTIONS = st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, min_size=2, max_size=4), min_size=1, max_size=3)


@given(SECTIONS, st.data())
def test_any_settings_stay_but_the_one_that_is_edited(content: dict[str, Any], data: st.DataObject) -> None:
    section = data.draw(st.sampled_from(sorted(content)))
    name = data.draw(st.sampled_from(sorted(content[section])))
    path, text = f"{section}.{name}", dump_yaml(content)
    others = {key: value for key, value in content[section].items() if key != name}

    renamed = parse_yaml(edited(lambda s: s.rename(path, "renamed"), text))
    removed = parse_yaml(edited(lambda s: s.remove(path), text))
    without = ParamsText(dump_yaml(content | {section: others}))
    added = without.add(path, ParamsText(text))

    assert renamed == content | {section: others | {"renamed": content[section][name]}}
    assert removed == content | {section: others}
    assert added
    assert parse_yaml(without.text) == content
