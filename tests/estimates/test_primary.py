"""Primary: which measure decides, and that a wrong name is refused."""

from dataclasses import replace

import pytest

from goldmeter.errors import ParamsError
from goldmeter.estimates.primary import Primary, measure_names, primary
from tests.estimates.test_human_labels import BINARY, GATED, LABEL, NAN, candidate, column

JUDGED = replace(BINARY, metric="meaning_match", family="judge")
SOME = [1.0, 0.0] * 10
F1 = column("f1", [0.2, 0.8] * 10, GATED)
JUDGE = column("meaning_match", SOME, JUDGED)
UNJUDGED = column("meaning_match", [NAN] * 20, JUDGED)


def system(*labels, judge=JUDGE):
    return candidate(*([column("label", labels, LABEL)] if labels else []), F1, judge)


def test_human_labels_decide_where_all_systems_have_them():
    assert primary(None, [system(*SOME), system(*SOME)]) == Primary("label", "human labels of all systems")


@pytest.mark.parametrize("labels", [(), [NAN] * 20, [1.0] * 9 + [NAN] * 11])
def test_the_judge_decides_where_a_system_has_no_labels_or_too_few(labels):
    found = primary(None, [system(*SOME), system(*labels)], random=True)

    assert found == Primary("meaning_match", "human labels do not cover all systems")


def test_labels_on_a_part_of_the_rows_decide_only_if_they_were_chosen_at_random():
    half = system(*([1.0, NAN] * 10))

    assert primary(None, [half], random=True).name == "label"
    assert primary(None, [half]).name == "meaning_match"


def test_one_row_of_twenty_may_lack_a_label():
    assert primary(None, [system(*SOME[:19], NAN)]).name == "label"
    assert primary(None, [system(*SOME[:18], NAN, NAN)]).name == "meaning_match"


def test_the_chosen_measure_decides():
    assert primary("f1.value", [system(*SOME)]) == Primary("f1.value", "named in gate.primary")


def test_new_answers_without_labels_do_not_make_a_chosen_label_an_error():
    assert primary("label", [system()]).name == "label"


def test_an_unknown_measure_is_refused_with_a_suggestion():
    with pytest.raises(ParamsError, match=r"^gate\.primary: unknown measure 'lable'; did you mean label\? allowed: "):
        primary("lable", [system(*SOME)])


def test_without_labels_and_verdicts_a_measure_must_be_named():
    with pytest.raises(ParamsError, match=r"^gate\.primary: none, .*: f1, f1\.value, meaning_match$"):
        primary(None, [system(judge=UNJUDGED)])


def test_a_binary_measure_is_named_once():
    assert measure_names([system(*SOME)]) == ["label", "f1", "f1.value", "meaning_match"]
