"""The command line: the list of commands, complete help texts, and errors without a traceback."""

import atexit
import importlib
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

import pytest

from flows import __main__ as flows
from flows import evaluate
from goldmeter.console.arguments import Parser
from goldmeter.errors import DataError
from goldmeter.pipeline import dvc_yaml
from scripts.reference import commands
from tasks import __main__ as tasks
from tests.small_project import ROOT


def main_of(command: str) -> Callable[[Sequence[str]], int]:
    main: Callable[[Sequence[str]], int] = importlib.import_module(MODULES[command]).main
    return main


def with_subcommands(parser: Parser) -> Iterator[Parser]:
    yield parser
    for _, below in parser.commands.values():
        yield from with_subcommands(below)


MODULES = {name: f"flows.{name}" for name in flows.commands()}
COMMANDS = [*(f"flows.{name}" for name in flows.commands()), "tasks"]


@pytest.fixture(params=COMMANDS)
def every(request: pytest.FixtureRequest) -> list[Parser]:
    """All parsers of a command."""
    return [*with_subcommands(commands.parser_of(request.param))]


def test_every_command_has_a_name_and_a_description(every: list[Parser]) -> None:
    for parser in every:
        assert parser.prog.startswith("python -m ")
        assert parser.description
        assert parser.description.rstrip().endswith(".")


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_runs_as_a_module(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [command, "--help"])

    with pytest.raises(SystemExit) as ended:
        runpy.run_module(command, run_name="__main__")

    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: python -m {command} ")


def test_every_option_has_a_help_text(every: list[Parser]) -> None:
    assert [(parser.prog, one.dest) for parser in every for one in parser.arguments if not one.help] == []


def test_options_can_not_be_abbreviated(every: list[Parser]) -> None:
    assert not any(parser.allow_abbrev for parser in every)


