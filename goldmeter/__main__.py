"""`goldmeter NAME …`: a command of the project in the current folder; `goldmeter init` makes a project there."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, TextIO

from goldmeter.errors import GoldmeterError, did_you_mean
from goldmeter.pipeline import git, revisions
from goldmeter.pipeline.revisions import own_version
from goldmeter.project import template

HELP = {"-h", "--help"}
# A folder that has these holds a project: its stages, and the code of its own that a command runs.
MARKS = ("dvc.yaml", "flows/__main__.py")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Become `python -m flows` of the project in this folder; `init` first makes one where there is none.

    Args:
        arguments: None: those of the command line.
    """
    given = sys.argv[1:] if arguments is None else [*arguments]
    if given == ["--version"]:
        print(own_version())
        sys.exit()
    if given[:1] == ["adopt"]:  # by the library alone: it needs no project, and may make one
        from goldmeter.project import adopt

        sys.exit(adopt.main(given[1:]))
    if not all(Path(mark).is_file() for mark in MARKS):
        if not given or HELP & {*given}:
            os.chdir(template.ROOT)
        elif given[0] != "init":
            missing = next((mark for mark in MARKS if not Path(mark).is_file()), "")
            is_part = any(Path(mark).is_file() for mark in MARKS)
            how = f"`git checkout {missing}` restores it" if is_part else "`goldmeter init` makes one"
            if given[0] not in (names := _names()) and (similar := did_you_mean(given[0], names)):
                _end(f"{given[0]!r}: no such command{similar}")
            _end(f"{Path.cwd()}: {f'{missing} is missing' if is_part else 'holds no project'}; {how}")
        else:
            _make_project(sys.stderr if "--json" in given else sys.stdout)
            if given == ["init"]:
                print("next: goldmeter run")
                sys.exit()
    elif not Path("goldmeter").is_dir():  # in a clone, its own library does all of it
        if given[:1] == ["upgrade"]:  # by the library alone: the project's code may need it first
            from goldmeter.project import upgrade

            sys.exit(upgrade.main(given[1:]))
        _tell_of_another_version()
    # The stages call `python`: this one, active or not.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    os.execv(sys.executable, [sys.executable, "-m", "flows", *given])


def _names() -> list[str]:
    """The commands that a new project has in flows/."""
    return ["run", *sorted(path.stem for path in (template.ROOT / "flows").glob("[a-z]*.py"))]


def _tell_of_another_version() -> None:
    """Say that the project was made for another version: its code may not fit the library that it imports."""
    with suppress(GoldmeterError):  # the command tells it
        if (made_for := revisions.read().version) != own_version():
            note = f"note: the project was made for goldmeter {made_for}, and {own_version()} is installed"
            print(f"{note}; `goldmeter upgrade` moves it", file=sys.stderr)


def _make_project(output: TextIO) -> None:
    try:
        template.make_project(Path())
    except GoldmeterError as error:
        _end(str(error))
    if git.answer("rev-parse", "--git-dir") is None:
        git.run("init", "--quiet")
    git.run("hash-object", "-w", "params.yaml")  # what nobody has changed yet is not kept for the user again
    made = "a project: settings in params.yaml, stages in dvc.yaml and tasks, commands in flows, an example in data"
    print(made, file=output)


def _end(problem: str) -> NoReturn:
    print(f"error: {problem}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
