"""The lineage of a stage's tables: its code, its params, and the versions of the libraries that its code imports."""

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import metadata
from math import isfinite
from pathlib import Path
from typing import Any

from goldmeter.pipeline import params
from goldmeter.pipeline.credentials import HIDDEN, without_credentials
from goldmeter.pipeline.dvc_yaml import CODE, StageEntry
from goldmeter.pipeline.hashing import sha256

# Folder of the running code; the data may be elsewhere.
ROOT = Path(__file__).parents[2]
IMPORT = re.compile(rb"^[ \t]*(?:import[ \t]+(\w+)|from[ \t]+(\w+)[\w.]*[ \t]+import\b)", re.MULTILINE)


def lineage(entry: StageEntry, root: Path = ROOT) -> dict[str, Any]:
    """Describe the origin of a stage's tables in plain JSON values, for its validation report.

    The same code, params and libraries give the same values, whatever the workers, parts and rows.

    Returns:
        code: sha256 over the names and bytes of the code among the deps in dvc.yaml.
        params: The sections as they are written in params.yaml, without credentials.
        versions: Of Python, and of each installed library that this code imports.
    """
    files = {name: path.read_bytes() for dep in entry.code_read for name, path in _files(dep, root)}
    content = params.raw()
    sections = {name: _plain(content[name]) for name in entry.params if name in content}
    return {"code": _hash(files), "params": sections, "versions": _versions(files)}


def code_hash(root: Path = ROOT) -> str:
    """Return the sha256 over the names and bytes of all that is in goldmeter/ and tasks/."""
    return _hash(_contents(root))


def libraries(root: Path = ROOT) -> dict[str, str]:
    """Return the versions of Python, and of each installed library that code in goldmeter/ and tasks/ imports."""
    return _versions(_contents(root))


def _contents(root: Path) -> dict[str, bytes]:
    return {name: path.read_bytes() for dep in CODE for name, path in _files(dep.rstrip("/"), root)}


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


def _versions(files: Mapping[str, bytes]) -> dict[str, str]:
    """Versions of Python and of imported libraries, by import name."""
    sources = [content for name, content in files.items() if name.endswith(".py")]
    imported = {(one or other).decode() for source in sources for one, other in IMPORT.findall(source)}
    versions = {"python": ".".join(map(str, sys.version_info[:2]))}
    for name in sorted(imported - sys.stdlib_module_names - {"goldmeter", "tasks"}):
        with suppress(metadata.PackageNotFoundError):  # an extra that is not installed
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
