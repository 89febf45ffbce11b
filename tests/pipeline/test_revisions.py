"""goldmeter.yaml against the library: who is told what, and that a comment re-runs nothing."""

import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goldmeter.errors import ParamsError
from goldmeter.pipeline import dvc_yaml, params, revisions
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.pipeline.yaml import dump_yaml, load_yaml
from goldmeter.project import template
from tests.small_project import ROOT, edit, with_version

pytestmark = pytest.mark.usefixtures("project")


@pytest.fixture
def library(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Install a version that changes something, as it seems."""
    return partial(with_version, tmp_path_factory.mktemp("library"), monkeypatch)


def refused() -> str:
    with pytest.raises(ParamsError) as caught:
        params.check()
    return str(caught.value)


def test_this_repository_is_of_the_library_beside_it() -> None:
    project = revisions.read()
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    assert pyproject["project"]["version"] == project.version == revisions.own_version()
    assert project.revisions == {stage: revisions.revision_of(stage) for stage in stages()}
    assert all(stage.has_revision for stage in stages().values())
    assert Path("goldmeter.yaml").read_bytes() == template.goldmeter_yaml({})
    params.check()


def test_a_library_that_changes_numbers_is_refused_until_the_upgrade(library: Callable[..., None]) -> None:
    stages = ("lexical", "judge", "load")
    before = [*map(revisions.revision_of, stages)]
    library("0.2.0", reasons=[{"lexical": "METEOR counts synonyms"}, {"judge": "a"}, {"lexical": "BLEU"}])

    after = [*map(revisions.revision_of, stages)]
    assert [new - old for new, old in zip(after, before, strict=True)] == [2, 1, 0]
    assert refused() == (
        "goldmeter.yaml: the project was made for goldmeter 0.1.0, and 0.2.0 changes the numbers of lexical, judge; "
        f"run `{revisions.UPGRADE}`"
    )


def test_a_library_of_other_settings_is_refused_until_the_upgrade(library: Callable[..., None]) -> None:
    library("0.2.0", renamed={"judge.retest": "judge.repeat"})

    assert f"0.2.0 changes settings; run `{revisions.UPGRADE}`" in refused()


def test_a_newer_library_with_the_same_numbers_and_settings_is_no_reason_to_stop(library: Callable[..., None]) -> None:
    library("0.2.0", signatures=["meteor"])

    params.check()


def test_a_project_of_a_newer_library_names_what_to_install() -> None:
    project = load_yaml(Path("goldmeter.yaml")) | {"version": "1.10.0"}
    Path("goldmeter.yaml").write_text(dump_yaml(project), encoding="utf-8")

    assert refused() == (
        "goldmeter.yaml: the project was made for goldmeter 1.10.0, and 0.1.0 is installed; "
        "pip install 'goldmeter==1.10.0'"
    )


def test_without_the_file_the_way_back_is_named() -> None:
    Path("goldmeter.yaml").unlink()

    assert refused() == (
        f"goldmeter.yaml: not found; `git checkout goldmeter.yaml` restores it, `{revisions.UPGRADE}` writes a new one"
    )


def test_stages_of_your_own_need_no_library(library: Callable[..., None]) -> None:
    pipeline = load_yaml(Path("dvc.yaml"))
    for entry in pipeline["stages"].values():
        entry["params"] = [param for param in entry["params"] if isinstance(param, str)]
    Path("dvc.yaml").write_text(dump_yaml(pipeline), encoding="utf-8")
    Path("goldmeter.yaml").unlink()
    dvc_yaml.forget_stages()
    library("0.2.0", reasons=[{"lexical": "METEOR"}])

    params.check()


TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["version", "revisions", "x"]), inner),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ANY)
def test_whatever_the_file_holds_the_answer_is_one_sentence(content: Any) -> None:
    Path("goldmeter.yaml").write_text(dump_yaml(content), encoding="utf-8")

    assert refused().startswith("goldmeter.yaml")


@pytest.mark.parametrize("text", ["version: [", "a: 1\na: 2\n", "\x00", "version: 0.1.0\nrevisions: {lexical: one}\n"])
def test_a_damaged_file_is_named(text: str) -> None:
    Path("goldmeter.yaml").write_text(text, encoding="utf-8")

    assert "goldmeter.yaml" in refused()


def test_the_settings_are_looked_at_after_the_library() -> None:
    edit(lambda content: content.update(nonsense={}))
    Path("goldmeter.yaml").unlink()

    assert refused().startswith("goldmeter.yaml: not found")
