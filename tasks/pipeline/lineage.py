"""What made a stage's tables: its code, the params it sees, and the versions of the libraries that its code imports."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from math import isfinite
from pathlib import Path
from typing import Any

from tasks.pipeline import params
from tasks.pipeline.credentials import HIDDEN, without_credentials
from tasks.pipeline.hashing import sha256
from tasks.pipeline.stages import Stage

ROOT = Path(__file__).parents[2]
"""Where the running code stands; the data may be elsewhere."""
IMPORT = re.compile(rb"^[ \t]*(?:import[ \t]+(\w+)|from[ \t]+(\w+)[\w.]*[ \t]+import\b)", re.MULTILINE)


def made(stage: Stage, root: Path = ROOT) -> dict[str, Any]:
    """What a stage's validation report says of its making, as plain JSON values.

    code: sha256 over the names and bytes of the code that dvc.yaml names as deps. params: sections as they are
    written, without credentials. versions: python's, and of each library that this code imports and that is there.
    The same tree gives the same values, whatever the workers, parts and rows.
    """
    files = {name: path.read_bytes() for dep in stage.code_read for name, path in _files(dep, root)}
    content = params.raw()
    sections = {name: _plain(content[name]) for name in stage.params if name in content}
    return {"code": _digest(files), "params": sections, "versions": _versions(files)}


def _files(dep: str, root: Path) -> Iterator[tuple[str, Path]]:
    """Names and paths of the files that a dep stands for, in order; without what Python compiled."""
    path = root / dep
    for each in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if each.is_file() and "__pycache__" not in each.parts and each.suffix != ".pyc":
            yield each.relative_to(root).as_posix(), each
    if not path.exists():
        yield dep, path


def _digest(files: Mapping[str, bytes]) -> str:
    return sha256("".join(f"{name}\0{sha256(content).hex()}\n" for name, content in files.items())).hex()


def _versions(files: Mapping[str, bytes]) -> dict[str, str]:
    """Python's version and those of imported libraries, by the names they are imported by."""
    named = {"".join(pair) for pair in _imports(content for name, content in files.items() if name.endswith(".py"))}
    found = {"python": ".".join(map(str, sys.version_info[:2]))}
    for name in sorted(named - sys.stdlib_module_names - {"tasks"}):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # an extra that is not installed
            continue
    return found


def _imports(sources: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    for source in sources:
        yield from ((one.decode(), other.decode()) for one, other in IMPORT.findall(source))


def _plain(value: Any) -> Any:
    """A value of params.yaml as JSON has it: its texts without credentials, nothing of what is named like one."""
    if isinstance(value, Mapping):
        plain = {str(key): HIDDEN if _is_secret(str(key), each) else _plain(each) for key, each in value.items()}
        return {without_credentials(key): each for key, each in plain.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and isfinite(value)):
        return value
    return without_credentials(str(value))


def _is_secret(key: str, value: Any) -> bool:
    return value is not None and without_credentials(f"{key}=x") != f"{without_credentials(key)}=x"
