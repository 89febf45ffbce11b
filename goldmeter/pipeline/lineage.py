"""The lineage of a stage's tables: its code, its params, and the versions of the libraries that it ran with."""

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any

from goldmeter.pipeline import params
from goldmeter.pipeline.credentials import HIDDEN, without_credentials
from goldmeter.pipeline.dvc_yaml import StageEntry
from goldmeter.pipeline.hashing import sha256
from goldmeter.pipeline.revisions import own_version, revision_of

PACKAGE = Path(__file__).parents[1]
IMPORT = re.compile(rb"^[ \t]*(?:import[ \t]+(\w+)|from[ \t]+(\w+)[\w.]*[ \t]+import\b)", re.MULTILINE)


def lineage(entry: StageEntry, root: Path | None = None) -> dict[str, Any]:
    """Describe the origin of a stage's tables in plain JSON values, for its validation report.

    The same code, params and libraries give the same values, whatever the workers, parts and rows.

    Args:
        root: Folder of the project's code; None: that of the running `tasks`. The data may be elsewhere.

    Returns:
        code: sha256 over the names and bytes of the code among the deps in dvc.yaml.
        revision: Of the library's part of the stage; absent for a stage that the library does not know.
        params: The sections as params.yaml states them, with the defaults, without credentials.
        versions: Of Python, goldmeter, what goldmeter needs, and what this code imports.
    """
    root = project_root() if root is None else root
    files = {name: path.read_bytes() for dep in entry.code_read for name, path in _files(dep, root)}
    content = params.effective()
    sections = {name: _plain(content[name]) for name in entry.params if name in content}
    return {
        "code": _hash(files),
        **({"revision": revision_of(entry.name)} if entry.has_revision else {}),
        "params": sections,
        "versions": dependency_versions() | _imported(files),
    }


def code_hash() -> str:
    """Return the sha256 over the names and bytes of all that is in the library and in the project's tasks/."""
    root = project_root()
    tasks = _files("tasks", root) if (root / "tasks").is_dir() else ()
    library = ((f"goldmeter/{name}", path) for name, path in _files("", PACKAGE))
    return _hash({name: path.read_bytes() for files in (tasks, library) for name, path in files})


def project_root() -> Path:
    """Return the folder that holds the running `tasks`."""
    spec = find_spec("tasks")
    return Path(spec.origin).parents[1] if spec and spec.origin else Path()


def _hash(files: Mapping[str, bytes]) -> str:
    return sha256("".join(f"{name}\0{sha256(content).hex()}\n" for name, content in files.items())).hex()


def _files(dep: str, root: Path) -> Iterator[tuple[str, Path]]:
    """Names and paths of the files of a dep, in order and without compiled ones."""
    path = root / dep
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".pyc":
            yield file.relative_to(root).as_posix(), file
    if not path.exists():
        yield dep, path


def _imported(files: Mapping[str, bytes]) -> dict[str, str]:
    """Versions of the installed libraries that the project's code imports, by import name."""
    sources = [content for name, content in files.items() if name.startswith("tasks/") and name.endswith(".py")]
    names = {(one or other).decode() for source in sources for one, other in IMPORT.findall(source)}
    versions = {}
    for name in sorted(names - {"goldmeter", "tasks"}):
        with suppress(metadata.PackageNotFoundError):  # of the standard library, or a module of the project
            versions[name] = metadata.version(name)
    return versions


def _plain(value: Any) -> Any:
    """Convert a value of params.yaml to JSON; credentials in texts, and values named like one, are hidden."""
    if isinstance(value, Mapping):
        plain = {str(key): HIDDEN if _is_secret(str(key), item) else _plain(item) for key, item in value.items()}
        return {without_credentials(key): item for key, item in plain.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and isfinite(value)):
        return value
    return without_credentials(str(value))


def _is_secret(key: str, value: Any) -> bool:
    return value is not None and without_credentials(f"{key}=x") != f"{without_credentials(key)}=x"


NAME = "goldmeter"
# A clone holds it beside the library.
_PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
_DISTRIBUTION = re.compile(r"[\w.-]+")


@cache
def dependency_versions(*, extras: bool = False) -> dict[str, str]:
    """Return the versions of Python, of goldmeter and of all that it needs, by name; extras: also of what they add."""
    matches = [_DISTRIBUTION.match(each) for each in _needed() if extras or "extra ==" not in each]
    versions = {"python": ".".join(map(str, sys.version_info[:2])), NAME: own_version()}
    for name in sorted(match[0] for match in matches if match):
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


def _needed() -> list[str]:
    """The requirements in the pyproject.toml of the clone that this code lies in, or of the installed package."""
    if _PYPROJECT.is_file():
        project = tomllib.loads(_PYPROJECT.read_text(encoding="utf-8")).get("project", {})
        if project.get("name") == NAME:
            optional = [each for needed in project["optional-dependencies"].values() for each in needed]
            return [*project["dependencies"], *(f"{each}; extra == 'any'" for each in optional)]
    return metadata.requires(NAME) or []
