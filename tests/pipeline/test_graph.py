"""The graph of stages is read off deps and outs alone."""

import pytest

from goldmeter.errors import ParamsError
from goldmeter.pipeline.dvc_yaml import StageEntry, stages, upstream


def stage(name: str, deps: tuple[str, ...], outs: tuple[str, ...]) -> StageEntry:
    return StageEntry(name, "", "", deps, (), outs)


def graph(*listed: StageEntry) -> dict[str, frozenset[str]]:
    return upstream({one.name: one for one in listed})


def test_a_stage_waits_for_the_writer_of_what_it_reads() -> None:
    found = graph(stage("a", ("input.csv",), ("data/a",)), stage("b", ("data/a",), ("data/b",)))

    assert found == {"a": frozenset(), "b": frozenset({"a"})}


@pytest.mark.parametrize(
    ("dep", "out"), [("data/a/x.json", "data/a"), ("data/a", "data/a/x.json"), ("data/a/", "data/a")]
)
def test_a_path_within_a_path_connects_stages(dep: str, out: str) -> None:
    found = graph(stage("a", (), (out,)), stage("b", (dep,), ()))

    assert found["b"] == {"a"}


def test_paths_with_a_common_beginning_are_not_connected() -> None:
    found = graph(stage("load", (), ("data/load",)), stage("b", ("data/load_rejected",), ()))

    assert found["b"] == frozenset()


def test_stages_come_after_those_they_wait_for_however_they_are_listed() -> None:
    found = graph(stage("c", ("b",), ("c",)), stage("b", ("a",), ("b",)), stage("a", (), ("a",)))

    assert list(found) == ["a", "b", "c"]


def test_stages_that_wait_for_one_another_are_named() -> None:
    with pytest.raises(ParamsError, match=r"a → b → a|b → a → b"):
        graph(stage("a", ("b",), ("a",)), stage("b", ("a",), ("b",)))


def test_the_projects_own_graph() -> None:
    found = upstream(stages())

    assert found["lexical"] == {"normalize"}
    assert found["embed"] == {"normalize"}
    assert {"lexical", "semantic", "judge"} <= found["aggregate"]
    assert "aggregate" in found["report"]
    assert [*found][:2] == ["answer", "load"]
