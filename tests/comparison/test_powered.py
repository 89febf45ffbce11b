"""Differences by human labels on a random part of the rows, and by a judge that no label checks."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from goldmeter.comparison import candidate_pairs
from goldmeter.comparison.compared import Compared
from goldmeter.comparison.differences import family, uncorrected, with_judge_error
from goldmeter.comparison.gate import shared_primary
from goldmeter.comparison.pairing import Pairing, pair, pair_questions
from goldmeter.comparison.powered import by_some_labels
from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import Candidate, ScoreColumn, Slices
from goldmeter.estimates.headline import leaders
from goldmeter.estimates.primary import Primary
from goldmeter.estimates.repeated_answers import by_question
from goldmeter.wording.comparison_document import JudgeError
from goldmeter.wording.comparison_lines import failed
from goldmeter.wording.verdicts import Verdict
from tests.comparison.sample import GATE

LABEL = ColumnFacts("label", "dataset", "label|v:1", (0.0, 1.0), rate_signature="label|v:1|pass:1")
MATCH = replace(LABEL, metric="meaning_match", family="judge", signature="meaning_match|v:1")
OFFLINE = "meaning_match|provider:offline|model:x|v:1"
ROWS = 600
KEYS = np.arange(ROWS, dtype=np.uint64)


def candidate(name: str, truth: np.ndarray, labelled: np.ndarray, *, random: bool, groups: bool = False) -> Candidate:
    """A candidate whose judge errs on every tenth row."""
    verdicts = np.where(np.arange(ROWS) % 10 == 3, 1.0 - truth, truth)
    label = np.where(labelled, truth, np.nan)
    columns = [
        ScoreColumn("label", label, ~labelled, LABEL.passes(label), None, LABEL),
        ScoreColumn("meaning_match", verdicts, np.zeros(ROWS, np.bool_), MATCH.passes(verdicts), None, MATCH),
    ]
    clusters = np.arange(ROWS) // 3 if groups else None
    return Candidate(
        name, np.arange(ROWS, dtype=np.uint64), np.arange(ROWS), columns, clusters, {}, labels_random=random
    )


def designed(*, same: bool, head_random: bool = True, groups: bool = False) -> list[Any]:
    """The paired rows of two candidates whose labelled rows a design chose; same: one design for both."""
    rng = np.random.default_rng(4)
    chosen = rng.random(ROWS) < 0.3
    sides = []
    for name, p in (("a", 0.6), ("b", 0.75)):
        if not same:
            chosen = rng.random(ROWS) < 0.3
        truth = (rng.random(ROWS) < p).astype(float)
        one = candidate(name, truth, chosen, random=True, groups=groups)
        sides.append(replace(one, label_probability=np.where(chosen, 0.3, np.nan)))
    if not head_random:
        sides[1] = replace(sides[1], labels_random=False, label_probability=None)
    return [[pair(*sides)]]


def compared(pairs: list[Any], primary: str | None = None) -> tuple[Primary, candidate_pairs.Families, Any]:
    gate = GATE.model_copy(update={"primary": primary, "metrics": {}})
    chosen = shared_primary(pairs, gate, random=True)
    families = candidate_pairs.compare(pairs, gate, chosen.name)
    [entry] = candidate_pairs.entries(families, pairs)
    return chosen, families, entry


@pytest.mark.parametrize("groups", [False, True])
def test_labels_of_one_design_decide_and_count_for_the_rows_that_they_stand_for(groups: bool) -> None:
    chosen, families, entry = compared(designed(same=True, groups=groups))

    measure = entry["measures"]["label"]
    assert (chosen.name, measure["role"], measure["verdict"]) == ("label", "primary", "better")
    assert measure["difference"]["method"].startswith("designed")
    assert measure["difference"]["value"] == pytest.approx(measure["head"] - measure["base"], abs=1e-6)
    assert measure["difference"]["low"] < 0.15 < measure["difference"]["high"]
    assert measure["split"]["composition"] == 0.0
    # What is counted over rows with both labels is not that of all rows.
    assert (entry["crossed"], measure["detectable"], measure["needed"]) == (None, None, None)
    assert not families.blocked


def test_labels_of_two_designs_are_compared_if_the_gate_goes_by_them() -> None:
    _, families, entry = compared(designed(same=False), "label")

    measure = entry["measures"]["label"]
    assert not families.blocked
    assert measure["difference"]["method"].startswith("designed")
    assert failed(entry, measure) == 0
    assert (measure["unmeasured"]["worst"], measure["unmeasured"]["best"]) == (None, None)
    assert compared(designed(same=False))[0].name == "meaning_match"  # labels of BASE that HEAD lacks


def test_labels_of_a_design_and_of_selected_rows_are_not_compared() -> None:
    _, families, entry = compared(designed(same=True, head_random=False), "label")

    assert families.blocked
    assert [one["reason"] for one in entry["refused"] if one["measure"] == "label"] == [
        "a design chose the labelled rows of one version, those of the other were not chosen at random"
    ]


def test_slices_have_no_differences_of_labels_that_a_design_chose() -> None:
    [[pairing]] = designed(same=True)
    half = {"topic": Slices(["x", "y"], np.arange(ROWS) % 2)}
    pairs = [[pair(replace(pairing.base, slices=half), replace(pairing.head, slices=half))]]
    gate = GATE.model_copy(update={"primary": "label", "metrics": {}})
    families = candidate_pairs.compare(pairs, gate, "label")

    [slices] = candidate_pairs.slice_entries(families, pairs, gate)
    assert {one["measure"] for one in slices} == {"meaning_match"}


def test_labels_of_a_design_in_one_group_have_no_interval() -> None:
    [[pairing]] = designed(same=True)
    one = np.zeros(ROWS, np.intp)
    both = pair(replace(pairing.base, groups=one), replace(pairing.head, groups=one))

    found = by_some_labels(Compared([both], "label"), 0.95)

    assert found is not None

    assert (found.low, found.high, found.p_value) == (-1.0, 1.0, 1.0)


def labels(*, part: float = 0.2, random: bool = True, groups: bool = False, rate: float = 0.75) -> Compared:
    rng = np.random.default_rng(4)
    base, head = (rng.random(ROWS) < p for p in (0.6, rate))
    labelled = rng.random(ROWS) < part
    both = (
        candidate(name, y.astype(float), labelled, random=random, groups=groups)
        for name, y in (("a", base), ("b", head))
    )
    pairing = pair(*both)
    return Compared([pairing], "label")


@pytest.mark.parametrize("groups", [False, True])
def test_a_random_part_is_combined_with_the_other_measures(groups: bool) -> None:
    one = labels(groups=groups)

    estimate, alone = by_some_labels(one, 0.95), uncorrected(one, 0.95)

    assert estimate is not None
    assert str(estimate.method) == "ppi"
    assert estimate.value == estimate.head - estimate.base
    assert estimate.high - estimate.low < 0.8 * (alone.high - alone.low)
    assert estimate.n == one.n


@pytest.mark.parametrize("changed", [{"random": False}, {"part": 1.1}, {"part": 0.01}])
def test_labels_that_were_selected_or_are_on_all_or_hardly_any_rows_stay_alone(changed: dict[str, float]) -> None:
    assert by_some_labels(labels(**changed), 0.95) is None  # type: ignore[arg-type]


def test_other_measures_stay_as_they_are() -> None:
    assert by_some_labels(judged(labels().blocks[0]), 0.95) is None


def verdicts(
    *, lost: int, gained: int, outside: float = 0.0, signature: str = OFFLINE, labelled: bool = False, changed: int = 0
) -> Compared:
    """The offline judge's verdicts of two candidates: of 600 rows some pass in BASE alone, some in HEAD alone.

    changed: how many of the last rows have another answer in HEAD; rows with another verdict always have.
    """
    base, head = np.zeros(ROWS), np.zeros(ROWS)
    base[:300] = head[:300] = 1.0
    head[:lost], head[300 : 300 + gained] = 0.0, 1.0
    facts = replace(MATCH, signature=signature, rate_signature=f"{signature}|pass:1")
    domain = np.arange(ROWS) < outside * ROWS
    both = []
    reworded = (np.arange(ROWS) >= ROWS - changed) | (base != head)
    for name, values in (("a", base), ("b", head)):
        columns = [ScoreColumn("meaning_match", values, np.zeros(ROWS, np.bool_), facts.passes(values), None, facts)]
        if labelled:
            columns.append(ScoreColumn("label", values, np.zeros(ROWS, np.bool_), LABEL.passes(values), None, LABEL))
        answers = np.where(reworded & (name == "b"), KEYS + np.uint64(ROWS), KEYS)
        both.append(Candidate(name, KEYS, np.arange(ROWS), columns, None, {}, outside=domain, answers=answers))
    return judged(pair(*both))


def judged(pairing: Pairing) -> Compared:
    return Compared([pairing], "meaning_match")


def test_a_difference_by_the_offline_judge_alone_includes_its_error() -> None:
    one = verdicts(lost=50, gained=150, changed=600)

    alone = uncorrected(one, 0.95)
    estimate = with_judge_error(one, alone, 0.95)

    assert estimate.value == alone.value
    assert estimate.low < alone.low - 0.015
    assert estimate.high > alone.high + 0.015
    assert (estimate.p_value < 0.05) == (estimate.low > 0.0)


def test_few_changed_rows_have_little_of_the_judges_error() -> None:
    one = verdicts(lost=2, gained=30)

    alone = uncorrected(one, 0.95)
    estimate = with_judge_error(one, alone, 0.95)

    assert alone.high - alone.low < estimate.high - estimate.low < 1.6 * (alone.high - alone.low)
    assert estimate.low > 0.0


def test_by_question_the_offline_judges_error_is_measured_for_one_draw_only() -> None:
    rows = verdicts(lost=50, gained=150, changed=600).blocks[0]
    questions = KEYS % np.uint64(100)
    base, head = (replace(side, questions=questions) for side in (rows.base, rows.head))
    by = (by_question(side, (1, 5), ["meaning_match"]) for side in (base, head))
    pairing = pair_questions(pair(base, head), *by)
    assert pairing is not None
    one, several = (Compared([pairing], name) for name in ("meaning_match.pass@1", "meaning_match.pass@5"))

    alone, with_error = uncorrected(one, 0.95), with_judge_error(one, uncorrected(one, 0.95), 0.95)
    stated = with_judge_error(several, uncorrected(several, 0.95), 0.95)

    assert with_error.high - with_error.low > alone.high - alone.low
    assert str(with_error.method).endswith("judge's error on other data")
    assert stated.method.notes == (JudgeError.STATED,)


@pytest.mark.parametrize("judge", ["openai|model:m", "cascade|model:m", "openai|panel:2|model:m+n"])
def test_a_judge_that_was_not_measured_has_a_stated_error(judge: str) -> None:
    measured = verdicts(lost=50, gained=150, changed=600)
    one = verdicts(lost=50, gained=150, changed=600, outside=0.5, signature=f"meaning_match|provider:{judge}")

    known, stated = (with_judge_error(each, uncorrected(each, 0.95), 0.95) for each in (measured, one))

    assert stated.low < known.low
    assert stated.method.notes == (JudgeError.STATED,)


@pytest.mark.parametrize("n", [100, 300, 1000])
@pytest.mark.parametrize("labelled", [0, 50, 100])
def test_a_model_that_fails_some_right_answers_of_the_new_system_alone_refuses_no_equal_one(
    n: int, labelled: int
) -> None:
    """Both systems answer the same rows right; the judge fails 8 % of the new system's right answers."""
    rng, refused, draws = np.random.default_rng(n + labelled), 0, 40
    facts = replace(MATCH, signature="meaning_match|provider:openai|model:m")
    for _ in range(draws):
        truth = (rng.random(n) < 0.8).astype(float)
        some = rng.permutation(n) < labelled
        label = np.where(some, truth, np.nan)
        sides = []
        for name, verdict in (("a", truth), ("b", truth * (rng.random(n) >= 0.08))):
            columns = [
                ScoreColumn("label", label, ~some, LABEL.passes(label), None, LABEL),
                ScoreColumn("meaning_match", verdict, np.zeros(n, np.bool_), facts.passes(verdict), None, facts),
            ]
            keys = np.arange(n, dtype=np.uint64)
            answers = keys + np.uint64(n if name == "b" else 0)
            sides.append(Candidate(name, keys, np.arange(n), columns, None, {}, labels_random=True, answers=answers))
        [[difference], _] = family([Compared([pair(*sides)], "label" if labelled else "meaning_match")], [0.0], 0.95)
        refused += difference.verdict == Verdict.WORSE

    assert refused <= 0.05 * draws


