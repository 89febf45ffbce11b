"""Nights in a project under git and DVC: decided at their level, kept once, and told in words."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dvc.repo import Repo

from goldmeter.errors import DataError, LedgerError, ParamsError, VersionError
from goldmeter.estimates.estimate_rows import BY_LOOKS
from goldmeter.estimates.metrics_report import METRICS
from goldmeter.estimates.tables import own_scores
from goldmeter.history import decision, labelled_answers, store
from goldmeter.history.decision import BaselineLook
from goldmeter.pipeline.tables import Parts, write_part
from goldmeter.pipeline.yaml import dump_yaml, load_yaml
from goldmeter.statistics.stopping import difference_sequence
from goldmeter.wording.alarms import losses
from tests.comparison import repository
from tests.comparison.repository import copy, git, make
from tests.comparison.sample import Row, answers, change_facts, row
from tests.history.made_nights import experiment, facts, run_night, schedule, score, write_metrics
from tests.small_project import edit

LEVELS = {1: 0.024664, 2: 0.006545, 3: 0.003083}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a remote; v1: 40 right answers, v2: 20 of them."""
    folder = tmp_path_factory.mktemp("template")
    make(folder)
    return folder


@pytest.fixture(autouse=True)
def project(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = copy(template, tmp_path / "copy")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("GOLDMETER_LEDGER", raising=False)
    return folder


def lines(metric: str = "f1") -> list[dict[str, Any]]:
    """The rows of the history about a metric."""
    return [each for each in store.read().to_pylist() if each["metric"] == metric]


def new_rows(text: str, night: int) -> list[Row]:
    """Answers to questions that no other night asks."""
    said = {"+": "right", ".": "something else"}
    return [row(1000 * night + number, said[sign]) for number, sign in enumerate(text)]


def test_a_run_by_hand_is_kept_with_nothing_decided() -> None:
    write_metrics({"aurora": ["f1", "rouge_recall"]})

    decision.add_run(experiment(1), facts(1))
    decision.add_run(experiment(1), facts(1))

    assert store.path() == Path(".git/goldmeter/history.parquet").absolute()
    [first, second] = store.read().to_pylist()
    assert (first["run"], first["schedule"], first["metric"], second["metric"]) == (
        "nightly-1",
        "",
        "f1",
        "rouge_recall",
    )
    assert (first["pass_rate"], first["threshold"], first["verdict"], first["look"]) == (0.5, 0.5, None, None)
    assert first["started"] == facts(1).started


def test_without_baseline_and_floors_nothing_is_decided() -> None:
    found = run_night(answers("+" * 10), 1, schedule())

    assert found == decision.RunDecision(None, None, None, [], 0, [])
    assert [each["schedule"] for each in lines()] == ["nightly"]


def test_a_loss_is_told_with_how_much_and_which_rows() -> None:
    found = run_night(answers("+" * 25 + "." * 15), 1, schedule(baseline="v1"))

    assert (found.status, found.look) == (1, 1)
    assert found.level == pytest.approx(LEVELS[1], abs=1e-6)
    assert found.document is not None
    assert found.document["gate"]["confidence"] == pytest.approx(1 - LEVELS[1], abs=1e-6)
    told = next(each for each in found.alarms if " f1:" in each)
    assert told.startswith("aurora f1: worse than v1 by 37.5 points [")
    assert " on 40 rows (look 1, level 0.025); rows lost: q" in told
    assert told.endswith(" and 12 more")
    [kept] = lines()
    assert (kept["measure"], kept["verdict"], kept["difference"], kept["look"]) == ("f1", "worse", -0.375, 1)
    assert kept["difference_low"] < -0.375 < kept["difference_high"] < 0
    assert (kept["baseline"], kept["baseline_commit"]) == ("v1", git("rev-parse", "v1^{commit}"))
    assert kept["alarm"] == told


def test_a_night_whose_judge_could_stop_is_compared_by_limits_that_hold_at_any_stop() -> None:
    score(answers("+" * 15 + "." * 25))
    change_facts(Path(), "lexical", "f1", stopped=True)

    found = decision.decide("nightly", schedule(baseline="v1"), experiment(1), facts(1))

    assert found.document is not None
    [pair] = found.document["pairs"]
    difference = pair["measures"]["f1"]["difference"]
    low, high, _ = difference_sequence(np.repeat([-1.0, 0.0], [25, 15]), np.ones(40), 1.0, 1.0 - LEVELS[1])
    assert difference["method"] == BY_LOOKS
    assert (difference["low"], difference["high"]) == pytest.approx((low, high), abs=1e-4)
    assert any(" f1: worse than v1 by 62.5 points" in alarm for alarm in found.alarms)


def test_each_night_with_other_answers_spends_less_and_the_same_answers_spend_nothing() -> None:
    texts = ["+" * 39 + ".", "+" * 38 + "..", "+" * 39 + ".", "+" * 37 + "..."]

    nights = [run_night(answers(text), number, schedule(baseline="v1")) for number, text in enumerate(texts, 1)]

    assert [night.look for night in nights] == [1, 2, 1, 3]
    assert [night.level for night in nights] == pytest.approx([LEVELS[t] for t in (1, 2, 1, 3)], abs=1e-6)
    assert [(night.status, night.alarms) for night in nights] == [(0, [])] * 4
    assert [each["look"] for each in lines()] == [1, 2, 1, 3]


def test_a_night_that_is_run_again_after_a_kill_decides_the_same_and_is_kept_once() -> None:
    options = schedule(baseline="v1", floors={"f1": 0.9})
    first = run_night(answers("+" * 25 + "." * 15), 1, options)

    again = run_night(answers("+" * 25 + "." * 15), 1, options)

    assert (again.look, again.level, again.status) == (first.look, first.level, first.status)
    assert first.level == pytest.approx(LEVELS[1] / 2, abs=1e-6)  # the floor has the other half
    [kept] = lines()
    assert json.loads(kept["floors"])["f1"]["level"] == pytest.approx(0.025)


def test_a_tag_that_moved_is_a_new_baseline() -> None:
    run_night(answers("+" * 39 + "."), 1, schedule(baseline="v1"))
    git("tag", "-f", "v1", "v2")

    assert run_night(answers("+" * 38 + ".."), 2, schedule(baseline="v1")).look == 1


def test_a_branch_is_refused_before_anything_is_spent() -> None:
    with pytest.raises(ParamsError, match=r"^schedule\.nightly\.baseline: main: expected a tag"):
        run_night(answers("+" * 40), 1, schedule(baseline="main"))

    assert not store.path().exists()


def test_a_comparison_that_cannot_be_made_spends_nothing_and_is_told() -> None:
    found = run_night(new_rows("+" * 10, 1), 1, schedule(baseline="v1"))
    later = run_night(answers("+" * 40), 2, schedule(baseline="v1"))

    assert (found.status, found.document, found.look) == (2, None, None)
    [told] = found.alarms
    assert told.startswith("No comparison with the baseline: v1 and workspace have no row in common")
    assert later.look == 1
    assert [each["look"] for each in lines()] == [None, 1]
    assert [each["alarm"] for each in store.read().to_pylist() if each["alarm"]] == found.alarms


def test_a_candidate_that_vanished_is_told() -> None:
    both = answers("+" * 20) + answers("+" * 20, "borealis")
    score(both)
    with Repo() as repo:
        repo.commit("score", force=True)
    git("add", "-A")
    git("commit", "-q", "-m", "both")
    git("tag", "two")

    found = run_night(answers("+" * 20), 1, schedule(baseline="two"))

    assert found.status == 2
    [told] = found.alarms
    assert told.startswith("Compared with two: Undecided: ")
    assert told.endswith(" only in the baseline: borealis")


def test_a_night_fails_on_a_loss_alone_whatever_fails_a_release() -> None:
    edit(lambda content: content["gate"].update(fail_on="cannot_tell"))

    found = run_night(answers("+" * 38 + ".."), 1, schedule(baseline="v1"))

    assert (found.status, found.alarms) == (0, [])


def test_a_floor_that_new_answers_to_old_questions_cannot_test_is_told() -> None:
    options = schedule(floors={"f1": 0.2})
    first, same = run_night(answers("+" * 40), 1, options), run_night(answers("+" * 40), 2, options)

    dead = run_night(answers("." * 40), 3, options, data="d2")

    assert (first.alarms, same.alarms) == ([], [])
    assert dead.status == 1
    assert "\n".join(dead.alarms) == (
        "aurora f1: nothing to hold against its floor of 20.0 %: new data, but each row was asked on an earlier night "
        "or is not measured; the same questions need a baseline"
    )
    assert lines()[-1]["alarm"] == dead.alarms[0]


def test_fresh_rows_below_their_floor_are_told_each_night_until_the_floor_changes() -> None:
    options = schedule(floors={"f1": 0.9})

    nights = [run_night(new_rows("+." * 20, night), night, options) for night in (1, 2)]
    raised = run_night(new_rows("+" * 20, 3), 3, schedule(floors={"f1": 0.4}))

    assert [(night.status, night.document) for night in nights] == [(1, None)] * 2
    assert nights[0].alarms == [
        "aurora f1: below its floor of 90.0 % (alarm of tonight); mean 50.0 % of 40 fresh rows tonight, 40 in 1 night"
    ]
    assert "alarm stands since 2026-11-01 02:00 UTC" in nights[1].alarms[0]
    assert (raised.status, raised.alarms) == (0, [])
    kept = [json.loads(each["floors"])["f1"] for each in lines()]
    assert [(each["rows"], each["seen"], each["floor"]) for each in kept] == [
        (40, 40, 0.9),
        (40, 80, 0.9),
        (20, 20, 0.4),
    ]
    assert [each["alarm"] for each in lines()] == [nights[0].alarms[0], nights[1].alarms[0], None]
    assert {each["floors"] for each in lines("bleu")} == {None}


def test_rows_of_an_earlier_night_are_no_evidence() -> None:
    options = schedule(floors={"f1": 0.9})
    for night in (1, 2, 3):
        found = run_night(answers("+" * 9 + "."), night, options)

    assert found.alarms == []
    assert [json.loads(each["floors"])["f1"]["rows"] for each in lines()] == [10, 0, 0]


def test_a_kill_between_the_rows_seen_and_the_history_loses_evidence_and_counts_none_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = schedule(floors={"f1": 0.9})

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store, "append", killed)
        with pytest.raises(KeyboardInterrupt):
            run_night(new_rows("." * 4, 1), 1, options)
    run_night(new_rows("." * 4, 1), 1, options)

    assert json.loads(lines()[0]["floors"])["f1"]["seen"] == 0


