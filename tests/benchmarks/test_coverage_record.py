"""The report of the coverage benchmark: one line a target, the same bytes whoever measured, and the table in docs/."""

import io
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from benchmarks.coverage import record, workers
from benchmarks.coverage.cells import Cell, Simulation, covers
from benchmarks.pages import block, rewritten

ROOT = Path(__file__).parents[2]
CELLS = (
    Cell("mean", "n = 10", "coverage", "at least", 0.93, 0.9312345678, 0.0, 0),
    Cell("mean", "Wald: n = 10", "coverage", "contrast", None, 0.18, 0.0, 0),
    Cell("mean", "n = 30", "coverage", "at least", 0.93, 0.92, 0.004, 4000),
    Cell("mean", "Wald: n = 30", "coverage", "contrast", None, 0.45, 0.0, 0),
    Cell("mean", "a|b", "mean width over t's", "at most", 1.05, 1.2, 0.01, 4000),
    Cell("mean", "steady", "mean width over t's", "at most", 1.05, 1.0, 0.01, 4000),
)


def test_each_target_has_its_worst_cell_and_what_others_give() -> None:
    coverage, width = record.lines(CELLS)

    assert coverage == record.Line(
        *("mean", "coverage", "at least", 0.93, 2, 0, "n = 30", 0.92, 0.004, 4000), (("Wald", 0.18, "n = 10"),)
    )
    assert width == record.Line("mean", "mean width over t's", "at most", 1.05, 2, 1, "a|b", 1.2, 0.01, 4000, ())
    assert (coverage.reached, width.reached) == (True, False)


def test_a_missed_cell_is_worse_than_a_lower_one_within_its_noise() -> None:
    missed = Cell("mean", "many draws", "coverage", "at least", 0.93, 0.925, 0.0001, 10**6)
    noisy = Cell("mean", "few draws", "coverage", "at least", 0.93, 0.92, 0.004, 4000)

    assert record.lines([noisy, missed])[0].worst == "many draws"


def test_targets_that_differ_have_lines_of_their_own() -> None:
    narrow, wide = (Cell("mean", "n = 10", "width", "at most", target, 1.02, 0.0, 0) for target in (1.01, 1.03))

    assert [line.reached for line in record.lines([narrow, wide])] == [False, True]


def test_the_page_gets_a_row_a_target() -> None:
    content = record.report({"mean": CELLS}, 4000)

    assert record.markdown(content).splitlines()[2:] == [
        "| mean: coverage | ≥ 93 %, 2 cells | 92.0 % (n = 30) | Wald 18.0 % (n = 10) |",
        "| mean: mean width over t's | ≤ 1.05 ×, 2 cells | 1.200 × (a&#124;b); **missed** in 1 | – |",
    ]


def test_the_report_is_json_with_a_line_a_cell(tmp_path: Path) -> None:
    record.keep(record.report({"mean": CELLS}, 4000), ["mean"], tmp_path / "reports/coverage.json")

    text = (tmp_path / "reports/coverage.json").read_text(encoding="utf-8")
    content = json.loads(text)
    assert content["sections"]["mean"]["cells"][0] == {
        "topic": "mean",
        "name": "n = 10",
        "measure": "coverage",
        "sense": "at least",
        "target": 0.93,
        "measured": 0.931235,
        "error": 0.0,
        "draws": 0,
    }
    assert content["sections"]["mean"]["cells"][1]["target"] is None
    assert sum('"draws": 4000}' in line for line in text.splitlines()) == 3
    assert len(text.splitlines()) < 30


def test_sections_that_were_not_measured_again_stay_and_keep_their_place(tmp_path: Path) -> None:
    path, order = tmp_path / "coverage.json", ["first", "second"]
    record.keep(record.report({"second": CELLS}, 4000), order, path)
    record.keep(record.report({"first": CELLS[:1]}, 4000), order, path)
    apart = path.read_bytes()

    path.unlink()
    record.keep(record.report({"first": CELLS[:1], "second": CELLS}, 4000), order, path)

    assert path.read_bytes() == apart
    assert list(json.loads(apart)["sections"]) == order


def test_sections_of_an_older_schema_go(tmp_path: Path) -> None:
    path = tmp_path / "coverage.json"
    path.write_text('{"schema": 0, "draws": 4000, "sections": {"second": {}}}', encoding="utf-8")

    found = record.keep(record.report({"first": CELLS}, 4000), ["first", "second"], path)

    assert list(found["sections"]) == ["first"]


def test_only_the_block_of_the_page_changes() -> None:
    page = "before\n<!-- coverage -->\nold\n<!-- /coverage -->\nafter\n"

    text = rewritten(page, "new", record.MARK)

    assert text == "before\n<!-- coverage -->\nnew\n<!-- /coverage -->\nafter\n"
    assert block(text, record.MARK) == "new"


def test_a_page_without_a_block_is_left_alone() -> None:
    assert rewritten("nothing here\n", "new", record.MARK) == "nothing here\n"


def drawn(n: int) -> Simulation:
    return Simulation("drawn", f"n = {n}", ("drawn", n), lambda rng, draws: rng.random(draws) < 0.6, (covers(0.5),))


def broken(draws: int) -> Iterator[Cell]:
    message = f"no {draws} draws"
    raise ValueError(message)
    yield


STUDIES = [(section, number, drawn(number)) for section in ("bounded", "binary") for number in range(3)]


def test_cells_do_not_depend_on_who_measured_them_when() -> None:
    one = [workers.measured(*study, 100) for study in STUDIES]

    assert workers.in_order(one) == workers.in_order(reversed(one))
    assert list(workers.in_order(one)) == ["binary", "bounded"]
    assert [cell.name for cell in workers.in_order(one)["binary"]] == ["n = 0", "n = 1", "n = 2"]


def test_a_study_that_fails_is_named() -> None:
    with pytest.raises(ValueError, match="no 7 draws") as found:
        workers.measured("binary", 0, broken, 7)

    assert found.value.__notes__ == [f"in binary: {broken}"]


@pytest.mark.long
def test_two_processes_give_what_one_gives() -> None:
    spread = workers.in_order(workers.measure([("binary", 1)], 1, processes=2))

    assert spread == workers.in_order([workers.measured_at("binary", 1, 1)])


@pytest.mark.exhaustive
def test_workers_end_with_a_parent_that_is_killed() -> None:
    command = [sys.executable, "-m", "benchmarks.coverage", "families", "--draws", str(10**7)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as parent:
        while len(children := psutil.Process(parent.pid).children()) < 3:  # two workers and the resource tracker
            time.sleep(0.1)
        time.sleep(3.0)  # they have started their studies
        parent.kill()

    assert not psutil.wait_procs(children, timeout=20.0)[1]


def test_the_table_on_the_terminal_names_what_is_missed() -> None:
    console = Console(record=True, width=200, file=io.StringIO())

    console.print(record.table(record.lines(CELLS)))

    assert "no, 1 of 2" in console.export_text()


def test_the_documentation_shows_what_make_coverage_wrote() -> None:
    report, page = ROOT / "reports/coverage.json", ROOT / "docs/explanation/intervals.md"

    assert block(page.read_text(encoding="utf-8"), record.MARK) == record.markdown(
        json.loads(report.read_text(encoding="utf-8"))
    )
