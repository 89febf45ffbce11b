"""The glossary and how its terms are found in a sentence."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup, escape

from goldmeter.reporting.page import terms
from goldmeter.wording import glossary

TAG = re.compile(r'<a class="term" href="#term-(\d+)">(.*?)</a>')


def linked(text: str) -> list[tuple[str, str]]:
    """The linked words, each with the term that it leads to."""
    return [(said, glossary.terms()[int(number) - 1]["term"]) for number, said in TAG.findall(terms(text))]


def test_a_headline_leads_to_its_terms_and_its_brackets_to_what_an_interval_is() -> None:
    assert linked("b is better than a by human labels: +7.0 points [+0.1, +13.8].") == [
        ("human labels:", "human label"),
        ("points", "point"),
        ("[+0.1, +13.8].", "interval"),
    ]


@pytest.mark.parametrize(("text", "said"), [("slices-2", []), ("my_slice", []), ("a [b] c", []), ("8 % [<0.1, 3]", 1)])
def test_parts_of_names_are_no_terms(text: str, said: object) -> None:
    assert linked(text) == ([("[&lt;0.1, 3]", "interval")] if said else [])


@given(st.text() | st.lists(st.sampled_from(["slice ", "[+1, 2]", "<b>", "&lt;", "point"])).map("".join))
def test_nothing_of_a_text_is_lost_or_becomes_markup(text: str) -> None:
    found = terms(text)

    assert isinstance(found, Markup)
    assert TAG.sub(r"\2", found) == escape(text)


def test_every_term_is_explained_once() -> None:
    names = [one["term"] for one in glossary.terms()]

    assert names == sorted({*names})
    assert all(one["means"] for one in glossary.terms())
