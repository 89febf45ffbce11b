"""What a person sees who does it wrong: one short message, status 2, and every table as it was."""

import fcntl
import json
import os
import resource
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from goldmeter.pipeline import tables
from tasks.__main__ import main
from tests.small_project import ROWS, edit, files, make

SCREEN = 24
Fails = Callable[[str], str]


@pytest.fixture
def fails(project: Path, capsys: pytest.CaptureFixture[str]) -> Fails:
    """Runs a stage that has to fail, leaving every file as it was; returns what was printed."""

    def run(stage: str) -> str:
        before = files("data")

        assert main([stage]) == 2

        error = capsys.readouterr().err
        assert error.startswith("error: ")
        assert len(error.splitlines()) <= SCREEN
        assert len(error) < 4000
        assert files("data") == before
        assert not [path for path in (project / "data").glob(".*") if path.is_dir()]
        return error.removeprefix("error: ").rstrip()

    return run


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tables of `load` and `normalize`, made once."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("loaded")
        make(folder)
        patch.chdir(folder)
        assert [main([stage]) for stage in ("load", "normalize")] == [0, 0]
    return folder / "data"


@pytest.fixture
def tables_there(project: Path, loaded: Path) -> Path:
    """The project with those tables."""
    shutil.copytree(loaded, project / "data", dirs_exist_ok=True)
    return project


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("load:\n  part_rows: 5\n", "params.yaml, line 2, column 1: the key 'load' is duplicated, first in line 1"),
        ("x: {a: 1, b: 2, a: 3}\n", "params.yaml, line 2, column 17: the key 'a' is duplicated, first in line 2"),
        ("x: [\n", "params.yaml, line 3, column 1: "),
        (
            "\tx: 1\n",
            "params.yaml, line 2, column 1: while scanning for the next token, found char",
        ),
        ("x: *nope\n", "params.yaml, line 2, column 4: found undefined alias"),
        ("x: 2024-13-45\n", "params.yaml, line 2, column 4: '2024-13-45' is no timestamp: month must be in 1..12"),
        ("x: 0x_\n", "params.yaml, line 2, column 4: '0x_' is no int: invalid literal for int"),
        ("5: {}\n", "params.yaml, line 2, column 1: the key '5' is not read as text; write it in quotes"),
        ("true: {}\n", "params.yaml, line 2, column 1: the key 'true' is not read as text; write it in quotes"),
        ("? [a, b]\n: 1\n", "params.yaml, line 2, column 3: a list or an object can't be a key"),
        (
            'x: "\\ud800"\n',
            "params.yaml, line 2, column 7: while parsing a quoted scalar, found invalid",
        ),
        (
            "---\nx: 1\n",
            "params.yaml, line 2, column 1: expected a single document",
        ),
        ("x: !!python/name:os.system\n", "params.yaml, line 2, column 4: could not determine a constructor"),
        (f"x: {'[' * 3000}{']' * 3000}\n", "params.yaml, line 2: nested more than 200 levels deep"),
        ("x: \udcff\n", "params.yaml: not readable as YAML: 'utf-8' codec can't decode byte 0xff"),
        ("x: \0\n", "params.yaml: not readable as YAML: unacceptable character #x0000"),
    ],
)
def test_params_that_are_no_yaml(fails: Fails, text: str, message: str) -> None:
    Path("params.yaml").write_bytes(b"load: {}\n" + text.encode("utf-8", "surrogateescape"))

    assert fails("load").startswith(message)


