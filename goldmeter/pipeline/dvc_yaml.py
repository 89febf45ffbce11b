"""The entries of dvc.yaml, which is the only list of stages."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from pydantic import BaseModel, TypeAdapter, ValidationError

from goldmeter.errors import ParamsError
from goldmeter.pipeline.yaml import load_yaml

CODE = ("goldmeter/", "tasks/")
DATA = "data/"
# Human labels, which no stage writes.
LABELS = "data/labels"
LEDGER = "data/ledger/"
REPORTS = "reports/"
# The file that names the library's version, and for each stage the revision of the library's part of it.
GOLDMETER_YAML = "goldmeter.yaml"
# Characters of a place in dvc.lock that a message quotes.
_LONGEST = 100


class StageEntry(NamedTuple):
    """The entry of one stage in dvc.yaml.

    params: of params.yaml. has_revision: it runs again when the revision of the library's part of it is another one.
    """

    name: str
    description: str
    command: str
    deps: tuple[str, ...]
    params: tuple[str, ...]
    outs: tuple[str, ...]
    has_revision: bool = False

    @property
    def tables_read(self) -> list[str]:
        """Names of the tables among the deps, in order."""
        return [*tables(self.deps)]

    @property
    def tables_written(self) -> list[str]:
        """Names of the tables among the outs, in order."""
        return [*tables(self.outs)]

    @property
    def code_read(self) -> list[str]:
        """Files and folders of code among the deps, in order."""
        return [dep for dep in self.deps if dep.startswith(CODE)]

    @property
    def documents_read(self) -> list[str]:
        """JSON files of other stages among the deps."""
        return [dep for dep in self.deps if dep.startswith(REPORTS)]

    @property
    def ledger_read(self) -> str | None:
        """The ledger whose evidence the stage reads."""
        return _ledger(self.deps)

    @property
    def ledger_written(self) -> str | None:
        """The ledger whose evidence the stage writes."""
        return _ledger(self.outs)


class _LockedFile(BaseModel):
    """A dep or an out in dvc.lock, as far as anything here reads it."""

    path: str


class _LockedStage(BaseModel):
    """What the last run of a stage read and wrote, in dvc.lock. params: file → path of an option → value."""

    deps: list[_LockedFile] = []
    outs: list[_LockedFile] = []
    params: dict[str, dict[str, Any]] = {}


_LOCKED = TypeAdapter(dict[str, _LockedStage])


def stages(path: Path = Path("dvc.yaml")) -> dict[str, StageEntry]:
    """Return every stage of dvc.yaml, by name and in the order of the file, which is read once.

    Raises:
        ParamsError: The file can't be read as a list of stages.
    """
    return _stages(path.absolute(), path)


def forget_stages() -> None:
    """Read each dvc.yaml again."""
    _stages.cache_clear()


@cache
def _stages(_place: Path, path: Path) -> dict[str, StageEntry]:
    """The stages of a file; place: with the current folder, so that another folder's are not taken for them."""
    try:
        listed = load_yaml(path)["stages"]
        return {name: _stage(name, body) for name, body in listed.items()}
    except FileNotFoundError:
        raise ParamsError(f"{path}: not found; run from the folder that holds it") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise ParamsError(
            f"{path}: not readable as a list of stages: {error!r}; restore it from version control"
        ) from None


def locked(content: Any) -> dict[str, Any]:
    """Return each stage of a dvc.lock by name, as it stands there; content: that of the file, None if there is none.

    Raises:
        ParamsError: It is no dvc.lock.
    """
    try:
        listed = {} if content is None else content.get("stages") or {}
        _LOCKED.validate_python(listed)
    except (AttributeError, ValidationError) as error:
        where, problem = "", f"expected stages, found a {type(content).__name__}"
        if isinstance(error, ValidationError):
            [first, *_] = error.errors(include_input=False, include_url=False)
            where, problem = ".".join(map(str, ("stages", *first["loc"]))), first["msg"]
        raise ParamsError(": ".join(filter(None, [where[:_LONGEST], problem]))) from None
    return {**listed}


def recorded(stage: str, section: str, option: str, path: Path = Path("dvc.lock")) -> Any:
    """Return an option of params.yaml as it was at the stage's last run, by dvc.lock; None if that does not say."""
    try:
        return load_yaml(path)["stages"][stage]["params"]["params.yaml"][section].get(option)
    except (OSError, ParamsError, KeyError, TypeError, AttributeError):
        return None


def outs(body: dict[str, Any]) -> tuple[str, ...]:
    """Return the paths that a stage writes; body: its entry in dvc.yaml."""
    return tuple(map(_key, [*body.get("outs", []), *body.get("metrics", []), *body.get("plots", [])]))


def tables(paths: Iterable[str]) -> Iterator[str]:
    """Yield the names of the tables among paths, in order."""
    return (path.removeprefix(DATA) for path in paths if isinstance(path, str) and _is_table(path))


def _stage(name: str, body: dict[str, Any]) -> StageEntry:
    params = body.get("params", [])
    return StageEntry(
        name,
        body.get("desc", ""),
        body["cmd"],
        tuple(body.get("deps", [])),
        tuple(param for param in params if isinstance(param, str)),
        outs(body),
        any(isinstance(param, dict) and GOLDMETER_YAML in param for param in params),
    )


def _key(entry: str | dict[str, Any]) -> str:
    return entry if isinstance(entry, str) else next(iter(entry))


def _is_table(path: str) -> bool:
    return path.startswith(DATA) and path.count("/") == 1 and path != LABELS


def _ledger(paths: tuple[str, ...]) -> str | None:
    return next((path.removeprefix(LEDGER) for path in paths if path.startswith(LEDGER)), None)


def upstream(stages: Mapping[str, StageEntry]) -> dict[str, frozenset[str]]:
    """Stage → the stages it waits for, in an order in which they can run.

    Raises:
        ParamsError: If stages wait for one another.
    """
    graph = {name: _writers(stage, stages) for name, stage in stages.items()}
    try:
        return {name: graph[name] for name in TopologicalSorter(graph).static_order()}
    except CycleError as error:
        raise ParamsError(f"dvc.yaml: stages wait for one another: {' → '.join(error.args[1])}") from None


def _writers(reader: StageEntry, stages: Mapping[str, StageEntry]) -> frozenset[str]:
    return frozenset(
        writer.name
        for writer in stages.values()
        if writer.name != reader.name and any(_overlap(dep, out) for dep in reader.deps for out in writer.outs)
    )


def _overlap(one: str, other: str) -> bool:
    """Whether the paths are the same, or one lies in the other."""
    a, b = PurePosixPath(one), PurePosixPath(other)
    return a.is_relative_to(b) or b.is_relative_to(a)
