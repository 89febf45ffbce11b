"""Check whether a conclusion holds under other judges, thresholds and metrics, and without each slice and group."""

import sys
from collections.abc import Sequence
from pathlib import Path

from goldmeter.console.arguments import Parser
from goldmeter.console.json_output import add_json, print_json
from goldmeter.console.terminal import exit_status, say, write_markup
from goldmeter.reporting.robust import Options, conclusions, print_table, to_markdown
from goldmeter.wording import robustness as wording


def parser() -> Parser:
    """The parser of the command line."""
    command_line = Parser(
        prog="python -m flows.robust",
        description=f"{__doc__} It reads tables and the ledger, and asks no model.",
        examples=["python -m flows.robust", "python -m flows.robust gpt-5 gpt-4", "python -m flows.robust main"],
    )
    add = command_line.add_argument
    add("names", metavar="A [B]", nargs="*", help="two systems of the last run, one with its target, or versions")
    add("--measure", metavar="NAME", help="what concludes; default: the primary measure")
    also = "a version whose judge gave verdicts on the same answers, with another model or prompt; may be repeated"
    add("--also", action="append", default=[], metavar="VERSION", help=also)
    add(
        "--without",
        type=Path,
        metavar="FILE",
        help="ids with references under suspicion, one in each line; default: those of the report",
    )
    add_json(command_line)
    add("--markdown", action="store_true", help="print it as Markdown")
    return command_line


def main(arguments: Sequence[str]) -> int:
    """Check; returns the exit status."""
    command_line = parser()
    chosen = command_line.parse_args(arguments)
    if len(chosen.names) > 2:  # noqa: PLR2004 (a conclusion is on two)
        command_line.error("names: two at most")
    if chosen.json and chosen.markdown:
        command_line.error("--json and --markdown: choose one")

    def command() -> int:
        found, more = conclusions(chosen.names, Options(chosen.measure, chosen.also, chosen.without))
        if chosen.json:
            print_json({"conclusions": found, "one_more": more})
            return 0
        for one in found:
            write_markup(to_markdown(one)) if chosen.markdown else print_table(one)
        if more:
            say(wording.one_more(*more))
        return 0

    return exit_status(command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