def set_at(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    def change(params: dict[str, Any]) -> None:
        *above, last = path.split()
        for step in above:
            params = params[step]
        params[last] = value

    return change


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("dataset candidates aurora", None, "dataset.candidates.aurora: expected options, such as {a: 1}, found null"),
        ("dataset candidates aurora", "x", "dataset.candidates.aurora: expected options, such as {a: 1}, found 'x'"),
        ("dataset candidates aurora about", {"a": float("nan")}, "dataset.candidates.aurora.about: "),
        ("dataset slices", "topic", "dataset.slices: expected a list, such as [a, b], found 'topic'"),
        ("dataset slices", ["topic", False], "dataset.slices.1: expected text, found false; write it in quotes"),
        ("dataset id", 5, "dataset.id: expected text, found 5; write it in quotes"),
        ("dataset path", None, "dataset.path: missing, and has no default"),
        ("dataset exclude", {"topic": ["a"]}, "dataset.exclude.topic: expected a single value, found ['a']"),
        ("dataset scores", {"1x": "c"}, "dataset.scores.1x: the name should match pattern"),
        ("dataset limit", True, "dataset.limit: expected a number (given: true)"),
        ("dataset limit", "x" * 5000, "dataset.limit: should be a valid integer"),
        ("dataset", [], "dataset: expected options, such as {a: 1}, found []"),
        ("dataset", None, "dataset.path: missing"),
        ("lexical", ["bleu"], "lexical: expected options, such as {a: 1}, found ['bleu']"),
        ("semantic", 7, "semantic: expected options, such as {a: 1}, found 7"),
        ("judge filters", ["x"], "judge.filters.0: expected options, such as {a: 1}, found 'x'"),
        (
            "judge filters",
            [{"field": "response", "operator": "=", "value": ["x"]}],
            "judge.filters.0.value: expected a single value, found ['x']",
        ),
        ("judge nonsense", 1, "judge.nonsense: unknown option; allowed: aliases, api_key_env, band"),
        ("run judge retires", 1, "run.judge.retires: unknown option; did you mean retries or prices? allowed: batch"),
        ("run retries", {"default": 0, "jduge": 1}, "run.retries.jduge: no such stage; allowed: default, answer, load"),
        ("run timeouts", {"judge": 1}, "run.timeouts.default: missing"),
    ],
)
def test_values_that_are_not_allowed(fails: Fails, path: str, value: object, message: str) -> None:
    edit(set_at(path, value))

    assert fails("load").startswith(message)


def test_a_stage_without_a_module(fails: Fails) -> None:
    path = Path("dvc.yaml")
    path.write_text(path.read_text(encoding="utf-8").replace("  load:\n", "  laod:\n"), encoding="utf-8")

    assert fails("laod") == (
        "dvc.yaml: the stage laod: no module tasks/laod.py; `git checkout tasks/laod.py` restores it"
    )


def test_a_csv_without_a_header_shows_a_screenful(fails: Fails) -> None:
    edit(set_at("dataset path", "data/in.csv"))
    Path("data/in.csv").write_text(",".join(f"{i}{'x' * 5000}" for i in range(50)) + "\n" + "a," * 49 + "a\n", "utf-8")

    assert "dataset.input: no record has a column 'question'" in fails("load")


def test_rows_that_cannot_be_used_are_shown_when_they_are_too_many(fails: Fails) -> None:
    bad = [row | {"question": "\ud800"} for row in ROWS[5:]]
    Path("data/examples/qa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*ROWS[:5], *bad]), "utf-8")

    error = fails("load")

    assert "10 of 20 answers can't be used, and load.max_rejected is 0.01" in error
    assert "data/examples/qa.jsonl, line 6, aurora: question: character 1 is half of a surrogate pair" in error


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"", "Parquet file size is 0 bytes"), (b"PAR1" * 9, ""), (None, "")],
    ids=["empty", "no Parquet", "a wrong byte"],
)
@pytest.mark.usefixtures("tables_there")
def test_a_damaged_part_of_an_earlier_stage(fails: Fails, content: bytes | None, problem: str) -> None:
    part = Path("data/normalize/part-00000.parquet")
    whole = part.read_bytes()
    part.write_bytes(whole[:60] + bytes([whole[60] ^ 255]) + whole[61:] if content is None else content)

    error = fails("lexical")

    assert error.startswith(f"{part}: can't be read as a table: ")
    assert problem in error
    assert "dvc repro" in error


