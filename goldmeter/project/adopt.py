"""Find the logs of other tools in a folder, and test what each run claimed against the one before it."""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from goldmeter.comparison import found_logs
from goldmeter.comparison.claims import document
from goldmeter.comparison.found_logs import Found
from goldmeter.console.arguments import Parser
from goldmeter.console.format import listed
from goldmeter.console.terminal import console, exit_status, plain, say, write_markup
from goldmeter.dataset.record import file_name
from goldmeter.errors import DataError
from goldmeter.pipeline import git
from goldmeter.pipeline.files import to_json
from goldmeter.project import template
from goldmeter.reporting.page import render_claims
from goldmeter.wording import claims
from goldmeter.wording.claims import AdoptDocument

STDOUT = Path("-")
PAGE = Path("adopted.html")
# Files of one reason that the terminal lists; the page and the JSON list all.
FILES_LISTED = 10
# Where `--into` copies the newest log of most rows.
DATA, CLAIMS = Path("data/adopted"), Path("reports/claims.json")


def main(arguments: Sequence[str]) -> int:
    """Find, test and print; returns the exit status: 0, or 2 for an error that the user can fix."""
    chosen = parser().parse_args(arguments)
    return exit_status(lambda: _adopt(chosen))


def parser() -> Parser:
    """The parser of the command line."""
    command_line = Parser(
        prog="python -m flows.adopt",
        description=__doc__,
        epilog="Nothing in the folder is changed, no link is followed, and nothing is sent.",
        examples=["python -m flows.adopt old-logs", "python -m flows.adopt old-logs --html --into ../project"],
    )
    add = command_line.add_argument
    add("folder", metavar="FOLDER", type=Path, help="where the logs are, at any depth")
    add("--score", metavar="NAME", help="the score that decides; default: the one that most rows have")
    add("--by-id", action="store_true", help="rows of one id and equal references are one question: the prompt changed")
    most = found_logs.LARGEST // found_logs.MEGABYTE
    add("--largest", type=int, metavar="MB", default=most, help=f"of a log that is read whole; default: {most}")
    add("--json", nargs="?", const=STDOUT, type=Path, metavar="FILE", help="all of it as JSON; default: to stdout")
    add("--html", nargs="?", const=PAGE, type=Path, metavar="FILE", help=f"a page of it; default: {PAGE}")
    add("--into", metavar="DIR", type=Path, help="make a project there that goes on from the newest run of most rows")
    return command_line


def _adopt(chosen: argparse.Namespace) -> int:
    folder: Path = chosen.folder
    for option, path in {"--json": chosen.json, "--html": chosen.html, "--into": chosen.into}.items():
        if path not in {None, STDOUT} and path.resolve().is_relative_to(folder.resolve()):
            raise DataError(f"{option} {path}: is in {folder}, which stays as it is; name another place")
    found = found_logs.find(folder, by_id=chosen.by_id, largest=chosen.largest * found_logs.MEGABYTE)
    result = document(found, folder.resolve().name, chosen.score)
    if chosen.json is not None:
        as_json = to_json(result, ascii_only=chosen.json == STDOUT)
        write_markup(as_json) if chosen.json == STDOUT else chosen.json.write_text(as_json, encoding="utf-8")
    if chosen.json != STDOUT:
        _print(result)
    if chosen.html is not None:
        chosen.html.write_text(render_claims(result), encoding="utf-8")
        say(f"page: {chosen.html}", sys.stderr if chosen.json == STDOUT else sys.stdout)
    if chosen.into is not None:
        _make_project(chosen.into, found, result)
    if not found.runs:
        raise DataError(f"{folder}: no log of a tool that is known below it")
    return 0


def _print(result: AdoptDocument) -> None:
    out, runs = console(), result["runs"]
    of_runs = _table("date (UTC)", "tool", "file", "task", "system", "rate")
    for run in runs:
        dated = run["date"][:16] + ("" if run["dated_by"] == "log" else f" ({run['dated_by']})")
        cells = (dated, run["tool"], run["file"], run["task"], run["system"], claims.measured(run))
        of_runs.add_row(*map(plain, cells))
    of_claims = _table("base", "head", "score", "claimed", "shown", "verdict")
    for claim in result["claims"]:
        names = [f"{runs[claim[side]]['file']}: {runs[claim[side]]['system']}" for side in ("base", "head")]
        score, claimed = claim["score"] or "–", claims.size(claim, claim["claimed"])
        of_claims.add_row(*map(plain, (*names, score, claimed, claims.shows(claim), str(claim["verdict"]))))
    for table in (of_runs, of_claims):
        if table.row_count:
            out.print(table)
    of_reason: dict[str, list[str]] = {}
    for one in result["not_read"]:
        of_reason.setdefault(one["reason"], []).append(one["file"])
    for reason, files in of_reason.items():
        say(f"not read: {listed(files, FILES_LISTED)}: {reason}")
    say("\n".join([claims.found(result), claims.result(result), claims.BY_TOOL]))


def _table(*names: str) -> Table:
    return Table(*(Column(name, overflow="fold") for name in names), box=SIMPLE_HEAD)


def _make_project(into: Path, found: Found, result: AdoptDocument) -> None:
    """Make a project with the newest run of most rows, and map it by `init`.

    Raises:
        DataError: There is no run, or `init` fails.
    """

    newest = max(found.runs, key=attrgetter("rows", "date"), default=None)
    if newest is None:
        raise DataError(f"{result['folder']}: no run to go on from")
    into.mkdir(parents=True, exist_ok=True)
    template.make_project(into)
    names = [file_name(Path(path.name)) for path in newest.paths]
    for file in (into / DATA / names[0], into / CLAIMS):
        file.parent.mkdir(parents=True, exist_ok=True)
    for path, name in zip(newest.paths, names, strict=True):
        shutil.copyfile(path, into / DATA / name)
    (into / CLAIMS).write_text(to_json(result), encoding="utf-8")
    if git.run("rev-parse", "--git-dir", folder=into).returncode:
        git.run("init", "--quiet", folder=into)
    say(f"a project in {into}, which goes on from {newest.file}", sys.stderr)
    command = [sys.executable, "-m", "flows.init", (DATA / names[0]).as_posix()]
    environment = os.environ | {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
    if subprocess.run(command, cwd=into, env=environment, stdout=sys.stderr, check=False).returncode:
        raise DataError(
            f"{into}: the project is made, but its data are not mapped: there, goldmeter init {command[-1]}"
        )
