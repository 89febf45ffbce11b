"""Train the offline judge on human labels and hand-written pairs; print how often it is right on unseen rows."""

import sys
from collections.abc import Sequence
from pathlib import Path

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from benchmarks.offline_judge.training import trained, training_rows
from goldmeter.console.arguments import Parser
from goldmeter.console.terminal import exit_status, say
from goldmeter.models.offline.trees import FILE


def main(arguments: Sequence[str]) -> int:
    """Train, print the report, and write the model; returns the exit status."""
    chosen = parser().parse_args(arguments)
    return exit_status(lambda: _command(chosen.data, chosen.output))


def parser() -> Parser:
    """The parser of the command line."""
    command_line = Parser(
        prog="python -m benchmarks.offline_judge",
        description=__doc__,
        epilog="Exit status: 0 trained; 2 an error; 130 interrupted.",
        examples=["python -m benchmarks.offline_judge --data NQ.json"],
    )
    add = command_line.add_argument
    add("--data", type=Path, required=True, metavar="FILE", help="NQ.json of EVOUNA, or a JSON list of its form")
    add("--output", type=Path, default=FILE, metavar="FILE", help="where to write the model; default: the judge's own")
    return command_line


def _command(data: Path, output: Path) -> None:
    with threadpool_limits(limits=1):  # sums in one order: the same bytes on any number of cores
        content, lines = trained(training_rows(data))
    say("\n".join(lines))
    output.write_bytes(content)
    say(f"{output}: {len(content):,} bytes")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
