"""Kinds of questions and references."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.models.offline.kinds import QUESTION_KINDS, REFERENCE_KINDS, question_kind, reference_kind

TEXT = st.text(st.characters(), max_size=80)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("who wrote it", "who"),
        ("In what year was it built?", "when"),
        ("Describe the man who wrote it.", "explain"),
        ("How come it rains?", "why"),
        ("How tall is it?", "how many"),
        ("How is it made?", "how"),
        ("What does this theory explain?", "what or which"),
        ("What a show!" + " It went on." * 40 + " Who sang?", "who"),
        ("name the capital", "other"),
        (" \n", None),
    ],
)
def test_a_question_is_of_the_kind_of_its_first_asking_word(question, kind):
    assert question_kind(question) == kind


@pytest.mark.parametrize(
    ("reference", "kind"),
    [
        ("Joan of Arc", "name"),
        ("the Czech and the Slovak Republic", "list"),
        ("Monday", "date"),
        ("the 1960s", "date"),
        ("19th century", "date"),
        ("three", "number"),
        ("1,200 men", "number"),
        ("pituitary gland", "phrase"),
        ("they were not invited", "clause"),
        ("Because it rained, and nobody came", "clause"),
    ],
)
def test_a_reference_is_of_the_kind_that_its_words_show(reference, kind):
    assert reference_kind(reference) == kind


@given(TEXT, TEXT)
def test_any_text_has_a_kind(question, reference):
    assert question_kind(question) in {*QUESTION_KINDS, None}
    assert reference_kind(reference) in REFERENCE_KINDS
