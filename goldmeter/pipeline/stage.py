"""The protocol of a stage: what its module declares as `STAGE`, and what the runner hands to it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import pyarrow as pa

from goldmeter.errors import GoldmeterError, ParamsError
from goldmeter.pipeline.progress import Progress
from goldmeter.pipeline.run import Run
from goldmeter.pipeline.settings import Section
from goldmeter.pipeline.tables import Parts
from goldmeter.pipeline.workers import Crew

if TYPE_CHECKING:  # importing great_expectations takes seconds
    from great_expectations.expectations.expectation import Expectation


class Contract(NamedTuple):
    """Expectations that a table must meet before the runner publishes it.

    A table whose rows are those of the table read states `same_keys_as`: its keys are then as unique as those of that
    table. Any other one, such as a stage that drops, adds or merges rows, states its own `keys`.

    Attributes:
        rows: Checked on each part.
        keys: Expectations of uniqueness over all parts: ExpectColumnValuesToBeUnique or
            ExpectCompoundColumnsToBeUnique. They are checked on the rows whose hash of these columns is not unique.
        counts: Checked on one row of numbers: `rows` (written), `rows_<table>` (of every other table read or
            written) and what the stage's `counts` returns, summed over the parts.
        same_keys_as: Table read whose keys (those of id, candidate … that it has) each part repeats, in the same
            order; None if none.
    """

    rows: Sequence["Expectation"] = ()
    keys: Sequence["Expectation"] = ()
    counts: Sequence["Expectation"] = ()
    same_keys_as: str | None = None


Sections = TypeVar("Sections", bound=Section)
Ledger = TypeVar("Ledger")
# What a stage yields: name of a table → one part of it, or path of a report → its text.
Output = Mapping[str, pa.Table | str]


@dataclass(frozen=True)
class StageInputs:
    """What the runner hands to a stage besides its params; dvc.yaml lists it.

    Attributes:
        tables: The tables among the deps, by name: `data/load` is `load`.
        documents: The content of the JSON files among the deps, by path.
        run: Section `run` of params.yaml, which may not change a number.
        progress: Shows how far the stage is.
        open_ledger: The ledger among the outs (a store, for `whole` only) or the deps (evidence); None without one.
        crew: The processes among which `whole` may divide its work.
        scratch: An empty folder for files that are removed when the stage ends.
    """

    tables: Mapping[str, Parts]
    documents: Mapping[str, Any]
    run: Run
    progress: Progress
    open_ledger: object = None
    crew: Crew = field(default_factory=Crew)
    scratch: Path = Path()

    def ledger(self, kind: type[Ledger]) -> Ledger:
        """Return the open ledger of the stage.

        Raises:
            ParamsError: dvc.yaml names no ledger of this kind for the stage.
        """
        if not isinstance(self.open_ledger, kind):
            raise ParamsError(f"dvc.yaml: the stage needs data/ledger/… as {kind.__name__}, among its deps or outs")
        return self.open_ledger


@dataclass(frozen=True, kw_only=True)
class Stage(Generic[Sections]):
    """Everything that the runner reads of a stage: `STAGE = Stage(...)` in `tasks/<name>.py`.

    A stage sets `by_part` or `whole`, or both and `is_whole`. dvc.yaml says which tables, documents and ledger it
    reads and writes.

    Attributes:
        params: The sections of params.yaml that the stage reads, one field each; dvc.yaml lists the same.
        by_part: Computes one part of what is written from the same part of the only table read: the first table, or a
            part of each table by name. Parts may be computed at the same time in several processes.
        whole: Computes everything in one call, and yields what it writes, a part of each table at a time.
        is_whole: Returns whether these params need `whole`; a stage that sets `by_part` and `whole` must set it.
        is_idle: Returns whether these params leave nothing to do: no contract is checked then, which takes seconds.
        is_divided: Returns whether `whole` divides its work among the processes of `StageInputs.crew`, although the
            stage reads no table that says how many pay.
        expect: Returns the contract of the first table written. A stage without a contract writes no
            `reports/validation/<name>.json`.
        counts: Returns numbers of one written part, by name, given its tables; the contract checks their sums.
        advice: Returns lines that begin the message about a broken contract, given the tables that were not published.
        check: Checks that all sections of params.yaml fit together, given by name; before any stage runs.
        preload: Modules that worker processes have imported from the start, besides the stage's own.
        server_imports: Modules that the server of a run imports, too, while the stages before this one are at work.
    """

    params: type[Sections]
    by_part: Callable[[pa.Table, Sections, StageInputs], pa.Table | Mapping[str, pa.Table]] | None = None
    whole: Callable[[Sections, StageInputs], Iterator[Output]] | None = None
    is_whole: Callable[[Sections], bool] | None = None
    is_idle: Callable[[Sections], bool] = lambda _: False
    is_divided: Callable[[Sections], bool] = lambda _: False
    expect: Callable[[Sections], Contract] | None = None
    counts: Callable[[Mapping[str, pa.Table]], Mapping[str, float]] = lambda _: {}
    advice: Callable[[Mapping[str, Parts], Sections], list[str]] = lambda *_: []
    preload: tuple[str, ...] = ()
    server_imports: tuple[str, ...] = ()
    check: Callable[[Mapping[str, Any]], None] = lambda _: None

    def __post_init__(self) -> None:
        if not (self.by_part or self.whole) or bool(self.by_part and self.whole) != bool(self.is_whole):
            raise ValueError("a stage sets by_part or whole; one that sets both sets is_whole, too")

    def whole_for(self, params: Sections) -> Callable[[Sections, StageInputs], Iterator[Output]] | None:
        """Return `whole` if these params need it."""
        return self.whole if self.is_whole is None or self.is_whole(params) else None


def load_stage(name: str) -> Stage[Any]:
    """Import the stage `name` of dvc.yaml.

    Raises:
        ParamsError: There is no module of that name, it can't be imported, or it declares no stage.
    """
    try:
        stage = getattr(own_module(f"tasks.{name}"), "STAGE", None)
    except ParamsError as error:
        raise ParamsError(f"dvc.yaml: the stage {name}: {error}") from None
    if not isinstance(stage, Stage):
        raise ParamsError(f"tasks/{name}.py: declares no stage; its last line should be STAGE = Stage(…)")
    return stage


def own_module(name: str) -> ModuleType:
    """Import a module of the project, such as `tasks.judge`.

    Raises:
        ParamsError: There is none, or it can't be imported; with the command that helps.
    """
    file = f"{name.replace('.', '/')}.py"
    try:
        return import_module(name)
    except GoldmeterError:
        raise
    except Exception as error:  # noqa: BLE001 (whatever the user's own code raises)
        if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
            raise ParamsError(f"no module {file}; `git checkout {file}` restores it") from None
        of_library = isinstance(error, ImportError) and str(error.name).partition(".")[0] == "goldmeter"
        helps = "`goldmeter upgrade` may know it" if of_library else f"`python -c 'import {name}'` shows where"
        described = " ".join(f"{type(error).__name__}: {error}".split())
        raise ParamsError(f"{file}: can't be imported: {described}; {helps}") from None
