"""Defaults of params.yaml: what a project leaves out, and which stages run again when the library changes one."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from dvc.repo import Repo
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.pipeline import defaults, params, revisions
from goldmeter.pipeline.dvc_yaml import forget_stages, stages
from goldmeter.pipeline.yaml import dump_yaml, load_yaml
from goldmeter.project import template
from tests.comparison.repository import git
from tests.small_project import PARAMS, edit, settings, with_version

# Writes each path with a text, as a stage does.
WRITE = "import sys, pathlib\nfor name in sys.argv[1:]:\n    pathlib.Path(name).write_text(name)\n"


@pytest.fixture
def pipeline(project: Path) -> Path:
    """The stages of dvc.yaml with commands that only write their outs, run once by the short params.yaml."""
    content = load_yaml(Path("dvc.yaml"))
    for stage in content["stages"].values():
        listed = [*stage.get("outs", []), *stage.pop("metrics", [])]
        outs = [one if isinstance(one, str) else next(iter(one)) for one in listed]
        for out in outs:
            Path(out).parent.mkdir(parents=True, exist_ok=True)
        own = [dep for dep in stage["deps"] if dep.startswith(("data/", "reports/", "$"))]
        stage |= {"cmd": f"{sys.executable} write.py {' '.join(outs)}", "outs": outs, "deps": own}
    content["stages"]["load"]["deps"].remove("data/answer")
    Path("dvc.yaml").write_text(dump_yaml({"stages": content["stages"]}), encoding="utf-8")
    Path("write.py").write_text(WRITE, encoding="utf-8")
    Path("data/aliases.csv").touch()
    git("init", "--quiet")
    (project / ".dvc").mkdir()
    (project / ".dvc/config").write_text("[core]\n    analytics = false\n    check_update = false\n")
    forget_stages()
    with Repo() as repo:
        repo.reproduce()
    return project


def outdated() -> set[str]:
    """Stages that would run now because of a param."""
    with Repo() as repo:
        changed = repo.status()
    return {name.removeprefix("dvc.yaml:") for name, why in changed.items() if any("params.yaml" in str(w) or
            "goldmeter.yaml" in str(w) for w in why)}  # fmt: skip


def test_a_changed_default_runs_just_the_stages_whose_revision_is_raised(
    pipeline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = load_yaml(defaults.PATH)
    content["aggregate"]["confidence"] = 0.9
    other = pipeline / "other.yaml"
    other.write_text(dump_yaml(content), encoding="utf-8")
    before, shipped = outdated(), revisions.read().revisions["aggregate"]

    monkeypatch.setattr(defaults, "PATH", other)
    by_default = outdated()
    with_version(pipeline, monkeypatch, "0.2.0", reasons=[{"aggregate": "intervals of 90 %"}])
    Path("goldmeter.yaml").write_bytes(template.goldmeter_yaml({}))
    upgraded = outdated()

    assert params.for_stage("aggregate").aggregate.confidence == 0.9
    assert (before, by_default, upgraded) == (set(), set(), {"aggregate"})
    assert revisions.read().revisions["aggregate"] == shipped + 1


@pytest.mark.usefixtures("pipeline")
def test_what_is_stated_is_hashed_by_dvc_even_at_its_default() -> None:
    text = Path("params.yaml").read_text(encoding="utf-8")
    Path("params.yaml").write_text(text.replace("gate: {}", "gate: {margin: 0.0}"), encoding="utf-8")

    assert outdated() == {"aggregate"}


def test_a_default_that_changes_comes_with_the_revisions_of_the_stages_that_use_it() -> None:
    known = json.loads(RECORD.read_text(encoding="utf-8"))

    assert known == recorded(), HOW


RECORD = Path(__file__).parents[1] / "defaults_by_revision.json"
HOW = (
    "a default changed: say it under `reasons` in goldmeter/pipeline/changes.yaml for each stage whose numbers it "
    "changes, then write tests/defaults_by_revision.json again: python -m tests.pipeline.test_defaults"
)


def recorded() -> dict[str, Any]:
    """Revision and defaults of each stage, as they are kept; sections that change no number have no stage."""
    found = {}
    for stage in stages().values():
        sections = {path.partition(".")[0] for path in stage.params} - {"run"}
        values = {name: defaults.defaults()[name] for name in sorted(sections)}
        found[stage.name] = {"revision": revisions.revision_of(stage.name), "defaults": values}
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return plain


def test_options_that_exclude_a_default_replace_it() -> None:
    judge = params.section(params.models()["judge"], {"judge": {"base_url": "http://localhost:8000/v1"}}, "judge")
    same = params.section(params.models()["judge"], {"judge": {"model": "m"}}, "judge")
    old = params.section(params.models()["judge"], {"judge": {"similarity_judge": {}, "provider": "openai"}}, "judge")

    assert (judge.api_key_env, same.api_key_env) == (None, "OPENAI_API_KEY")
    assert [metric.name for metric in old.metrics] == ["similarity_judge"]


@pytest.mark.parametrize(
    ("stated", "names"),
    [
        (None, [*settings()["lexical"]]),
        ({}, []),
        ({"f1": None}, ["f1"]),
    ],
)
def test_a_list_of_metrics_is_taken_as_it_is_stated(stated: Any, names: list[str]) -> None:
    section = params.section(params.models()["lexical"], {"lexical": stated}, "lexical")

    assert [*section.root] == names


@given(st.data())
def test_leaving_out_what_is_at_its_default_changes_nothing(data: st.DataObject) -> None:
    full = settings()
    gone = data.draw(st.sets(st.sampled_from([
        (name, option) for name, section in full.items() for option in section
        if name not in {"lexical", "semantic", "schedule"} and name in defaults.defaults()
        and option in defaults.defaults()[name] and section[option] == defaults.defaults()[name][option]
    ])))  # fmt: skip

    short = {
        name: {option: value for option, value in section.items() if (name, option) not in gone}
        for name, section in full.items()
    }

    assert params.effective(short) == full


@pytest.mark.usefixtures("project")
def test_tests_may_edit_every_setting() -> None:
    edit(lambda content: content["gate"].update(margin=0.1))

    assert params.effective() == settings() | {"gate": settings()["gate"] | {"margin": 0.1}}
    assert load_yaml(PARAMS)["gate"] == {}


if __name__ == "__main__":
    RECORD.write_text(json.dumps(recorded(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
