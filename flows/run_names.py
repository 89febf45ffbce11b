"""Names and tags of flow runs: which data, which version."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from tasks.errors import GoldmeterError
from tasks.pipeline import git, params

# Of every run and every deployment.
TAG = "goldmeter"
NO_DATA, NO_COMMIT = "no data set", "workspace"


def evaluation() -> str:
    """The name of a run of the stages, such as `NQ.json@v1.2`; never raises: the run itself says what is wrong."""
    try:
        version = git.described() or NO_COMMIT
    except GoldmeterError:
        version = NO_COMMIT
    return f"{data_set()}@{version}"


def comparison(versions: Sequence[str]) -> str:
    """The name of a comparison, such as `NQ.json: v1.1 → v1.2`."""
    return f"{data_set()}: {' → '.join(versions)}"


def data_set() -> str:
    """The file or folder in params.yaml."""
    try:
        section = params.raw().get("dataset")
    except (GoldmeterError, OSError):
        return NO_DATA
    path = section.get("path") if isinstance(section, dict) else None
    return PurePosixPath(str(path)).name if path else NO_DATA
