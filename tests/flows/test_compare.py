"""`python -m flows.compare`: its exit status, its forms, and what it says when it can't compare."""

import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.compare import main
from goldmeter.console.markdown import escaped
from goldmeter.pipeline.tables import describe, write_part
from goldmeter.wording.verdicts import Decision
from tests.comparison import repository
from tests.comparison.repository import git, write_params
from tests.comparison.sample import Row, answers, version
from tests.reporting.made import inputs
from tests.reporting.made import row as made_row
from tests.small_project import ROOT, edit, settings


@pytest.fixture
def clone(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project under git and DVC, which is the current folder."""
    path = repository.copy(template, tmp_path / "clone")
    monkeypatch.chdir(path)
    return path


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a params.yaml that no git and no DVC know, to put versions into."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    write_params()
    return tmp_path


def put(**each: list[Row]) -> None:
    """Make versions, folder → rows."""
    for name, rows in each.items():
        version(Path(name), rows)


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error."""
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


def found(capsys: pytest.CaptureFixture[str], *arguments: str, status: int) -> Any:
    """The comparison as JSON; it must end with `status`."""
    ended, out, err = told(capsys, *arguments, "--json")
    said = [line for line in err.splitlines() if not line.startswith("warning: workspace: ")]  # it is made by hand
    assert (ended, said) == (status, [])
    return json.loads(out)


@pytest.mark.usefixtures("clone")
def test_two_tags(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = told(capsys, "v1", "v2")

    assert (status, err) == (1, "")
    assert "aurora: v1 → v2" in out
    assert "40 shared rows" in out
    assert "17 more answers changed result" in out
    assert told(capsys, "v2", "v1")[0] == 0


@pytest.mark.usefixtures("clone")
def test_a_version_whose_params_lack_newer_options_is_compared(capsys: pytest.CaptureFixture[str]) -> None:
    newer = ("format", "draw", "lists", "other_questions", "label_file", "contexts", "relevant")
    git("checkout", "-q", "-f", "v1")
    edit(lambda params: [params["dataset"].pop(option) for option in newer])
    git("commit", "-q", "-a", "-m", "before these options")
    git("tag", "older")
    git("checkout", "-q", "-f", "main")

    assert found(capsys, "older", "v2", status=1)["pairs"] == found(capsys, "v1", "v2", status=1)["pairs"]


@pytest.mark.usefixtures("clone")
def test_an_experiment_and_a_tag_and_the_workspace(capsys: pytest.CaptureFixture[str]) -> None:
    tried, workspace = found(capsys, "v1", "try-1", status=1), found(capsys, "v1", status=0)

    assert tried["head"]["name"] == "try-1"
    assert len(tried["head"]["commit"]) == 40
    assert tried["pairs"][0]["measures"]["f1"]["difference"]["value"] == -0.125
    assert workspace["base"] == {"name": "v1", "commit": git("rev-parse", "v1")}
    assert workspace["head"] == {"name": "workspace", "commit": None}
    assert workspace["pairs"][0]["measures"]["f1"]["difference"]["value"] == -0.025


@pytest.mark.usefixtures("folders")
@pytest.mark.parametrize(
    ("older", "newer", "section", "status"),
    [
        ("+" * 40, "+" * 20 + "." * 20, {}, 1),
        ("+" * 40, "+" * 39 + ".", {"fail_on": "cannot_tell"}, 1),
        ("+" * 40, "+" * 20 + "." * 20, {"margin": 0.9}, 0),
        ("+" * 40, "+" * 20 + "." * 20, {"primary": "f1", "metrics": {"label": 0.0}}, 1),
        ("." * 40, "+" * 40, {"primary": "f1", "metrics": {"label": 0.0}}, 2),
        ("+" * 40, "+" * 20 + "." * 20, {"primary": "f1", "metrics": {"nothing_like_it": 0.0}}, 2),
    ],
)
def test_the_exit_status(older: str, newer: str, section: dict[str, Any], status: int) -> None:
    put(old=answers(older), new=answers(newer))
    edit(lambda params: params["gate"].update(section))

    assert main(["old", "new"]) == status


@pytest.mark.usefixtures("folders")
def test_another_tokenizer_is_refused_and_rescored_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    version(Path("old"), answers("+.+."), metrics={"bleu": {"tokenizer": "13a"}})
    version(Path("new"), answers("++++"), metrics={"bleu": {"tokenizer": "char"}})
    edit(lambda params: params["gate"].update(primary="bleu"))

    status, out, _ = told(capsys, "old", "new")
    again, rescored, _ = told(capsys, "old", "new", "--rescore")

    assert status == 2
    assert "bleu not compared: measured differently: tok was 13a, is char" in " ".join(out.split())
    assert "--rescore" in out
    assert again == 0
    assert "not compared" not in rescored


@pytest.mark.usefixtures("folders")
def test_renamed_candidates_are_mapped(capsys: pytest.CaptureFixture[str]) -> None:
    put(old=answers("++", "a") + answers("+.", "b"), new=answers("++", "c") + answers("++", "d=1"))

    document = found(capsys, "old", "new", "--map", "a=c", "--map", "b=d=1", status=0)

    assert [(pair["base"], pair["head"]) for pair in document["pairs"]] == [("a", "c"), ("b", "d=1")]


@pytest.mark.usefixtures("folders")
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["a"], "--map a: expected OLD=NEW"),
        (["=c"], "--map =c: expected OLD=NEW"),
        (["x="], "--map x: BASE has no such candidate"),
        (["a=c", "a=d"], "--map: a candidate of BASE is given twice"),
        (["a=c", "a=c"], "--map: a candidate of BASE is given twice"),
    ],
)
def test_names_that_can_not_be_mapped(capsys: pytest.CaptureFixture[str], given: list[str], message: str) -> None:
    put(old=answers("++", "a") + answers("+.", "b"), new=answers("++", "c") + answers("++", "d"))

    status, out, err = told(capsys, "old", "new", *(part for pair in given for part in ("--map", pair)))

    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err