def test_two_schedules_spend_and_bet_apart() -> None:
    options = schedule(baseline="v1", floors={"f1": 0.9})
    run_night(answers("+" * 40), 1, options)

    assert run_night(answers("+" * 39 + "."), 2, options, "weekly").look == 1
    assert [json.loads(each["floors"])["f1"]["rows"] for each in lines()] == [40, 40]
    assert store.seen_path("weekly").exists()


def test_a_floor_that_cannot_be_is_refused_before_anything_is_spent() -> None:
    with pytest.raises(ParamsError, match=r"^schedule\.nightly\.floors\.bleu\.value: a score of the corpus is no mean"):
        run_night(answers("+" * 40), 1, schedule(baseline="v1", floors={"bleu.value": 0.5}))

    assert not store.path().exists()


def test_a_label_may_have_a_floor_over_the_labelled_rows() -> None:
    labelled = [each | {"label": False if number < 30 else None} for number, each in enumerate(answers("+" * 40))]
    score(labelled)
    write_metrics({"aurora": ["label"]})

    found = decision.decide("nightly", schedule(floors={"label": 0.9}), experiment(1), facts(1))

    assert found.alarms == [
        "aurora label: below its floor of 90.0 % (alarm of tonight); mean 0 % of 30 fresh rows tonight, 30 in 1 night"
    ]


