"""The versions of goldmeter and of the libraries that it needs."""

import re
import sys
import tomllib
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

from goldmeter.pipeline.revisions import own_version

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
