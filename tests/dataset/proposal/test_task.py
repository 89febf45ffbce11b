"""`flows.init` from a file of each task to params.yaml, without an edit."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.dataset.proposal import command
from goldmeter.dataset.proposal.command import with_task, write_plan
from goldmeter.dataset.proposal.given import Chosen
from goldmeter.dataset.proposal.inputs import propose_for
from goldmeter.dataset.proposal.section import with_value
from goldmeter.dataset.tasks import PLANS, TASKS, Task
from goldmeter.errors import ParamsError
from goldmeter.pipeline import params
from goldmeter.pipeline.defaults import defaults
from goldmeter.pipeline.yaml import load_yaml, parse_yaml
from tests.dataset.task_files import INTENTS, rows_of, written
from tests.small_project import PARAMS, ROOT, stated_in_full


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("params.yaml", "dvc.yaml", "goldmeter.yaml"):
        shutil.copy(ROOT / name, tmp_path)


def planned(task: Task, before: Task | None = "qa", chosen: Task | None = None, **options: Any) -> dict[str, Any]:
    """What init writes for a file of this task, apart from section dataset."""
    proposal, found = with_task(propose_for([str(written(task, Path()))], None, Chosen()), chosen)
    proposal = proposal._replace(options={**proposal.options, **options})
    lines = [*write_plan(found, proposal, before)]
    content = params.effective()
    return {"task": proposal.options["task"], "said": lines, **content}


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The references in data/load are those of the file."""
    texts = [{"id": str(row), "input": each["text"], "references": [each["label"]]}
             for row, each in enumerate(rows_of("classification"))]  # fmt: skip
    monkeypatch.setattr("goldmeter.dataset.proposal.command._loaded", lambda: texts)


@pytest.mark.parametrize("task", [task for task in TASKS if task not in {"choice", "classification"}])
def test_the_sections_are_those_of_the_task(task: Task) -> None:
    found = planned(task, before="choice")

    plan = PLANS[task]
    assert found["task"] == task
    assert found["lexical"].keys() == plan.lexical.keys()
    assert found["semantic"] == plan.semantic
    assert found["gate"]["primary"] == plan.primary
    assert found["judge"]["provider"] == ("offline" if task == "qa" else "none")
    assert found["said"][0] == f"for task {task}, params.yaml now has:"


@pytest.mark.usefixtures("loaded")
def test_the_classes_are_those_of_all_rows() -> None:
    found = planned("classification")

    assert found["lexical"]["class_match"] == {"classes": sorted(INTENTS)}
    assert (found["semantic"], found["gate"]["primary"]) == ({}, "class_match")


def test_the_number_of_a_worked_solution_follows_its_mark() -> None:
    assert planned("number")["lexical"]["number"] == {"pick": "marker_or_last"}


@pytest.mark.parametrize("text", [PARAMS.read_text(encoding="utf-8"), stated_in_full()], ids=["short", "in full"])
def test_all_other_lines_stay(text: str) -> None:
    Path("params.yaml").write_text(text, encoding="utf-8")
    before = text.splitlines()

    planned("translation")

    after = Path("params.yaml").read_text(encoding="utf-8").splitlines()
    gone = [line for line in before if line not in after]
    assert all(line.startswith(("  ", "lexical:", "semantic:", "gate: {}", "judge: {")) for line in gone)
    assert len(gone) <= 18
    assert params.effective()["gate"]["primary"] == "chrf"


@pytest.mark.parametrize(("task", "before"), [("qa", None), ("qa", "qa"), ("summary", "summary")])
def test_sections_of_the_same_task_stay_as_the_user_has_them(task: Task, before: Task | None) -> None:
    content = Path("params.yaml").read_text(encoding="utf-8")

    assert planned(task, before)["said"] == []
    assert Path("params.yaml").read_text(encoding="utf-8") == content


