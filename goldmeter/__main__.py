"""`goldmeter NAME …`: a command of the project in the current folder; `goldmeter init` makes a project there."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn

from goldmeter.template import TEMPLATE, project_files

HELP = {"-h", "--help"}
# A folder that has these holds a project: its stages, and the code of its own that a command runs.
MARKS = ("dvc.yaml", "flows/__main__.py", "goldmeter/runner.py")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Become `python -m flows` of the project in this folder; `init` first makes one where there is none.

    Args:
        arguments: None: those of the command line.
    """
    given = sys.argv[1:] if arguments is None else [*arguments]
    if given == ["--version"]:
        print(version("goldmeter"))
        sys.exit()
    if not all(Path(mark).is_file() for mark in MARKS):
        if not given or HELP & {*given}:
            os.chdir(TEMPLATE)
        elif given[0] != "init":
            _end(f"{Path.cwd()}: holds no project; `goldmeter init` makes one")
        else:
            _make_project()
            if given == ["init"]:
                print("next: goldmeter run")
                sys.exit()
    # The stages call `python`: this one, active or not.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    os.execv(sys.executable, [sys.executable, "-m", "flows", *given])


def _make_project() -> None:
    """Copy settings, prompts, code and the bundled example into the current folder, and let git watch it."""
    files = project_files()
    if present := [name for name in files if Path(name).name != ".gitignore" and Path(name).exists()]:
        _end(f"{present[0]}: is there already; make the project in a folder that holds nothing, or nothing but data")
    if not shutil.which("git"):
        _end("git: not found; the versions of a project are kept by it")
    for name in files:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        if not Path(name).exists():
            shutil.copyfile(TEMPLATE / name, name)
    if subprocess.run(["git", "rev-parse", "--git-dir"], capture_output=True, check=False).returncode:
        subprocess.run(["git", "init", "--quiet"], check=True)
    print(
        "a project: settings in params.yaml, stages in dvc.yaml, code in goldmeter, tasks and flows, an example in data"
    )


def _end(problem: str) -> NoReturn:
    print(f"error: {problem}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
