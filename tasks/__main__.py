"""The command line: `python -m tasks <stage>`, `judge --plan`, `summary`, `history`, `ledger import REV…`."""

import argparse
import gc
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tasks.console.arguments import Parser
from tasks.console.terminal import ended, is_watched, say

SUMMED_UP = "report"
"""The stage after which a person who runs stages by hand wants to know what came of them."""
HISTORY = Path("reports/history.html")
EXIT_STATUS = (
    "Exit status: 0 done; 2 an error that the message says how to mend; 75 a server did not answer: try later; "
    "130 interrupted."
)


def main(arguments: Sequence[str]) -> int:
    """Run a command; returns the exit status: 0, 2 for an error the user can mend, 75 for one that may mend itself."""
    gc.set_threshold(100_000, 50, 50)  # imports allocate much and free nothing: half a second less each
    return ended(lambda: _command(_parser().parse_args(arguments)), "interrupted; no table was changed")


def _command(chosen: argparse.Namespace) -> int:
    """Each command imports what it needs: some of that takes seconds."""
    if chosen.command == "ledger":
        from tasks.versions.evidence import import_revisions

        say(import_revisions(chosen.revisions))
    elif getattr(chosen, "plan", False):
        from tasks.judging import preflight

        preflight.show()
    elif chosen.command == "summary":
        from tasks.reporting import summary

        summary.show()
    elif chosen.command == "history":
        from tasks.monitoring import show

        show.show() if chosen.html is None else show.write(chosen.html)
    else:
        from tasks.runner import run

        run(chosen.command)
        if chosen.command == SUMMED_UP and is_watched():  # in a flow, the flow ends with it
            from tasks.reporting import summary

            summary.show(reported=True)
    return 0


class _Listing(argparse.HelpFormatter):
    """Leaves room for the longest name: argparse forgets that those of commands are indented."""

    def add_argument(self, action: argparse.Action) -> None:
        """Take the command's name, and the indentation, for what it is as wide as."""
        super().add_argument(action)
        for each in self._iter_indented_subactions(action):
            width = self._current_indent + len(self._format_action_invocation(each))
            self._action_max_length = max(self._action_max_length, width)


def _parser() -> argparse.ArgumentParser:
    from tasks.pipeline.stages import stages  # needs the environment

    parser = Parser(
        prog="python -m tasks",
        formatter_class=_Listing,
        description="Run one stage of dvc.yaml, as `dvc repro` does, or tell what the last runs found.",
        epilog=EXIT_STATUS,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")

    def add(name: str, what: str, to: Any = commands) -> argparse.ArgumentParser:
        added: argparse.ArgumentParser = to.add_parser(name, help=what, description=f"{what}.", epilog=EXIT_STATUS)
        return added

    for stage in stages().values():
        one = add(stage.name, stage.description)
        if stage.name == "judge":
            one.add_argument("--plan", action="store_true", help="only say what would be asked, and its cost")
    add("summary", "Print what the last run found, and where the report is")
    history = add("history", "Print the last runs, and since when something is wrong")
    history.add_argument(
        "--html",
        nargs="?",
        const=HISTORY,
        type=Path,
        metavar="FILE",
        help=f"instead, write the report of the workspace with past runs; default: {HISTORY}",
    )
    ledger = add("ledger", "Judge replies and embeddings that were paid for")
    actions = ledger.add_subparsers(dest="action", required=True, metavar="action")
    take = add("import", "Take in the evidence of other versions", actions)
    take.add_argument("revisions", nargs="+", metavar="REV", help="commit, tag, branch or experiment")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
