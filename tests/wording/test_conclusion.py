"""The conclusion of a run: one sentence by the primary measure, which claims no more than the headlines do."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.wording.comparison_document import JudgeError
from goldmeter.wording.conclusion import conclude

LABELS, OFFLINE = "human labels", "the offline judge"
NO_CLAIM = "by gpt; its error on your data is not known, so no claim. 50 human labels would give ±11 points."


def headline(value: float | None, *, by: str = LABELS, status: str = "measured", note: str = "") -> dict[str, Any]:
    low, high = (None, None) if value is None or status == "unknown" else (value - 0.05, value + 0.05)
    measure = "label" if by == LABELS else "meaning_match"
    limits = {"value": value, "low": low, "high": high}
    return {"measure": measure, **limits, "n": 200, "by": by, "status": status, "note": note}


def pair(base: str, head: str, low: float, high: float, *, needed: int | None = None, **more: Any) -> dict[str, Any]:
    difference = {"value": (low + high) / 2, "low": low, "high": high, "notes": more.pop("notes", [])}
    entry = {"difference": difference, "unit": "points", "higher_is_better": True, "margin": 0.0}
    entry["n"] = 200
    entry["needed"] = needed and {"unit": "labelled row", "difference": 0.02, "low": needed, "high": 2 * needed}
    return {"base": base, "head": head, "measures": {more.pop("measure", "label"): entry | more}}


def document(headlines: dict[str, Any], pairs: Any = (), leaders: Any = None, **more: Any) -> Any:
    measure = next(iter(headlines.values()))["measure"]
    rated: dict[str, Any] = {"signature": "meaning_match|provider:offline", "pass_rate": {}} | labelled(0, 200)
    return {
        "confidence": 0.95,
        "joint_confidence": 0.95,
        "primary": {"measure": measure, "reason": "named in gate.primary"},
        "candidates": {name: {measure: rated} for name in headlines},
        "headlines": headlines,
        "leaders": {"names": [*headlines] if leaders is None else leaders},
        "comparisons": pairs,
    } | more


def sentence(*arguments: Any, **more: Any) -> str:
    found = conclude(document(*arguments, **more))
    assert found is not None
    return f"{found.sentence} {found.more}".strip()


THREE = {"gpt4": headline(0.81), "chatgpt": headline(0.74), "newbing": headline(0.82)}


def test_two_that_cannot_be_told_apart() -> None:
    two = {"aurora": headline(0.787), "borealis": headline(0.857)}

    assert sentence(two, [pair("aurora", "borealis", -0.038, 0.178, needed=873)]) == (
        "borealis and aurora cannot be told apart by human labels: +7.0 points [−3.8, +17.8]. "
        "880 to 1,800 more labelled rows could detect a difference of 2 points."
    )


@pytest.mark.parametrize("turned", [False, True])
def test_one_that_is_better_than_the_other_whichever_is_the_base(turned: bool) -> None:
    two = {"aurora": headline(0.7), "borealis": headline(0.8)}
    compared = pair("borealis", "aurora", -0.15, -0.05) if turned else pair("aurora", "borealis", 0.05, 0.15)

    assert sentence(two, [compared], ["borealis"]) == (
        "borealis is better than aurora by human labels: +10.0 points [+5.0, +15.0]."
    )


@pytest.mark.parametrize(
    ("counts", "n", "shared"),
    [((198, 200), 198, ", 198 shared rows"), ((200, 200), 180, ", 180 shared rows"), ((90, 90), 90, "")],
)
def test_a_difference_of_other_rows_than_the_rates_says_of_how_many(
    counts: tuple[int, int], n: int, shared: str
) -> None:
    two = {"aurora": headline(0.787) | {"n": counts[0]}, "borealis": headline(0.858) | {"n": counts[1]}}

    said = sentence(two, [pair("aurora", "borealis", 0.001, 0.139, n=n)], ["borealis"])

    assert said == f"borealis is better than aurora by human labels: +7.0 points [+0.1, +13.9]{shared}."


def test_a_difference_by_a_named_judge_is_not_said_to_be_by_the_labels_of_the_rates() -> None:
    two = {"aurora": headline(0.7), "borealis": headline(0.7)}
    named = {"measure": "meaning_match", "reason": "named in gate.primary"}
    rated = {
        "label": {"pass_rate": {}} | labelled(0, 200),
        "meaning_match": {"signature": "meaning_match|provider:offline"},
    }
    candidates = dict.fromkeys(two, rated)
    compared = pair("aurora", "borealis", 0.05, 0.15, measure="meaning_match")

    assert sentence(two, [compared], ["borealis"], primary=named, candidates=candidates) == (
        "borealis is better than aurora by the offline judge: +10.0 points [+5.0, +15.0]."
    )


def test_three_of_which_each_is_worse_than_another_one_allow_no_conclusion() -> None:
    pairs = [pair("gpt4", "chatgpt", 0.1, 0.2), pair("chatgpt", "newbing", 0.1, 0.2), pair("newbing", "gpt4", 0.1, 0.2)]

    assert sentence(THREE, pairs, []) == "No conclusion: each candidate is worse than another one by human labels."


def test_all_that_cannot_be_told_apart_from_the_best_are_named_together() -> None:
    pairs = [
        pair("gpt4", "chatgpt", -0.11, -0.03),
        pair("gpt4", "newbing", -0.03, 0.05, needed=9_000),
        pair("chatgpt", "newbing", 0.04, 0.12),
    ]

    assert sentence(THREE, pairs, ["gpt4", "newbing"]) == (
        "newbing and gpt4 cannot be told apart by human labels: +1.0 points [−3.0, +5.0]. "
        "In brackets: the simultaneous 95 % interval. "
        "Significantly worse: chatgpt (than gpt4 and newbing). "
        "9,000 to 18,000 more labelled rows could detect a difference of 2 points."
    )


def test_one_leader_of_three_and_none() -> None:
    pairs = [
        pair("gpt4", "chatgpt", -0.11, -0.03),
        pair("gpt4", "newbing", 0.01, 0.05),
        pair("chatgpt", "newbing", 0.04, 0.12),
    ]

    assert sentence(THREE, pairs, ["newbing"]) == (
        "newbing leads by human labels: +3.0 points [+1.0, +5.0] over gpt4. "
        "In brackets: the simultaneous 95 % interval. It is better than every other candidate."
    )
    assert sentence(THREE, pairs) == "newbing, gpt4 and chatgpt cannot be told apart by human labels."
    needed = [pair(one["base"], one["head"], -0.1, 0.1, needed=1_000 + n) for n, one in enumerate(pairs)]
    assert sentence(THREE, needed).endswith(
        " by human labels. 1,100 to 2,100 more labelled rows could detect a difference of 2 points."
    )


def test_pairs_that_were_not_compared_allow_no_conclusion() -> None:
    assert sentence(THREE, [pair("gpt4", "newbing", -0.01, 0.05)]) == (
        "No conclusion: not all of newbing, gpt4 and chatgpt could be compared by human labels."
    )


def test_candidates_that_could_not_be_compared_are_named_with_the_reason() -> None:
    refused = {"measure": "label", "role": "primary", "reason": "no row is measured in both", "blocks": True}
    pairs = [{"base": "a", "head": "b", "measures": {}, "refused": [refused]}]

    assert sentence({"a": headline(0.8), "b": headline(0.7)}, pairs) == (
        "No conclusion: not all of a and b could be compared by human labels. "
        "Not compared: a and b: no row is measured in both."
    )


def test_of_many_candidates_a_sentence_names_the_first() -> None:
    many = {f"c{n}": headline(0.9 - n / 100) for n in range(9)}
    pairs = [pair(f"c{n}", f"c{m}", -0.1, 0.1) for n in range(9) for m in range(n + 1, 9)]

    assert sentence(many, pairs) == "c0, c1, c2 and 6 more cannot be told apart by human labels."


def test_a_single_candidate() -> None:
    assert sentence({"aurora": headline(0.8)}) == (
        "aurora is right in 80.0 % [75.0, 85.0] of 200 answers by human labels."
    )
    estimated = headline(0.8, by=OFFLINE, status="estimated")
    assert "The judge is not checked on your data." in sentence({"aurora": estimated})


def test_a_judge_without_a_known_error_claims_nothing() -> None:
    unknown = {name: headline(0.8, by="gpt", status="unknown", note=NO_CLAIM) for name in ("aurora", "borealis")}
    found = conclude(document(unknown, [pair("aurora", "borealis", 0.1, 0.2, measure="meaning_match")], ["borealis"]))

    assert found is not None
    assert found.sentence == "No conclusion: which candidate is better is not known."
    assert found.reason.startswith("By gpt; its error on your data is not known, so no claim. 50 human labels")
    assert [(one.value, one.limits, one.is_known) for one in found.rates] == [("unknown", "gpt says 80.0 %", False)] * 2
    assert not found.is_known


@pytest.mark.parametrize(
    ("measured", "named"),
    [({"accuracy": 20, "f1": 20}, "accuracy"), ({"accuracy": 0, "f1": 20}, "f1"), ({"other": 20}, None)],
)
def test_without_a_conclusion_a_command_names_a_metric_that_would_give_one(
    measured: dict[str, int], named: str | None
) -> None:
    unknown = document({"aurora": headline(0.8, by="gpt", status="unknown", note=NO_CLAIM)})
    unknown["candidates"]["aurora"] |= {name: {"n": n} for name, n in measured.items()}

    found = conclude(unknown)

    assert found is not None
    assert found.reason.partition("dvc exp run -S ++gate.primary=")[2].partition(" ")[0] == (named or "")


def test_an_interval_with_the_judges_error_needs_labels_and_no_more_rows() -> None:
    two = {name: headline(0.8, by=OFFLINE, status="estimated") for name in ("aurora", "borealis")}
    compared = pair("aurora", "borealis", -0.1, 0.2, measure="meaning_match", notes=[JudgeError.ELSEWHERE])

    assert sentence(two, [compared]) == (
        "aurora and borealis cannot be told apart by the offline judge: −5.0 points [−20.0, +10.0]. "
        "Only human labels can decide it: the intervals include the "
        "judge's error. The judge is not checked on your data."
    )


def test_labels_of_nearly_all_answers_are_no_reason_to_ask_for_labels() -> None:
    two = {name: headline(0.8, by=OFFLINE, status="estimated") for name in ("aurora", "borealis")}
    compared = pair("aurora", "borealis", -0.1, 0.2, measure="meaning_match", notes=[JudgeError.ELSEWHERE])
    rated = {"meaning_match": {"signature": "meaning_match|provider:offline", "pass_rate": {}}}
    labels = {"aurora": labelled(300, 1), "borealis": labelled(274, 25, failed=2)}
    found = conclude(
        document(two, [compared], candidates={name: rated | {"label": one} for name, one in labels.items()})
    )

    assert found is not None
    assert found.more == (
        "Human labels can "
        "decide it: 28 of 602 answers have no current label; label them, or name label in gate.primary to go by those "
        "with labels alone. The judge is not corrected by your labels."
    )
    assert found.rates[0].basis == "the offline judge, not corrected by your labels, 200 answers"

    labels["borealis"] = labelled(260, 41)
    few = sentence(two, [compared], candidates={name: rated | {"label": one} for name, one in labels.items()})
    assert "Only human labels can decide it: the intervals include the judge's error." in few


def labelled(n: int, unlabelled: int, failed: int = 0) -> dict[str, Any]:
    return {"n": n, "n_not_asked": unlabelled, "n_failed": failed}


def test_rates_stand_in_their_order_and_say_who_gave_them() -> None:
    combined = headline(0.9, by=f"{LABELS} and {OFFLINE}") | {"measure": "label"}
    powered = labelled(200, 60) | {"ppi": {"n": 200, "n_rest": 60}, "pass_rate": {}}
    candidates = {"a": {}, "b": {"label": powered}, "c": {}}
    headlines = {"a": headline(0.7), "b": combined, "c": headline(None)}
    found = conclude(document(headlines, [pair("a", "b", 0.1, 0.3)], ["b"], candidates=candidates))

    assert found is not None
    assert [(one.candidate, one.value, one.limits, one.basis) for one in found.rates] == [
        ("b", "90.0 %", "85.0 % to 95.0 %", "human labels and the offline judge, 200 of 260 answers labelled"),
        ("a", "70.0 %", "65.0 % to 75.0 %", "human labels, 200 answers"),
    ]
    assert found.missing == ["c"]
    assert found.sentence.startswith("b is better than a by human labels: +20.0 points")


def test_verdicts_on_a_target_by_candidate() -> None:
    verdicts = {"aurora": "met", "borealis": "undecided", "corona": "met"}
    targets = {name: {"label": {"target": 0.75, "verdict": verdict}} for name, verdict in verdicts.items()}
    found = conclude(document({name: headline(0.8) for name in verdicts}, targets=targets))

    assert found is not None
    assert [(one.text, one.verdicts) for one in found.targets] == [
        ("label ≥ 75.0 %", {"met": ["aurora", "corona"], "undecided": ["borealis"]})
    ]


def test_a_score_is_no_share_of_answers() -> None:
    entry = headline(0.456) | {"measure": "meteor.value", "by": "meteor.value"}
    found = conclude(document({"aurora": entry}, candidates={"aurora": {"meteor": {"signature": "meteor|v:1"}}}))

    assert found is not None
    assert found.sentence == "aurora reaches 0.456 [0.406, 0.506] by meteor.value, of 200 answers."
    assert found.failures_title == "Answers that fail meteor, by kind"


def test_a_document_without_headlines_has_no_conclusion() -> None:
    assert conclude({"candidates": {}}) is None  # type: ignore[typeddict-item]


@given(st.lists(st.text(min_size=1, max_size=90), min_size=1, max_size=9, unique=True), st.data())
def test_whatever_the_headlines_a_leader_is_only_named_where_all_rates_are_known(names: list[str], data: Any) -> None:
    statuses = [data.draw(st.sampled_from(["measured", "estimated", "unknown"])) for _ in names]
    values = [data.draw(st.none() | st.floats(0, 1)) for _ in names]
    shown = {
        name: headline(value, by=OFFLINE, status=status, note="no claim") | {"measure": "label"}
        for name, value, status in zip(names, values, statuses, strict=True)
    }
    pairs = [pair(one, other, -0.1, 0.1) for n, one in enumerate(names) for other in names[n + 1 :]]

    found = conclude(document(shown, pairs))

    assert found is not None
    unknown = [
        status for value, status in zip(values, statuses, strict=True) if value is not None and status == "unknown"
    ]
    assert found.is_known == (not unknown and any(value is not None for value in values))
    assert found.sentence.startswith("No conclusion") == (not found.is_known)


@pytest.mark.parametrize(
    ("is_decided", "says"),
    [(True, "until which is best was decided"), (False, "until more rows could not decide which is best")],
)
def test_a_judge_that_stopped_says_whether_the_best_was_decided(is_decided: bool, says: str) -> None:
    stopped = {"decided": is_decided, "rows": 100, "rows_left": 40, "calls_left": 40}
    made = document({"a": headline(0.9), "b": headline(0.5)}, [pair("a", "b", -0.5, -0.1)], stopped=stopped)

    assert says in conclude(made).more
