"""All commands in one place: `python -m flows` lists them, `python -m flows NAME …` is `python -m flows.NAME …`."""

import ast
import runpy
import shutil
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from textwrap import fill

from tasks.console.terminal import USER_ERROR, complain, ended, say
from tasks.errors import did_you_mean

COMMANDS = ("init", "evaluate", "compare", "schedule", "train_judge")
"""What people run, in the order they need it."""
HELP = {"-h", "--help"}


def main(arguments: Sequence[str]) -> int:
    """List the commands, or be one of them; returns the exit status."""
    if not arguments or arguments[0] in HELP:
        return ended(_list)
    name, *rest = arguments
    if name not in COMMANDS:
        suggestion = did_you_mean(name, COMMANDS) or ";"
        complain(f"{name!r}: no such command{suggestion} allowed: {', '.join(COMMANDS)}")
        return USER_ERROR
    sys.argv = [f"flows.{name}", *rest]
    runpy.run_module(f"flows.{name}", run_name="__main__", alter_sys=True)
    return 0


def _list() -> int:
    say(listed())
    return 0


def listed() -> str:
    """Each command and what it is for, as its module says: nothing of it is imported, which takes seconds."""
    names, columns = max(map(len, COMMANDS)), shutil.get_terminal_size().columns

    def line(name: str) -> str:
        return fill(f"  {name:<{names}}  {purpose(name)}", columns, subsequent_indent=" " * (names + 4))

    return "\n".join(
        [
            "usage: python -m flows NAME …, the same as python -m flows.NAME …",
            "",
            *map(line, COMMANDS),
            "",
            fill("python -m flows NAME --help says more; python -m tasks --help lists the stages.", columns),
        ]
    )


def purpose(name: str) -> str:
    """The first line of the command's docstring."""
    spec = find_spec(f"flows.{name}")  # imports nothing of it but the package around
    text = Path(str(spec and spec.origin)).read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").splitlines()[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
