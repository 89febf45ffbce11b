"""The terminal: nothing on it can hide or reorder what stands beside it; all commands tell errors the same way."""

import codecs
import os
import signal
import sys
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, TextIO

from tasks.console.format import visible
from tasks.errors import GoldmeterError, ServerError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

USER_ERROR = 2
TRY_LATER = 75
"""EX_TEMPFAIL of sysexits.h."""
INTERRUPTED = 128 + signal.SIGINT
UNREAD = 128 + signal.SIGPIPE
PIPED_WIDTH = 120
"""Columns where neither a terminal nor COLUMNS says how many there are."""
ROOMY = 10_000
STAND_INS = {"–": "-", "−": "-", "±": "+-", "→": "->", "·": "*", "…": "...", "▼": "v", "⟨": "<", "⟩": ">"}
"""Our own sign → what stands for it where a stream's encoding lacks it."""
SPELLED = "goldmeter.spelled"
"""How encoders treat what they lack: see `spelled`."""


def say(text: object, *to: TextIO | None) -> None:
    """Print a text that may hold others' texts; to: standard output if not given; nothing to None, a closed one."""
    for stream in to or (sys.stdout,):
        if stream is not None:
            print(spelled(visible(str(text)), _encoding(stream)), file=stream, flush=True)


def write_markup(text: str) -> None:
    """Write Markdown or JSON to standard output; signs that it lacks as references, since stand-ins could be markup."""
    encoding = _encoding(sys.stdout)
    sys.stdout.write(text.encode(encoding, "xmlcharrefreplace").decode(encoding))


def is_watched() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def complain(problem: object) -> None:
    """Print an error."""
    say(f"error: {problem}", sys.stderr)


def console() -> "Console":
    """Standard output for tables, without markup; whoever prints others' texts makes them visible first."""
    from rich.console import Console

    width = get_terminal_size((PIPED_WIDTH, 0)).columns
    return Console(width=width, markup=False, highlight=False, emoji=False)


def plain(text: str, style: str = "") -> "Text":
    """A text for a console, in which a terminal's commands and markup mean nothing, in signs that standard output has.

    They are spelled out here and not where they are written, so that columns stay columns.
    """
    from rich.text import Text

    return Text(spelled(visible(text), _encoding(sys.stdout)), style)


def width_of(table: "Table", out: "Console") -> int:
    """Columns that the table takes where there is room."""
    return out.measure(table, options=out.options.update_width(ROOMY)).maximum


def spelled(text: str, encoding: str) -> str:
    r"""The text as far as the encoding has its signs: instead of ours, similar ones, of others their escapes.

    >>> spelled("−0.5 → ±1 · ü", "ascii"), spelled("−0.5 → ±1 · ü", "latin-1")
    ('-0.5 -> +-1 * \\xfc', '-0.5 -> ±1 · ü')
    """
    return text.encode(encoding, SPELLED).decode(encoding)


def ended(body: Callable[[], int], interrupted: str = "interrupted") -> int:
    """Do what a command is for; returns its exit status, with an error that the user can act on told and no trace.

    interrupted: what Ctrl-C meant.
    """
    _open_streams()
    _accept_any_text()
    try:
        return body()
    except KeyboardInterrupt:
        complain(interrupted)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left to write goes nowhere
        return UNREAD
    except (GoldmeterError, ModuleNotFoundError, OSError, MemoryError) as error:
        complain(told(error))
        return TRY_LATER if isinstance(error, ServerError) else USER_ERROR


def told(error: BaseException) -> str:
    """An error in words: what, where, and what to do."""
    if isinstance(error, ModuleNotFoundError):
        return f"{error}; activate the environment: . .venv/bin/activate (`make setup`)"
    if isinstance(error, MemoryError):
        return "out of memory; smaller parts (load.part_rows) or fewer run.workers need less"
    if isinstance(error, OSError) and error.strerror:
        return f"{f'{error.filename}: ' if error.filename else ''}{error.strerror}"
    return str(error)


def _encoding(stream: TextIO | None) -> str:
    return getattr(stream, "encoding", None) or "utf-8"


def _open_streams() -> None:
    """Where the shell closed an output (`>&-`), what is printed goes nowhere, and no file takes its descriptor."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (open until the end)


def _accept_any_text() -> None:
    """A terminal may lack a sign, and a file name be no text: then it is spelled out."""
    for stream in (sys.stdout, sys.__stdout__, sys.stderr):  # standard output may be wrapped
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=SPELLED)


def _spell(error: UnicodeError) -> tuple[str | bytes, int]:
    """What an encoder writes for signs that it lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(STAND_INS.get(sign) or _escape(sign) for sign in signs), error.end


def _escape(sign: str) -> str:
    return sign.encode("ascii", "backslashreplace").decode("ascii")


codecs.register_error(SPELLED, _spell)
