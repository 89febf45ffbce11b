from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.text.dates import moments


def read(text, order=None):
    return [moment.value for moment in moments(text, order)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12:00", [(12, 0)]),
        ("1:00pm", [(13, 0)]),
        ("12 a.m.", [(0, 0)]),
        ("5 o'clock", [(5, 0)]),
        ("12:30:05, 24:00:00", [(12, 30, 5), (24, 0)]),
        ("3:2, 16:9, 12:60, 1:2:30", []),
        ("April 3; 3rd of April; I may 5", [(4, 3), (4, 3)]),
        ("May 1945", [(1945, 5)]),
        ("3 am on May 5, 2020", [date(2020, 5, 5), (3, 0)]),
    ],
)
def test_known_moments(text, expected):
    assert read(text) == expected


@given(st.dates(min_value=date(1000, 1, 1)), st.sampled_from(["%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%d.%m.%Y"]))
def test_a_day_is_read_in_every_form(day, form):
    assert read(day.strftime(form)) == [day]


@given(st.text(alphabet="0123456789:/-. apmMy'", max_size=40))
def test_any_text_is_read(text):
    found = sorted(moments(text), key=lambda moment: moment.start)

    assert all(one.stop <= other.start for one, other in pairwise(found))
