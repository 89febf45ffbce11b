"""`goldmeter params`: the settings in force, where each comes from, and what they mean."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goldmeter.pipeline import params
from goldmeter.reference.command import in_force, known, options
from tasks.__main__ import main
from tests.small_project import edit

pytestmark = pytest.mark.usefixtures("project")


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error, with blanks between words only."""
    status = main(["params", *arguments])
    out, err = capsys.readouterr()
    return status, "\n".join(" ".join(line.split()) for line in out.splitlines()), err


def test_each_setting_names_the_place_that_it_comes_from() -> None:
    found = {each.path: each for each in in_force(["gate.margin=0.02", "++embed.precision=bf16"])}

    line = Path("params.yaml").read_text(encoding="utf-8").splitlines().index("  task: qa") + 1
    assert found["dataset.task"][1:] == ("qa", f"params.yaml:{line}")
    assert found["dataset.limit"][1:] == (None, "default")
    assert found["lexical.bleu"][1:] == ({"threshold": 0.5}, "default")
    assert found["run.judge.budget.max_cost"][1:] == (None, "default")
    assert found["judge.aliases"].source.startswith("params.yaml:")
    assert (found["gate.margin"][1:], found["embed.precision"][1:]) == ((0.02, "-S"), ("bf16", "-S"))
    assert {each.source for each in found.values() if not each.source.startswith("params.yaml:")} == {"default", "-S"}


def test_a_file_that_states_all_has_no_defaults_in_force() -> None:
    edit(lambda _: None)

    assert {each.source.partition(":")[0] for each in in_force()} == {"params.yaml"}


def test_one_section_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = told(capsys, "gate")

    assert status == 0
    assert out.splitlines()[:3] == ["gate.primary none default", "gate.metrics {} default", "gate.margin 0.0 default"]


def test_a_metric_that_is_changed_keeps_the_others_beside_it() -> None:
    found = {each.path: each.value for each in in_force(["lexical.bleu.threshold=0.6"])}

    assert found["lexical.bleu"] == {"threshold": 0.6}
    assert [path for path in found if path.startswith("lexical.")] == [
        f"lexical.{name}" for name in params.effective()["lexical"]
    ]


def test_a_value_of_the_command_line_can_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "-S", "lexical.bleu.threshold=0.6", "gate")
    before = params.effective()
    status, out, _ = told(capsys, "-S", "lexical.bleu.threshold=0.6", "--write", "lexical.bleu")

    assert (status, before["lexical"]["bleu"]) == (0, {"threshold": 0.5})
    assert out.startswith("lexical.bleu {threshold: 0.6} params.yaml:")
    assert params.effective() == before | {"lexical": before["lexical"] | {"bleu": {"threshold": 0.6}}}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gate.margn"], "gate.margn: unknown setting; did you mean gate.margin"),
        (["gatee"], "gatee: unknown setting; did you mean gate"),
        (["--explain", "lexical.blue"], "lexical.blue: unknown setting; did you mean lexical.bleu"),
        (
            ["--explain", "judge.metrics.meaning"],
            "judge.metrics.meaning: unknown setting; did you mean judge.",
        ),
        (["-S", "gate.margn=1"], "gate.margn: unknown option; did you mean margin"),
        (["-S", "gatee.margin=1"], "gatee: unknown section of params.yaml; did you mean gate"),
        (["-S", "gate.margin"], "gate.margin: "),
        (["-S", "gate.margin=["], "gate.margin=[: "),
    ],
)
def test_a_wrong_name_is_told_with_similar_ones(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Path("params.yaml").read_bytes()

    status, out, err = told(capsys, *arguments)

    assert (status, out) == (2, "")
    assert err.startswith(f"error: {message}")
    assert Path("params.yaml").read_bytes() == before


def test_a_metric_is_explained_by_its_chapter(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = told(capsys, "--explain", "lexical.bleu")

    assert status == 0
    assert "Geometric mean of clipped n-gram precisions" in out
    assert "smoothing method4" in out


def test_an_option_is_explained_by_its_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "--explain", "gate.margin")[1].splitlines() == [
        "gate.margin: largest acceptable loss of the primary measure, as a share of its scale; 0: none.",
        "default: 0.0; allowed: number ≥ 0, < 1",
    ]


def test_every_option_has_a_meaning() -> None:
    without = [each.path for name in known() for each in options(name) if not each.meaning]

    assert without == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12)
@given(st.text(max_size=20))
def test_whatever_is_asked_for_the_answer_is_a_table_or_one_sentence(text: str) -> None:
    assert main(["params", "--", text]) in {0, 2}
    assert main(["params", f"--set-param={text}"]) in {0, 2}