def gate(**options: Any) -> Callable[[], None]:
    return lambda: edit(lambda params: params["gate"].update(options))


def of_another_tool(**columns: list[str]) -> Callable[[], None]:
    """A table of other columns in place of data/load."""
    return lambda: write_part(describe(pa.table(columns), {}), Path("other/data/load"), 0)


MISTAKES: dict[str, tuple[Callable[[], object], Sequence[str], str]] = {
    **{
        f"the version {name!r}": (lambda: None, [name, "new"], f"{name}: neither git nor DVC knows such a version")
        for name in ("nowhere", "", "[red]", "params.yaml", "../nowhere", "HEAD")
    },
    "a folder without tables": (lambda: None, ["empty", "new"], "empty: no data/load there"),
    "a folder for parts without parts": (lambda: None, ["hollow", "new"], "no table there"),
    "a table without ids": (of_another_tool(question=["a"]), ["other", "new"], ""),
    "a table without answers": (of_another_tool(id=["a"], candidate=["b"]), ["other", "new"], ""),
    "a file that is no table": (
        lambda: Path("old/data/lexical/part-00000.parquet").write_bytes(b"PAR1 not really"),
        ["old", "new"],
        "part-00000.parquet: can't be read as a table",
    ),
    "guards that are a list": (
        gate(metrics=[]), ["old", "new"], "gate.metrics: expected guards, each with the largest acceptable loss"
    ),
    "a misspelt option": (gate(margins=1), ["old", "new"], "gate.margins: unknown option; did you mean margin?"),
    "no section": (lambda: edit(lambda params: params.update(gate=3)), ["old", "new"], "gate: expected options"),
    "no params.yaml": (lambda: Path("params.yaml").unlink(), ["old", "new"], "params.yaml: not found"),
    "a report that head has nothing for": (
        lambda: shutil.copy(ROOT / "dvc.yaml", "dvc.yaml"), ["old", "new", "--html"], "error: new: no "
    ),
}  # fmt: skip


