"""The files of which `goldmeter init` makes a project: those that pyproject.toml puts into the wheel."""

import tomllib
from pathlib import Path

_HERE = Path(__file__).parent
_IN_WHEEL = _HERE / "project"
TEMPLATE = _IN_WHEEL if _IN_WHEEL.is_dir() else _HERE.parent
"""The folder that holds them: part of an installed wheel; of a clone, also if it is installed as editable, its root."""


def project_files() -> list[str]:
    """Return the paths of all files, from TEMPLATE, in order."""
    top = [TEMPLATE] if TEMPLATE == _IN_WHEEL else [TEMPLATE / name for name in _included()]
    paths = [path for each in top for path in (each.rglob("*") if each.is_dir() else [each])]
    return sorted(
        path.relative_to(TEMPLATE).as_posix() for path in paths if path.is_file() and "__pycache__" not in path.parts
    )


def _included() -> list[str]:
    """The files and folders that the wheel includes."""
    content = tomllib.loads((TEMPLATE / "pyproject.toml").read_text(encoding="utf-8"))
    included: dict[str, str] = content["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    return [*included]
