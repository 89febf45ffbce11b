"""Compare the numbers of a revision's code with those of the workspace: `python -m scripts.same_numbers REV`.

The stages run on the bundled example and on EVOUNA-NQ, each with the params.yaml of its own code. The run of REV is
kept and used again. Numbers are compared to 6 decimals, the tables value by value. Texts of the reports, signatures
and methods may differ: they are counted, and differing signatures are listed. Exit status: 0 equal, 1 different.
"""

import argparse
import json
import os
import reprlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from ruamel.yaml import YAML

from benchmarks.data import EVOUNA, EVOUNA_MAPPING, plain
from benchmarks.project import copy_shipped

DATA_SETS: Mapping[str, Mapping[str, Any]] = {"example": {}, "EVOUNA-NQ": EVOUNA_MAPPING}
REPORTS = ("reports/metrics.json", "reports/summary.json")
SIGNATURES = ("signature", "rate_signature")
RUNS = Path(tempfile.gettempdir(), "same-numbers")
# Half of a unit in the last decimal that reports show.
TOLERANCE = 5e-7
# Differences of a data set that are listed.
LISTED = 20


class Difference(NamedTuple):
    """Two values at one place; None: there is none. is_text: whether it is text of a report, which may change."""

    place: str
    before: Any
    after: Any
    is_text: bool = False

    def __str__(self) -> str:
        return f"{self.place}: {reprlib.repr(self.before)} before, {reprlib.repr(self.after)} after"


def main(arguments: Sequence[str]) -> int:
    """Print the differences of each data set; returns 1 if a number or a value of a table differs."""
    parser = argparse.ArgumentParser(prog="python -m scripts.same_numbers", description=__doc__)
    parser.add_argument("rev", help="commit, tag or branch of the numbers before")
    parser.add_argument("--runs", type=Path, default=RUNS, help="folder of runs, by commit; default: %(default)s")
    parser.add_argument("--data", choices=DATA_SETS, action="append", help="default: both; EVOUNA-NQ if it is there")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the workspace's runs stay")
    options = parser.parse_args(arguments)
    names = options.data or [name for name in DATA_SETS if name == "example" or EVOUNA.exists()]
    with tempfile.TemporaryDirectory() as temporary:
        own = options.keep or Path(temporary)
        are_equal = [_is_equal(name, _before(options.rev, name, options.runs), own) for name in names]
    return 0 if all(are_equal) else 1


def _before(rev: str, name: str, runs: Path) -> Path:
    """The run of a revision's code, which is made if it is not there."""
    described = subprocess.run(
        ["git", "rev-parse", "--verify", f"{rev}^{{commit}}"], stdout=subprocess.PIPE, check=True, text=True
    )
    commit = described.stdout.strip()
    folder = (runs / commit[:12] / name).absolute()
    if not folder.exists():
        made = folder.with_name(f"{name}-{os.getpid()}")
        made.mkdir(parents=True)
        archive = subprocess.run(["git", "archive", commit], stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["tar", "-x"], input=archive, cwd=made, check=True)
        _run_stages(made, name)
        made.rename(folder)
    return folder


def _is_equal(name: str, before: Path, own: Path) -> bool:
    """Run the workspace's code, compare, and print what differs."""
    after = (own / name).absolute()
    copy_shipped(after)
    _run_stages(after, name)
    found = [*_of_reports(before, after), *_of_tables(before, after)]
    text = [one for one in found if one.is_text]
    values = [one for one in found if not one.is_text]
    for title, listed in (("signatures", [one for one in text if one.place.endswith(SIGNATURES)]), ("values", values)):
        print(f"{name}: {len(listed)} {title} differ", *islice(listed, LISTED), sep="\n  ")
    print(f"{name}: {len(text)} texts of the reports differ; numbers are {'different' if values else 'equal'}")
    compared = _python(after, "-m", "flows.compare", str(before), check=False)
    print(f"{name}: flows.compare, exit status {compared.returncode}:\n{compared.stdout}", flush=True)
    return not values


def _run_stages(folder: Path, name: str) -> None:
    """Run all stages in a copy of the project, with a ledger of its own."""
    params, yaml = folder / "params.yaml", YAML()
    sections = yaml.load(params)
    if DATA_SETS[name]:
        sections["dataset"] |= {**plain(sections["dataset"]), **DATA_SETS[name]}
        yaml.dump(sections, params)
    (folder / "dvc.lock").unlink(missing_ok=True)
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    _python(folder, "-m", "dvc", "repro", "--quiet")


def _python(folder: Path, *arguments: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = os.environ | {"PATH": path, "GOLDMETER_LEDGER": str(folder / "ledger")}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, check=check, text=True)


def _of_reports(before: Path, after: Path) -> Iterator[Difference]:
    for report in REPORTS:
        contents = [json.loads((folder / report).read_text("utf-8")) for folder in (before, after)]
        for one in _of_values(report, *contents):
            yield one._replace(is_text=_is_text(one.before) and _is_text(one.after))


def _is_text(value: Any) -> bool:
    """Whether a value of a report holds no number: a text, several texts, or nothing."""
    return value is None or isinstance(value, str) or (isinstance(value, list) and all(map(_is_text, value)))


def _of_tables(before: Path, after: Path) -> Iterator[Difference]:
    for table in sorted({path.parent.name for folder in (before, after) for path in folder.glob("data/*/*.parquet")}):
        older, newer = (_columns(folder / "data" / table) for folder in (before, after))
        for column in dict.fromkeys([*older, *newer]):
            for one in _of_columns(f"{table}.{column}", older.get(column), newer.get(column)):
                yield one._replace(is_text=column in (*SIGNATURES, "method"))


def _columns(folder: Path) -> dict[str, pa.ChunkedArray]:
    parts = [pq.read_table(path) for path in sorted(folder.glob("*.parquet"))]
    table = pa.concat_tables(parts, promote_options="permissive") if parts else pa.table({})
    return dict(zip(table.column_names, table.columns, strict=True))


def _of_columns(place: str, before: pa.ChunkedArray | None, after: pa.ChunkedArray | None) -> Iterator[Difference]:
    if before is None or after is None:
        yield Difference(place, before and str(before.type), after and str(after.type))
    elif not before.equals(after):
        yield from _of_values(place, *([_decoded(value) for value in each.to_pylist()] for each in (before, after)))


def _decoded(value: Any) -> Any:
    """JSON in a column of details as the values that it holds."""
    try:
        return json.loads(value) if isinstance(value, str) and value[:1] in {"{", "["} else value
    except ValueError:
        return value


def _of_values(place: str, before: Any, after: Any) -> Iterator[Difference]:
    """The leaves of two values that differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            yield from _of_values(f"{place}.{key}", before.get(key), after.get(key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, both in enumerate(zip(before, after, strict=True)):
            yield from _of_values(f"{place}[{number}]", *both)
    elif isinstance(before, int | float) and isinstance(after, int | float):
        if not np.isclose(before, after, rtol=0.0, atol=TOLERANCE, equal_nan=True):
            yield Difference(place, before, after)
    elif before != after:
        yield Difference(place, before, after)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
