"""Baselines of a schedule: names that stand still, which look a night takes, and the level that is left for it."""

import random
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.comparison.gate import Gate
from goldmeter.errors import ParamsError
from goldmeter.history import decision, store
from goldmeter.history.decision import BaselineLook, check_baseline
from tests.comparison.repository import git
from tests.comparison.sample import GATE, gate, gate_on
from tests.history.made_nights import line


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with tag v1 (and v1 no more), branches, an experiment, and names that are both."""
    folder = tmp_path_factory.mktemp("baselines")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        from dvc.repo import Repo

        git("init", "-q", "-b", "main")
        git("config", "user.name", "n")
        git("config", "user.email", "e@x")
        Repo.init().close()
        git("add", "-A")
        git("commit", "-q", "-m", "first")
        git("tag", "v1")
        git("tag", "-a", "-m", "told", "told")
        for branch in ("topic", "both", "deadbeef"):
            git("branch", branch)
        git("tag", "both")
        git("update-ref", "refs/remotes/origin/upstream", "HEAD")
        head = git("rev-parse", "HEAD")
        git("commit", "-q", "--allow-empty", "-m", "tried")
        git("update-ref", f"refs/exps/{head[:2]}/{head[2:]}/try-1", "HEAD")
        git("update-ref", f"refs/exps/{head[:2]}/{head[2:]}/topic", "HEAD")
        git("reset", "-q", "--hard", head)
    return folder


@pytest.fixture
def head(repository: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(repository)
    return git("rev-parse", "HEAD")


@pytest.mark.parametrize("name", ["v1", "told", "tags/v1", "refs/tags/v1", "tags/both"])
def test_a_tag_stands_still(head: str, name: str) -> None:
    assert check_baseline("nightly", name) == head


def test_a_commits_id_stands_still(head: str) -> None:
    for name in (head, head[:7], head[:12].upper()):
        assert check_baseline("nightly", name) == head


def test_an_experiment_stands_still(head: str) -> None:
    tried = git("rev-parse", f"refs/exps/{head[:2]}/{head[2:]}/try-1")

    assert check_baseline("nightly", "try-1") == tried != head
    assert check_baseline("nightly", f"refs/exps/{head[:2]}/{head[2:]}/try-1") == tried


@pytest.mark.parametrize(
    "name",
    ["main", "topic", "heads/topic", "both", "deadbeef", "HEAD", "@", "origin/upstream", "v1~0", "v1^{}", ":/first"],
)
@pytest.mark.usefixtures("head")
def test_a_name_that_moves_or_may_is_refused(name: str) -> None:
    with pytest.raises(ParamsError, match=r"^schedule\.nightly\.baseline: .*expected a tag, a commit or an experiment"):
        check_baseline("nightly", name)


@pytest.mark.parametrize("name", ["v9", "--all", "-", ".", "0" * 40, "try-2", "", "a b", "v1\n"])
@pytest.mark.usefixtures("head")
def test_a_name_that_nobody_knows_is_refused(name: str) -> None:
    with pytest.raises(ParamsError, match=r"^schedule\.nightly\.baseline: "):
        check_baseline("nightly", name)


FIRST, SECOND = 0.0246641, 0.0065452


def past(*seen: tuple[int, str, str, int]) -> pa.Table:
    """Nights with (night, schedule, baseline's commit, look): what they saw has the look's number."""
    return store.table(
        [
            line(n, schedule=name, baseline_commit=commit, look=look, content=f"c{look}")
            for n, name, commit, look in seen
        ]
    )


def test_the_first_looks_spend_most() -> None:
    first = decision.next_look(past(), "nightly", "a", "c1", 0.05)
    second = decision.next_look(past((1, "nightly", "a", 1)), "nightly", "a", "c2", 0.05)

    assert first == BaselineLook(1, pytest.approx(FIRST, abs=1e-6), "c1")
    assert second == BaselineLook(2, pytest.approx(SECOND, abs=1e-6), "c2")


def test_what_an_earlier_look_saw_is_decided_as_it_was_and_spends_nothing() -> None:
    seen = past((1, "nightly", "a", 1), (2, "nightly", "a", 2), (3, "nightly", "a", 3))

    assert decision.next_look(seen, "nightly", "a", "c2", 0.05).number == 2
    assert decision.next_look(seen, "nightly", "a", "c9", 0.05).number == 4


def test_only_looks_of_this_schedule_at_this_baseline_count() -> None:
    seen = past((1, "nightly", "a", 1), (2, "weekly", "a", 1), (3, "nightly", "b", 1))

    assert decision.next_look(seen, "nightly", "c", "c1", 0.05).number == 1
    assert decision.next_look(seen, "weekly", "a", "new", 0.05).number == 2


def test_a_baseline_that_comes_back_goes_on_where_it_stopped() -> None:
    seen = past((1, "nightly", "a", 1), (2, "nightly", "a", 2), (3, "nightly", "b", 1))

    assert decision.next_look(seen, "nightly", "a", "new", 0.05).number == 3


def test_nights_without_a_look_count_for_nothing() -> None:
    seen = store.table([line(1), line(2, baseline_commit="a")])

    assert decision.next_look(seen, "nightly", "a", "c1", 0.05).number == 1


@pytest.mark.parametrize("other", [gate(margin=0.01), gate_on("f1"), gate(confidence=0.9)])
def test_other_questions_of_the_gate_are_other_looks(other: Gate) -> None:
    tables = {"data/load": "x", "data/judge": None}

    assert decision.look_content(tables, GATE, 0.05) == decision.look_content(
        dict(reversed(tables.items())), GATE, 0.05
    )
    assert decision.look_content(tables, GATE, 0.05) != decision.look_content(tables, other, 0.05)
    assert decision.look_content(tables, GATE, 0.05) != decision.look_content(tables | {"data/judge": "y"}, GATE, 0.05)
    assert decision.look_content(tables, GATE, 0.05) != decision.look_content(tables, GATE, 0.025)


def test_the_gate_decides_at_the_looks_level() -> None:
    assert BaselineLook(1, 0.0246641, "").gate(GATE) == gate(confidence=1 - 0.0246641)


@given(st.lists(st.sampled_from("abcde"), max_size=20), st.randoms(use_true_random=False))
def test_however_nights_repeat_themselves_all_looks_together_spend_no_more_than_alpha(
    contents: list[str], order: random.Random
) -> None:
    seen, taken = past(), dict[str, BaselineLook]()
    for night, content in enumerate(contents, 1):
        look = decision.next_look(seen, "nightly", "a", content, 0.05)
        assert taken.setdefault(content, look) == look
        lines = [*seen.to_pylist(), line(night, baseline_commit="a", look=look.number, content=content)]
        order.shuffle(lines)  # the order of rows does not matter
        seen = store.table(lines)

    assert sorted(look.number for look in taken.values()) == [*range(1, len(taken) + 1)]
    assert sum(look.level for look in taken.values()) <= 0.05
