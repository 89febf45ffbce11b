"""Markdown that other people's texts can't break."""

import html
import re
from collections.abc import Iterator

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from goldmeter.console.format import visible
from goldmeter.console.markdown import NON_JOINER, code, escaped, escaped_in_html, table
from tests.hostile_texts import TEXTS

HOSTILE = [text for text in TEXTS if len(text) < 1000]
MARKUP = [
    *("_em_", "__init__", "a_ _b", "~~gone~~", "# head", "tail #", "a ##", "- item", "+ item", "1. item", "2) item"),
    *("---", "===", "- - -", "* * *", "> quote", "    code", "[x](y)", "![x](y)", "[x]: y", "<b>", "`a", "&lt;", "a\\"),
    *("| a |", "\\|", "`|`", "x  ", "-", "#", "=", "^a^", "***a***", "_a*b_c*", "*_a", "1.", "-0.5", "\\_a_"),
]
texts = st.one_of(st.text(), st.text("_*-+=#.)1a |\\`[]()<>&~!:/@\n"), st.sampled_from([*MARKUP, *HOSTILE]))
TEXT = {"text", "text_special"}
RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def plain(text: str) -> str:
    """The text as a reader sees it."""
    return " ".join(visible(text).replace(NON_JOINER, "").split())


def seen(tokens: list[Token]) -> tuple[list[str], str]:
    """The kinds of all tokens, and the text."""
    flat = [*_flat(tokens)]
    shown = "".join(each.content for each in flat if each.type in TEXT)
    return [each.type for each in flat], " ".join(shown.replace(NON_JOINER, "").split())


def _flat(tokens: list[Token]) -> Iterator[Token]:
    for each in tokens:
        if each.children is None:
            yield each
        else:
            yield from each.children


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("two\nlines", "two lines"),
        ("`code`", r"\`code\`"),
        ("[x](https://evil.example)", "\\[x\\](https:\u200c//evil.example)"),
        ("![x](y)", r"!\[x\](y)"),
        ("<img src=x onerror=y>", r"\<img src=x onerror=y\>"),
        ("@everybody see #12", "@\u200ceverybody see #\u200c12"),
        ("www.evil.example", "www\u200c.evil.example"),
        ("&lt;", r"\&lt;"),
        ("*bold* ~gone~ \\|", r"\*bold\* \~gone\~ \\\|"),
        ("\x1b[31m\u202e", r"⟨U+001B⟩\[31m⟨U+202E⟩"),
        ("exact_match", "exact_match"),
        ("_em_", r"\_em\_"),
        ("0.125 [0.250, 0.750]", r"0.125 \[0.250, 0.750\]"),
        ("-0.5", "-0.5"),
        ("- x", r"\- x"),
        ("1. x", r"1\. x"),
    ],
)
def test_what_would_be_markup_is_shown_as_it_is_written(text: str, shown: str) -> None:
    assert escaped(text) == shown


@given(texts)
@example("a #")
def test_a_renderer_shows_each_text_as_it_is_wherever_it_stands(text: str) -> None:
    assume(plain(text))

    for before in ("", "x ", "- ", "#### "):
        kinds, shown = seen(RENDERER.parse(before + escaped(text)))
        assert shown == f"{before.lstrip('-# ')}{plain(text)}"
        assert [kind for kind in kinds if kind not in TEXT] == [
            kind for kind in seen(RENDERER.parse(f"{before}word"))[0] if kind not in TEXT
        ]


@given(texts)
def test_no_text_breaks_a_line_a_link_or_a_mention(text: str) -> None:
    for shown in (escaped(text), escaped_in_html(text)):
        assert not re.search(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]", shown)
        assert not re.search(r"://|[@#]\w|www\.", shown, re.IGNORECASE)


@given(texts)
def test_between_tags_a_text_is_no_tag(text: str) -> None:
    shown = escaped_in_html(text)

    assert not re.search("[<>]", shown)
    assert html.unescape(shown).replace(NON_JOINER, "").split() == plain(text).split()


@given(texts)
def test_inline_code_ends_with_its_text(text: str) -> None:
    types, _ = seen(tokens := RENDERER.parse(f"x {code(f'a {text}')} x"))

    assert types == ["paragraph_open", "text", "code_inline", "text", "paragraph_close"]
    [span] = [each for each in _flat(tokens) if each.type == "code_inline"]
    assert " ".join(span.content.replace(NON_JOINER, "").split()) == plain(f"a {text}")


@given(texts)
def test_what_is_shown_stays_as_it_is_where_it_is_made_visible_again(text: str) -> None:
    assert visible(escaped(text)) == escaped(text)


@given(st.lists(st.lists(texts, min_size=2, max_size=2)))
def test_every_row_of_a_table_has_its_cells(rows: list[list[str]]) -> None:
    lines = [*table(["a|b", "c"], rows)]

    cells = [seen([each])[1] for each in RENDERER.parse("\n".join(lines)) if each.type == "inline"]
    assert cells == ["a|b", "c", *(plain(text) for row in rows for text in row)]
