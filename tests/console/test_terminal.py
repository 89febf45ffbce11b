"""Terminal output: texts of others without escape sequences, control or reordering characters; errors; streams."""

import ast
import errno
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from goldmeter.console import terminal
from goldmeter.console.markdown import escaped
from goldmeter.console.terminal import INTERRUPTED, TRY_LATER, USER_ERROR, exit_status, print_error, say
from goldmeter.errors import ContractError, DataError, GoldmeterError, ServerError
from tasks.__main__ import main
from tests.small_project import ROOT, ROWS, edit, write

UNWANTED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
HOSTILE = [
    "\x1b[31mred\x1b[0m",
    "\x1b]8;;https://evil.example\x07link\x1b]8;;\x07",
    "\x1b]0;title\x07",
    "\x9b2J",
    "\u202egnp.exe",
    "\u2066isolated\u2069",
    "back\x08\x08\x08space",
    "\x00nul",
    "first\rsecond",
    "[red]rich[/red] [link=https://evil.example]x[/link]",
    "line\u2028separator",
]
TOGETHER = " ".join(HOSTILE)  # one run of a stage for all of them
PRINTERS = {
    "goldmeter/__main__.py",
    "goldmeter/console/terminal.py",
    "goldmeter/pipeline/progress.py",
    "goldmeter/serving/scheduled_run.py",
}
"""Modules that may print: they make texts of others visible, or print only their own."""


@pytest.fixture
def said(capfd: pytest.CaptureFixture[str]) -> Any:
    """What was printed since, on both streams; nothing of it is unwanted."""

    def read() -> str:
        out, error = capfd.readouterr()
        assert not UNWANTED.search(out + error)
        return out + error

    return read


@given(st.text())
def test_printed_text_has_no_control_characters(text: str) -> None:
    out = io.StringIO()

    say(text, out)

    assert not UNWANTED.search(out.getvalue())


def test_missing_column(project: Path, said: Any) -> None:
    edit(lambda params: params["dataset"].update(input=TOGETHER))

    assert main(["load"]) == USER_ERROR
    assert "dataset.input: no record has a column" in said()
    assert project.exists()


@pytest.mark.usefixtures("project")
def test_name_and_rejection_reason_of_a_candidate(said: Any) -> None:
    rows = [row | {TOGETHER: ["a list"]} for row in ROWS]
    write(Path.cwd(), rows)
    edit(lambda params: params["dataset"].update(candidates={TOGETHER: {"response": TOGETHER}}))

    assert main(["load"]) == USER_ERROR
    assert "a list where text is expected" in said()


@pytest.mark.usefixtures("project")
def test_duplicate_id(said: Any) -> None:
    write(Path.cwd(), [row | {"id": TOGETHER} for row in ROWS[:2]])

    assert main(["load"]) == USER_ERROR
    assert "is also in" in said()


@pytest.mark.usefixtures("project")
def test_invalid_label(said: Any) -> None:
    write(Path.cwd(), [row | {"aurora_correct": TOGETHER} for row in ROWS])

    assert main(["load"]) == USER_ERROR
    assert "which is not a label" in said()


@pytest.mark.usefixtures("project")
def test_missing_file(said: Any) -> None:
    edit(lambda params: params["dataset"].update(path=f"data/{TOGETHER}.jsonl"))

    assert main(["load"]) == USER_ERROR
    assert said().startswith("error: data/")


@pytest.mark.usefixtures("project")
def test_unknown_option(said: Any) -> None:
    edit(lambda params: params["load"].update({TOGETHER: 1}))

    assert main(["load"]) == USER_ERROR
    assert "unknown option" in said()


@pytest.mark.usefixtures("project")
def test_candidates_and_reasons_in_the_summary(said: Any) -> None:
    limits = {"value": 0.5, "low": 0.25, "high": 0.75}
    entry = {**limits, "n": 1, "n_not_asked": 0, "n_failed": 1, "pass_rate": limits}
    reasons = {f"{name}: no id": 1 for name in HOSTILE}
    dataset = {"rows": 22, "rejected": 11, "rejected_reasons": reasons, "truncated_texts": 0}
    candidates = {name: {"f1": entry} for name in HOSTILE}
    Path("reports").mkdir()
    Path("reports/metrics.json").write_text(
        json.dumps({"confidence": 0.95, "dataset": dataset, "candidates": candidates}), encoding="utf-8"
    )

    assert main(["summary"]) == 0
    assert "no id" in said()


