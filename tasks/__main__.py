"""The command line: `python -m tasks <stage>`, and what reads or manages the results of runs."""

import argparse
import gc
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from goldmeter.console.arguments import Parser
from goldmeter.console.json_output import add_json, print_json
from goldmeter.console.terminal import console, exit_status, is_terminal, say
from goldmeter.errors import DataError
from goldmeter.exports import command_line
from goldmeter.pipeline import stage_server

# The stage after which the summary is printed, if the stage was started by hand.
LAST_STAGE = "report"
HISTORY = Path("reports/history.html")
# Command that is no stage → what it does.
OTHERS = {
    "params": "Print the settings that runs use, and where each comes from; or explain one",
    "summary": "Print the results of the last run, and where the report is",
    "history": "Print the last runs, and since when something is wrong",
    "plan-study": "Say how many questions, draws, labels and dollars detect a difference, with the last run as pilot",
    "noise": "Say how much two runs of the same system differ, and what share of each difference is this noise",
    "export": "Write results in the forms of other tools",
    "gx": "Write the checks of the tables as a Great Expectations context with Data Docs",
    "attest": "Write what was found as an in-toto statement, signed if a key is given",
    "recheck": "Derive the claims of such a statement again, and print which are confirmed",
    "verify": "Check that files, DVC's copies of them and the ledger's stores are as they were written",
    "ledger": "Manage judge replies and embeddings that were paid for",
    "storage": "Manage the parts of tables in run.storage",
    "upgrade": "Upgrade the project to the installed library: print the changes, and leave them uncommitted",
}
# Stage → what `--plan` prints of it.
PLANS = {
    "judge": "how many calls would be made, and their cost",
    "answer": "how many calls would be made, and their cost",
    "embed": "how many texts would be embedded, and the minutes that this takes",
}


def main(arguments: Sequence[str]) -> int:
    """Run a command; returns the exit status: 0, 2 for an error that the user can fix, 75 for one to try again."""
    gc.set_threshold(100_000, 50, 50)  # imports allocate much and free nothing: saves half a second each

    def command() -> int:
        chosen = parser().parse_args(arguments)
        chosen.run(chosen)
        return 0

    return exit_status(command, "interrupted; no table was changed")


def parser() -> Parser:
    """The parser of the command line; stages and their descriptions are those of dvc.yaml."""
    from goldmeter.pipeline.dvc_yaml import stages  # needs the environment

    top = Parser(
        prog="python -m tasks",
        description="Run one stage of dvc.yaml, as `dvc repro` does, or print results of the last runs.",
    )
    descriptions = {stage.name: stage.description for stage in stages().values()}
    commands = top.add_commands("stage|command", descriptions | OTHERS)
    for name in descriptions:
        commands[name].set_defaults(run=_WITH_OPTIONS.get(name, _stage), stage=name)
    for name, plan in PLANS.items():
        if name in descriptions:
            commands[name].add_argument("--plan", action="store_true", help=f"only print {plan}")
    if "judge" in descriptions:
        _add_judge(commands["judge"])
    _add_others(commands)
    return top


def _add_judge(judge: argparse.ArgumentParser) -> None:
    band = (
        "only learn judge.band of a cascade from human labels: at most this share of what the offline judge "
        "decides is wrong, such as 0.02"
    )
    judge.add_argument("--band", type=float, metavar="SHARE", help=band)
    choose = (
        "only ask the judges of judge.panel about so many labelled rows, and print how often each agrees with "
        "the labels, its price and time, and who is dispensable; default: 300"
    )
    judge.add_argument("--choose", type=int, nargs="?", const=0, metavar="ROWS", help=choose)


def _add_others(commands: Mapping[str, Parser]) -> None:
    add = commands["params"].add_argument
    add("setting", metavar="SETTING", nargs="?", help="only a section or a setting, such as gate or gate.margin")
    about = "print what a section, a setting or a metric means, such as lexical.bleu"
    add("--explain", action="store_true", help=about)
    with_value = {"action": "append", "default": [], "metavar": "NAME=VALUE"}
    add("-S", "--set-param", dest="changes", **with_value, help="with this value, as in `dvc exp run -S`; repeat")
    add("--write", action="store_true", help="also write these values into params.yaml")
    for name in ("params", "summary", "history", "plan-study", "noise", "verify"):
        add_json(commands[name])
    commands["params"].set_defaults(run=_params)
    every = "print every measure, not only those to look at first"
    commands["summary"].add_argument("--all", action="store_true", help=every)
    commands["summary"].set_defaults(run=_summary)
    html = f"write the report of the workspace with past runs instead; default: {HISTORY}"
    commands["history"].add_argument("--html", nargs="?", const=HISTORY, type=Path, metavar="FILE", help=html)
    commands["history"].set_defaults(run=_history)
    _add_plan_study(commands["plan-study"].add_argument)
    commands["plan-study"].set_defaults(run=_plan_study)
    measured = "whose noise; default: the primary measure of the last run"
    commands["noise"].add_argument("--measure", metavar="NAME", help=measured)
    commands["noise"].set_defaults(run=_noise)
    command_line.add_arguments(commands["export"])
    command_line.add_gx(commands["gx"])
    command_line.add_attest(commands["attest"])
    command_line.add_recheck(commands["recheck"])
    version = "commit, tag, branch or experiment"
    commands["verify"].add_argument("versions", nargs="*", metavar="VERSION", help=f"{version}; default: the workspace")
    commands["verify"].set_defaults(run=_verify)
    ledger = commands["ledger"].add_commands("action", {"import": "Import what other versions paid for"})
    ledger["import"].add_argument("revisions", nargs="+", metavar="REV", help=version)
    ledger["import"].set_defaults(run=_import)
    commands["upgrade"].set_defaults(run=_upgrade)
    storage = commands["storage"].add_commands("action", {"gc": "Count the parts that no version names"})
    storage["gc"].add_argument("--remove", action="store_true", help="also remove those written more than 14 days ago")
    storage["gc"].set_defaults(run=_collect)