def test_a_learnt_threshold_has_no_floor() -> None:
    labelled = [each | {"label": number % 2 == 0} for number, each in enumerate(answers("+" * 40))]
    score(labelled, metrics={"f1": {"threshold": "learnt"}})

    with pytest.raises(ParamsError, match=r"floors\.f1: its threshold is learnt anew from labels; .*f1\.value"):
        decision.decide("nightly", schedule(floors={"f1": 0.9}), experiment(1), facts(1))


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"candidates": {"a": {"f1": {}}}}', '{"candidates": {"a": 1}}']
)
def test_numbers_that_are_none_are_named(content: str) -> None:
    score(answers("+" * 10))
    Path("reports/metrics.json").write_text(content, encoding="utf-8")

    with pytest.raises(DataError, match=r"^reports/metrics\.json: not what aggregate writes"):
        decision.decide("nightly", schedule(), experiment(1), facts(1))


def test_a_run_that_never_was_is_named() -> None:
    with pytest.raises(DataError, match="`dvc repro` writes it"):
        decision.add_run(experiment(1), facts(1))


def test_a_foreign_history_stops_the_night_and_stays() -> None:
    store.path().parent.mkdir(parents=True, exist_ok=True)
    store.path().write_bytes(b"mine")

    with pytest.raises(LedgerError, match="not a history"):
        run_night(answers("+" * 40), 1, schedule(baseline="v1", floors={"f1": 0.9}))
    assert store.path().read_bytes() == b"mine"
    assert not store.seen_path("nightly").exists()


