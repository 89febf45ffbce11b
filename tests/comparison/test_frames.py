"""Two pandas tables of scores compared: the numbers of the release gate, ids, options, and what is refused."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter import compare
from goldmeter.comparison.of_versions import compare_versions
from goldmeter.errors import ComparisonError, ParamsError
from goldmeter.metrics import scores
from goldmeter.statistics import paired_difference
from goldmeter.wording.verdicts import Decision
from tests.comparison.sample import METRICS, answers, gate, version

BEFORE, AFTER = "+" * 40 + "." * 20, "+" * 25 + "." * 15 + "+" * 5 + "." * 15
IDS = [f"q{i}" for i in range(60)]


def table(text: str, metrics: object = METRICS, **options: object) -> pd.DataFrame:
    rows = answers(text)
    responses, references = [row["response"] for row in rows], [row["references"] for row in rows]
    frame = scores(metrics, responses, references, ids=IDS[: len(rows)], **options)
    return frame.assign(response=responses, input=[row["input"] for row in rows])


def test_the_numbers_are_those_of_the_gate(tmp_path: Path) -> None:
    base, head = version(tmp_path / "base", answers(BEFORE)), version(tmp_path / "head", answers(AFTER))
    [expected] = compare_versions(base, head, gate(metrics={"exact_match": 0.0}))["pairs"]

    compared = compare(
        table(BEFORE), table(AFTER).sample(frac=1, random_state=0), primary="f1", guards={"exact_match": 0.0}
    )

    [pair] = compared.document["pairs"]
    assert pair["flips"] == expected["flips"] | {"worst": pair["flips"]["worst"]}
    assert pair["crossed"] == expected["crossed"]
    for name, entry in expected["measures"].items():
        ours = {key: value for key, value in pair["measures"][name].items() if key != "signature"}
        assert ours == {key: value for key, value in entry.items() if key != "signature"}


def test_a_loss_is_shown_with_its_rows() -> None:
    compared = compare(table(BEFORE), table(AFTER), primary="f1")

    assert (compared.verdict, compared.passes) == (Decision.DO_NOT_SHIP, False)
    measure = compared.measures.loc["f1"]
    expected = paired_difference([-1] * 15 + [1] * 5 + [0] * 40)
    assert measure[["difference", "low", "high"]].tolist() == pytest.approx(expected[:3], abs=1e-6)
    assert (measure["role"], measure["verdict"], measure["n"]) == ("primary", "worse", 60)
    assert compared.measures.loc["bleu", "role"] == "secondary"
    assert set(compared.changed_rows.index) == {*IDS[25:45]}
    assert compared.changed_rows.iloc[0][["lost", "base", "head"]].tolist() == [
        ["f1", "exact_match", "bleu"], "right", "something else",
    ]  # fmt: skip
    assert str(compared).startswith(f"{Decision.DO_NOT_SHIP.capitalize()}: worse by f1, −16.7 points [")
    assert repr(compared) == str(compared)


def test_a_comparison_is_frozen() -> None:
    with pytest.raises(AttributeError):
        compare(table("+."), table("+."), primary="f1").document = None


def test_labels_decide_where_both_tables_have_them() -> None:
    base, head = (table(text).assign(label=[sign == "+" for sign in text]) for text in (BEFORE, AFTER))

    assert compare(base, head).document["primary"] == {"measure": "label", "reason": "human labels of all systems"}


def test_the_judge_decides_only_with_its_domain() -> None:
    judged = [table(text, ["meaning_match"], details=True) for text in ("+" * 20, "." * 20)]
    undecided = [frame.drop(columns="in_domain") for frame in judged]

    assert compare(*judged).measures.loc["meaning_match", "difference"] == -1.0
    assert compare(*undecided).verdict == "undecided"


def test_the_domain_of_the_judge_is_known_without_details() -> None:
    asked = {"references": ["Paris"] * 60, "inputs": ["Capital of France?"] * 60, "ids": IDS}
    base, head = (scores(["meaning_match"], [said] * 60, **asked) for said in ("Paris", "Lyon"))

    assert compare(base, head).measures.loc["meaning_match", "high"] < 0


@pytest.mark.parametrize("details", [False, True])
def test_rows_that_a_metric_does_not_apply_to_block_nothing(details: bool) -> None:
    references = ["4"] * 40 + ["Oslo"] * 20
    base, head = (scores(["number"], [said] * 60, references, ids=IDS, details=details) for said in ("5", "4"))

    compared = compare(base, head, primary="number")

    assert (compared.verdict, compared.measures.loc["number", "n"], compared.refused) == ("ship", 40, {})
    assert compared.measures.index.tolist() == ["number"]


def test_a_threshold_of_a_metric_may_be_another_one() -> None:
    base = scores(["f1"], ["right and more"] * 60, ["right"] * 60, ids=IDS)
    head = scores(["f1"], ["right"] * 60, ["right"] * 60, ids=IDS)

    rates = [compare(base, head, primary="f1", thresholds=each) for each in ({"f1": 0.5}, {"f1": 0.9})]

    assert [rate.measures.loc["f1", "difference"] for rate in rates] == [0.0, 1.0]


def test_names_of_columns_may_be_numbers() -> None:
    base = pd.DataFrame({"id": range(20), 0: True})

    assert compare(base, base.assign(**{"0": False})[["id", "0"]], primary="0").measures.loc["0", "difference"] == -1


def test_plain_columns_are_compared_by_what_is_said_of_them() -> None:
    rng = np.random.default_rng(0)
    base = pd.DataFrame({"key": IDS, "ms": rng.normal(100, 5, 60), "stars": 4.0, "ok": True, "text": "x"})
    head = base.assign(ms=base["ms"] + 20, stars=3.0)
    options = {"bounds": {"stars": (1, 5)}, "thresholds": {"stars": 3.5}, "lower_is_better": ["ms"]}

    compared = compare(base, head, on="key", primary="ms", **options)

    assert compared.measures["verdict"].to_dict() == {"ms": "worse", "stars": "worse", "ok": "cannot tell"}
    assert compared.measures.loc["stars", ["base", "head"]].tolist() == [1.0, 0.0]
    assert compare(base[["key", "ms", "ok"]], head[["key", "ms", "ok"]], on="key", primary="ok").measures.loc[
        "ms", "role"
    ] == ("secondary")


def test_only_equal_answers_are_unchanged() -> None:
    base = pd.DataFrame({"id": IDS, "response": [f"answer {key}" for key in IDS], "ok": True})
    other = base.assign(response=["another one", *base["response"][1:]])

    found = {
        name: compare(base, head, primary="ok")
        for name, head in (("same", base), ("other", other), ("unknown", base.drop(columns="response")))
    }

    assert {name: one.measures.loc["ok", "verdict"] for name, one in found.items()} == {
        "same": "unchanged",
        "other": "cannot tell",
        "unknown": "cannot tell",
    }
    assert [one.verdict for one in found.values()] == ["ship", "undecided", "undecided"]


def test_groups_and_slices() -> None:
    threads = [f"t{i // 6}" for i in range(60)]
    base, head = (table(text).assign(thread=threads, topic=["a", "b"] * 30) for text in (BEFORE, AFTER))

    clustered = compare(base, head, primary="f1", group="thread", slices=["topic"])

    alone, wider = compare(base, head, primary="f1").measures.loc["f1"], clustered.measures.loc["f1"]
    assert wider["high"] - wider["low"] > alone["high"] - alone["low"]
    assert set(clustered.slices["value"]) == {"a", "b"}
    assert clustered.slices["difference"].notna().all()


def test_rows_that_ask_something_else_are_left_out() -> None:
    head = table(AFTER)
    head.loc["q3", "input"] = "Something else?"

    [pair] = compare(table(BEFORE), head, primary="f1").document["pairs"]

    assert (pair["rows"]["shared"], pair["rows"]["data_changed"], pair["data_changed"]) == (59, 1, ["q3"])


def test_different_definitions_are_not_compared() -> None:
    compared = compare(
        table(BEFORE), table(AFTER, {"f1": {"threshold": 0.6}, "exact_match": {}}), primary="exact_match"
    )

    assert "thr was 0.5, is 0.6" in compared.refused["f1"]
    assert compared.refused["bleu"] == "only there before"


@pytest.mark.parametrize(
    ("changed", "options", "message"),
    [
        ({"id": [0] * 60}, {}, "base: id '0' stands in rows 0 and 1"),
        ({"id": [None, *range(59)]}, {}, "base, row 0: the id is missing"),
        ({"id": [f"x{i}" for i in range(60)]}, {}, "no id in common"),
        ({"f1": np.inf}, {}, "base, column f1, id 'q0': inf is no score"),
        ({"f1": 2.0}, {}, "base, column f1, id 'q0': 2 is outside the bounds, 0 to 1"),
        ({"label": 3}, {}, "base, column label, id 'q0': 3 is outside the bounds"),
        ({}, {"on": "key"}, "on: base has no column 'key'"),
        ({}, {"group": "thred"}, "group: base has no column 'thred'"),
        ({}, {"bounds": {"bleu": (0, 2)}}, "bounds: 'bleu' is a metric of goldmeter, which fixes them"),
        ({}, {"lower_is_better": ["bleu"]}, "lower_is_better: 'bleu' is a metric of goldmeter"),
        ({}, {"thresholds": {"f2": 0.5}}, "thresholds: base has no column 'f2'; it has exact_match, f1, "),
    ],
)
def test_tables_that_can_not_be_compared_say_why(changed: dict, options: dict, message: str) -> None:
    with pytest.raises(ComparisonError, match=message):
        compare(table(BEFORE).assign(**changed), table(AFTER), primary="f1", **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "primary: none, but there are neither human labels .*: exact_match, f1, f1.value"),
        ({"primary": "f2"}, "primary: unknown measure 'f2'; allowed: label, exact_match, f1, "),
        ({"primary": "f1", "confidence": 2}, "compare.confidence"),
        ({"primary": "f1", "guards": {"f1": 0}}, "metrics names the primary measure"),
    ],
)
def test_wrong_options_say_what_is_allowed(options: dict, message: str) -> None:
    with pytest.raises(ParamsError, match=message):
        compare(table(BEFORE), table(AFTER), **options)


@pytest.mark.parametrize("wrong", [None, "a", [1], pd.Series([1.0])])
def test_what_is_no_table_is_refused(wrong: object) -> None:
    with pytest.raises(ComparisonError, match="head: expected a pandas DataFrame with one row per id, found "):
        compare(table(BEFORE), wrong, primary="f1")


@given(
    st.lists(st.tuples(st.booleans() | st.none(), st.booleans() | st.none()), min_size=1, max_size=20),
    st.randoms(use_true_random=False),
)
def test_the_order_of_rows_does_not_matter(rows: list[tuple[bool | None, bool | None]], random: object) -> None:
    base, head = (
        pd.DataFrame({"id": range(len(rows)), "ok": pd.array(side, "boolean")}) for side in zip(*rows, strict=True)
    )
    shuffled = head.sample(frac=1, random_state=random.randrange(100))
    if any(None not in row for row in rows) and not (base["ok"].isna().all() or head["ok"].isna().all()):
        assert compare(base, head, primary="ok").document == compare(base, shuffled, primary="ok").document


def test_of_true_and_false_where_less_is_better_false_passes() -> None:
    base, head = (pd.DataFrame({"toxic": [sign == "." for sign in text]}, index=IDS) for text in (BEFORE, AFTER))

    compared = compare(base, head, primary="toxic", lower_is_better=["toxic"])

    assert (compared.verdict, compared.measures.loc["toxic", "difference"]) == (
        Decision.DO_NOT_SHIP,
        pytest.approx(-10 / 60, abs=1e-6),
    )


def test_labels_that_a_design_chose_are_refused() -> None:
    frame = table(BEFORE)

    with pytest.raises(ParamsError, match="labels: 'designed'; expected all, random or other"):
        compare(frame, frame, primary="f1", labels="designed")  # type: ignore[arg-type]