@pytest.mark.parametrize("outside", [0.0, 1.0])
@pytest.mark.parametrize("right", [0.0, 1.0])
def test_verdicts_that_are_all_equal_narrow_nothing(right: float, outside: float) -> None:
    some = labels(part=0.1).blocks[0]
    facts = replace(MATCH, signature=OFFLINE, rate_signature=f"{OFFLINE}|pass:1")
    same = np.full(ROWS, right)
    verdict = ScoreColumn("meaning_match", same, np.zeros(ROWS, np.bool_), facts.passes(same), None, facts)
    sides = [
        replace(
            side,
            columns=[side.columns[0], verdict],
            answers=KEYS + np.uint64(ROWS * number),
            outside=np.full(ROWS, bool(outside)),
        )
        for number, side in enumerate((some.base, some.head))
    ]
    paired = pair(*sides)

    [[found], _] = family([Compared([paired], "label")], [0.0], 0.95)
    alone = by_some_labels(Compared([paired], "label"), 0.95)
    without = with_judge_error(judged(paired), uncorrected(judged(paired), 0.95), 0.95)

    assert alone is not None
    assert (found.estimate.low, found.estimate.high) == (alone.low, alone.high)
    assert (without.low, without.high) == (-1.0, 1.0)


def test_ten_random_labels_take_no_error_of_the_judge_away() -> None:
    both = verdicts(lost=50, gained=150, changed=600).blocks[0]
    ten = np.arange(ROWS) < 10
    label = np.where(ten, 1.0, np.nan)
    sides = [
        replace(
            side,
            columns=[*side.columns, ScoreColumn("label", label, ~ten, LABEL.passes(label), None, LABEL)],
            labels_random=True,
        )
        for side in (both.base, both.head)
    ]
    one = judged(pair(*sides))

    assert with_judge_error(one, alone := uncorrected(one, 0.95), 0.95).low < alone.low - 0.015


