"""The exit status of every command: one table, in each --help and in docs/reference/commands.md."""

import importlib
import io
import subprocess
import sys
from collections.abc import Callable

import pytest

from flows.__main__ import commands
from flows.__main__ import main as goldmeter
from goldmeter.console import terminal
from goldmeter.console.arguments import Parser
from goldmeter.console.terminal import EXIT_STATUSES, exit_status, say
from goldmeter.errors import ClusterError, DataError, ServerError, StorageError
from scripts.reference.commands import exit_statuses, parser_of
from tests.small_project import ROOT

OF_TASKS = [name for name, (_, parser) in parser_of("tasks").commands.items() if not parser.commands]
EVERY = [*(f"flows.{name}" for name in commands()), *(f"tasks {name}" for name in OF_TASKS)]
"""What one can type after `python -m`."""
GATES = {"flows.compare"}


def parser(command: str) -> Parser:
    module, _, name = command.partition(" ")
    top = parser_of(module)
    return top.commands[name][1] if name else top


def run(command: str, *arguments: str) -> int:
    """The exit status of a command in this process."""
    module, _, name = command.partition(" ")
    target = importlib.import_module("tasks.__main__" if module == "tasks" else module)
    try:
        return int(target.main([*filter(None, [name]), *arguments]))
    except SystemExit as ended:
        return int(ended.code or 0)


@pytest.mark.parametrize("command", EVERY)
def test_every_help_has_the_same_table_and_1_is_only_a_gates(command: str) -> None:
    table = parser(command).format_help().partition("exit status:\n")[2].splitlines()

    listed = {int(line.split()[0]): line.split(maxsplit=1)[1] for line in table}
    expected = [status for status in EXIT_STATUSES if status != 1 or command in GATES]
    assert [*listed] == expected
    assert all(says == EXIT_STATUSES[status] for status, says in listed.items() if status != 1)


@pytest.mark.parametrize("command", EVERY)
def test_a_wrong_use_is_2_for_every_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command, "--no-such-option") == 2
    assert "error: " in capsys.readouterr().err


class Closed(io.StringIO):
    """A stream whose reader has gone."""

    def write(self, _: str) -> int:
        raise BrokenPipeError


@pytest.mark.parametrize("command", EVERY)
def test_help_into_a_closed_pipe_is_never_1(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Closed())

    assert run(command, "--help") != 1


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (DataError("x"), 2),
        (ServerError("x"), 75),
        (ClusterError("x"), 75),
        (StorageError("x"), 75),
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(), 141),
        (ZeroDivisionError(), 2),
    ],
)
def test_what_ends_a_command_has_its_status(error: BaseException, status: int) -> None:
    def body() -> None:
        raise error

    assert exit_status(body) == status
    assert status in EXIT_STATUSES


@pytest.mark.parametrize("write", [lambda: say("x"), lambda: terminal.console().print("x")], ids=["say", "table"])
def test_a_closed_pipe_is_no_gate(write: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Closed())

    assert exit_status(write) == terminal.PIPE_CLOSED


def test_the_page_has_the_table() -> None:
    page = (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8")

    assert exit_statuses() in page


@pytest.mark.parametrize("given", ["evalute", "evalate"])
def test_a_misspelt_command_is_told_with_a_similar_one(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert goldmeter([given]) == 2
    assert "did you mean evaluate" in capsys.readouterr().err


def test_an_error_while_a_command_is_imported_is_2() -> None:
    code = "import sys; sys.argv = ['-m']; import flows; raise ImportError('broken')"

    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr.endswith("ImportError: broken\n")
