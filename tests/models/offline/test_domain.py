"""The offline judge's domain: English answers to short questions."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.models.offline import domain, judge
from goldmeter.models.offline.measured import measured
from tests.models.offline.pairs import RULES
from tests.small_project import ROOT

TEXT = st.text(st.characters(), max_size=60)
LONG = "one of the many people who lived in the town before the war had begun"


@pytest.mark.parametrize(
    ("question", "reference", "response", "reason"),
    [
        ("Who wrote Hamlet?", "William Shakespeare", "It was written by William Shakespeare.", None),
        ("who wrote hamlet", "shakespeare", "shakespeare", None),
        ("Who sang La vie en rose?", "Édith Piaf", "Édith Piaf sang it.", None),
        ("When was it founded?", "1889", "23 September 1889", None),
        (None, "Paris", "Paris", None),
        ("谁写了哈姆雷特?", "莎士比亚", "莎士比亚写了哈姆雷特。", domain.SCRIPT),
        ("من كتب هاملت؟", "شكسبير", "كتبها شكسبير", domain.SCRIPT),
        ("Who wrote War and Peace?", "Лев Толстой", "Leo Tolstoy wrote it.", domain.SCRIPT),
        ("Wer hat Hamlet geschrieben?", "Shakespeare", "Hamlet wurde von Shakespeare geschrieben.", domain.LANGUAGE),
        ("¿Quién escribió Hamlet?", "Shakespeare", "Lo escribió Shakespeare.", domain.LANGUAGE),
        ("Qui a écrit Hamlet ?", "Shakespeare", "C'est Shakespeare qui l'a écrit.", domain.LANGUAGE),
        ("What is said of him?", LONG, "He was one of many.", domain.REFERENCE_LENGTH),
        ("Who was it?", "Paris", "It was Paris of Troy. " * 40, domain.RESPONSE_LENGTH),
        ("How many are there?", "100", "hundert", domain.LANGUAGE),
        ("How many are there?", "100", "cien", domain.LANGUAGE),
        ("Which is right?", "yes", "ja", domain.LANGUAGE),
        ("Why is the sky blue?", "scattering", "scattering", 'a question of kind "why"'),
        ("How does it fly?", "by flapping", "by flapping", 'a question of kind "how"'),
        ("Explain inertia.", "mass", "mass", 'a question of kind "explain"'),
        ("Do you think it is good?", "yes", "yes", 'a question of kind "opinion"'),
        ("What happens then?", "seeds pass through your digestive system", "They do.", 'a reference of kind "clause"'),
        ("What happens then?", "it grows much bigger", "It grows.", 'a reference of kind "clause"'),
        ("What are the factors of 84?", "2 × 2 × 3 × 7", "2 × 2 × 3 × 7", None),
    ],
)
def test_a_row_is_outside_for_its_script_language_length_or_kind(question, reference, response, reason):
    assert judge([question], [[reference]], [response]).outside == [reason]


def test_no_english_row_of_the_example_is_outside_and_every_answer_in_another_language_is():
    records = [json.loads(line) for line in (ROOT / "data/examples/qa.jsonl").open(encoding="utf-8")]
    rows = [(record, record[name]) for record in records for name in ("aurora", "borealis") if record[name]]
    references = [[texts] if isinstance(texts := record["references"], str) else texts for record, _ in rows]

    outside = judge([record["question"] for record, _ in rows], references, [text for _, text in rows]).outside

    english = np.array([record["language"] == "en" for record, _ in rows])
    assert not np.array([reason is not None for reason in outside])[english].any()
    assert np.array([reason is not None for reason in outside])[~english].all()


def test_a_model_of_which_nothing_was_measured_has_no_kinds_outside(monkeypatch):
    domain._kinds_outside.cache_clear()
    monkeypatch.setattr("goldmeter.models.offline.measured.measured", lambda: None)

    outside = judge(["Why?"], [["scattering"]], ["scattering"]).outside

    domain._kinds_outside.cache_clear()
    assert outside == [None]


def test_kinds_inside_have_an_expected_agreement_of_at_least_four_fifths_and_why_how_and_clauses_have_not():
    kinds = measured()["kinds"]
    inside = {kind for found in kinds.values() for kind, one in found.items() if domain.is_inside(one)}

    assert inside >= {"who", "when", "where", "how many", "name", "date", "number"}
    assert not inside & {"why", "how", "explain", "opinion", "clause"}


def test_the_pairs_of_the_rules_are_inside():
    questions, references, responses = ([pair[key] for pair in RULES] for key in ("input", "references", "response"))

    outside = judge(questions, references, responses).outside

    assert sum(reason is not None for reason in outside) <= 0.01 * len(RULES)


def test_a_blank_or_missing_response_is_not_outside():
    assert judge([None] * 3, [["Париж"], ["Париж"], []], ["", None, "Париж"]).outside == [None] * 3


@given(st.lists(st.tuples(st.none() | TEXT, st.lists(TEXT, max_size=3), st.none() | TEXT), max_size=8))
def test_any_text_is_inside_or_has_a_reason_whatever_rows_stand_beside_it(rows):
    together = judge(*(list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])).outside

    assert set(together) <= {None, *domain.REASONS}
    assert together == [judge(*([each] for each in row)).outside[0] for row in rows]
