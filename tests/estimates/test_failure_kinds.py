"""The kind of a wrong answer: from its texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.estimates.failures import KINDS, NAMES, Row, failure_kind
from tests.hostile_texts import TEXTS

HOSTILE = st.none() | st.text() | st.sampled_from(TEXTS)
BY_TEXT = [
    ("What colour is Mars?", ["red"], "", "empty"),
    ("What colour is Mars?", ["red"], " \n\u3000", "empty"),
    ("What colour is Mars?", ["red"], None, "empty"),
    ("Who wrote Emma?", ["Jane Austen"], "I don\u2019t know.", "refusal"),
    ("Who wrote Emma?", ["Jane Austen"], "As an AI language model, I cannot browse the web.", "refusal"),
    ("Wer schrieb Faust?", ["Goethe"], "Das kann ich leider nicht beantworten.", "refusal"),
    ("谁发明了造纸术?", ["蔡伦"], "对不起，我无法回答这个问题。", "refusal"),
    ("Who wrote Emma?", ["Jane Austen"], "Джейн Остин", "other language"),
    ("Who was the first king?", ["Clovis"], "Der erste König war Chlodwig und nicht Karl.", "other language"),
    ("Where does the Danube rise?", ["Donaueschingen"], "It may be in Donaueschingen, perhaps.", "hedge"),
    ("Was lernt man?", ["Wurzel"], "Vielleicht mit der Wurzel, da bin ich mir unsicher.", "hedge"),
    ("What is the capital?", ["Ankara"], "Istanbul or Ankara", "right one among alternatives"),
    ("Wo?", ["am Bodensee"], "Am Bodensee oder am Chiemsee", "right one among alternatives"),
    ("What is its largest moon?", ["Titan"], "Not Titan but Rhea", "right one denied"),
    ("How many bones has a hand?", ["27"], "A hand has 29 bones.", "wrong number"),
    (None, ["Louis XVI"], "Louis XIV", "another answer"),
    (None, ["Eagle"], "Eagle, I think, but I could be wrong about that", "hedge"),
    (None, ["Thomas Edison"], "Either Nikola Tesla or Thomas Edison", "right one among alternatives"),
    (None, ["the pancreas"], "The liver, not the pancreas", "right one denied"),
    (None, ["Ulan Bator"], "I can't answer that.", "refusal"),
    ("How many people in 1,900?", ["1,500"], "In 1,900 there were 15,000.", "wrong number"),
    ("Which island states?", ["Haiti and the Dominican Republic"], "Haiti", "incomplete"),
    ("Who won?", ["Bardeen, Brattain and Shockley"], "Bardeen and Brattain", "incomplete"),
    ("Who directed it?", ["Sam Taylor"], "Sam Taylor had talents. " + "And so the film was made. " * 12, "over-long"),
    ("Who directed it?", ["Sam Taylor"], "It was shot on location near Sam Taylor Road.", "right one in passing"),
    ("Who slew the Minotaur?", ["Theseus"], "Perseus", "another answer"),
    ("Which battle?", ["Battle of Hastings"], "Battle of Bosworth", "another answer"),
    ("Who slew the Minotaur?", [], "Perseus", "other"),
    ("Who slew the Minotaur?", [None, " "], "Perseus", "other"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "references", "response", "kind"), BY_TEXT)
def test_kind(question, references, response, kind):
    assert NAMES[failure_kind(Row(question, references, response))] == kind


def test_names_are_distinct():
    assert len(set(NAMES)) == len(KINDS)


@given(HOSTILE, st.lists(HOSTILE, max_size=3), HOSTILE)
def test_whatever_the_texts_there_is_a_kind(question, references, response):
    kind = failure_kind(Row(question, references, response))

    assert 0 <= kind < len(KINDS)
    assert kind == 0 or (response is not None and response.strip())


def test_texts_that_defeat_slow_patterns_are_read_in_a_moment():
    long = "not a b " * 100_000

    assert failure_kind(Row(long, [long, "b " * 5_000], long + "?")) < len(KINDS)
