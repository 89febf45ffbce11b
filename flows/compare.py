"""Compare two versions, or two logs of another tool, and say whether the newer one may ship."""

import argparse
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

from prefect import flow
from prefect.artifacts import create_markdown_artifact

from flows.system import server
from tasks.comparison import logs, wording
from tasks.comparison.compare import CompareOptions, compare_versions
from tasks.comparison.document import ComparisonDocument
from tasks.comparison.gate import Gate
from tasks.comparison.render import to_markdown, to_terminal
from tasks.console.arguments import Parser
from tasks.console.terminal import USER_ERROR, console, exit_status, say, write_markup
from tasks.errors import ComparisonError
from tasks.monitoring import labelled_answers
from tasks.pipeline import params
from tasks.pipeline.files import to_json
from tasks.reporting.settings import Report
from tasks.reporting.version_page import write_page
from tasks.scores.mix import Mixing
from tasks.versions.version import WORKSPACE, versions

STDOUT = Path("-")
PAGE = Path("reports/comparison.html")


@flow(name="compare", persist_result=False)
def compare(
    base: str, head: str = WORKSPACE, *, renamed: Mapping[str, str] | None = None, rescore: bool = False
) -> ComparisonDocument:
    """Compare two versions and keep the table as the artifact `comparison`.

    Args:
        renamed: Candidate of the base version → its name in the head version; "" if it was dropped.
        rescore: Score the base version again by the settings of the head version, where that needs no model.

    Raises:
        GoldmeterError: If the versions can't be compared.
    """
    document = compare_by_params(base, head, renamed=renamed or {}, rescore=rescore)
    create_markdown_artifact(to_markdown(document), key="comparison", description=wording.outcome(document).sentence)
    return document


def compare_by_params(
    base: str, head: str, *, renamed: Mapping[str, str], rescore: bool, page: Path | None = None
) -> ComparisonDocument:
    """Compare two versions, or two logs, by section `gate` of params.yaml.

    Args:
        base: The older version.
        head: The newer version.
        renamed: Candidate of BASE → its name in HEAD; "" if it was dropped.
        rescore: Score BASE again by the settings of HEAD.
        page: Where HEAD's report is written with the comparison.
    """
    content = params.raw()
    gate = params.section(Gate, content, "gate")
    rows = params.section(Report, content, "report").rows_to_look_at
    mix = params.section(Mixing, content, "aggregate").chosen
    options = CompareOptions(renamed, rescore, rows, labelled_answers.stale, mix)
    if any(map(logs.tool_of, (base, head))):
        if rescore or page is not None:
            raise ComparisonError("--rescore and --html: of versions only; load a log by `python -m flows.init` first")
        return logs.compare_logs(base, head, gate, options)
    with versions([base, head]) as (older, newer):
        document = compare_versions(older, newer, gate, options)
        if page is not None:
            write_page(newer, document, page)
        return document


def main(arguments: Sequence[str]) -> int:
    """Compare; returns the exit status: 0 fine, 1 worse, 2 an error, or a gate that can't decide."""
    command_line = parser()
    chosen = command_line.parse_args(arguments)
    if chosen.json == chosen.markdown == STDOUT:
        command_line.error("--json and --markdown can't both be written to standard output: give one a file")
    if chosen.flow and (chosen.json or chosen.markdown or chosen.html):
        command_line.error("--flow keeps the table as an artifact; use --json, --markdown and --html without it")
    try:
        return exit_status(lambda: _command(chosen))
    except Exception:  # noqa: BLE001 (Python's own exit status for it is 1, which says worse)
        traceback.print_exc()
        return USER_ERROR


def parser() -> Parser:
    """The parser of the command line."""
    command_line = Parser(
        prog="python -m flows.compare",
        description=f"{__doc__} Section gate of params.yaml says what is compared, and what stops a release.",
        epilog="Exit status: 0 fine; 1 worse, or undecided where gate.fail_on says so; 2 an error, or not comparable; "
        "130 interrupted.",
        examples=[
            "python -m flows.compare main",
            "python -m flows.compare v1.2 HEAD --markdown",
            "python -m flows.compare logs/monday.eval logs/tuesday.eval",
        ],
    )
    add = command_line.add_argument
    add(
        "base",
        metavar="BASE",
        help="commit, tag, branch, experiment, folder of an earlier run; or another tool's log",
    )
    add("head", metavar="HEAD", nargs="?", default=WORKSPACE, help="the same; default: the workspace")
    add(
        "--map",
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="a candidate that was renamed; OLD= if it was dropped",
    )
    add("--rescore", action="store_true", help="score BASE again by HEAD's settings, where that needs no model")
    for name, default, content in (
        ("--json", STDOUT, "the comparison as JSON; default: to stdout"),
        ("--markdown", STDOUT, "the comparison as Markdown, for a pull request; default: to stdout"),
        ("--html", PAGE, f"HEAD's report with the comparison; default: {PAGE}"),
    ):
        add(name, nargs="?", const=default, type=Path, metavar="FILE", help=content)
    add("--flow", action="store_true", help="run as a Prefect flow that keeps the table as an artifact")
    return command_line


def _command(chosen: argparse.Namespace) -> int:
    renamed = _renamed(chosen.map)
    _require_folders({"--json": chosen.json, "--markdown": chosen.markdown, "--html": chosen.html})
    if chosen.flow:
        server.for_one_run()
        document = compare(chosen.base, chosen.head, renamed=renamed, rescore=chosen.rescore)
    else:
        document = compare_by_params(
            chosen.base, chosen.head, renamed=renamed, rescore=chosen.rescore, page=chosen.html
        )
    _write(document, chosen.json, chosen.markdown)
    if chosen.html is not None:
        say(f"report: {chosen.html}", sys.stderr if STDOUT in (chosen.json, chosen.markdown) else sys.stdout)
    return wording.outcome(document).status


def _renamed(pairs: Sequence[str]) -> dict[str, str]:
    """OLD → NEW of each --map; raises ComparisonError for another form, or for an OLD that is given twice."""
    split = [pair.partition("=") for pair in pairs]
    for pair, (old, equals, _) in zip(pairs, split, strict=True):
        if not (old and equals):
            raise ComparisonError(f"--map {pair}: expected OLD=NEW, the candidate's name in BASE and in HEAD, or OLD=")
    renamed = {old: new for old, _, new in split}
    if len(renamed) < len(pairs):
        raise ComparisonError("--map: a candidate of BASE is given twice")
    return renamed


def _require_folders(files: Mapping[str, Path | None]) -> None:
    """Raise ComparisonError for a file that can't be written, before minutes are spent on its content."""
    for option, file in files.items():
        if file is None or file in (STDOUT, PAGE):
            continue
        if file.is_dir():
            raise ComparisonError(f"{option} {file}: is a folder; expected a file")
        if not file.parent.is_dir():
            raise ComparisonError(f"{option} {file}: there is no folder {file.parent}; create it first")


def _write(document: ComparisonDocument, json_file: Path | None, markdown_file: Path | None) -> None:
    """Write the requested forms; and a table to the terminal, unless standard output takes one of the forms."""
    if json_file is not None:
        _write_text(to_json(document, ascii_only=json_file == STDOUT), json_file)
    if markdown_file is not None:
        _write_text(to_markdown(document), markdown_file)
    if STDOUT not in (json_file, markdown_file):
        to_terminal(document, console())


def _write_text(text: str, file: Path) -> None:
    if file == STDOUT:
        write_markup(text)
    else:
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