@pytest.mark.parametrize("chosen", [{"labelled": True}, {"lost": 0, "gained": 0}])
def test_labels_and_equal_answers_leave_a_difference_as_it_is(chosen: dict[str, Any]) -> None:
    one = verdicts(**{"lost": 20, "gained": 60, **chosen})

    assert with_judge_error(one, alone := uncorrected(one, 0.95), 0.95) == alone


@pytest.mark.parametrize(("random", "lost"), [(False, 20), (True, 250)])
def test_labels_that_changed_answers_lack_do_not_check_the_judge(random: bool, lost: int) -> None:
    both = verdicts(lost=50, gained=150, changed=600, labelled=True).blocks[0]
    *scores, label = both.head.columns
    left = replace(label, values=np.where(np.arange(ROWS) < lost, np.nan, label.values))
    head = replace(both.head, columns=[*scores, left], labels_random=random)

    one = judged(pair(replace(both.base, labels_random=random), head))

    assert with_judge_error(one, alone := uncorrected(one, 0.95), 0.95).low < alone.low - 0.015


def test_a_judge_of_a_sample_beside_no_other_measure_has_its_whole_error() -> None:
    both = verdicts(lost=50, gained=150).blocks[0]
    unsampled = np.arange(ROWS) % 2 == 0

    def sampled(one: Candidate) -> Candidate:
        [judge] = one.columns
        return replace(
            one, columns=[replace(judge, values=np.where(unsampled, np.nan, judge.values), not_asked=unsampled)]
        )

    one = judged(pair(sampled(both.base), sampled(both.head)))

    assert with_judge_error(one, alone := uncorrected(one, 0.95), 0.95).low < alone.low - 0.015