def test_without_hashes_of_the_tables_nothing_is_decided() -> None:
    score(answers("+" * 40))
    Path("dvc.lock").unlink()

    with pytest.raises(VersionError, match=r"dvc\.lock has no data/load"):
        decision.decide("nightly", schedule(baseline="v1"), experiment(1), facts(1))


def test_another_table_of_an_own_stage_is_another_look() -> None:
    stages = {"polite": {"cmd": "echo", "outs": ["data/polite"]}, "aggregate": {"cmd": "echo", "deps": ["data/polite"]}}
    pipeline = load_yaml(Path("dvc.yaml"))
    Path("dvc.yaml").write_text(dump_yaml({"stages": pipeline["stages"] | stages}), encoding="utf-8")

    def look(night: int, polite: list[float]) -> int | None:
        score(answers("+" * 40))
        Path("data/polite").mkdir()
        write_part(own_scores(Parts(Path("data/load")).whole(), "polite", polite), Path("data/polite"), 0)
        lock = load_yaml(Path("dvc.lock"))
        lock["stages"] |= {"polite": {"cmd": "echo", "outs": [{"path": "data/polite", "md5": str(polite)}]}}
        Path("dvc.lock").write_text(dump_yaml(lock), encoding="utf-8")
        return decision.decide("nightly", schedule(baseline="v1"), experiment(night), facts(night)).look

    assert [look(1, [1.0] * 39 + [0.0]), look(2, [0.0] + [1.0] * 39), look(3, [0.0] + [1.0] * 39)] == [1, 2, 2]


