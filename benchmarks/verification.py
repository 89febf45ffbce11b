"""What it costs that stages check what they read: with `run.verify` and without, in turns.

`dvc repro --force --single-item STAGE` in a copy of the project, {PAIRS} pairs after one that does not count:
with `run.verify: true`, which compares the hashes of what a stage reads with dvc.lock, and with `false`.
"""

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, NamedTuple

from benchmarks.data import ROOT, generated_sections, real_rows, write_generated
from benchmarks.project import Project, copy
from benchmarks.report import Floor, Result, Table
from goldmeter.pipeline import params
from goldmeter.pipeline.dvc_yaml import stages

ANSWERS = "data/answers.parquet"
PAIRS = 7
# How many times the time without verification the time with it may be.
LIMIT = 1.03


class Pair(NamedTuple):
    """Seconds of the same work with verification and without."""

    verified: float
    trusted: float


def run(rows: int) -> Result:
    """The section `verification`; rows: of the generated table."""
    with copy() as project:
        example = _pairs(project, params.effective(params.raw(ROOT / "params.yaml")), [*stages()])
        sections = generated_sections(ANSWERS)
        write_generated(real_rows()[1], rows, project.folder / ANSWERS)
        project.configure(sections)
        for stage in ("load", "normalize"):
            project.repro(stage)
        lexical = _pairs(project, sections, ("lexical",))
    runs = {"bundled example, all stages": example, f"lexical, {rows:,} rows": lexical}
    table = Table("With run.verify and without, median of the pairs", tuple(_row(*each) for each in runs.items()))
    floors = tuple(Floor(name, "at most", LIMIT, "x", _ratio(pairs)) for name, pairs in runs.items())
    return Result([table], floors)


def _pairs(project: Project, sections: dict[str, Any], names: Sequence[str]) -> list[Pair]:
    """Run stages in pairs, of which every second one begins without verification."""

    def seconds(*, verify: bool) -> float:
        project.configure({**sections, "run": sections["run"] | {"verify": verify}})
        return sum(project.repro(name).wall for name in names)

    return [_pair(seconds, number) for number in range(-1, PAIRS)][1:]


def _pair(seconds: Callable[..., float], number: int) -> Pair:
    found = {verify: seconds(verify=verify) for verify in (number % 2 == 0, number % 2 == 1)}
    return Pair(found[True], found[False])


def _ratio(pairs: Sequence[Pair]) -> float:
    return median(pair.verified / pair.trusted for pair in pairs)


def _row(name: str, pairs: Sequence[Pair]) -> dict[str, Any]:
    verified, trusted = (median(column) for column in zip(*pairs, strict=True))
    return {"work": name, "s, verified": verified, "s, not verified": trusted, "ratio": _ratio(pairs)}
