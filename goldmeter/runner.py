"""Runs one stage: reads its inputs, calls it, validates its tables and publishes them."""

import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import cached_property, partial
from itertools import count, repeat
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple, Self

import pyarrow as pa

from goldmeter.console.terminal import say
from goldmeter.errors import ContractError, DataError
from goldmeter.ledger import open_evidence, open_store
from goldmeter.pipeline import contents, params, validation
from goldmeter.pipeline.cluster import cluster
from goldmeter.pipeline.dvc_yaml import DATA, LEDGER, StageEntry, stages
from goldmeter.pipeline.files import lock_opened, move, move_durably, read_json, remove, sync, to_json
from goldmeter.pipeline.keys import Hashes, KeyHashes
from goldmeter.pipeline.lineage import lineage
from goldmeter.pipeline.progress import Progress, display, quiet
from goldmeter.pipeline.stage import Contract, Output, Stage, StageInputs, load_stage
from goldmeter.pipeline.storage import MANIFEST, Storage, manifest_of
from goldmeter.pipeline.tables import Parts, write_part
from goldmeter.pipeline.workers import Crew, Processes, collect_garbage, cores, crew_of, workers_for
from goldmeter.system.locks import holder_of

# In the folder of a run: the storage's address, and the manifests of single parts.
_STORAGE, _MANIFESTS = "storage", "manifests"
# Seconds that a stage which was told to end may take (a judge finishes the calls under way), and between looks.
ENDING_SECONDS, POLL = 75.0, 0.2
# In the folder of a stage: the outputs of the run before, while they are exchanged.
_BEFORE = "before"


def run(name: str) -> None:
    """Run the stage `name` of dvc.yaml.

    Raises:
        ContractError: A table breaks its contract; only reports/validation/<name>.json is written.
    """
    params.check()
    entry, stage, options = stages()[name], load_stage(name), params.for_stage(name)
    with _Workspace(entry) as workspace:
        workspace.require_inputs()
        workspace.open_store()
        whole = stage.whole_for(options)
        with display(name) as shown, _crew(workspace, stage, options) as crew:
            progress = _noting(shown, crew)
            _require_stored_inputs(entry, crew)
            if whole:
                outputs = whole(options, replace(workspace.inputs(progress), crew=crew))
                parts = _write_all(outputs, workspace, crew)
            else:
                parts = _by_part(workspace, crew, progress)
            checks, hashes, counts = _combine(parts, entry)
            if stage.expect:
                repeated = [each.repeated() for each in hashes]
                checks += crew.call(_check_totals, entry, workspace.folder, counts, repeated)
        if stage.expect:
            report = to_json(validation.report(checks, counts, lineage(entry)))
            workspace.write({str(contents.report_of(name)): report}, 0)
            try:
                validation.require(name, checks, counts, lambda: stage.advice(workspace.tables, options))
            except ContractError:
                workspace.publish_report()
                raise
        workspace.publish()


class _Part(NamedTuple):
    """What the runner remembers of a part: the results of its checks, the hashes of its keys, and its counts."""

    checks: list[validation.Check]
    hashes: list[Hashes]
    counts: dict[str, float]