def _add_plan_study(add: Callable[..., object]) -> None:
    points = "true differences to detect, in points of the measure's scale; default: 1 2 5 10"
    add("--difference", type=float, nargs="+", default=[1.0, 2.0, 5.0, 10.0], metavar="POINTS", help=points)
    add("--power", type=float, default=0.8, metavar="P", help="probability of detection; default: %(default)s")
    add("--measure", metavar="NAME", help="what to plan for; default: the primary measure of the last run")


# Each command imports what it needs: some of that takes seconds.


def _stage(chosen: argparse.Namespace) -> None:
    from goldmeter.runner import run

    run(chosen.stage)
    if chosen.stage == LAST_STAGE and is_terminal():  # a flow prints it at its own end
        from goldmeter.reporting import summary

        summary.show(console(), reported=True)


def _answer(chosen: argparse.Namespace) -> None:
    if not chosen.plan:
        _stage(chosen)
        return
    from goldmeter.answering import preflight

    preflight.show()


def _judge(chosen: argparse.Namespace) -> None:
    if chosen.band is not None:
        from goldmeter.judging import preflight

        preflight.show_band(chosen.band)
        return
    if chosen.choose is not None:
        from goldmeter.judging import choice

        choice.show(chosen.choose or choice.ROWS)
        return
    if not chosen.plan:
        _stage(chosen)
        return
    from goldmeter.answering import preflight as answers
    from goldmeter.judging import preflight

    preflight.show()
    if calls := answers.plan_next_run().calls:
        say(f"judge: {calls:,} answers are still to be asked for (`python -m tasks answer --plan`); not counted above")


def _embed(chosen: argparse.Namespace) -> None:
    if not chosen.plan:
        _stage(chosen)
        return
    from goldmeter.dataset import preflight
    from goldmeter.estimates import embedded_texts
    from goldmeter.ledger import root
    from goldmeter.ledger.vectors import Vectors
    from goldmeter.pipeline import params
    from goldmeter.pipeline.dvc_yaml import LEDGER

    params.check()
    with closing(Vectors(root() / "embed")) as ledger:
        ledger.take_in(Path(LEDGER, "embed"))
        ahead = embedded_texts.plan(preflight.parts(), params.for_stage("embed"), ledger)
    say(f"embed: {ahead or 'the ledger has every vector'}")


_WITH_OPTIONS = {"answer": _answer, "judge": _judge, "embed": _embed}


def _params(chosen: argparse.Namespace) -> None:
    from goldmeter.reference import command

    command.show(chosen.setting, chosen.changes, explained=chosen.explain, written=chosen.write, is_json=chosen.json)


def _summary(chosen: argparse.Namespace) -> None:
    if chosen.json:
        from goldmeter.exports.results import headlines

        print_json(headlines())
        return
    from goldmeter.history import labelled_answers, last_run
    from goldmeter.reporting import summary

    out = console()
    summary.show(out, every=chosen.all)
    labelled_answers.warn(out)
    last_run.show(out)


def _history(chosen: argparse.Namespace) -> None:
    from goldmeter.history import show

    show.show(is_json=chosen.json) if chosen.html is None else show.write(chosen.html)


def _plan_study(chosen: argparse.Namespace) -> None:
    from goldmeter.reporting import study_plan

    study_plan.show(chosen)


def _noise(chosen: argparse.Namespace) -> None:
    from goldmeter.reporting import noise

    noise.show(chosen)


def _verify(chosen: argparse.Namespace) -> None:
    from goldmeter.versions.verification import verified, verify

    if chosen.json:
        found = verified(chosen.versions)
        print_json({"versions": found})
        if any(one.problems for one in found):
            raise DataError("something is damaged or missing")
        return
    for each in verify(chosen.versions):
        say(str(each))


def _upgrade(_chosen: argparse.Namespace) -> None:
    from goldmeter.project.upgrade import upgrade

    say("\n".join(upgrade()))


def _import(chosen: argparse.Namespace) -> None:
    from goldmeter.versions.evidence import import_revisions

    say(import_revisions(chosen.revisions))


def _collect(chosen: argparse.Namespace) -> None:
    from goldmeter.versions.stored_parts import collect

    found = collect(remove=chosen.remove)
    say(str(found))
    if found.old.files:
        old = f"these {found.old.files:,} parts"
        say(f"removed {old}" if chosen.remove else f"`python -m tasks storage gc --remove` removes {old}")


if __name__ == "__main__":
    command, status = sys.argv[1:], None
    if command[:1] == [stage_server.SERVE]:
        command = stage_server.serve(int(command[1]), Path(command[2]))
    else:
        status = stage_server.delegate(command)
    sys.exit(main(command) if status is None else status)
