"""All commands in one place: `python -m flows` lists them, and `goldmeter NAME …` is `python -m flows NAME …`."""

import ast
import runpy
import shutil
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from textwrap import fill

from flows import say_what_starts
from goldmeter.console.terminal import USER_ERROR, exit_status, print_error, say
from goldmeter.errors import did_you_mean
from tasks.__main__ import OTHERS

# What one wants to do → its commands, in the order in which a new user needs them. Those that are no module of flows
# are of `python -m tasks`.
GROUPS = {
    "Your data": ("init", "adopt", "params", "label"),
    "Runs": ("evaluate", "schedule", "summary", "history"),
    "Decisions": ("compare", "robust", "plan-study", "noise"),
    "Results in other tools": ("export", "gx", "attest", "recheck", "serve_judge"),
    "Upkeep": ("verify", "ledger", "storage", "upgrade"),
}
ALIASES = {"run": "evaluate"}
HELP = {"-h", "--help"}


def main(arguments: Sequence[str]) -> int:
    """List the commands, or run one of them, or one of `python -m tasks`; returns the exit status."""
    if not arguments or arguments[0] in HELP:
        return exit_status(lambda: say(listing()))
    name, *rest = arguments
    name = ALIASES.get(name, name)
    name = underscored if (underscored := name.replace("-", "_")) in commands() else name
    if name in commands():
        say_what_starts(name, rest)
        sys.argv = [f"flows.{name}", *rest]
        runpy.run_module(f"flows.{name}", run_name="__main__", alter_sys=True)
        return 0
    return exit_status(lambda: _run_of_tasks(arguments))


def _run_of_tasks(arguments: Sequence[str]) -> int:
    """Run a stage, or another command of `python -m tasks`."""
    from tasks import __main__ as tasks

    name, others = arguments[0], tasks.parser().commands
    if name in others:
        return tasks.main(arguments)
    allowed = [*commands(), *ALIASES, *others]
    suggestion = did_you_mean(name, allowed) or ";"
    print_error(f"{name!r}: no such command{suggestion} allowed: {', '.join(allowed)}")
    return USER_ERROR


def commands() -> list[str]:
    """The commands that are modules of flows; a project may have removed some."""
    return [name for names in GROUPS.values() for name in names if Path(__file__).with_name(f"{name}.py").is_file()]


def listing() -> str:
    """Every command and its purpose, by what one wants to do, as wide as the terminal.

    No command is imported, which takes seconds.
    """
    indent, columns = (
        max(len(name) for names in GROUPS.values() for name in names) + 4,
        shutil.get_terminal_size().columns,
    )
    lines = []
    for group, names in GROUPS.items():
        lines += ["", group]
        for name in [name for name in names if name in {*commands(), *OTHERS}]:
            does = OTHERS[name] if name in OTHERS else purpose(name).rstrip(".")
            lines.append(fill(f"  {name:<{indent - 2}}{does}", columns, subsequent_indent=" " * indent))
    usage = "usage: goldmeter NAME …, the same as python -m flows NAME …"
    more = "run is evaluate. The name of a stage of dvc.yaml, such as judge, runs that stage. NAME --help says more."
    return "\n".join([fill(usage, columns), *lines, "", fill(more, columns)])


def purpose(name: str) -> str:
    """The first line of the command's docstring."""
    spec = find_spec(f"flows.{name}")  # imports only the package around it
    text = Path(str(spec and spec.origin)).read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").splitlines()[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