def test_every_example_of_the_help_is_on_its_own_line(every: list[Parser], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    for parser in every:
        assert "xample" not in (parser.epilog or "")
        for example in parser.examples:
            assert example.startswith("python -m ")
            assert f"\n  {example}\n" in parser.format_help()


@pytest.mark.parametrize("command", [*COMMANDS[:-1], "flows compare"])
def test_ctrl_c_during_imports_prints_no_traceback(command: str, tmp_path: Path) -> None:
    for imported in ("prefect", "numpy"):
        (tmp_path / f"{imported}.py").write_text("raise KeyboardInterrupt")

    done = python("-m", *command.split(), "--help", folder=tmp_path)

    assert (done.returncode, done.stderr) == (130, "error: interrupted\n")


def test_the_list_has_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert flows.main([]) == 0

    lines = capsys.readouterr().out.splitlines()
    listed = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert sorted(listed) == sorted([*flows.commands(), *tasks.OTHERS])


def test_the_list_has_the_first_sentence_of_each_help(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    for command in flows.commands():
        with pytest.raises(SystemExit):
            main_of(command)(["--help"])
        shown = " ".join(capsys.readouterr().out.split())

        assert flows.purpose(command).rstrip(".") in shown


def test_a_command_that_a_project_has_removed_is_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in Path(flows.__file__).parent.glob("*.py"):
        if path.name != "label.py":
            shutil.copy(path, tmp_path)
    monkeypatch.setattr(flows, "__file__", str(tmp_path / "__main__.py"))

    assert "label" not in flows.commands()
    assert not re.search(r"^  label ", flows.listing(), re.MULTILINE)


@pytest.mark.parametrize("width", ["40", "80"])
def test_the_list_fits_into_the_terminal(width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", width)

    assert max(map(len, flows.listing().splitlines()[1:])) <= int(width)


def python(*arguments: str, folder: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)


def python_to(file: IO[bytes], *arguments: str) -> tuple[int, str]:
    """Exit status and standard error, with standard output into a file."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        [sys.executable, *arguments], stdout=file, stderr=subprocess.PIPE, cwd=ROOT, env=buffered, check=False
    )
    return done.returncode, done.stderr.decode()


def test_the_list_imports_nothing_slow() -> None:
    code = "import sys; from flows.__main__ import main; main([]); print({'prefect', 'rich', 'numpy'} & {*sys.modules})"

    assert python("-c", code).stdout.splitlines()[-1] == "set()"


@pytest.mark.long
def test_a_command_by_name_runs_its_module() -> None:
    by_name, module = python("-m", "flows", "run", "--help"), python("-m", "flows.evaluate", "--help")

    assert (by_name.returncode, by_name.stdout) == (0, module.stdout)


def test_the_exit_status_is_that_of_the_command() -> None:
    assert python("-m", "flows", "init").returncode == 2


@pytest.mark.parametrize("arguments", [[], ["--help"]], ids=str)
def test_a_list_to_a_closed_or_full_output_prints_no_traceback(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed, Path("/dev/full").open("wb") as full:
        unread, unwritten = (python_to(file, "-m", "flows", *arguments) for file in (closed, full))

    assert unread == (141, "")
    assert unwritten == (2, "error: No space left on device\n")


def test_an_unknown_command_is_an_error_that_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert flows.main(["evalute"]) == 2

    assert capsys.readouterr().err.startswith(
        "error: 'evalute': no such command; did you mean evaluate? "
        "allowed: init, adopt, label, evaluate, schedule, compare, robust, serve_judge, run, "
    )


@pytest.mark.parametrize("name", ["history", "judge"])
def test_a_command_of_tasks_has_its_name_here_too(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        flows.main([name, "--help"])

    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: python -m tasks {name} ")


@pytest.mark.parametrize(
    ("arguments", "similar"),
    [(["lexcal"], "lexical"), (["histroy", "--html"], "history"), (["ledger", "imp"], "import")],
)
def test_an_unknown_stage_is_an_error_that_suggests_one(
    arguments: list[str], similar: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        tasks.parser().parse_args(arguments)

    assert ended.value.code == 2
    assert f"no such command; did you mean {similar}? allowed: " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["scheduled_run", "command_supervisor", "../tasks/run", "", "__main__"])
def test_internal_modules_are_not_commands(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert flows.main([name]) == 2
    assert "no such command" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["tasks", "load"],
        ["tasks", "history"],
        ["tasks", "summary"],
        ["tasks", "ledger", "import", "HEAD"],
        ["flows.init", "none.csv"],
        ["flows.evaluate"],
        ["flows.evaluate", "--record"],
        ["flows.compare", "HEAD"],
        ["flows.schedule", "--list"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("what", ["nothing there", "params.yaml of nonsense"])
def test_no_user_error_is_a_traceback(
    command: list[str],
    what: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Neither git nor DVC, nor anything to read."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(atexit, "register", lambda *_: None)  # what evaluate prints at the end of its process
    dvc_yaml.forget_stages()
    if what != "nothing there":
        Path("params.yaml").write_text("- \x00[", encoding="utf-8")
        Path("dvc.yaml").write_text("stages: [", encoding="utf-8")
    name, *arguments = command

    try:
        status = tasks.main(arguments) if name == "tasks" else main_of(name.removeprefix("flows."))(arguments)
    finally:
        dvc_yaml.forget_stages()

    assert status in {0, 2}
    assert status == 0 or capsys.readouterr().err.startswith("error: ")


def test_a_run_whose_numbers_can_not_be_shown_is_in_the_history(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[evaluate.Recorded] = []

    def keep(run: evaluate.Recorded) -> evaluate.Recorded:
        kept.append(run)
        return run

    def damaged(_: evaluate.Recorded) -> str:
        raise DataError("reports/metrics.json: damaged")

    monkeypatch.setattr(evaluate, "_plan", lambda **_: None)
    monkeypatch.setattr(evaluate, "_run", lambda **_: (None, "id of the flow run"))
    monkeypatch.setattr(evaluate, "kept_in_history", keep)
    monkeypatch.setattr(evaluate, "_numbers", damaged)
    monkeypatch.setattr(atexit, "register", lambda *_: None)

    assert evaluate.main([]) == 2
    assert len(kept) == 1
