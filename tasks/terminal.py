"""The terminal: nothing on it can hide or reorder what stands beside it; all commands tell errors the same way."""

import os
import signal
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO

from tasks.errors import GoldmeterError, ServerError
from tasks.reporting.words import visible

if TYPE_CHECKING:
    from rich.console import Console

USER_ERROR = 2
TRY_LATER = 75
"""EX_TEMPFAIL of sysexits.h."""
INTERRUPTED = 128 + signal.SIGINT
UNREAD = 128 + signal.SIGPIPE
PIPED_WIDTH = 120
"""Columns where no terminal says how many it has."""


def say(text: object, file: TextIO | None = None) -> None:
    """Print a text that may hold others' texts; file: standard output if it is not given."""
    print(visible(str(text)), file=file, flush=True)


def complain(problem: object) -> None:
    """Print an error."""
    say(f"error: {problem}", sys.stderr)


def console() -> "Console":
    """Standard output for tables, without markup; whoever prints others' texts makes them visible first."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, markup=False, highlight=False, emoji=False)


def ended(body: Callable[[], int], interrupted: str = "interrupted") -> int:
    """Do what a command is for; returns its exit status, with an error that the user can act on told and no trace.

    interrupted: what Ctrl-C meant.
    """
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


def _accept_any_text() -> None:
    """A terminal may lack a sign, and a file name be no text: then it is spelled out."""
    for stream in (sys.stdout, sys.__stdout__):  # standard output may be wrapped
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