def test_rich_markup_in_the_summary_is_printed_literally(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limits = {"value": 0.5, "low": 0.25, "high": 0.75}
    entry = {**limits, "n": 1, "n_not_asked": 0, "n_failed": 0, "pass_rate": limits, "signature": "f1|v:1"}
    dataset = {"rows": 1, "rejected": 0, "rejected_reasons": {}, "truncated_texts": 0}
    name = "[red]x[/] :smile:"
    headline = {**limits, "measure": "f1", "n": 1, "by": "f1", "status": "measured", "note": "by f1"}
    document = {"confidence": 0.95, "dataset": dataset, "candidates": {name: {"f1": entry}}}
    document |= {"primary": {"measure": "f1"}, "headlines": {name: headline}, "comparisons": []}
    (project / "reports").mkdir()
    (project / "reports/metrics.json").write_text(json.dumps(document), encoding="utf-8")

    assert main(["summary"]) == 0
    assert capsys.readouterr().out.count(name) == 3


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", [GoldmeterError, DataError, ContractError, ServerError])
def test_every_error_is_printed_in_the_same_form(said: Any, kind: type[GoldmeterError], name: str) -> None:
    def body() -> int:
        raise kind(f"{name}: first: ({name!r}, a)")

    assert exit_status(body) == (TRY_LATER if kind is ServerError else USER_ERROR)
    assert said().startswith("error: ")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "data/\x1b[31m"), "data/⟨U+001B⟩[31m: Permission denied"),
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (OSError("just words"), "just words"),
        (MemoryError(), "out of memory; reduce load.part_rows or run.workers"),
        (
            ModuleNotFoundError("No module named 'dvc'"),
            (
                "No module named 'dvc'; activate the environment in which goldmeter is installed, such as by "
                ". .venv/bin/activate"
            ),
        ),
    ],
)
def test_system_errors_are_printed_in_words(error: Exception, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    def body() -> int:
        raise error

    assert exit_status(body) == USER_ERROR
    assert capsys.readouterr().err == f"error: {message}\n"


def test_an_interruption_is_printed_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    def body() -> int:
        raise KeyboardInterrupt

    assert exit_status(body, "interrupted; no table was changed") == INTERRUPTED
    assert capsys.readouterr().err == "error: interrupted; no table was changed\n"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_characters_that_an_encoding_lacks_are_replaced_or_escaped(
    monkeypatch: pytest.MonkeyPatch, stream: str
) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, stream, io.TextIOWrapper(raw, encoding="ascii"))

    assert exit_status(lambda: say("· −0.5 ±1 – … → ü\x00", getattr(sys, stream)) or 0) == 0  # type: ignore[func-returns-value]
    assert raw.getvalue() == b"* -0.5 +-1 - ... -> \\xfc<U+0000>\n"


def test_markdown_uses_character_references_for_what_an_encoding_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))

    assert exit_status(lambda: terminal.write_markup(escaped("⟨script⟩ ·ü·")) or 0) == 0  # type: ignore[func-returns-value]
    sys.stdout.flush()
    assert raw.getvalue() == b"&#10216;script&#10217; &#183;&#252;&#183;"


def test_a_table_stays_aligned_where_characters_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))

    def body() -> int:
        table = Table.grid(padding=(0, 1))
        for cells in (("–", "end"), ("Zürich", "end")):
            table.add_row(*map(terminal.plain, cells))
        terminal.console().print(table)
        return 0

    assert exit_status(body) == 0
    assert raw.getvalue().split(b"\n")[:2] == [b"-         end", b"Z\\xfcrich end"]


@pytest.mark.parametrize("columns", ["50", None])
def test_columns_sets_the_width_of_a_pipe(monkeypatch: pytest.MonkeyPatch, columns: str | None) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", columns)

    assert terminal.console().width == int(columns or terminal.PIPED_WIDTH)


def test_output_to_a_closed_stream_is_discarded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)

    say("a")
    print_error("b")
    terminal.console().print("c")
    assert not terminal.is_terminal()


@pytest.mark.usefixtures("project")
def test_a_command_with_closed_outputs_succeeds() -> None:
    closed = [sys.executable, "-m", "tasks", "summary"]

    done = subprocess.run(
        ["sh", "-c", '"$@" >&- 2>&-', "sh", *closed], env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False
    )

    assert done.returncode == 0


def test_no_file_gets_the_descriptor_of_a_closed_output(tmp_path: Path) -> None:
    script = (
        "import os; from pathlib import Path; from goldmeter.console.terminal import exit_status\n"
        f"exit_status(lambda: Path({str(tmp_path / 'file')!r}).open('w').fileno() > 2 and exit(7))"
    )

    done = subprocess.run(["sh", "-c", '"$@" >&- 2>&-', "sh", sys.executable, "-c", script], cwd=ROOT, check=False)

    assert done.returncode == 7


def test_an_error_never_goes_to_standard_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", None)

    print_error("no")

    assert capsys.readouterr().out == ""


def test_an_unexpected_exception_is_not_hidden(capsys: pytest.CaptureFixture[str]) -> None:
    def body() -> int:
        raise TypeError("a mistake")

    assert exit_status(body) == USER_ERROR
    assert capsys.readouterr().err.endswith("TypeError: a mistake\n")


def test_errors_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    print_error("no\x07")

    assert capsys.readouterr() == ("", "error: no⟨U+0007⟩\n")


def test_only_these_modules_print() -> None:
    printing = {
        str(path.relative_to(ROOT))
        for folder in ("goldmeter", "tasks", "flows")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }

    assert printing <= PRINTERS


def test_the_console_does_not_interpret_markup() -> None:
    assert not terminal.console()._markup
