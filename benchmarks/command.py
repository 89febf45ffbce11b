"""What the command lines of benchmarks share: names of what is run, and how far it is."""

from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


def parsed(parser: ArgumentParser, kind: str, known: Collection[str], arguments: Sequence[str]) -> Namespace:
    """Parse arguments that name some of what is known; `chosen` are these in the order known, or all without a name."""
    parser.add_argument("names", metavar=kind, nargs="*", help=f"all by default: {', '.join(known)}")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"unknown {kind} {', '.join(unknown)}; allowed: {', '.join(known)}")
    options.chosen = [name for name in known if name in options.names or not options.names]
    return options


def progress() -> Progress:
    """Bars on stderr."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True))
