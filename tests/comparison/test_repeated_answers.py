"""Repeated answers in a comparison: pass@k and pass^k by question, whatever the numbers of draws."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goldmeter.comparison.gate import Gate
from goldmeter.comparison.of_versions import compare_versions
from goldmeter.comparison.render import to_markdown
from goldmeter.errors import ComparisonError
from goldmeter.wording import comparison_lines
from goldmeter.wording.verdicts import Decision
from tests.comparison.sample import Row, answers, drawn, gate_on, version
from tests.comparison.test_document import measures

KS = [1, 2]


@pytest.fixture
def compared(tmp_path: Path) -> Any:
    def compare(older: list[Row], newer: list[Row], gate: Gate = gate_on("f1")) -> Any:  # noqa: B008 (frozen)
        sides = [version(tmp_path / name, rows) for name, rows in (("a", older), ("b", newer))]
        (tmp_path / "b/reports").mkdir(exist_ok=True)
        (tmp_path / "b/reports/metrics.json").write_text(json.dumps({"pass_at": KS}), encoding="utf-8")
        found = compare_versions(*sides, gate)
        json.dumps(found, allow_nan=False)
        return found

    return compare


def test_the_primary_measure_is_also_compared_by_question(compared: Any) -> None:
    found = measures(compared(drawn("++..", "++++", "...."), drawn("+++.", "++++", "+...")))

    assert [name for name in found if "pass" in name] == ["f1.pass@1", "f1.pass@2", "f1.pass^2"]
    at = found["f1.pass@2"]
    assert (at["role"], at["n"], at["per"], at["unit"]) == ("secondary", 3, "question", "points")
    assert at["base"] == pytest.approx((5 / 6 + 1 + 0) / 3, abs=1e-6)
    assert at["head"] == pytest.approx((1 + 1 + 3 / 6) / 3, abs=1e-6)
    assert found["f1.pass^2"]["head"] == pytest.approx((3 / 6 + 1 + 0) / 3, abs=1e-6)


def test_a_loss_by_question_that_is_a_guard_stops_a_release(compared: Any) -> None:
    older, newer = drawn(*["++"] * 40), drawn(*["+."] * 40)

    found = compared(older, newer, gate_on("f1", "f1.pass^2", margin=0.9))

    assert measures(found)["f1.pass^2"]["verdict"] == "worse"
    assert measures(found)["f1.pass^2"]["role"] == "guard"
    assert found["decision"]["verdict"] == Decision.DO_NOT_SHIP
    assert "40 questions" in " ".join(found["decision"]["reasons"])


def test_a_guard_may_name_a_k_of_its_own(compared: Any) -> None:
    found = measures(compared(drawn(*["+++"] * 12), drawn(*["+++"] * 12), gate_on("f1", "exact_match.pass^3")))

    assert found["exact_match.pass^3"]["verdict"] == "unchanged"


def test_all_answers_count_by_question_where_the_numbers_of_draws_differ(compared: Any) -> None:
    document = compared(drawn("++", "..", "+."), drawn("++++", "..++", "+..."))

    found, [pair] = measures(document), document["pairs"]
    assert pair["rows"] | {"draws": 0} == {
        "shared": 6, "only_base": 0, "only_head": 6, "data_changed": 0, "draws": 0
    }  # fmt: skip
    assert pair["rows"]["draws"] == {"base": [2, 2], "head": [4, 4]}
    assert found["f1"]["head"] == 0.5
    assert found["f1.pass@1"]["head"] == pytest.approx((1 + 0.5 + 0.25) / 3, abs=1e-6)
    said = "2 answers per question before, 4 after: by rows, each answer is compared with the one of its number, so 6 "
    assert said in to_markdown(document)
    assert "3 questions" in to_markdown(document)


def test_questions_with_too_few_answers_are_not_compared(compared: Any) -> None:
    found = measures(compared(drawn("+.", "++", "+"), drawn("++", "..", "+")))

    assert (found["f1.pass@1"]["n"], found["f1.pass@2"]["n"]) == (3, 2)
    assert found["f1.pass@2"]["unmeasured"]["not_asked"] == 1


def test_answers_that_could_not_be_measured_make_a_question_fail(compared: Any) -> None:
    gate = gate_on("f1", max_unmeasured=1.0)
    found = measures(compared(drawn("+.", "++", "++"), drawn("+-", "..", "++"), gate))["f1.pass@2"]

    assert (found["n"], found["unmeasured"]["failed_head"], found["unmeasured"]["not_asked"]) == (2, 1, 0)


def test_too_many_answers_that_could_not_be_measured_stop_a_guard_by_question(compared: Any) -> None:
    found = compared(drawn(*["++"] * 30), drawn(*["+-"] * 30), gate_on("exact_match", "f1.pass@1"))

    [refused] = [each for each in found["pairs"][0]["refused"] if each["measure"] == "f1.pass@1"]
    assert refused["blocks"]
    assert refused["reason"] == "30 of 60 answers could not be measured after (gate.max_unmeasured)"


def test_that_questions_with_more_answers_weigh_more_is_said(compared: Any) -> None:
    even, uneven = drawn("++", ".."), drawn("++++", "..")

    assert "weigh more by rows" in to_markdown(compared(uneven, uneven))
    assert "weigh more by rows" not in to_markdown(compared(even, even))


def test_a_question_that_asks_something_else_is_left_out(compared: Any) -> None:
    newer = [each | ({"input": "New?"} if each["id"].startswith("q2#") else {}) for each in drawn("++", "..", "+.")]

    found = compared(drawn("++", "..", "+."), newer)

    assert measures(found)["f1.pass@1"]["n"] == 2


def test_a_version_without_draws_cannot_be_compared_by_question(compared: Any) -> None:
    rows = answers("++++..")
    found = compared(rows, rows, gate_on("f1", "f1.pass@2"))

    [refused] = [each for each in found["pairs"][0]["refused"] if each["measure"] == "f1.pass@2"]
    assert refused["blocks"]
    assert "dataset.draw" in refused["reason"]
    assert comparison_lines.outcome(found).status == 2


def test_versions_of_which_one_has_draws_say_so(compared: Any) -> None:
    with pytest.raises(ComparisonError, match="Only b has repeated answers"):
        compared(answers("++.."), drawn("++", "..", "++", ".."))


def test_only_what_is_read_first_is_compared_by_question(compared: Any) -> None:
    rows = drawn("++", "..", label=True)

    found = measures(compared(rows, rows))

    assert {name.partition(".")[0] for name in found if ".pass" in name} == {"f1", "label"}


def test_swapped_versions_have_the_opposite_difference(compared: Any) -> None:
    rng = np.random.default_rng(0)
    older, newer = (drawn(*("".join(rng.choice(["+", "."], 4)) for _ in range(15))) for _ in range(2))

    there, back = measures(compared(older, newer)), measures(compared(newer, older))

    for name, one in there.items():
        assert one["difference"]["value"] == pytest.approx(-back[name]["difference"]["value"])
