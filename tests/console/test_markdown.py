"""Markdown that other people's texts can't break."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.console.format import visible
from tasks.console.markdown import escaped, table


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", "a&#124;b"),
        ("two\nlines", "two lines"),
        ("`code`", "&#96;code&#96;"),
        ("[x](https://evil.example)", "&#91;x&#93;(https:\u200c//evil.example)"),
        ("![x](y)", "!&#91;x&#93;(y)"),
        ("<img src=x onerror=y>", "&#60;img src=x onerror=y&#62;"),
        ("@everybody see #12", "@\u200ceverybody see #\u200c12"),
        ("www.evil.example", "www\u200c.evil.example"),
        ("&lt;", "&#38;lt;"),
        ("*bold* ~gone~ \\|", "&#42;bold&#42; &#126;gone&#126; &#92;&#124;"),
        ("\x1b[31m\u202e", "⟨U+001B⟩&#91;31m⟨U+202E⟩"),
        ("exact_match", "exact_match"),
    ],
)
def test_what_would_be_markup_is_shown_as_it_is_written(text: str, shown: str) -> None:
    assert escaped(text) == shown


@given(st.text())
def test_no_text_breaks_a_line_or_opens_markup(text: str) -> None:
    shown = escaped(text)

    assert not re.search(r"[\x00-\x08\x0a-\x1f\x7f-\x9f<>\\`*\[\]|~]", shown)
    assert not re.search(r"://|[@#]\w", re.sub(r"&#\d+;", "", shown))


@given(st.text())
def test_what_is_shown_stays_as_it_is_where_it_is_made_visible_again(text: str) -> None:
    assert visible(escaped(text)) == escaped(text)


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2)))
def test_every_row_of_a_table_has_its_cells(rows: list[list[str]]) -> None:
    lines = [*table(["a|b", "c"], rows)]

    assert len(lines) == 2 + len(rows)
    assert {line.count("|") for line in lines} == {3}
