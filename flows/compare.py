"""Compare two versions, and say whether the newer one may ship."""

import argparse
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prefect import flow
from prefect.artifacts import create_markdown_artifact

from flows.system import server
from tasks.comparison import wording
from tasks.comparison.compare import Request, compare_versions
from tasks.comparison.gate import Gate
from tasks.comparison.render import to_markdown, to_terminal
from tasks.console.arguments import Parser
from tasks.console.terminal import USER_ERROR, console, ended, say, write_markup
from tasks.errors import ComparisonError
from tasks.pipeline import params
from tasks.pipeline.files import to_json
from tasks.reporting.settings import Report
from tasks.reporting.version_page import write_page
from tasks.versions.version import WORKSPACE, versions

STDOUT = "-"
PAGE = "reports/comparison.html"
Document = Mapping[str, Any]


@flow(name="compare", persist_result=False)
def compare(
    base: str, head: str = WORKSPACE, *, renamed: Mapping[str, str] | None = None, rescore: bool = False
) -> Document:
    """Compare two versions and keep the table as the artifact `comparison`.

    Raises GoldmeterError when they can't be compared.
    """
    document = compared(base, head, renamed=renamed or {}, rescore=rescore)
    create_markdown_artifact(to_markdown(document), key="comparison", description=wording.outcome(document).sentence)
    return document


def compared(base: str, head: str, *, renamed: Mapping[str, str], rescore: bool, page: Path | None = None) -> Document:
    """Compare two versions by section `gate` of params.yaml; with `page`, write HEAD's report with the comparison.

    Raises GoldmeterError when they can't be compared.
    """
    content = params.raw()
    gate = params.section(Gate, content, "gate")
    request = Request(renamed, rescore, params.section(Report, content, "report").rows_to_look_at)
    with versions([base, head]) as (older, newer):
        document = compare_versions(older, newer, gate, request)
        if page is not None:
            write_page(newer, document, page)
        return document


def main(arguments: Sequence[str]) -> int:
    """Compare; returns the exit status: 0 fine, 1 worse, 2 an error, or a gate that can't decide."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.json == chosen.markdown == STDOUT:
        parser.error("--json and --markdown can't both be written to standard output: give one a file")
    if chosen.flow and (chosen.json or chosen.markdown or chosen.html):
        parser.error("--flow keeps the table as an artifact; --json, --markdown and --html are for runs without it")
    try:
        return ended(lambda: _command(chosen))
    except Exception:  # noqa: BLE001 (Python's own exit status for it is 1, which says worse)
        traceback.print_exc()
        return USER_ERROR


def _command(chosen: argparse.Namespace) -> int:
    renamed = _renamed(chosen.map)
    _require_folders(chosen)
    if chosen.flow:
        server.for_one_run()
        document = compare(chosen.base, chosen.head, renamed=renamed, rescore=chosen.rescore)
    else:
        document = compared(chosen.base, chosen.head, renamed=renamed, rescore=chosen.rescore, page=chosen.html)
    _write(document, chosen)
    return wording.outcome(document).status


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m flows.compare",
        description=f"{__doc__} Section gate of params.yaml says what is compared, and what stops a release.",
        epilog="Exit status: 0 fine; 1 worse, or undecided where gate.fail_on says so; 2 an error, or not comparable; "
        "130 interrupted.",
        examples=["python -m flows.compare main", "python -m flows.compare v1.2 HEAD --markdown"],
    )
    parser.add_argument("base", metavar="BASE", help="commit, tag, branch, experiment, or the folder of an earlier run")
    parser.add_argument("head", metavar="HEAD", nargs="?", default=WORKSPACE, help="the same; default: the workspace")
    parser.add_argument(
        "--map", action="append", default=[], metavar="OLD=NEW", help="a candidate that was renamed; OLD= was dropped"
    )
    parser.add_argument(
        "--rescore", action="store_true", help="score BASE again by HEAD's settings, where that needs no model"
    )
    formats = {"json": "the comparison as JSON", "markdown": "the comparison as Markdown, for a pull request"}
    for name, what in formats.items():
        parser.add_argument(f"--{name}", nargs="?", const=STDOUT, metavar="FILE", help=f"{what}; default: to stdout")
    parser.add_argument(
        "--html",
        nargs="?",
        const=PAGE,
        type=Path,
        metavar="FILE",
        help=f"HEAD's report with the comparison; default: {PAGE}",
    )
    parser.add_argument("--flow", action="store_true", help="run as a Prefect flow that keeps the table as an artifact")
    return parser


def _renamed(pairs: Sequence[str]) -> dict[str, str]:
    """OLD → NEW of each --map; raises ComparisonError for one of another form, or a name that stands twice."""
    split = [pair.partition("=") for pair in pairs]
    for pair, (old, _, _) in zip(pairs, split, strict=True):
        if not old or "=" not in pair:
            raise ComparisonError(f"--map {pair}: expected OLD=NEW, the candidate's name in BASE and in HEAD, or OLD=")
    renamed = {old: new for old, _, new in split}
    if len(renamed) < len(pairs):
        raise ComparisonError("--map: a candidate of BASE stands twice")
    return renamed


def _require_folders(chosen: argparse.Namespace) -> None:
    """Raise ComparisonError for a file that can't be written, before minutes are spent on what it gets."""
    for form in ("json", "markdown", "html"):
        where = getattr(chosen, form)
        if where is None or str(where) in (STDOUT, PAGE):
            continue
        if Path(where).is_dir():
            raise ComparisonError(f"--{form} {where}: is a folder; expected a file")
        if not Path(where).parent.is_dir():
            raise ComparisonError(f"--{form} {where}: there is no folder {Path(where).parent}; make it first")


def _write(document: Document, chosen: argparse.Namespace) -> None:
    """Every form that was asked for; on the terminal a table, unless standard output takes another form."""
    ascii_only = chosen.json == STDOUT
    forms = {
        "json": lambda: to_json(document, ascii_only=ascii_only),
        "markdown": lambda: to_markdown(document),
    }
    asked = {name: getattr(chosen, name) for name in forms if getattr(chosen, name) is not None}
    for name, where in asked.items():
        text = forms[name]()
        if where == STDOUT:
            write_markup(text)
        else:
            Path(where).write_text(text, encoding="utf-8")
    if STDOUT not in asked.values():
        to_terminal(document, console())
    if chosen.html is not None:
        say(f"report: {chosen.html}", sys.stderr if STDOUT in asked.values() else sys.stdout)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
