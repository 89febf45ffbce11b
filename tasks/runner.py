"""Runs one stage: read, call, validate, write; the only code that touches the stages' files."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from inspect import signature
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple, Self

import pyarrow as pa

from tasks.errors import ContractError, DataError
from tasks.ledger import open_evidence, open_store
from tasks.pipeline import params, validation
from tasks.pipeline.contract import Contract
from tasks.pipeline.files import lock_opened, move_durably, read_json, sync
from tasks.pipeline.lineage import made
from tasks.pipeline.progress import Progress, display
from tasks.pipeline.stages import DATA, LEDGER, Stage, stages
from tasks.pipeline.tables import Parts, write_part
from tasks.pipeline.workers import pool, workers_for

Written = Mapping[str, pa.Table | str]
"""What a stage makes of one part: table name → table, or path of a report → text."""

TOLD_EVERY = 1_000
"""Records between two words of progress: one for each would take as long as reading it."""


def run(name: str) -> None:
    """Run the stage `name` of dvc.yaml.

    Raises ContractError when a table breaks its contract: then nothing is written but reports/validation.
    """
    params.check()
    stage = stages()[name]
    with _Workspace(stage) as workspace:
        module = import_module(f"tasks.{name}")
        options = params.for_stage(name)
        with display(name) as progress:
            whole = getattr(module, "WHOLE", False)
            parts = _whole(stage, module, options, workspace, progress) if whole else _by_part(stage, progress)
            checks, keys, counts = _gather(parts, stage)
        if hasattr(module, "expect"):
            contract = _contract(module, options)
            checks = [*checks, *validation.check_totals(contract, validation.frame_of(keys, contract.keys), counts)]
            workspace.report(validation.to_json(checks, counts, made(stage)))
            try:
                validation.require(name, checks, counts)
            except ContractError as error:
                raise ContractError("\n".join([str(error), *workspace.advice(module, options)])) from None
        workspace.publish()


class _Part(NamedTuple):
    """What is kept of one written part."""

    checks: list[validation.Check]
    keys: pa.Table
    counts: dict[str, float]


class _Workspace:
    """The stage's temporary folders: published by renaming once every check has passed, removed otherwise."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.folder = Path(DATA, f".{stage.name}.tmp")
        self.ledger: Any = None
        self._lock: int

    def __enter__(self) -> Self:
        self._lock = _locked(self.folder, self.stage.name)
        self._restore()
        for left in self.folder.iterdir():
            _remove(left)
        for table in self.stage.tables_written:
            (self.folder / DATA / table).mkdir(parents=True)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if self.ledger is not None:
                self.ledger.close()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
            os.close(self._lock)
        if isinstance(error, OSError):
            named = [str(name) for name in (error.filename2, error.filename) if name]
            where = next((name for name in named if not name.startswith(str(self.folder))), self.folder)
            problem = os.strerror(error.errno) if error.errno else str(error)
            raise DataError(f"{self.stage.name}: {where}: {problem}; no table was changed") from error

    def open_ledger(self) -> dict[str, Any]:
        """The keyword argument of a stage that reads or writes a ledger."""
        if kind := self.stage.ledger_written:
            self.ledger = open_store(kind)
            self.ledger.take_in(Path(LEDGER, kind))
            return {"ledger": self.ledger}
        if kind := self.stage.ledger_read:
            return {"ledger": open_evidence(kind, Path(LEDGER, kind))}
        return {}

    def write(self, written: Written, number: int) -> None:
        """Write what the stage made of one part."""
        for name, content in written.items():
            if isinstance(content, str):
                path = self.folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8")
            else:
                write_part(content, self.folder / DATA / name, number)

    def report(self, text: str) -> None:
        """Write the validation report at once: it stays when the stage fails."""
        path = Path("reports", "validation", f"{self.stage.name}.json")
        self.write({str(path): text}, 0)
        path.parent.mkdir(parents=True, exist_ok=True)
        move_durably(self.folder / path, path)

    def advice(self, module: Any, options: Any) -> list[str]:
        """What the stage's module has to say of the tables that were not published."""
        if not hasattr(module, "advice"):
            return []
        written = {table: Parts(self.folder / DATA / table) for table in self.stage.tables_written}
        return list(module.advice(written, options))

    def publish(self) -> None:
        """Put everything in its place; what was there before goes."""
        if kind := self.stage.ledger_written:
            evidence = self.folder / LEDGER / kind
            evidence.mkdir(parents=True)
            self.ledger.write_evidence(evidence)
        ready = [out for out in self.stage.outs if (self.folder / out).exists()]
        for out in ready:
            _sync_all(self.folder / out)
        self._exchange(ready)

    def _restore(self) -> None:
        """Put back what a run that was killed while it published had set aside."""
        for out in self.stage.outs:
            if (before := self.folder / "before" / out).exists() and not Path(out).exists():
                before.replace(out)

    def _exchange(self, outs: Sequence[str]) -> None:
        """Rename all into their places, or none: what was there is kept aside until the last one is in."""
        done: list[tuple[Path, Path]] = []
        try:
            for out in outs:
                for old, new in ((Path(out), self.folder / "before" / out), (self.folder / out, Path(out))):
                    if old.exists() or old.is_symlink():
                        new.parent.mkdir(parents=True, exist_ok=True)
                        old.replace(new)
                        done.append((old, new))
        except OSError:
            for old, new in reversed(done):
                new.replace(old)
            raise


