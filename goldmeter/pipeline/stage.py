"""The protocol of a stage: what its module declares as `STAGE`, and what the runner hands to it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import pyarrow as pa

from goldmeter.errors import ParamsError
from goldmeter.pipeline.contract import Contract
from goldmeter.pipeline.own_code import own_module
from goldmeter.pipeline.progress import Progress
from goldmeter.pipeline.run import Run
from goldmeter.pipeline.settings import Section
from goldmeter.pipeline.tables import Parts
from goldmeter.pipeline.workers import Crew

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