class _Workspace:
    """The stage's temporary folder: published by renaming once every check has passed, removed otherwise.

    Each run has a folder of its own in it, so that what a worker of a killed run still writes is in no other run.

    folder: That of a run, given in its workers; None: that of a new run.
    """

    def __init__(self, entry: StageEntry, folder: Path | None = None) -> None:
        self.entry = entry
        self.root = Path(DATA, f".{entry.name}.tmp")
        self.folder = folder or self.root / token_hex(8)
        self.ledger: Any = None
        self._lock: int

    def __enter__(self) -> Self:
        self._lock = _locked(self.root, self.entry.name)
        self._restore()
        self.clear()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if self.ledger is not None:
                self.ledger.close()
        finally:
            if error is None or not any(path.is_file() for path in (self.root / _BEFORE).rglob("*")):
                shutil.rmtree(self.root, ignore_errors=True)
            os.close(self._lock)
        if isinstance(error, OSError):
            named = [str(name) for name in (error.filename2, error.filename) if name]
            where = next((name for name in named if not name.startswith(str(self.root))), self.root)
            problem = os.strerror(error.errno) if error.errno else str(error)
            raise DataError(f"{self.entry.name}: {where}: {problem}; no table was changed") from error

    def clear(self) -> None:
        """Remove all that is in the folder, and make those of the tables."""
        for left in self.root.iterdir():
            remove(left)
        for table in self.entry.tables_written:
            (self.folder / DATA / table).mkdir(parents=True)
            (self.folder / _MANIFESTS / table).mkdir(parents=True)
        (self.folder / "scratch").mkdir(parents=True)
        (self.folder / _STORAGE).write_text(params.run_params().storage or "", encoding="utf-8")

    @property
    def tables(self) -> dict[str, Parts]:
        """The tables written so far."""
        return {table: Parts(self._parts(table)) for table in self.entry.tables_written}

    @property
    def outs_read(self) -> list[str]:
        """The tables, documents and evidence of other stages that the stage reads."""
        entry = self.entry
        evidence = [f"{LEDGER}{entry.ledger_read}"] if entry.ledger_read else []
        return [*[f"{DATA}{name}" for name in entry.tables_read], *entry.documents_read, *evidence]

    def _parts(self, table: str) -> Path:
        """Where parts are written: manifests of them, if they go to storage, into a folder that is not published."""
        return self.folder / (_MANIFESTS if self._storage else DATA) / table

    @cached_property
    def _storage(self) -> Storage | None:
        """The storage that `run` named when the stage began: all parts go to one."""
        address = (self.folder / _STORAGE).read_text(encoding="utf-8")
        return Storage(address) if address else None

    def open_store(self) -> None:
        """Open the ledger that the stage writes: in this process only, which publishes it."""
        if kind := self.entry.ledger_written:
            self.ledger = open_store(kind)
            self.ledger.take_in(Path(LEDGER, kind))

    def inputs(self, progress: Progress) -> StageInputs:
        """Open what dvc.yaml lists for the stage."""
        evidence = self.entry.ledger_read
        return StageInputs(
            tables={table: Parts(Path(DATA, table)) for table in self.entry.tables_read},
            documents={path: read_json(Path(path)) for path in self.entry.documents_read},
            run=params.run_params(),
            progress=progress,
            open_ledger=open_evidence(evidence, Path(LEDGER, evidence)) if evidence else self.ledger,
            scratch=self.folder / "scratch",
        )

    def write(self, output: Output, number: int) -> None:
        """Write what the stage computed for one part."""
        for name, content in output.items():
            if isinstance(content, str):
                path = self.folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8")
            else:
                write_part(content, self._parts(name), number, self._storage)

    def require_inputs(self) -> None:
        """Check that what the stage reads is as it was written, and of one run: when DVC runs it, by dvc.lock."""
        if "DVC_STAGE" in os.environ and params.run_params().verify:
            contents.require_whole(self.outs_read)
            contents.require_one_run(self.outs_read)

    def publish_report(self) -> None:
        """Publish the validation report alone, of a stage that failed: the tables are still those of the run before."""
        path = contents.report_of(self.entry.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        move_durably(self.folder / path, path)

    def publish(self) -> None:
        """Replace the outputs of the previous run with those of this one."""
        if kind := self.entry.ledger_written:
            evidence = self.folder / LEDGER / kind
            evidence.mkdir(parents=True)
            self.ledger.write_evidence(evidence)
        for table in self.entry.tables_written if self._storage else ():
            if manifest := manifest_of(self._parts(table)):
                manifest.write(self.folder / DATA / table / MANIFEST)
        ready = [out for out in self.entry.outs if (self.folder / out).exists()]
        for out in ready:
            for path in [*(self.folder / out).rglob("*"), self.folder / out]:
                sync(path)
        self._exchange(ready)

    def _restore(self) -> None:
        """Put back the outputs that a run had set aside when it was killed while publishing."""
        for out in self.entry.outs:
            if (before := self.root / _BEFORE / out).exists() and not Path(out).exists():
                move(before, Path(out))

    def _exchange(self, outs: Sequence[str]) -> None:
        """Rename all outputs into their places, or none: the previous ones are set aside until the last rename."""
        done: list[tuple[Path, Path]] = []
        try:
            for out in outs:
                for old, new in ((Path(out), self.root / _BEFORE / out), (self.folder / out, Path(out))):
                    if old.exists() or old.is_symlink():
                        new.parent.mkdir(parents=True, exist_ok=True)
                        move(old, new)
                        done.append((old, new))
        except OSError:
            for old, new in reversed(done):
                with suppress(OSError):  # the others go back; `before` stays for the next run
                    move(new, old)
            raise


def _crew(workspace: _Workspace, stage: Stage[Any], options: Any) -> AbstractContextManager[Crew]:
    """What computes the parts of a stage: this process for one part, and for few rows where no cluster is asked for."""
    entry, run, is_divided = workspace.entry, params.run_params(), stage.is_divided(options)
    most, table = run.workers or cores(), next(iter(_tables_there(entry)), None)
    parts = sys.maxsize if is_divided else len(table) if table else 1
    if run.engine == "dask":
        most = sys.maxsize if run.address else most  # a cluster has the workers that it has
        return crew_of(partial(cluster, run.address, workspace.folder), min(most, parts), most)
    workers = workers_for(table, most) if table and not is_divided else min(most, parts)
    modules = ["goldmeter.pipeline.expectations", f"tasks.{entry.name}", *stage.preload, __name__]
    return crew_of(partial(Processes, modules), workers, most)


def _tables_there(entry: StageEntry) -> list[Parts]:
    """The tables that the stage reads; it says itself which of those that are missing it needs."""
    return [Parts(folder) for name in entry.tables_read if (folder := Path(DATA, name)).exists()]


def _require_stored_inputs(entry: StageEntry, crew: Crew) -> None:
    """Check that the parts in storage that the stage reads are as they were written."""
    tables = _tables_there(entry) if params.run_params().verify else []
    for table in filter(lambda table: table.in_storage, tables):
        for _ in crew.map(Parts.require_whole, repeat(table), range(len(table))):
            pass


def _noting(progress: Progress, crew: Crew) -> Progress:
    """Progress that shows the note of the engine, too."""

    def report(what: str, done: int, total: int | None = None, *, share: float | None = None, note: str = "") -> None:
        progress(what, done, total, share=share, note=", ".join(filter(None, [note, crew.note])))

    return report


def _write_all(outputs: Iterable[Output], workspace: _Workspace, crew: Crew) -> Iterator[_Part]:
    """Write what a stage yields; a worker checks it, if there is one, for it has imported Great Expectations."""
    for number, output in enumerate(outputs):
        workspace.write(output, number)
        tables = {name: table for name, table in output.items() if isinstance(table, pa.Table)}
        yield crew.call(_examine, workspace.entry, tables, number)


def _by_part(workspace: _Workspace, crew: Crew, progress: Progress) -> Iterator[_Part]:
    """Call a stage for each part."""
    entry = workspace.entry
    parts = Parts(Path(DATA, entry.tables_read[0]))
    total, done = parts.rows, 0
    progress("rows", 0, total)
    for part in crew.map(_one_part, repeat(entry), repeat(workspace.folder), range(len(parts))):
        done += int(part.counts["rows"])
        progress("rows", done, total)
        yield part


def _one_part(entry: StageEntry, folder: Path, number: int) -> _Part:
    """Compute, write and check one part."""
    stage, options, workspace = load_stage(entry.name), params.for_stage(entry.name), _Workspace(entry, folder)
    if stage.by_part is None:
        raise TypeError(f"{entry.name}: not a stage that is computed by part")
    [table_read], table_written = entry.tables_read, entry.tables_written[0]
    rows = Parts(Path(DATA, table_read)).part(number)
    computed = stage.by_part(rows, options, workspace.inputs(quiet))
    output = {table_written: computed} if isinstance(computed, pa.Table) else computed
    workspace.write(output, number)
    part = _examine(entry, output, number)
    return part._replace(counts=part.counts | {f"rows_{table_read}": rows.num_rows})


def _contract(stage: Stage[Any], options: Any) -> Contract:
    if stage.expect is None or stage.is_idle(options):
        return Contract()
    validation.load_gx()
    return stage.expect(options)


def _examine(entry: StageEntry, tables: Mapping[str, pa.Table], number: int) -> _Part:
    """Check the rows of one written part; the contract is about the first table of the stage."""
    stage, options = load_stage(entry.name), params.for_stage(entry.name)
    main = next(iter(entry.tables_written), "")
    counts: dict[str, float] = {f"rows_{name}": table.num_rows for name, table in tables.items() if name != main}
    if main not in tables:
        return _Part([], [], counts)
    table, contract = tables[main], _contract(stage, options)
    counts |= {"rows": table.num_rows, **stage.counts(tables)}
    checks = validation.check_rows(table, contract.rows)
    if source := contract.same_keys_as:
        checks.append(validation.check_same_keys(table, Parts(Path(DATA, source)), number))
    collect_garbage()
    return _Part(checks, validation.key_hashes(table, contract.keys), counts)


def _combine(
    parts: Iterable[_Part], entry: StageEntry
) -> tuple[list[validation.Check], list[KeyHashes], dict[str, float]]:
    """Combine the checks, hashes of keys and counts of all parts, one by one."""
    checks: list[validation.Check] = []
    hashes: list[KeyHashes] = []
    counts: dict[str, float] = {"rows": 0}
    for part in parts:
        checks = validation.add_up([checks, part.checks])
        hashes = hashes or [KeyHashes() for _ in part.hashes]
        for total, more in zip(hashes, part.hashes, strict=True):
            total.add(more)
        for name, value in part.counts.items():
            counts[name] = counts.get(name, 0) + value
    for table in _tables_there(entry):
        counts.setdefault(f"rows_{table.folder.name}", table.rows)
    return checks, hashes, counts


def _check_totals(
    entry: StageEntry, folder: Path, counts: dict[str, float], repeated: Sequence[Hashes]
) -> list[validation.Check]:
    """Check that keys are unique over all parts written, and the counts."""
    stage, options = load_stage(entry.name), params.for_stage(entry.name)
    contract, tables = _contract(stage, options), _Workspace(entry, folder).tables
    checks = validation.check_counts(contract.counts, counts)
    if contract.keys:
        parts = tables[entry.tables_written[0]]
        return [*validation.check_unique(parts, int(counts["rows"]), contract.keys, repeated), *checks]
    return checks


def _locked(folder: Path, stage: str) -> int:
    """The descriptor that locks a stage's folder as long as this process lives; the folder is made if need be.

    Raises:
        DataError: Another run of the stage holds it for longer than one takes to end.
    """
    deadline = time.monotonic() + ENDING_SECONDS
    for attempt in count():
        if not folder.is_dir():
            remove(folder)
            folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # the other run has just removed it
            handle = os.open(folder, os.O_RDONLY)
            if lock_opened(handle, folder):
                return handle
            os.close(handle)
        if time.monotonic() > deadline:
            break
        if not attempt:
            holder = holder_of(folder)
            who = f" ({holder})" if holder else ""
            say(f"{stage}: waiting for another run of this stage{who}", sys.stderr)
        time.sleep(POLL)
    raise DataError(f"{stage}: another run of this stage is at work in {folder}; wait for it, or end it")