def test_the_labels_of_the_baseline_belong_to_its_answers_although_it_was_not_recorded() -> None:
    before = [each | {"label": True} for each in answers("+" * 40)]
    with Repo() as repo:
        repository.commit_tables(repo, before)
    git("commit", "-q", "-a", "-m", "labelled")
    git("tag", "labelled")
    edit(lambda content: content["gate"].update(primary="label"))

    night = run_night(
        [each | {"label": True} for each in answers("+" * 30 + "." * 10)], 1, schedule(baseline="labelled")
    )

    assert night.document is not None
    assert night.document["pairs"][0]["rows"]["stale_labels"] == 10
    [alarm] = night.alarms
    assert alarm.endswith("before 0, after 10 (gate.max_unmeasured); 10 labels are of another answer (stale)")
    assert labelled_answers.stale(Parts(Path("data/load"))).tolist() == [False] * 30 + [True] * 10


def test_an_id_made_from_the_input_is_shown_by_its_beginning() -> None:
    difference = {"value": -0.5, "low": -0.7, "high": -0.2}
    measure = {"verdict": "worse", "difference": difference, "n": 40, "unit": "points", "role": "primary"}
    flips = {"lost": {"f1": 1}, "worst": [{"id": "0123456789abcdef" * 4, "lost": ["f1"]}]}
    pair = {"head": "aurora", "measures": {"f1": measure}, "flips": flips}

    [[told]] = losses({"base": {"name": "v1"}, "pairs": [pair]}, BaselineLook(2, 0.0065, "c")).values()

    assert told.endswith(
        "by 50.0 points [20.0, 70.0] on 40 rows (look 2, level 0.0065); rows lost: 0123456789abcdef012…"
    )


def test_candidates_whose_long_names_differ_in_the_middle_are_told_apart() -> None:
    difference = {"value": -0.5, "low": -0.7, "high": -0.2}
    measure = {"verdict": "worse", "difference": difference, "n": 40, "unit": "points", "role": "primary"}
    names = [f"{'prompt ' * 20}v{number}{' of the last quarter' * 20}" for number in (13, 14)]
    pairs = [{"head": name, "measures": {"f1": measure}, "flips": {"lost": {}, "worst": []}} for name in names]

    sentences = losses({"base": {"name": "v1"}, "pairs": pairs}, BaselineLook(2, 0.0065, "c")).values()

    assert len({sentence for [sentence] in sentences}) == 2


def test_a_target_that_is_not_met_is_told_and_its_end_unless_a_floor_tests_the_measure() -> None:
    def night(number: int, verdict: str, **options: Any) -> decision.RunDecision:
        score(answers("+" * 10))
        report = json.loads(Path(METRICS).read_text(encoding="utf-8"))
        report["targets"] = {"aurora": {"f1": {"target": 0.8, "verdict": verdict}}}
        Path(METRICS).write_text(json.dumps(report), encoding="utf-8")
        return decision.decide("nightly", schedule(**options), experiment(number), facts(number))

    nights = [night(number, verdict) for number, verdict in enumerate(["not met", "not met", "met", "undecided"])]

    said = "aurora: target not met: f1 ≥ 80.0 %"
    assert [(one.alarms, one.status) for one in nights] == [([said], 1), ([said], 1), ([], 0), ([], 0)]
    assert [one.over for one in nights] == [[], [], ["aurora: target met: f1 ≥ 80.0 %"], []]
    assert [each["alarm"] for each in lines()] == [said, said, None, None]
    assert night(5, "not met", floors={"f1": 0.5}).alarms == []


def test_the_end_of_a_loss_is_told_once_also_after_an_undecided_night() -> None:
    lost = answers("+" * 25 + "." * 15)
    run_night(lost, 1, schedule(baseline="v1"))

    undecided = run_night(answers("+" * 38 + ".."), 2, schedule(baseline="v1"), data="e" * 32)
    back = run_night(answers("+" * 40), 3, schedule(baseline="v1"), data="f" * 32)
    after = run_night(answers("+" * 40), 4, schedule(baseline="v1"), data="f" * 32)

    assert undecided.over == after.over == []
    assert (back.status, back.alarms) == (0, [])
    assert "aurora f1: no longer worse than v1" in back.over