def test_outside_the_judges_domain_a_difference_decides_nothing() -> None:
    one = verdicts(lost=0, gained=200, outside=0.2)

    estimate = with_judge_error(one, uncorrected(one, 0.95), 0.95)

    assert (estimate.low, estimate.high, estimate.p_value) == (-1.0, 1.0, 1.0)


@pytest.mark.exhaustive
def test_the_best_candidate_is_among_the_leaders_as_often_as_the_comparisons_promise() -> None:
    rng = np.random.default_rng(7)
    kept, small, draws = 0, 0, 300
    for _ in range(draws):
        ability, difficulty = np.array([0.8, 0.79, 0.78, 0.6]), rng.random(200)
        right = difficulty + rng.normal(0, 0.2, (4, 200)) < ability[:, None]
        everywhere = np.ones(200, np.bool_)
        made = []
        for name, values in zip("abcd", right, strict=True):
            column = ScoreColumn("label", values.astype(float), ~everywhere, values, None, LABEL)
            made.append(Candidate(name, KEYS[:200], np.arange(200), [column], None, {}))
        pairs = [[pair(*two)] for two in combinations(made, 2)]
        entries = candidate_pairs.entries(candidate_pairs.compare(pairs, GATE, "label"), pairs)
        shown = {one.name: {"measure": "label", "status": "measured", "value": 0.5} for one in made}
        best = leaders(Primary("label", ""), shown, entries)["names"]  # type: ignore[arg-type]
        kept, small = kept + ("a" in best), small + ("d" not in best)

    assert kept / draws >= 0.95 - 3 * (0.05 * 0.95 / draws) ** 0.5
    assert small / draws >= 0.9
