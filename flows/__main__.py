"""All commands in one place: `python -m flows` lists them, `python -m flows NAME …` is `python -m flows.NAME …`."""

import ast
import runpy
import shutil
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from textwrap import fill

from tasks.console.terminal import USER_ERROR, exit_status, print_error, say
from tasks.errors import did_you_mean

# In the order in which a new user needs them.
COMMANDS = ("init", "evaluate", "compare", "schedule", "label", "train_judge")
HELP = {"-h", "--help"}


def main(arguments: Sequence[str]) -> int:
    """List the commands, or run one of them; returns the exit status."""
    if not arguments or arguments[0] in HELP:
        return exit_status(lambda: say(listing()))
    name, *rest = arguments
    if name not in COMMANDS:
        suggestion = did_you_mean(name, COMMANDS) or ";"
        print_error(f"{name!r}: no such command{suggestion} allowed: {', '.join(COMMANDS)}")
        return USER_ERROR
    sys.argv = [f"flows.{name}", *rest]
    runpy.run_module(f"flows.{name}", run_name="__main__", alter_sys=True)
    return 0


def listing() -> str:
    """Every command and its purpose, as wide as the terminal; no command is imported, which takes seconds."""
    indent, columns = max(map(len, COMMANDS)) + 4, shutil.get_terminal_size().columns
    lines = [
        fill(f"  {name:<{indent - 2}}{purpose(name)}", columns, subsequent_indent=" " * indent) for name in COMMANDS
    ]
    more = fill("python -m flows NAME --help says more; python -m tasks --help lists the stages.", columns)
    return "\n".join(["usage: python -m flows NAME …, the same as python -m flows.NAME …", "", *lines, "", more])


def purpose(name: str) -> str:
    """The first line of the command's docstring."""
    spec = find_spec(f"flows.{name}")  # imports only the package around it
    text = Path(str(spec and spec.origin)).read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").splitlines()[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
