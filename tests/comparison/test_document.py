"""What a comparison of two versions says, whatever the order of rows, parts, and which version is the older one."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.comparison.gate import Gate
from goldmeter.comparison.of_versions import DEFAULTS, CompareOptions, compare_versions
from goldmeter.estimates.estimates import rounded
from goldmeter.wording import comparison_lines, notes
from tests.comparison.sample import (
    COST,
    GATE,
    LATENCY,
    Row,
    answers,
    change_facts,
    gate,
    gate_on,
    row,
    shuffled,
    version,
)

TEXTS = ["right", "right and more", "something else", "", None, "[red]<script>|\n\x1b[31m", "x" * 200]
TEXT = st.sampled_from(TEXTS)
ANSWERS = st.lists(st.tuples(TEXT, TEXT, st.booleans(), st.sampled_from(["g", "h", None])), min_size=1, max_size=12)
OPPOSITE = {"worse": "better", "better": "worse"}


def compared(
    older: list[Row], newer: list[Row], options: Gate = GATE, request: CompareOptions = DEFAULTS, **made: Any
) -> Any:
    """The comparison of two versions that are made from these rows; it can always be written as JSON."""
    with TemporaryDirectory() as folder:
        found = compare_versions(
            version(Path(folder, "a"), older, **made), version(Path(folder, "b"), newer, **made), options, request
        )
    json.dumps(found, allow_nan=False)
    return found


def measures(document: Any) -> dict[str, Any]:
    """The measures of the only pair of candidates."""
    [pair] = document["pairs"]
    return dict(pair["measures"])


def verdicts(document: Any) -> dict[str, str]:
    return {name: measure["verdict"] for name, measure in measures(document).items()}


def status(document: Any) -> int:
    return comparison_lines.outcome(document).status


def refused(document: Any) -> dict[str, tuple[str, bool]]:
    """Measure → why it was refused and whether that blocks, of the only pair of candidates."""
    [pair] = document["pairs"]
    return {each["measure"]: (each["reason"], each["blocks"]) for each in pair["refused"]}


def sides_of(drawn: list[Any]) -> tuple[list[Row], list[Row]]:
    older = [row(n, a, label=yes, group=g) for n, (a, _, yes, g) in enumerate(drawn)]
    newer = [row(n, b, label=None if a == b else not yes, group=g) for n, (a, b, yes, g) in enumerate(drawn)]
    return older, newer


def test_a_loss_that_chance_does_not_explain_is_worse() -> None:
    found = compared(answers("+" * 60), answers("+" * 35 + "." * 25))

    assert verdicts(found) == dict.fromkeys(["bleu", "exact_match", "f1"], "worse")
    assert (found["failed"], found["blocked"], status(found)) == (True, False, 1)
    difference = measures(found)["f1"]["difference"]
    assert difference["value"] == -0.416667
    assert difference["low"] < -0.416667 < difference["high"] < 0


def test_a_few_losses_cannot_be_told_from_chance_and_fail_only_when_asked() -> None:
    older, newer = answers("+" * 30), answers("+" * 28 + "..")

    shrugged, strict = compared(older, newer), compared(older, newer, gate(fail_on="cannot_tell"))

    assert set(verdicts(shrugged).values()) == {"cannot tell"}
    assert (status(shrugged), status(strict)) == (0, 1)
    needed = measures(shrugged)["f1"]["needed"]
    assert (needed["unit"], needed["difference"]) == ("row", 0.02)
    assert 500 < needed["low"] < needed["high"] < 5000


def test_a_margin_lets_a_small_loss_pass_and_no_large_one() -> None:
    older = answers("+" * 300)

    small = compared(older, answers("+" * 297 + "..."), gate_on("f1", margin=0.05))
    large = compared(older, answers("+" * 250 + "." * 50), gate_on("f1", margin=0.05))

    assert (verdicts(small)["f1"], verdicts(large)["f1"]) == ("no worse", "worse")
    assert measures(large)["f1"]["margin"] == 0.05
    assert measures(small)["f1"]["difference"]["method"].startswith("tango")


def test_with_a_margin_the_rows_that_would_show_or_exclude_such_a_loss_are_counted() -> None:
    found = compared(answers("+" * 200), answers("+" * 194 + "." * 6), gate_on("f1", margin=0.05))

    assert verdicts(found)["f1"] == "cannot tell"
    needed = measures(found)["f1"]["needed"]
    assert needed["difference"] == 0.05
    assert 0 < needed["low"] < needed["high"] < 2000


@pytest.mark.parametrize(
    ("older", "newer", "expected"), [([1.0] * 40, [1.5] * 40, "worse"), ([1.5] * 40, [1.0] * 40, "better")]
)
def test_where_less_is_better_a_rise_is_worse(older: list[float], newer: list[float], expected: str) -> None:
    scored = [
        [row(n, "right", score_ms=each + n % 7 / 10, score_cost=each) for n, each in enumerate(side)]
        for side in (older, newer)
    ]

    found = compared(*scored, gate_on("score_ms", "score_cost"), scores={"score_ms": LATENCY, "score_cost": COST})

    assert {name: verdicts(found)[name] for name in ("score_ms", "score_cost")} == dict.fromkeys(
        ("score_ms", "score_cost"), expected
    )
    assert measures(found)["score_cost"]["higher_is_better"] is False
    assert status(found) == (1 if expected == "worse" else 0)


def test_a_margin_is_a_share_of_the_scale() -> None:
    scored = [[row(n, "right", score_cost=each) for n in range(40)] for each in (1.0, 1.1)]  # of 2: a loss of 5 %

    found = compared(*scored, gate_on("score_cost", margin=0.4), scores={"score_cost": COST})

    assert measures(found)["score_cost"]["margin"] == 0.8
    assert verdicts(found)["score_cost"] == "no worse"


def test_values_are_compared_by_their_own_names() -> None:
    found = compared(
        answers("+" * 60),
        answers("+" * 30 + "." * 30),
        gate_on("bleu.value", "f1.value", "f1"),
    )

    assert list(measures(found)) == ["bleu.value", "f1.value", "f1", "exact_match", "bleu"]
    assert measures(found)["bleu.value"]["difference"]["method"].startswith("jackknife")
    assert set(verdicts(found).values()) == {"worse"}
    assert 0 < measures(found)["bleu.value"]["detectable"] < 1


def test_labels_that_nobody_gave_block_a_gate_that_asks_for_them_and_the_message_lists_what_there_is() -> None:
    found = compared(answers("++"), answers("++"), gate_on("f1", "label"))

    [pair] = found["pairs"]
    [refused] = pair["refused"]
    assert refused["measure"] == "label"
    assert "no such measure; there is bleu, bleu.value, exact_match" in refused["reason"]
    assert (found["blocked"], status(found)) == (True, 2)


@pytest.mark.parametrize("options", [gate_on("bleu"), gate_on("f1", "bleu")])
def test_a_measure_of_the_gate_that_was_dropped_or_is_new_blocks_it(tmp_path: Path, options: Gate) -> None:
    two = version(tmp_path / "two", answers("++"))
    one = version(tmp_path / "one", answers("++"), metrics={"f1": {}})

    dropped, added = compare_versions(two, one, options), compare_versions(one, two, options)

    for found, reason in ((dropped, "only there before"), (added, "only there after")):
        refused = {each["measure"]: each for each in found["pairs"][0]["refused"]}
        assert (refused["bleu"]["reason"], refused["bleu"]["blocks"]) == (reason, True)
        assert refused["exact_match"]["blocks"] is False
        assert status(found) == 2


def test_a_metric_made_otherwise_is_refused_and_its_fields_are_named(tmp_path: Path) -> None:
    older = version(tmp_path / "a", answers("++"))
    newer = version(
        tmp_path / "b", answers("++"), metrics={"exact_match": {}, "f1": {}, "bleu": {"max_order": 2, "threshold": 0.5}}
    )

    found = compare_versions(older, newer, gate_on("f1", "bleu"))

    [pair] = found["pairs"]
    assert list(pair["measures"]) == ["f1", "exact_match"]
    [refused] = pair["refused"]
    assert refused["reason"] == "measured differently: order was 4, is 2"
    assert status(found) == 2
    assert any("--rescore" in note for note in notes.notes(pair))


def test_another_threshold_is_another_pass_rate_and_the_same_value(tmp_path: Path) -> None:
    older = version(tmp_path / "a", answers("++"), metrics={"f1": {"threshold": 0.5}})
    newer = version(tmp_path / "b", answers("++"), metrics={"f1": {"threshold": 0.75}})

    found = compare_versions(older, newer, gate_on("f1.value"))

    assert list(measures(found)) == ["f1.value"]
    assert found["pairs"][0]["refused"][0]["reason"] == "measured differently: thr was 0.5, is 0.75"


def test_a_filter_with_a_bar_in_it_hides_no_other_threshold(tmp_path: Path) -> None:
    older, newer = (version(tmp_path / name, answers("++"), metrics={"f1": {}}) for name in "ab")
    change_facts(older.folder, "lexical", "f1", rate_signature="f1|filters:a|thr:1|thr:0.5")
    change_facts(newer.folder, "lexical", "f1", rate_signature="f1|filters:a|thr:2|thr:0.5")

    found = compare_versions(older, newer, gate_on("f1"))

    assert not measures(found)
    assert found["blocked"]


def test_nothing_to_compare_passes_no_gate() -> None:
    found = compared(answers("----"), answers("----"))

    assert not measures(found)
    expected = comparison_lines.GateOutcome("Undecided: the primary measure could not be compared.", 2)
    assert comparison_lines.outcome(found) == expected


@pytest.mark.parametrize(
    ("older", "newer", "reason", "blocks"),
    [
        ("++++", "----", "not measured after", True),
        ("----", "++++", "not measured before", True),
        ("++--", "--++", "no row is measured both before and after", True),
    ],
)
def test_a_metric_that_one_side_did_not_measure(older: str, newer: str, reason: str, blocks: bool) -> None:
    [pair] = compared(answers(older), answers(newer))["pairs"]

    assert {(each["reason"], each["blocks"]) for each in pair["refused"]} == {(reason, blocks)}
    assert len(pair["refused"]) == 3


def test_rows_that_failed_are_counted_and_bounded() -> None:
    found = measures(compared(answers("++++++-+"), answers("+++++.+-"), gate(max_unmeasured=1.0)))["f1"]

    assert found["n"] == 6
    assert found["unmeasured"] == {
        "not_asked": 0, "failed_base": 1, "failed_head": 1,
        "worst": round(-2 / 8, 6),  # the row that changed, one lost; the other one was right before too
        "best": 0.0,  # one lost; the row without an answer before was wrong then
    }  # fmt: skip
    assert found["difference"]["value"] == round(-1 / 6, 6)


def test_a_row_that_failed_on_both_sides_is_one_row() -> None:
    older, newer = answers("++--+"), answers("+-+-+")
    labels = [True, False, True, None, None]
    labelled = [
        [row | {"label": label, "label_status": "confirmed"} for row, label in zip(rows, labels, strict=True)]
        for rows in (older, newer)
    ]

    [found] = compared(*labelled, gate(max_unmeasured=1.0))["pairs"]

    left = found["measures"]["f1"]["unmeasured"]
    assert (left["failed_base"], left["failed_head"]) == (2, 2)
    assert {name: comparison_lines.failed(found, each) for name, each in found["measures"].items()} == {
        "label": 0, "exact_match": 3, "f1": 3, "bleu": 3,
    }  # fmt: skip


def test_rows_that_failed_are_bounded_by_the_scale_where_less_is_better_and_not_without_one() -> None:
    older, newer = (
        [row(n, "right", **dict.fromkeys(("score_ms", "score_cost"), None if n == last else 1.0)) for n in range(4)]
        for last in (None, 3)
    )
    scores = {"score_ms": LATENCY, "score_cost": COST}

    found = measures(compared(older, newer, gate_on(*scores, max_unmeasured=1.0), scores=scores))

    left = {name: found[name]["unmeasured"] for name in scores}
    assert [one["failed_head"] for one in left.values()] == [1, 1]
    assert {name: (one["worst"], one["best"]) for name, one in left.items()} == {
        "score_ms": (None, None), "score_cost": (0.25, -0.25),
    }  # fmt: skip


def test_a_label_that_was_not_given_is_not_asked() -> None:
    older = answers("++++", label=True)
    newer = [each | {"label": None} if each["id"] == "q0" else each for each in older]

    found = measures(compared(older, newer))["label"]

    assert (found["n"], found["unmeasured"]["not_asked"], found["unmeasured"]["failed_head"]) == (3, 1, 0)


def test_rows_of_one_side_move_the_overall_mean_and_not_the_difference() -> None:
    older = answers("++++") + [row(n, "something else") for n in range(10, 14)]
    newer = answers("++++") + [row(n, "right") for n in range(20, 24)]

    found = compared(older, newer)

    [pair] = found["pairs"]
    assert pair["rows"] == {"shared": 4, "only_base": 4, "only_head": 4, "data_changed": 0}
    assert verdicts(found)["f1"] == "unchanged"
    assert measures(found)["f1"]["split"] == {"base": 0.5, "head": 1.0, "shared": 0.0, "composition": 0.5}


def test_the_parts_of_a_split_add_up() -> None:
    found = measures(compared([*answers("++.++.-+"), row(20, "right")], [*answers(".+.+-+.+"), row(30, "x")]))

    for measure in found.values():
        split = measure["split"]
        assert split["shared"] + split["composition"] == pytest.approx(split["head"] - split["base"], abs=2e-6)


def test_rows_with_changed_data_are_listed_by_id_however_rows_are_ordered() -> None:
    older = answers("+" * 12)
    newer = [each | {"input": "Another?"} if int(each["id"][1:]) > 3 else each for each in answers("+" * 12)]

    three = CompareOptions(changed_rows=3)
    found = [compared(older, rows, GATE, three)["pairs"][0] for rows in (newer, newer[::-1], shuffled(newer, 5))]

    assert found[0]["rows"] == {"shared": 4, "only_base": 0, "only_head": 0, "data_changed": 8}
    assert len(found[0]["data_changed"]) == 3
    assert found[0] == found[1] == found[2]


def test_one_row_can_tell_nothing_and_breaks_nothing() -> None:
    found = compared(answers("+"), answers("."), gate_on("f1", "f1.value", "bleu.value", "exact_match"))

    assert set(verdicts(found).values()) == {"cannot tell"}
    assert {measure["detectable"] for measure in measures(found).values()} == {None}
    assert status(found) == 0


def test_one_cluster_can_tell_nothing() -> None:
    older, newer = answers("+" * 40, group="g"), answers("." * 40, group="g")

    found = compared(older, newer, gate_on("f1", "bleu.value"))

    assert set(verdicts(found).values()) == {"cannot tell"}
    for measure in measures(found).values():
        assert measure["difference"] == {
            "value": -1.0, "low": -1.0, "high": 1.0, "p_value": 1.0, "method": "one cluster: no interval",
            "notes": [],
        }  # fmt: skip


def test_rows_of_a_cluster_are_worth_less_than_loose_ones() -> None:
    def width(group: bool) -> float:
        older, newer = (
            [each | {"group": f"g{n // 6}" if group else None} for n, each in enumerate(answers(text))]
            for text in ("+" * 90, "+" * 60 + "." * 30)
        )
        difference = measures(compared(older, newer))["f1"]["difference"]
        return float(difference["high"] - difference["low"])

    assert width(group=True) > 1.5 * width(group=False)


def test_three_candidates_with_rows_of_their_own_are_one_family() -> None:
    older = answers("+" * 40, "a") + answers("+" * 20, "b") + answers("+.-" * 10, "c")
    newer = answers("." * 40, "a") + answers("+" * 25, "b") + answers("+.+" * 10, "d")

    found = compared(older, newer, request=CompareOptions({"c": "d"}))
    alone = compared(
        [each for each in older if each["candidate"] == "a"], [each for each in newer if each["candidate"] == "a"]
    )

    assert [(pair["base"], pair["head"]) for pair in found["pairs"]] == [("a", "a"), ("b", "b"), ("c", "d")]
    assert [pair["rows"]["shared"] for pair in found["pairs"]] == [40, 20, 30]
    assert found["pairs"][1]["rows"]["only_head"] == 5
    assert found["critical_value"] >= alone["critical_value"]
    assert found["candidates"] == {"only_base": [], "only_head": []}


def test_more_guards_make_their_intervals_wider() -> None:
    older = answers("+" * 60)
    newer = [row(n, "right" if n % 5 else "right and more of it" if n % 2 else "something") for n in range(60)]

    one, many = (
        compared(older, newer, gate_on("bleu", *guards)) for guards in (["f1"], ["f1", "f1.value", "exact_match"])
    )

    widths = [measures(each)["f1"]["difference"] for each in (one, many)]
    assert widths[1]["high"] - widths[1]["low"] > widths[0]["high"] - widths[0]["low"]


def test_slices_are_adjusted_together_and_none_is_one_of_them() -> None:
    older = [row(n, "right", topic="hit" if n % 3 == 0 else None) for n in range(90)]
    newer = [row(n, "wrong" if n % 9 == 0 else "right", topic="hit" if n % 3 == 0 else None) for n in range(90)]

    [pair] = compared(older, newer, gate_on("f1"))["pairs"]

    found = {each["value"]: each for each in pair["slices"]}
    assert {value: (each["n"], each["notable"]) for value, each in found.items()} == {
        "(none)": (60, False),
        "hit": (30, True),
    }
    assert found["hit"]["difference"]["p_value"] == 0.000977  # 10 lost, none gained: 2^-10
    assert found["hit"]["q_value"] == 0.001953  # the smaller of two


def test_the_slices_of_a_row_are_those_of_head() -> None:
    older = answers("+++", topic="old")
    newer = [*answers("+.", topic="new"), row(2, "right", topic="other")]

    [pair] = compared(older, newer)["pairs"]

    assert {each["value"] for each in pair["slices"]} == {"new", "other"}


def test_a_slice_of_all_rows_is_no_slice() -> None:
    [pair] = compared(answers("++"), answers("+."))["pairs"]

    assert pair["slices"] == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_number_is_none(value: float) -> None:
    assert rounded({"a": [value, 0.12345678, -1e-9, 3, "x", None, True]}) == {
        "a": [None, 0.123457, 0.0, 3, "x", None, True]
    }


@pytest.mark.parametrize("groups", [("g", "h"), (None,), ("g",)])
def test_a_version_against_itself_is_unchanged_without_a_flip(groups: tuple[str | None, ...]) -> None:
    rows, _ = sides_of([(text, text, n % 2 == 0, groups[n % len(groups)]) for n, text in enumerate(TEXTS * 2)])

    found = compared(rows, rows, gate_on("label", "f1", "f1.value", "bleu.value", "exact_match"))

    [pair] = found["pairs"]
    assert {measure["verdict"] for measure in pair["measures"].values()} == {"unchanged"}
    assert {measure["difference"]["value"] for measure in pair["measures"].values()} == {0.0}
    assert pair["flips"] == {"rows": 0, "lost": {}, "gained": {}, "worst": []}
    assert not any(each["notable"] for each in pair["slices"])


@given(ANSWERS)
def test_limits_hold_the_value_and_exchanging_the_versions_mirrors_them(drawn: list[Any]) -> None:
    older, newer = sides_of(drawn)
    options = gate_on("label", "f1", "f1.value", "bleu.value", "exact_match")

    there, back = measures(compared(older, newer, options)), measures(compared(newer, older, options))

    assert list(there) == list(back)
    for name, one in there.items():
        other = back[name]
        mirrored = {
            "value": -one["difference"]["value"],
            "low": -one["difference"]["high"],
            "high": -one["difference"]["low"],
        }
        assert {key: other["difference"][key] for key in mirrored} == pytest.approx(mirrored, abs=2e-6)
        assert other["verdict"] == OPPOSITE.get(one["verdict"], one["verdict"])
        assert (one["base"], one["head"], one["n"]) == (other["head"], other["base"], other["n"])
        assert one["difference"]["low"] <= one["difference"]["value"] <= one["difference"]["high"], name
        assert (one["verdict"] == "worse") == (one["difference"]["high"] < 0)
        assert one["unmeasured"]["worst"] is None or one["unmeasured"]["worst"] <= one["unmeasured"]["best"]


TER: dict[str, dict[str, Any]] = {
    "ter": {},
    "ter_gated": {"metric": "ter", "threshold": 0.5},
    "bleu": {"threshold": 0.5},
}


def translations(wrong: int) -> list[Row]:
    """60 translations of ten words each, of which in every third that many words are wrong."""
    words = [f"w{place}" for place in range(10)]
    said = [" ".join(["x"] * (wrong * (n % 3 == 0)) + words[wrong * (n % 3 == 0) :]) for n in range(60)]
    return [row(n, text, references=[" ".join(words)]) for n, text in enumerate(said)]


def test_more_errors_are_worse_and_are_compared_by_the_score_of_all_rows() -> None:
    gate = gate_on("ter", "ter_gated", "ter_gated.value")

    found = compared(translations(1), translations(6), gate, metrics=TER)

    assert verdicts(found) == dict.fromkeys(["bleu", "ter", "ter_gated", "ter_gated.value"], "worse")
    assert measures(found)["ter"]["difference"]["value"] == round(100 / 600, 6)
    assert "jackknife" in measures(found)["ter"]["difference"]["method"]
    assert measures(found)["ter_gated"]["difference"]["value"] == round(-1 / 3, 6)
    assert (found["failed"], found["primary"]["measure"]) == (True, "ter")
    assert "ter.value" not in measures(found)
    back = compared(translations(6), translations(1), gate, metrics=TER)
    assert (measures(back)["ter"]["verdict"], status(back)) == ("better", 0)
