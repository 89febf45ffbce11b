import json
import subprocess
import sys
import time
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.models.offline import RIGHT, VERSION, judge, model_hash
from goldmeter.models.offline.trees import FILE
from scripts import golden_judge
from tests.models.offline.pairs import RULES, judged
from tests.small_project import ROOT

TEXT = st.text(st.characters(), max_size=60)


@pytest.mark.xfail(strict=True, reason="0.82 since the pairs train only the model of traps: docs/explanation/judge.md")
def test_the_written_pairs_are_judged_as_written():
    """A model was trained on them: this shows that it is the model that was trained, not how good it is."""
    right = (judged(RULES).probabilities >= RIGHT) == [pair["verdict"] for pair in RULES]

    assert np.mean(right) >= 0.95


def test_each_rule_has_thirty_pairs_and_both_verdicts():
    by_rule = defaultdict(list)
    for pair in RULES:
        by_rule[pair["rule"]].append(pair["verdict"])

    assert sorted(by_rule) == [1, 2, 3, 4, 5, 6, 7]
    assert min(len(verdicts) for verdicts in by_rule.values()) >= 30
    assert all(0.4 <= np.mean(verdicts) <= 0.6 for verdicts in by_rule.values())


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ("Paris", 'The answer is the reference "Paris".'),
        ("The capital of France is Paris.", 'The answer contains the reference "Paris".'),
        ("Lyon", "The answer contains no word of a reference."),
        ("It is not Paris, it is Lyon.", 'The answer denies the reference "Paris".'),
        ("It might be Paris.", 'The answer is not sure of the reference "Paris".'),
        ("Lyon or Paris", 'The answer names other candidates beside the reference "Paris".'),
        ("Paris until 1940; now it is Vichy.", 'The answer withdraws the reference "Paris".'),
        ("Unlike Paris, Lyon is.", 'The answer denies the reference "Paris".'),
        ("", "The response is blank."),
        (" \n", "The response is blank."),
    ],
)
def test_a_reason_names_what_decided(response, reason):
    assert judge(["What is the capital of France?"], [["Paris"]], [response]).reasons == [reason]


def test_a_reason_names_another_number():
    assert judge(["How many bones?"], [["206"]], ["two hundred and sixty bones"]).reasons == [
        'The answer has another number than the reference "206".'
    ]


def test_a_row_without_response_or_reference_is_not_judged():
    unjudged = judge(["q", None, "q"], [["Paris"], [], ["", " "]], [None, "Paris", "Paris"])

    assert np.isnan(unjudged.probabilities).all()
    assert unjudged.reasons == [None, None, None]


def test_a_blank_response_is_wrong_but_for_want_of_a_reference():
    assert np.array_equal(judge(["q", "q"], [["Paris"], []], ["", ""]).probabilities, [0, np.nan], equal_nan=True)


def test_no_rows_have_no_verdicts():
    assert judge([], [], []).probabilities.shape == (0,)


def test_columns_of_different_length_are_refused():
    with pytest.raises(ValueError, match="1 inputs, 2 rows of references and 3 responses"):
        judge(["q"], [["a"], ["b"]], ["a", "b", "c"])


@pytest.mark.parametrize("text", ["Paris", "42", "東京", "🎉", "!!!", "Ωμέγα", "नमस्ते", "The", "New York City"])
def test_a_text_equals_itself(text):
    assert judge([""], [[text]], [text]).probabilities[0] >= RIGHT


def test_equal_signatures_have_equal_probabilities():
    """If this fails, raise VERSION in verdict.py, then `python -m scripts.golden_judge`; so also after a training."""
    golden = json.loads(golden_judge.FILE.read_text(encoding="utf-8"))

    assert len(golden["rows"]) == 500
    assert golden["signed_by"] == golden_judge.signed_by()
    assert golden_judge.changed_rows(golden["rows"]) == []


def test_golden_probabilities_are_not_replaced_under_the_same_signature(monkeypatch, tmp_path, capsys):
    golden = golden_judge.FILE.read_text(encoding="utf-8")
    file = tmp_path / "golden.json"
    monkeypatch.setattr(golden_judge, "FILE", file)
    file.write_text(golden.replace('"probability": 0.9', '"probability": 0.1'), encoding="utf-8")
    changed = file.read_text(encoding="utf-8")

    assert golden_judge.main() == 1
    assert "raise VERSION" in capsys.readouterr().err
    assert file.read_text(encoding="utf-8") == changed

    monkeypatch.setattr(golden_judge, "VERSION", VERSION + 1)

    assert golden_judge.main() == 0
    assert file.read_text(encoding="utf-8") == golden.replace(f'"offline_v": {VERSION}', f'"offline_v": {VERSION + 1}')


def test_rows_are_judged_one_by_one():
    together, backwards = judged(RULES), judged(RULES[::-1])
    parts = [judged(RULES[i : i + 31]) for i in range(0, len(RULES), 31)]

    assert together.probabilities.tolist() == backwards.probabilities[::-1].tolist()
    assert together.probabilities.tolist() == [p for part in parts for p in part.probabilities.tolist()]
    assert together.reasons == backwards.reasons[::-1] == [reason for part in parts for reason in part.reasons]


@given(st.lists(st.tuples(st.none() | TEXT, st.lists(TEXT, max_size=3), st.none() | TEXT), max_size=3))
def test_any_text_is_judged(rows):
    verdicts = judge(*([row[i] for row in rows] for i in range(3)))

    for (_, references, response), p, reason in zip(rows, verdicts.probabilities, verdicts.reasons, strict=True):
        if response is None or not any(text.strip() for text in references):
            assert np.isnan(p)
            assert reason is None
        else:
            assert 0 <= p <= 1
            assert reason.isprintable() or "\n" not in reason


@pytest.mark.parametrize("word", ["a", "Paris ", "not or ", "1,", "I. ", "aaaaaaaaaaaab ", "एक ", "👩‍👧 ", "I think "])
def test_long_texts_take_no_seconds(word):
    judged(RULES[:1])  # machine code is there
    long = word * (100_000 // len(word))
    start = time.process_time()

    judge([long], [[long, long[:-3] + "b", "Paris"]], [long[::-1] + long])

    assert time.process_time() - start < 2


def test_importing_takes_nothing_heavy_along():
    heavy = {"numba", "sklearn", "scipy", "pandas", "pyarrow", "rapidfuzz"}
    code = "import sys; from goldmeter.models import offline; offline.model_hash();"
    code += f"print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)

    assert done.stdout.strip() == "[]"


def test_the_hash_is_that_of_the_model():
    assert len(model_hash()) == 64
    assert FILE.stat().st_size <= 200 * 1024