def _whole(stage: Stage, module: Any, options: Any, workspace: _Workspace, progress: Progress) -> Iterator[_Part]:
    """Call a stage that sees all parts, and write what it yields."""
    inputs: list[Any] = [Parts(Path(DATA, table)) for table in stage.tables_read]
    inputs = inputs or [_Counted(module.source(options), progress)]
    call = getattr(module, stage.name)
    more = workspace.open_ledger()
    if "progress" in signature(call).parameters:
        more["progress"] = progress
    if hasattr(module, "how"):
        more["how"] = module.how(params.run_params())
    if documents := {path: read_json(Path(path)) for path in stage.documents_read}:
        more["documents"] = documents
    contract = _contract(module, options)
    main = stage.tables_written[0] if stage.tables_written else None
    for number, written in enumerate(call(*inputs, options, **more)):
        workspace.write(written, number)
        tables = {name: table for name, table in written.items() if isinstance(table, pa.Table)}
        yield _examine(module, contract, tables, main)


class _Counted:
    """The records of a source, which is read several times; a pass that reads to the end tells how many there are."""

    def __init__(self, records: Iterable[Any], progress: Progress) -> None:
        self._records, self._progress = records, progress
        self._total: int | None = None

    def __iter__(self) -> Iterator[Any]:
        number = 0
        for number, record in enumerate(self._records, 1):
            if number % TOLD_EVERY == 0:
                self._progress("records", number, self._total)
            yield record
        self._total = number


def _by_part(stage: Stage, progress: Progress) -> Iterator[_Part]:
    """Map a stage over the parts: in this process for one, in several for more."""
    parts = Parts(Path(DATA, stage.tables_read[0]))
    total, done = parts.rows, 0
    progress("rows", 0, total)
    for part in _mapped(stage, parts):
        done += int(part.counts["rows"])
        progress("rows", done, total)
        yield part


def _mapped(stage: Stage, parts: Parts) -> Iterator[_Part]:
    jobs = (repeat(stage), range(len(parts)))
    workers = workers_for(parts, params.run_params().workers)
    if workers <= 1:
        yield from map(_one_part, *jobs)
        return
    preload = getattr(import_module(f"tasks.{stage.name}"), "PRELOAD", ())
    with pool(workers, ["tasks.pipeline.expectations", f"tasks.{stage.name}", *preload, __name__]) as executor:
        results = executor.map(_one_part, *jobs)
        validation.load_gx()  # for the checks of the whole, while the workers work
        yield from results


def _one_part(stage: Stage, number: int) -> _Part:
    module = import_module(f"tasks.{stage.name}")
    options = params.for_stage(stage.name)
    workspace = _Workspace(stage)
    inputs = [Parts(Path(DATA, table)).part(number) for table in stage.tables_read]
    main = stage.tables_written[0]
    table = getattr(module, stage.name)(*inputs, options, **workspace.open_ledger())
    workspace.write({main: table}, number)
    read = {f"rows_{name}": rows.num_rows for name, rows in zip(stage.tables_read, inputs, strict=True)}
    part = _examine(module, _contract(module, options), {main: table}, main)
    return part._replace(counts=part.counts | read)


def _contract(module: Any, options: Any) -> Contract:
    expect: Callable[[Any], Contract] | None = getattr(module, "expect", None)
    if expect is None:
        return Contract()
    validation.load_gx()
    return expect(options)


def _examine(module: Any, contract: Contract, tables: Mapping[str, pa.Table], main: str | None) -> _Part:
    """Check the rows of one written part; keep its keys and counts."""
    counts: dict[str, float] = {f"rows_{name}": table.num_rows for name, table in tables.items() if name != main}
    if main is None or main not in tables:
        return _Part([], pa.table({}), counts)
    table = tables[main]
    counts["rows"] = table.num_rows
    if hasattr(module, "counts"):
        counts |= module.counts(*tables.values())
    keys = [name for name in validation.KEYS if name in table.column_names] or table.column_names[:1]
    return _Part(validation.check(validation.frame_of(table, contract.rows), contract.rows), table.select(keys), counts)


def _gather(parts: Iterable[_Part], stage: Stage) -> tuple[list[validation.Check], pa.Table, dict[str, float]]:
    """The checks, keys and counts of all parts."""
    kept = list(parts)
    counts: dict[str, float] = {"rows": 0}
    for part in kept:
        for name, value in part.counts.items():
            counts[name] = counts.get(name, 0) + value
    for table in stage.tables_read:
        counts.setdefault(f"rows_{table}", Parts(Path(DATA, table)).rows)
    keys = pa.concat_tables([part.keys for part in kept]) if kept else pa.table({})
    return validation.add_up(part.checks for part in kept), keys, counts


def _sync_all(path: Path) -> None:
    """Wait until a file, or a folder and everything below it, is on the disk."""
    for below in [*path.rglob("*"), path]:
        sync(below)


def _locked(folder: Path, stage: str) -> int:
    """The descriptor that locks a stage's folder as long as this process lives; the folder is made if need be."""
    if not folder.is_dir():
        _remove(folder)
        folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    if lock_opened(handle, folder):
        return handle
    os.close(handle)
    raise DataError(f"{stage}: another run of this stage is at work in {folder}; wait for it, or end it")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
