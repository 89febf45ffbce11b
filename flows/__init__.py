"""Prefect flows over the stages of dvc.yaml: runs, schedules, comparisons; and the commands."""

import os
import sys
from collections.abc import Sequence
from types import TracebackType

# Before prefect is imported anywhere: sets the variables by which neither it, its server nor dvc calls home.
import goldmeter  # noqa: F401


def _print_interrupted(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Report Ctrl-C or an error during the imports of a command, which take seconds, as `main` does later."""
    from goldmeter.console.terminal import INTERRUPTED, USER_ERROR, print_error

    if issubclass(kind, KeyboardInterrupt):
        print_error("interrupted")
    else:
        sys.__excepthook__(kind, error, trace)
        sys.stderr.flush()
    # Python's own exit status is 1, which is a gate's
    os._exit(INTERRUPTED if issubclass(kind, KeyboardInterrupt) else USER_ERROR)


def say_what_starts(name: str, arguments: Sequence[str]) -> None:
    """Say that a command starts whose imports take seconds, unless it only prints something.

    Args:
        name: The command.
        arguments: Of it.
    """
    if name == "schedule" and not {"--list", "-h", "--help"} & {*arguments} and sys.stderr is not None:
        sys.stderr.write("schedule: loads Prefect, checks the schedules, and starts Prefect's server\n")
        sys.stderr.flush()


# Only for `python -m flows.NAME`, whose imports run before its `main` can; an import of the package changes nothing.
# Python sets the first argument to "-m" while it locates the module that it is to run.
# Source: https://docs.python.org/3/library/sys.html#sys.argv
if sys.argv[:1] == ["-m"]:
    sys.excepthook = _print_interrupted
    _, _, given = " ".join(sys.orig_argv).partition(" -m flows.")
    say_what_starts(given.partition(" ")[0], given.split())
