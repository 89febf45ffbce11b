"""params.yaml: every section stated, every mistake named by its full path."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dvc.utils.serialize import modify_yaml

from goldmeter.errors import ParamsError
from goldmeter.pipeline import params
from goldmeter.pipeline.yaml import dump_yaml, load_yaml
from tests.small_project import PARAMS

# A score without a threshold, of which less is better.
TOXICITY = {"toxicity": {"column": "id", "bounds": [0, 1], "higher_is_better": False}}
Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Change], None]:
    """Checks params.yaml after a change."""

    def check(change: Change) -> None:
        content = params.raw(PARAMS)
        change(content)
        path = tmp_path / "params.yaml"
        path.write_text(dump_yaml(content), encoding="utf-8")
        monkeypatch.setattr(params, "raw", lambda: load_yaml(path))
        params.check()

    return check


def test_the_projects_own_params_are_right() -> None:
    params.check()


def test_params_state_every_section_that_a_stage_sees() -> None:
    assert sorted(params.raw()) == sorted(params.raw(PARAMS)) == sorted(params.models())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p["lexical"]["bleu"].update(smothing="none"), r"^lexical\.bleu\.smothing: .*smoothing"),
        (lambda p: p["lexical"]["bleu"].update(threshold=1.5), r"^lexical\.bleu.*threshold 1\.5 .*0 to 1"),
        (lambda p: p["lexical"]["bleu"].update(threshold="learned"), r"^lexical\.bleu\.threshold: .*number, or learnt"),
        (lambda p: p["lexical"]["bleu"].update(threshold=[0.5]), r"^lexical\.bleu\.threshold: .*number, or learnt"),
        (lambda p: p["gate"].update(fail_on="better"), r"^gate\.fail_on: .*worse"),
        (
            lambda p: p["gate"].update(metrics={"lable": 0.0}),
            r"^gate\.metrics: unknown measure 'lable'; did you mean label",
        ),
        (lambda p: p["gate"].update(primary="lable"), r"^gate\.primary: .* 'lable'; did you mean label or"),
        (lambda p: p["gate"].update(primary="f1.vale"), r"^gate\.primary: .*did you mean f1\.value"),
        (lambda p: p["report"].update(targets={"meteo": 0.5}), r"^report\.targets: .*did you mean meteor"),
        (
            lambda p: p["report"].update(targets={"preferred_over.aurora": 0.5}),
            r"^report\.targets\.preferred_over\.aurora: no preference is asked for \(judge\.preference\)",
        ),
        (
            lambda p: (
                p["judge"].update(provider="openai", preference={}),
                p["report"].update(targets={"preferred_over.auror": 0.5}),
            ),
            r"^report\.targets: .*did you mean preferred_over\.aurora",
        ),
        (
            lambda p: p["judge"].update(preference={}),
            r"^judge\.preference: preference needs a language model: set provider to openai or cascade",
        ),
        (
            lambda p: (p["dataset"].update(scores=TOXICITY), p["report"].update(targets={"score_toxicity": 0.1})),
            r"^report\.targets\.score_toxicity: less of it is better, and a target is a minimum",
        ),
        (
            lambda p: (
                [one.update(label=None) for one in p["dataset"]["candidates"].values()],
                p["report"].update(targets={"label": 0.8}),
            ),
            r"^report\.targets\.label: no candidate has human labels",
        ),
        (lambda p: p["gate"].update(primary="exact_match.value"), r"^gate\.primary: .*did you mean exact_match"),
        (
            lambda p: (p["judge"].update(provider="none"), p["dataset"]["candidates"]["aurora"].update(label=None)),
            r"^gate\.primary: none, but not all candidates have labels and no judge .*: exact_match",
        ),
        (lambda p: p["gate"].update(metrics=[]), r"^gate\.metrics: expected guards, .*\{meteor: 0\.05\}"),
        (lambda p: p["lexical"]["exact_match"].update(threshold=0.5), r"^lexical\.exact_match.*takes no threshold"),
        (lambda p: p["lexical"].update(blue={}), r"^lexical\.blue: .*bleu"),
        (lambda p: p["lexical"]["bleu"].update(profile="nltkk"), r"^lexical\.bleu.*nltkk.*nltk"),
        (lambda p: p["aggregate"].update(confidance=0.9), r"^aggregate\.confidance: .*did you mean confidence"),
        (lambda p: p["aggregate"].update(confidence=95), r"^aggregate\.confidence: .*95"),
        (lambda p: p["aggregate"].pop("guarantee"), r"^aggregate\.guarantee: missing"),
        (lambda p: p.update(lexicall={}), r"^lexicall: unknown section"),
        (lambda p: p.pop("lexical"), r"^lexical: .*lacks"),
    ],
)
def test_a_mistake_is_named_by_its_full_path(changed: Callable[[Change], None], change: Change, message: str) -> None:
    with pytest.raises(ParamsError, match=message):
        changed(change)


def test_a_missing_file_says_where_to_run(tmp_path: Path) -> None:
    with pytest.raises(ParamsError, match=r"params\.yaml: not found"):
        params.raw(tmp_path / "params.yaml")


@pytest.mark.parametrize("text", ["a: [", "- 1", "\x00", ""])
def test_a_file_that_is_not_sections_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ParamsError, match=str(path.name)):
        params.raw(path)


def test_an_override_by_dvc_changes_its_line_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.write_bytes(PARAMS.read_bytes())

    with modify_yaml(str(path)) as content:
        content["lexical"]["bleu"]["threshold"] = 0.6

    lines = [set(each.read_text(encoding="utf-8").splitlines()) for each in (PARAMS, path)]
    assert lines[1] - lines[0] == {"  bleu: {threshold: 0.6}"}


LONG_NAME = "the large model of the second quarter with the prompt for a short answer"


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p["dataset"].update(candidates={LONG_NAME: {"response": "a"}}),
        lambda p: p["dataset"]["candidates"]["aurora"].update(about={"deep": [{LONG_NAME[:68]: 1}]}),
    ],
)
def test_a_name_that_would_destroy_dvc_lock_is_refused(tmp_path: Path, change: Change) -> None:
    content = params.raw(PARAMS)
    change(content)
    (tmp_path / "params.yaml").write_text(dump_yaml(content), encoding="utf-8")

    with pytest.raises(ParamsError, match=r"^dataset\.candidates.*: the name 'the large .*dvc\.lock.*Shorten"):
        params.raw(tmp_path / "params.yaml")
