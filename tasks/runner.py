"""Runs one stage: read, call, validate, write; the only code that touches the stages' files."""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, Self

import pandas as pd
import pyarrow as pa

from tasks import gates, params
from tasks.contract import Contract
from tasks.ledger import open_evidence, open_store
from tasks.ledger.segments import sync
from tasks.pipeline import DATA, LEDGER, Stage, stages
from tasks.tables import Parts, write_part

Written = Mapping[str, pa.Table | str]
"""What a stage makes of one part: table name → table, or path of a report → text."""


def run(name: str) -> None:
    """Run the stage `name` of dvc.yaml.

    Raises ContractError when a table breaks its contract: then nothing is written but reports/validation.
    """
    params.check()
    stage = stages()[name]
    with _Workspace(stage) as workspace:
        module = import_module(f"tasks.{name}")
        options = params.for_stage(name)
        if getattr(module, "WHOLE", False):
            parts = _whole(stage, module, options, workspace)
        else:
            parts = _by_part(stage, workspace)
        checks, keys, counts = _gather(parts, stage)
        if hasattr(module, "expect"):
            contract = module.expect(options)
            checks = [*checks, *gates.check_totals(contract, keys, counts)]
            workspace.report(gates.to_json(checks, counts))
            gates.require(name, checks, counts)
        workspace.publish()


class _Part(NamedTuple):
    """What is kept of one written part."""

    checks: list[gates.Check]
    keys: pd.DataFrame
    counts: dict[str, float]


class _Workspace:
    """The stage's temporary folders: published by renaming once every check has passed, removed otherwise."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.folder = Path(DATA, f".{stage.name}.tmp")
        self.ledger: Any = None

    def __enter__(self) -> Self:
        shutil.rmtree(self.folder, ignore_errors=True)
        for table in self.stage.tables_written:
            (self.folder / DATA / table).mkdir(parents=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self.ledger is not None:
            self.ledger.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def open_ledger(self) -> dict[str, Any]:
        """The keyword argument of a stage that reads or writes a ledger."""
        if kind := self.stage.ledger_written:
            self.ledger = open_store(kind)
            self.ledger.take_in(Path(LEDGER, kind))
            return {"ledger": self.ledger}
        if kind := self.stage.ledger_read:
            return {"ledger": open_evidence(Path(LEDGER, kind))}
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
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def publish(self) -> None:
        """Put everything in its place; what was there before goes."""
        if kind := self.stage.ledger_written:
            evidence = self.folder / LEDGER / kind
            evidence.mkdir(parents=True)
            self.ledger.write_evidence(evidence)
        ready = [out for out in self.stage.outs if (self.folder / out).exists()]
        for out in ready:
            _sync(self.folder / out)
        for out in ready:
            _replace(self.folder / out, Path(out))


def _whole(stage: Stage, module: Any, options: Any, workspace: _Workspace) -> Iterator[_Part]:
    """Call a stage that sees all parts, and write what it yields."""
    inputs = [Parts(Path(DATA, table)) for table in stage.tables_read] or [module.source(options)]
    more = workspace.open_ledger()
    if hasattr(module, "how"):
        more["how"] = module.how(params.run_params())
    if documents := {path: _read(Path(path)) for path in stage.documents_read}:
        more["documents"] = documents
    contract = _contract(module, options)
    main = stage.tables_written[0] if stage.tables_written else None
    call = getattr(module, stage.name)
    for number, written in enumerate(call(*inputs, options, **more)):
        workspace.write(written, number)
        tables = {name: table for name, table in written.items() if isinstance(table, pa.Table)}
        yield _examine(module, contract, tables, main)


def _by_part(stage: Stage, workspace: _Workspace) -> Iterator[_Part]:
    """Map a stage over the parts: in this process for one, in several for more."""
    numbers = range(len(Parts(Path(DATA, stage.tables_read[0]))))
    workers = min(params.run_params().workers or os.cpu_count() or 1, len(numbers))
    jobs = (repeat(stage), numbers, repeat(workspace.folder))
    if workers == 1:
        yield from map(_one_part, *jobs)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_one_part, *jobs)


def _one_part(stage: Stage, number: int, folder: Path) -> _Part:
    module = import_module(f"tasks.{stage.name}")
    options = params.for_stage(stage.name)
    workspace = _Workspace(stage)
    workspace.folder = folder
    inputs = [Parts(Path(DATA, table)).part(number) for table in stage.tables_read]
    main = stage.tables_written[0]
    table = getattr(module, stage.name)(*inputs, options, **workspace.open_ledger())
    workspace.write({main: table}, number)
    read = {f"rows_{name}": rows.num_rows for name, rows in zip(stage.tables_read, inputs, strict=True)}
    part = _examine(module, _contract(module, options), {main: table}, main)
    return part._replace(counts=part.counts | read)


def _contract(module: Any, options: Any) -> Contract:
    expect: Callable[[Any], Contract] | None = getattr(module, "expect", None)
    return expect(options) if expect else Contract()


def _examine(module: Any, contract: Contract, tables: Mapping[str, pa.Table], main: str | None) -> _Part:
    """Check the rows of one written part; keep its keys and counts."""
    counts: dict[str, float] = {f"rows_{name}": table.num_rows for name, table in tables.items() if name != main}
    if main is None or main not in tables:
        return _Part([], pd.DataFrame(), counts)
    table = tables[main]
    counts["rows"] = table.num_rows
    if hasattr(module, "counts"):
        counts |= module.counts(*tables.values())
    keys = [name for name in gates.KEYS if name in table.column_names] or table.column_names[:1]
    return _Part(gates.check(table.to_pandas(), contract.rows), table.select(keys).to_pandas(), counts)


def _gather(parts: Iterable[_Part], stage: Stage) -> tuple[list[gates.Check], pd.DataFrame, dict[str, float]]:
    """The checks, keys and counts of all parts."""
    kept = list(parts)
    counts: dict[str, float] = {"rows": 0}
    for part in kept:
        for name, value in part.counts.items():
            counts[name] = counts.get(name, 0) + value
    for table in stage.tables_read:
        counts.setdefault(f"rows_{table}", Parts(Path(DATA, table)).rows)
    keys = pd.concat([part.keys for part in kept], ignore_index=True) if kept else pd.DataFrame()
    return gates.add_up(part.checks for part in kept), keys, counts


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _sync(path: Path) -> None:
    """Force a file, or a folder and all in it, to the disk."""
    for each in [*path.rglob("*"), path] if path.is_dir() else [path]:
        sync(each)


def _replace(new: Path, place: Path) -> None:
    """Rename `new` to `place`; a folder that is in the way goes first."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir():
        shutil.rmtree(place)
    new.replace(place)
