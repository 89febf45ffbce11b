"""The files of a new project: those that pyproject.toml puts into the wheel, for the library that is installed."""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from goldmeter.errors import ParamsError
from goldmeter.pipeline import git
from goldmeter.pipeline.dvc_yaml import GOLDMETER_YAML, stages
from goldmeter.pipeline.hashing import sha256
from goldmeter.pipeline.revisions import own_version, revision_of
from goldmeter.pipeline.yaml import dump_yaml

FILES = Path(__file__).with_name("files")
_CLONE = Path(__file__).parents[2]
ROOT = FILES if (FILES / "dvc.yaml").is_file() else _CLONE
"""A folder with the stages and flows of a new project: of an installed wheel, or the root of a clone."""
KEPT = {".gitignore", "AGENTS.md", "README.md", "pyproject.toml"}
"""Files that a folder may have before it becomes a project; they stay as they are."""
# Where the library lies beside the project, stages depend on its folders, too.
_LIBRARY_DEPS = re.compile(r"^ +- goldmeter/.*\n", re.MULTILINE)
_PINNED = re.compile(r"""(?<![\w.-])(goldmeter(?:\[[^\]]*\])?)\s*==\s*[^"',;\s]+""")
_ABOUT = """\
# The version of goldmeter that computed this project's numbers, and the revision of its part of each stage: a stage
# runs again when its revision is raised. files: sha256 of what was written; files that you have not changed are
# upgraded. `goldmeter upgrade` rewrites this file.
"""


def make_project(folder: Path) -> None:
    """Write settings, prompts, stages, flows and the bundled example into a folder that has none of them.

    Raises:
        ParamsError: One of the files is there already; then nothing is written.
        VersionError: git is missing.
    """
    files = project_files()
    hiding = ("goldmeter", "goldmeter.py")  # Python would import it in place of the library
    folders = {parent for name in files for parent in Path(name).parents if parent != Path()}
    taken = [name for name in (*files, *hiding) if Path(name).name not in KEPT and os.path.lexists(folder / name)]
    taken += [str(path) for path in sorted(folders) if os.path.lexists(folder / path) and not (folder / path).is_dir()]
    if taken:
        raise ParamsError(
            f"{taken[0]}: is there already; make the project in a folder that holds nothing, or nothing but data"
        )
    git.run("--version")
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_bytes(content)


def project_files() -> dict[str, bytes]:
    """Return the content of all files of a new project, by path and in order."""
    files = {name: _for_project(name, path.read_bytes()) for name, path in sorted(_places())}
    return files | {GOLDMETER_YAML: goldmeter_yaml(upgraded(files))}


def upgraded(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return those that a newer library may replace: code and the pipeline; not settings, prompts and data."""
    return {name: content for name, content in files.items() if is_upgraded(name)}


def is_upgraded(name: str) -> bool:
    """Return whether a newer library may replace a file of a project."""
    inside = name.startswith(("tasks/", "flows/", ".dvc/plots/")) and ".." not in name.split("/")
    return inside or name in {"data/labels/README.md", "dvc.yaml", "prefect.toml"}


def goldmeter_yaml(files: Mapping[str, bytes]) -> bytes:
    """Return goldmeter.yaml as this library writes it for a project with these files; {}: for a clone."""
    content = {
        "version": own_version(),
        "revisions": {name: revision_of(name) for name in stages(ROOT / "dvc.yaml")},
        "files": {name: fingerprint(content) for name, content in sorted(files.items())},
    }
    return f"{_ABOUT}{dump_yaml(content)}".encode()


def fingerprint(content: bytes) -> str:
    """Return what goldmeter.yaml states of a file: the first 12 digits of its sha256."""
    return sha256(content).hex()[:12]


def pinned(pyproject: bytes) -> bytes:
    """Return a pyproject.toml with the library's version, where it names one."""
    return _PINNED.sub(rf"\g<1>=={own_version()}", pyproject.decode("utf-8", "surrogateescape")).encode(
        "utf-8", "surrogateescape"
    )


def _for_project(name: str, content: bytes) -> bytes:
    if name == "dvc.yaml":
        return _LIBRARY_DEPS.sub("", content.decode()).encode()
    return pinned(content) if name == "pyproject.toml" else content


def _places() -> Iterator[tuple[str, Path]]:
    """The path in a project and the place of each file."""
    folders = [(FILES, [FILES])]
    if ROOT == _CLONE:
        folders.append((_CLONE, [_CLONE / name for name in _included()]))
    for root, tops in folders:
        for path in (path for top in tops for path in (top.rglob("*") if top.is_dir() else [top])):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(root).as_posix(), path


def _included() -> list[str]:
    """The files and folders that the wheel takes from the clone."""
    content = tomllib.loads((_CLONE / "pyproject.toml").read_text(encoding="utf-8"))
    included: dict[str, str] = content["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    return [*included]
