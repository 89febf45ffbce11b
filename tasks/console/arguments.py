"""How all commands take their options, and how their help ends."""

import argparse
from collections.abc import Sequence
from typing import Any


class Parser(argparse.ArgumentParser):
    """Takes an option only as it is written out: `--retry` would start what was not asked for.

    examples: commands, of which the help shows each on a line of its own.
    """

    def __init__(self, *, examples: Sequence[str] = (), **more: Any) -> None:
        super().__init__(allow_abbrev=False, **more)
        self.examples = tuple(examples)

    def format_help(self) -> str:
        """The help, and the examples below it as they can be copied."""
        shown = "".join(f"  {each}\n" for each in self.examples)
        return super().format_help() + (f"\nexamples:\n{shown}" if shown else "")
