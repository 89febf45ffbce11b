"""The terminal: output without hidden or reordering characters, and the errors and exit statuses of every command."""

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, TextIO

from goldmeter.console.format import visible
from goldmeter.errors import ClusterError, GoldmeterError, ServerError, StorageError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

STOPPED_BY_GATE = 1
USER_ERROR = 2
TRY_LATER = 75  # EX_TEMPFAIL of sysexits.h
INTERRUPTED = 128 + signal.SIGINT
PIPE_CLOSED = 128 + signal.SIGPIPE
# What every command ends with.
EXIT_STATUSES = {
    0: "done",
    STOPPED_BY_GATE: "only of a gate: do not ship",
    USER_ERROR: "wrong use or input, or a fault, which the message explains",
    TRY_LATER: "a server, a cluster or a batch is not ready: try again",
    INTERRUPTED: "interrupted by Ctrl-C",
    PIPE_CLOSED: "nobody reads standard output any more; a gate's own status comes first",
}
# Columns where neither a terminal nor COLUMNS says how many there are.
PIPED_WIDTH = 120
# Columns that are enough for any table.
UNLIMITED_WIDTH = 10_000
# Our own signs, and what replaces them where a stream's encoding lacks them.
REPLACEMENTS = {"–": "-", "−": "-", "±": "+-", "→": "->", "·": "*", "…": "...", "▼": "v", "⟨": "<", "⟩": ">"}


def say(text: object, *streams: TextIO | None) -> None:
    """Print a text, with invisible characters spelled out.

    Args:
        streams: Standard output by default; None stands for a closed stream, which gets nothing.
    """
    for stream in streams or (sys.stdout,):
        if stream is not None:
            print(encodable(visible(str(text)), _encoding(stream)), file=stream, flush=True)


def write_markup(text: str) -> None:
    """Write Markdown or JSON to standard output; what its encoding lacks becomes a character reference."""
    encoding = _encoding(sys.stdout)
    sys.stdout.write(text.encode(encoding, "xmlcharrefreplace").decode(encoding))


def write_rendered(text: str) -> None:
    """Write to standard output what a `console` has captured."""
    sys.stdout.write(text)
    sys.stdout.flush()


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def print_error(problem: object) -> None:
    """Print an error to standard error."""
    say(f"error: {problem}", sys.stderr)


def console() -> "Console":
    """Standard output for tables, without markup; texts of others go through `plain` or `visible` first."""
    from rich.console import Console

    class Terminal(Console):
        """A console that leaves a closed pipe to `exit_status`: rich's own ends with status 1, which is a gate's."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    width = get_terminal_size((PIPED_WIDTH, 0)).columns
    return Terminal(width=width, markup=False, highlight=False, emoji=False)


def plain(text: str, style: str = "") -> "Text":
    """A text for a console, without terminal commands or markup, in characters that standard output can encode.

    They are replaced here and not when they are written, so that the columns of a table stay aligned.
    """
    from rich.text import Text

    return Text(encodable(visible(text), _encoding(sys.stdout)), style)


def print_rows(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a table of texts to standard output."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(*heads, box=SIMPLE_HEAD)
    for row in rows:
        table.add_row(*map(plain, row))
    console().print(table)


def linked(path: Path, out: "Console") -> "Text":
    """A path that a terminal opens by a click; elsewhere only its text."""
    return plain(str(path), f"link {path.resolve().as_uri()}" if out.is_terminal else "")


def width_of(table: "Table", out: "Console") -> int:
    """Columns that the table takes when its width is not limited."""
    return out.measure(table, options=out.options.update_width(UNLIMITED_WIDTH)).maximum


def encodable(text: str, encoding: str) -> str:
    r"""Replace what the encoding lacks: our own signs by similar ones, other characters by their escapes.

    >>> encodable("−0.5 → ±1 · ü", "ascii"), encodable("−0.5 → ±1 · ü", "latin-1")
    ('-0.5 -> +-1 * \\xfc', '-0.5 -> ±1 · ü')
    """
    lacking = {ord(sign): similar for sign, similar in REPLACEMENTS.items() if not sign.encode(encoding, "ignore")}
    return text.translate(lacking).encode(encoding, "backslashreplace").decode(encoding)


def exit_status(body: Callable[[], int | None], interrupted: str = "interrupted") -> int:
    """Run the body of a command; returns its exit status, and prints errors that the user can act on.

    Args:
        body: Returns an exit status; None is 0.
        interrupted: The message after Ctrl-C.
    """
    _open_streams()
    _accept_any_text()
    try:
        return _flushed(body() or 0)
    except KeyboardInterrupt:
        print_error(interrupted)
        return INTERRUPTED
    except BrokenPipeError:
        write_no_more()
        return PIPE_CLOSED
    except (GoldmeterError, ModuleNotFoundError, OSError, MemoryError) as error:
        print_error(message(error))
        _give_up_what_is_buffered()
        return TRY_LATER if isinstance(error, ServerError | ClusterError | StorageError) else USER_ERROR
    except Exception:  # noqa: BLE001 (Python's own exit status for it is 1, which is a gate's)
        traceback.print_exc()
        return USER_ERROR


def _flushed(status: int) -> int:
    """The status, after all is written that standard output still buffers."""
    sys.stdout.flush()
    return status


def _give_up_what_is_buffered() -> None:
    """Write what standard output buffers, or drop it: Python's exit status for a failure to do so would be 120."""
    try:
        sys.stdout.flush()
    except OSError:
        write_no_more()


def write_no_more() -> None:
    """Let what is left to write go nowhere, after a BrokenPipeError of standard output."""
    with suppress(OSError, ValueError):  # a stream without a file descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def message(error: BaseException) -> str:
    """An error in words: what, where, and what to do."""
    if isinstance(error, ModuleNotFoundError):
        return f"{error}; activate the environment in which goldmeter is installed, such as by . .venv/bin/activate"
    if isinstance(error, MemoryError):
        return "out of memory; reduce load.part_rows or run.workers"
    if isinstance(error, OSError) and error.strerror:
        return f"{f'{error.filename}: ' if error.filename else ''}{error.strerror}"
    return str(error)


def _encoding(stream: TextIO | None) -> str:
    return getattr(stream, "encoding", None) or "utf-8"


def _open_streams() -> None:
    """Open the null device for an output that the shell closed (`>&-`), so that no other file takes its descriptor."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (open until the end)


def _accept_any_text() -> None:
    """Let output streams escape what their encoding lacks, also in file names that are not valid text."""
    for stream in (sys.stdout, sys.__stdout__, sys.stderr):  # standard output may be wrapped
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
