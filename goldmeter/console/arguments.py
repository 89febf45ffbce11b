"""The parser of every command line: options are exact, and the help ends with examples."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from goldmeter.console.terminal import EXIT_STATUSES, STOPPED_BY_GATE
from goldmeter.errors import did_you_mean


class Parser(argparse.ArgumentParser):
    """An argparse parser that refuses abbreviated options: `--retry` must not start what `--retry-failed` does.

    `arguments` and `commands` list what it takes, since argparse has no public name for that.

    Args:
        examples: Commands that the help shows on a line each.
        gate: When the command ends with the exit status of a gate; empty: never.
    """

    def __init__(self, *, examples: Sequence[str] = (), gate: str = "", **options: Any) -> None:
        self.examples = tuple(examples)
        self.gate = gate
        self.arguments: list[argparse.Action] = []
        self.commands: dict[str, tuple[str, Parser]] = {}
        super().__init__(allow_abbrev=False, **options)
        self.arguments.clear()  # it holds --help

    def add_argument(self, *names: Any, **options: Any) -> argparse.Action:
        """Add an option or a positional argument."""
        self.arguments.append(super().add_argument(*names, **options))
        return self.arguments[-1]

    def add_commands(self, metavar: str, purposes: dict[str, str]) -> "dict[str, Parser]":
        """Add subcommands, name → purpose; returns their parsers."""
        group = self.add_subparsers(metavar=metavar, required=True)
        for name, purpose in purposes.items():
            parser = group.add_parser(name, help=purpose, description=f"{purpose}.", epilog=self.epilog)
            self.commands[name] = purpose, parser
        return {name: parser for name, (_, parser) in self.commands.items()}

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, as `argparse` does; an unknown subcommand is refused with similar ones."""
        given = sys.argv[1:] if args is None else args
        name = next((one for one in given if not one.startswith("-")), None)
        if self.commands and name is not None and name not in self.commands:
            suggestion = did_you_mean(name, self.commands) or ";"
            self.error(f"{name!r}: no such command{suggestion} allowed: {', '.join(self.commands)}")
        return super().parse_known_args(args, namespace)

    def format_help(self) -> str:
        """The help; below it the examples, not wrapped, so that they can be copied, and every exit status."""
        lines = "".join(f"  {example}\n" for example in self.examples)
        of_gate = {STOPPED_BY_GATE: self.gate} if self.gate else {}
        listed = [(status, of_gate.get(status, says)) for status, says in EXIT_STATUSES.items()]
        ends = "".join(f"  {status:<5}{says}\n" for status, says in listed if status != STOPPED_BY_GATE or self.gate)
        return super().format_help() + (f"\nexamples:\n{lines}" if lines else "") + f"\nexit status:\n{ends}"
