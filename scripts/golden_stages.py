"""Write the golden numbers of the stages: `python -m scripts.golden_stages`, after `make example`.

They are those of the bundled example's tables, and of every lexical metric. A stage's are replaced only after its
revision was raised in goldmeter/pipeline/changes.yaml: projects run the stage again only then.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from math import isclose
from pathlib import Path
from typing import Any

import pyarrow as pa

from goldmeter import score
from goldmeter.metrics.catalogue import metric_class, names
from goldmeter.pipeline.dvc_yaml import stages, upstream
from goldmeter.pipeline.hashing import sha256
from goldmeter.pipeline.revisions import revision_of
from goldmeter.pipeline.tables import Parts

ROOT = Path(__file__).parents[1]
FILE = ROOT / "tests/golden_stages.json"
EXAMPLE = ROOT / "data/examples/qa.jsonl"
# Metrics that need more than texts, or an extra, have golden values of their own.
ALONE = ("context_", "json_fields")
ROWS = 60
STAGES = stages(ROOT / "dvc.yaml")
# Largest difference of a value on average: another processor may round the last bits of vectors otherwise.
TOLERANCE = 1e-6
HOW = (
    "numbers changed: say why under `reasons` in goldmeter/pipeline/changes.yaml, then `python -m flows upgrade`, "
    "`make example` and `python -m scripts.golden_stages`"
)
# In details of a metric.
DECIMAL = re.compile(r"\d+\.\d+(?:e-?\d+)?")
Numbers = dict[str, list[float] | str]


def main() -> int:
    """Write the file; returns 1, and writes nothing, if numbers changed under the same revision."""
    now = of_tables(ROOT) | {"metrics": of_metrics()}
    golden = read() if FILE.exists() else {}
    if changed := changed_without_revision(golden, now):
        sys.stderr.write(f"{', '.join(changed)}: {HOW}\n")
        return 1
    content = {name: {"revision": revision_of(stage_of(name)), "numbers": numbers} for name, numbers in now.items()}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in content.items())
    FILE.write_text(f"{{{lines}}}\n", encoding="utf-8")
    return 0


def read() -> dict[str, Any]:
    """Return the golden numbers, by table and for `metrics`."""
    content: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return content


def changed_without_revision(golden: Mapping[str, Any], now: Mapping[str, Numbers]) -> list[str]:
    """Return the tables whose numbers differ from the golden ones although the revision of their stage does not."""
    raised = {stage_of(name) for name, entry in golden.items() if entry["revision"] != revision_of(stage_of(name))}
    after = {stage for stage in STAGES if raised & _above(stage)}  # their numbers follow
    same = [name for name in now if name in golden and stage_of(name) not in raised | after]
    return [name for name in same if not _equal(golden[name]["numbers"], now[name])]


def stage_of(name: str) -> str:
    """Return the stage whose revision holds for a table, or for `metrics`."""
    if name == "metrics":
        return "lexical"
    return next(stage.name for stage in STAGES.values() if f"data/{name}" in stage.outs)


def of_tables(project: Path) -> dict[str, Numbers]:
    """Return numbers of the tables with rows in a project that has run the bundled example, by table and column."""
    tables = {name: Parts(project / "data" / name) for stage in STAGES.values() for name in stage.tables_written}
    return {name: dict(_columns(parts.whole())) for name, parts in tables.items() if parts.rows}


def of_metrics() -> Numbers:
    """Return numbers of every lexical metric that compares texts, with its default options."""
    rows = [json.loads(line) for line in EXAMPLE.read_text(encoding="utf-8").splitlines()[:ROWS]]
    responses, references = [row["aurora"] for row in rows], [row["references"] for row in rows]
    alone = [name for name in names("lexical") if not name.startswith(ALONE) and is_ours(name)]
    return {name: _summed(list(score(name, responses, references))) for name in alone}


def is_ours(name: str) -> bool:
    """Return whether a metric is of the library, not of this checkout's tasks/metrics."""
    return metric_class("lexical", name).__module__.startswith("goldmeter.")


def _columns(table: pa.Table) -> Iterator[tuple[str, list[float] | str]]:
    for name in table.schema.names:
        column = table[name]
        while pa.types.is_list(column.type) or pa.types.is_fixed_size_list(column.type):
            column = pa.chunked_array([pa.concat_arrays(column.chunks).flatten()])
        if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
            yield name, _summed(column.to_pylist())
        else:
            yield from of_texts(name, column.to_pylist())


def of_texts(name: str, values: Sequence[Any]) -> Iterator[tuple[str, list[float] | str]]:
    """Return a hash of texts without their decimal fractions, and what those add up to."""
    text = json.dumps(values, default=repr)
    yield name, sha256(DECIMAL.sub("#", text)).hex()[:12]
    if fractions := DECIMAL.findall(text):
        yield f"{name}, fractions", _summed([*map(float, fractions)])


def _summed(values: Sequence[Any]) -> list[float]:
    """How many values there are, and their sum, in which each counts by its place."""
    places = [value * (1 + place % 7) for place, value in enumerate(values) if value is not None and value == value]  # noqa: PLR0124 (NaN)
    return [len(places), float(f"{sum(places):.12g}")]


def _above(stage: str) -> frozenset[str]:
    """The stages that a stage waits for, and those that these wait for."""
    direct = upstream(STAGES)[stage]
    return direct.union(*map(_above, direct))


def _equal(golden: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    def same(one: Any, other: Any) -> bool:
        if isinstance(one, str) or isinstance(other, str):
            return bool(one == other)
        return one[0] == other[0] and isclose(one[1], other[1], rel_tol=TOLERANCE, abs_tol=TOLERANCE * one[0])

    return golden.keys() <= now.keys() and all(same(golden[name], now[name]) for name in golden)


if __name__ == "__main__":
    sys.exit(main())
