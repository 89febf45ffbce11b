"""Compare two versions, or two logs of another tool, and say whether the newer one may ship."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from prefect import State, flow, tags
from prefect.artifacts import create_markdown_artifact
from prefect.runtime import flow_run as this_run
from prefect.states import Completed, Failed
from rich.console import Console

from goldmeter.comparison import logs
from goldmeter.comparison.gate import Gate
from goldmeter.comparison.of_versions import compare_several, compare_versions
from goldmeter.comparison.render import several_to_markdown, several_to_terminal, to_markdown, to_terminal
from goldmeter.console.arguments import Parser
from goldmeter.console.markdown import escaped
from goldmeter.console.terminal import console, exit_status, say, write_markup, write_no_more
from goldmeter.errors import ComparisonError, GoldmeterError
from goldmeter.history.labelled_answers import compare_options
from goldmeter.history.series import trend_of_versions
from goldmeter.pipeline import params
from goldmeter.pipeline.files import to_json
from goldmeter.reporting import robust
from goldmeter.reporting.assembly import write_page
from goldmeter.reporting.page import ComparedVersions
from goldmeter.serving import flow_runs, server
from goldmeter.versions.version import WORKSPACE, Version, versions
from goldmeter.wording import comparison_document, comparison_lines

HEAD = "HEAD"
STDOUT = Path("-")
PAGE = Path("reports/comparison.html")


class StoppedError(GoldmeterError):
    """The decision of the release gate, where it fails a run. Prefect raises the data of a failed state."""

    def __init__(self, sentence: str, document: comparison_document.ComparisonDocument) -> None:
        super().__init__(sentence)
        self.document = document


def _run_name() -> str:
    given = this_run.parameters  # not the defaults, in a run that was asked for by Prefect's API
    return flow_runs.comparison_name([given.get("base", HEAD), given.get("head", WORKSPACE), *given.get("more", ())])


@flow(name="compare", flow_run_name=_run_name, persist_result=False)
def compare(
    base: str = HEAD,
    head: str = WORKSPACE,
    *,
    more: Sequence[str] = (),
    against: comparison_document.Against = "first",
    renamed: Mapping[str, str] = {},
    rescore: bool = False,
) -> State[Any]:
    """Compare versions and keep the table as the artifact `comparison`.

    Args:
        base: The older version: a commit, tag, branch, experiment, or a folder of an earlier run.
        head: The newer version: the same, or the workspace.
        more: Further versions, newest last, whose state it is then.
        against: With further versions: which one all others are compared with, the first or the last.
        renamed: Candidate of the base version → its name in the head version; "" if it was dropped.
        rescore: Score the base version again by the settings of the head version, where that needs no model.

    Returns:
        A state that is named by the decision. Its data are the comparison, that of the first with the last of more than
        two; where the command's exit status would not be 0, it is failed, and its data are a StoppedError.

    Raises:
        GoldmeterError: If the versions can't be compared.
    """
    flow_runs.log_in_plain_words()
    if more:
        if renamed:
            raise ComparisonError("renamed: of two versions, not of more")
        several = compare_more([base, head, *more], against, rescore=rescore)
        document, as_markdown = comparison_document.from_first_to_last(several), several_to_markdown(several)
    else:
        document = compare_by_params(base, head, renamed=renamed, rescore=rescore)
        as_markdown = to_markdown(document)
    outcome = comparison_lines.outcome(document)
    create_markdown_artifact(as_markdown, key="comparison", description=escaped(outcome.sentence))
    name = document["decision"]["verdict"].capitalize()
    if outcome.status:
        return Failed(name=name, message=outcome.sentence, data=StoppedError(outcome.sentence, document))
    return Completed(name=name, message=outcome.sentence, data=document)


def compare_by_params(
    base: str, head: str, *, renamed: Mapping[str, str], rescore: bool, page: Path | None = None
) -> comparison_document.ComparisonDocument:
    """Compare two versions, or two logs, by section `gate` of params.yaml.

    Args:
        base: The older version.
        head: The newer version.
        renamed: Candidate of BASE → its name in HEAD; "" if it was dropped.
        rescore: Score BASE again by the settings of HEAD.
        page: Where HEAD's report is written with the comparison.
    """
    gate, options = _gate(), compare_options(renamed, rescore=rescore)
    if any(map(logs.tool_of, (base, head))):
        if rescore or page is not None:
            raise ComparisonError("--rescore and --html: of versions only; load a log by `python -m flows.init` first")
        return logs.compare_logs(base, head, gate, options)
    with versions([base, head]) as (older, newer):
        document = compare_versions(older, newer, gate, options)
        if page is not None:
            shown = document if rescore else _with_robustness(document, older, newer, renamed)
            write_page(newer, page, comparison=shown)
        return document


def _with_robustness(
    document: comparison_document.ComparisonDocument, older: Version, newer: Version, renamed: Mapping[str, str]
) -> comparison_document.ComparisonDocument:
    """The comparison with a check of each conclusion; as it is where the primary measure is no pass rate."""
    try:
        found = robust.of_versions(older, newer, renamed=renamed)
    except GoldmeterError:
        return document
    pairs: list[comparison_document.PairEntry] = [
        {**pair, "robust": one} for pair, one in zip(document["pairs"], found, strict=True)
    ]
    return {**document, "pairs": pairs}


def compare_more(
    names: Sequence[str], against: comparison_document.Against, *, rescore: bool, page: Path | None = None
) -> comparison_document.SeveralVersions:
    """Compare several versions with the first or the last of them, by section `gate` of params.yaml.

    Args:
        names: The versions in their order.
        against: Which version all others are compared with.
        rescore: Score each BASE again by the settings of its HEAD.
        page: Where the last version's report is written with all comparisons.
    """
    if twice := [name for name in names if names.count(name) > 1]:
        raise ComparisonError(f"{twice[0]}: named twice")
    if named := [name for name in names if logs.tool_of(name)]:
        raise ComparisonError(f"{named[0]}: a log; logs are compared two at a time, versions in any number")
    with versions(names) as compared:
        document = compare_several(compared, _gate(), against, compare_options(rescore=rescore))
        comparison_document.from_first_to_last(document)
        if page is not None:
            trend = trend_of_versions(names, document["values"], document["primary"])
            write_page(compared[-1], page, several=ComparedVersions(document, trend))
        return document


def _gate() -> Gate:
    return params.section(Gate, params.raw(), "gate")


def main(arguments: Sequence[str]) -> int:
    """Compare; returns the exit status, 1 where the gate says so."""
    command_line = parser()
    chosen = command_line.parse_args(arguments)
    if chosen.json == chosen.markdown == STDOUT:
        command_line.error("--json and --markdown can't both be written to standard output: give one a file")
    if chosen.flow and (chosen.json or chosen.markdown or chosen.html):
        command_line.error("--flow keeps the table as an artifact; use --json, --markdown and --html without it")
    if chosen.more and (chosen.flow or chosen.map):
        command_line.error("--flow and --map: of two versions, not of more")
    if chosen.against and not chosen.more:
        command_line.error("--against: of three versions or more")
    return exit_status(lambda: _command(chosen))


def parser() -> Parser:
    """The parser of the command line."""
    command_line = Parser(
        prog="python -m flows.compare",
        description=f"{__doc__} Section gate of params.yaml says what is compared, and what stops a release.",
        gate="do not ship: worse, or undecided where gate.fail_on says so",
        examples=[
            "python -m flows.compare main",
            "python -m flows.compare v1.2 HEAD --markdown",
            "python -m flows.compare v1 v2 v3 workspace --html",
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
    add("more", metavar="NEWER", nargs="*", help="further versions, newest last, whose exit status it is then")
    add(
        "--against",
        choices=("first", "last"),
        help="with three versions or more: which one all others are compared with; default: first",
    )
    add(
        "--map",
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="a candidate that was renamed; OLD= if it was dropped",
    )
    add("--rescore", action="store_true", help="score BASE again by HEAD's settings, where that needs no model")
    add("--all", action="store_true", help="print every measure and note, not only those to decide by")
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
    if chosen.more:
        return _compare_more(chosen)
    if chosen.flow:
        server.for_one_run()
        with tags(flow_runs.TAG, flow_runs.data_set()):
            state: State[Any] = compare(
                chosen.base, chosen.head, renamed=renamed, rescore=chosen.rescore, return_state=True
            )
        document = _document(state)
    else:
        document = compare_by_params(
            chosen.base, chosen.head, renamed=renamed, rescore=chosen.rescore, page=chosen.html
        )
    _write(chosen, document, to_markdown(document), partial(to_terminal, document, every=chosen.all))
    return comparison_lines.outcome(document).status


def _document(state: State[Any]) -> comparison_document.ComparisonDocument:
    """The comparison in the state of a flow run; raises what the flow raised."""
    record: Any = state.data
    kept = getattr(record, "result", record)
    if isinstance(kept, StoppedError):
        return kept.document
    if isinstance(kept, BaseException):
        raise kept
    comparison: comparison_document.ComparisonDocument = kept
    return comparison


def _compare_more(chosen: argparse.Namespace) -> int:
    names = [chosen.base, chosen.head, *chosen.more]
    document = compare_more(names, chosen.against or "first", rescore=chosen.rescore, page=chosen.html)
    as_table = partial(several_to_terminal, document)
    _write(chosen, document, several_to_markdown(document), as_table)
    return comparison_lines.outcome(comparison_document.from_first_to_last(document)).status


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


def _write(
    chosen: argparse.Namespace, document: Mapping[str, Any], as_markdown: str, print_table: Callable[[Console], None]
) -> None:
    """Write the requested forms; and a table to the terminal, unless standard output takes one of the forms.

    The decision holds whoever reads it: where standard output is closed early, the rest is not written.
    """
    try:
        _write_forms(chosen, document, as_markdown, print_table)
        sys.stdout.flush()
    except BrokenPipeError:
        write_no_more()


def _write_forms(
    chosen: argparse.Namespace, document: Mapping[str, Any], as_markdown: str, print_table: Callable[[Console], None]
) -> None:
    taken = STDOUT in (chosen.json, chosen.markdown)
    if chosen.json is not None:
        _write_text(to_json(document, ascii_only=chosen.json == STDOUT), chosen.json)
    if chosen.markdown is not None:
        _write_text(as_markdown, chosen.markdown)
    if not taken:
        print_table(console())
    if chosen.html is not None:
        say(f"report: {chosen.html}", sys.stderr if taken else sys.stdout)


def _write_text(text: str, file: Path) -> None:
    if file == STDOUT:
        write_markup(text)
    else:
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