def test_human_labels_of_all_systems_decide() -> None:
    labelled = {
        "first": {"response": "hyp_first", "label": "src"},
        "second": {"response": "hyp_second", "label": "src"},
    }

    assert planned("translation", candidates=labelled)["gate"]["primary"] is None


def test_a_language_model_as_judge_stays() -> None:
    content = Path("params.yaml").read_text(encoding="utf-8")
    Path("params.yaml").write_text(with_value(content, ("judge", "provider"), "openai"), encoding="utf-8")

    assert planned("summary")["judge"]["provider"] == "openai"


def test_the_task_that_is_named_counts() -> None:
    found = planned("translation", chosen="summary")

    assert (found["task"], found["gate"]["primary"]) == ("summary", "rouge_f1_score")


def test_the_option_takes_the_tasks() -> None:
    assert command.parser().parse_args(["a.csv", "--task", "choice"]).task == "choice"


def test_records_that_load_refuses_have_no_task() -> None:
    proposal = propose_for([str(written("qa", Path()))], None, Chosen())
    broken = proposal._replace(options={**proposal.options, "input": "nowhere"})

    assert with_task(broken, None) == (broken, None)


PATHS = st.sampled_from([("gate", "primary"), ("judge", "provider"), ("judge", "server"), ("aggregate", "confidence")])
SHORT, FULL = PARAMS.read_text(encoding="utf-8"), stated_in_full()


@given(
    st.sampled_from([SHORT, FULL, ""]),
    PATHS,
    st.none() | st.text(max_size=40) | st.sampled_from(["chrf.value", "none", "a # b", "'", "1"]),
)
def test_a_value_is_set_and_nothing_else(content: str, path: tuple[str, str], value: str | None) -> None:
    section, option = path

    changed = with_value(content, path, value)

    before, after = (parse_yaml(text) or {} for text in (content, changed))
    stated = before.get(section) or {}
    default = defaults()[section].get(option)
    assert after.get(section, {}).get(option, default) == value
    assert {**stated, option: value} == {**stated, option: None, **after.get(section, {})} or value == default
    assert {name: each for name, each in after.items() if name != section} == {
        name: each for name, each in before.items() if name != section
    }
    assert len(changed.splitlines()) <= len(content.splitlines()) + (section not in before)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("gate: {}  # mine\n", "gate: {primary: chrf}  # mine\n"),
        ("gate:  # mine\nload: {}\n", "gate: {primary: chrf}  # mine\nload: {}\n"),
        ("gate: {margin: 0.1, primary: f1}\n", "gate: {margin: 0.1, primary: chrf}\n"),
        ("gate:\n  margin: 0.1  # mine\n\n# next\n", "gate:\n  margin: 0.1  # mine\n  primary: chrf\n\n# next\n"),
        ("gate:\n  primary:  # mine\n", "gate:\n  primary: chrf  # mine\n"),
        ("load: {}", "load: {}\ngate: {primary: chrf}\n"),
    ],
)
def test_a_value_takes_its_place_in_a_section_of_any_style(content: str, expected: str) -> None:
    assert with_value(content, ("gate", "primary"), "chrf") == expected


def test_a_section_that_others_repeat_is_left() -> None:
    with pytest.raises(ParamsError, match="write by hand: chrf"):
        with_value("gate: &x {a: 1}\nmore: *x\n", ("gate", "primary"), "chrf")


def test_a_short_file_states_what_the_task_needs_and_loses_it_again() -> None:
    before = Path("params.yaml").read_text(encoding="utf-8")

    planned("summary")
    stated = load_yaml(Path("params.yaml"))
    planned("qa", before="summary")

    assert (stated["gate"], stated["judge"]["provider"]) == ({"primary": "rouge_f1_score"}, "none")
    after = Path("params.yaml").read_text(encoding="utf-8")
    assert params.effective() == params.effective(parse_yaml(before))
    assert len(after.splitlines()) == len(before.splitlines())
