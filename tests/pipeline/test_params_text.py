"""Edits of params.yaml as text: what is not edited stays, byte by byte."""

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.pipeline.params_text import ParamsText
from goldmeter.pipeline.yaml import dump_yaml, flow, parse_yaml, scalar

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


PANEL = "  more:\n    - {model: d}\n"


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
    model = f"  model: {flow(parse_yaml(text)['judge']['model'])}\n"

    assert settings.rewrite("judge", {"model": model, "more": PANEL})

    panel = text[text.index("  panel:") : text.index("  # below")]
    assert settings.text.replace(line_end, "\n") == text.replace(panel, PANEL)
    assert settings.text.count("\n") == settings.text.count(line_end)


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
    lines = dict.fromkeys(others, "") | {key: f"  {scalar(key)}: {flow(value)}\n" for key, value in others.items()}
    rewritten = parse_yaml(edited(lambda s: s.rewrite(section, lines | {"renamed": "  renamed: 1\n"}), text))
    changed = parse_yaml(edited(lambda s: s.set(path, "new"), text))

    assert renamed == content | {section: others | {"renamed": content[section][name]}}
    assert removed == content | {section: others}
    assert rewritten == content | {section: others | {"renamed": 1}}
    assert changed == content | {section: content[section] | {name: "new"}}


def test_a_comment_that_goes_on_below_stays_with_its_setting_and_leaves_with_it() -> None:
    def lines(name: str) -> str:
        return f"  {name}: 1                        # check: {name}\n                                # more of {name}\n"

    text = ParamsText(f"a:\n{lines('x')}{lines('y')}  # of the user\nb: {{}}\n")
    options = {"x": lines("x"), "z": lines("z"), "w": lines("w")}

    assert text.rewrite("a", options)
    assert text.text == f"a:\n{''.join(options.values())}  # of the user\nb: {{}}\n"
    assert text.rewrite("a", {"z": lines("z")})
    assert text.text == f"a:\n{lines('z')}  # of the user\nb: {{}}\n"