@pytest.mark.usefixtures("folders")
@pytest.mark.parametrize(("mistake", "arguments", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_an_error_that_names_it(
    capsys: pytest.CaptureFixture[str], mistake: Callable[[], object], arguments: Sequence[str], message: str
) -> None:
    put(old=answers("+"), new=answers("+"))
    for name in ("empty", "hollow/data/load", "other/data/load"):
        Path(name).mkdir(parents=True)
    mistake()

    status, out, err = told(capsys, *arguments)

    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err


@pytest.mark.usefixtures("folders")
def test_forms_go_to_files_and_the_table_still_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    put(old=answers("++++"), new=answers("+++."))

    status, out, _ = told(capsys, "old", "new", "--json", "c.json", "--markdown", "c.md")

    assert status == 0
    assert "aurora: old → new" in out
    assert json.loads(Path("c.json").read_text(encoding="utf-8"))["schema"] == 1
    assert Path("c.md").read_text(encoding="utf-8").startswith("### goldmeter: old → new\n")


@pytest.mark.usefixtures("folders")
def test_markdown_alone_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    put(old=answers("++++"), new=answers("+++."))

    _, out, _ = told(capsys, "old", "new", "--markdown")

    assert out.startswith("### goldmeter: old → new\n")
    assert "─" not in out


def with_reports(project: Path) -> None:
    """Make the versions old and new with all that a page is of; new lost every answer."""
    for name, text, f1 in (("old", "Paris", 1.0), ("new", "<b>Rome", 0.0)):
        rows = [made_row(f"q{n}", "aurora", text, None, f1, 0.9) for n in range(20)]
        _, documents = inputs(rows, project / name / "data")
        every = documents | {f"reports/validation/{stage}.json": documents["reports/validation/load.json"]
                             for stage in ("normalize", "embed", "semantic", "judge", "aggregate")}  # fmt: skip
        for path, content in every.items():
            (project / name / path).parent.mkdir(parents=True, exist_ok=True)
            (project / name / path).write_text(json.dumps(content), encoding="utf-8")
    edit(lambda params: params["gate"].update(primary="f1"))


def test_heads_report_with_the_comparison(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with_reports(project)

    status, out, err = told(capsys, "old", "new", "--html")
    page = (project / "reports/comparison.html").read_text(encoding="utf-8")

    assert (status, err) == (1, "")
    assert "17 more answers changed result" in out
    assert 'id="comparison"' in page
    assert "<b>Rome" not in page
    assert out.endswith("\nreport: reports/comparison.html\n")
    status, out, err = told(capsys, "old", "new", "--json", "--html", "page.html")
    assert (status, err) == (1, "report: page.html\n")
    assert json.loads(out)
    assert (project / "page.html").read_text(encoding="utf-8") == page


@pytest.mark.parametrize("form", ["--json", "--markdown", "--html"])
def test_a_file_in_no_folder_is_an_error_before_anything_is_compared(
    folders: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    put(old=answers("+"))

    missing, folder = told(capsys, "old", "none", form, "no/such"), told(capsys, "old", "none", form, "old")

    assert missing == (2, "", f"error: {form} no/such: there is no folder no; create it first\n")
    assert folder == (2, "", f"error: {form} old: is a folder; expected a file\n")
    assert not (folders / "no").exists()


@pytest.mark.parametrize("form", [["--json"], ["--markdown", "x.md"], ["--html"]])
def test_a_flow_writes_no_form_and_says_so(capsys: pytest.CaptureFixture[str], form: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["old", "new", "--flow", *form])

    assert ended.value.code == 2
    assert "--flow keeps the table as an artifact" in capsys.readouterr().err


@pytest.mark.usefixtures("folders")
def test_a_flow_asks_no_server_that_does_not_answer(capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = "http://127.0.0.1:9/api"

    with temporary_settings(updates={PREFECT_API_URL: nowhere}):
        status, out, err = told(capsys, "old", "new", "--flow")

    assert (status, out) == (2, "")
    assert err.startswith(f"error: PREFECT_API_URL={nowhere}: no Prefect server answers there")


@pytest.mark.long
def test_a_flow_prints_the_table_as_without_it(folders: Path) -> None:
    put(old=answers("+" * 12), new=answers("." * 12))
    command = [sys.executable, "-m", "flows.compare", "old", "new"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PREFECT_HOME": str(folders / "prefect")}

    def run(*more: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([*command, *more], env=environment, capture_output=True, text=True, check=False)

    without, flow = run(), run("--flow")

    assert flow.returncode == without.returncode == 1
    assert without.stdout in flow.stdout
    said = without.stdout.splitlines()[0]
    with sqlite3.connect(folders / "prefect/prefect.db") as database:
        [run] = database.execute(
            "SELECT run.name, run.tags, run.state_type, run.state_name, state.message "
            "FROM flow_run AS run JOIN flow_run_state AS state ON state.id = run.state_id"
        )
        [(kept,)] = database.execute("SELECT data FROM artifact WHERE key = 'comparison'")
    assert (run[0], sorted(json.loads(run[1]))) == ("qa.jsonl: old → new", ["goldmeter", "qa.jsonl"])
    assert run[2:] == ("FAILED", Decision.DO_NOT_SHIP.capitalize(), said)
    assert f"**{escaped(said)}**" in json.loads(kept)


@pytest.mark.parametrize(
    "arguments", [[], ["--map"], ["a", "--against", "last"], ["a", "b", "c", "--flow"], ["a", "--unknown"]]
)
def test_arguments_that_are_none_end_with_the_usage(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert ended.value.code == 2
    assert "usage: python -m flows.compare" in capsys.readouterr().err


def test_the_settings_that_ship_name_no_measure() -> None:
    gate = settings()["gate"]

    assert gate == {
        "primary": None, "metrics": {}, "margin": 0.0, "confidence": 0.95, "fail_on": "worse", "max_unmeasured": 0.05,
    }  # fmt: skip


class Closed(io.StringIO):
    """Standard output whose reader went away after the first line."""

    def write(self, text: str) -> int:
        if "\n" in self.getvalue():
            raise BrokenPipeError
        return super().write(text)


@pytest.mark.usefixtures("folders")
@pytest.mark.parametrize(("new", "status"), [("+" * 40, 0), ("." * 40, 1)])
def test_the_decision_is_the_exit_status_whoever_stops_reading(
    new: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(old=answers("+" * 40), new=answers(new))
    monkeypatch.setattr(sys, "stdout", Closed())

    assert main(["old", "new"]) == status
