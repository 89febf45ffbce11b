"""params.yaml: every section stated, every mistake named by its full path."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dvc.utils.hydra import apply_overrides
from pydantic import RootModel

from goldmeter.errors import ParamsError
from goldmeter.pipeline import defaults, params
from goldmeter.pipeline.yaml import dump_yaml, load_yaml, parse_yaml
from tests.small_project import PARAMS, settings, stated_in_full

# A score without a threshold, of which less is better.
TOXICITY = {"toxicity": {"column": "id", "bounds": [0, 1], "higher_is_better": False}}
Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Change], None]:
    """Checks params.yaml after a change."""

    def check(change: Change) -> None:
        content = settings()
        change(content)
        path = tmp_path / "params.yaml"
        path.write_text(dump_yaml(content), encoding="utf-8")
        monkeypatch.setattr(params, "raw", lambda: load_yaml(path))
        params.check()

    return check


def test_the_projects_own_params_are_right() -> None:
    params.check()


def test_every_setting_has_a_default_but_the_place_of_the_data_and_the_systems() -> None:
    default = load_yaml(defaults.PATH)
    without = [
        f"{name}.{option}"
        for name, model in params.models().items()
        for option in model.model_fields
        if not issubclass(model, RootModel)
        if default[name].get(option) is None and not defaults.takes_none(model, option)
    ]

    assert sorted(default) == sorted(params.models())
    assert without == ["dataset.path", "dataset.candidates"]


def test_decisions_alone_are_the_settings_that_were_stated_in_full() -> None:
    short, full = load_yaml(PARAMS), parse_yaml(stated_in_full())

    assert params.effective(short) == params.effective(full) == full


def test_dvc_yaml_names_no_section_that_the_decisions_lack() -> None:
    stated = load_yaml(PARAMS).keys() - {"schedule"}

    assert stated == params.raw().keys() - {"schedule"} == params.models().keys() - {"schedule"}


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
        (lambda p: p["dataset"].pop("candidates"), r"^dataset\.candidates: missing, and has no default"),
        (
            lambda p: p["judge"].pop("aliases"),
            r"^judge\.aliases: .*lacks this .*write judge: {aliases: data/aliases.csv}$",
        ),
        (lambda p: p["run"]["judge"].pop("prices"), r"^run\.judge\.prices: .*lacks .*write run: {judge: {prices: {gpt"),
        (lambda p: p["report"].pop("targets"), r"^report\.targets: .*lacks .*write report: {targets: {}}$"),
        (lambda p: p.update(lexicall={}), r"^lexicall: unknown section of params.yaml; did you mean lexical"),
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


def test_an_override_by_dvc_is_of_a_setting_that_is_not_stated(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.write_bytes(PARAMS.read_bytes())

    apply_overrides(path, ["++gate.margin=0.1", "++dataset.limit=3"])

    changed, before = params.effective(load_yaml(path)), settings()
    assert changed["gate"] == before["gate"] | {"margin": 0.1}
    assert changed["dataset"] == before["dataset"] | {"limit": 3}


LONG_NAME = "the large model of the second quarter with the prompt for a short answer"


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p["dataset"].update(candidates={LONG_NAME: {"response": "a"}}),
        lambda p: p["dataset"]["candidates"]["aurora"].update(about={"deep": [{LONG_NAME[:68]: 1}]}),
    ],
)
def test_a_name_that_would_destroy_dvc_lock_is_refused(tmp_path: Path, change: Change) -> None:
    content = settings()
    change(content)
    (tmp_path / "params.yaml").write_text(dump_yaml(content), encoding="utf-8")

    with pytest.raises(ParamsError, match=r"^dataset\.candidates.*: the name 'the large .*dvc\.lock.*Shorten"):
        params.raw(tmp_path / "params.yaml")
