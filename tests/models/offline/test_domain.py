"""The offline judge's domain: English answers to short questions."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.models.offline import domain, judge
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
    ],
)
def test_a_row_is_outside_for_its_script_its_language_or_its_length(question, reference, response, reason):
    assert judge([question], [[reference]], [response]).outside == [reason]


def test_no_english_row_of_the_example_is_outside_and_every_answer_in_another_language_is():
    records = [json.loads(line) for line in (ROOT / "data/examples/qa.jsonl").open(encoding="utf-8")]
    rows = [(record, record[name]) for record in records for name in ("aurora", "borealis") if record[name]]
    references = [[texts] if isinstance(texts := record["references"], str) else texts for record, _ in rows]

    outside = judge([record["question"] for record, _ in rows], references, [text for _, text in rows]).outside

    english = np.array([record["language"] == "en" for record, _ in rows])
    assert not np.array([reason is not None for reason in outside])[english].any()
    assert np.array([reason is not None for reason in outside])[~english].all()


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
