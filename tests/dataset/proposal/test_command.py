"""`python -m flows.init`: what it writes, keeps and says. Loading is left out here: tests/whole/test_own_data.py."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tasks.__main__
from goldmeter.dataset.proposal import command, show
from goldmeter.dataset.proposal.given import read_sample
from goldmeter.dataset.proposal.inputs import propose_log
from goldmeter.dataset.proposal.proposal import propose
from goldmeter.models.embedding import distinct_texts
from goldmeter.pipeline import params
from goldmeter.pipeline.yaml import parse_yaml
from tests.small_project import ROOT, ROWS, edit, write

EXAMPLE = "data/examples/qa.jsonl"

CSV = "question,gold,answer_v1,answer_v2,topic\nWho?,me / I,me,you,x\nWhat?,this,that,this,y\n"


def git(*command: str) -> str:
    return subprocess.run(["git", *command], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def clone(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project under git and DVC, in which load does nothing."""
    (project / ".dvc").mkdir()
    git("init", "-q")
    git("add", "-A")
    git("-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "-m", "start")
    (project / "data/mine.csv").write_text(CSV, encoding="utf-8")
    monkeypatch.setattr(command, "_load", lambda: None)
    monkeypatch.setattr(command.show, "loaded", lambda *_: None)
    monkeypatch.setattr(command, "texts_to_embed", lambda: None)
    return project


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error."""
    status = command.main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.usefixtures("clone")
def test_parallel_files_beside_the_tables_are_told_the_whole_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("src", "ref", "a"):
        Path(f"{name}.txt").write_text("one\ntwo\n", encoding="utf-8")
    monkeypatch.setattr(command, "tables_in", lambda _: ["data/load"])

    status, _, err = told(capsys, "--input", "src.txt", "--references", "ref.txt", "--candidate", "x=a.txt")

    assert status == 2
    assert err.splitlines()[-2:] == [
        "  mkdir data/mine && mv src.txt ref.txt a.txt data/mine",
        "  python -m flows.init --input data/mine/src.txt --references data/mine/ref.txt --candidate x=data/mine/a.txt",
    ]


@pytest.mark.usefixtures("clone")
def test_the_section_is_written_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    before = params.PATH.read_text(encoding="utf-8")

    status, out, err = told(capsys, "data/mine.csv")

    after = params.PATH.read_text(encoding="utf-8")
    dataset = parse_yaml(after)["dataset"]
    assert (status, err) == (0, "")
    assert (dataset["path"], dataset["input"], dataset["references"]) == ("data/mine.csv", "question", "gold")
    assert dataset["candidates"] == {"v1": {"response": "answer_v1"}, "v2": {"response": "answer_v2"}}
    assert after[after.index("\nload:") :] == before[before.index("\nload:") :]
    assert after[: after.index("dataset:")] == before[: before.index("dataset:")]
    assert sorted(path.name for path in Path().glob(".*")) == [".dvc", ".git"]
    assert "section dataset written, from its 2 records" in out
    assert "check in params.yaml: dataset.reference_separator" in out
    params.check()


@pytest.mark.usefixtures("clone")
def test_data_that_nobody_knows_are_to_be_added(capsys: pytest.CaptureFixture[str]) -> None:
    unknown = told(capsys, "data/mine.csv")[1]
    Path("data/mine.csv.dvc").touch()
    by_dvc = told(capsys, "data/mine.csv")[1]
    by_git = told(capsys, "data/examples/qa.jsonl")[1]

    assert unknown.endswith("next: dvc add data/mine.csv\n      python -m flows.evaluate\n")
    assert by_dvc.endswith("\n\nnext: python -m flows.evaluate\n")
    assert by_git.endswith("\n\nnext: python -m flows.evaluate\n")


@pytest.mark.usefixtures("clone")
def test_a_section_that_was_not_committed_can_be_brought_back(capsys: pytest.CaptureFixture[str]) -> None:
    committed = told(capsys, "data/examples/qa.jsonl")[1]
    edited = params.PATH.read_bytes().replace(b"input: question", b"input: query  # mine \xc3\xbc\r")
    params.PATH.write_bytes(edited)

    out = told(capsys, "data/mine.csv")[1]

    assert "not committed" not in committed
    command = next(line for line in out.splitlines() if "not committed" in line).partition(": ")[2]
    subprocess.run(command, shell=True, check=True)  # noqa: S602 (as a person would paste it)
    assert params.PATH.read_bytes() == edited


@pytest.mark.usefixtures("clone")
def test_a_run_that_would_stop_is_not_the_first_thing_to_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command.show, "loaded", lambda *_: True)

    out = told(capsys, EXAMPLE)[1]

    assert out.splitlines()[-2:] == [
        "first: correct what is marked check, in params.yaml or the data; then dvc repro load",
        "next: python -m flows.evaluate",
    ]


@pytest.mark.usefixtures("clone")
def test_proposed_again_nothing_changes(capsys: pytest.CaptureFixture[str]) -> None:
    first = told(capsys, "data/mine.csv")
    written = params.PATH.stat().st_ino

    assert told(capsys, "data/mine.csv") == first
    assert params.PATH.stat().st_ino == written


@pytest.mark.usefixtures("clone")
def test_an_absolute_path_below_the_project_is_written_relative(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, str(Path("data/mine.csv").absolute()))

    assert params.raw()["dataset"]["path"] == "data/mine.csv"


def test_data_elsewhere_are_told_to_be_copied(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = clone.parent / f"{clone.name} elsewhere.csv"
    elsewhere.write_text(CSV, encoding="utf-8")

    out = told(capsys, str(elsewhere))[1]

    assert f"{elsewhere}: outside of the project, where no other machine has it" in out
    assert f"dvc add 'data/{elsewhere.name}' && python -m flows.init 'data/{elsewhere.name}'" in out


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "data/x.csv: no such file or folder"),
        ("", "data/x.csv: empty, no record in it"),
        ("a,b\n1,2\n", "data/x.csv: not recognised: input, references, candidates"),
    ],
)
def test_what_can_not_be_proposed_leaves_params_as_they_are(
    content: str | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = params.PATH.read_bytes()
    if content is not None:
        Path("data/x.csv").write_text(content, encoding="utf-8")

    status, out, err = told(capsys, "data/x.csv")

    assert (status, out) == (2, "")
    assert err.startswith(f"error: {message}")
    assert params.PATH.read_bytes() == before


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize("data", ["", " "])
def test_an_empty_name_is_refused(data: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, data) == (2, "", "error: DATA is empty; name a file, or a folder of them\n")


@pytest.mark.usefixtures("project")
def test_missing_answers_that_would_stop_the_run_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    proposal = propose(EXAMPLE, read_sample(EXAMPLE))
    edit(lambda content: content["dataset"].update(proposal.options))
    lacking, whole = {"aurora": None, "invalid": "true"}, {"invalid": "false"}
    write(Path(), [row | (lacking if i < 2 else whole) for i, row in enumerate(ROWS)])
    assert tasks.__main__.main(["load"]) == 0
    capsys.readouterr()

    proposal = propose(EXAMPLE, read_sample(EXAMPLE))
    show.loaded(proposal, 0.05)
    told = capsys.readouterr().out
    show.loaded(proposal, 0.25)

    said = "check: aurora has no answer in 2 of 10 rows (20.0 %): above aggregate.max_unmeasured 0.05 the run stops"
    assert said in told
    assert "2 of the 2 without an answer of aurora among them: {invalid: true}" in told
    assert "aurora has no answer" not in capsys.readouterr().out


def test_what_answers_took_is_mapped_where_a_log_knows_it() -> None:
    logs = ROOT / "tests/dataset/readers/logs"
    candidates = {"column": "candidate", "response": "response", "latency": "latency"}

    # This promptfoo wrote a cost of 0 for every answer: it knows no price.
    assert propose_log(str(logs / "promptfoo.json"), "promptfoo").options["candidates"] == candidates
    own = propose_log(str(logs / "inspect.json.gz"), "inspect").options["candidates"]
    assert own == candidates | {"tokens": "tokens"}
    assert "latency" not in propose_log(str(logs / "deepeval.json"), "deepeval").options["candidates"]


@pytest.mark.usefixtures("clone")
def test_a_log_without_references_is_loaded_without_them_and_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    trace = {"id": "t1", "timestamp": "2026-11-01", "sessionId": None, "input": "Why?", "output": "Because."}
    Path("data/traces.json").write_text(json.dumps([trace]), encoding="utf-8")

    status, out, _ = told(capsys, "data/traces.json")
    after = parse_yaml(params.PATH.read_text(encoding="utf-8"))

    assert status == 0
    assert "load.require_references is now false, as no record has a reference" in out
    assert after["load"] == {"require_references": False}
    assert told(capsys, "data/mine.csv")[1].count("require_references") == 0


@pytest.mark.usefixtures("clone")
def test_the_command_line_reads_a_log_that_is_a_table_unless_columns_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    row = {"user_input": "Why?", "response": "Because.", "reference": "So.", "faithfulness": 0.5, "query": "W?"}
    Path("data/ragas.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    formats = []

    for arguments in ([], ["--task", "qa"], ["--input", "query"]):
        assert told(capsys, "data/ragas.jsonl", *arguments)[0] == 0
        formats.append(parse_yaml(params.PATH.read_text(encoding="utf-8"))["dataset"].get("format"))

    assert formats == ["ragas", "ragas", None]


@pytest.mark.usefixtures("project")
def test_failed_scores_that_would_stop_the_run_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(ROOT / "tests/dataset/readers/logs/deepeval.json", "data/deepeval.json")
    proposal = propose_log("data/deepeval.json", "deepeval")
    edit(lambda content: content["dataset"].update(proposal.options))
    assert tasks.__main__.main(["load"]) == 0
    capsys.readouterr()

    show.loaded(proposal, 0.05)
    told = capsys.readouterr().out
    show.loaded(proposal, 0.5)

    assert "check: tiny has no Exact in 1 of 3 rows (33.3 %): above aggregate.max_unmeasured 0.05 the run stops" in told
    assert "  leave it out of dataset.scores; or raise aggregate.max_unmeasured\n" in told
    assert "the run stops" not in capsys.readouterr().out


@pytest.mark.usefixtures("project")
def test_missing_verdicts_of_a_tool_lead_to_their_label_and_not_to_the_scores(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [
        {"question": f"Q{n}?", "reference": f"R{n}", "response": f"A{n}", "correct": verdict}
        for n, verdict in enumerate(["yes", "no", None, "yes"])
    ]
    Path("data/judged.json").write_text(json.dumps(rows), encoding="utf-8")
    proposal = propose("data/judged.json", read_sample("data/judged.json", None))
    edit(lambda content: content["dataset"].update(proposal.options))
    assert tasks.__main__.main(["load"]) == 0
    capsys.readouterr()

    show.loaded(proposal, 0.05)

    told = capsys.readouterr().out
    assert "has no correct in 1 of 4 rows (25.0 %)" in told
    assert "  leave its label out of dataset.candidates; or raise aggregate.max_unmeasured\n" in told


@pytest.mark.long
@pytest.mark.usefixtures("project")
def test_a_long_first_run_is_told_with_the_way_to_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tasks.__main__.main(["load"]) == 0
    few = command.texts_to_embed()
    monkeypatch.setattr(command, "FEWEST_TO_TELL", 2)
    short = command.texts_to_embed()
    monkeypatch.setattr(distinct_texts, "LONG", 0)
    long = command.texts_to_embed()
    edit(lambda content: content.update(semantic={}))

    assert (few, short, command.texts_to_embed()) == (None, None, None)
    assert str(long).startswith("embed: 30 texts of ")
    assert str(long).endswith("To do without: semantic: {} in params.yaml")


@pytest.mark.usefixtures("project")
def test_a_model_that_is_not_there_is_told_before_the_first_run() -> None:
    assert tasks.__main__.main(["load"]) == 0
    edit(lambda content: content["embed"].update(model="nowhere"))

    assert str(command.texts_to_embed()).startswith("embed: ")


@pytest.mark.usefixtures("clone")
def test_no_command_of_the_data_reaches_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"question \x1b[31m\u202e": "\x1b[2J", "gold\x1b]0;x\x07": "\x9b31m", "[red]response": "\u2066[/red]"}
    Path("data/bad.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")

    status, out, err = told(capsys, "data/bad.jsonl")

    assert status == 0
    assert all(line.isprintable() for line in [*out.splitlines(), *err.splitlines()])
    assert "[red]response" in out


def test_params_keep_their_mode_and_their_place_behind_a_link(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (clone / "params.yaml").rename(clone / "real.yaml")
    (clone / "real.yaml").chmod(0o640)
    (clone / "params.yaml").symlink_to("real.yaml")

    assert told(capsys, "data/mine.csv")[0] == 0
    assert (clone / "params.yaml").is_symlink()
    assert (clone / "real.yaml").stat().st_mode & 0o777 == 0o640
    assert params.raw()["dataset"]["input"] == "question"


def test_outside_of_a_project_it_says_where_to_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    status, _, err = told(capsys, "mine.csv")

    assert status == 2
    assert "change to the folder of dvc.yaml" in err


def test_without_git_nothing_is_lost(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path(".git").rename("away")
    before = params.PATH.read_bytes()

    status, _, err = told(capsys, "data/mine.csv")

    assert status == 2
    assert err.startswith("error: params.yaml: git can't save the present file")
    assert (clone / "params.yaml").read_bytes() == before


def test_it_starts_without_prefect() -> None:
    code = "import sys, flows.init; print({'prefect', 'great_expectations', 'torch', 'dvc'} & set(sys.modules))"

    assert (
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        == "set()\n"
    )