@pytest.mark.usefixtures("tables_there")
def test_a_folder_that_is_named_like_a_part(fails: Fails) -> None:
    shutil.rmtree("data/normalize")
    Path("data/normalize/part-00000.parquet").mkdir(parents=True)

    assert fails("lexical").startswith("data/normalize: no table there")


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file may grow beyond one kilobyte: what a full disk is like."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("tables_there", "small_files")
def test_a_full_disk_names_the_folder(fails: Fails) -> None:
    assert fails("load") == "load: data/.load.tmp: File too large; no table was changed"


@pytest.mark.usefixtures("tables_there")
def test_two_runs_of_a_stage_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goldmeter.runner.ENDING_SECONDS", 0.5)
    workspace = Path("data/.load.tmp")
    workspace.mkdir()
    (workspace / "of the other").touch()
    other = os.open(workspace, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)

    assert main(["load"]) == 2

    assert (workspace / "of the other").exists()
    os.close(other)
    assert main(["load"]) == 0
    assert not workspace.exists()


@pytest.mark.usefixtures("tables_there")
def test_a_link_or_a_file_in_the_place_of_a_table_gives_way(project: Path) -> None:
    shutil.rmtree("data/load")
    (project / "elsewhere").mkdir()
    (project / "elsewhere/kept").touch()
    Path("data/load").symlink_to(project / "elsewhere")
    shutil.rmtree("data/load_rejected")
    Path("data/load_rejected").touch()

    assert main(["load"]) == 0

    assert files("data/load").keys() == {"data/load/part-00000.parquet"}
    assert (project / "elsewhere/kept").exists()


@pytest.mark.usefixtures("tables_there")
def test_a_place_that_refuses_leaves_all_tables_as_they_were(fails: Fails, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(set_at("dataset limit", 3))
    rename = Path.replace

    def refuse(path: Path, target: Path) -> Path:
        if str(target) == "data/load_rejected" and "before" not in path.parts:
            raise PermissionError(1, "Operation not permitted", str(path), None, str(target))
        return rename(path, target)

    monkeypatch.setattr(Path, "replace", refuse)

    assert "data/load_rejected: Operation not permitted" in fails("load")


@pytest.mark.usefixtures("tables_there")
def test_a_full_disk_keeps_the_validation_report(monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["load"]) == 0
    before = files("reports")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)

    assert main(["load"]) == 2
    assert files("reports") == before


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", None])
@pytest.mark.usefixtures("tables_there")
def test_a_document_of_an_earlier_stage_that_cannot_be_read(fails: Fails, content: bytes | None) -> None:
    for table in ("lexical", "semantic", "judge", "aggregate"):
        shutil.copytree("data/load", f"data/{table}")
    Path("reports").mkdir(exist_ok=True)
    if content is not None:
        Path("reports/metrics.json").write_bytes(content)

    for command in ("report", "summary") if content is not None else ("report",):
        error = fails(command)
        assert error.startswith("reports/metrics.json: ")
        assert "dvc repro" in error


@pytest.mark.usefixtures("tables_there")
def test_out_of_memory_and_ctrl_c(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for error, status in ((MemoryError(), 2), (KeyboardInterrupt(), 130)):

        def fail(*_: object, problem: BaseException = error) -> None:
            raise problem

        monkeypatch.setattr(tables.pq, "write_table", fail)
        monkeypatch.setattr("goldmeter.runner.write_part", fail)

        assert main(["load"]) == status
        assert capsys.readouterr().err.startswith("error: ")
        assert not list(Path("data").glob(".*"))


def test_blank_params_say_what_is_expected(fails: Fails) -> None:
    Path("params.yaml").write_text("", encoding="utf-8")

    assert fails("load") == "params.yaml: expected sections, found nothing"
