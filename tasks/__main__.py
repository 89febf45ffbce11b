"""The command line: `python -m tasks <stage>`, `judge --plan`, `summary`, `history`, `ledger import REV…`."""

import argparse
import gc
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from tasks.errors import GoldmeterError, ServerError

USER_ERROR = 2
TRY_LATER = 75
"""EX_TEMPFAIL of sysexits.h."""
HISTORY = Path("reports/history.html")


def main(arguments: Sequence[str]) -> int:
    """Run a command; returns the exit status: 0, 2 for an error the user can mend, 75 for one that may mend itself."""
    gc.set_threshold(100_000, 50, 50)  # imports allocate much and free nothing: half a second less each
    try:
        _command(_parser().parse_args(arguments))
    except GoldmeterError as error:
        print(f"error: {error}", file=sys.stderr)
        return TRY_LATER if isinstance(error, ServerError) else USER_ERROR
    except ModuleNotFoundError as error:
        print(f"error: {error}; activate the environment: . .venv/bin/activate (`make setup`)", file=sys.stderr)
        return USER_ERROR
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"error: {where}{error.strerror or error}", file=sys.stderr)
        return USER_ERROR
    except MemoryError:
        print("error: out of memory; smaller parts (load.part_rows) or fewer run.workers need less", file=sys.stderr)
        return USER_ERROR
    except KeyboardInterrupt:
        print("error: interrupted; no table was changed", file=sys.stderr)
        return 128 + signal.SIGINT
    return 0


def _command(chosen: argparse.Namespace) -> None:
    """Each command imports what it needs: some of that takes seconds."""
    if chosen.command == "ledger":
        from tasks.ledger.imports import import_revisions

        print(import_revisions(chosen.revisions))
    elif getattr(chosen, "plan", False):
        from tasks import ahead

        ahead.show()
    elif chosen.command == "summary":
        from tasks import summary

        summary.show()
    elif chosen.command == "history":
        from tasks.history import show

        show.show() if chosen.html is None else show.write(chosen.html)
    else:
        from tasks.runner import run

        run(chosen.command)


def _parser() -> argparse.ArgumentParser:
    from tasks.pipeline import stages  # needs the environment

    parser = argparse.ArgumentParser(prog="python -m tasks", description="Run one stage of dvc.yaml.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for stage in stages().values():
        parser_of_stage = commands.add_parser(stage.name, help=stage.description)
        if stage.name == "judge":
            parser_of_stage.add_argument(
                "--plan", action="store_true", help="only say what would be asked, and its cost"
            )
    commands.add_parser("summary", help="print the metrics of the last run, and where the report is")
    history = commands.add_parser("history", help="print the last runs, and since when something is wrong")
    history.add_argument(
        "--html", nargs="?", const=HISTORY, type=Path, metavar="FILE", help=f"the report with past runs; {HISTORY}"
    )
    ledger = commands.add_parser("ledger", help="judge replies and embeddings that were paid for")
    actions = ledger.add_subparsers(dest="action", required=True, metavar="action")
    take = actions.add_parser("import", help="take in the evidence of other versions")
    take.add_argument("revisions", nargs="+", metavar="REV", help="commit, tag or branch")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
